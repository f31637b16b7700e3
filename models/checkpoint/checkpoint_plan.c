#include "models/checkpoint/checkpoint_plan.h"

#include <math.h>

#include "sim/check.h"

/* A step beside a write that loads the NICs so much, against one that has them for itself. INFINITY
 * where it would last longer than a step may: training stands still meanwhile. */
static double slowdown_of(const struct configuration *c, struct condition_table *conditions,
                          double nic_bytes_per_s)
{
    if (!(nic_bytes_per_s > 0.0))
        return 1.0;
    struct condition beside = condition_ideal;
    beside.nic_share_ratio = 1.0 - nic_bytes_per_s / topology_nic_bytes_per_s(&c->cluster);
    const double step_s = condition_step_s(conditions, &beside);
    return isnan(step_s) ? INFINITY
                         : fmax(step_s / condition_step_s(conditions, &condition_ideal), 1.0);
}

void checkpoint_tier_play(const struct configuration *c, struct condition_table *conditions,
                          const struct checkpoint_kind *kind, const struct storage_tier *tier,
                          double bytes_per_parameter, struct checkpoint_tier *out)
{
    struct storage_time write, load;
    enum storage_op op = kind->background ? STORAGE_WRITE_BEHIND : STORAGE_WRITE;
    storage_play(c, &(struct storage_access){tier, op, bytes_per_parameter}, &write);
    storage_play(c, &(struct storage_access){tier, STORAGE_READ, bytes_per_parameter}, &load);
    *out = (struct checkpoint_tier){
        .name = tier->name,
        .survival = tier->survival,
        .host_memory = tier->memory && tier->path == STORAGE_HOST,
        .write_s = write.seconds,
        .load_s = load.seconds,
        .slowdown_ratio =
            kind->background ? slowdown_of(c, conditions, write.nic_bytes_per_s) : 1.0,
        .memory = tier->memory,
        .bytes = write.bytes,
        .transfer_s = write.seconds - tier->latency_s,
    };
}

static void override(const struct checkpoint_request *request, struct checkpoint_plan *plan)
{
    for (unsigned i = 0; i < plan->level_count; i++) {
        struct checkpoint_level *level = &plan->levels[i];
        if (request->stall_s >= 0.0 && i == 0)
            level->stall_s = request->stall_s;
        if (request->persist_s >= 0.0) {
            bool safest = i + 1 == plan->level_count;
            level->persist_s =
                safest ? request->persist_s : fmin(level->persist_s, request->persist_s);
            level->transfer_s = fmin(level->transfer_s, level->persist_s);
        }
        if (request->stall_s >= 0.0 && !request->kind->background)
            level->transfer_s = request->stall_s;
        level->wear_s = fmin(level->wear_s, level->transfer_s);
        if (request->load_s >= 0.0)
            level->load_s = request->load_s;
    }
}

void checkpoint_plan_build(const struct configuration *c, struct condition_table *conditions,
                           const struct checkpoint_request *request, struct checkpoint_plan *out)
{
    const struct checkpoint_kind *kind = request->kind;
    struct checkpoint_tier tiers[CHECKPOINT_LEVEL_MAX];
    CHECK(request->tier_count >= kind->tiers_min && request->tier_count <= kind->tiers_max);
    CHECK(request->persist_s < 0.0 || kind->background);
    struct checkpoint_pace pace = {.step_s = condition_step_s(conditions, &condition_ideal)};
    for (unsigned i = 0; i < request->tier_count; i++) {
        checkpoint_tier_play(c, conditions, kind, &request->tiers[i], request->bytes_per_parameter,
                             &tiers[i]);
    }
    if (kind->background) {
        struct storage_time snapshot;
        storage_play(c,
                     &(struct storage_access){NULL, STORAGE_SNAPSHOT, request->bytes_per_parameter},
                     &snapshot);
        pace.snapshot_s = snapshot.seconds;
    }
    kind->plan(request->options, &pace, tiers, request->tier_count, out);
    override(request, out);
}
