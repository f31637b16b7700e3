/* ZB-2p (Qi et al., arXiv:2401.10241, section 3): the order that a greedy rule makes of the times
 * of the passes, with no more kept on a rank than 2p forwards keep, twice 1F1B's. */
#include <stddef.h>

#include "models/schedule/split_passes.h"
#include "models/schedule/zb_greedy.h"

enum {
    PIPELINES_KEPT = 2
};

static const char *refuse(const struct schedule_shape *shape)
{
    return split_passes_refuse(shape, 1,
                               "zb-2p has one chunk for each stage: layout.vpp must be 1");
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

const struct schedule_kind schedule_zb_2p = {
    .head = {.name = "zb-2p",
             .doc = "Passes ordered by their times, in twice the memory of 1F1B: 2p microbatches."},
    .splits = true,
    .steps_alone = true,
    .refuse = refuse,
    .write = write,
    .write_timed = write_timed,
};
