/* world.h - small worlds by hand for the tests of the players: ranks, groups, links and plans are
 * written straight into a symmetry, so that a test needs no topology, layout or tuner.
 *
 * Every program's transfers are numbered alike: transfer t of any member means plan t of a group.
 */
#ifndef ORRERY_TESTS_WORLD_H
#define ORRERY_TESTS_WORLD_H

#include "models/step/simulate/worker.h"

enum {
    WORLD_MAX = 64,
    WORLD_TRANSFERS = 8
};
struct world {
    struct sim *sim;
    struct arena *arena;
    struct symmetry symmetry;
    struct lowered lowered;
    struct program *programs[WORLD_MAX];
    struct worker *worker;
    struct worker_options options;
};
struct wire {
    uint32_t link;
    double weight;
};

void world_begin(struct world *w);
void world_end(struct world *w);
uint32_t world_link(struct world *w, double bytes_per_s);
uint32_t world_program(struct world *w, struct program *program);
uint32_t world_rank(struct world *w, uint32_t program, double speed_ratio);
/* A pair (kind SEND_*) takes two ranks: sender, receiver. `count` real groups stand behind it. */
uint32_t world_group(struct world *w, enum stream kind, uint32_t count, const uint32_t *ranks,
                     uint32_t rank_count);
/* What `transfer` is for this group. `wires` are shared links, their weights relative to the
 * busiest wire, which carries wire_weight for each byte; a plan without them is certain. */
void world_plan(struct world *w, uint32_t group, uint32_t transfer, double bytes, double latency_s,
                double cap_bytes_per_s, double wire_weight, const struct wire *wires,
                uint32_t count);
void world_create(struct world *w); /* the worker, not yet started */
void world_play(struct world *w);   /* create, start, run to the end */
double world_step_s(const struct world *w);

/* Ops for hand-written programs. `wait`: index + 1, or OP_NONE. */
struct op world_compute(struct program_writer *p, double gpu_s, uint32_t wait);
struct op world_comm(struct program_writer *p, enum op_kind kind, enum stream stream,
                     uint32_t transfer, uint32_t wait);
/* Declares transfers 0 .. count-1 of a program, all distinct. */
void world_transfers(struct program_writer *p, uint32_t count);

/* Does `act` abort? Its stderr goes into `text` (of `size` bytes). */
bool world_aborts(void (*act)(void *), void *context, char *text, size_t size);

#endif
