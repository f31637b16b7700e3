/* torch.distributed.checkpoint.async_save and Megatron-LM's --async-save: a blocking snapshot to
 * host memory, then a background write that shares PCIe, NICs and storage. CheckFreq (Mohan et al.,
 * FAST 2021) also runs the snapshot beside the next forward and backward passes, which do not
 * change the weights: hidden_snapshot. */
#include "models/checkpoint/checkpoint_kind.h"

enum {
    HIDDEN_SNAPSHOT
};

static const struct param options[] = {
    {"hidden_snapshot", PARAM_RATIO, HIDDEN_SNAPSHOT, 0, 1, "0%", NULL,
     "Share of the snapshot that overlaps with the next forward and backward passes instead of "
     "blocking; 0: as in most frameworks."},
};

static void plan(const struct kind_options *given, const struct checkpoint_pace *pace,
                 const struct checkpoint_tier *tiers, unsigned tier_count,
                 struct checkpoint_plan *out)
{
    checkpoint_write_behind(pace, given->value[HIDDEN_SNAPSHOT], tiers, tier_count, out);
}

const struct checkpoint_kind checkpoint_async = {
    .head = {.name = "async",
             .doc = "A blocking snapshot to host memory, then a write in the background.",
             .options = {options, sizeof options / sizeof options[0]}},
    .tiers_min = 1,
    .tiers_max = 3,
    .default_storage = "host+pfs",
    .background = true,
    .plan = plan,
    .closed_optimum = true,
};
