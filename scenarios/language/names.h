/* names.h - the nearest name to what a user typed.
 *
 * Distance is that of optimal string alignment: insertions, deletions, replacements and swaps of
 * neighbours cost 1, a change of case or between '-', '_' and '.' costs nothing. Lists have tens of
 * names, so every pair is compared. */
#ifndef ORRERY_SCENARIOS_LANGUAGE_NAMES_H
#define ORRERY_SCENARIOS_LANGUAGE_NAMES_H

#include <stdbool.h>

#include "sim/arena.h"

struct name_list {
    const char *const *names;
    unsigned count;
};

/* Their order, as strcmp says it, with n2 before n10: runs of digits are compared by their number.
 */
int names_compare_numbered(const char *a, const char *b);
unsigned names_distance(const char *a, const char *b);
/* The same but for case, and for '-', '_' and '.'. */
bool names_equal(const char *a, const char *b);
/* A name that none of the list is: `name`, or `name (more)` with as many of these as it takes. */
const char *names_apart(struct arena *arena, const char *name, const char *more,
                        struct name_list list);
/* The nearest name, if it is near: at most a third of the longer text away, or `text` begins it, or
 * stands in it. NULL when none is. Of equals the one with the longest common beginning, or else
 * the first. */
const char *names_nearest(const char *text, struct name_list list);
/* "; did you mean 'tp'?"; where none is near of all names that begin with the text or, without any,
 * whose first word is near its own (gb200-186gb to gb200-nvl72); else "; known: tp, pp, dp", of a
 * long list the nearest. Owned by the arena. */
const char *names_advice(struct arena *arena, const char *text, struct name_list list);
/* "; did you mean 'a', 'b' or 'c'?" of a list that is not empty. */
const char *names_offer(struct arena *arena, struct name_list list);

#endif
