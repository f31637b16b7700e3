/* simumax_layout.c - which rank does what in a strategy of SimuMax. */
#include <inttypes.h>
#include <string.h>

#include "scenarios/import/peers/simumax.h"

#define HAS(option) launched_has(l, SIMUMAX_##option)
#define COUNT(option, usual) launched_count(l, SIMUMAX_##option, usual)
#define TRUTH(option, usual) launched_truth(l, SIMUMAX_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_LAYOUT, SIMUMAX_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, SIMUMAX_##option, __VA_ARGS__)

static void read_ends(struct launched *l)
{
    const bool embedding = TRUTH(EMBEDDING_COUNTS, false), loss = TRUTH(LOSS_COUNTS, false);
    if (HAS(FIRST_LAYERS))
        KEY(FIRST_LAYERS, "first_stage_layers: %" PRIu64, COUNT(FIRST_LAYERS, 1));
    if (HAS(LAST_LAYERS))
        KEY(LAST_LAYERS, "last_stage_layers: %" PRIu64, COUNT(LAST_LAYERS, 1));
    if (!HAS(FIRST_LAYERS) && !HAS(LAST_LAYERS))
        KEY(EMBEDDING_COUNTS, "ends_count: %s", embedding && loss ? "true" : "false");
    if (embedding != loss)
        launched_warn(l, embedding ? SIMUMAX_EMBEDDING_COUNTS : SIMUMAX_LOSS_COUNTS,
                      "layers are spread as if neither end counted");
}

static void read_pipeline(struct launched *l, const struct simumax_run *run)
{
    static const char *const orders[] = {"1f1b", "zb_h2", NULL};
    const uint64_t chunks = COUNT(CHUNKS, 1), pp = run->ranks.pp;
    KEY(PP, "pp: %" PRIu64, pp);
    KEY(CHUNKS, "vpp: %" PRIu64, pp > 1 ? chunks : 1);
    if (pp == 1)
        return;
    if (launched_choice(l, SIMUMAX_SCHEDULE, orders, 0) == 1)
        KEY(SCHEDULE, "schedule: zb-h2");
    else
        KEY(CHUNKS, "schedule: %s", chunks > 1 ? "interleaved" : "1f1b");
    if (!HAS(FIRST_LAYERS) && !HAS(LAST_LAYERS) && !TRUTH(LOSS_COUNTS, false) && !l->broken &&
        run->layers % (pp * chunks) != 0)
        launched_bad(l, SIMUMAX_PP,
                     "%" PRIu64 " layers do not divide by pp %" PRIu64 " x %" PRIu64
                     " chunks: num_layers_in_first_pipeline_stage says how they lie",
                     run->layers, pp, chunks);
    read_ends(l);
    if (HAS(ASYNC))
        SOFTWARE(ASYNC, "p2p_blocking%s: %s", chunks > 1 ? "_interleaved" : "",
                 TRUTH(ASYNC, true) ? "false" : "true");
}

static void read_experts(struct launched *l)
{
    static const char *const policies[] = {"all2all", "all2all-seq", NULL};
    KEY(EP, "ep: %" PRIu64, COUNT(EP, 1));
    KEY(ETP, "etp: %" PRIu64, COUNT(ETP, 1));
    launched_choice(l, SIMUMAX_DISPATCH, policies, 0);
    KEY(DISPATCH, "dispatch: alltoall");
    if (HAS(CAPACITY) && launched_number(l, SIMUMAX_CAPACITY, 1.0) > 1.0)
        KEY(CAPACITY, "expert_capacity: %.15g", launched_number(l, SIMUMAX_CAPACITY, 1.0));
}

/* Layers whole, the first of each chunk; or parts of a layer, of which one is simulated. */
static void read_recompute(struct launched *l, const struct simumax_run *run)
{
    static const char *const kinds[] = {"full_block", "attn_only",           "mlp_only",
                                        "sdp_only",   "selective_recompute", NULL};
    const uint64_t chunks = run->ranks.pp * (run->ranks.pp > 1 ? COUNT(CHUNKS, 1) : 1);
    const uint64_t most = (run->layers + chunks - 1) / chunks;
    const double layers = launched_number(l, SIMUMAX_RECOMPUTE_LAYERS, 0.0);
    const bool any = TRUTH(RECOMPUTE, true) && HAS(GRANULARITY) && layers >= 1.0;
    const int kind = launched_choice(l, SIMUMAX_GRANULARITY, kinds, 0);
    if (!any) {
        KEY(RECOMPUTE, "recompute: none");
    } else if (kind > 0) {
        KEY(GRANULARITY, "recompute: selective");
        launched_warn(l, SIMUMAX_GRANULARITY,
                      "the core of attention alone is simulated as computed again, in all layers");
    } else if (layers >= (double)most) {
        KEY(RECOMPUTE_LAYERS, "recompute: full");
    } else {
        KEY(GRANULARITY, "recompute: block");
        KEY(RECOMPUTE_LAYERS, "recompute_layers: %" PRIu64, COUNT(RECOMPUTE_LAYERS, 1));
    }
}

void simumax_layout(struct launched *l, const struct simumax_run *run)
{
    static const char *const stages[] = {"0", "1", NULL};
    const struct launched_ranks *r = &run->ranks;
    const bool sequence = TRUTH(SEQUENCE_PARALLEL, true) && r->tp > 1;
    KEY(TP, "tp: %" PRIu64, r->tp);
    KEY(SEQUENCE_PARALLEL, "sequence_parallel: %s", sequence ? "true" : "false");
    read_pipeline(l, run);
    KEY(CP, "cp: %" PRIu64, r->cp);
    KEY(WORLD, "dp: %" PRIu64, r->dp);
    launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "order: tp-cp-dp-pp");
    KEY(ZERO, "sharding: zero-%s", stages[launched_choice(l, SIMUMAX_ZERO, stages, 1)]);
    if (run->experts > 1)
        read_experts(l);
    read_recompute(l, run);
}
