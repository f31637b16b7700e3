/* ZB-V (Qi et al., arXiv:2405.15362, section 4.2; the order of pytorch
 * torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble): two chunks of half a stage, so
 * placed that a microbatch goes down the ranks and back up. With tF = tB = tW no rank idles between
 * its first pass and its last, and none keeps more than 1F1B's first: p microbatches of a whole
 * stage. Embedding and loss are both on rank 0. */
#include <stddef.h>

#include "models/schedule/split_passes.h"

static const char *refuse(const struct schedule_shape *shape)
{
    const char *no =
        split_passes_refuse(shape, 2, "zb-v has two chunks for each stage: layout.vpp must be 2");
    if (no != NULL)
        return no;
    return shape->microbatches + 1 < 2 * shape->stages
               ? "zb-v needs 2 pp - 1 microbatches or more to fill its ranks"
               : NULL;
}

static void add_all(struct split_passes *s, uint32_t chunk)
{
    split_passes_add(s, PASS_FORWARD, chunk);
    split_passes_add(s, PASS_BACKWARD_INPUT, chunk);
    split_passes_add(s, PASS_WEIGHTS, chunk);
}

static void cool_down(struct split_passes *s, uint32_t before, uint32_t behind)
{
    for (uint32_t i = 0; i < before; i++) {
        split_passes_add(s, PASS_BACKWARD_INPUT, 0);
        split_passes_add(s, PASS_BACKWARD_INPUT, 1);
    }
    for (uint32_t i = 0; i < behind; i++) {
        split_passes_add(s, PASS_BACKWARD_INPUT, 0);
        split_passes_add(s, PASS_WEIGHTS, 0);
    }
    split_passes_drain(s, 1);
    split_passes_drain(s, 0);
}

static uint32_t write(const struct schedule_shape *shape, uint32_t stage, struct pass *out)
{
    struct split_passes s = {.out = out, .microbatches = shape->microbatches};
    const uint32_t behind = shape->stages - stage;
    for (uint32_t i = 0; i + 1 < 2 * behind; i++)
        split_passes_add(&s, PASS_FORWARD, 0);
    for (uint32_t i = 0; i < stage; i++) {
        split_passes_add(&s, PASS_FORWARD, 1);
        split_passes_add(&s, PASS_FORWARD, 0);
    }
    for (uint32_t i = 0; i < behind; i++)
        add_all(&s, 1);
    while (s.next[1][PASS_FORWARD] < shape->microbatches) {
        add_all(&s, 0);
        add_all(&s, 1);
    }
    cool_down(&s, stage, behind);
    return s.count;
}

static double split_bubble_s(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s)
{
    const bool equal = forward_s == input_s && input_s == weights_s;
    return equal && shape->stages > 0 ? 0.0 : -1.0;
}

const struct schedule_kind schedule_zb_v = {
    .head = {.name = "zb-v",
             .doc = "Two half chunks per rank in a V: no bubble with equal passes, the memory of "
                    "1F1B, twice its messages."},
    .interleaved = true,
    .splits = true,
    .steps_alone = true,
    .chunks = 2,
    .placement = PLACED_V,
    .refuse = refuse,
    .write = write,
    .split_bubble_s = split_bubble_s,
};
