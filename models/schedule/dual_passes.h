/* dual_passes.h - the order of DualPipe and DualPipeV, in the words of both: passes of phase 0 come
 * from the nearer end of the pipeline (DualPipe) or go down it (DualPipeV), those of phase 1 come
 * from the other end, or back. */
#ifndef ORRERY_MODELS_SCHEDULE_DUAL_PASSES_H
#define ORRERY_MODELS_SCHEDULE_DUAL_PASSES_H

#include "models/schedule/schedule_kind.h"

struct dual_passes {
    uint32_t depth; /* ranks from an end to the middle */
    uint32_t place; /* of this rank, from its end: 0 .. depth - 1 */
    uint32_t pairs; /* rounds of pairs of the outermost rank, less one */
    uint32_t chunk_of_phase[2];
    uint32_t first_of_chunk[2]; /* microbatch */
};
uint32_t dual_passes_write(const struct dual_passes *order, struct pass *out);

#endif
