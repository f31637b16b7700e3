/* problems.h - collects what is wrong with a user's texts, all of it in one pass.
 *
 * Each problem keeps a copy of its line. The first PROBLEM_MAX errors and as many warnings are
 * kept, all are counted. Kept problems are sorted by place when the collection is closed. Late
 * warnings come behind them, and have room of their own. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_PROBLEMS_H
#define ORRERY_SCENARIOS_LANGUAGE_PROBLEMS_H

#include "scenarios/language/problem.h"
#include "scenarios/language/source.h"

enum {
    PROBLEM_MAX = 20,
    PROBLEM_LATE_MAX = 16
};

struct problems {
    struct arena *arena;
    struct problem kept[2 * PROBLEM_MAX + PROBLEM_LATE_MAX];
    unsigned order[2 * PROBLEM_MAX + PROBLEM_LATE_MAX]; /* of the source that each is in */
    unsigned kept_count, error_count, warning_count, late_count;
};

__attribute__((format(printf, 3, 4))) void
problems_error(struct problems *problems, struct mark where, const char *format, ...);
__attribute__((format(printf, 3, 4))) void
problems_warning(struct problems *problems, struct mark where, const char *format, ...);
/* An error of the word at this place alone: no such key, no such choice, no number, out of range.
 * (Others come of rules between keys, and go when another key changes.) */
__attribute__((format(printf, 3, 4))) void
problems_misread(struct problems *problems, struct mark where, const char *format, ...);
/* A warning that this key has no effect, with the words behind that. */
__attribute__((format(printf, 4, 5))) void
problems_idle(struct problems *problems, struct mark where, const char *key, const char *why, ...);
/* A warning after the collection was closed, which is never left out; the caller adds at most
 * PROBLEM_LATE_MAX. `where` NULL: about no place. */
void problems_late(struct problems *problems, const struct mark *where, const char *text);
/* By source, line, column; problems of one place stay in the order in which they were found. */
void problems_sort(struct problems *problems);

#endif
