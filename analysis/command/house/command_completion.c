/* Shell completion, written from the tables of commands and options, the keys of the schema and the
 * names of the catalogue. Bash here; zsh and fish in files of their own. */
#include <string.h>

#include "analysis/command/house/completion_words.h"
#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"

static const struct option options[] = {OPTION_END};

static void print_names(FILE *out)
{
    for (unsigned i = 0; i < command_count; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", commands[i]->head.name);
}

static void print_options(FILE *out, const struct option *o)
{
    for (const char *space = ""; o->name != NULL; o++, space = " ")
        fprintf(out, "%s%s", space, o->name);
}

/* _orrery_values KEY: the words that the key takes. */
static void print_values(const struct completion_words *words, FILE *out)
{
    fputs("_orrery_values()\n{\n    case $1 in\n", out);
    for (unsigned i = 0; i < words->keys.count; i++) {
        struct name_list values = keys_values(words->arena, words->keys.names[i]);
        if (values.count == 0)
            continue;
        fprintf(out, "    '%s') echo", words->keys.names[i]);
        for (unsigned v = 0; v < values.count; v++)
            fprintf(out, " %s", values.names[v]);
        fputs(" ;;\n", out);
    }
    fputs("    esac\n}\n", out);
}

/* _orrery_names FAMILY: the names of the catalogue or the kinds. */
static void print_families(const struct completion_words *words, FILE *out)
{
    fputs("_orrery_names()\n{\n    case $1 in\n", out);
    for (unsigned i = 0; i < words->families.count; i++) {
        fprintf(out, "    %s) echo ", words->families.names[i]);
        completion_print_family(words, words->families.names[i], out);
        fputs(" ;;\n", out);
    }
    fputs("    esac\n}\n", out);
}

/* Bash breaks words at '=': "--set", "layout.tp", "=", "4". */
static void print_setting(const struct completion_words *words, FILE *out)
{
    fputs("_orrery_setting()\n{\n"
          "    local at=$((COMP_CWORD - 1)) value=$word\n"
          "    [ \"$word\" = = ] && value= && at=$COMP_CWORD\n"
          "    if [ \"${COMP_WORDS[at]}\" = = ] && [[ ${COMP_WORDS[at-1]} != -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$(_orrery_values \"${COMP_WORDS[at-1]}\")\" "
          "-- \"$value\"))\n"
          "        return 0\n    fi\n"
          "    [ \"${COMP_WORDS[at]}\" = = ] && at=$((at - 1))\n"
          "    case ${COMP_WORDS[at]} in\n    --set | --vary) ;;\n    *) return 1 ;;\n    esac\n"
          "    compopt -o nospace 2>/dev/null || :\n"
          "    COMPREPLY=($(compgen -S = -W \"",
          out);
    for (unsigned i = 0; i < words->keys.count; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words->keys.names[i]);
    fputs("\" -- \"$value\"))\n}\n", out);
}

/* The first argument and the options whose value is one of some words. */
static void print_taken(const struct command *command, FILE *out)
{
    if (command->word != NULL) {
        fprintf(out, "    '%s %s') words=\"", command->head.name, command->head.name);
        completion_print_first(command, out);
        fputs("\" ;;\n", out);
    }
    for (const struct option *o = command->options; o->name != NULL; o++) {
        const char *family = completion_family(o);
        if (o->choices == NULL && family == NULL)
            continue;
        fprintf(out, "    '%s %s') words=\"", command->head.name, o->name);
        if (o->choices != NULL)
            completion_print_list(o->choices, out);
        else
            fprintf(out, "$(_orrery_names %s)", family);
        fputs("\" ;;\n", out);
    }
}

static void print_dispatch(const struct completion_words *words, FILE *out)
{
    fputs("_orrery()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    local command=${COMP_WORDS[1]}\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    print_names(out);
    fputs(" --help --version\" -- \"$word\"))\n        return\n    fi\n"
          "    _orrery_setting && return\n"
          "    case \"$command $before\" in\n    'list list') words=\"",
          out);
    completion_print_list(words->families.names, out);
    fputs("\" ;;\n    'lesson lesson') words=\"$(compgen -f -- \"$word\") ", out);
    completion_print_lessons(out);
    fputs("\" ;;\n    'list '[a-z]*) words=$(_orrery_names \"$before\") ;;\n", out);
    for (unsigned i = 0; i < command_count; i++)
        print_taken(commands[i], out);
    fputs("    esac\n    if [[ -n $words && $word != -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n        return\n    fi\n"
          "    case \"$command\" in\n",
          out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "    %s) words=\"", commands[i]->head.name);
        print_options(out, commands[i]->options);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    else\n"
          "        compopt -o filenames 2>/dev/null || :\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
          "complete -F _orrery orrery\n",
          out);
}

static void print_bash(const struct completion_words *words, FILE *out)
{
    fputs("# bash completion of orrery: source this file\n", out);
    print_values(words, out);
    print_families(words, out);
    print_setting(words, out);
    print_dispatch(words, out);
}

static const char *word(unsigned index)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    return shells[index];
}

static int run(const void *line, struct session *session)
{
    const struct arguments *arguments = line;
    static void (*const printers[])(const struct completion_words *words, FILE *out) = {
        print_bash, completion_print_zsh, completion_print_fish};
    for (unsigned i = 0; word(i) != NULL; i++) {
        if (strcmp(arguments->positional[0], word(i)) == 0) {
            struct completion_words words;
            struct arena *arena = arena_create();
            completion_words(arena, &words);
            printers[i](&words, session->out);
            arena_destroy(arena);
            return EXIT_OK;
        }
    }
    fprintf(session->notes, "orrery completion: no shell '%s'; there are: bash zsh fish\n",
            format_shown(arguments->positional[0]).s);
    return EXIT_USAGE;
}

const struct command command_completion = {
    .head = {.name = "completion", .doc = "prints completion for a shell: bash, zsh or fish"},
    .positional = "SHELL",
    .options = options,
    .bytes = sizeof(struct arguments),
    .word = word,
    .example = "source <(orrery completion bash)",
    .run = run,
};
