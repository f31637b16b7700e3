/* outputs: each option of each command that names a file to write, from the program's own tables:
 * "COMMAND OPTION database|picture|page|file"; outputs conflicts: options that do not go together,
 * with values that each takes, "COMMAND OPTION[=VALUE] OPTION[=VALUE]". */
#include <stdio.h>
#include <string.h>

#include "analysis/command/line/command.h"

static const char *const names[] = {[OPTION_PICTURE] = "picture",
                                    [OPTION_PAGE] = "page",
                                    [OPTION_OUTPUT] = "file",
                                    [OPTION_DATABASE] = "database",
                                    [OPTION_STEP] = NULL};

static const char *const values[OPTION_STEP + 1] = {
    [OPTION_COUNT] = "1",       [OPTION_SOME] = "1",   [OPTION_SIZE] = "1GB",
    [OPTION_LIMIT] = "0",       [OPTION_TEXT] = "1/2", [OPTION_PICTURE] = "x.svg",
    [OPTION_DATABASE] = "x.db", [OPTION_CHOICE] = ""};

static void print_option(const struct command *command, const char *name)
{
    for (const struct option *o = command->options; o->name != NULL; o++) {
        if (strcmp(o->name, name) != 0)
            continue;
        const char *value = o->type == OPTION_CHOICE ? o->choices[0] : values[o->type];
        printf(" %s%s%s", name, value != NULL ? "=" : "", value != NULL ? value : "");
    }
}

static int print_conflicts(void)
{
    for (unsigned i = 0; i < command_count; i++) {
        const struct option_conflict *c = commands[i]->conflicts;
        for (; c != NULL && c->one != NULL; c++) {
            printf("%s", commands[i]->head.name);
            print_option(commands[i], c->one);
            print_option(commands[i], c->other);
            printf("\n");
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "conflicts") == 0)
        return print_conflicts();
    for (unsigned i = 0; i < command_count; i++)
        for (const struct option *o = commands[i]->options; o->name != NULL; o++)
            if (names[o->type] != NULL)
                printf("%s %s %s\n", commands[i]->head.name, o->name, names[o->type]);
    return 0;
}
