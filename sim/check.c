#include "sim/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local const struct check_context *entered;
static const char *replay; /* NULL: not known */

const struct check_context *check_enter(const struct check_context *context)
{
    const struct check_context *former = entered;
    entered = context;
    return former;
}

void check_replay(const char *command)
{
    replay = command;
}

void check_failed(const char *claim, const char *file, int line)
{
    fprintf(stderr, "%s:%d: claim does not hold: %s\n", file, line, claim);
    if (entered != NULL) {
        fprintf(stderr, "  at simulated time %.17g s, event %" PRIu64 ", seed %" PRIu64 "\n",
                entered->time_s, entered->event_count, entered->seed);
    }
    if (replay != NULL)
        fprintf(stderr, "  replay: %s\n", replay);
    fprintf(stderr, "  This is a bug of Orrery, not of the scenario; please report these lines.\n");
    fflush(NULL);
    abort();
}
