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
    PASS_FORWARD_PAIRED, /* with the whole backward behind it: both receive first, and send last */
    PASS_BACKWARD,       /* whole: the gradients of inputs and of weights */
    PASS_BACKWARD_INPUT, /* the gradients of inputs alone */
    PASS_WEIGHTS,        /* those of weights, of a microbatch whose inputs have theirs */
    PASS_KIND_COUNT
};
struct pass {
    uint8_t kind;
    uint8_t chunk; /* of this stage */
    uint16_t microbatch;
};
/* Which parts of the model a rank holds, of those that microbatches pass through in turn. */
enum schedule_placement {
    PLACED_ROUND,    /* chunk x stages + stage: each part hands on to the next rank */
    PLACED_V,        /* two chunks, stage and 2 stages - 1 - stage: down the ranks and back */
    PLACED_BOTH_WAYS /* two chunks, stage and stages - 1 - stage: each part is held twice, and half
                        of the microbatches enter at either end */
};
struct schedule_shape {
    uint32_t stages, chunks, microbatches; /* ranks of the pipeline, layout.vpp, of a step */
    const struct kind_options *options;    /* of the kind; NULL: it has none */
};
/* What an order that is made of times goes by. */
struct pass_costs {
    const double *forward_s, *input_s, *weights_s; /* by part */
    /* What a forward keeps, and what stays of it from the input pass to that of the weights. */
    const double *kept_bytes, *late_bytes;
    double transfer_s; /* of a message */
};
struct schedule_kind {
    struct kind head;
    bool interleaved; /* uses chunks > 1 */
    bool splits;      /* writes passes of inputs and of weights apart */
    bool pairs;       /* writes forwards that are paired with the backward behind them */
    /* Its software lets every stage update its weights by itself, and looks at the norm of all
     * gradients later: a rank goes on to the next step when it has done its own passes. */
    bool steps_alone;
    bool holds_all;  /* every microbatch of a step stays until all have gone forward */
    uint32_t chunks; /* what layout.vpp must be; 0: 1, or what `interleaved` allows */
    enum schedule_placement placement;
    /* NULL when this shape can be scheduled, else one sentence (interleaved: the microbatches must
     * be a multiple of the stages). */
    const char *(*refuse)(const struct schedule_shape *shape);
    /* Writes the passes of one stage in order; returns their number. `out` has room for
     * schedule_room. */
    uint32_t (*write)(const struct schedule_shape *shape, uint32_t stage, struct pass *out);
    /* The same by times; NULL: the order does not depend on them. `write` then takes all passes for
     * equal and messages for free. */
    uint32_t (*write_timed)(const struct schedule_shape *shape, const struct pass_costs *costs,
                            uint32_t stage, struct pass *out);
    /* Closed form, for the laws: idle time of a stage in a step with equal passes of forward_s and
     * backward_s for a whole stage (all chunks) and free sends. NULL: none is known. */
    double (*bubble_s)(const struct schedule_shape *shape, double forward_s, double backward_s);
    /* The same of one that splits: idle time between the first pass of the worst rank and its last.
     * NULL: none is known. */
    double (*split_bubble_s)(const struct schedule_shape *shape, double forward_s, double input_s,
                             double weights_s);
};
#define X(name) extern const struct schedule_kind schedule_##name;
#include "models/schedule/schedule_list.h"
#undef X
KIND_FAMILY(schedule)

/* Chunks that a rank holds; parts of the model that microbatches pass through. */
uint32_t schedule_chunks(const struct schedule_kind *kind, const struct schedule_shape *shape);
uint32_t schedule_parts(const struct schedule_kind *kind, const struct schedule_shape *shape);
/* The part that is this chunk of this stage. */
uint32_t schedule_part(const struct schedule_kind *kind, const struct schedule_shape *shape,
                       uint32_t stage, uint32_t chunk);
/* Passes of a stage at most. */
uint32_t schedule_room(const struct schedule_kind *kind, const struct schedule_shape *shape);
/* The order of a stage by these costs; NULL: all are equal. */
uint32_t schedule_write(const struct schedule_kind *kind, const struct schedule_shape *shape,
                        const struct pass_costs *costs, uint32_t stage, struct pass *out);
static inline bool pass_is_forward(const struct pass *pass)
{
    return pass->kind == PASS_FORWARD || pass->kind == PASS_FORWARD_PAIRED;
}
/* Does it make the gradients of weights? */
static inline bool pass_ends_microbatch(const struct pass *pass)
{
    return pass->kind == PASS_BACKWARD || pass->kind == PASS_WEIGHTS;
}

#endif
