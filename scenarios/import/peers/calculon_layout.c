/* calculon_layout.c - which rank does what in Calculon's execution, and what overlaps. */
#include <inttypes.h>

#include "scenarios/import/peers/calculon.h"

#define COUNT(option, usual) launched_count(l, CALCULON_##option, usual)
#define TRUTH(option) launched_truth(l, CALCULON_##option, false)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, CALCULON_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, CALCULON_##option, __VA_ARGS__)

static const char *truth(bool is)
{
    return is ? "true" : "false";
}

/* All-reduces, or reduce-scatters and all-gathers, of whole activations or between stages alone. */
static void read_tensor(struct launched *l, const struct calculon_run *run)
{
    static const char *const types[] = {"ar", "p2p_rs_ag", "rs_ag", NULL};
    static const char *const overlaps[] = {"none", "ring", "pipe", NULL};
    const int type = launched_choice(l, CALCULON_TP_TYPE, types, 0);
    const bool overlaps_tp = launched_choice(l, CALCULON_TP_OVERLAP, overlaps, 0) > 0;
    const bool sequence = type == 2 && run->tp > 1;
    KEY(TP, "tp: %" PRIu64, run->tp);
    KEY(TP_TYPE, "sequence_parallel: %s", truth(sequence));
    if (run->tp > 1 && run->pp > 1 && !sequence)
        SOFTWARE(TP_TYPE, "p2p_scatter: %s", truth(type == 1));
    if (sequence)
        SOFTWARE(TP_OVERLAP, "tp_pipelines: %s", truth(overlaps_tp));
    else if (overlaps_tp)
        launched_warn(l, CALCULON_TP_OVERLAP,
                      "all-reduces of tensor ranks are simulated beside no product");
    if (sequence)
        SOFTWARE(GATHERS_AGAIN, "backward_regather: %s", truth(TRUTH(GATHERS_AGAIN)));
}

static void read_pipeline(struct launched *l, const struct calculon_run *run)
{
    const uint64_t chunks = COUNT(CHUNKS, 1), blocks = COUNT(BLOCKS, 1);
    const uint64_t most = (blocks + run->pp - 1) / run->pp; /* of a processor */
    if (run->pp == 1 && chunks > 1)
        launched_bad(l, CALCULON_CHUNKS, "%" PRIu64 " chunks without a pipeline", chunks);
    if (most % chunks != 0)
        launched_bad(l, CALCULON_CHUNKS, "does not divide the %" PRIu64 " blocks of a processor",
                     most);
    if (blocks < run->pp * chunks)
        launched_bad(l, run->pp > blocks ? CALCULON_PP : CALCULON_CHUNKS,
                     "%" PRIu64 " blocks leave chunks of the pipeline empty, which is not "
                     "simulated",
                     blocks);
    KEY(PP, "pp: %" PRIu64, run->pp);
    KEY(CHUNKS, "vpp: %" PRIu64, chunks);
    if (run->pp > 1) {
        KEY(CHUNKS, "schedule: %s", chunks > 1 ? "interleaved" : "1f1b");
        KEY(PP, "ends_count: false");
        if (blocks % run->pp != 0)
            SOFTWARE(PP, "even_stages: false");
    }
}

static void read_data(struct launched *l, const struct calculon_run *run)
{
    const uint64_t micro = launched_needed(l, CALCULON_MICROBATCH, "microbatch_size");
    const uint64_t batch = COUNT(BATCH, 1);
    if (!l->broken && batch % (micro * run->dp) != 0)
        launched_bad(l, CALCULON_BATCH,
                     "%" PRIu64 " sequences do not divide by microbatch_size %" PRIu64
                     " x data_par %" PRIu64,
                     batch, micro, run->dp);
    KEY(DP, "dp: %" PRIu64, run->dp);
    launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "order: tp-cp-pp-dp");
    KEY(MICROBATCH, "microbatch: %" PRIu64, micro);
    KEY(SHARDING, "sharding: %s", TRUTH(SHARDING) ? "zero-1" : "zero-0");
    if (run->dp > 1)
        SOFTWARE(DP_OVERLAP, "overlap_gradients: %s", truth(TRUTH(DP_OVERLAP)));
}

static void read_memory(struct launched *l)
{
    static const char *const kinds[] = {"none", "attn_only", "full", NULL};
    static const char *const names[] = {"none", "selective", "full"};
    KEY(RECOMPUTE, "recompute: %s", names[launched_choice(l, CALCULON_RECOMPUTE, kinds, 0)]);
    if (TRUTH(ACTIVATION_OFFLOAD))
        KEY(ACTIVATION_OFFLOAD, "activation_offload: 1");
    if (TRUTH(OPTIMIZER_OFFLOAD))
        KEY(OPTIMIZER_OFFLOAD, "optimizer_offload: 1");
    if (TRUTH(WEIGHT_OFFLOAD))
        launched_warn(l, CALCULON_WEIGHT_OFFLOAD, "weights stay on the cards");
}

void calculon_layout(struct launched *l, const struct calculon_run *run)
{
    read_tensor(l, run);
    read_pipeline(l, run);
    read_data(l, run);
    read_memory(l);
}
