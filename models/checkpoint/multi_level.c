/* SCR (Moody et al., SC 2010) and FTI: frequent checkpoints to fast tiers that die with a node,
 * every few of them on to a safer one. */
#include "models/checkpoint/checkpoint_kind.h"

enum {
    SECOND_EVERY,
    THIRD_EVERY,
    FOURTH_EVERY,
    HIDDEN_SNAPSHOT
};
#define EVERY_MAX 1e6

static const struct param options[] = {
    {"second_every", PARAM_COUNT, SECOND_EVERY, 1, EVERY_MAX, "4", NULL,
     "Every Nth checkpoint of the first tier is also written to the second."},
    {"third_every", PARAM_COUNT, THIRD_EVERY, 1, EVERY_MAX, "4", NULL,
     "Every Nth checkpoint of the second tier is also written to the third."},
    {"fourth_every", PARAM_COUNT, FOURTH_EVERY, 1, EVERY_MAX, "4", NULL,
     "Every Nth checkpoint of the third tier is also written to the fourth."},
    {"hidden_snapshot", PARAM_RATIO, HIDDEN_SNAPSHOT, 0, 1, "0%", NULL,
     "Share of the snapshot that overlaps with the next forward and backward passes instead of "
     "blocking."},
};

static void plan(const struct kind_options *given, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    checkpoint_write_behind(pace, given->value[HIDDEN_SNAPSHOT], tiers, tier_count, out);
    for (unsigned i = 1; i < tier_count; i++) {
        uint64_t each = (uint64_t)given->value[SECOND_EVERY + i - 1];
        out->levels[i].every = each * out->levels[i - 1].every;
    }
}

const struct checkpoint_kind checkpoint_multi_level = {
    .head =
        {.name = "multi-level",
         .doc = "Frequent checkpoints to fast tiers; some of them are also written to safer tiers.",
         .options = {options, sizeof options / sizeof options[0]}},
    .tiers_min = 2,
    .tiers_max = CHECKPOINT_LEVEL_MAX,
    .default_storage = "host+nvme+pfs",
    .background = true,
    .plan = plan,
};
