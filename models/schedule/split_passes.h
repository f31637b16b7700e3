/* split_passes.h - a tool of the schedules that run the gradients of inputs and of weights apart:
 * the passes of one stage as they are written, each kind of a chunk in the order of microbatches.
 */
#ifndef ORRERY_MODELS_SCHEDULE_SPLIT_PASSES_H
#define ORRERY_MODELS_SCHEDULE_SPLIT_PASSES_H

#include "models/schedule/schedule_kind.h"

enum {
    SPLIT_CHUNKS = 2
};
struct split_passes {
    struct pass *out;
    uint32_t count, microbatches;
    uint32_t next[SPLIT_CHUNKS][PASS_KIND_COUNT]; /* microbatch */
};
/* The next pass of this kind; none when all microbatches have had theirs. A pass of weights only
 * where the input pass before it has been written, too. */
void split_passes_add(struct split_passes *s, enum pass_kind kind, uint32_t chunk);
/* The rest of what the weights still need. */
void split_passes_drain(struct split_passes *s, uint32_t chunk);

/* What refuses a schedule of one chunk, or of two, that needs a pipeline. */
const char *split_passes_refuse(const struct schedule_shape *shape, uint32_t chunks,
                                const char *other_chunks);
/* p - r forwards or more, then an input pass, one of weights as far behind as `late`, and a forward
 * in turn; then the rest of the weights. */
uint32_t split_passes_one_chunk(const struct schedule_shape *shape, uint32_t warm_up, uint32_t late,
                                struct pass *out);

#endif
