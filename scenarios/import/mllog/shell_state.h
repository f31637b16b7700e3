/* shell_state.h - between the files of the reader of shell scripts. */
#ifndef ORRERY_SCENARIOS_IMPORT_MLLOG_SHELL_STATE_H
#define ORRERY_SCENARIOS_IMPORT_MLLOG_SHELL_STATE_H

#include <stddef.h>

#include "scenarios/import/mllog/shell.h"

enum {
    SHELL_WORDS_MAX = 2048, /* of a command */
    SHELL_NEST_MAX = 32,    /* of blocks, and of expansions */
    SHELL_FILES_MAX = 32
};
/* Is what stands here carried out? */
enum shell_course {
    SHELL_RUNS,
    SHELL_SKIPPED,
    SHELL_PERHAPS /* in a branch, a loop or a function of which that is not known */
};
/* What ended a command. */
enum shell_stop {
    SHELL_SEPARATOR, /* a line's end, a semicolon, a pipe, an ampersand */
    SHELL_CONNECTOR, /* && or || */
    SHELL_END        /* of the text */
};
struct shell_command {
    char *words[SHELL_WORDS_MAX]; /* unexpanded, with their quotes */
    unsigned count;
    enum shell_stop stop;
    bool either; /* the connector is || */
    unsigned line;
};
struct shell_text {
    struct shell *shell;
    const char *path;
    const char *at, *end;
    unsigned line;
};
/* A value: NULL and why it is not known, or a text. */
struct shell_value {
    const char *text;
    const char *why;
};

/* Sets "path:line: ..." and returns false. */
__attribute__((format(printf, 4, 5))) bool shell_bad(struct shell *shell, const char *path,
                                                     unsigned line, const char *format, ...);
/* The next command, perhaps without words. False with a sentence. */
bool shell_next(struct shell_text *text, struct shell_command *out);
/* Bytes of a name that `text` begins with; 0: it begins with none. */
size_t shell_name_bytes(const char *text);
/* The same of NAME[...]=, which sets an element of an array; else 0. */
size_t shell_element_bytes(const char *word);
/* Expands a word. `${NAME:=WORD}` sets NAME. False with a sentence. */
bool shell_expand(struct shell_text *at, const char *word, struct shell_value *out);
/* Sets a variable; of `why` that is not NULL the value is not known. False: there are too many. */
bool shell_set(struct shell_text *at, const char *name, struct shell_value value);
bool shell_unset(struct shell_text *at, const char *name);
/* The value of an expression of integers; NULL and why. */
void shell_number(struct shell_text *at, const char *expression, struct shell_value *out);
/* Tells who listens a command, from its word `first` on. False with a sentence. */
bool shell_tell(struct shell_text *at, const struct shell_command *command, unsigned first);
/* Sets what a listener says of the script's variables. False with a sentence. */
bool shell_fix(struct shell_text *at);
/* Is the test [ ... ] or [[ ... ]] true? 1, 0, or -1: not known. False with a sentence. */
bool shell_test(struct shell_text *at, const struct shell_command *command, unsigned first,
                int *truth);

#endif
