/* The rules of a layout. Each rule is one function that reports what it breaks; the order is that
 * in which a user would mend them: shape, machine, batch, pipeline, data parallelism. A rule that
 * divides is asked only when what it divides by is sound. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/gpu/gpu_power.h"
#include "models/layout/configuration_parts.h"
#include "models/layout/layout.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/plural.h"
#include "sim/units.h"

/* Sizes far beyond any machine: past them products would not fit, and labels are 16 bits wide. */
enum {
    RANK_MAX = 1 << 22,
    LAYER_MAX = 4096,
    MICROBATCH_MAX = 60000,
    LAYER_PASS_MAX = 1 << 20, /* about 2 GB of programs */
    CHUNK_MAX = 64,
    BREAKS_READ = 16 /* more than that are no warnings alone */
};

static bool positive(struct rule_report *r, const char *key, uint64_t value, uint64_t maximum)
{
    if (value == 0 || value > maximum) {
        rule_say(r, false, key, "%s is %" PRIu64 ": it must be from 1 to %" PRIu64, key, value,
                 maximum);
        return false;
    }
    return true;
}

/* Everything else divides by these. */
static bool check_positive(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct layout_spec *l = &c->layout;
    bool sound = positive(r, "layout.tp", l->tp, RANK_MAX);
    sound &= positive(r, "layout.pp", l->pp, RANK_MAX);
    sound &= positive(r, "layout.dp", l->dp, RANK_MAX);
    sound &= positive(r, "layout.cp", l->cp, RANK_MAX);
    sound &= positive(r, "layout.vpp", l->pipeline.vpp, CHUNK_MAX);
    sound &= positive(r, "layout.microbatch", l->microbatch, RANK_MAX);
    sound &= positive(r, "training.sequence", c->training.sequence, 1u << 30);
    sound &= positive(r, "training.global_batch", c->training.global_batch, UINT32_MAX);
    sound &= positive(r, "model.layers", c->model.layers, LAYER_MAX);
    sound &= positive(r, "model.hidden", c->model.hidden, 1u << 24);
    sound &= positive(r, "model.heads", c->model.attention.heads, 1u << 16);
    sound &= positive(r, "model.kv_heads", c->model.attention.kv_heads, 1u << 16);
    sound &= positive(r, "model.head_size", c->model.attention.head_size, 1u << 16);
    sound &= positive(r, "model.ffn_hidden", c->model.ffn_hidden, 1u << 24);
    sound &= positive(r, "model.vocabulary", c->model.vocabulary, 1u << 28);
    sound &= positive(r, "cluster.nodes", c->cluster.nodes, RANK_MAX);
    sound &= positive(r, "cluster.node.gpus", c->cluster.node.gpus, RANK_MAX);
    if (sound && (l->tp * l->pp > RANK_MAX || l->dp * l->cp > RANK_MAX ||
                  l->tp * l->pp * l->dp * l->cp > RANK_MAX || configuration_gpus(c) > RANK_MAX)) {
        rule_say(r, false, "layout", "more than %d ranks or GPUs", RANK_MAX);
        return false;
    }
    return sound;
}

static void check_world(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t model = l->tp * l->pp * l->cp, ranks = model * l->dp, gpus = configuration_gpus(r->c);
    if (gpus % model != 0) {
        rule_say(r, false, "layout",
                 "the world size %" PRIu64 " is not divisible by tp x pp x cp = %" PRIu64
                 " x %" PRIu64 " x %" PRIu64 " = %" PRIu64,
                 gpus, l->tp, l->pp, l->cp, model);
    } else if (ranks > gpus) {
        rule_say(r, false, "layout.dp",
                 "tp x pp x cp x dp = %" PRIu64 " ranks, but the cluster has %" PRIu64
                 " GPUs: dp can be at most %" PRIu64,
                 ranks, gpus, gpus / model);
    } else if (ranks < gpus) {
        rule_say(r, true, "layout.dp",
                 "tp x pp x cp x dp = %" PRIu64 " ranks leave %" PRIu64 " of %" PRIu64
                 " GPUs idle: %.0f %% of what is paid for; dp = %" PRIu64 " would use them all",
                 ranks, gpus - ranks, gpus, 100.0 * (double)(gpus - ranks) / (double)gpus,
                 gpus / model);
    }
}

/* Ranks that go round the nodes find as many GPUs in each. */
static void check_placement(struct rule_report *r)
{
    const struct topology_spec *cluster = &r->c->cluster;
    if (cluster->gpus > 0 && r->c->layout.placement == PLACEMENT_SCATTERED) {
        rule_say(
            r, false, "layout.placement",
            "ranks go round nodes of %" PRIu64 " GPUs, and the last has %" PRIu64
            ": take packed, or equally many GPUs of each node (cluster.nodes with cluster.gpus)",
            cluster->node.gpus, cluster->gpus % cluster->node.gpus);
    }
}

static void check_heads(struct rule_report *r)
{
    const struct model_shape *m = &r->c->model;
    uint64_t tp = r->c->layout.tp;
    if (m->attention.heads % m->attention.kv_heads != 0) {
        rule_say(r, false, "model.kv_heads",
                 "%" PRIu64 " heads are not divisible by %" PRIu64
                 " key-value heads: take a divisor",
                 m->attention.heads, m->attention.kv_heads);
    }
    if (m->attention.heads % tp != 0) {
        rule_say(r, false, "layout.tp",
                 "%" PRIu64 " attention heads are not divisible by tp = %" PRIu64,
                 m->attention.heads, tp);
        return;
    }
    configuration_check_context(r);
    if (m->attention.kv_heads % tp != 0 && tp % m->attention.kv_heads != 0) {
        rule_say(r, false, "layout.tp",
                 "%" PRIu64
                 " key-value heads can be neither split over nor repeated on tp = %" PRIu64
                 " ranks: one must divide the other",
                 m->attention.kv_heads, tp);
    } else if (m->attention.kv_heads < tp) {
        rule_say(r, true, "layout.tp",
                 "tp = %" PRIu64 " exceeds the %" PRIu64
                 " key-value heads: each is repeated on %" PRIu64
                 " ranks, which all compute and store its keys and values",
                 tp, m->attention.kv_heads, tp / m->attention.kv_heads);
    }
    if (m->ffn_hidden % tp != 0) {
        rule_say(r, false, "layout.tp",
                 "ffn_hidden = %" PRIu64 " is not divisible by tp = %" PRIu64, m->ffn_hidden, tp);
    }
}

static void check_sequence(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t sequence = r->c->training.sequence, split = l->cp;
    if (l->sequence_parallel && l->tp == 1) {
        rule_say(r, true, "layout.sequence_parallel",
                 "sequence_parallel has nothing to split with tp = 1: it changes nothing");
    }
    if (sequence % l->cp != 0) {
        rule_say(r, false, "layout.cp",
                 "the sequence %" PRIu64 " is not divisible by cp = %" PRIu64, sequence, l->cp);
        return;
    }
    if (l->cp > 1 && r->c->training.causal && sequence % (2 * l->cp) != 0) {
        rule_say(r, false, "layout.cp",
                 "the sequence %" PRIu64 " is not divisible by 2 x cp = %" PRIu64
                 ": under a causal mask each rank takes a block from either end",
                 sequence, 2 * l->cp);
        return;
    }
    if (l->sequence_parallel)
        split *= l->tp;
    if (sequence % split != 0) {
        rule_say(r, false, "layout.sequence_parallel",
                 "the sequence %" PRIu64 " is not divisible by cp x tp = %" PRIu64
                 ", as sequence_parallel needs",
                 sequence, split);
    }
    const struct model_shape *m = &r->c->model;
    if (m->windows.length > 0 && m->windows.length < sequence &&
        configuration_context_ranks(r->c).ring > 1) {
        rule_say(r, false, "layout.cp_method",
                 "a ring passes all keys round, and model.window = %" PRIu64
                 " leaves most of them unseen: take all_gather",
                 m->windows.length);
    }
    if (m->position == POSITION_LEARNED && m->positions_max > 0 && sequence > m->positions_max) {
        rule_say(r, false, "training.sequence",
                 "the sequence %" PRIu64 " exceeds the %" PRIu64
                 " learned positions of the model: take at most as many, or a larger table "
                 "(model.positions_max)",
                 sequence, m->positions_max);
    }
}

/* Bytes that one rank puts on the wire for tensor parallelism in one layer, one microbatch: four
 * all-reduces (or their halves) of b s h elements, 2 (t-1)/t each (arXiv:1909.08053, section 3). */
static double tp_layer_bytes(const struct configuration *c)
{
    double t = (double)c->layout.tp;
    double elements = (double)c->layout.microbatch * (double)c->training.sequence /
                      (double)c->layout.cp * (double)c->model.hidden;
    return 4.0 * 2.0 * (t - 1.0) / t * elements * c->training.precision->activation_bytes;
}

static void check_domain(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct node_spec *node = &c->cluster.node;
    if (c->layout.tp <= node->gpus)
        return;
    const struct topology_wire wire = topology_wire(&c->cluster, node->gpus);
    double outside = topology_wire(&c->cluster, c->layout.tp).gpu_bytes_per_s;
    const char *what = wire.kind == WIRE_NVLINK ? "the NVLink domain" : "a node";
    double inside = wire.gpu_bytes_per_s;
    double bytes = tp_layer_bytes(c);
    if (!(outside > 0.0)) {
        rule_say(r, true, "layout.tp",
                 "tp = %" PRIu64 " is larger than %s of %" PRIu64
                 " GPUs: each layer sends %.3g MB a microbatch and rank through the network",
                 c->layout.tp, what, node->gpus, bytes / MEGA);
        return;
    }
    rule_say(r, true, "layout.tp",
             "tp = %" PRIu64 " is larger than %s of %" PRIu64
             " GPUs: each layer sends %.3g MB a microbatch and rank at %.3g GB/s through the NICs "
             "instead "
             "of %.3g GB/s, %.3g ms instead of %.3g ms, %.3g times as long",
             c->layout.tp, what, node->gpus, bytes / MEGA, outside / GIGA, inside / GIGA,
             bytes / outside / MILLISECOND, bytes / inside / MILLISECOND, inside / outside);
}

static void check_batch(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t batch = r->c->training.global_batch, share = l->dp * l->microbatch;
    if (batch % share != 0) {
        rule_say(r, false, "training.global_batch",
                 "the global batch %" PRIu64 " is not divisible by dp x microbatch = %" PRIu64
                 " x %" PRIu64 " = %" PRIu64,
                 batch, l->dp, l->microbatch, share);
    } else if (batch / share > MICROBATCH_MAX ||
               batch / share * r->c->model.layers > LAYER_PASS_MAX) {
        rule_say(
            r, false, "training.global_batch",
            "%" PRIu64 " microbatches of %" PRIu64
            " layers are too many to simulate (at most %d microbatches, %d layers in all of them): "
            "take a larger microbatch or dp",
            batch / share, r->c->model.layers, MICROBATCH_MAX, LAYER_PASS_MAX);
    }
}

static void check_recompute_layers(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    const uint64_t most = configuration_chunk_layers(r->c);
    const bool group = l->recompute == RECOMPUTE_UNIFORM;
    const bool wanted = group || l->recompute == RECOMPUTE_BLOCK;
    const uint64_t gathered = l->data.sharding->units ? l->data.fsdp_unit_layers : 1;
    const char *key = "layout.recompute_layers", *name = recompute_names[l->recompute];
    if (wanted && l->recompute_layers == 0) {
        rule_say(r, false, key, "%s needs recompute_layers: how many %s", name,
                 group ? "share one kept input" : "of each chunk are recomputed");
    } else if (!wanted && l->recompute_layers > 0) {
        rule_say(r, false, key, "recompute %s takes no number of layers: block and uniform do",
                 name);
    } else if (wanted && l->recompute_layers > most) {
        rule_say(r, false, key, "a chunk has at most %" PRIu64 " layers, not %" PRIu64 "%s", most,
                 l->recompute_layers,
                 group ? "" : ": to recompute everything take recompute: full");
    } else if (group && l->recompute_layers > 1 && r->c->model.mtp_layers > 0) {
        rule_say(r, false, key,
                 "a multi-token prediction module shares its kept input with no other layer: take "
                 "recompute_layers: 1, or mtp_layers: 0");
    } else if (group && l->data.sharding->gather == GATHER_UNITS &&
               configuration_shards(r->c) > 1 && gathered % l->recompute_layers != 0) {
        rule_say(r, false, key,
                 "%s gathers %" PRIu64 " layer%s at once, no multiple of uniform's %" PRIu64,
                 l->data.sharding->head.name, gathered, plural_s(gathered), l->recompute_layers);
    }
}

/* Selective recomputation drops what softmax and dropout keep and repeats the core to have it again
 * (arXiv:2205.05198, section 5). A flash kernel keeps a statistic of each row only and computes the
 * scores anew in its backward pass whatever the software does (arXiv:2205.14135, section 3.1). */
static void check_recompute(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const struct model_shape *m = &c->model;
    if (c->layout.recompute != RECOMPUTE_SELECTIVE || c->training.attention == ATTENTION_MATH)
        return;
    bool half = c->training.causal && !c->software.attention.full_square;
    double all = transformer_flops_per_token(m, c->training.sequence, half);
    double linear = transformer_active_parameters(m) + transformer_prediction_active_parameters(m);
    double core = (all - 6.0 * linear) / 3.0; /* a third is forward */
    rule_say(
        r, true, "layout.recompute",
        "selective saves next to nothing with %s attention, which never keeps the scores, and "
        "repeats its forward kernels: %.1f %% more FLOPs; take none, or full where memory is short",
        attention_kernel_names[c->training.attention], 100.0 * core / all);
}

static void check_sharding(struct rule_report *r)
{
    const struct layout_spec *l = &r->c->layout;
    uint64_t replicas = configuration_replicas(r->c);
    if (l->data.sharding->hybrid && replicas % configuration_shards(r->c) != 0) {
        rule_say(r, false, "layout.shard_group",
                 "the shard group of %" PRIu64 " does not divide dp x cp = %" PRIu64,
                 configuration_shards(r->c), replicas);
    }
    if (l->data.sharding->hybrid && l->data.shard_group > replicas) {
        rule_say(r, false, "layout.shard_group",
                 "the shard group of %" PRIu64 " is larger than dp x cp = %" PRIu64,
                 l->data.shard_group, replicas);
    }
    if (!l->data.sharding->shards_gradients || l->pp == 1)
        return;
    if (r->c->software.pipeline.refuses_shards) {
        rule_say(r, false, "layout.sharding",
                 "%s refuses %s with pp = %" PRIu64 ": under a pipeline take zero-1 or zero-0",
                 r->c->software.name, l->data.sharding->head.name, l->pp);
    } else {
        rule_say(r, true, "layout.sharding",
                 "%s with pp = %" PRIu64
                 " accumulates gradients in full and reduces them once, after "
                 "the last microbatch%s: it holds no less than zero-1",
                 l->data.sharding->head.name, l->pp,
                 l->data.sharding->shards_weights ? ", and keeps weights gathered through the step"
                                                  : "");
    }
}

/* The precision in which a card is fastest. */
static const char *fastest_precision(const struct gpu_spec *gpu)
{
    const struct precision *best = &precisions[0];
    for (unsigned i = 1; i < precision_count; i++)
        if (gpu->peak_flops_per_s[precisions[i].gemm_peak] > gpu->peak_flops_per_s[best->gemm_peak])
            best = &precisions[i];
    return best->head.name;
}

/* Attention in 8 bits is that of a fused kernel, the unfused one computes in 16. */
static void check_attention_operands(struct rule_report *r)
{
    static const enum attention_kernel takes[] = {ATTENTION_CUDNN, ATTENTION_FLASH3};
    const struct configuration *c = r->c;
    const enum attention_kernel attention = (enum attention_kernel)c->training.attention;
    const char *other = NULL;
    if (software_attention_operands(&c->software, c->training.precision) != PEAK_FP8 ||
        (attention != ATTENTION_MATH && gpu_attention_takes(attention, PEAK_FP8)))
        return;
    for (unsigned i = 0; i < sizeof takes / sizeof takes[0] && other == NULL; i++)
        if (gpu_has_attention(&c->gpu, takes[i], PEAK_FP8))
            other = attention_kernel_names[takes[i]];
    rule_say(r, false, "software.fp8_attention",
             "the %s attention kernel takes no 8-bit operands: set %s%s%ssoftware.fp8_attention="
             "false",
             attention_kernel_names[attention], other != NULL ? "training.attention=" : "",
             other != NULL ? other : "", other != NULL ? ", or " : "");
}

static void check_attention(struct rule_report *r)
{
    const struct configuration *c = r->c;
    const enum attention_kernel attention = (enum attention_kernel)c->training.attention;
    const struct precision *precision = c->training.precision;
    const char *name = attention_kernel_names[attention];
    if (!gpu_attention_takes(attention, precision->attention_peak))
        rule_say(r, false, "training.attention",
                 "no %s attention kernel takes %s: set training.attention=math, or a training"
                 ".precision of 16 bits or fewer",
                 name, precision->head.name);
    else if (!gpu_has_attention(&c->gpu, attention, precision->attention_peak))
        rule_say(r, false, "training.attention",
                 "%s has no %s attention kernel: take auto, or math", c->gpu.name, name);
    else
        check_attention_operands(r);
}

static void check_model(struct rule_report *r)
{
    const struct configuration *c = r->c;
    check_attention(r);
    if (!gpu_power_suffices(&c->gpu)) {
        rule_say(r, false, "cluster.gpu.power",
                 "%s draws all of its power cap before it computes: raise power above idle_power",
                 c->gpu.name);
    }
    if (strcmp(c->layout.order, LAYOUT_ORDER_AUTO) != 0 && !layout_order_valid(c->layout.order)) {
        rule_say(r, false, "layout.order",
                 "'%.40s' must name each of tp, cp, dp, pp once, joined by dashes: tp-cp-dp-pp; "
                 "or be auto",
                 c->layout.order);
    }
    if (!(c->gpu.peak_flops_per_s[c->training.precision->gemm_peak] > 0.0)) {
        rule_say(r, false, "training.precision",
                 "%s has no %s peak: it cannot train in that precision; take %s", c->gpu.name,
                 c->training.precision->head.name, fastest_precision(&c->gpu));
    } else if (c->training.precision->gemm_peak == PEAK_BF16 && gpu_lacks_bf16(&c->gpu)) {
        rule_say(r, true, "training.precision",
                 "%s has no bf16 matrix units: GEMMs run at %.0f of the %.0f TFLOP/s that fp16 has",
                 c->gpu.name, c->gpu.peak_flops_per_s[PEAK_BF16] / TERA,
                 c->gpu.peak_flops_per_s[PEAK_FP16] / TERA);
    } else if (c->training.precision->gemm_peak == PEAK_FP8 && c->software.fp8.recipe == FP8_MX &&
               !c->gpu.gemm.block_scaling) {
        rule_say(r, false, "software.fp8_recipe",
                 "%s has no GEMMs with scales by block of 32 (mxfp8): take blockwise, current or "
                 "delayed",
                 c->gpu.name);
    }
}

/* Megatron's FullCudaGraphWrapper (megatron/core/full_cuda_graph.py) replays a step that asks the
 * host nothing. */
static void check_graphs(struct rule_report *r)
{
    const struct configuration *c = r->c;
    unsigned graphs;
    if (!software_graphs(c->software.graphs.modules, &graphs)) {
        rule_say(
            r, false, "software.cuda_graphs",
            "'%.40s' is none of none, full, layer, on, or modules joined by +: attn, mlp, moe, "
            "moe_router, moe_preprocess",
            c->software.graphs.modules);
        return;
    }
    if ((graphs & GRAPH_PREPROCESS) != 0 && (graphs & GRAPH_ROUTER) == 0)
        rule_say(r, false, "software.cuda_graphs",
                 "moe_preprocess is captured with moe_router alone: set moe_router+moe_preprocess");
    const bool waits = c->model.moe.experts > 0 && !(c->layout.experts.capacity > 0.0) &&
                       !(configuration_expert_room(c) > 0.0);
    if (waits && (graphs & GRAPH_EXPERTS) != 0)
        rule_say(r, false, "software.cuda_graphs",
                 "experts cannot be captured while the host waits for the number of their rows: "
                 "set layout.expert_capacity, or layout.dispatch: hybridep with rank_capacity, or "
                 "capture attn+moe_router+moe_preprocess");
}

unsigned configuration_check(const struct configuration *c, struct rule_break *out,
                             unsigned capacity)
{
    struct rule_report r = {.c = c, .out = out, .capacity = capacity};
    if (!check_positive(&r))
        return r.count;
    check_model(&r);
    check_world(&r);
    check_placement(&r);
    check_heads(&r);
    check_sequence(&r);
    check_domain(&r);
    configuration_check_sms(&r);
    check_batch(&r);
    configuration_check_stages(&r);
    check_recompute(&r);
    check_recompute_layers(&r);
    check_sharding(&r);
    configuration_check_layers(&r);
    configuration_check_sparse(&r);
    configuration_check_experts(&r);
    configuration_check_state(&r);
    configuration_check_offload(&r);
    check_graphs(&r);
    return r.count;
}

bool configuration_legal(const struct configuration *c)
{
    struct rule_break breaks[BREAKS_READ];
    const unsigned count = configuration_check(c, breaks, BREAKS_READ);
    bool legal = count <= BREAKS_READ;
    for (unsigned i = 0; legal && i < count; i++)
        legal = breaks[i].warning;
    return legal;
}
