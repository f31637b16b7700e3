/* task_case.h - small task graphs by hand and by seed, for the tests of their player and importer.
 */
#ifndef ORRERY_TESTS_TASK_CASE_H
#define ORRERY_TESTS_TASK_CASE_H

#include "models/step/tasks/task_play.h"

enum {
    TASK_CASE_MAX = 4096
};
struct task_case {
    struct arena *arena;
    struct task_graph graph; /* its arrays have room for TASK_CASE_MAX rows each */
    struct configuration c;
};
/* So many ranks on 8-GPU nodes (or fewer GPUs) of cards with NVLink, as many nodes as they need. */
void task_case_begin(struct task_case *t, uint32_t ranks);
void task_case_end(struct task_case *t);
/* Ranks' nodes must be added in the order of ranks. Returns the row. */
uint32_t task_case_rank(struct task_case *t); /* the next rank begins */
uint32_t task_case_node(struct task_case *t, enum task_lane lane, double work_s);
uint32_t task_case_attend(struct task_case *t, uint32_t meeting); /* a node that meets */
void task_case_wait(struct task_case *t, uint32_t for_node);      /* the last node waits for it */
uint32_t task_case_group(struct task_case *t, const uint32_t *ranks, uint32_t count, bool pair);
uint32_t task_case_meeting(struct task_case *t, uint32_t group, enum comm_op op, double bytes);
/* Plays it; fails the test when it is refused. Lives in the case's arena. */
struct task_played *task_case_play(struct task_case *t);
/* The sentence with which it is refused; fails the test when it is not. */
const char *task_case_refused(struct task_case *t);
/* Lanes of random work, waits and meetings of no bytes; never a deadlock. Times are whole. */
void task_case_random(struct task_case *t, uint64_t seed);

#endif
