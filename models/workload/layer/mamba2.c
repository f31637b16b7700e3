/* mamba2 - state space duality (Dao and Gu, arXiv:2405.21060), as Nemotron-H has it
 * (state-spaces/mamba mamba_ssm/modules/mamba2.py, NVIDIA/Megatron-LM
 * megatron/core/ssm/mamba_mixer.py).
 *
 * di = heads x P is the inner width, with G groups of B and C of N. One product makes z, x, B, C
 * and dt; a convolution with a bias sees x, B and C; a head has A, D and a bias of dt; z gates the
 * output through a norm of di.
 *
 * The core is five Triton kernels (mamba_ssm/ops/triton/ssd_combined.py): sums of dt, products of C
 * and B inside a chunk, a state for each chunk, the walk over these states, the scan. It is bound
 * by what they hand on through HBM. */
#include "models/workload/layer/layer_kind.h"

#include <stddef.h>

#define FP32_BYTES 4.0
#define USUAL_CHUNK 256.0
/* Of the streaming rate: the middle of what is told of these kernels, 35 to 50 %. Not published as
 * a table: software.scan_time carries the error. */
#define STREAM_RATIO 0.42
/* States are made again, and each product has two gradients: twice the forward's traffic and the
 * forward's states (assumed). */
#define BACKWARD_RATIO 2.5
/* 16 bits: read, written; back, input and gradient read, one written, and the output made again. */
#define CONV_FORWARD_BYTES 4.0
#define CONV_BACKWARD_BYTES 8.0
#define AFTER_FORWARD_BYTES 6.0
#define AFTER_BACKWARD_BYTES 10.0
#define STATE_PASSES 4.0 /* of a chunk's: written, read and written by the walk, read by the scan */

static const char *refuse(const struct layer_sizes *sizes)
{
    return sizes->heads % sizes->key_heads != 0
               ? "heads (linear_heads) are not divisible by groups (linear_key_heads)"
               : NULL;
}

static double chunk_of(const struct layer_sizes *z)
{
    return z->chunk > 0 ? (double)z->chunk : USUAL_CHUNK;
}

/* Inside a chunk: the scores of a group, half of them, and their products with x; then x into the
 * state and the state out to y. */
static double chunk_flops(const struct layer_share *share)
{
    const struct layer_sizes *z = share->sizes;
    const double inner = share->heads * (double)z->head_size, state = (double)z->key_size;
    return inner * (4.0 * state + chunk_of(z)) + 2.0 * chunk_of(z) * state * share->key_heads;
}

static void write_core(const struct layer_share *share, struct layer_work *out)
{
    const struct layer_sizes *z = share->sizes;
    const double inner = share->heads * (double)z->head_size, state = (double)z->key_size;
    const double groups = share->key_heads * state, bytes = share->element_bytes;
    /* x by two kernels, B and C by two each, scores in fp32 written and read, dt with its sums, y.
     */
    const double each = 2.0 * inner * bytes + 4.0 * groups * bytes +
                        2.0 * share->key_heads * chunk_of(z) * FP32_BYTES +
                        4.0 * share->heads * FP32_BYTES + inner * bytes +
                        STATE_PASSES * inner * state * FP32_BYTES / chunk_of(z);
    const struct scan_shape shape = {.flops = share->tokens * chunk_flops(share),
                                     .bytes = share->tokens * each,
                                     .stream_ratio = STREAM_RATIO};
    layer_core(out, (const char *[]){"mamba2 core", "mamba2 core gradient"}, &shape, BACKWARD_RATIO,
               BACKWARD_RATIO * shape.bytes);
    out->core.launches = 5.0;
    out->core_gradient.launches = 8.0; /* ssd_combined.py, _mamba_chunk_scan_combined_bwd */
}

static void write(const struct layer_share *share, struct layer_work *out)
{
    const struct layer_sizes *z = share->sizes;
    const double inner = share->heads * (double)z->head_size;
    const double mixed = inner + 2.0 * share->key_heads * (double)z->key_size;
    const double bytes = share->element_bytes, tokens = share->tokens;
    *out = (struct layer_work){.entry = inner + mixed + share->heads, .output = inner};
    layer_product_add(out,
                      (struct layer_product){{"mamba2 in", "mamba2 in dgrad", "mamba2 in wgrad"},
                                             share->hidden,
                                             out->entry,
                                             1.0,
                                             false});
    out->split_parameters = ((double)z->conv + 1.0) * mixed + 3.0 * share->heads + inner;
    out->before = (struct layer_stream){"convolution", "convolution gradient",
                                        tokens * mixed * CONV_FORWARD_BYTES,
                                        tokens * mixed * CONV_BACKWARD_BYTES, 1.0};
    out->after = (struct layer_stream){"output norm and gate", "output norm and gate gradient",
                                       tokens * inner * AFTER_FORWARD_BYTES,
                                       tokens * inner * AFTER_BACKWARD_BYTES, 1.0};
    /* The output of the convolution and the states are made again (ssd_combined.py). */
    layer_keep(out, "mamba2 conv input", tokens * mixed * bytes);
    layer_keep(out, "mamba2 output gate", tokens * inner * bytes);
    layer_keep(out, "mamba2 dt", tokens * share->heads * FP32_BYTES);
    layer_keep(out, "mamba2 core output", tokens * inner * bytes);
    write_core(share, out);
}

/* NVIDIA/Megatron-LM megatron/training/training.py: 7 di N. */
#define STATE_FLOPS 7.0

const struct layer_kind layer_mamba2 = {
    .head = {.name = "mamba2", .doc = "state space duality (Mamba-2: Nemotron-H, Nemotron 3)"},
    .letter = 'M',
    .refuse = refuse,
    .write = write,
    .state_flops = STATE_FLOPS,
};
