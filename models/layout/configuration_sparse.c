/* The rules of sparse attention with an indexer. What is asked of the layout is what Megatron-LM
 * asks (megatron/core/transformer/experimental_attention_variant/: absorbed_mla.py, dsa.py). */
#include <inttypes.h>
#include <math.h>

#include "models/layout/configuration_parts.h"
#include "models/layout/configuration_split.h"

enum {
    CHUNKS_MAX = 1024,
    TILE_HEADS = 64 /* gpu.c, SPARSE_TILE_HEADS */
};

static bool check_shape(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    const struct model_indexer *x = &m->latent.indexer;
    if (m->latent.kv_rank == 0)
        rule_say(r, false, "model.indexer_heads",
                 "an indexer chooses rows of latent attention, and model.kv_rank is 0: of other "
                 "attention none is simulated");
    else if (x->size == 0 || x->keys == 0)
        rule_say(r, false, "model.indexer_heads",
                 "an indexer needs model.indexer_size and model.sparse_keys");
    else if (m->windows.length > 0)
        rule_say(r, false, "model.window",
                 "an indexer chooses among all keys before a query: a window beside it is not "
                 "simulated");
    else if (m->pattern.count > 0 && x->interval > 1)
        rule_say(r, false, "model.indexer_interval",
                 "which layers of a pattern take another's choice is not known: take 1");
    else
        return true;
    return false;
}

static void check_kernels(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const enum peak_kind operands = c->training.precision->attention_peak;
    if (!(c->software.layer.sparse_time_ratio > 0.0))
        rule_say(r, false, "software.sparse_time",
                 "%s has no sparse attention with an indexer: take a profile that has, or train "
                 "before it is added (model.indexer_heads: 0)",
                 c->software.name);
    if (operands != PEAK_BF16)
        rule_say(r, false, "training.precision",
                 "kernels of sparse attention take bf16: take bf16 or fp8");
    if (!(c->gpu.peak_flops_per_s[PEAK_FP8] > 0.0))
        rule_say(r, false, "cluster.gpu",
                 "kernels of sparse attention are known for Hopper and later cards, not for %s",
                 c->gpu.name);
    if (!c->training.causal)
        rule_say(r, false, "training.causal",
                 "an indexer chooses among the keys before a query: set causal: true");
}

static void check_layout(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    if (l->tp > 1 && !l->sequence_parallel)
        rule_say(r, false, "layout.sequence_parallel",
                 "sparse attention in the latent with tp > 1 needs sequence_parallel: true");
    if (l->cp > 1 && l->context.method != CP_ALL_GATHER)
        rule_say(r, false, "layout.cp_method",
                 "a query's chosen keys lie anywhere in the sequence: context ranks gather the "
                 "latents (all_gather), %s does not",
                 cp_method_names[l->context.method]);
}

static bool broken(const struct rule_report *r)
{
    for (unsigned i = 0; i < r->count && i < r->capacity; i++)
        if (!r->out[i].warning)
            return true;
    return false;
}

/* A stage that begins with a layer whose choice of keys was made on another has none. Asked of
 * layouts that are sound otherwise, whose layers can be split. */
static void check_stages(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const uint64_t chunks = c->layout.pp * c->layout.pipeline.vpp;
    uint32_t split[CHUNKS_MAX];
    uint64_t layer = 0;
    if (c->model.latent.indexer.interval <= 1 || chunks > CHUNKS_MAX || broken(r))
        return;
    configuration_split(c, split);
    for (uint64_t i = 0; i < chunks; layer += split[i++])
        if (!transformer_scores_keys(&c->model, layer)) {
            rule_say(r, false, "layout.pp",
                     "pipeline chunk %" PRIu64 " begins with layer %" PRIu64
                     ", which takes the chosen keys of a layer of another chunk: each must begin "
                     "with a layer that has an indexer (first_stage_layers and last_stage_layers "
                     "move them)",
                     i, layer);
            return;
        }
}

static void warn(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct model_shape *m = &c->model;
    const double worth = transformer_sparse_worth(m, c->training.causal);
    const uint64_t heads = m->attention.heads / c->layout.tp;
    rule_say(r, true, "software.sparse_time",
             "no rate of a backward kernel of sparse attention was published: .6 of the forward "
             "rate is taken, 30 %% off either way");
    if ((double)c->training.sequence < worth)
        rule_say(r, true, "model.indexer_heads",
                 "sparse attention in the latent takes fewer FLOPs than dense from %.0f tokens of "
                 "sequence on, and this is %" PRIu64
                 ": such models are pre-trained dense (model.indexer_heads: 0)",
                 worth, c->training.sequence);
    if (heads % TILE_HEADS != 0)
        rule_say(r, true, "layout.tp",
                 "kernels of sparse attention fill up to %d heads of queries: %" PRIu64
                 " on a rank take as long",
                 TILE_HEADS * (int)((heads + TILE_HEADS - 1) / TILE_HEADS), heads);
}

void configuration_check_sparse(struct rule_report *r)
{
    if (r->c->model.latent.indexer.heads == 0 || !check_shape(r))
        return;
    check_kernels(r);
    check_layout(r);
    warn(r);
    check_stages(r);
}
