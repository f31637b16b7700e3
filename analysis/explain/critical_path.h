/* critical_path.h - the chain of ops, waits and links that the step could not have been shorter
 * than, read backwards out of a timeline.
 *
 * Starts at the op that ends last. What an op waited for is what ended, on any stream of its rank
 * class, as it could begin; where it waited for peers to arrive, the walk goes on at the peer that
 * came last (the class whose op of the matching stream waited for nobody); where nothing ended
 * then, the host had not launched it. Stretches tile the step. The timeline does not say which of
 * several ops that ended in the same nanosecond was waited for: the first in the order of tracks is
 * taken, and the seconds of a stretch are then those of one of several equal chains. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_CRITICAL_PATH_H
#define ORRERY_ANALYSIS_EXPLAIN_CRITICAL_PATH_H

#include "analysis/record/database/query.h"
#include "sim/arena.h"

/* All stretches of one stream, name and phase. */
struct path_part {
    const char *stream, *name, *phase;
    const char *wire; /* that its traffic goes over; "": computes */
    double seconds;
    uint64_t count;
};
struct critical_path {
    const struct path_part *parts; /* the longest first */
    unsigned count;
    double host_s;                 /* gaps: the host had not launched, or a latency that is no op */
    double step_s;                 /* the sum: parts and gaps */
    uint64_t stretches, crossings; /* ops on the path; times that it goes over to another class */
    bool known;                    /* false: the database has no ops; run with --detail op */
};
/* Out of run 1. Texts live in the arena. False with a sentence where the file is damaged or has
 * more ops than can be read. */
bool critical_path_find(struct query *query, struct arena *arena, struct critical_path *out,
                        struct error *error);

#endif
