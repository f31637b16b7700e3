/* arguments.h - the command line as plain data: words, and the options of its command.
 *
 * Each command has a struct of its own that begins with `struct arguments line`, and a table of
 * its options (option.h). Options are long, values follow after a space or '='; `--` ends options.
 * Every mistake of the line is reported, not only the first. It knows no command. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_ARGUMENTS_H
#define ORRERY_ANALYSIS_COMMAND_LINE_ARGUMENTS_H

#include <stdio.h>

#include "analysis/command/line/option.h"

enum {
    ARGUMENT_POSITIONAL_MAX = 1024,
    ARGUMENT_THREADS_MAX = 256
};
/* The command that the line is for, as far as the parser needs it. */
struct argument_rules {
    const char *command;
    const struct option *options; /* ended by a NULL name */
    size_t bytes;                 /* of the command's struct */
    const char *positional;       /* "SCENARIO", a file; "[FILE]", one that may be left out;
                                   * "[KIND FILE]", a word of the program's own, then a file;
                                   * "DB...", any number of files; NULL: none are taken */
    const struct option_conflict *conflicts; /* NULL: none */
};
/* What every line has: the first member, `line`, of the struct of each command. */
struct arguments {
    struct argument_rules rules; /* that the line was read by */
    const char *positional[ARGUMENT_POSITIONAL_MAX];
    unsigned positional_count;
    bool given[OPTION_MAX]; /* of the table, in its order */
    bool help;
};
/* Reads argv[0 .. count) into a command's struct, of rules->bytes. Writes each mistake as a line to
 * `problems`; false when there was one. With --help everything else is ignored. Strings are
 * borrowed from argv. */
bool arguments_read(const struct argument_rules *rules, int count, char **argv, void *out,
                    FILE *problems);
/* Does the line say something by this option of its table? ("--output -" does not.) */
bool arguments_say(const struct arguments *line, const struct option *option);
/* An option that the line gives and that is none of `taken` (names, ended by NULL); NULL: none. */
const char *arguments_stray(const struct arguments *line, const char *const *taken);
/* The words of a line that was read, in the order of its table, files last behind "--": to be read
 * again, or printed. Of the options that are `listed` (ended by NULL) alone, or of all others.
 * Returns how many; they live in the arena. */
struct arena;
unsigned arguments_words(const struct arguments *line, const char *const *listed, bool alone,
                         struct arena *arena, const char *const **out);
/* The file that a value of OPTION_STEP names: PATH of PATH:step=TIME. Its length; 0: none. */
size_t arguments_step_file(const char *value);
/* May the n-th word that is no option name a file? Words of the program's own (a kind, an action)
 * do not. */
bool arguments_positional_file(const struct argument_rules *rules, unsigned n);
/* Threads as --threads asks, ARGUMENT_THREADS_MAX at most; `usual` when it is not given (0). */
unsigned arguments_threads(uint64_t asked, unsigned usual);

/* The member of an option in the command's struct that `line` begins; NULL: none (--help). */
static inline const void *arguments_member(const struct arguments *line,
                                           const struct option *option)
{
    return option->offset == OPTION_NO_OFFSET ? NULL : (const char *)line + option->offset;
}

#endif
