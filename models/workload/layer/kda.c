/* kda - Kimi delta attention (arXiv:2510.26692): a delta rule whose state decays by a gate for each
 * channel of the keys (moonshotai/Kimi-Linear-48B-A3B-Instruct modeling_kimi.py).
 *
 * n heads of q, k and v of d. The gate of the decay goes through a rank of d (h d + d n d), and so
 * does that of the output, which may be a full matrix (Kimi K3: linear_full_gate). Queries, keys,
 * values and b have a product of their own; what goes down to the ranks is whole on every tensor
 * rank. */
#include "models/workload/layer/layer_kind.h"

#include <stddef.h>

#include "models/workload/layer/delta_rule.h"

/* FLOPs of a chunk over those of gdn: keys and queries are scaled by their gates both ways, and the
 * products of a chunk with itself are made by blocks (1.4 to 1.8 by the formulas of
 * fla/ops/kda/chunk.py). On H20 (moonshotai/FlashKDA BENCHMARK_H20.md, FLA, 8,192 tokens) 4.505 ms
 * with 96 heads and 2.959 with 64: this says 4.50 and 3.04. */
#define FLOPS_RATIO 1.6
#define LOW_RANKS 2.0 /* of the decay and of the output */

static const char *refuse(const struct layer_sizes *sizes)
{
    return sizes->heads != sizes->key_heads || sizes->head_size != sizes->key_size
               ? "kda has as many heads of keys as of values, of one size: leave linear_key_heads "
                 "and linear_key_size out"
               : NULL;
}

static void write(const struct layer_share *share, struct layer_work *out)
{
    const struct layer_sizes *z = share->sizes;
    const double rank = (double)z->head_size, width = share->heads * rank;
    const double bytes = share->element_bytes, tokens = share->tokens;
    const double low = z->full_gate ? 1.0 : LOW_RANKS;
    const double direct = 3.0 * width + share->heads + (z->full_gate ? width : 0.0);
    *out = (struct layer_work){.entry = 5.0 * width + share->heads, .output = width};
    layer_product_add(
        out, (struct layer_product){
                 {"kda in", "kda in dgrad", "kda in wgrad"}, share->hidden, direct, 1.0, false});
    layer_product_add(out, (struct layer_product){{"kda down", "kda down dgrad", "kda down wgrad"},
                                                  share->hidden,
                                                  low * rank,
                                                  1.0,
                                                  true});
    layer_product_add(
        out, (struct layer_product){
                 {"kda gates", "kda gates dgrad", "kda gates wgrad"}, rank, width, low, false});
    out->split_parameters = 3.0 * (double)z->conv * width + width + share->heads;
    out->whole_parameters = rank;
    delta_rule_before(out, tokens * 3.0 * width, tokens * 2.0 * width, tokens * width);
    delta_rule_after(out, tokens * width);
    layer_keep(out, "kda conv input", tokens * 3.0 * width * bytes);
    layer_keep(out, "kda conv output", tokens * 3.0 * width * bytes);
    layer_keep_product(out, "kda low ranks", tokens * low * rank * bytes);
    layer_keep(out, "kda output gate", tokens * width * bytes);
    layer_keep(out, "kda gates", tokens * (width * DELTA_FP32_BYTES + share->heads * bytes));
    layer_keep(out, "kda inverse", tokens * share->heads * DELTA_CHUNK * bytes);
    layer_keep(out, "kda core output", tokens * width * bytes);
    delta_rule_core(out, (const char *[]){"kda core", "kda core gradient"},
                    &(struct delta_rule){.sizes = z,
                                         .tokens = tokens,
                                         .heads = share->heads,
                                         .flops_ratio = FLOPS_RATIO,
                                         .read_bytes = 3.0 * width * bytes +
                                                       width * DELTA_FP32_BYTES +
                                                       share->heads * bytes,
                                         .inverse_bytes = share->heads * DELTA_CHUNK * bytes,
                                         .output_bytes = width * bytes});
}

/* As gdn: a gate for each channel asks for no more products of the state. */
#define STATE_FLOPS 8.0

const struct layer_kind layer_kda = {
    .head = {.name = "kda", .doc = "Kimi delta attention (Kimi Linear, Kimi K3)"},
    .refuse = refuse,
    .write = write,
    .state_flops = STATE_FLOPS,
};
