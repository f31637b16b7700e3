#include "analysis/command/line/command.h"
#include "analysis/output/text/wrap.h"

static void print_option(FILE *out, int width, const struct option *o)
{
    char left[64], doc[OPTION_DOC_BYTES];
    snprintf(left, sizeof left, "%s%s%s", o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    fprintf(out, "  %-22s ", left);
    if (o->choices == NULL) {
        wrap_print(out, width, option_doc(o, doc), 25);
        return;
    }
    char text[512];
    int used = snprintf(text, sizeof text, "%s:", option_doc(o, doc));
    for (unsigned i = 0; o->choices[i] != NULL && used < (int)sizeof text; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", i > 0 ? ", " : " ",
                         o->choices[i]);
    }
    wrap_print(out, width, text, 25);
}

void command_help(const struct command *command, FILE *out, int width)
{
    fprintf(out, "orrery %s - %s\n\nusage: orrery %s", command->head.name, command->head.doc,
            command->head.name);
    if (command->positional != NULL)
        fprintf(out, " %s", command->positional);
    fputs(" [OPTION]...\n\n", out);
    for (const struct option *o = command->options; o->name != NULL; o++)
        print_option(out, width, o);
    if (command->rows != NULL || command->details != NULL)
        fputc('\n', out);
    if (command->rows != NULL)
        command->rows(out);
    if (command->details != NULL)
        fprintf(out, "%s\n", command->details);
    fprintf(out, "\nexample:\n  %s\n", command->example);
}

void command_help_all(FILE *out, int width)
{
    wrap_print(out, width,
               "Orrery simulates GPU clusters that train large models: will this layout fit, how "
               "fast is it, and where does the time go?",
               0);
    fputs("\nusage: orrery COMMAND [OPTION]...\n\n", out);
    for (unsigned i = 0; i < command_count; i++) {
        fprintf(out, "  %-12s ", commands[i]->head.name);
        wrap_print(out, width, commands[i]->head.doc, 15);
    }
    fputs("\n"
          "  --version    the version\n"
          "  --help       show this help; 'orrery COMMAND --help' describes a command\n"
          "\n"
          "Data goes to stdout, notes to stderr.\n"
          "exit code: 0 ok, 1 internal or input/output error, 2 wrong usage, 3 scenario rejected,\n"
          "4 nothing fits, 5 a limit was hit, 6 an expectation does not hold, 130 interrupted\n"
          "\n"
          "example:\n"
          "  orrery run scenarios/llama3-70b-64xh100.yaml\n",
          out);
}
