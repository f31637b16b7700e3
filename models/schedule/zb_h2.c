/* ZB-H2 (Qi et al., arXiv:2401.10241, section 2.2 and figure 3): as many more forwards before the
 * first backward as fill the wait for it, and the gradients of the weights put off by twice the
 * stages before this one. 2p - 1 microbatches stay on every rank; the bubble between a rank's first
 * pass and its last is (p - 1)(tF + tB - 2 tW). Ranks begin and end one after the other: a step is
 * that short only where they update their weights alone. */
#include <stddef.h>

#include "models/schedule/split_passes.h"

static const char *refuse(const struct schedule_shape *shape)
{
    return split_passes_refuse(shape, 1,
                               "zb-h2 has one chunk for each stage: layout.vpp must be 1");
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    return split_passes_one_chunk(shape, 2 * (shape->stages - stage) - 1, 2 * stage, out);
}

static double split_bubble_s(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s)
{
    const double each_s = forward_s + input_s - 2.0 * weights_s;
    return each_s > 0.0 ? (double)(shape->stages - 1) * each_s : 0.0;
}

const struct schedule_kind schedule_zb_h2 = {
    .head = {.name = "zb-h2",
             .doc = "Weight gradients fill the whole bubble if passes are equal, for twice the "
                    "memory: 2p - 1 microbatches on every rank."},
    .splits = true,
    .steps_alone = true,
    .refuse = refuse,
    .write = write,
    .split_bubble_s = split_bubble_s,
};
