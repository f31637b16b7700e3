/* streams.h - standard output and standard error of a command, in order and with a memory.
 *
 * Before `notes` writes, what waits in `out` is written, so that `2>&1 | tee` shows both in the
 * order in which they were said. The first write to `out` that fails is remembered with its reason
 * (later calls would change errno), and nothing is written after it. It knows no session.
 *
 * Whoever waits for a long command is told that it is at work: streams_watch is asked each second,
 * by another thread, and speaks when nothing else was said for a while. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_STREAMS_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_STREAMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct streams {
    FILE *out, *notes;
    int out_error;            /* errno of the first write that failed; 0: none */
    bool terminal;            /* is standard error one? */
    double begin_s;           /* of a clock that only runs forward */
    _Atomic double said_s;    /* when something was said last */
    atomic_bool shown, again; /* a line of the watch stands on the terminal; was there one yet? */
    char buffer[1 << 16];
};
/* May not move while it is open: the streams point to it. */
void streams_open(struct streams *streams);
void streams_close(struct streams *streams);
/* Says that `name` is at work, after two seconds of silence: a line that renews itself on a
 * terminal; elsewhere another after every 30 s of silence. */
void streams_watch(struct streams *streams, const char *name);

#endif
