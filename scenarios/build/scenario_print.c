/* scenario_print.c - problems as a compiler prints them:
 *
 *   file.yaml:7:11: error: unknown key 'tpp' in layout; did you mean 'tp'?
 *       7 | layout: {tpp: 8, pp: 2}
 *         |          ^~~
 *
 * A line of more than WINDOW characters is shown around its caret. */
#include <string.h>

#include "scenarios/build/scenario.h"

enum {
    WINDOW = 120,
    LEAD = 40 /* characters kept before the caret of a long line */
};

struct print_colours {
    const char *bold, *error, *warning, *caret, *plain;
};
static const struct print_colours coloured = {"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;32m",
                                              "\033[0m"};
static const struct print_colours colourless = {"", "", "", "", ""};

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static unsigned characters(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += continues(*text) ? 0 : 1;
    return count;
}

static const char *skip(const char *text, unsigned count)
{
    while (*text && count > 0) {
        text++;
        while (continues(*text))
            text++;
        count--;
    }
    return text;
}

static void repeat(FILE *out, char character, unsigned count)
{
    while (count-- > 0)
        fputc(character, out);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void print_source(const struct problem *problem, FILE *out, const struct print_colours *c)
{
    unsigned length = characters(problem->source), before = problem->column - 1;
    unsigned start = length > WINDOW && before > LEAD ? before - LEAD : 0;
    const char *from = skip(problem->source, start), *to = skip(from, WINDOW);
    unsigned shown = least(length - least(start, length), WINDOW);
    unsigned caret = before - start, room = shown > caret ? shown - caret : 1;
    unsigned width = least(problem->width, room);
    fprintf(out, "%5u | %.*s\n      | ", problem->line, (int)(to - from), from);
    repeat(out, ' ', caret);
    fprintf(out, "%s^", c->caret);
    repeat(out, '~', width > 1 ? width - 1 : 0);
    fprintf(out, "%s\n", c->plain);
}

void scenario_print_problem(const struct problem *problem, FILE *out, bool colour)
{
    const struct print_colours *c = colour ? &coloured : &colourless;
    const char *tint = problem->warning ? c->warning : c->error;
    fprintf(out, "%s%s:%u:%u:%s %s%s:%s %s\n", c->bold, problem->file, problem->line,
            problem->column, c->plain, tint, problem->warning ? "warning" : "error", c->plain,
            problem->text);
    if (problem->source)
        print_source(problem, out, c);
}

void scenario_print_problems(const struct scenario *scenario, FILE *out, bool colour)
{
    unsigned errors = 0;
    for (unsigned i = 0; i < scenario->problem_count; i++) {
        errors += scenario->problems[i].warning ? 0 : 1;
        scenario_print_problem(&scenario->problems[i], out, colour);
    }
    if (scenario->error_count > errors)
        fprintf(out, "and %u more errors\n", scenario->error_count - errors);
}
