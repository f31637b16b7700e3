/* json.h - results as versioned JSON documents (docs/reference.md has one of each).
 *
 * Every document has schema, version, scenario, seed and digest (null where it has no meaning).
 * Keys are stable: more may come, none goes. Numbers carry 17 digits; what is not finite is null.
 * jansson is met in the json_*.c files alone. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_H

#include <stdio.h>

#include "analysis/exchange/launch/launch.h"
#include "analysis/record/numbers/result.h"
#include "analysis/study/study_report.h"
#include "analysis/validate/rows/validate_report.h"
#include "scenarios/catalogue/release.h"

struct json_list_entry {
    const char *family, *name, *doc;
    const struct stated_figure *figures; /* of the one entry that was asked for; NULL: not asked */
    unsigned figure_count;
    struct release_history history; /* of a software profile */
};
void json_list(const struct json_list_entry *entries, unsigned count, FILE *out);
/* `check`: every problem with its place. `refusal`: why `run` refuses a scenario without errors;
 * NULL: it does not. */
void json_check(const struct scenario *scenario, const char *refusal, bool fits, FILE *out);
/* A study, as its lists show it; `seconds` of wall clock. */
void json_study(const struct study *study, const struct study_list *list, double seconds,
                FILE *out);
/* `export --launch`; without lines where the framework refuses the layout. */
void json_launch(const struct scenario *scenario, const struct launch_kind *kind,
                 const struct launch_text *text, FILE *out);
/* Predicted against measured. `intervals` NULL: not asked. */
void json_validate(const struct validation *v, const struct scores *scores,
                   const struct intervals *intervals, FILE *out);

#endif
