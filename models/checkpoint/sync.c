/* torch.save, or torch.distributed.checkpoint.save: training stands still until the slowest rank
 * has written its shard. The way through host memory is streamed, so the narrowest part of the way
 * counts, once. */
#include "models/checkpoint/checkpoint_kind.h"

static void plan(const struct kind_options *options, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    (void)options;
    (void)pace;
    *out = (struct checkpoint_plan){.level_count = tier_count};
    out->levels[0] = (struct checkpoint_level){
        .tier = tiers[0].name,
        .survival = tiers[0].survival,
        .every = 1,
        .stall_s = tiers[0].write_s,
        .slowdown_ratio = 1.0,
        .load_s = tiers[0].load_s,
        .memory = tiers[0].memory,
        .bytes = tiers[0].bytes,
        .transfer_s = tiers[0].transfer_s,
        .wear_s = tiers[0].transfer_s,
    };
}

const struct checkpoint_kind checkpoint_sync = {
    .head = {.name = "sync", .doc = "Training blocks until every rank has written its shard."},
    .tiers_min = 1,
    .tiers_max = 1,
    .default_storage = "pfs",
    .plan = plan,
    .closed_optimum = true,
};
