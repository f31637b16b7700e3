/* streams.h - standard output and standard error of a command, in order and with a memory.
 *
 * Before `notes` writes, what waits in `out` is written, so that `2>&1 | tee` shows both in the
 * order in which they were said. The first write to `out` that fails is remembered with its reason
 * (later calls would change errno), and nothing is written after it. It knows no session. */
#ifndef ORRERY_ANALYSIS_TERMINAL_STREAMS_H
#define ORRERY_ANALYSIS_TERMINAL_STREAMS_H

#include <stdio.h>

struct streams {
    FILE *out, *notes;
    int out_error; /* errno of the first write that failed; 0: none */
    char buffer[1 << 16];
};
/* May not move while it is open: the streams point to it. */
void streams_open(struct streams *streams);
void streams_close(struct streams *streams);

#endif
