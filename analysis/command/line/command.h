/* command.h - the commands of orrery: one file and one row of command_list.h each.
 *
 * A command's file has its struct of arguments, the table of its options (option.h) and what it
 * does. From the rows come dispatch, `orrery --help`, each command's --help, the manual page, shell
 * completion and "did you mean". A command gets its arguments, read, and a session (streams,
 * terminal, signals), writes data to stdout and notes to stderr, and returns an exit code. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_COMMAND_H
#define ORRERY_ANALYSIS_COMMAND_LINE_COMMAND_H

#include "analysis/command/line/arguments.h"
#include "analysis/output/terminal/session.h"
#include "sim/kind.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_TROUBLE = 1, /* internal or input/output */
    EXIT_USAGE = 2,
    EXIT_REJECTED = 3, /* the scenario has errors */
    EXIT_NOTHING_FITS = 4,
    EXIT_LIMIT = 5,      /* --max-db */
    EXIT_UNEXPECTED = 6, /* what the scenario expects does not hold */
    EXIT_INTERRUPTED = 130
};
struct command {
    struct kind head;
    const char *positional; /* as in struct argument_rules */
    const char *database;   /* ".db": what it writes when --db names nothing; NULL: none */
    const struct option *options;
    size_t bytes; /* of its struct of arguments, which begins with struct arguments */
    const struct option_conflict *conflicts; /* as in struct argument_rules */
    void (*rows)(FILE *out); /* prints lines of --help that a table has; NULL: none */
    const char *details;     /* more lines of --help; NULL: none */
    /* Word number `index` of those that its first argument chooses from, NULL past the last: what
     * completion offers. NULL: it is no such word. */
    const char *(*word)(unsigned index);
    const char *example;
    int (*run)(const void *arguments, struct session *session); /* its struct */
};
#define X(name) extern const struct command command_##name;
#include "analysis/command/line/command_list.h"
#undef X
extern const struct command *const commands[];
extern const unsigned command_count;
const struct command *command_find(const char *name); /* or NULL */
const char *command_nearest(const char *name);        /* or NULL */
/* What the parser needs of it. */
static inline struct argument_rules command_rules(const struct command *command)
{
    return (struct argument_rules){.command = command->head.name,
                                   .options = command->options,
                                   .bytes = command->bytes,
                                   .positional = command->positional,
                                   .conflicts = command->conflicts};
}

/* `orrery --help` and `orrery NAME --help`. */
void command_help_all(FILE *out, int width);
void command_help(const struct command *command, FILE *out, int width);

#endif
