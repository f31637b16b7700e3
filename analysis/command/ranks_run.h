/* ranks_run.h - a command that mpirun started: each rank plays its shard into a database of its
 * own, then the first rank joins them and is the only one that speaks.
 *
 * What was stored outlives every rank: the same line goes on from there. A rank that fails ends all
 * with its exit code, and its words are told; where all fail alike (a wrong scenario), they are
 * told once. It knows no study and no plan. */
#ifndef ORRERY_ANALYSIS_COMMAND_RANKS_RUN_H
#define ORRERY_ANALYSIS_COMMAND_RANKS_RUN_H

#include "analysis/line/command.h"
#include "analysis/terminal/ranks.h"
#include "sim/arena.h"

/* Both return an exit code. */
struct ranks_work {
    int (*play)(void *context, struct session *session, const struct ranks_place *place);
    /* In the first rank; shards 1 to `count` were played. */
    int (*join)(void *context, struct session *session, unsigned count);
    void *context;
};
/* The exit code of all. */
int ranks_run(const struct arguments *arguments, struct session *session,
              const struct ranks_work *work);
/* The database of a line; where it names none, NAME.COMMAND.db in this folder, from the scenario or
 * the model. Lives in the arena. */
const char *ranks_database(struct arena *arena, const struct arguments *given);
/* The line of a rank: its threads (a share of the machine's, if none are asked for), its database
 * ("hello.study.db" -> "hello.study.rank1of4.db"), and nothing of what the first rank writes. */
void ranks_line(const struct arguments *given, const struct ranks_place *place,
                struct arguments *out);
/* The databases that `count` ranks wrote, in their order; live in the arena. */
const char *const *ranks_databases(struct arena *arena, const struct arguments *given,
                                   unsigned count);
/* They were joined: they go. */
void ranks_remove(const char *const *databases, unsigned count);

#endif
