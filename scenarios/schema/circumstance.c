#include "scenarios/schema/circumstance.h"

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

static bool has_experts(const struct configuration *c)
{
    return c->model.moe.experts > 0;
}

static bool has_expert_groups(const struct configuration *c)
{
    return c->model.moe.groups > 1;
}

static bool has_shared_experts(const struct configuration *c)
{
    return c->model.moe.shared_experts > 0;
}

static bool has_expert_extras(const struct configuration *c)
{
    return c->model.biases || c->model.moe.clamped;
}

/* Has any layer no experts? */
static bool has_dense_layers(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    bool dense = !has_experts(c);
    for (uint64_t i = 0; i < m->layers && !dense; i++)
        dense = !transformer_has_experts(m, i);
    return dense;
}

static bool has_window(const struct configuration *c)
{
    return c->model.windows.length > 0;
}

static bool has_recurrence(const struct configuration *c)
{
    return c->model.pattern.kind != NULL;
}

static bool is_mamba2(const struct configuration *c)
{
    return c->model.pattern.kind == &layer_mamba2;
}

static bool is_kda(const struct configuration *c)
{
    return c->model.pattern.kind == &layer_kda;
}

static bool has_convolution(const struct configuration *c)
{
    return c->model.pattern.kind != &layer_lightning;
}

static const char *recurrence(const struct configuration *c)
{
    return c->model.pattern.kind->head.name;
}

static bool has_latent(const struct configuration *c)
{
    return c->model.latent.kv_rank > 0;
}

static bool has_indexer(const struct configuration *c)
{
    return c->model.latent.indexer.heads > 0;
}

static bool has_indexer_interval(const struct configuration *c)
{
    return c->model.latent.indexer.interval > 1;
}

static bool attends_to_all(const struct configuration *c)
{
    return !has_indexer(c);
}

static bool has_layernorm(const struct configuration *c)
{
    return c->model.norm.kind == NORM_LAYERNORM;
}

/* Products that software may divide: of queries, keys and values, and of gate and up. */
static bool has_projections(const struct configuration *c)
{
    return !has_latent(c) || has_dense_layers(c) || has_shared_experts(c);
}

static bool has_adapters(const struct configuration *c)
{
    return c->training.adapter.kind != ADAPTER_NONE;
}

static bool trains_all(const struct configuration *c)
{
    return !has_adapters(c);
}

static bool is_causal(const struct configuration *c)
{
    return c->training.causal;
}

static bool is_math(const struct configuration *c)
{
    return c->training.attention == ATTENTION_MATH;
}

static bool is_fused(const struct configuration *c)
{
    return !is_math(c);
}

static const char *attention(const struct configuration *c)
{
    return attention_kernel_names[c->training.attention];
}

static bool is_narrow(const struct configuration *c)
{
    return precision_narrow(c->training.precision);
}

static bool is_eight_bits(const struct configuration *c)
{
    return c->training.precision->gemm_peak == PEAK_FP8;
}

static const char *precision(const struct configuration *c)
{
    return c->training.precision->head.name;
}

static bool has_wide_layers(const struct configuration *c)
{
    return c->training.wide_layers_first + c->training.wide_layers_last > 0;
}

static bool norm_writes(const struct configuration *c)
{
    return fp8_recipe_facts(configuration_fp8_recipe(c))->norm_writes;
}

static const char *recipe(const struct configuration *c)
{
    return is_eight_bits(c) ? fp8_recipe_names[configuration_fp8_recipe(c)] : precision(c);
}

static bool shares_experts(const struct configuration *c)
{
    return configuration_expert_ranks(c).ep > 1;
}

static bool has_expert_room(const struct configuration *c)
{
    return configuration_expert_room(c) > 0.0;
}

static bool shares_tensors(const struct configuration *c)
{
    return c->layout.tp > 1;
}

static bool shares_norms(const struct configuration *c)
{
    return c->layout.sequence_parallel;
}

static bool has_pipeline(const struct configuration *c)
{
    return c->layout.pp > 1;
}

static bool has_chunks(const struct configuration *c)
{
    return c->layout.pipeline.vpp > 1;
}

static bool has_one_chunk(const struct configuration *c)
{
    return !has_chunks(c);
}

/* A schedule that interleaves chunks has stages (with one chunk on each the rules refuse it). */
static bool interleaves_stages(const struct configuration *c)
{
    return has_pipeline(c) || !c->layout.pipeline.schedule->interleaved;
}

static bool is_backward_whole(const struct configuration *c)
{
    return !c->layout.pipeline.schedule->splits;
}

static const char *schedule(const struct configuration *c)
{
    return c->layout.pipeline.schedule->head.name;
}

static bool sends_whole(const struct configuration *c)
{
    return !shares_norms(c);
}

static bool shares_sequence(const struct configuration *c)
{
    return c->layout.cp > 1;
}

/* Do context ranks attend to keys of each other's positions? Not where all they do is exchange
 * heads. */
static bool moves_keys(const struct configuration *c)
{
    return configuration_context_ranks(c).heads < c->layout.cp;
}

static bool has_replicas(const struct configuration *c)
{
    return configuration_holders(c) > 1;
}

static bool is_hybrid(const struct configuration *c)
{
    return c->layout.data.sharding->hybrid;
}

static bool has_units(const struct configuration *c)
{
    return c->layout.data.sharding->units;
}

static bool gathers_units(const struct configuration *c)
{
    return c->layout.data.sharding->gather == GATHER_UNITS;
}

static bool gathers_after_update(const struct configuration *c)
{
    return c->layout.data.sharding->gather == GATHER_AFTER_UPDATE;
}

static bool moves_parts(const struct configuration *c)
{
    return c->layout.data.sharding->reduce_scatter;
}

/* Are gradients scattered in every backward pass, so that no rank keeps them whole? */
static bool scatters(const struct configuration *c)
{
    return c->layout.data.sharding->reduce == REDUCE_EACH_MICROBATCH && !has_pipeline(c);
}

static bool keeps_gradients(const struct configuration *c)
{
    return !scatters(c);
}

static const char *sharding(const struct configuration *c)
{
    return c->layout.data.sharding->head.name;
}

/* Is a gradient added to that of an earlier microbatch where it is made? */
static bool sums_gradients(const struct configuration *c)
{
    return configuration_microbatches(c) > 1;
}

static bool recomputes_layers(const struct configuration *c)
{
    return c->layout.recompute == RECOMPUTE_FULL || c->layout.recompute == RECOMPUTE_BLOCK ||
           c->layout.recompute == RECOMPUTE_UNIFORM ||
           c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER;
}

static bool recomputes_operators(const struct configuration *c)
{
    return c->layout.recompute == RECOMPUTE_PER_OPERATOR;
}

static const char *recompute(const struct configuration *c)
{
    return recompute_names[c->layout.recompute];
}

/* Have GPUs of a node NICs that are nearer to another one? */
static bool has_far_nics(const struct configuration *c)
{
    return c->cluster.nodes > 1 && topology_nics(&c->cluster) < c->cluster.node.gpus;
}

static bool offloads_optimizer(const struct configuration *c)
{
    return c->layout.offload.optimizer > 0.0;
}

static bool offloads_activations(const struct configuration *c)
{
    return c->layout.offload.activations > 0.0;
}

/* Products of one input that are none: those of the software, and what always has several. */
static bool has_products_apart(const struct configuration *c)
{
    return c->software.layer.separate_projections || is_kda(c) || has_indexer(c) ||
           c->model.mtp_layers > 0;
}

static bool pipelines_tensors(const struct configuration *c)
{
    return c->software.tensor.pipelines;
}

static bool rings(const struct configuration *c)
{
    return c->layout.context.method == CP_RING || configuration_context_ranks(c).ring > 1;
}

/* Does traffic of tensor or context ranks run beside compute that is not its own? */
static bool overlaps(const struct configuration *c)
{
    const struct software_tensor *t = &c->software.tensor;
    return (c->layout.tp > 1 && (t->backward_overlap || t->pipelines)) ||
           (c->layout.cp > 1 && rings(c));
}

static bool software_balances(const struct configuration *c)
{
    return c->layout.context.balance == CP_BALANCE_AUTO;
}

const struct circumstance circumstances[NEED_COUNT] = {
    [NEED_EXPERTS] = {has_experts, "in a dense model (model.experts: 0)", NULL, false},
    [NEED_EXPERT_GROUPS] = {has_expert_groups, "without model.expert_groups", NULL, false},
    [NEED_SHARED_EXPERTS] = {has_shared_experts, "without model.shared_experts", NULL, false},
    [NEED_EXPERT_EXTRAS] = {has_expert_extras, "without model.biases and model.clamped_activation",
                            NULL, false},
    [NEED_DENSE_LAYERS] = {has_dense_layers, "where every layer has experts", NULL, false},
    [NEED_WINDOW] = {has_window, "without model.window", NULL, false},
    [NEED_RECURRENT] = {has_recurrence, "without recurrent layers (model.pattern)", NULL, false},
    [NEED_MAMBA2] = {is_mamba2, "in layers of", recurrence, false},
    [NEED_KDA] = {is_kda, "in layers of", recurrence, false},
    [NEED_CONVOLUTION] = {has_convolution, "in layers of", recurrence, false},
    [NEED_LATENT] = {has_latent, "without model.kv_rank", NULL, false},
    [NEED_INDEXER] = {has_indexer, "without an indexer (model.indexer_heads: 0)", NULL, false},
    [NEED_INDEXER_INTERVAL] = {has_indexer_interval, "without model.indexer_interval", NULL, false},
    [NEED_ALL_KEYS] = {attends_to_all, "with sparse attention (model.indexer_heads)", NULL, false},
    [NEED_LAYERNORM] = {has_layernorm, "with norm rms", NULL, false},
    [NEED_PROJECTIONS] = {has_projections, "in layers of latent attention and experts", NULL,
                          false},
    [NEED_ADAPTERS] = {has_adapters, "without training.adapter", NULL, false},
    [NEED_ALL_TRAINED] = {trains_all, "with training.adapter", NULL, false},
    [NEED_CAUSAL] = {is_causal, "without a causal mask (training.causal)", NULL, false},
    [NEED_MATH_ATTENTION] = {is_math, "with attention", attention, false},
    [NEED_FUSED_ATTENTION] = {is_fused, "with attention", attention, false},
    [NEED_NARROW] = {is_narrow, "in precision", precision, false},
    [NEED_EIGHT_BITS] = {is_eight_bits, "in precision", precision, false},
    [NEED_WIDE_LAYERS] = {has_wide_layers, "without training.bf16_layers_first or bf16_layers_last",
                          NULL, false},
    [NEED_NORM_WRITES] = {norm_writes, "with scales of", recipe, false},
    [NEED_EXPERT_RANKS] = {shares_experts, "with ep 1", NULL, true},
    [NEED_EXPERT_ROOM] = {has_expert_room, "without layout.rank_capacity", NULL, false},
    [NEED_TENSOR] = {shares_tensors, "with tp 1", NULL, true},
    [NEED_SEQUENCE] = {shares_norms, "without layout.sequence_parallel", NULL, true},
    [NEED_PIPELINE] = {has_pipeline, "with pp 1", NULL, true},
    [NEED_CHUNKS] = {has_chunks, "with vpp 1", NULL, true},
    [NEED_ONE_CHUNK] = {has_one_chunk, "with vpp above 1", NULL, true},
    [NEED_STAGES_INTERLEAVED] = {interleaves_stages, "with pp 1", NULL, true},
    [NEED_WHOLE_BACKWARD] = {is_backward_whole, "with schedule", schedule, true},
    [NEED_WHOLE_MESSAGES] = {sends_whole, "with layout.sequence_parallel", NULL, true},
    [NEED_CONTEXT] = {shares_sequence, "with cp 1", NULL, true},
    [NEED_KEYS_MOVED] = {moves_keys, "where context ranks exchange heads alone", NULL, true},
    [NEED_REPLICAS] = {has_replicas, "with dp 1 and cp 1", NULL, true},
    [NEED_HYBRID] = {is_hybrid, "with sharding", sharding, true},
    [NEED_UNITS] = {has_units, "with sharding", sharding, true},
    [NEED_UNITS_AGAIN] = {scatters, "with pp above 1", NULL, true},
    [NEED_GATHERED_UNITS] = {gathers_units, "with sharding", sharding, true},
    [NEED_GATHER_AFTER_UPDATE] = {gathers_after_update, "with sharding", sharding, true},
    [NEED_PARTS] = {moves_parts, "with sharding", sharding, true},
    [NEED_KEPT_GRADIENTS] = {keeps_gradients, "with sharding", sharding, true},
    [NEED_SUMS] = {sums_gradients, "with one microbatch in a step", NULL, true},
    [NEED_FULL_RECOMPUTE] = {recomputes_layers, "with recompute", recompute, true},
    [NEED_OPERATOR_RECOMPUTE] = {recomputes_operators, "with recompute", recompute, true},
    [NEED_OPTIMIZER_OFFLOAD] = {offloads_optimizer, "without layout.optimizer_offload", NULL,
                                false},
    [NEED_ACTIVATION_OFFLOAD] = {offloads_activations, "without layout.activation_offload", NULL,
                                 false},
    [NEED_FAR_NICS] = {has_far_nics, "where each GPU has a NIC, or all are in one node", NULL,
                       false},
    [NEED_APART] = {has_products_apart, "without software.separate_projections", NULL, false},
    [NEED_TENSOR_PIPELINES] = {pipelines_tensors, "without software.tp_pipelines", NULL, false},
    [NEED_OVERLAP] = {overlaps, "where tensor- and context-parallel traffic waits for compute",
                      NULL, true},
    [NEED_SOFTWARE_BALANCE] = {software_balances, "where layout.cp_balance is stated", NULL, false},
};
