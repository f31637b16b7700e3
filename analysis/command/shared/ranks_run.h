/* ranks_run.h - a command that mpirun started: each rank plays its shard into a database of its
 * own, then the first rank joins them and is the only one that speaks.
 *
 * What was stored outlives every rank: the same line goes on from there. A rank that fails ends all
 * with its exit code, and its words are told; where all fail alike (a wrong scenario), they are
 * told once. It knows no study and no plan. */
#ifndef ORRERY_ANALYSIS_COMMAND_SHARED_RANKS_RUN_H
#define ORRERY_ANALYSIS_COMMAND_SHARED_RANKS_RUN_H

#include "analysis/command/line/command.h"
#include "analysis/output/terminal/ranks.h"
#include "sim/arena.h"

/* Both return an exit code. */
struct ranks_work {
    int (*play)(void *context, struct session *session, const struct ranks_place *place);
    /* In the first rank; shards 1 to `count` were played. */
    int (*join)(void *context, struct session *session, unsigned count);
    void *context;
};
/* The exit code of all. */
int ranks_run(const struct arguments *line, struct session *session, const struct ranks_work *work);
/* The database of a line; where it names none, NAME.COMMAND.db in this folder, from the scenario or
 * from the model that the line states. Lives in the arena. */
const char *ranks_database(struct arena *arena, const struct arguments *line,
                           const struct database_arguments *given, const char *model);
/* What a rank of a line has of its own: its threads (a share of the machine's, if none are asked
 * for), and of the database `whole` its part ("hello.study.db" -> "hello.study.rank1of4.db"), which
 * goes on where it was. */
void ranks_part(const struct ranks_place *place, const char *whole, uint64_t *threads,
                struct database_arguments *database);
/* The databases that `count` ranks wrote of the whole, in their order; live in the arena. */
const char *const *ranks_databases(struct arena *arena, const char *whole, unsigned count);
/* They were joined: they go. */
void ranks_remove(const char *const *databases, unsigned count);

#endif
