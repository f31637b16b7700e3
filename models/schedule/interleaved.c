/* Interleaved 1F1B (Narayanan et al., arXiv:2104.04473, section 2.2.2) in Megatron-LM's order
 * (megatron/core/pipeline_parallel/schedules.py): microbatches go in groups of p through one chunk
 * after the other; stage i warms up with 2 (p - i - 1) + (v - 1) p passes of chunks. With one chunk
 * it is plain 1F1B, as in Megatron. */
#include <stddef.h>

#include "models/schedule/schedule_kind.h"

static const char *refuse(const struct schedule_shape *shape)
{
    if (shape->chunks > 1 && shape->microbatches % shape->stages != 0)
        return "interleaved needs microbatches that are a multiple of the pipeline stages";
    return NULL;
}

/* The k-th forward pass (or backward pass, chunks in reverse) of every stage. */
static struct pass nth_pass(const struct schedule_shape *shape, uint32_t k, enum pass_kind kind)
{
    uint32_t p = shape->stages, v = shape->chunks;
    uint32_t within = k % (p * v), chunk = within / p;
    uint32_t microbatch = k / (p * v) * p + within % p;
    if (kind == PASS_BACKWARD)
        chunk = v - 1 - chunk;
    return (struct pass){(uint8_t)kind, (uint8_t)chunk, (uint16_t)microbatch};
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    if (shape->chunks == 1)
        return schedule_one_f_one_b.write(shape, stage, out);
    uint32_t total = shape->microbatches * shape->chunks, count = 0;
    uint32_t warm_up = (shape->stages - stage - 1) * 2 + (shape->chunks - 1) * shape->stages;
    warm_up = warm_up < total ? warm_up : total;
    for (uint32_t k = 0; k < total + warm_up; k++) {
        if (k < total)
            out[count++] = nth_pass(shape, k, PASS_FORWARD);
        if (k >= warm_up)
            out[count++] = nth_pass(shape, k - warm_up, PASS_BACKWARD);
    }
    return count;
}

static double bubble_s(const struct schedule_shape *shape, double forward_s, double backward_s)
{
    return (double)(shape->stages - 1) * (forward_s + backward_s) / (double)shape->chunks;
}

const struct schedule_kind schedule_interleaved = {
    .head = {.name = "interleaved",
             .doc =
                 "1F1B over v chunks for each stage: the bubble shrinks by v, messages grow by v."},
    .interleaved = true,
    .refuse = refuse,
    .write = write,
    .bubble_s = bubble_s,
};
