/* Newton's method on the logarithm of the lesser tail over the logarithm of time, so that both
 * tails keep their relative precision. */
#include "models/duration/duration_solve.h"

#include <math.h>

enum {
    NEWTON_STEPS = 200 /* from any start: steps of STRIDE, then bisection at worst */
};
static const double STRIDE = 2.0;     /* longest step, of the logarithm of time */
static const double QUADRATIC = 1e-8; /* the error after a step is about the square of the step */

/* The Newton step of log x from the quantile at u, positive beyond it. */
static double newton(const struct duration_law_tail *law, double x, double u)
{
    double tail, density;
    bool below = u < 0.5;
    law->tail(law, x, below, &tail, &density);
    double beyond = below ? log(tail / u) : log((1.0 - u) / tail);
    double step = beyond * tail / (x * density);
    return fabs(step) <= STRIDE ? step : copysign(STRIDE, beyond);
}

double duration_solve(const struct duration_law_tail *law, double u, double x)
{
    double low = -INFINITY, high = INFINITY, y = log(x);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double step = newton(law, exp(y), u);
        if (fabs(step) <= QUADRATIC)
            return exp(y - step);
        if (step > 0.0)
            high = y;
        else
            low = y;
        y -= step;
        if (y <= low || y >= high) /* both are finite: a step leaves the bound behind it */
            y = low + 0.5 * (high - low);
    }
    return exp(y);
}
