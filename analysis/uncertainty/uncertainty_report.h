/* uncertainty_report.h - how sure a step is, for people and for JSON. */
#ifndef ORRERY_ANALYSIS_UNCERTAINTY_UNCERTAINTY_REPORT_H
#define ORRERY_ANALYSIS_UNCERTAINTY_UNCERTAINTY_REPORT_H

#include "analysis/result/result.h"
#include "analysis/terminal/session.h"
#include "analysis/uncertainty/uncertainty.h"

/* What `run --uncertainty` has found out, besides the step itself. */
struct uncertainty {
    struct uncertain_step step;
    const struct influence *influences;
    uint32_t influence_count;
    const struct uncertain_step *against; /* NULL: nothing to compare with */
    struct uncertain_comparison comparison;
};
/* The quantities that follow from a step time: what is whole for a step, over it. */
double uncertainty_tokens_per_s(const struct result *result, double step_s);
double uncertainty_mfu_ratio(const struct result *result, double step_s);
void uncertainty_report(const struct session *session, const struct result *result,
                        const struct uncertainty *uncertainty);
/* "A is faster with probability .84", or that it is a tie. */
const char *uncertainty_verdict(const struct uncertain_comparison *comparison);

#endif
