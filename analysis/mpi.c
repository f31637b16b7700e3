/* The one file that meets MPI: ranks.h filled for the program `orrery`. MPI's errors end all ranks
 * by its own default handler, so no code is looked at here. */
#include "analysis/output/terminal/ranks.h"

#include <stddef.h>

#ifndef ORRERY_MPI

const struct ranks_engine *const ranks_engine = NULL;

#else

#include <mpi.h>
#include <string.h>
#include <time.h>

#include "sim/units.h"

enum {
    WAIT_NS = 2000000 /* before another look: MPI's own wait keeps a processor busy */
};

static const char *name(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length); /* needs no MPI_Init */
    text[strcspn(text, ",\n")] = '\0';
    return text;
}

static unsigned size_of(MPI_Comm group)
{
    int size = 0;
    MPI_Comm_size(group, &size);
    return (unsigned)size;
}

static void begin(struct ranks_place *out)
{
    MPI_Comm machine;
    int given = 0, index = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &index);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    *out = (struct ranks_place){(unsigned)index, size_of(MPI_COMM_WORLD), size_of(machine)};
    MPI_Comm_free(&machine);
}

static bool agree(const int mine[RANKS_WORDS], int most[RANKS_WORDS], double patience_s)
{
    const struct timespec nap = {.tv_nsec = WAIT_NS};
    const double nap_s = WAIT_NS * NANOSECOND;
    MPI_Request request;
    int done = 0;
    MPI_Iallreduce(mine, most, RANKS_WORDS, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    for (double waited_s = 0.0; !done && waited_s < patience_s; waited_s += nap_s) {
        nanosleep(&nap, NULL);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return done != 0;
}

static void leave(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void end(void)
{
    MPI_Finalize();
}

static const struct ranks_engine engine = {name, begin, agree, leave, end};
const struct ranks_engine *const ranks_engine = &engine;

#endif
