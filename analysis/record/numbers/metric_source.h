/* metric_source.h - the numbers of metrics.h, asked of what was simulated: a row of `run`, or the
 * metrics that studies measure. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_METRIC_SOURCE_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_METRIC_SOURCE_H

#include "analysis/record/numbers/cost.h"
#include "analysis/record/numbers/flops_words.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/record/numbers/metrics.h"
#include "analysis/record/numbers/result.h"
#include "analysis/record/numbers/statistics.h"
#include "models/step/simulate/power_swing.h"

enum study_scope {
    METRIC_OF_WEEKS,
    METRIC_OF_STEPS,
    METRIC_OF_BOTH
};
struct study_metric_info {
    const char *name, *doc, *unit;
    bool larger_is_better;
    enum study_scope scope;
};
extern const struct study_metric_info study_metrics[METRIC_COUNT];
int metric_find(const char *name); /* or -1 */
/* What a metric can be: a share at most 1, and none is negative. */
struct summary_range metric_range(enum study_metric metric);

/* What the getters ask. */
struct metric_source {
    const struct scenario
        *scenario; /* these four: NULL in studies, which ask for no row of `run` */
    const struct result *result;
    const struct job_record *record;
    const char *digest;    /* in hexadecimal */
    const char *announced; /* announced_words; "" of what is sold */
    const struct configuration *c;
    const struct step *step;    /* NULL: the model can only be counted */
    const struct job_spec *job; /* NULL for a single step, as `weeks` */
    const struct job_result *weeks;
    double step_s; /* NAN: not timed */
    double peak_reserved_bytes;
    struct cost cost;
    struct power_swing swing;
    struct flops_words flops; /* of a row of `run` alone */
};
/* Everything that is known; the rest is null. */
struct run_row;
void metric_source_run(const struct metric_source *m, struct run_row *row);
/* Of studies: what one step tells (of weeks: the undisturbed one), and what weeks tell. */
void metric_source_step(const struct metric_source *m, double values[METRIC_COUNT]);
void metric_source_weeks(const struct metric_source *m, double values[METRIC_COUNT]);

#endif
