/* nearest.h - "did you mean": the candidate closest to a mistyped word.
 *
 * Distance counts inserted, deleted, replaced and swapped neighbouring characters (Damerau 1964,
 * optimal string alignment). A candidate is offered only when it is close for its length; among
 * equals the first one given wins, so that the answer does not depend on anything else. */
#ifndef ORRERY_SIM_NEAREST_H
#define ORRERY_SIM_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL: nothing close enough yet */
    unsigned distance;
};
struct nearest nearest_begin(const char *word);
void nearest_offer(struct nearest *nearest, const char *candidate);
/* Number of edits between two words; words beyond 63 bytes are far from everything. */
unsigned nearest_distance(const char *a, const char *b);

#endif
