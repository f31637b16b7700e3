/* schedule_kind.h - the contract of a pipeline schedule: the order of passes of each stage.
 *
 * Adding one: a file, a row in schedule_list.h, a line in models/schedule/CMakeLists.txt. A
 * schedule is a pure writer of passes; it never meets the event engine, kernels or sizes. Every
 * kind must pass the laws of tests/laws (each microbatch once forward and once backward for each
 * chunk, no deadlock, the closed-form bubble with equal passes and free sends where it states one).
 */
#ifndef ORRERY_MODELS_SCHEDULE_SCHEDULE_KIND_H
#define ORRERY_MODELS_SCHEDULE_SCHEDULE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/kind.h"

enum pass_kind {
    PASS_FORWARD,
    PASS_BACKWARD,
    PASS_KIND_COUNT
};
struct pass {
    uint8_t kind;
    uint8_t chunk; /* of this stage, 0 .. vpp-1; global chunk = chunk x stages + stage */
    uint16_t microbatch;
};
struct schedule_shape {
    uint32_t stages, chunks, microbatches;
    const struct kind_options *options; /* of the kind; NULL: it has none */
};
struct schedule_kind {
    struct kind head;
    bool interleaved; /* uses chunks > 1 */
    /* NULL when this shape can be scheduled, else one sentence (interleaved: the microbatches must
     * be a multiple of the stages). */
    const char *(*refuse)(const struct schedule_shape *shape);
    /* Writes the passes of one stage in order; returns their number. `out` has room for
     * 2 x chunks x microbatches. */
    uint32_t (*write)(const struct schedule_shape *shape, uint32_t stage, struct pass *out);
    /* Closed form, for the laws: idle time of a stage in a step with equal passes of forward_s and
     * backward_s for a whole stage (all chunks) and free sends. NULL: none is known. */
    double (*bubble_s)(const struct schedule_shape *shape, double forward_s, double backward_s);
};
#define X(name) extern const struct schedule_kind schedule_##name;
#include "models/schedule/schedule_list.h"
#undef X
KIND_FAMILY(schedule)

#endif
