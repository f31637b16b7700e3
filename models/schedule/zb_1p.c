/* ZB-1p (Qi et al., arXiv:2401.10241, section 3): the order that a greedy rule makes of the times
 * of the passes, with no more kept on a rank than p forwards keep, as 1F1B's first. */
#include <stddef.h>

#include "models/schedule/split_passes.h"
#include "models/schedule/zb_greedy.h"

enum {
    PIPELINES_KEPT = 1
};

static const char *refuse(const struct schedule_shape *shape)
{
    return split_passes_refuse(shape, 1,
                               "zb-1p has one chunk for each stage: layout.vpp must be 1");
}

static uint32_t write_timed(const struct schedule_shape *shape, const struct pass_costs *costs,
                            uint32_t stage, struct pass *out)
{
    return zb_greedy_write(shape, PIPELINES_KEPT * shape->stages, costs, stage, out);
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    return zb_greedy_write(shape, PIPELINES_KEPT * shape->stages, NULL, stage, out);
}

const struct schedule_kind schedule_zb_1p = {
    .head = {.name = "zb-1p",
             .doc = "Passes ordered by their times, in the memory of 1F1B: p microbatches."},
    .splits = true,
    .steps_alone = true,
    .refuse = refuse,
    .write = write,
    .write_timed = write_timed,
};
