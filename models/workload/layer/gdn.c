/* gdn - gated delta rule (Yang et al., arXiv:2412.06464), as Qwen3-Next and Qwen3.5 have it
 * (huggingface/transformers src/transformers/models/qwen3_next/modular_qwen3_next.py).
 *
 * State S of a head, dk by dv: S <- a S (1 - b k k^T) + b k v^T, read by q. nk heads of q and k of
 * dk, nv of v of dv; z gates the output through a norm of dv. Kernels by chunks of 64
 * (fla-org/flash-linear-attention fla/ops/gated_delta_rule): the products of a chunk with itself, a
 * triangular inverse, and the walk over states. */
#include "models/workload/layer/layer_kind.h"

#include <stddef.h>

#include "models/workload/layer/delta_rule.h"

static const char *refuse(const struct layer_sizes *sizes)
{
    return sizes->heads % sizes->key_heads != 0
               ? "heads of values (linear_heads) are not divisible by those of keys "
                 "(linear_key_heads)"
               : NULL;
}

static void write(const struct layer_share *share, struct layer_work *out)
{
    const struct layer_sizes *z = share->sizes;
    const double keys = share->key_heads * (double)z->key_size;
    const double values = share->heads * (double)z->head_size;
    const double mixed = 2.0 * keys + values; /* that the convolution sees */
    const double bytes = share->element_bytes, tokens = share->tokens;
    *out = (struct layer_work){.entry = mixed + values + 2.0 * share->heads, .output = values};
    layer_product_add(
        out,
        (struct layer_product){
            {"gdn in", "gdn in dgrad", "gdn in wgrad"}, share->hidden, out->entry, 1.0, false});
    out->split_parameters = (double)z->conv * mixed + 2.0 * share->heads;
    out->whole_parameters = (double)z->head_size;
    delta_rule_before(out, tokens * mixed, tokens * 2.0 * keys, tokens * share->heads);
    delta_rule_after(out, tokens * values);
    layer_keep(out, "gdn conv input", tokens * mixed * bytes);
    layer_keep(out, "gdn conv output", tokens * mixed * bytes);
    layer_keep(out, "gdn output gate", tokens * values * bytes);
    layer_keep(out, "gdn gates", tokens * share->heads * (DELTA_FP32_BYTES + bytes));
    layer_keep(out, "gdn inverse", tokens * share->heads * DELTA_CHUNK * bytes);
    layer_keep(out, "gdn core output", tokens * values * bytes);
    const double read = mixed * bytes + share->heads * (DELTA_FP32_BYTES + bytes);
    const double inverse = share->heads * DELTA_CHUNK * bytes;
    delta_rule_core(out, (const char *[]){"gdn core", "gdn core gradient"},
                    &(struct delta_rule){.sizes = z,
                                         .tokens = tokens,
                                         .heads = share->heads,
                                         .flops_ratio = 1.0,
                                         .read_bytes = read,
                                         .inverse_bytes = inverse,
                                         .output_bytes = values * bytes});
}

/* Decay, the old value of a key, the new one and the query: four products of dk by dv, and as many
 * sums (NVIDIA/Megatron-LM megatron/training/training.py: 2 x 4 heads dk dv). */
#define STATE_FLOPS 8.0

const struct layer_kind layer_gdn = {
    .head = {.name = "gdn", .doc = "gated delta rule (Gated DeltaNet: Qwen3-Next, Qwen3.5)"},
    .letter = 'G',
    .refuse = refuse,
    .write = write,
    .state_flops = STATE_FLOPS,
};
