/* output.h - a file of the user's naming, written beside its name and renamed when it is whole, so
 * that a failure or Ctrl-C leaves no half file under the final name. What is no regular file (a
 * device, a pipe) is written as it stands.
 *
 * No other code of the program opens a text to write it (a test looks): here alone is decided what
 * may be replaced. An input of the session never is, nor a file of another kind. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_OUTPUT_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/output/terminal/session.h"
#include "sim/error.h"

/* What an output is, and which files it may take the place of: its own kind alone. Every text that
 * the program writes begins with words that nothing else begins with; a file under the name of an
 * output is replaced only where it is empty or begins with these, so a picture never takes the
 * place of a scenario, of a database or of somebody's thesis. */
enum output_kind {
    OUTPUT_PICTURE,  /* SVG */
    OUTPUT_PAGE,     /* HTML */
    OUTPUT_CHROME,   /* trace events */
    OUTPUT_KINETO,   /* of one rank, as PyTorch's profiler writes it */
    OUTPUT_CHAKRA,   /* of one rank, an execution trace */
    OUTPUT_GROUPS,   /* the ranks of each group, beside execution traces */
    OUTPUT_CSV,      /* a line of column names first */
    OUTPUT_SHAPES,   /* kernels to measure */
    OUTPUT_SCRIPT,   /* for bash */
    OUTPUT_SCENARIO, /* of a launch that was imported */
    OUTPUT_DOCUMENT, /* JSON of this program */
    OUTPUT_LATER     /* named by an option, its kind not known before it is begun; or a database,
                      * whose writer looks for itself */
};
enum {
    OUTPUT_PATH_MAX = 4096
};
struct output {
    FILE *out;
    const char *path; /* borrowed */
    bool direct;      /* a device or a pipe: written as it stands */
    char partial[OUTPUT_PATH_MAX];
};
/* Could an output of the kind be written to `path`? False with a sentence when not. With `try` the
 * place beside it is tried as well; without, its writer does so at once. */
bool output_ready(const char *path, enum output_kind kind, bool try, struct error *error);
/* Opens PATH.partial under the session's guard. False with a sentence when it cannot be written, or
 * when that would destroy an input of the session or a file of another kind. */
bool output_begin(struct output *output, struct session *session, const char *path,
                  enum output_kind kind, struct error *error);
/* Closes; renames when `keep` and everything was written, else removes. False with a sentence only
 * when it was to be kept and could not. */
bool output_end(struct output *output, struct session *session, bool keep, struct error *error);

#endif
