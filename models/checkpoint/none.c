/* Nothing is saved: a failure loses all work. */
#include "models/checkpoint/checkpoint_kind.h"

static void plan(const struct kind_options *options, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    (void)options;
    (void)pace;
    (void)tiers;
    (void)tier_count;
    *out = (struct checkpoint_plan){.level_count = 0};
}

const struct checkpoint_kind checkpoint_none = {
    .head = {.name = "none", .doc = "Nothing is saved; a failure loses all work since the start."},
    .default_storage = "",
    .plan = plan,
};
