/* lightning - linear attention with a fixed decay for each head (Qin et al., arXiv:2401.04658), as
 * MiniMax-Text-01 has it (arXiv:2501.08313; MiniMaxAI/MiniMax-Text-01
 * modeling_minimax_text_01.py).
 *
 * a heads of q, k and v of d through one product and an activation; a gate of the same width on the
 * normed output. The decay is no parameter. By blocks of 256: the products of a block with itself,
 * half of them, keys into the state, the state out to queries. */
#include "models/workload/layer/layer_kind.h"

#include <stddef.h>

#define BLOCK 256.0
#define FP32_BYTES 4.0
/* No table of these kernels is published. They have the products of gdn's walk without its inverse:
 * as many SM-cycles for each FLOP as that one has (245 of 180,224), assumed. */
#define CYCLES_PER_FLOP (245.0 / 180224.0)
#define BACKWARD_RATIO 2.5 /* scores again, two gradients of each product (assumed) */
/* 16 bits: read, written; back, input and gradient read, one written. */
#define BEFORE_FORWARD_BYTES 4.0
#define BEFORE_BACKWARD_BYTES 6.0
#define AFTER_FORWARD_BYTES 6.0
#define AFTER_BACKWARD_BYTES 10.0

static const char *refuse(const struct layer_sizes *sizes)
{
    return sizes->heads != sizes->key_heads || sizes->head_size != sizes->key_size
               ? "lightning has as many heads of keys as of values, of one size: leave "
                 "linear_key_heads and linear_key_size out"
               : NULL;
}

static void write(const struct layer_share *share, struct layer_work *out)
{
    const struct layer_sizes *z = share->sizes;
    const double size = (double)z->head_size, width = share->heads * size;
    const double bytes = share->element_bytes, tokens = share->tokens;
    *out = (struct layer_work){.entry = 4.0 * width, .output = width};
    layer_product_add(
        out, (struct layer_product){{"lightning in", "lightning in dgrad", "lightning in wgrad"},
                                    share->hidden,
                                    out->entry,
                                    1.0,
                                    false});
    out->split_parameters = width; /* of the norm */
    out->before = (struct layer_stream){"activation", "activation gradient",
                                        tokens * 3.0 * width * BEFORE_FORWARD_BYTES,
                                        tokens * 3.0 * width * BEFORE_BACKWARD_BYTES, 1.0};
    out->after = (struct layer_stream){"output norm and gate", "output norm and gate gradient",
                                       tokens * width * AFTER_FORWARD_BYTES,
                                       tokens * width * AFTER_BACKWARD_BYTES, 1.0};
    layer_keep(out, "lightning activation input", tokens * 3.0 * width * bytes);
    layer_keep(out, "lightning activation output", tokens * 3.0 * width * bytes);
    layer_keep(out, "lightning output gate", tokens * width * bytes);
    layer_keep(out, "lightning core output", tokens * width * bytes);
    const double flops = tokens * width * (4.0 * size + 2.0 * BLOCK);
    const double states = 2.0 * width * size / BLOCK * FP32_BYTES;
    const struct scan_shape shape = {.flops = flops,
                                     .bytes = tokens * (4.0 * width * bytes + states),
                                     .cycles = flops * CYCLES_PER_FLOP,
                                     .stream_ratio = 1.0};
    layer_core(out, (const char *[]){"lightning core", "lightning core gradient"}, &shape,
               BACKWARD_RATIO, tokens * (8.0 * width * bytes + 2.0 * states));
}

/* Keys into the state, the state out to queries. */
#define STATE_FLOPS 4.0

const struct layer_kind layer_lightning = {
    .head = {.name = "lightning",
             .doc = "linear attention with a fixed decay (lightning attention: MiniMax-Text-01)"},
    .refuse = refuse,
    .write = write,
    .state_flops = STATE_FLOPS,
};
