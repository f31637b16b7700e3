/* Shell completion, written from the tables of commands and options. */
#include <string.h>

#include "analysis/command.h"
#include "analysis/format.h"

static const struct option options[] = {OPTION_END};

static void print_names(FILE *out)
{
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", commands[i]->name);
    }
}

/* Option names of a command, or the choices of one option. */
static void print_options(FILE *out, const struct option *o)
{
    for (const char *space = ""; o->name != NULL; o++, space = " ") {
        fprintf(out, "%s%s", space, o->name);
    }
}

static void print_choices(FILE *out, const struct option *o)
{
    for (unsigned i = 0; o->choices[i] != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? " " : "", o->choices[i]);
    }
}

static void print_bash(FILE *out)
{
    fputs("# bash completion of orrery: source this file\n"
          "_orrery()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]}\n    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    print_names(out);
    fputs(" --help --version\" -- \"$word\"))\n        return\n    fi\n"
          "    case \"$command $before\" in\n",
          out);
    for (unsigned i = 0; i < command_count; i++) {
        for (const struct option *o = commands[i]->options; o->name != NULL; o++) {
            if (o->choices != NULL) {
                fprintf(out, "    '%s %s') COMPREPLY=($(compgen -W \"", commands[i]->name, o->name);
                print_choices(out, o);
                fputs("\" -- \"$word\")); return ;;\n", out);
            }
        }
    }
    fputs("    esac\n    case \"$command\" in\n", out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "    %s) local words=\"", commands[i]->name);
        print_options(out, commands[i]->options);
        fputs("\" ;;\n", out);
    }
    fputs("    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
          "complete -o filenames -F _orrery orrery\n",
          out);
}

/* Quotes in texts would end the shell's: they are left out. */
static void print_plain(FILE *out, const char *text, const char *leave_out)
{
    for (; *text != '\0'; text++) {
        if (strchr(leave_out, *text) == NULL) {
            fputc(*text, out);
        }
    }
}

static void print_zsh_option(FILE *out, const struct option *o)
{
    fprintf(out, "            '%s[", o->name);
    print_plain(out, o->doc, "'[]");
    fputc(']', out);
    if (o->choices != NULL) {
        fprintf(out, ":%s:(", o->value);
        print_choices(out, o);
        fputc(')', out);
    } else if (o->value != NULL) {
        fprintf(out, ":%s:_files", o->value);
    }
    fputs("' \\\n", out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef orrery\n_orrery()\n{\n    local -a commands=(\n", out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "        '%s:", commands[i]->name);
        print_plain(out, commands[i]->doc, "':");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n    case $words[2] in\n",
          out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "    %s)\n        _arguments \\\n", commands[i]->name);
        for (const struct option *o = commands[i]->options; o->name != NULL; o++) {
            print_zsh_option(out, o);
        }
        fputs("            '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_orrery \"$@\"\n", out);
}

static void print_fish_option(FILE *out, const char *command, const struct option *o)
{
    fprintf(out, "complete -c orrery -n '__fish_seen_subcommand_from %s' ", command);
    fprintf(out, o->name[1] == '-' ? "-l %s" : "-s %s", o->name + (o->name[1] == '-' ? 2 : 1));
    fputs(" -d '", out);
    print_plain(out, o->doc, "'");
    fputc('\'', out);
    if (o->choices != NULL) {
        fputs(" -x -a '", out);
        print_choices(out, o);
        fputc('\'', out);
    } else if (o->value != NULL) {
        fputs(" -r", out);
    }
    fputc('\n', out);
}

static void print_fish(FILE *out)
{
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "complete -c orrery -n __fish_use_subcommand -a %s -d '", commands[i]->name);
        print_plain(out, commands[i]->doc, "'");
        fputs("'\n", out);
        for (const struct option *o = commands[i]->options; o->name != NULL; o++) {
            print_fish_option(out, commands[i]->name, o);
        }
    }
}

static int run(const struct arguments *arguments, struct session *session)
{
    const char *shell = arguments->positional[0];
    if (strcmp(shell, "bash") == 0) {
        print_bash(session->out);
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh(session->out);
    } else if (strcmp(shell, "fish") == 0) {
        print_fish(session->out);
    } else {
        fprintf(session->notes, "orrery completion: no shell '%s'; there are: bash zsh fish\n",
                format_shown(shell).s);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

const struct command command_completion = {
    .name = "completion",
    .doc = "prints completion for a shell: bash, zsh or fish",
    .positional = "SHELL",
    .options = options,
    .example = "source <(orrery completion bash)",
    .run = run,
};
