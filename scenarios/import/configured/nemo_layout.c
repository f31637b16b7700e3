/* nemo_layout.c - which rank does what in NeMo 1, what is sharded, and what is computed again. */
#include <inttypes.h>
#include <string.h>

#include "scenarios/import/configured/nemo.h"

#define HAS(option) launched_has(l, NEMO_##option)
#define COUNT(option, usual) launched_count(l, NEMO_##option, usual)
#define TRUTH(option, usual) launched_truth(l, NEMO_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, NEMO_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, NEMO_##option, __VA_ARGS__)

static const char *truth(bool is)
{
    return is ? "true" : "false";
}

static void read_sharding(struct launched *l)
{
    static const char *const strategies[] = {"full", "hybrid", "grad", NULL};
    static const char *const names[] = {"fsdp", "hsdp", "zero-2"};
    const bool shared =
        strncmp(launched_text(l, NEMO_OPTIMIZER, "fused_adam"), "distributed_fused", 17) == 0 ||
        strcmp(launched_text(l, NEMO_OPTIMIZER, ""), "mcore_distributed_optim") == 0;
    if (TRUTH(FSDP, false))
        KEY(FSDP_STRATEGY, "sharding: %s",
            names[launched_choice(l, NEMO_FSDP_STRATEGY, strategies, 0)]);
    else
        KEY(OPTIMIZER, "sharding: zero-%d", shared ? 1 : 0);
    if (HAS(GRADIENT_OVERLAP))
        SOFTWARE(GRADIENT_OVERLAP, "overlap_gradients: %s", truth(TRUTH(GRADIENT_OVERLAP, false)));
    if (HAS(PARAMETER_OVERLAP))
        SOFTWARE(PARAMETER_OVERLAP, "overlap_parameters: %s",
                 truth(TRUTH(PARAMETER_OVERLAP, false)));
    if (HAS(BUCKET))
        SOFTWARE(BUCKET, "bucket: %" PRIu64 "MiB", COUNT(BUCKET, 1));
    if (HAS(GRADIENT_FUSION))
        SOFTWARE(GRADIENT_FUSION, "gradient_fusion: %s", truth(TRUTH(GRADIENT_FUSION, false)));
}

static void read_recompute(struct launched *l)
{
    static const char *const kinds[] = {"selective", "full", NULL};
    static const char *const methods[] = {"uniform", "block", NULL};
    const int method = launched_choice(l, NEMO_METHOD, methods, 0);
    const uint64_t layers = HAS(RECOMPUTE_LAYERS) ? COUNT(RECOMPUTE_LAYERS, 1) : 1;
    /* Older files have a method alone. */
    const bool whole =
        HAS(GRANULARITY) ? launched_choice(l, NEMO_GRANULARITY, kinds, 0) == 1 : HAS(METHOD);
    if (whole && method == 0 && layers == 1) {
        KEY(METHOD, "recompute: full");
    } else if (whole) {
        KEY(METHOD, "recompute: %s", methods[method]);
        KEY(RECOMPUTE_LAYERS, "recompute_layers: %" PRIu64, layers);
    } else {
        KEY(GRANULARITY, "recompute: %s", HAS(GRANULARITY) ? "selective" : "none");
    }
}

void nemo_layout(struct launched *l, const struct launched_ranks *r)
{
    const bool sequence = TRUTH(SEQUENCE_PARALLEL, false) && r->tp > 1;
    const uint64_t chunks = r->pp > 1 ? COUNT(CHUNKS, 1) : 1;
    KEY(TP, "tp: %" PRIu64, r->tp);
    KEY(SEQUENCE_PARALLEL, "sequence_parallel: %s", truth(sequence));
    if (sequence)
        SOFTWARE(TP_OVERLAP, "tp_pipelines: %s", truth(TRUTH(TP_OVERLAP, false)));
    KEY(PP, "pp: %" PRIu64, r->pp);
    KEY(CHUNKS, "vpp: %" PRIu64, chunks);
    if (r->pp > 1) {
        KEY(CHUNKS, "schedule: %s", chunks > 1 ? "interleaved" : "1f1b");
        KEY(PP, "ends_count: false");
    }
    if (chunks > 1 && HAS(P2P_OVERLAP))
        SOFTWARE(P2P_OVERLAP, "p2p_blocking_interleaved: %s", truth(!TRUTH(P2P_OVERLAP, false)));
    KEY(CP, "cp: %" PRIu64, r->cp);
    if (r->cp > 1)
        KEY(CP, "cp_method: ring");
    if (r->dp > 0)
        launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "dp: %" PRIu64, r->dp);
    launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "order: tp-cp-dp-pp");
    if (HAS(EXPERTS))
        KEY(EP, "ep: %" PRIu64, COUNT(EP, 1));
    read_sharding(l);
    read_recompute(l);
}
