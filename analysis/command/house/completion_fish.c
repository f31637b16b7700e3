/* Completion for fish. */
#include <string.h>

#include "analysis/command/house/completion_words.h"

/* Every KEY=, and every KEY=VALUE of keys that take words. */
static void print_keys(const struct completion_words *words, FILE *out)
{
    fputs("function __orrery_key\n    printf '%s\\n'", out);
    for (unsigned i = 0; i < words->keys.count; i++) {
        struct name_list values = keys_values(words->arena, words->keys.names[i]);
        fprintf(out, " '%s='", words->keys.names[i]);
        for (unsigned v = 0; v < values.count; v++)
            fprintf(out, " '%s=%s'", words->keys.names[i], values.names[v]);
    }
    fputs("\nend\n", out);
}

static void print_names(const struct completion_words *words, FILE *out)
{
    for (unsigned i = 0; i < command_count; i++) {
        if (commands[i]->word == NULL)
            continue;
        fprintf(out, "complete -c orrery -n '__fish_seen_subcommand_from %s' -a '",
                commands[i]->head.name);
        completion_print_first(commands[i], out);
        fputs("'\n", out);
    }
    fputs("complete -c orrery -n '__fish_seen_subcommand_from lesson' -a '", out);
    completion_print_lessons(out);
    fputs("'\ncomplete -c orrery -f -n '__fish_seen_subcommand_from list' -a '", out);
    completion_print_list(words->families.names, out);
    fputs("'\n", out);
    for (unsigned i = 0; i < words->families.count; i++) {
        fprintf(out,
                "complete -c orrery -f -n '__fish_seen_subcommand_from list; and "
                "__fish_seen_subcommand_from %s' -a '",
                words->families.names[i]);
        completion_print_family(words, words->families.names[i], out);
        fputs("'\n", out);
    }
}

static void print_option(const struct completion_words *words, const char *command,
                         const struct option *o, FILE *out)
{
    char doc[OPTION_DOC_BYTES];
    fprintf(out, "complete -c orrery -n '__fish_seen_subcommand_from %s' ", command);
    fprintf(out, o->name[1] == '-' ? "-l %s" : "-s %s", o->name + (o->name[1] == '-' ? 2 : 1));
    fputs(" -d '", out);
    completion_print_plain(out, option_doc(o, doc), "'");
    fputc('\'', out);
    if (o->choices != NULL) {
        fputs(" -x -a '", out);
        completion_print_list(o->choices, out);
        fputc('\'', out);
    } else if (completion_takes_key(o)) {
        fputs(" -x -a '(__orrery_key)'", out);
    } else if (completion_family(o) != NULL) {
        fputs(" -x -a '", out);
        completion_print_family(words, completion_family(o), out);
        fputc('\'', out);
    } else if (o->value != NULL) {
        fputs(" -r", out);
    }
    fputc('\n', out);
}

void completion_print_fish(const struct completion_words *words, FILE *out)
{
    print_keys(words, out);
    print_names(words, out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "complete -c orrery -n __fish_use_subcommand -a %s -d '",
                commands[i]->head.name);
        completion_print_plain(out, commands[i]->head.doc, "'");
        fputs("'\n", out);
        for (const struct option *o = commands[i]->options; o->name != NULL; o++)
            print_option(words, commands[i]->head.name, o, out);
    }
}
