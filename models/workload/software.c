/* software.c - how the fields of a software profile are spelt, checked and explained.
 *
 * A default is what eager PyTorch with a fused attention kernel does; the profiles of the catalogue
 * (software.yaml) say what each framework does instead, with sources. Bytes of memory-bound kernels
 * count reads and writes of 16-bit tensors: a kernel that reads one and writes one costs 4. */
#include "models/workload/software.h"

#include <string.h>

#include "models/gpu/gpu.h"
#include "models/workload/fp8_recipe.h"
#include "sim/units.h"

#define AT(field) offsetof(struct software_profile, field)
#define BYTES_MAX 10000.0 /* for each element: no chain of kernels moves more */
#define HOST_MAX 10.0     /* seconds of host time for one action */

const char *const recompute_names[] = {
    "none",  "selective", "per_operator", "modules", "every_other_layer",
    "block", "uniform",   "full",         NULL};
const char *const stage_split_names[] = {"even", "cost", NULL};
const char *const optimizer_build_names[] = {"eager", "first_step", NULL};
const char *const gradient_layout_names[] = {"buffer", "tensor", NULL};
const char *const execution_names[] = {"any", "eager", "compiled", NULL};

const char *software_not_modelled(const char *name)
{
    static const char *const jax[] = {"maxtext", "paxml", "pax", "jax", "levanter", "easylm"};
    for (unsigned i = 0; i < sizeof jax / sizeof jax[0]; i++)
        if (strcmp(name, jax[i]) == 0)
            return "runs on JAX, whose compiler decides what is fused, kept and sent when: there "
                   "is "
                   "no profile of it; fsdp is the nearest";
    return NULL;
}

const struct param software_params[] = {
    {"launch", PARAM_TIME, AT(launch_s), 0, HOST_MAX, "10us", NULL,
     "Host time to launch one kernel."},
    {"launch_tp_growth", PARAM_RATIO, AT(launch_tp_growth), 0, 10, "0", NULL,
     "The launch time grows by 1 + this x log2(tp)."},
    {"pass_host", PARAM_TIME, AT(pass_host_s), 0, HOST_MAX, "0s", NULL,
     "Host time for each forward or backward pass of a stage."},
    {"optimizer_host", PARAM_TIME, AT(optimizer_host_s), 0, HOST_MAX, "0s", NULL,
     "Host time of one optimizer step."},
    {"data_host", PARAM_TIME, AT(data_host_s), 0, HOST_MAX, "0s", NULL,
     "Host time to fetch a microbatch."},
    {"host_sync_loss", PARAM_FLAG, AT(host_sync_loss), 0, 0, "true", NULL,
     "The host waits for the GPU at the end of a step, to read the loss."},
    {"norm_forward_bytes", PARAM_RATIO, AT(norm_forward_bytes), 0, BYTES_MAX, "4", NULL,
     "Memory traffic of a norm forward, bytes for each element of its input: read, write."},
    {"norm_backward_bytes", PARAM_RATIO, AT(norm_backward_bytes), 0, BYTES_MAX, "8", NULL,
     "Memory traffic of a norm backward, bytes for each element: input, gradient, residual "
     "gradient, result."},
    {"residual_forward_bytes", PARAM_RATIO, AT(residual_forward_bytes), 0, BYTES_MAX, "6", NULL,
     "Bias, dropout and residual addition forward, bytes for each element: two reads, a write."},
    {"residual_backward_bytes", PARAM_RATIO, AT(residual_backward_bytes), 0, BYTES_MAX, "4", NULL,
     "The same backward."},
    {"activation_forward_bytes", PARAM_RATIO, AT(activation_forward_bytes), 0, BYTES_MAX, "4", NULL,
     "Activation of the feed-forward block forward, bytes for each element of its inner width "
     "(swiglu: 6)."},
    {"activation_backward_bytes", PARAM_RATIO, AT(activation_backward_bytes), 0, BYTES_MAX, "6",
     NULL, "The same backward; gated blocks move 5/3 of it."},
    {"rope_forward_bytes", PARAM_RATIO, AT(rope_forward_bytes), 0, BYTES_MAX, "4", NULL,
     "Rotation forward, bytes for each element of q and k."},
    {"rope_backward_bytes", PARAM_RATIO, AT(rope_backward_bytes), 0, BYTES_MAX, "4", NULL,
     "Rotation backward, bytes for each element of q and k."},
    {"loss_traffic_bytes", PARAM_RATIO, AT(loss_traffic_bytes), 0, BYTES_MAX, "40", NULL,
     "Memory traffic of the loss, forward and backward together, bytes for each logit; fused 20 to "
     "30, unfused in fp32 40 to 78."},
    {"loss_memory_bytes", PARAM_RATIO, AT(loss_memory_bytes), 0, BYTES_MAX, "14", NULL,
     "Memory at the loss, bytes for each logit: logits 2, fp32 copy 4, softmax 4, gradient 4."},
    {"loss_chunks", PARAM_COUNT, AT(loss_chunks), 1, 1000, "1", NULL,
     "Head and loss take the tokens in so many parts, one by one and forward and backward at once: "
     "the logits of one part exist at a time (chunked or fused linear cross entropy)."},
    {"loss_gradient_bytes", PARAM_RATIO, AT(loss_gradient_bytes), 0, BYTES_MAX, "4", NULL,
     "Part of loss_memory_bytes that the backward pass alone holds: gradients of the logits."},
    {"math_forward_bytes", PARAM_RATIO, AT(math_forward_bytes), 0, BYTES_MAX, "13", NULL,
     "Unfused attention forward, bytes moved for each score (scale, mask, softmax, dropout, both "
     "products)."},
    {"math_backward_bytes", PARAM_RATIO, AT(math_backward_bytes), 0, BYTES_MAX, "19", NULL,
     "The same backward."},
    {"math_mask_bytes", PARAM_RATIO, AT(math_mask_bytes), 0, BYTES_MAX, "0", NULL,
     "Unfused attention forward, bytes for each score of a causal mask added by a kernel of its "
     "own; 0: the softmax kernel masks."},
    {"norm_launches", PARAM_RATIO, AT(norm_launches), 0, 1000, "1", NULL,
     "Kernels launched for each norm."},
    {"activation_launches", PARAM_RATIO, AT(activation_launches), 0, 1000, "1", NULL,
     "Kernels launched for each activation."},
    {"residual_launches", PARAM_RATIO, AT(residual_launches), 0, 1000, "1", NULL,
     "Kernels launched for each bias, dropout and residual addition."},
    {"rope_launches", PARAM_RATIO, AT(rope_launches), 0, 1000, "1", NULL,
     "Kernels launched for each rotation."},
    {"attention_full_square", PARAM_FLAG, AT(attention_full_square), 0, 0, "false", NULL,
     "The attention kernel does not skip the masked half (a bias on the scores, for example)."},
    {"save_norm_input", PARAM_FLAG, AT(save_norm_input), 0, 0, "true", NULL,
     "The input of a norm is kept for its backward; false: it is rebuilt from the output."},
    {"activation_saved_factor", PARAM_RATIO, AT(activation_saved_factor), 0, 10, "1", NULL,
     "Inputs that a gated activation keeps, against the fused ideal; unfused swiglu: 1.5."},
    {"vocabulary_multiple", PARAM_COUNT, AT(vocabulary_multiple), 0, 1000000, "0", NULL,
     "The vocabulary is padded to a multiple of this x tp; 0: to a multiple of tp only."},
    {"gradient_fusion", PARAM_FLAG, AT(gradient_fusion), 0, 0, "false", NULL,
     "Weight gradients accumulate inside the GEMM that computes them."},
    {"separate_projections", PARAM_FLAG, AT(separate_projections), 0, 0, "false", NULL,
     "Queries, keys and values are products of their own, and so are gate and up of a gated block; "
     "false: one product each."},
    {"repeats_keys", PARAM_FLAG, AT(repeats_keys), 0, 0, "false", NULL,
     "Grouped keys and values are copied to every head before the attention kernel."},
    {"input_gradient_bytes", PARAM_RATIO, AT(input_gradient_bytes), 0, BYTES_MAX, "6", NULL,
     "Memory traffic of adding up the input gradients of separate projections, bytes for each "
     "element and each projection after the first: two reads, a write."},
    {"recompute_stops_early", PARAM_FLAG, AT(recompute_stops_early), 0, 0, "false", NULL,
     "Full recomputation ends when every tensor that the backward needs is there again: the last "
     "product of a layer is not repeated."},
    {"recompute_keeps_last", PARAM_FLAG, AT(recompute_keeps_last), 0, 0, "false", NULL,
     "Recomputation per operator keeps the output of a layer's last product too, though the "
     "backward pass needs it not."},
    {"fp8_recipe", PARAM_CHOICE, AT(fp8_recipe), 0, 0, "current", fp8_recipe_names,
     "Scales of 8-bit operands: by the largest value of steps before (one pass over the tensor), "
     "of the tensor itself (two), by block of 32 (mxfp8), or by 1 x 128, weights by 128 x 128 "
     "(blockwise: DeepSeek-V3's; Blackwell plays it as mxfp8); auto: mxfp8 where the card scales "
     "by block, else delayed."},
    {"fp8_split_backward", PARAM_FLAG, AT(fp8_split_backward), 0, 0, "false", NULL,
     "The 8-bit products of the backward pass promote partial sums to fp32 (split accumulation)."},
    {"fp8_norm_fused", PARAM_FLAG, AT(fp8_norm_fused), 0, 0, "false", NULL,
     "A norm before an 8-bit linear layer writes eight bits itself, where scales are not those of "
     "the tensor it writes."},
    {"fp8_gathers", PARAM_FLAG, AT(fp8_gathers), 0, 0, "false", NULL,
     "Tensor-parallel gathers before 8-bit products carry eight bits."},
    {"fp8_casts_again", PARAM_FLAG, AT(fp8_casts_again), 0, 0, "false", NULL,
     "Inputs of 8-bit linear layers are kept in 16 bit and cast again for the weight gradient; "
     "false: one cast forward writes both copies, which are kept."},
    {"fp8_weights_each", PARAM_FLAG, AT(fp8_weights_each), 0, 0, "false", NULL,
     "Weights are cast to eight bits in every microbatch; false: once a step."},
    {"router_fusion", PARAM_FLAG, AT(router_fusion), 0, 0, "false", NULL,
     "One kernel scores and chooses the experts of a token (Megatron's --moe-router-fusion); "
     "false: "
     "an operator each."},
    {"shared_expert_overlap", PARAM_FLAG, AT(shared_expert_overlap), 0, 0, "false", NULL,
     "Shared experts run beside the exchanges with the routed ones: up beside the way there, down "
     "beside the way back (Megatron's --moe-shared-expert-overlap, off by default)."},
    {"fp8_activation_cache", PARAM_FLAG, AT(fp8_activation_cache), 0, 0, "false", NULL,
     "Beside narrow linear layers the inputs of activations are kept as an input of a linear layer "
     "is "
     "(Megatron-LM's activation-func-fp8-input-store; DeepSeek-V3, arXiv:2412.19437 section "
     "3.3.3)."},
    {"fp8_attention_cache", PARAM_FLAG, AT(fp8_attention_cache), 0, 0, "false", NULL,
     "Beside narrow linear layers the output of a fused attention kernel is kept once, for its own "
     "backward pass and for the projection's: in E5M6, 12 bits, with a scale of fp32 for each 128 "
     "(DeepSeek-V3, ibid.)."},
    {"tp_pipelines", PARAM_FLAG, AT(tp_pipelines), 0, 0, "false", NULL,
     "With sequence parallelism inside an NVLink domain, gathers and scatters run by parts beside "
     "the products that they feed or empty (userbuffers), forward and backward."},
    {"tp_scatter_splits", PARAM_COUNT, AT(tp_scatter_splits), 1, 64, "4", NULL,
     "Parts of a product whose result is scattered beside it; a gather has as many as ranks."},
    {"tp_scatter_sms", PARAM_COUNT, AT(tp_scatter_sms), 0, 64, "0", NULL,
     "SMs that the copies of such a scatter hold beside the product."},
    {"backward_tp_overlap", PARAM_FLAG, AT(backward_tp_overlap), 0, 0, "false", NULL,
     "The tensor-parallel communication of the backward pass runs beside the weight gradients."},
    {"backward_regather", PARAM_FLAG, AT(backward_regather), 0, 0, "false", NULL,
     "With sequence parallelism the input of a linear layer is gathered again in the backward "
     "pass, not kept."},
    {"tp_overlap_cost", PARAM_RATIO, AT(tp_overlap_cost_ratio), 0, 0.99, "0", NULL,
     "Time lost for each second in which tensor- or context-parallel traffic runs beside compute: "
     "both slow each other down."},
    {"tp_exposed_host", PARAM_TIME, AT(tp_exposed_host_s), 0, HOST_MAX, "0s", NULL,
     "Host synchronisation for each tensor-parallel collective."},
    {"tp_interference", PARAM_RATIO, AT(tp_interference_ratio), 0, 0.99, "0", NULL,
     "Share of compute speed lost with tensor parallelism whose collectives run beside the "
     "products that they serve."},
    {"cp_uneven", PARAM_FLAG, AT(cp_uneven), 0, 0, "false", NULL,
     "Context parallel ranks hold neighbouring positions of a causal sequence; false: a block from "
     "either end."},
    {"cp_merge_forward_bytes", PARAM_RATIO, AT(cp_merge_forward_bytes), 0, BYTES_MAX, "0", NULL,
     "Memory traffic of merging the outputs of blocks of keys forward, bytes for each element and "
     "each block that comes from another context parallel rank; 0: one kernel sees all keys."},
    {"cp_merge_backward_bytes", PARAM_RATIO, AT(cp_merge_backward_bytes), 0, BYTES_MAX, "0", NULL,
     "The same backward: adding up the gradients of queries, keys and values by block."},
    {"cp_gradient_bytes", PARAM_RATIO, AT(cp_gradient_bytes), 1, 8, "2", NULL,
     "Bytes of an element of the gradients of keys and values on the wire between context parallel "
     "ranks."},
    {"pxn", PARAM_FLAG, AT(pxn), 0, 0, "true", NULL,
     "NCCL reaches the NIC of another GPU over NVLink (2.12 and later); false: through the CPUs."},
    {"overlap_gradients", PARAM_FLAG, AT(overlap_gradients), 0, 0, "true", NULL,
     "Gradient buckets are reduced during the last backward pass."},
    {"overlap_parameters", PARAM_FLAG, AT(overlap_parameters), 0, 0, "false", NULL,
     "The parameter gather after the update hides under the next forward pass."},
    {"bucket", PARAM_BYTES, AT(bucket_bytes), 0, PETA, "25MiB", NULL,
     "Size of a gradient bucket; 0: one for each layer. PyTorch DistributedDataParallel uses 25 "
     "MiB."},
    {"gradient_reduce_bytes", PARAM_RATIO, AT(gradient_reduce_bytes), 0, 8, "0", NULL,
     "Bytes of a gradient element on the wire; 0: as it is kept."},
    {"gradient_kept_bytes", PARAM_RATIO, AT(gradient_kept_bytes), 1, 8, "2", NULL,
     "Bytes of an accumulated gradient element."},
    {"gradient_copy", PARAM_FLAG, AT(gradient_copy), 0, 0, "false", NULL,
     "16-bit gradients live beside the accumulated ones."},
    {"gradients", PARAM_CHOICE, AT(gradients), 0, 0, "tensor", gradient_layout_names,
     "Gradients are one flat buffer that is kept, or tensors that come and go."},
    {"gradients_after_pass", PARAM_FLAG, AT(gradients_after_pass), 0, 0, "false", NULL,
     "The gradients of a backward pass stay as tensors until it has ended, and are added to the "
     "kept "
     "ones then."},
    {"dp_copy_bandwidth", PARAM_BANDWIDTH, AT(dp_copy_bytes_per_s), 0, PETA, "0GB/s", NULL,
     "Rate at which the whole buffer of a data-parallel collective is packed or unpacked, on a "
     "stream of its own; 0: collectives work in place."},
    {"partition_copy", PARAM_TIME, AT(partition_copy_s), 0, HOST_MAX, "0s", NULL,
     "Time for each rank of a data-parallel collective whose part is copied by itself into or out "
     "of a list of tensors, on the same stream; 0: parts lie in one tensor."},
    {"interference", PARAM_RATIO, AT(interference_ratio), 0, 0.99, "0", NULL,
     "Share of compute speed lost while data-parallel traffic runs beside it."},
    {"gather_parts", PARAM_COUNT, AT(gather_parts), 1, 1000, "1", NULL,
     "Collectives, one behind the other, in which the parameters of a sharded unit are gathered."},
    {"fsdp_prefetch", PARAM_COUNT, AT(fsdp_prefetch), 0, 1000, "1", NULL,
     "Sharded units gathered ahead of use."},
    {"live_parameters", PARAM_COUNT, AT(live_parameters), 0, PETA, "0", NULL,
     "Nothing is gathered ahead where two layers together have more parameters than these, and of "
     "a "
     "layer that has more by itself only the modules in use are there; 0: no bound."},
    {"fsdp_reshard", PARAM_FLAG, AT(fsdp_reshard), 0, 0, "true", NULL,
     "The parameters of a unit are freed after its forward pass and gathered again in the "
     "backward."},
    {"fsdp_buffers", PARAM_FLAG, AT(fsdp_buffers), 0, 0, "false", NULL,
     "Sharded units are gathered into a buffer and copied out of it, and gradients copied into one "
     "that is reduced, by kernels of the compute stream (FSDP2); buffers and reduced gradients lie "
     "in memory pools of their own streams."},
    {"weights_are_master", PARAM_FLAG, AT(weights_are_master), 0, 0, "false", NULL,
     "Sharded weights are kept in fp32 alone, as the optimizer's master copy, and cast where they "
     "are gathered."},
    {"p2p_blocking", PARAM_FLAG, AT(p2p_blocking), 0, 0, "false", NULL,
     "1f1b and gpipe wait until a send has finished."},
    {"p2p_blocking_interleaved", PARAM_FLAG, AT(p2p_blocking_interleaved), 0, 0, "false", NULL,
     "The interleaved schedule waits until a send has finished."},
    {"p2p_sync", PARAM_TIME, AT(p2p_sync_s), 0, HOST_MAX, "0s", NULL,
     "Host time of each message between pipeline stages, beside its launch."},
    {"p2p_host_wait", PARAM_FLAG, AT(p2p_host_wait), 0, 0, "false", NULL,
     "1f1b and gpipe: the host waits for an exchange that blocks before it launches the next "
     "pass, so it cannot run ahead of the GPU."},
    {"p2p_scatter", PARAM_FLAG, AT(p2p_scatter), 0, 0, "false", NULL,
     "Without sequence parallelism each tensor rank sends its 1/tp of a message between stages, "
     "and the receivers gather it."},
    {"split", PARAM_CHOICE, AT(split), 0, 0, "even", stage_split_names,
     "Layers over stages: the same number each, or by cumulative cost."},
    {"pipeline_refuses_shards", PARAM_FLAG, AT(pipeline_refuses_shards), 0, 0, "false", NULL,
     "It refuses a pipeline whose replicas share out gradients or weights."},
    {"interleaves", PARAM_FLAG, AT(interleaves), 0, 0, "false", NULL,
     "It offers the interleaved schedule."},
    {"even_stages", PARAM_FLAG, AT(even_stages), 0, 0, "false", NULL,
     "It refuses a pipeline whose chunks would hold different numbers of layers (embedding and "
     "head "
     "counted with ends_count, a given first or last stage apart)."},
    {"build", PARAM_CHOICE, AT(build), 0, 0, "first_step", optimizer_build_names,
     "When the moments of the optimizer are allocated: eagerly at its construction, or in the "
     "first step."},
    {"communicator", PARAM_BYTES, AT(communicator_bytes), 0, PETA, "100MB", NULL,
     "Buffers of one communicator on a rank."},
    {"expandable_segments", PARAM_FLAG, AT(expandable_segments), 0, 0, "false", NULL,
     "The caching allocator uses expandable segments."},
    {"record_streams", PARAM_FLAG, AT(record_streams), 0, 0, "false", NULL,
     "Buffers of tensor-parallel collectives can be used again when the GPU has passed them, not "
     "when "
     "the host frees them (torch record_stream)."},
    {"workspace", PARAM_BYTES, AT(workspace_bytes), 0, PETA, "32MiB", NULL,
     "Workspace of the GEMM library, allocated at its first use; PyTorch gives cuBLAS 32 MiB on "
     "Hopper."},
    {"optimizer_extra_bytes", PARAM_RATIO, AT(optimizer_extra_bytes), 0, 1000, "0", NULL,
     "HBM bytes for each updated parameter that kernels beside the update move: gradients scaled, "
     "cast, checked and clipped, weights copied."},
    {"clip_gradients", PARAM_FLAG, AT(clip_gradients), 0, 0, "true", NULL,
     "The gradient norm is reduced over the whole model before the update."},
    {"framework", PARAM_TEXT, AT(framework), 0, 0, "", NULL,
     "The framework that this profile is a version of, as published runs call it; without one, the "
     "profile's own name."},
    {"release", PARAM_COUNT, AT(release), 0, 3000, "0", NULL,
     "Year of this version. `validate` takes the oldest version that can do what a run did."},
    {"sequence_parallelism", PARAM_FLAG, AT(sequence_parallelism), 0, 0, "true", NULL,
     "This version can split norms and residuals over the tensor parallel ranks."},
    {"selective_recompute", PARAM_FLAG, AT(selective_recompute), 0, 0, "true", NULL,
     "This version can recompute the attention core alone."},
    {"operator_recompute", PARAM_FLAG, AT(operator_recompute), 0, 0, "false", NULL,
     "This version can recompute by operator, and every other layer whole."},
    {"block_recompute", PARAM_FLAG, AT(block_recompute), 0, 0, "false", NULL,
     "This version can recompute the first layers of each chunk alone, and keep one input of "
     "several layers."},
    {"flash3", PARAM_FLAG, AT(flash3), 0, 0, "true", NULL,
     "This version can call FlashAttention-3."},
    {"native", PARAM_FLAG, AT(native), 0, 0, "false", NULL,
     "It is PyTorch's own: `validate` takes it for a run that names no software and calls its data "
     "parallelism ddp or fsdp."},
    {"execution", PARAM_CHOICE, AT(execution), 0, 0, "any", execution_names,
     "Kernels one by one, or fused by a compiler, where profiles of a framework differ in it; any: "
     "they do not."},
    {"usual_attention", PARAM_CHOICE, AT(usual_attention), 0, 0, "flash2", attention_kernel_names,
     "Attention kernel of a run that does not name it; math: this version has no fused kernel."},
    {"usual_dropout", PARAM_RATIO, AT(usual_dropout_ratio), 0, 0.99, "0", NULL,
     "Dropout of a model with learned positions in a run that does not say."},
    {"usual_chunks", PARAM_COUNT, AT(usual_chunks), 1, 255, "1", NULL,
     "Chunks on each pipeline stage of a run that does not say."},
    {"usual_sharding", PARAM_TEXT, AT(usual_sharding), 0, 0, "zero-0", NULL,
     "Sharding of a run that does not say."},
    {"full_sharding", PARAM_TEXT, AT(full_sharding), 0, 0, "fsdp", NULL,
     "What this software makes of ZeRO stage 3: fsdp (units of layers, prefetched) or zero-3."},
};
const unsigned software_param_count = sizeof software_params / sizeof software_params[0];
