/* release.h - a software profile by the month: what changed since when.
 *
 * An entry of software.yaml may have `history`, a list of dated facts:
 *   - {since: 2025-09, what: "...", source: "...", sets: {router_fusion: true}}
 * `sets` has keys of the profile, which hold from that month on; `size` is what a source says
 * of the effect. A fact without `sets` is told and changes nothing: whoever ran it set keys. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_RELEASE_H
#define ORRERY_SCENARIOS_CATALOGUE_RELEASE_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

enum {
    RELEASE_NEWEST = 1 << 20 /* a month after all others */
};
/* Months since year 0 of a release: "2025-11", "2025.11"; "2025", its December; a container's
 * "25.11" or "25.11.01", also as "ngc25.11". 0: it is none of these. */
unsigned release_month(const char *text);

struct release_fact {
    unsigned month;
    const char *since, *what, *source, *size; /* size: "" where nobody says it */
    const struct value *sets;                 /* a mapping; NULL: nothing is set */
};
struct release_history {
    const struct release_fact *facts; /* in the entry's order */
    unsigned count;                   /* 0: the entry has none */
};
/* The facts of an entry. Reports what is no fact, once for each call. */
struct release_history release_history(struct arena *arena, struct problems *problems,
                                       const struct value *entry);
/* The entry as it was in that month: what its facts set until then, the latest of a key, in place
 * of what the entry has. The entry itself where it has no history. */
const struct value *release_entry(struct arena *arena, const struct value *entry,
                                  struct release_history history, unsigned month);

#endif
