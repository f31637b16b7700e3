/* task_play.h - plays a task graph on the cluster of a configuration.
 *
 * Every rank is played. Lanes and groups carry one thing at a time (task.h); meetings that are
 * under way share links as activities of a step do (sim/share.h), begin when the last rank has
 * come, and end for all of them at once. Cards and links that the configuration perturbs are slower
 * here too; what slows compute beside communication is not modelled: recorded times hold it.
 *
 * The time of a rank's step, until the last rank has finished, is divided into parts. At each
 * instant the first of these that is so counts: it computes, copies (memory), communicates, its
 * host works, it waits for ranks that have not come, it has finished. They sum to the step. */
#ifndef ORRERY_MODELS_STEP_TASKS_TASK_PLAY_H
#define ORRERY_MODELS_STEP_TASKS_TASK_PLAY_H

#include "models/step/tasks/task_wires.h"

enum task_part {
    TASK_PART_COMPUTE,
    TASK_PART_MEMORY,
    TASK_PART_COMMUNICATION, /* exposed: neither compute nor memory beside it */
    TASK_PART_HOST,
    TASK_PART_WAIT,
    TASK_PART_DONE,
    TASK_PART_COUNT
};

struct task_times {
    double ready_s, begin_s, finish_s;
};
struct task_tally { /* of a group */
    uint64_t meetings;
    double bytes;    /* payload, all meetings */
    double moving_s; /* from the last rank's coming to the end, all meetings */
};
struct task_played {
    double step_s;
    struct task_times *times;           /* [node] */
    double (*parts_s)[TASK_PART_COUNT]; /* [rank]; sums to step_s */
    double *communicating_s;            /* [rank]: with a meeting under way, hidden or not */
    struct task_tally *groups;          /* [group] */
    struct task_wires wires;
    uint64_t event_count;
    uint64_t digest; /* of all ranks' nodes and times, see sim/digest.h */
};
/* False with a sentence: the ranks are more than the GPUs of the cluster, the cluster cannot be
 * built, they wait for each other for ever, or the step takes more than a century. What is filled
 * lives in the arena. */
bool task_play(struct arena *arena, const struct task_graph *graph, const struct configuration *c,
               struct task_played *out, struct error *error);

#endif
