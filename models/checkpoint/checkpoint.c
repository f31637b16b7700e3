/* The table of checkpoint policies, what background ones share, and the optimal interval. */
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
const unsigned checkpoint_kind_count = sizeof checkpoint_kinds / sizeof checkpoint_kinds[0];

const struct checkpoint_kind *checkpoint_find(const char *name)
{
    for (unsigned i = 0; i < checkpoint_kind_count; i++) {
        if (strcmp(checkpoint_kinds[i]->name, name) == 0) {
            return checkpoint_kinds[i];
        }
    }
    return NULL;
}

/* From the least safe to the safest; equally safe ones as the user named them. */
static void order_tiers(const struct checkpoint_tier *tiers, unsigned count,
                        const struct checkpoint_tier **order)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned place = i;
        while (place > 0 && order[place - 1]->survival > tiers[i].survival) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = &tiers[i];
    }
}

static double snapshot_of(const struct checkpoint_pace *pace, const struct checkpoint_tier *tiers,
                          unsigned tier_count)
{
    double snapshot_s = pace->snapshot_s;
    for (unsigned i = 0; i < tier_count; i++) {
        if (tiers[i].host_memory) {
            snapshot_s = fmax(snapshot_s, tiers[i].write_s);
        }
    }
    return snapshot_s;
}

void checkpoint_write_behind(const struct checkpoint_pace *pace, double hidden_ratio,
                             const struct checkpoint_tier *tiers, unsigned tier_count,
                             struct checkpoint_plan *out)
{
    const struct checkpoint_tier *order[CHECKPOINT_LEVEL_MAX];
    CHECK(tier_count >= 1 && tier_count <= CHECKPOINT_LEVEL_MAX);
    order_tiers(tiers, tier_count, order);
    double snapshot_s = snapshot_of(pace, tiers, tier_count);
    double hidden_s = fmin(hidden_ratio * snapshot_s, pace->step_s), written_s = hidden_s;
    *out = (struct checkpoint_plan){.level_count = tier_count};
    for (unsigned i = 0; i < tier_count; i++) {
        written_s += order[i]->host_memory ? 0.0 : order[i]->write_s;
        out->levels[i] = (struct checkpoint_level){
            .tier = order[i]->name,
            .survival = order[i]->survival,
            .every = 1,
            .stall_s = i == 0 ? snapshot_s - hidden_s : 0.0,
            .persist_s = written_s,
            .slowdown_ratio = order[i]->slowdown_ratio,
            .load_s = order[i]->load_s,
        };
    }
}

/* With y = tau / M and d = delta / M: (1 - y) e^(y + d) = 1, so y = 1 + W0(-e^(-1 - d)). Close to
 * the branch point of W, where 1 + W0 cancels, Daly's series in sqrt(2 d) is the exact one: its
 * next term is d^2 / 67.5. */
double checkpoint_optimum_s(double stall_s, double mtbf_s)
{
    const double series_below = 1e-6;
    CHECK(stall_s >= 0.0 && mtbf_s > 0.0);
    double d = stall_s / mtbf_s;
    if (isinf(mtbf_s) || d < series_below) {
        return isinf(mtbf_s) ? INFINITY : checkpoint_daly_s(stall_s, mtbf_s);
    }
    return mtbf_s * (1.0 + gsl_sf_lambert_W0(-exp(-1.0 - d)));
}

/* J. W. Young, A first order approximation to the optimum checkpoint interval, CACM 17, 1974. */
double checkpoint_young_s(double stall_s, double mtbf_s)
{
    return isinf(mtbf_s) ? INFINITY : sqrt(2.0 * stall_s * mtbf_s);
}

double checkpoint_daly_s(double stall_s, double mtbf_s)
{
    if (isinf(mtbf_s)) {
        return INFINITY;
    }
    if (stall_s >= 2.0 * mtbf_s) {
        return mtbf_s;
    }
    double x = stall_s / (2.0 * mtbf_s);
    return sqrt(2.0 * stall_s * mtbf_s) * (1.0 + sqrt(x) / 3.0 + x / 9.0) - stall_s;
}
