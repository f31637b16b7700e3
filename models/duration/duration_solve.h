/* duration_solve.h - quantiles of laws without a closed form, for duration_kind.h. */
#ifndef ORRERY_MODELS_DURATION_DURATION_SOLVE_H
#define ORRERY_MODELS_DURATION_DURATION_SOLVE_H

#include <stdbool.h>

/* A law of mean 1, as its lesser tail at x > 0 (below x where `below`, else above) and its density.
 */
struct duration_law_tail {
    double shape, log_gamma; /* of the shape, where the law needs it */
    void (*tail)(const struct duration_law_tail *law, double x, bool below, double *tail,
                 double *density);
};
/* The quantile at u in (0, 1), from the start x > 0. */
double duration_solve(const struct duration_law_tail *law, double u, double x);

#endif
