/* shell.h - what a configuration written as a shell script sets: config_*.sh of MLPerf submissions.
 *
 * Nothing is executed. A file is read as the subset of POSIX shell and bash in which such files are
 * written: assignments, `export`, `unset`, `: "${NAME:=VALUE}"`, `source`, `if` with a single test,
 * quotes, ${NAME}, ${NAME:-WORD} and its kin, $((integers)). The environment is taken as empty, so
 * that a default `${MINIBS:=6}` is 6. What cannot be known without running it (a command's output,
 * a loop, a test of a file) makes the variables that it sets unknown, with their place; it is never
 * guessed. Other commands are passed over. A sourced file is read where it stands beside the one
 * that names it, or below it; one that is not there is listed. (IEEE Std 1003.1-2017, XCU 2.) */
#ifndef ORRERY_SCENARIOS_IMPORT_MLLOG_SHELL_H
#define ORRERY_SCENARIOS_IMPORT_MLLOG_SHELL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/error.h"

enum {
    SHELL_BYTES_MAX = 1 << 20, /* of a file, and of the value of a variable */
    SHELL_VARIABLES_MAX = 4096,
    SHELL_MISSING_MAX = 16
};
struct shell_variable {
    const char *name;
    const char *value; /* NULL: not known, `why` says so */
    const char *why;   /* "the output of a command" */
    const char *path;
    unsigned line;
    bool set; /* false: by `unset` */
};
struct shell {
    struct arena *arena;
    struct shell_variable *rows;
    uint32_t count, room;
    const char *missing[SHELL_MISSING_MAX]; /* sourced files that are not there, by their names */
    unsigned missing_count;                 /* beyond SHELL_MISSING_MAX they are counted alone */
    unsigned file_count;                    /* that were read */
    size_t expanded_bytes;
    struct error *error;
};

/* Reads the file at `path` and those that it sources. False with a sentence, file and line. */
bool shell_read(struct arena *arena, const char *path, struct shell *out, struct error *error);
/* The same of a text, which is cut up, and which sources nothing. */
bool shell_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct shell *out,
                 struct error *error);
/* The variable of that name, or NULL where it is not set. */
const struct shell_variable *shell_find(const struct shell *shell, const char *name);

#endif
