/* Completion for zsh. */
#include <string.h>

#include "analysis/command/house/completion_words.h"

/* KEY=VALUE: keys, and behind '=' the words that the key takes. */
static void print_keys(const struct completion_words *words, FILE *out)
{
    fputs("_orrery_key()\n{\n    local key=${PREFIX%%=*}\n"
          "    if [[ $PREFIX == *=* ]]; then\n        compset -P '*='\n        case $key in\n",
          out);
    for (unsigned i = 0; i < words->keys.count; i++) {
        struct name_list values = keys_values(words->arena, words->keys.names[i]);
        if (values.count == 0)
            continue;
        fprintf(out, "        '%s') compadd --", words->keys.names[i]);
        for (unsigned v = 0; v < values.count; v++)
            fprintf(out, " %s", values.names[v]);
        fputs(" ;;\n", out);
    }
    fputs("        esac\n    else\n        compadd -S = --", out);
    for (unsigned i = 0; i < words->keys.count; i++)
        fprintf(out, " '%s'", words->keys.names[i]);
    fputs("\n    fi\n}\n", out);
}

/* What stands behind the options. */
static void print_arguments(const struct completion_words *words, const struct command *command,
                            FILE *out)
{
    if (strcmp(command->head.name, "list") == 0) {
        fputs("            '1:family:(", out);
        completion_print_list(words->families.names, out);
        fputs(")' \\\n            '2:name:(", out);
        for (unsigned i = 0; i < words->listing->count; i++)
            fprintf(out, "%s%s", i > 0 ? " " : "", words->listing->entries[i].name);
        fputs(")' ;;\n", out);
    } else if (command->word != NULL) {
        fputs("            '1:word:(", out);
        completion_print_first(command, out);
        fputs(")' \\\n            '*:file:_files' ;;\n", out);
    } else if (strcmp(command->head.name, "lesson") == 0) {
        fputs("            '1:lesson:{compadd ", out);
        completion_print_lessons(out);
        fputs("; _files}' ;;\n", out);
    } else {
        fputs("            '*:file:_files' ;;\n", out);
    }
}

static void print_option(const struct completion_words *words, const struct option *o, FILE *out)
{
    char doc[OPTION_DOC_BYTES];
    fprintf(out, "            '%s[", o->name);
    completion_print_plain(out, option_doc(o, doc), "'[]");
    fputc(']', out);
    if (o->choices != NULL) {
        fprintf(out, ":%s:(", o->value);
        completion_print_list(o->choices, out);
        fputc(')', out);
    } else if (completion_takes_key(o)) {
        fprintf(out, ":%s:_orrery_key", o->value);
    } else if (completion_family(o) != NULL) {
        fprintf(out, ":%s:(", o->value);
        completion_print_family(words, completion_family(o), out);
        fputc(')', out);
    } else if (o->value != NULL) {
        fprintf(out, ":%s:_files", o->value);
    }
    fputs("' \\\n", out);
}

void completion_print_zsh(const struct completion_words *words, FILE *out)
{
    fputs("#compdef orrery\n", out);
    print_keys(words, out);
    fputs("_orrery()\n{\n    local -a commands=(\n", out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "        '%s:", commands[i]->head.name);
        completion_print_plain(out, commands[i]->head.doc, "':");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        return\n    fi\n    case $words[2] in\n",
          out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "    %s)\n        _arguments \\\n", commands[i]->head.name);
        for (const struct option *o = commands[i]->options; o->name != NULL; o++)
            print_option(words, o, out);
        print_arguments(words, commands[i], out);
    }
    fputs("    esac\n}\n_orrery \"$@\"\n", out);
}
