/* The table of checkpoint policies, and the optimal interval. */
#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "sim/check.h"

const char *const survival_names[] = {"process", "node", "domain", NULL};

#define X(name) &checkpoint_##name,
const struct checkpoint_kind *const checkpoint_kinds[] = {
#include "models/checkpoint/checkpoint_list.h"
};
#undef X
KIND_TABLE(checkpoint)

/* With y = tau / M and d = delta / M: (1 - y) e^(y + d) = 1, so y = 1 + W0(-e^(-1 - d)). Close to
 * the branch point of W, where 1 + W0 cancels, Daly's series in sqrt(2 d) is the exact one: its
 * next term is d^2 / 67.5. */
double checkpoint_optimum_s(double stall_s, double mtbf_s)
{
    const double series_below = 1e-6;
    CHECK(stall_s >= 0.0 && mtbf_s > 0.0);
    double d = stall_s / mtbf_s;
    if (isinf(mtbf_s) || d < series_below)
        return isinf(mtbf_s) ? INFINITY : checkpoint_daly_s(stall_s, mtbf_s);
    return mtbf_s * (1.0 + gsl_sf_lambert_W0(-exp(-1.0 - d)));
}

/* With d = delta / (M + R): (x - 1) e^(x - 1) = (d - 1) / e. Close to the branch point of W the
 * series of its solution: x = p - p^2/3 + 11 p^3/72, p = sqrt(2 d). */
double checkpoint_sheltered_optimum_s(double stall_s, double mtbf_s, double restart_s)
{
    const double series_below = 1e-6;
    CHECK(stall_s >= 0.0 && mtbf_s > 0.0 && restart_s >= 0.0);
    if (isinf(mtbf_s))
        return INFINITY;
    const double d = stall_s / (mtbf_s + restart_s), p = sqrt(2.0 * d);
    if (d < series_below)
        return mtbf_s * p * (1.0 - p / 3.0 + 11.0 * p * p / 72.0);
    return mtbf_s * (1.0 + gsl_sf_lambert_W0((d - 1.0) / M_E));
}

/* J. W. Young, A first order approximation to the optimum checkpoint interval, CACM 17, 1974. */
double checkpoint_young_s(double stall_s, double mtbf_s)
{
    return isinf(mtbf_s) ? INFINITY : sqrt(2.0 * stall_s * mtbf_s);
}

double checkpoint_daly_s(double stall_s, double mtbf_s)
{
    if (isinf(mtbf_s))
        return INFINITY;
    if (stall_s >= 2.0 * mtbf_s)
        return mtbf_s;
    double x = stall_s / (2.0 * mtbf_s);
    return sqrt(2.0 * stall_s * mtbf_s) * (1.0 + sqrt(x) / 3.0 + x / 9.0) - stall_s;
}

double checkpoint_floor_s(const struct checkpoint_plan *plan, double share_ratio)
{
    double floor_s = 0.0;
    CHECK(share_ratio > 0.0);
    for (unsigned i = 0; i < plan->level_count; i++) {
        const struct checkpoint_level *level = &plan->levels[i];
        double each_s = level->memory ? 0.0 : level->wear_s / (double)level->every;
        floor_s = fmax(floor_s, each_s / share_ratio);
    }
    return floor_s;
}
