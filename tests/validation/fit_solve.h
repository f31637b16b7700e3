/* fit_solve.h - the constants that fit rows best: nonlinear least squares (GSL, trust region) of
 * Cauchy's robust loss on log(predicted / measured), with a prior on every constant (a Bayesian
 * ridge), so that what the rows do not show stays where it was, with its error. */
#ifndef ORRERY_TESTS_FIT_SOLVE_H
#define ORRERY_TESTS_FIT_SOLVE_H

#include "fit_rows.h"

/* Around a point, for folds: residual(x) = residual + jacobian (x - x0). */
struct fit_linear {
    const double *x0, *residual, *jacobian;
};
struct fit_solution {
    double x[FIT_PARAMETER_MAX];
    double error[FIT_PARAMETER_MAX]; /* standard, of x; the prior's where no row tells */
    double correlation[FIT_PARAMETER_MAX][FIT_PARAMETER_MAX];
    bool free[FIT_PARAMETER_MAX];
    double start_cost, cost; /* sum of squares, priors included */
    size_t iterations;
    bool converged;
};
/* Of the chosen rows (NULL: all), from `start`, where fixed constants stay. `linear` NULL: all
 * rows, simulated, in rounds that each solve the problem around a point and go there; then errors
 * are those around the last. */
void fit_solve(const struct fit_rows *rows, const bool *chosen, const struct fit_linear *linear,
               const double *start, struct fit_solution *out);

/* Standard deviation of log(predicted / measured) that no constant explains. */
extern const double fit_row_spread;

#endif
