#include "scenarios/schema/circumstance.h"

#include "models/gpu/gpu_power.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "topology/topology_kind.h"

#define HOLDS(name, expression)                                                                    \
    static bool name(const struct configuration *c)                                                \
    {                                                                                              \
        return expression;                                                                         \
    }
#define CURVE_HEAD 128 /* head size of the curves of attention (models/gpu/gpu_params.c) */

HOLDS(has_experts, c->model.moe.experts > 0)
HOLDS(has_expert_groups, c->model.moe.groups > 1)
HOLDS(has_shared_experts, c->model.moe.shared_experts > 0)
HOLDS(has_expert_extras, c->model.biases || c->model.moe.clamped)
/* Has any layer no experts? */
static bool has_dense_layers(const struct configuration *c)
{
    const struct model_shape *m = &c->model;
    bool dense = !has_experts(c);
    for (uint64_t i = 0; i < m->layers && !dense; i++)
        dense = !transformer_has_experts(m, i);
    return dense;
}

/* Of what CUDA graphs are told to capture, has a layer of this model anything? */
static bool has_modules(const struct configuration *c)
{
    unsigned graphs, here = GRAPH_ATTENTION;
    if (!software_graphs(c->software.graphs.modules, &graphs) || graphs == 0)
        return true;
    here |= has_dense_layers(c) ? GRAPH_MLP : 0;
    here |= has_experts(c) ? GRAPH_EXPERTS | GRAPH_ROUTER | GRAPH_PREPROCESS : 0;
    return (graphs & here) != 0;
}

static const char *modules(const struct configuration *c)
{
    return c->software.graphs.modules;
}

HOLDS(has_window, c->model.windows.length > 0)
HOLDS(has_recurrence, c->model.pattern.kind != NULL)
HOLDS(is_mamba2, c->model.pattern.kind == &layer_mamba2)
HOLDS(is_kda, c->model.pattern.kind == &layer_kda)
HOLDS(has_convolution, c->model.pattern.kind != &layer_lightning)

static const char *recurrence(const struct configuration *c)
{
    return c->model.pattern.kind->head.name;
}

HOLDS(has_latent, c->model.latent.kv_rank > 0)
HOLDS(has_indexer, c->model.latent.indexer.heads > 0)
HOLDS(has_indexer_interval, c->model.latent.indexer.interval > 1)
HOLDS(attends_to_all, !has_indexer(c))
HOLDS(has_layernorm, c->model.norm.kind == NORM_LAYERNORM)
/* Products that software may divide: of queries, keys and values, and of gate and up. */
HOLDS(has_projections, !has_latent(c) || has_dense_layers(c) || has_shared_experts(c))
HOLDS(has_adapters, c->training.adapter.kind != ADAPTER_NONE)
HOLDS(trains_all, !has_adapters(c))
HOLDS(is_causal, c->training.causal)
HOLDS(is_math, c->training.attention == ATTENTION_MATH)
HOLDS(is_fused, !is_math(c))

static const char *attention(const struct configuration *c)
{
    return attention_kernel_names[c->training.attention];
}

HOLDS(is_narrow, precision_narrow(c->training.precision))
HOLDS(is_eight_bits, c->training.precision->gemm_peak == PEAK_FP8)

static const char *precision(const struct configuration *c)
{
    return c->training.precision->head.name;
}

HOLDS(has_wide_layers, c->training.wide_layers_first + c->training.wide_layers_last > 0)
HOLDS(norm_writes, fp8_recipe_facts(configuration_fp8_recipe(c))->norm_writes)

static const char *recipe(const struct configuration *c)
{
    return is_eight_bits(c) ? fp8_recipe_names[configuration_fp8_recipe(c)] : precision(c);
}

HOLDS(shares_experts, configuration_expert_ranks(c).ep > 1)
HOLDS(has_expert_room, configuration_expert_room(c) > 0.0)
HOLDS(shares_tensors, c->layout.tp > 1)
HOLDS(shares_norms, c->layout.sequence_parallel)
HOLDS(has_pipeline, c->layout.pp > 1)
HOLDS(has_chunks, c->layout.pipeline.vpp > 1)
HOLDS(has_one_chunk, !has_chunks(c))
/* A schedule that interleaves chunks has stages (with one chunk on each the rules refuse it). */
HOLDS(interleaves_stages, has_pipeline(c) || !c->layout.pipeline.schedule->interleaved)
HOLDS(is_backward_whole, !c->layout.pipeline.schedule->splits)

static const char *schedule(const struct configuration *c)
{
    return c->layout.pipeline.schedule->head.name;
}

HOLDS(sends_whole, !shares_norms(c))
HOLDS(shares_sequence, c->layout.cp > 1)
/* Do context ranks attend to keys of each other's positions? Not where all they do is exchange
 * heads. */
HOLDS(moves_keys, configuration_context_ranks(c).heads < c->layout.cp)
HOLDS(has_replicas, configuration_holders(c) > 1)
HOLDS(is_hybrid, c->layout.data.sharding->hybrid)
HOLDS(has_units, c->layout.data.sharding->units)
HOLDS(gathers_units, c->layout.data.sharding->gather == GATHER_UNITS)
HOLDS(gathers_after_update, c->layout.data.sharding->gather == GATHER_AFTER_UPDATE)
HOLDS(moves_parts, c->layout.data.sharding->reduce_scatter)
/* Are gradients scattered in every backward pass, so that no rank keeps them whole? */
HOLDS(scatters, c->layout.data.sharding->reduce == REDUCE_EACH_MICROBATCH && !has_pipeline(c))
HOLDS(keeps_gradients, !scatters(c))

static const char *sharding(const struct configuration *c)
{
    return c->layout.data.sharding->head.name;
}

/* Is a gradient added to that of an earlier microbatch where it is made? */
HOLDS(sums_gradients, configuration_microbatches(c) > 1)
HOLDS(recomputes_layers, c->layout.recompute == RECOMPUTE_FULL ||
                             c->layout.recompute == RECOMPUTE_BLOCK ||
                             c->layout.recompute == RECOMPUTE_UNIFORM ||
                             c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER)
HOLDS(recomputes_operators, c->layout.recompute == RECOMPUTE_PER_OPERATOR)

static const char *recompute(const struct configuration *c)
{
    return recompute_names[c->layout.recompute];
}

HOLDS(has_nvlink, c->cluster.node.gpus > 1 && topology_wire(&c->cluster, 2).kind == WIRE_NVLINK)
/* Have GPUs of a node NICs that are nearer to another one? */
HOLDS(has_far_nics,
      c->cluster.nodes > 1 && topology_nics(&c->cluster) < c->cluster.node.gpus && has_nvlink(c))
HOLDS(offloads_optimizer, c->layout.offload.optimizer > 0.0)
HOLDS(offloads_activations, c->layout.offload.activations > 0.0)
/* Products of one input that are none: those of the software, and what always has several. */
HOLDS(has_products_apart, c->software.layer.separate_projections || is_kda(c) || has_indexer(c) ||
                              c->model.mtp_layers > 0)
HOLDS(pipelines_tensors, c->software.tensor.pipelines)
HOLDS(rings, c->layout.context.method == CP_RING || configuration_context_ranks(c).ring > 1)
/* Does traffic of tensor ranks by NCCL run beside products? */
static bool tensors_beside(const struct configuration *c)
{
    const struct software_tensor *t = &c->software.tensor;
    const bool again = t->backward_regather && c->layout.sequence_parallel;
    return c->layout.tp > 1 && (t->backward_overlap || again) && !configuration_tensor_pipelines(c);
}
/* Does what runs beside compute that is not its own cost what the software says? */
static bool overlaps(const struct configuration *c)
{
    return (tensors_beside(c) && !c->gpu.gemm.persistent) || (c->layout.cp > 1 && rings(c));
}

/* Are there products of operands in this format? */
static bool multiplies(const struct configuration *c, enum peak_kind format)
{
    const struct precision *p = c->training.precision;
    return p->gemm_peak == format || p->attention_peak == format ||
           software_attention_operands(&c->software, p) == format;
}

HOLDS(multiplies_fp32, multiplies(c, PEAK_FP32))
HOLDS(multiplies_tf32, multiplies(c, PEAK_TF32))
HOLDS(multiplies_bf16, multiplies(c, PEAK_BF16))
HOLDS(multiplies_fp16, multiplies(c, PEAK_FP16))
HOLDS(multiplies_fp8, multiplies(c, PEAK_FP8))
HOLDS(multiplies_fp4, multiplies(c, PEAK_FP4))

static bool chooses_scales(const struct configuration *c)
{
    const int wanted = c->software.fp8.recipe;
    return is_eight_bits(c) && (wanted == FP8_AUTO || wanted == FP8_BLOCKWISE);
}

HOLDS(has_block_scales,
      is_eight_bits(c) && fp8_recipe_facts(configuration_fp8_recipe(c))->block_scales)
/* Have both uses of a copy one scale, so that the copy may serve both? */
HOLDS(has_plain_scales,
      is_eight_bits(c) && !fp8_recipe_facts(configuration_fp8_recipe(c))->by_direction)
/* Do forward products add up in fewer bits than fp32? */
HOLDS(sums_roughly, is_eight_bits(c) && !fp8_recipe_facts(configuration_fp8_recipe(c))->exact_sums)
HOLDS(is_halved, c->training.precision->master_weights)
/* Do layers of this attention look at all positions, or only through a window? */
HOLDS(attends_whole,
      is_fused(c) && attends_to_all(c) && (!has_window(c) || c->model.windows.full_interval > 0))
HOLDS(has_masked, is_causal(c) && attends_whole(c))

static bool attends_by(const struct configuration *c, int kernel)
{
    return c->training.attention == kernel && attends_to_all(c);
}

HOLDS(attends_flash1, attends_by(c, ATTENTION_FLASH1))
HOLDS(attends_flash2, attends_by(c, ATTENTION_FLASH2))
HOLDS(attends_flash3, attends_by(c, ATTENTION_FLASH3))
HOLDS(attends_cudnn, attends_by(c, ATTENTION_CUDNN))

static const char *attending(const struct configuration *c)
{
    return attends_to_all(c) ? attention(c) : "to chosen keys";
}

/* A ring attends to the keys of earlier ranks without a mask, and a window has next to none. */
HOLDS(has_unmasked, !is_causal(c) || has_window(c) || (c->layout.cp > 1 && rings(c)))

static uint64_t head_size(const struct configuration *c)
{
    return c->model.attention.head_size + (has_latent(c) ? c->model.latent.rope_head_size : 0);
}

HOLDS(has_small_heads, head_size(c) < CURVE_HEAD)
HOLDS(has_large_heads, head_size(c) > CURVE_HEAD)
HOLDS(offloads, offloads_optimizer(c) || offloads_activations(c))

static bool offloads_to_drives(const struct configuration *c)
{
    const struct layout_offload *o = &c->layout.offload;
    return (offloads_optimizer(c) && o->optimizer_to == OFFLOAD_NVME) ||
           (offloads_activations(c) && o->activations_to == OFFLOAD_NVME);
}

HOLDS(exchanges, (shares_experts(c) && !c->layout.experts.dispatch->relays) ||
                     configuration_context_ranks(c).heads > 1)
/* Do GPUs of a node meet over PCIe? */
HOLDS(meets_over_pcie, topology_wire(&c->cluster, c->cluster.node.gpus).kind == WIRE_PCIE)

/* Can the card draw all that its cap allows? */
HOLDS(reaches_cap, gpu_power_limit_w(&c->gpu) == c->gpu.power.cap_w)

static const char *node_kind(const struct configuration *c)
{
    return c->cluster.node.kind->head.name;
}

static const char *fabric_kind(const struct configuration *c)
{
    return c->cluster.fabric.kind->head.name;
}

/* Parallel cables among which a message chooses. */
HOLDS(has_cables, c->cluster.fabric.kind->choices != NULL)
HOLDS(has_nodes, c->cluster.nodes > 1)
HOLDS(has_tiers, has_nodes(c) && topology_has_tiers(&c->cluster))
HOLDS(hashes, c->cluster.fabric.routing == ROUTING_HASHED)
HOLDS(software_balances, c->layout.context.balance == CP_BALANCE_AUTO)

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
    [NEED_MODULES] = {has_modules, "where no layer has", modules, false},
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
    [NEED_FAR_NICS] = {has_far_nics,
                       "where each GPU has a NIC, NVLink joins none, or all are in one node", NULL,
                       false},
    [NEED_FP32] = {multiplies_fp32, "in precision", precision, false},
    [NEED_TF32] = {multiplies_tf32, "in precision", precision, false},
    [NEED_BF16] = {multiplies_bf16, "in precision", precision, false},
    [NEED_FP16] = {multiplies_fp16, "in precision", precision, false},
    [NEED_FP8] = {multiplies_fp8, "in precision", precision, false},
    [NEED_FP4] = {multiplies_fp4, "in precision", precision, false},
    [NEED_SCALES] = {chooses_scales, "with scales of", recipe, false},
    [NEED_BLOCKS] = {has_block_scales, "with scales of", recipe, false},
    [NEED_PLAIN_SCALES] = {has_plain_scales, "with scales of", recipe, false},
    [NEED_ROUGH_SUMS] = {sums_roughly, "with scales of", recipe, false},
    [NEED_HALVES] = {is_halved, "in precision", precision, false},
    [NEED_NVLINK] = {has_nvlink, "in nodes of", node_kind, false},
    [NEED_FLASH1] = {attends_flash1, "with attention", attending, false},
    [NEED_FLASH2] = {attends_flash2, "with attention", attending, false},
    [NEED_FLASH3] = {attends_flash3, "with attention", attending, false},
    [NEED_CUDNN] = {attends_cudnn, "with attention", attending, false},
    [NEED_MASKED] = {has_masked, "where no layer attends under a causal mask alone", NULL, false},
    [NEED_UNMASKED] = {has_unmasked, "with a causal mask (training.causal)", NULL, true},
    [NEED_SMALL_HEADS] = {has_small_heads, "with heads of 128 and more", NULL, false},
    [NEED_LARGE_HEADS] = {has_large_heads, "with heads of 128 and less", NULL, false},
    [NEED_REACHED_CAP] = {reaches_cap, "above the card's tdp", NULL, false},
    [NEED_OFFLOAD] = {offloads, "without layout.optimizer_offload or activation_offload", NULL,
                      false},
    [NEED_DRIVES] = {offloads_to_drives,
                     "without offload to nvme (layout.optimizer_offload_to, "
                     "activation_offload_to)",
                     NULL, false},
    [NEED_EXCHANGES] = {exchanges, "without an all-to-all of experts or heads", NULL, true},
    [NEED_PCIE_SWITCHES] = {meets_over_pcie, "in nodes of", node_kind, false},
    [NEED_NODES] = {has_nodes, "in one node", NULL, false},
    [NEED_TIERS] = {has_tiers, "where one tier of switches joins all nodes", NULL, false},
    [NEED_CABLES] = {has_cables, "in a network of kind", fabric_kind, false},
    [NEED_HASHED] = {hashes, "with routing adaptive", NULL, false},
    [NEED_APART] = {has_products_apart, "without software.separate_projections", NULL, false},
    [NEED_TENSOR_PIPELINES] = {pipelines_tensors, "without software.tp_pipelines", NULL, false},
    [NEED_TENSORS_BESIDE] = {tensors_beside,
                             "where no tensor-parallel traffic of NCCL runs beside GEMMs", NULL,
                             true},
    [NEED_OVERLAP] = {overlaps, "where tensor- and context-parallel traffic waits for compute",
                      NULL, true},
    [NEED_SOFTWARE_BALANCE] = {software_balances, "where layout.cp_balance is stated", NULL, false},
};
