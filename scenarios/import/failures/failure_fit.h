/* failure_fit.h - the laws of the causes in a failure log. */
#ifndef ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_FIT_H
#define ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_FIT_H

#include "models/duration/duration_fit.h"
#include "scenarios/import/failures/failure_log.h"

enum {
    FAILURE_LAWS = DURATION_LAW_COUNT - 1, /* all but the first, fixed */
    FAILURE_CAUSES_MAX = 256
};
/* What the rows of a cause say of its repairs. */
struct failure_repair {
    uint32_t told;           /* above 0 s; the fit rests on them */
    uint32_t in_place;       /* 0 s: a restart repairs it, as in a trace */
    struct duration_fit fit; /* of `told` > 0: all alike are DURATION_FIXED, without errors */
};
/* The units of one kind that failed of one cause. */
struct failure_fit {
    const char *cause;
    int unit_kind;
    uint32_t failures;
    double units; /* that were watched; 0: not known (domains), nothing is fitted */
    struct duration_fit fits[FAILURE_LAWS];
    unsigned best; /* by AICc; exponential unless another is lower */
    struct failure_repair repair;
};
/* One for each cause and kind of unit, the most frequent first. Lives begin when a repair ends, if
 * the log tells it; the laws of repairs are compared as those of lives are. False with a sentence:
 * too many causes. */
bool failure_fit(struct arena *arena, const struct failure_log *log,
                 const struct failure_rules *rules, struct failure_fit **out, uint32_t *count,
                 struct error *error);

#endif
