/* A checkpoint at each step: what a replica's redundant state gives (FFTrainer; ByteRobust of
 * ByteDance; Gemini at its highest frequency). */
#include "models/checkpoint/checkpoint_kind.h"

enum {
    STORAGE_EVERY,
    HIDDEN_SNAPSHOT
};

static const struct param options[] = {
    {"storage_every", PARAM_COUNT, STORAGE_EVERY, 1, 1e6, "1000", NULL,
     "Every Nth step is also written to storage that survives the loss of a whole domain."},
    {"hidden_snapshot", PARAM_RATIO, HIDDEN_SNAPSHOT, 0, 1, "100%", NULL,
     "Share of the snapshot that overlaps with the next forward and backward passes instead of "
     "blocking."},
};

static void plan(const struct kind_options *given, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    checkpoint_peer_memory.plan(given, pace, tiers, tier_count, out);
    out->every_step = true;
}

const struct checkpoint_kind checkpoint_every_step = {
    .head = {.name = "every-step",
             .doc = "A copy in a peer's memory at every step, and rarely one in storage.",
             .options = {options, sizeof options / sizeof options[0]}},
    .tiers_min = 1,
    .tiers_max = 3,
    .default_storage = "host+peer+pfs",
    .background = true,
    .plan = plan,
};
