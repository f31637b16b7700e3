/* Gemini (Wang et al., SOSP 2023): the state goes to the memory of the own node and of a peer, in
 * the gaps of the training traffic, and now and then to storage of its own. */
#include "models/checkpoint/checkpoint_kind.h"

enum {
    STORAGE_EVERY,
    HIDDEN_SNAPSHOT
};

static const struct param options[] = {
    {"storage_every", PARAM_COUNT, STORAGE_EVERY, 1, 1e6, "100", NULL,
     "Every Nth checkpoint is also written to storage that survives the loss of a whole domain."},
    {"hidden_snapshot", PARAM_RATIO, HIDDEN_SNAPSHOT, 0, 1, "100%", NULL,
     "Share of the snapshot that overlaps with the next forward and backward passes instead of "
     "blocking; 100%: as Gemini reports."},
};

static void plan(const struct kind_options *given, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    checkpoint_write_behind(pace, given->value[HIDDEN_SNAPSHOT], tiers, tier_count, out);
    for (unsigned i = 1; i < tier_count; i++)
        if (out->levels[i].survival == SURVIVES_DOMAIN)
            out->levels[i].every = (uint64_t)given->value[STORAGE_EVERY];
}

const struct checkpoint_kind checkpoint_peer_memory = {
    .head =
        {.name = "peer-memory",
         .doc = "Copies in the memory of the node itself and of a peer, and rarely one in storage.",
         .options = {options, sizeof options / sizeof options[0]}},
    .tiers_min = 1,
    .tiers_max = 3,
    .default_storage = "host+peer+pfs",
    .background = true,
    .plan = plan,
};
