/* report_layouts.h - layouts in a table, and one in words. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_LAYOUTS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_LAYOUTS_H

#include "analysis/output/terminal/session.h"
#include "analysis/output/text/format.h"
#include "analysis/plan/search/search_found.h"

struct layout_line {
    const char *name; /* "1", "own" */
    const struct search_leader *leader;
};
/* What is the same in all of them stands in a line above the others' columns. */
void report_layouts(const struct session *session, const struct layout_line *lines, size_t count);
/* "tp 8, pp 4, dp 16, microbatch 2, 1f1b, zero-1, recompute none, sequence parallel" into `out`. */
enum {
    LAYOUT_TEXT = 280
};
const char *report_layout_words(const struct plan_layout *layout, char out[LAYOUT_TEXT]);
/* "tp 8 pp 4 dp 16 mb 2 zero-1": context and chunks where there are any. */
struct text report_layout_short(const struct plan_layout *layout);

#endif
