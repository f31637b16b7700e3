/* lower_data.h - a part of a stage that is lowered: data parallelism, which gradients and weights
 * are sent when. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_DATA_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_DATA_H

#include "models/lower/stage/lower_memory.h"
#include "models/lower/stage/lower_traffic.h"

struct data_parallel {
    const struct lowering *l;
    const struct units *units;
    struct labels *labels;
    struct ops *ops;
    struct late *late;
    struct step_memory *memory;
    uint32_t stage;
    struct data_traffic traffic;
    /* [unit] gather of updated parameters that its first forward waits for, OP_NONE: none. */
    uint32_t *first_waits[DATA_PART_COUNT];
    uint32_t *gathers[DATA_PART_COUNT]; /* [group] the op that gathered its weights last, OP_NONE */
};
struct data_parts { /* of the stage, borrowed */
    struct labels *labels;
    struct ops *ops;
    struct late *late;
    struct step_memory *memory;
    uint32_t stage;
};
/* Sends what the step before has updated, where that arrives beside the first forward. */
void lower_data_begin(struct data_parallel *d, const struct lowering *l, const struct units *units,
                      const struct data_parts *parts);
/* Is nothing issued and nothing waited for among the units of this pass? */
bool lower_data_quiet(const struct data_parallel *d, const struct pass *pass);
void lower_data_quiet_begin(struct data_parallel *d); /* ... and it begins */
void lower_data_unit_begin(struct data_parallel *d, const struct pass *pass, uint32_t unit);
void lower_data_unit_gradient(struct data_parallel *d, uint32_t unit); /* its backward is written */
void lower_data_unit_end(struct data_parallel *d, const struct pass *pass, uint32_t unit);
void lower_data_pass_end(struct data_parallel *d, const struct pass *pass); /* output handed on */
/* After all passes: what has not left during the backward, waited for. */
void lower_data_reduce_rest(struct data_parallel *d);
/* After the update: what is gathered at once. */
void lower_data_gather_updated(struct data_parallel *d);

#endif
