/* DualPipeV (deepseek-ai/DualPipe dualpipe/dualpipev.py; the cut in half of DualPipe): half as many
 * ranks, each with the chunks r and 2p - 1 - r of 2p, and one copy of the weights. The order is
 * that of DualPipe's ranks 0 .. p/2 - 1, the way down standing for one end and the way back for the
 * other. */
#include <stddef.h>

#include "models/schedule/dual_passes.h"

static const char *refuse(const struct schedule_shape *shape)
{
    if (shape->chunks != 2)
        return "dualpipe-v has two chunks for each stage: layout.vpp must be 2";
    if (shape->stages < 2)
        return "dualpipe-v needs a pipeline: layout.pp must be 2 or more";
    if (shape->microbatches < 2 * shape->stages)
        return "dualpipe-v needs 2 pp microbatches or more";
    return NULL;
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    const struct dual_passes order = {
        .depth = shape->stages,
        .place = stage,
        .pairs = shape->microbatches - 2 * shape->stages,
        .chunk_of_phase = {0, 1},
    };
    return dual_passes_write(&order, out);
}

/* Passes of a whole stage: those of a chunk are half as long. */
static double split_bubble_s(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s)
{
    const double whole_s = input_s + weights_s;
    return ((double)shape->stages - 1.0) * (forward_s + 2.0 * whole_s - 3.0 * weights_s) / 2.0;
}

const struct schedule_kind schedule_dualpipe_v = {
    .head = {.name = "dualpipe-v",
             .doc = "DualPipe cut in half: two chunks per rank in a V, forward and backward in "
                    "pairs, one copy of the weights."},
    .interleaved = true,
    .splits = true,
    .pairs = true,
    .chunks = 2,
    .placement = PLACED_V,
    .refuse = refuse,
    .write = write,
    .split_bubble_s = split_bubble_s,
};
