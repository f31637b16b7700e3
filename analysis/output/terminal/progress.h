/* progress.h - how far a long command is, on stderr: a line that renews itself on a terminal, with
 * the time that is left; elsewhere a line every 30 s. Nothing for what is done in a blink. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_PROGRESS_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

struct progress {
    FILE *notes;
    bool terminal, shown;
    double begin_s, told_s; /* of a clock that only runs forward */
};
void progress_begin(struct progress *progress, FILE *notes);
/* `ratio` of the work is done. */
void progress_tell(struct progress *progress, double ratio, const char *what);
void progress_end(struct progress *progress);             /* clears the line */
double progress_seconds(const struct progress *progress); /* since the beginning */

#endif
