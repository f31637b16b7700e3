/* DualPipe (DeepSeek-V3, arXiv:2412.19437, section 3.2.1; the order of deepseek-ai/DualPipe
 * dualpipe/dualpipe.py): microbatches enter at both ends of the pipeline, so a rank holds the
 * stages r and p - 1 - r, with weights and gradients of both; forward and backward passes of
 * different microbatches run in pairs, whose communication hides behind each other's products. At
 * most p + 1 microbatches stay on a rank; its authors give the bubble as (p/2 - 1)(F&B + B - 3W), B
 * being the whole backward. */
#include <stddef.h>

#include "models/schedule/dual_passes.h"

static const char *refuse(const struct schedule_shape *shape)
{
    if (shape->chunks != 1)
        return "dualpipe puts two stages on every rank by itself: layout.vpp must be 1";
    if (shape->stages < 2 || shape->stages % 2 != 0)
        return "dualpipe runs from both ends to the middle: layout.pp must be even";
    if (shape->microbatches % 2 != 0 || shape->microbatches < 2 * shape->stages)
        return "dualpipe needs an even number of microbatches, 2 pp or more";
    return NULL;
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    const uint32_t half = shape->stages / 2, each = shape->microbatches / 2;
    const bool far = stage >= half;
    const struct dual_passes order = {
        .depth = half,
        .place = far ? shape->stages - 1 - stage : stage,
        .pairs = each - shape->stages,
        .chunk_of_phase = {far ? 1 : 0, far ? 0 : 1},
        .first_of_chunk = {0, each},
    };
    return dual_passes_write(&order, out);
}

static double split_bubble_s(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s)
{
    const double whole_s = input_s + weights_s;
    return ((double)shape->stages / 2.0 - 1.0) * (forward_s + 2.0 * whole_s - 3.0 * weights_s);
}

const struct schedule_kind schedule_dualpipe = {
    .head = {.name = "dualpipe",
             .doc = "Microbatches from both ends, forward and backward in pairs: half the bubble "
                    "of zb-h1, two copies of the weights."},
    .splits = true,
    .pairs = true,
    .placement = PLACED_BOTH_WAYS,
    .refuse = refuse,
    .write = write,
    .split_bubble_s = split_bubble_s,
};
