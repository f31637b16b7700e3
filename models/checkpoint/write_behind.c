/* What checkpoint policies in the background share: level by level, while steps go on. */
#include <math.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "sim/check.h"

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
    for (unsigned i = 0; i < tier_count; i++)
        if (tiers[i].host_memory)
            snapshot_s = fmax(snapshot_s, tiers[i].write_s);
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
            .memory = order[i]->memory,
            .bytes = order[i]->bytes,
            .transfer_s = order[i]->transfer_s,
            .wear_s = order[i]->transfer_s,
        };
    }
}
