/* output.h - a file of the user's naming, written beside its name and renamed when it is whole, so
 * that a failure or Ctrl-C leaves no half file under the final name. What is no regular file (a
 * device, a pipe) is written as it stands. */
#ifndef ORRERY_ANALYSIS_TERMINAL_OUTPUT_H
#define ORRERY_ANALYSIS_TERMINAL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/terminal/session.h"
#include "sim/error.h"

enum {
    OUTPUT_PATH_MAX = 4096
};
struct output {
    FILE *out;
    const char *path; /* borrowed */
    bool direct;      /* a device or a pipe: written as it stands */
    char partial[OUTPUT_PATH_MAX];
};
/* Could a file be written to `path`? False with a sentence when not. With `try` the place beside it
 * is tried as well; without, its writer does so at once. */
bool output_ready(const char *path, bool try, struct error *error);
/* Opens PATH.partial under the session's guard. */
bool output_begin(struct output *output, struct session *session, const char *path,
                  struct error *error);
/* Closes; renames when `keep` and everything was written, else removes. False with a sentence only
 * when it was to be kept and could not. */
bool output_end(struct output *output, struct session *session, bool keep, struct error *error);

#endif
