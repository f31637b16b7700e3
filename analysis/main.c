/* orrery: finds the command, reads its arguments, runs it. */
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/keys_given.h"
#include "analysis/command/line/outputs.h"
#include "analysis/output/terminal/ranks.h"
#include "analysis/output/text/format.h"
#include "analysis/output/text/shell.h"
#include "analysis/output/text/version.h"
#include "sim/check.h"
#include "sim/memory.h"

static int no_such_command(const char *name, FILE *notes)
{
    const char *nearest = command_nearest(name);
    if (nearest != NULL)
        fprintf(notes, "orrery: unknown command '%s'; did you mean '%s'?\n", format_shown(name).s,
                nearest);
    else
        fprintf(notes, "orrery: unknown command '%s'; see 'orrery --help'\n", format_shown(name).s);
    return EXIT_USAGE;
}

/* A wrong line is wrong for every rank of mpirun: the first one says so. */
static bool read_line(const struct argument_rules *rules, int count, char **argv,
                      struct arguments *out, const struct session *session)
{
    FILE *nowhere = ranks_speaks() ? NULL : fopen("/dev/null", "w");
    FILE *problems = nowhere != NULL ? nowhere : session->notes;
    bool good = arguments_read(rules, count, argv, out, problems);
    good = (out->help || keys_given_twice(out, problems) == 0) && good;
    if (nowhere != NULL)
        fclose(nowhere);
    return good;
}

static int run_line(const struct command *command, int count, char **argv,
                    struct arguments *arguments, struct session *session)
{
    const struct argument_rules rules = command_rules(command);
    if (!read_line(&rules, count, argv, arguments, session))
        return EXIT_USAGE;
    if (arguments->help) {
        command_help(command, session->out, session->width);
        return EXIT_OK;
    }
    session_name(session, command->head.name);
    outputs_name_default(command, arguments);
    int code = outputs_check(arguments, session);
    return code == EXIT_OK ? command->run(arguments, session) : code;
}

static int run_command(const struct command *command, int count, char **argv,
                       struct session *session)
{
    struct arena *arena = arena_create();
    struct arguments *arguments = arena_alloc(arena, command->bytes, alignof(max_align_t));
    const int code = run_line(command, count, argv, arguments, session);
    arena_destroy(arena);
    return code;
}

static int dispatch(int argc, char **argv, struct session *session)
{
    if (argc < 2) {
        command_help_all(session->notes, session->width);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        const struct command *named = command_find(argv[2]);
        if (named == NULL)
            return no_such_command(argv[2], session->notes);
        command_help(named, session->out, session->width);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        command_help_all(session->out, session->width);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        fprintf(session->out, "orrery %s\n", ORRERY_VERSION);
        return EXIT_OK;
    }
    const struct command *command = command_find(argv[1]);
    if (command == NULL)
        return no_such_command(argv[1], session->notes);
    return run_command(command, argc - 2, argv + 2, session);
}

/* The line as a shell takes it. */
static const char *command_line(struct arena *arena, int argc, char **argv)
{
    const char *line = "orrery";
    for (int i = 1; i < argc; i++)
        line = arena_format(arena, "%s %s", line, shell_word(arena, argv[i]));
    return line;
}

int main(int argc, char **argv)
{
    struct session session;
    memory_take_stack();
    struct arena *arena = arena_create();
    session_begin(&session);
    session.ranks = ranks_engine;
    check_replay(command_line(arena, argc, argv));
    int code = session_end(&session, dispatch(argc, argv, &session));
    check_replay(NULL);
    arena_destroy(arena);
    return code;
}
