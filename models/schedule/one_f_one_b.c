/* 1F1B (PipeDream-flush; Narayanan et al., arXiv:2104.04473, section 2.2.1): stage i runs
 * p - i - 1 forward passes to warm up, then one forward and one backward in turn, then drains. At
 * most min(p - i, m) microbatches are in flight on stage i. */
#include <stddef.h>

#include "models/schedule/schedule_kind.h"

static const char *refuse(const struct schedule_shape *shape)
{
    return shape->chunks > 1
               ? "1f1b has one chunk for each stage: layout.vpp > 1 needs schedule interleaved"
               : NULL;
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    uint32_t m = shape->microbatches, warm_up = shape->stages - stage - 1, count = 0;
    for (uint32_t i = 0; i < m + warm_up; i++) {
        if (i < m)
            out[count++] = (struct pass){PASS_FORWARD, 0, (uint16_t)i};
        if (i >= warm_up)
            out[count++] = (struct pass){PASS_BACKWARD, 0, (uint16_t)(i - warm_up)};
    }
    return count;
}

static double bubble_s(const struct schedule_shape *shape, double forward_s, double backward_s)
{
    return (double)(shape->stages - 1) * (forward_s + backward_s);
}

const struct schedule_kind schedule_one_f_one_b = {
    .head = {.name = "1f1b",
             .doc = "One forward, one backward in turn: stage i keeps at most p - i microbatches."},
    .refuse = refuse,
    .write = write,
    .bubble_s = bubble_s,
};
