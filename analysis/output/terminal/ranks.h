/* ranks.h - the processes that mpirun started together for one command line.
 *
 * The library knows this table of functions only; analysis/mpi.c, which the program alone links,
 * fills it where the build has MPI. Each rank works for itself, and all that they tell each other
 * is that they are done, and how. It knows no command and does not divide the work. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_RANKS_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_RANKS_H

#include <stdbool.h>

enum {
    RANKS_WORDS = 2 /* numbers that ranks tell each other at a time */
};
struct ranks_place {
    unsigned index, count; /* of this process, from 0; of all */
    unsigned beside;       /* ranks on this machine, this one included */
};
struct ranks_engine {
    const char *(*name)(void); /* of the library, one line */
    void (*begin)(struct ranks_place *out);
    /* The greatest of each word over all ranks, once all have come here; waits asleep. False when
     * `patience_s` went by before: then only `leave` may follow, and `most` must stay. */
    bool (*agree)(const int mine[RANKS_WORDS], int most[RANKS_WORDS], double patience_s);
    void (*leave)(int code); /* ends all ranks at once with this exit code */
    void (*end)(void);
};
/* Of this program; NULL: built without MPI. */
extern const struct ranks_engine *const ranks_engine;

/* Did mpirun (or srun) start several of this? By the environment alone: a plain start costs
 * nothing. */
bool ranks_started(void);
/* Is this the process that speaks for all: the first rank, or one that nobody started with others?
 */
bool ranks_speaks(void);
/* Did mpirun start this, alone or with others? It gives each a terminal at which nobody sits. */
bool ranks_under_mpirun(void);

#endif
