#include "models/schedule/split_passes.h"

#include <stddef.h>

void split_passes_add(struct split_passes *s, enum pass_kind kind, uint32_t chunk)
{
    uint32_t *next = s->next[chunk];
    const uint32_t room = kind == PASS_WEIGHTS ? next[PASS_BACKWARD_INPUT] : s->microbatches;
    if (next[kind] < room)
        s->out[s->count++] = (struct pass){(uint8_t)kind, (uint8_t)chunk, (uint16_t)next[kind]++};
}

void split_passes_drain(struct split_passes *s, uint32_t chunk)
{
    while (s->next[chunk][PASS_WEIGHTS] < s->next[chunk][PASS_BACKWARD_INPUT])
        split_passes_add(s, PASS_WEIGHTS, chunk);
}

const char *split_passes_refuse(const struct schedule_shape *shape, uint32_t chunks,
                                const char *other_chunks)
{
    if (shape->chunks != chunks)
        return other_chunks;
    return shape->stages < 2 ? "passes of inputs and of weights are run apart to fill the bubble "
                               "of a pipeline: layout.pp must be 2 or more"
                             : NULL;
}

uint32_t split_passes_one_chunk(const struct schedule_shape *shape, uint32_t warm_up, uint32_t late,
                                struct pass *out)
{
    struct split_passes s = {.out = out, .microbatches = shape->microbatches};
    for (uint32_t i = 0; i < warm_up; i++)
        split_passes_add(&s, PASS_FORWARD, 0);
    for (uint32_t i = 0; i < shape->microbatches; i++) {
        split_passes_add(&s, PASS_BACKWARD_INPUT, 0);
        if (i >= late)
            split_passes_add(&s, PASS_WEIGHTS, 0);
        split_passes_add(&s, PASS_FORWARD, 0);
    }
    split_passes_drain(&s, 0);
    return s.count;
}
