/* law_play.h - one step by hand: the stages of step_run, open between them.
 *
 * A law plays a configuration through the real symmetry, worker and network; a planted fault
 * changes what lies between two stages (a wait, a plan, a class, a perturbation) and must be seen.
 * law_begin builds the cluster; then `lowered` is filled (lower, lower_passes, or by hand);
 * law_fold finds the classes; law_run plays. */
#ifndef ORRERY_TESTS_LAW_PLAY_H
#define ORRERY_TESTS_LAW_PLAY_H

#include "models/step/simulate/worker.h"

struct law_play {
    const struct configuration *c;
    struct sim *sim;
    struct arena *arena;
    struct topology topology;
    struct lowered lowered;
    struct layout layout;
    struct symmetry symmetry;
    struct worker *worker;
    struct network *network;
    double step_s;
};
void law_begin(struct law_play *p, const struct configuration *c);
void law_place(struct law_play *p);             /* the layout, before law_fold */
void law_fold(struct law_play *p, bool unfold); /* places when law_place has not */
void law_run(struct law_play *p);
void law_end(struct law_play *p);

uint32_t law_class(const struct law_play *p, uint32_t rank);
const struct program *law_program(const struct law_play *p, uint32_t rank);
struct op_times law_times(const struct law_play *p, uint32_t rank, uint32_t op);

/* What differs between two plays of the same ranks: NULL when every time of every op of every rank
 * is the same bit for bit, and so is every part of the breakdown; else a sentence in `text`. */
const char *law_difference(const struct law_play *a, const struct law_play *b, char text[200]);
/* Does each op run once, after its waits, in the order of its stream, and take the time that it
 * should? NULL, or a sentence. */
const char *law_order_fault(const struct law_play *p, char text[200]);
uint64_t law_digest(const struct law_play *p);

#endif
