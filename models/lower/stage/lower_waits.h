/* lower_waits.h - what the next op of a stage waits for. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_WAITS_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_WAITS_H

#include "models/program/program.h"

/* Ops that the next op must wait for; more than two are joined by empty ops. */
enum {
    WAITS_MAX = 8
};
struct waits {
    uint32_t op[WAITS_MAX];
    unsigned count;
};
void lower_waits_add(struct waits *waits, uint32_t op); /* OP_NONE and repeats are left out */
/* Fills `wait` and empties the list; writes joins (empty compute) for what does not fit in two. */
void lower_waits_take(struct waits *waits, struct program_writer *w, uint32_t wait[2]);

#endif
