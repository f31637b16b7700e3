/* law_before.h - happens-before over the programs of a step: does every op wait for the ops that
 * make what it reads, and is what is owed posted?
 *
 * Nothing is played. What must come before what follows from the contracts alone: the segments of
 * transformer.h (which transfer carries what, and what may run meanwhile), the passes of the
 * schedule, the facts of the sharding and of the software. Each op gets a clock: for every stream
 * the last op that has finished when it begins, whatever the times are. An op that must wait for
 * another has that other in its clock; one that must not run beside another without a flag has it
 * too. What is checked, by name of the rule:
 *   message   an output leaves when the pass has made it; a pass begins when its input is there;
 *             blocking software goes on when its send has left
 *   transfer  tensor and context transfers of a unit: as many, as large and in the order that the
 *             segments say; each after the compute that made it, the next compute after it, or
 *             the one after that where the contract lets it run beside
 *   gather    weights of units: one for each group that is not there, before its compute, and no
 *             more than `prefetch` groups ahead
 *   reduce    gradients leave after the backward passes that made them, all of them, once
 *   update    norm after the reductions, update after the norm, gathers after the update (or before
 *             the first forward that reads them)
 *   flag      compute that can run beside data-parallel traffic is marked, and so are joins */
#ifndef ORRERY_TESTS_LAWS_LAW_BEFORE_H
#define ORRERY_TESTS_LAWS_LAW_BEFORE_H

#include "models/lower/stage/lower.h"

/* For op `i`: clock[i * STREAM_COUNT + stream] is the index + 1 of the last op of that stream that
 * has finished when op i begins; 0: none. Of `op_count` x STREAM_COUNT. */
struct before {
    const struct configuration *c;
    const struct program *program;
    const struct layer *layers; /* embedding, layer, head: by block, as the contract gives them */
    uint32_t *clock;
    struct arena *arena;
    char *text; /* the first problem; "" none */
    size_t size;
    unsigned problems;
};
void before_clocks(const struct program *program, uint32_t *clock);
/* Has op `a` finished when op `b` begins, whatever the times are? Indices, not waits. */
bool before_holds(const struct before *b, uint32_t earlier, uint32_t later);
/* Notes a problem when `holds` is false. */
void before_must(struct before *b, bool holds, const char *rule, uint32_t op, const char *what);

/* Every rule over one program; `layers` by unit_block, as transformer.h gives them. The number of
 * problems, the first of which is in `text`. */
unsigned law_before(struct arena *arena, const struct configuration *c, const struct layer *layers,
                    const struct program *program, char *text, size_t size);

/* The rules; each stands in its own file with what it takes from the contracts. */
struct before_plan;
struct before_plan *before_plan(struct before *b);
void before_messages(struct before *b, const struct before_plan *plan);
void before_transfers(struct before *b, const struct before_plan *plan);
void before_data(struct before *b, const struct before_plan *plan);

/* What the rules share: passes in order, and the units of the stage in forward order. */
enum unit_block {
    UNIT_EMBEDDING,
    UNIT_LAYER,
    UNIT_HEAD
};
struct before_unit {
    enum unit_block block;
    uint32_t chunk;
    uint16_t layer;
    uint32_t group;
    double gathered, held; /* parameters: computed with, and kept */
};
struct before_pass {
    bool forward;
    uint32_t chunk;
    uint16_t microbatch;
    uint32_t first, end; /* its ops of compute, tp and cp, and those between: [first, end) */
};
struct before_plan {
    struct before_unit *units;
    struct before_pass *passes;
    uint32_t unit_count, pass_count, stage, stages, chunks;
};
/* Ops of compute, tp and cp that belong to this unit in this pass, in order. */
uint32_t before_ops(const struct before *b, const struct before_plan *plan,
                    const struct before_pass *pass, const struct before_unit *unit, uint32_t *ops);
/* A stretch of kernels of a pass: no join, no wait for an exchange. */
bool before_works(const struct program *program, uint32_t op);

#endif
