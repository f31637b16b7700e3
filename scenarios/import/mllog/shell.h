/* shell.h - what a configuration written as a shell script sets: config_*.sh of MLPerf submissions.
 *
 * Nothing is executed. A file is read as the subset of POSIX shell and bash in which such files are
 * written: assignments, `export`, `unset`, `: "${NAME:=VALUE}"`, `source`, `if` with tests of words
 * and numbers, quotes, ${NAME}, ${NAME:-WORD} and its kin, $((integers)). The environment is taken
 * as empty, so that a default `${MINIBS:=6}` is 6. What cannot be known without running it (a
 * command's output, a loop, a test of a file) makes the variables that it sets unknown, with their
 * place; it is never guessed. Other commands are passed over, or told to who listens. A sourced
 * file is read where it stands beside the one that names it, or below it; one that is not there is
 * listed. (IEEE Std 1003.1-2017, XCU 2.) */
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
    bool set;   /* false: by `unset` */
    bool fixed; /* from outside */
};
/* Who is told each command that a script might run, its words expanded and blanks between them. An
 * array is its words, and what is not known stands in its place as
 * SHELL_UNKNOWN, why, SHELL_UNKNOWN_END:
 * a variable that nothing sets is then unknown too, not empty, but in a test. */
#define SHELL_UNKNOWN '\1'
#define SHELL_UNKNOWN_END '\2'
#define SHELL_UNKNOWN_LIST "an array with an operator " /* begins why several words are not known */
struct shell_ear {
    void (*command)(void *object, const char *words, const char *path, unsigned line);
    void *object;
    const char *const *sets; /* "NAME=VALUE": whatever the script sets them to */
    unsigned set_count;
    bool sources; /* files beside it are read */
};
struct shell {
    struct arena *arena;
    struct shell_variable *rows;
    uint32_t count, room;
    const char *missing[SHELL_MISSING_MAX]; /* sourced files that are not there, by their names */
    unsigned missing_count;                 /* beyond SHELL_MISSING_MAX they are counted alone */
    unsigned file_count;                    /* that were read */
    size_t expanded_bytes;
    const struct shell_ear *ear; /* NULL: nobody */
    bool testing;
    struct error *error;
};

/* Reads the file at `path` and those that it sources. False with a sentence, file and line. */
bool shell_read(struct arena *arena, const char *path, struct shell *out, struct error *error);
/* The same of a text, which is cut up, and which sources nothing. */
bool shell_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct shell *out,
                 struct error *error);
/* The same of a file that was read, whose commands `ear` is told. */
struct import_file;
bool shell_hear(struct arena *arena, const struct import_file *file, const struct shell_ear *ear,
                struct shell *out, struct error *error);
/* The variable of that name, or NULL where it is not set. */
const struct shell_variable *shell_find(const struct shell *shell, const char *name);

#endif
