/* pass_blocks.h - runs of blocks, priced once: what a forward or backward pass takes.
 *
 * A run is a map from when it may begin to when it ends. On a GPU whose transfers are not disturbed
 * that map is linear in the algebra of (max, +): the run ends at the latest of
 *     begin + follows_s     begin: its waits are done, the compute stream is free
 *     launched + launched_s launched: the host has issued its first op; it issues the others behind
 *     wires + wires_s       wires: the streams of its transfers are free
 * each found by playing its pieces with the other two at minus infinity. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_BLOCKS_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_BLOCKS_H

#include "models/lower/plan/lower_plan.h"
#include "models/step/estimate/pass_wires.h"

struct pass_run {
    double follows_s, launched_s, wires_s;
    double compute_s; /* of its kernels: the rest of follows_s is exposed transfer */
};
struct pass_blocks; /* the blocks of layouts that compute alike */
struct pass_prices; /* of these blocks on certain wires */
struct pass_memory; /* all that were priced */

struct pass_memory *pass_memory_create(void);
void pass_memory_destroy(struct pass_memory *memory);
/* One thread owns it, as arenas are owned (sim/arena.h). */
void pass_memory_give(struct pass_memory *memory);
void pass_memory_claim(struct pass_memory *memory);
struct arena *pass_memory_scratch(struct pass_memory *memory); /* to be rewound by who marks it */
/* Of this configuration; all that a memory is asked about differ in layout, placement of ranks and
 * global batch alone. Owned by the memory. */
struct pass_blocks *pass_blocks_find(struct pass_memory *memory, const struct configuration *c);
const struct lowering *pass_blocks_plan(const struct pass_blocks *blocks);
/* All their transfers were learnt by the wires, which are borrowed until the next call. */
struct pass_prices *pass_blocks_price(struct pass_blocks *blocks, struct pass_wires *wires);
struct pass_run pass_price_run(struct pass_prices *prices, const struct run *run);

#endif
