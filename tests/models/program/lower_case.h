/* lower_case.h - a small configuration that every rule accepts, for the tests of layouts and of the
 * lowering: 4 layers, 64 wide, on nodes of 8 cards (or as many as
 * divide the ranks). Tests change what they are about. */
#ifndef ORRERY_TESTS_LOWER_CASE_H
#define ORRERY_TESTS_LOWER_CASE_H

#include "models/layout/configuration.h"
#include "models/program/program.h"

/* 1 x 1 x 1 x 1 ranks; one-node cluster; zero-0; 1f1b; bf16 AdamW; unfused attention, no mask. */
struct configuration lower_case(void);
/* Sizes, and a cluster of just so many GPUs; the global batch gives `microbatches` of one. */
void lower_case_size(struct configuration *c, uint64_t tp, uint64_t cp, uint64_t dp, uint64_t pp,
                     uint64_t microbatches);
/* A kind of recomputation; of those that count layers, one of them. */
void lower_case_recompute(struct configuration *c, int kind);
/* The program of the first stage; the arena, which holds all of the lowering, is the caller's. */
struct written {
    struct arena *arena;
    const struct program *p;
};
struct written lower_case_write(const struct configuration *c);
/* Breaks that are errors, and whether one of them (or a warning) names this key. */
unsigned lower_case_errors(const struct configuration *c);
bool lower_case_breaks(const struct configuration *c, const char *key, bool warning);

#endif
