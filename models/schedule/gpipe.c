/* GPipe (Huang et al., arXiv:1811.06965, figure 2c): all forward passes, then all backward passes,
 * here in the order of the forward ones, as nanotron (AllForwardAllBackward) and
 * torch.distributed.pipelining (ScheduleGPipe) run it. */
#include <stddef.h>

#include "models/schedule/schedule_kind.h"

static const char *refuse(const struct schedule_shape *shape)
{
    return shape->chunks > 1 ? "gpipe has one chunk for each stage: layout.vpp must be 1" : NULL;
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    (void)stage;
    uint32_t m = shape->microbatches;
    for (uint32_t i = 0; i < m; i++) {
        out[i] = (struct pass){PASS_FORWARD, 0, (uint16_t)i};
        out[m + i] = (struct pass){PASS_BACKWARD, 0, (uint16_t)i};
    }
    return 2 * m;
}

static double bubble_s(const struct schedule_shape *shape, double forward_s, double backward_s)
{
    return (double)(shape->stages - 1) * (forward_s + backward_s);
}

const struct schedule_kind schedule_gpipe = {
    .head = {.name = "gpipe",
             .doc =
                 "All forward passes, then all backward passes; every microbatch stays in memory."},
    .holds_all = true,
    .refuse = refuse,
    .write = write,
    .bubble_s = bubble_s,
};
