/* ZB-H1 (Qi et al., arXiv:2401.10241, section 2.1 and figure 2): 1F1B with the gradients of the
 * weights put off by as many microbatches as there are stages before this one. No rank keeps more
 * than p microbatches, counted to the end of their weights' pass; the bubble is
 * (p - 1)(tF + tB - tW), tB being the input pass. */
#include <stddef.h>

#include "models/schedule/split_passes.h"

static const char *refuse(const struct schedule_shape *shape)
{
    return split_passes_refuse(shape, 1,
                               "zb-h1 has one chunk for each stage: layout.vpp must be 1");
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    return split_passes_one_chunk(shape, shape->stages - stage, stage, out);
}

static double split_bubble_s(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s)
{
    return (double)(shape->stages - 1) * (forward_s + input_s - weights_s);
}

const struct schedule_kind schedule_zb_h1 = {
    .head = {.name = "zb-h1",
             .doc = "1F1B with weight gradients computed later, in the bubble: a third of its "
                    "bubble, p microbatches on every rank."},
    .splits = true,
    .steps_alone = true,
    .refuse = refuse,
    .write = write,
    .split_bubble_s = split_bubble_s,
};
