/* lesson.h - what a class learns from a scenario: its `lesson:` section, as plain data.
 *
 * A lesson is the scenario's own run, other runs of it that differ by some keys, and questions
 * whose answers are formulas over the numbers of those runs. Here names are checked and texts are
 * made one line each; what a formula means is known above (analysis/record/evidence/formula.h). */
#ifndef ORRERY_SCENARIOS_LESSONS_LESSON_H
#define ORRERY_SCENARIOS_LESSONS_LESSON_H

#include <stdint.h>

enum {
    LESSON_RUN_MAX = 16,
    LESSON_RUN_SETS_MAX = 32
};
struct lesson_run {
    const char *name, *set, *shows;
    const char *const *sets; /* the words of `set` */
    unsigned set_count;
};
struct lesson_question {
    const char *ask, *answer, *why;
};
struct lesson {
    uint64_t order;
    const char *shows, *look_for, *next; /* next "": nothing */
    const struct lesson_run *runs;       /* beside the scenario's own */
    unsigned run_count;
    const struct lesson_question *questions;
    unsigned question_count;
};

#endif
