/* software.c - how the fields of a software profile are spelt, checked and explained.
 *
 * A default is what eager PyTorch with a fused attention kernel does; the profiles of the catalogue
 * (software.yaml) say what each framework does instead, with sources. Bytes of memory-bound kernels
 * count reads and writes of 16-bit tensors: a kernel that reads one and writes one costs 4. */
#include "models/workload/software.h"

#include <string.h>

#include "models/gpu/gpu.h"
#include "models/workload/fp8_recipe.h"
#include "models/workload/optimizer.h"
#include "sim/units.h"

#define AT(field) offsetof(struct software_profile, field)
#define BYTES_MAX 10000.0 /* for each element: no chain of kernels moves more */
#define HOST_MAX 10.0     /* seconds of host time for one action */

const char *const recompute_names[] = {
    "none",  "selective", "per_operator", "modules", "every_other_layer",
    "block", "uniform",   "full",         NULL};
static const char *const stage_split_names[] = {"even", "cost", NULL};
static const char *const optimizer_build_names[] = {"eager", "first_step", NULL};
static const char *const gradient_layout_names[] = {"buffer", "tensor", NULL};
static const char *const execution_names[] = {"any", "eager", "compiled", NULL};

const char *software_framework(const struct software_profile *profile)
{
    const char *of = profile->version.framework;
    return of != NULL && *of != '\0' ? of : profile->name;
}

const char *software_not_modelled(const char *name)
{
    static const char *const jax[] = {"maxtext", "paxml", "pax", "jax", "levanter", "easylm"};
    for (unsigned i = 0; i < sizeof jax / sizeof jax[0]; i++)
        if (strcmp(name, jax[i]) == 0)
            return "runs on JAX, whose compiler decides on fusion, memory and communication: there "
                   "is no profile of it; fsdp is the nearest";
    return NULL;
}

bool software_graphs(const char *text, unsigned *modules)
{
    static const struct {
        const char *name;
        unsigned modules;
        bool alone;
    } words[] = {{"none", 0, true},
                 {"full", GRAPH_LAYER | GRAPH_ITERATION, true},
                 {"layer", GRAPH_LAYER, true},
                 {"on", GRAPH_LAYER, true},
                 {"attn", GRAPH_ATTENTION, false},
                 {"mlp", GRAPH_MLP, false},
                 {"moe", GRAPH_EXPERTS | GRAPH_ROUTER | GRAPH_PREPROCESS, false},
                 {"moe_router", GRAPH_ROUTER, false},
                 {"moe_preprocess", GRAPH_PREPROCESS, false}};
    *modules = 0;
    if (text == NULL)
        return true;
    const bool several = strchr(text, '+') != NULL;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, "+");
        unsigned i = 0;
        while (i < sizeof words / sizeof words[0] &&
               (strlen(words[i].name) != length || strncmp(words[i].name, at, length) != 0))
            i++;
        if (i == sizeof words / sizeof words[0] || (words[i].alone && several))
            return false;
        *modules |= words[i].modules;
        at += length;
        if (*at == '\0')
            return true;
    }
}

/* The word of a list joined by +, which begins at `at`, is `name`. */
static bool word_is(const char *at, const char *name)
{
    return strcspn(at, "+") == strlen(name) && strncmp(at, name, strlen(name)) == 0;
}

/* The next word of such a list; NULL: it was the last. */
static const char *next_word(const char *at)
{
    at += strcspn(at, "+");
    return *at == '+' ? at + 1 : NULL;
}

/* The first; NULL: all are meant. */
static const char *first_word(const char *list)
{
    return list != NULL && strcmp(list, "any") != 0 ? list : NULL;
}

static bool lists(const char *list, const char *name)
{
    const char *at = first_word(list);
    if (at == NULL)
        return true;
    while (at != NULL && !word_is(at, name))
        at = next_word(at);
    return at != NULL;
}

bool software_shards(const struct software_profile *profile, const char *optimizer)
{
    return lists(profile->offers.sharded_optimizers, optimizer);
}

bool software_dispatches(const struct software_profile *profile, const char *dispatch)
{
    return lists(profile->offers.dispatches, dispatch);
}

enum peak_kind software_attention_operands(const struct software_profile *profile,
                                           const struct precision *precision)
{
    return profile->fp8.attention && precision_narrow(precision) ? PEAK_FP8
                                                                 : precision->attention_peak;
}

const char *software_unknown(const char *list, kind_at_fn *family)
{
    for (const char *at = first_word(list); at != NULL; at = next_word(at)) {
        unsigned i = 0;
        while (family(i) != NULL && !word_is(at, family(i)->name))
            i++;
        if (family(i) == NULL)
            return at;
    }
    return NULL;
}

const struct param software_params[] = {
    {"launch", PARAM_TIME, AT(host.launch_s), 0, HOST_MAX, "10us", NULL,
     "Host time to launch one kernel."},
    {"launch_tp_growth", PARAM_RATIO, AT(host.launch_tp_growth), 0, 10, "0", NULL,
     "The launch time grows by 1 + this x log2(tp)."},
    {"pass_host", PARAM_TIME, AT(host.pass_s), 0, HOST_MAX, "0s", NULL,
     "Host time for each forward or backward pass of a stage."},
    {"optimizer_host", PARAM_TIME, AT(host.optimizer_s), 0, HOST_MAX, "0s", NULL,
     "Host time of one optimizer step."},
    {"data_host", PARAM_TIME, AT(host.data_s), 0, HOST_MAX, "0s", NULL,
     "Host time to load a microbatch."},
    {"cuda_graphs", PARAM_TEXT, AT(graphs.modules), 0, 0, "none", NULL,
     "What CUDA graphs replay: none; full (forward and backward of a whole step); layer, or on "
     "(each "
     "layer's modules); or modules joined by +: attn, mlp, moe, moe_router, moe_preprocess. A "
     "captured stretch costs the host one launch, a whole step none."},
    {"norm_forward_bytes", PARAM_RATIO, AT(block.norm_forward_bytes), 0, BYTES_MAX, "4", NULL,
     "Memory traffic of a norm forward, bytes for each element of its input: read, write."},
    {"norm_backward_bytes", PARAM_RATIO, AT(block.norm_backward_bytes), 0, BYTES_MAX, "8", NULL,
     "Memory traffic of a norm backward, bytes for each element: input, gradient, residual "
     "gradient, result."},
    {"residual_forward_bytes", PARAM_RATIO, AT(block.residual_forward_bytes), 0, BYTES_MAX, "6",
     NULL,
     "Bias, dropout and residual addition forward, bytes for each element: two reads, a write."},
    {"residual_backward_bytes", PARAM_RATIO, AT(block.residual_backward_bytes), 0, BYTES_MAX, "4",
     NULL, "The same for the backward pass."},
    {"activation_forward_bytes", PARAM_RATIO, AT(block.activation_forward_bytes), 0, BYTES_MAX, "4",
     NULL,
     "Activation of the feed-forward block forward, bytes for each element of its inner width "
     "(swiglu: 6)."},
    {"activation_backward_bytes", PARAM_RATIO, AT(block.activation_backward_bytes), 0, BYTES_MAX,
     "6", NULL, "The same for the backward pass; gated blocks move 5/3 of it."},
    {"rope_forward_bytes", PARAM_RATIO, AT(block.rope_forward_bytes), 0, BYTES_MAX, "4", NULL,
     "Rotation forward, bytes for each element of q and k."},
    {"rope_backward_bytes", PARAM_RATIO, AT(block.rope_backward_bytes), 0, BYTES_MAX, "4", NULL,
     "Rotation backward, bytes for each element of q and k."},
    {"loss_traffic_bytes", PARAM_RATIO, AT(head.traffic_bytes), 0, BYTES_MAX, "40", NULL,
     "Memory traffic of the loss, forward and backward together, bytes for each logit; fused 20 to "
     "30, unfused in fp32 40 to 78."},
    {"loss_memory_bytes", PARAM_RATIO, AT(head.memory_bytes), 0, BYTES_MAX, "14", NULL,
     "Memory at the loss, bytes for each logit: logits 2, fp32 copy 4, softmax 4, gradient 4."},
    {"loss_chunks", PARAM_COUNT, AT(head.chunks), 1, 1000, "1", NULL,
     "Parts into which head and loss split the tokens, each run forward and backward before the "
     "next: the logits of one part exist at a time (chunked or fused linear cross entropy)."},
    {"loss_gradient_bytes", PARAM_RATIO, AT(head.gradient_bytes), 0, BYTES_MAX, "4", NULL,
     "Part of loss_memory_bytes that only the backward pass holds: gradients of the logits."},
    {"math_forward_bytes", PARAM_RATIO, AT(attention.math_forward_bytes), 0, BYTES_MAX, "13", NULL,
     "Unfused attention forward, bytes moved for each score (scale, mask, softmax, dropout, both "
     "products)."},
    {"math_backward_bytes", PARAM_RATIO, AT(attention.math_backward_bytes), 0, BYTES_MAX, "19",
     NULL, "The same for the backward pass."},
    {"math_mask_bytes", PARAM_RATIO, AT(attention.math_mask_bytes), 0, BYTES_MAX, "0", NULL,
     "Unfused attention forward, bytes for each score of a causal mask added by a separate kernel; "
     "0: the softmax kernel masks."},
    {"norm_launches", PARAM_RATIO, AT(block.norm_launches), 0, 1000, "1", NULL,
     "Kernels launched for each norm."},
    {"activation_launches", PARAM_RATIO, AT(block.activation_launches), 0, 1000, "1", NULL,
     "Kernels launched for each activation."},
    {"residual_launches", PARAM_RATIO, AT(block.residual_launches), 0, 1000, "1", NULL,
     "Kernels launched for each bias, dropout and residual addition."},
    {"rope_launches", PARAM_RATIO, AT(block.rope_launches), 0, 1000, "1", NULL,
     "Kernels launched for each rotation."},
    {"attention_full_square", PARAM_FLAG, AT(attention.full_square), 0, 0, "false", NULL,
     "The attention kernel does not skip the masked half (a bias on the scores, for example)."},
    {"save_norm_input", PARAM_FLAG, AT(layer.save_norm_input), 0, 0, "true", NULL,
     "The input of a norm is kept for its backward pass; false: it is rebuilt from the output."},
    {"activation_saved_factor", PARAM_RATIO, AT(layer.activation_saved_factor), 0, 10, "1", NULL,
     "Inputs kept by a gated activation, relative to the fused ideal; unfused swiglu: 1.5."},
    {"vocabulary_multiple", PARAM_COUNT, AT(head.vocabulary_multiple), 0, 1000000, "0", NULL,
     "The vocabulary is padded to a multiple of this x tp; 0: to a multiple of tp only."},
    {"gradient_fusion", PARAM_FLAG, AT(layer.gradient_fusion), 0, 0, "false", NULL,
     "Weight gradients accumulate inside the GEMM that computes them."},
    {"separate_projections", PARAM_FLAG, AT(layer.separate_projections), 0, 0, "false", NULL,
     "Queries, keys and values are separate GEMMs, as are gate and up of a gated block; false: one "
     "GEMM each."},
    {"repeats_keys", PARAM_FLAG, AT(attention.repeats_keys), 0, 0, "false", NULL,
     "Grouped keys and values are copied to every head before the attention kernel."},
    {"input_gradient_bytes", PARAM_RATIO, AT(tensor.input_gradient_bytes), 0, BYTES_MAX, "6", NULL,
     "Memory traffic of summing the input gradients of separate projections, bytes for each "
     "element and each projection after the first: two reads, a write."},
    {"recompute_stops_early", PARAM_FLAG, AT(layer.recompute_stops_early), 0, 0, "false", NULL,
     "Full recomputation stops when every tensor that the backward pass needs is available: the "
     "last GEMM of a layer is not repeated."},
    {"scan_time", PARAM_RATIO, AT(layer.scan_time_ratio), 0, 100, "0", NULL,
     "Time of the cores of recurrent layers (gdn, mamba2, ...) over that of the published kernels; "
     "0: the software has no recurrent layers."},
    {"sparse_time", PARAM_RATIO, AT(layer.sparse_time_ratio), 0, 100, "0", NULL,
     "Time of the cores of sparse attention with an indexer over that of the published kernels; 0: "
     "the software has no such attention."},
    {"recompute_keeps_last", PARAM_FLAG, AT(layer.recompute_keeps_last), 0, 0, "false", NULL,
     "Recomputation per operator also keeps the output of a layer's last GEMM, although the "
     "backward pass does not need it."},
    {"fp8_recipe", PARAM_CHOICE, AT(fp8.recipe), 0, 0, "current", fp8_recipe_names,
     "Scales of 8-bit operands: from the largest value of earlier steps (one pass over the "
     "tensor), of the tensor itself (two), by block of 32 (mxfp8), or by 1 x 128, weights by 128 x "
     "128 (blockwise: DeepSeek-V3's; on Blackwell emulated with mxfp8); auto: mxfp8 where the GPU "
     "scales by block, else delayed."},
    {"fp8_delayed_whole", PARAM_FLAG, AT(fp8.delayed_whole), 0, 0, "false", NULL,
     "With delayed scaling this version computes all layers in 8 bits: bf16_layers_first and "
     "bf16_layers_last need another recipe, which fp8_recipe: auto then takes (current)."},
    {"fp8_split_backward", PARAM_FLAG, AT(fp8.split_backward), 0, 0, "false", NULL,
     "The 8-bit GEMMs of the backward pass promote partial sums to fp32 (split accumulation)."},
    {"fp8_norm_fused", PARAM_FLAG, AT(fp8.norm_fused), 0, 0, "false", NULL,
     "A norm before an 8-bit linear layer writes 8-bit output itself, unless the scales depend on "
     "the tensor that it writes."},
    {"fp8_gathers", PARAM_FLAG, AT(fp8.gathers), 0, 0, "false", NULL,
     "Tensor-parallel all-gathers before 8-bit GEMMs transfer 8-bit data."},
    {"fp8_casts_again", PARAM_FLAG, AT(fp8.casts_again), 0, 0, "false", NULL,
     "Inputs of 8-bit linear layers are kept in 16 bits and cast a second time for the weight "
     "gradient; false: one forward cast writes both copies, which are kept."},
    {"fp8_weights_each", PARAM_FLAG, AT(fp8.weights_each), 0, 0, "false", NULL,
     "Weights are cast to 8 bits in every microbatch; false: once per step."},
    {"fp8_attention", PARAM_FLAG, AT(fp8.attention), 0, 0, "false", NULL,
     "The attention kernel multiplies 8-bit operands, where the linear layers do (cuDNN, "
     "FlashAttention-3)."},
    {"router_fusion", PARAM_FLAG, AT(experts.router_fusion), 0, 0, "false", NULL,
     "One kernel scores and selects the experts of a token (Megatron's --moe-router-fusion); "
     "false: one kernel per operator."},
    {"fused_grouped_mlp", PARAM_FLAG, AT(experts.fused_mlp), 0, 0, "false", NULL,
     "Grouped GEMMs of experts apply the activation and cast their output in the same kernel, "
     "forward and backward (Transformer Engine 2.14 with cuDNN front end 1.19, MXFP8)."},
    {"moe_paged_stash", PARAM_FLAG, AT(experts.paged_stash), 0, 0, "false", NULL,
     "Of rank_capacity's buffers only the rows that came are kept for the backward pass (paged "
     "stash); false: the whole buffer is."},
    {"expert_padding_copies", PARAM_FLAG, AT(experts.padding_copies), 0, 0, "false", NULL,
     "With low-precision linear layers the rows of experts are copied to a buffer in which each "
     "expert's are filled up to a multiple, and the results back (Transformer Engine's Fp8Padding "
     "and Fp8Unpadding), unless fused_grouped_mlp."},
    {"expert_bias_fusion", PARAM_FLAG, AT(experts.bias_fusion), 0, 0, "true", NULL,
     "GEMMs and activations of experts apply biases and clamps themselves; false: operators of "
     "their own clamp the activation's input and add the output's bias times the routing weight "
     "in fp32 (Megatron's TEGroupedMLP), unless fused_grouped_mlp."},
    {"shared_expert_overlap", PARAM_FLAG, AT(experts.shared_overlap), 0, 0, "false", NULL,
     "Shared experts overlap with the all-to-alls of the routed ones: the up projection with "
     "dispatch, the down projection with combine (Megatron's --moe-shared-expert-overlap, off by "
     "default)."},
    {"fp8_activation_cache", PARAM_FLAG, AT(fp8.activation_cache), 0, 0, "false", NULL,
     "With low-precision linear layers the inputs of activations are kept in the same format as "
     "the inputs of linear layers (Megatron-LM's activation-func-fp8-input-store; DeepSeek-V3, "
     "arXiv:2412.19437 section 3.3.3)."},
    {"fp8_attention_cache", PARAM_FLAG, AT(fp8.attention_cache), 0, 0, "false", NULL,
     "With low-precision linear layers the output of a fused attention kernel is kept once, for "
     "its own backward pass and the projection's: in E5M6, 12 bits, with an fp32 scale for each "
     "128 (DeepSeek-V3, ibid.)."},
    {"tp_pipelines", PARAM_FLAG, AT(tensor.pipelines), 0, 0, "false", NULL,
     "With sequence parallelism inside an NVLink domain, all-gathers and reduce-scatters overlap "
     "in parts with the GEMMs before or after them (userbuffers), forward and backward."},
    {"tp_scatter_splits", PARAM_COUNT, AT(tensor.scatter_splits), 1, 64, "4", NULL,
     "Parts of a GEMM whose result is reduce-scattered while it runs; an all-gather has one part "
     "per rank."},
    {"tp_scatter_sms", PARAM_COUNT, AT(tensor.scatter_sms), 0, 64, "0", NULL,
     "SMs occupied by the copies of such a reduce-scatter during the GEMM."},
    {"tp_bulk_sms", PARAM_COUNT, AT(tensor.bulk_sms), 0, 64, "0", NULL,
     "With tp_pipelines: SMs occupied by the copies of a whole input that is gathered again, or of "
     "a whole gradient that is scattered, beside a GEMM that needs neither."},
    {"backward_tp_overlap", PARAM_FLAG, AT(tensor.backward_overlap), 0, 0, "false", NULL,
     "The tensor-parallel communication of the backward pass overlaps with the weight-gradient "
     "GEMMs."},
    {"backward_regather", PARAM_FLAG, AT(tensor.backward_regather), 0, 0, "false", NULL,
     "With sequence parallelism the input of a linear layer is not kept but gathered a second time "
     "in the backward pass."},
    {"tp_overlap_cost", PARAM_RATIO, AT(tensor.overlap_cost_ratio), 0, 0.99, "0", NULL,
     "Time lost per second of overlap between tensor- or context-parallel traffic and compute, as "
     "each slows the other down. Tensor-parallel traffic costs the share of tp_bulk_sms with "
     "tp_pipelines, and else all of it on cards with persistent_products."},
    {"tp_exposed_host", PARAM_TIME, AT(tensor.exposed_host_s), 0, HOST_MAX, "0s", NULL,
     "Host synchronisation time for each tensor-parallel collective."},
    {"cp_uneven", PARAM_FLAG, AT(context.uneven), 0, 0, "false", NULL,
     "Context-parallel ranks hold contiguous positions of a causal sequence; false: one block from "
     "either end."},
    {"cp_mixers", PARAM_FLAG, AT(context.mixers), 0, 0, "false", NULL,
     "Context parallelism splits recurrent layers too, which exchange heads."},
    {"cp_merge_forward_bytes", PARAM_RATIO, AT(context.merge_forward_bytes), 0, BYTES_MAX, "0",
     NULL,
     "Memory traffic of merging the outputs of blocks of keys in the forward pass, bytes for each "
     "element and each block from another context-parallel rank; 0: one kernel processes all "
     "keys."},
    {"cp_merge_backward_bytes", PARAM_RATIO, AT(context.merge_backward_bytes), 0, BYTES_MAX, "0",
     NULL,
     "The same for the backward pass: accumulating the gradients of queries, keys and values by "
     "block."},
    {"cp_gradient_bytes", PARAM_RATIO, AT(context.gradient_bytes), 1, 8, "2", NULL,
     "Bytes per element for gradients of keys and values sent between context-parallel ranks."},
    {"pxn", PARAM_FLAG, AT(pxn), 0, 0, "true", NULL,
     "NCCL reaches the NIC of another GPU over NVLink (2.12 and later); false: through the CPUs."},
    {"overlap_gradients", PARAM_FLAG, AT(data.overlap_gradients), 0, 0, "true", NULL,
     "Gradient buckets are reduced during the last backward pass."},
    {"overlap_parameters", PARAM_FLAG, AT(data.overlap_parameters), 0, 0, "false", NULL,
     "The parameter all-gather after the update overlaps with the next forward pass."},
    {"bucket", PARAM_BYTES, AT(data.bucket_bytes), 0, PETA, "25MiB", NULL,
     "Size of a gradient bucket; 0: one bucket for each layer. PyTorch DistributedDataParallel "
     "uses 25 MiB."},
    {"gradient_reduce_bytes", PARAM_RATIO, AT(data.gradient_reduce_bytes), 0, 8, "0", NULL,
     "Bytes per gradient element in communication; 0: as it is kept."},
    {"gradient_kept_bytes", PARAM_RATIO, AT(data.gradient_kept_bytes), 1, 8, "2", NULL,
     "Bytes per element of accumulated gradients."},
    {"gradient_copy", PARAM_FLAG, AT(data.gradient_copy), 0, 0, "false", NULL,
     "16-bit gradients exist in addition to the accumulated ones."},
    {"gradients", PARAM_CHOICE, AT(data.gradients), 0, 0, "tensor", gradient_layout_names,
     "Gradients are one persistent flat buffer, or tensors that are allocated and freed."},
    {"gradients_after_pass", PARAM_FLAG, AT(data.gradients_after_pass), 0, 0, "false", NULL,
     "The gradients of a backward pass remain separate tensors until it ends and are then added to "
     "the kept ones."},
    {"dp_copy_bandwidth", PARAM_BANDWIDTH, AT(data.copy_bytes_per_s), 0, PETA, "0GB/s", NULL,
     "Rate at which the whole buffer of a data-parallel collective is packed or unpacked, on a "
     "separate stream; 0: collectives work in place."},
    {"partition_copy", PARAM_TIME, AT(data.partition_copy_s), 0, HOST_MAX, "0s", NULL,
     "Time per rank of a data-parallel collective whose part is copied separately into or out of a "
     "list of tensors, on the same stream; 0: parts lie in one tensor."},
    {"interference", PARAM_RATIO, AT(data.interference_ratio), 0, 0.99, "0", NULL,
     "Share of compute speed lost while data-parallel traffic overlaps with it."},
    {"gather_parts", PARAM_COUNT, AT(shards.gather_parts), 1, 1000, "1", NULL,
     "Number of consecutive collectives that gather the parameters of one sharded unit."},
    {"fsdp_prefetch", PARAM_COUNT, AT(shards.prefetch), 0, 1000, "1", NULL,
     "Sharded units that are gathered ahead of use (prefetch)."},
    {"live_parameters", PARAM_COUNT, AT(shards.live_parameters), 0, PETA, "0", NULL,
     "Most parameters gathered at a time: if two layers exceed it, nothing is prefetched; if one "
     "layer exceeds it, only the modules in use are gathered; 0: no bound."},
    {"fsdp_reshard", PARAM_FLAG, AT(shards.reshard), 0, 0, "true", NULL,
     "The parameters of a unit are freed after its forward pass and gathered again for its "
     "backward pass."},
    {"fsdp_buffers", PARAM_FLAG, AT(shards.buffers), 0, 0, "false", NULL,
     "Kernels of the compute stream copy gathered units out of a buffer, and gradients into a "
     "buffer that is reduced (FSDP2); buffers and reduced gradients lie in the memory pools of "
     "separate streams."},
    {"weights_are_master", PARAM_FLAG, AT(shards.weights_are_master), 0, 0, "false", NULL,
     "Sharded weights are kept only in fp32, as the optimizer's master copy, and cast when they "
     "are gathered."},
    {"p2p_blocking", PARAM_FLAG, AT(pipeline.blocking), 0, 0, "false", NULL,
     "1f1b and gpipe block until a send has completed."},
    {"p2p_blocking_interleaved", PARAM_FLAG, AT(pipeline.blocking_interleaved), 0, 0, "false", NULL,
     "The interleaved schedule blocks until a send has completed."},
    {"p2p_sync", PARAM_TIME, AT(pipeline.sync_s), 0, HOST_MAX, "0s", NULL,
     "Host time of each message between pipeline stages, in addition to its launch."},
    {"p2p_host_wait", PARAM_FLAG, AT(pipeline.host_wait), 0, 0, "false", NULL,
     "1f1b and gpipe: the host waits for a blocking exchange before it launches the next pass, so "
     "it cannot run ahead of the GPU."},
    {"p2p_scatter", PARAM_FLAG, AT(pipeline.scatter), 0, 0, "false", NULL,
     "Without sequence parallelism each tensor rank sends 1/tp of a message between stages, and "
     "the receivers all-gather it."},
    {"split", PARAM_CHOICE, AT(pipeline.split), 0, 0, "even", stage_split_names,
     "Distribution of layers over stages: equal numbers, or by cumulative cost."},
    {"pipeline_refuses_shards", PARAM_FLAG, AT(pipeline.refuses_shards), 0, 0, "false", NULL,
     "The software rejects a pipeline with sharded gradients or weights."},
    {"interleaves", PARAM_FLAG, AT(pipeline.interleaves), 0, 0, "false", NULL,
     "The software supports the interleaved schedule."},
    {"makers_recipe", PARAM_FLAG, AT(pipeline.makers_recipe), 0, 0, "false", NULL,
     "It stands for whatever software the model's makers ran: a search tries their schedule and "
     "recomputation (model.usual_schedule, model.usual_recompute) beside its own."},
    {"even_stages", PARAM_FLAG, AT(pipeline.even_stages), 0, 0, "false", NULL,
     "The software rejects a pipeline whose chunks would hold different numbers of layers "
     "(embedding and head counted with ends_count; a given first or last stage is exempt)."},
    {"build", PARAM_CHOICE, AT(memory.build), 0, 0, "first_step", optimizer_build_names,
     "When the optimizer's moments are allocated: at its construction (eager), or in the first "
     "step."},
    {"communicator", PARAM_BYTES, AT(memory.communicator_bytes), 0, PETA, "100MB", NULL,
     "Buffer memory of one communicator on a rank."},
    {"expandable_segments", PARAM_FLAG, AT(memory.expandable_segments), 0, 0, "false", NULL,
     "The caching allocator uses expandable segments."},
    {"record_streams", PARAM_FLAG, AT(memory.record_streams), 0, 0, "false", NULL,
     "Buffers of tensor-parallel collectives become reusable when the GPU has finished with them, "
     "not when the host frees them (torch record_stream)."},
    {"states_as_weights", PARAM_FLAG, AT(memory.states_as_weights), 0, 0, "false", NULL,
     "Where training leaves them auto, the optimizer's states have the 16-bit format of the "
     "weights, "
     "which are updated in place without a master copy (torch.optim over a 16-bit model)."},
    {"workspace", PARAM_BYTES, AT(memory.workspace_bytes), 0, PETA, "32MiB", NULL,
     "Workspace of the GEMM library, allocated at first use; PyTorch gives cuBLAS 32 MiB on "
     "Hopper."},
    {"optimizer_extra_bytes", PARAM_RATIO, AT(memory.optimizer_extra_bytes), 0, 1000, "0", NULL,
     "HBM bytes per updated parameter moved by kernels other than the update: gradients scaled, "
     "cast, checked and clipped, weights copied."},
    {"clip_gradients", PARAM_FLAG, AT(memory.clip_gradients), 0, 0, "true", NULL,
     "The gradient norm is reduced over all ranks of the model before the update."},
    {"framework", PARAM_TEXT, AT(version.framework), 0, 0, "", NULL,
     "Framework of this profile, as published runs name it; default: the profile's own name."},
    {"year", PARAM_COUNT, AT(version.year), 0, 3000, "0", NULL,
     "Year of this version. `validate` chooses the oldest version that can do what a run did."},
    {"sequence_parallelism", PARAM_FLAG, AT(offers.sequence_parallelism), 0, 0, "true", NULL,
     "This version can split norms and residuals over the tensor parallel ranks."},
    {"selective_recompute", PARAM_FLAG, AT(offers.selective_recompute), 0, 0, "true", NULL,
     "This version can recompute the attention core alone."},
    {"operator_recompute", PARAM_FLAG, AT(offers.operator_recompute), 0, 0, "false", NULL,
     "This version can recompute by operator, and every other layer whole."},
    {"block_recompute", PARAM_FLAG, AT(offers.block_recompute), 0, 0, "false", NULL,
     "This version can recompute the first layers of each chunk alone, and keep one input of "
     "several layers."},
    {"flash3", PARAM_FLAG, AT(offers.flash3), 0, 0, "true", NULL,
     "This version can call FlashAttention-3."},
    {"native", PARAM_FLAG, AT(offers.native), 0, 0, "false", NULL,
     "PyTorch's own data parallelism: `validate` uses it for a run that names no software but "
     "calls its data parallelism ddp or fsdp; its steps are predicted less surely."},
    {"experts_alone", PARAM_FLAG, AT(offers.experts_alone), 0, 0, "false", NULL,
     "A version for mixtures of experts: `validate` takes it for their runs, and for no others."},
    {"sharded_optimizers", PARAM_TEXT, AT(offers.sharded_optimizers), 0, 0, "any", NULL,
     "Optimizers whose state this version shards over data ranks, joined by +: adam+adamw; any: "
     "all."},
    {"dispatches", PARAM_TEXT, AT(offers.dispatches), 0, 0, "any", NULL,
     "Kinds of layout.dispatch that this version has, joined by +: alltoall+deepep; any: all."},
    {"narrow_rows", PARAM_FLAG, AT(offers.narrow_rows), 0, 0, "true", NULL,
     "This version can send rows to their experts in 8 bits (layout.dispatch_8bit)."},
    {"heads_alone", PARAM_FLAG, AT(offers.heads_alone), 0, 0, "false", NULL,
     "Context parallelism of this version exchanges heads alone (cp_method all_to_all), and not "
     "with sequence parallelism over tp."},
    {"execution", PARAM_CHOICE, AT(usual.execution), 0, 0, "any", execution_names,
     "Execution mode: separate kernels or compiler-fused, where a framework has a profile for "
     "each; any: it has one."},
    {"usual_attention", PARAM_CHOICE, AT(usual.attention), 0, 0, "flash2", attention_kernel_names,
     "Attention kernel of a run that does not name one; math: this version has no fused kernel."},
    {"usual_dropout", PARAM_RATIO, AT(usual.dropout_ratio), 0, 0.99, "0", NULL,
     "Default dropout of a model with learned positions."},
    {"usual_gradient_bytes", PARAM_RATIO, AT(usual.gradient_bytes), 0, 8, "0", NULL,
     "Bytes per kept gradient element in the published recipes, for training.gradient_bytes: auto; "
     "0: gradient_kept_bytes."},
    {"usual_chunks", PARAM_COUNT, AT(usual.chunks), 1, 255, "1", NULL,
     "Default number of chunks on each pipeline stage."},
    {"usual_sharding", PARAM_TEXT, AT(usual.sharding), 0, 0, "zero-0", NULL, "Default sharding."},
    {"full_sharding", PARAM_TEXT, AT(usual.full_sharding), 0, 0, "fsdp", NULL,
     "Sharding that stands for ZeRO stage 3 in this software: fsdp (units of layers, prefetched) "
     "or zero-3."},
};
const unsigned software_param_count = sizeof software_params / sizeof software_params[0];
