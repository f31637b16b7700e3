#include "analysis/line/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text/format.h"
#include "scenarios/language/names.h"
#include "scenarios/language/quantity.h"
#include "sim/check.h"

const char *const export_format_names[] = {"chrome", "csv", "svg", "failures", NULL};

enum {
    OPTION_MAX = 64
};

struct argument_reader {
    const struct argument_rules *rules;
    struct arguments *out;
    FILE *problems;
    unsigned problem_count;
};

static const struct option *find(const struct option *options, const char *name, size_t length)
{
    for (; options->name != NULL; options++)
        if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

static void unknown_option(struct argument_reader *r, const char *given, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), given);
    const char *known[OPTION_MAX];
    unsigned count = 0;
    for (const struct option *o = r->rules->options; o->name != NULL && count < OPTION_MAX; o++)
        known[count++] = o->name;
    const char *nearest = names_nearest(name, (struct name_list){known, count});
    fprintf(r->problems, "orrery %s: unknown option '%s'", r->rules->command, format_shown(name).s);
    if (nearest != NULL)
        fprintf(r->problems, "; did you mean '%s'?", nearest);
    fputc('\n', r->problems);
    r->problem_count++;
}

static void problem(struct argument_reader *r, const struct option *o, const char *value,
                    const char *want)
{
    fprintf(r->problems, "orrery %s: %s %s: %s\n", r->rules->command, o->name,
            format_shown(value).s, want);
    r->problem_count++;
}

static bool all_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static bool all_zeros(const char *text)
{
    return strspn(text, "0") == strlen(text);
}

static bool whole_number(const char *text, uint64_t *out)
{
    if (!all_digits(text))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static void take_choice(struct argument_reader *r, const struct option *o, const char *value,
                        int *target)
{
    unsigned count = 0;
    for (; o->choices[count] != NULL; count++) {
        if (strcmp(o->choices[count], value) == 0) {
            *target = (int)count;
            return;
        }
    }
    const char *nearest = names_nearest(value, (struct name_list){o->choices, count});
    fprintf(r->problems, "orrery %s: %s %s: expected one of", r->rules->command, o->name,
            format_shown(value).s);
    for (int i = 0; o->choices[i] != NULL; i++)
        fprintf(r->problems, " %s", o->choices[i]);
    if (nearest != NULL)
        fprintf(r->problems, "; did you mean '%s'?", nearest);
    fputc('\n', r->problems);
    r->problem_count++;
}

static void take_set(struct argument_reader *r, const struct option *o, const char *value)
{
    if (strchr(value, '=') == NULL || value[0] == '=')
        problem(r, o, value, "expected KEY=VALUE, as in layout.tp=4");
    else if (r->out->set_count == ARGUMENT_SET_MAX)
        problem(r, o, value, "too many of these");
    else
        r->out->sets[r->out->set_count++] = value;
}

static void take_vary(struct argument_reader *r, const struct option *o, const char *value)
{
    if (r->out->vary_count == ARGUMENT_VARY_MAX)
        problem(r, o, value, "too many of these");
    else
        r->out->varies[r->out->vary_count++] = value;
}

static void take_step(struct argument_reader *r, const struct option *o, const char *value)
{
    if (r->out->measured_count == ARGUMENT_VARY_MAX)
        problem(r, o, value, "too many of these");
    else
        r->out->measured[r->out->measured_count++] = value;
}

static void take_ratio(struct argument_reader *r, const struct option *o, const char *value,
                       double *target)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    bool good = quantity_read(PARAM_RATIO, value, value, &quantity, why);
    bool least = quantity.number > 0.0 || (o->type == OPTION_SHARE && quantity.number == 0.0);
    if (!good || !least || quantity.number >= 1.0) {
        problem(r, o, value, "expected a share between 0 and 1, as in 0.5% or 0.005");
        return;
    }
    *target = quantity.number;
}

static void take_quantity(struct argument_reader *r, const struct option *o, const char *value,
                          double *target)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    const bool time = o->type == OPTION_TIME;
    bool good = quantity_read(time ? PARAM_TIME : PARAM_MONEY, value, value, &quantity, why);
    if (!good || quantity.number <= 0.0) {
        problem(r, o, value,
                time ? "expected a time above 0, as in 60d, 12h or 2y"
                     : "expected an amount above 0, as in 250000USD or 5MUSD");
        return;
    }
    *target = quantity.number;
}

static void take_factor(struct argument_reader *r, const struct option *o, const char *value,
                        double *target)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(number) || number <= 1.0) {
        problem(r, o, value, "expected a number greater than 1");
        return;
    }
    *target = number;
}

/* Names that mean something to other programs, and would make a strange file here. */
static const char *why_no_file(enum option_type type, const char *value)
{
    if (value[0] == '\0')
        return "expected a value that is not empty";
    if (type == OPTION_FILE && strcmp(value, "-") == 0)
        return "standard output carries the report; name a file";
    if (type != OPTION_DATABASE)
        return NULL;
    if (strcmp(value, "-") == 0)
        return "a database cannot be a stream; name a file, or leave it out with --no-db";
    if (strcmp(value, ":memory:") == 0)
        return "nothing would be kept of it; leave the database out with --no-db";
    return strncmp(value, "file:", 5) == 0
               ? "a path is expected, not a URI; a file of such a name is ./file:NAME"
               : NULL;
}

static void take_file(struct argument_reader *r, const struct option *o, const char *value,
                      const char **target)
{
    const char *why = why_no_file(o->type, value);
    if (why != NULL)
        problem(r, o, value, why);
    bool stream = o->type == OPTION_OUTPUT && strcmp(value, "-") == 0;
    *target = stream ? NULL : value;
}

static void take_value(struct argument_reader *r, const struct option *o, const char *value)
{
    char *base = (char *)r->out;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)(base + o->offset) = true;
        break;
    case OPTION_MAYBE:
        if (!whole_number(value, (uint64_t *)(void *)(base + o->offset)) || all_zeros(value))
            problem(r, o, value, "expected a whole number above 0, or none");
        break;
    case OPTION_SOME:
        if (!whole_number(value, (uint64_t *)(void *)(base + o->offset)) || all_zeros(value))
            problem(r, o, value, "expected a whole number above 0");
        break;
    case OPTION_COUNT:
        if (!whole_number(value, (uint64_t *)(void *)(base + o->offset)))
            problem(r, o, value, "expected a whole number");
        break;
    case OPTION_FACTOR:
        take_factor(r, o, value, (double *)(void *)(base + o->offset));
        break;
    case OPTION_SIZE:
        if (!format_parse_size(value, (double *)(void *)(base + o->offset)))
            problem(r, o, value, "expected a size, as in 64k, 8GiB or 1.5GB");
        break;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_FOLDER:
    case OPTION_FILE:
    case OPTION_OUTPUT:
    case OPTION_DATABASE:
        take_file(r, o, value, (const char **)(void *)(base + o->offset));
        break;
    case OPTION_CHOICE:
        take_choice(r, o, value, (int *)(void *)(base + o->offset));
        break;
    case OPTION_RATIO:
    case OPTION_SHARE:
        take_ratio(r, o, value, (double *)(void *)(base + o->offset));
        break;
    case OPTION_TIME:
    case OPTION_MONEY:
        take_quantity(r, o, value, (double *)(void *)(base + o->offset));
        break;
    case OPTION_SET:
        take_set(r, o, value);
        break;
    case OPTION_VARY:
        take_vary(r, o, value);
        break;
    case OPTION_STEP:
        take_step(r, o, value);
        break;
    }
    if (o->given_offset != OPTION_NO_OFFSET)
        *(bool *)(base + o->given_offset) = true;
}

/* Reads the option argv[at]; returns how many arguments it took. */
static int take_option(struct argument_reader *r, int count, char **argv, int at)
{
    const char *given = argv[at];
    const char *equals = given[1] == '-' ? strchr(given, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - given) : strlen(given);
    const struct option *o = find(r->rules->options, given, length);
    if (o == NULL) {
        unknown_option(r, given, length);
        return 1;
    }
    if (o->value == NULL) {
        if (equals != NULL)
            problem(r, o, equals, "takes no value");
        else
            take_value(r, o, "");
        return 1;
    }
    if (equals != NULL) {
        take_value(r, o, equals + 1);
        return 1;
    }
    if (o->type == OPTION_MAYBE && (at + 1 == count || !all_digits(argv[at + 1]))) {
        *(bool *)((char *)r->out + o->given_offset) = true;
        return 1;
    }
    if (at + 1 == count) {
        fprintf(r->problems, "orrery %s: %s needs a value: %s %s\n", r->rules->command, o->name,
                o->name, o->value);
        r->problem_count++;
        return 1;
    }
    take_value(r, o, argv[at + 1]);
    return 2;
}

static void take_positional(struct argument_reader *r, const char *value)
{
    unsigned allowed = 0;
    for (const char *word = r->rules->positional; word != NULL; word = strchr(word + 1, ' '))
        allowed++;
    if (allowed > 0 && strstr(r->rules->positional, "...") != NULL)
        allowed = ARGUMENT_POSITIONAL_MAX;
    CHECK(allowed <= ARGUMENT_POSITIONAL_MAX);
    if (r->out->positional_count >= allowed) {
        fprintf(r->problems, "orrery %s: unexpected argument '%s'\n", r->rules->command,
                format_shown(value).s);
        r->problem_count++;
        return;
    }
    r->out->positional[r->out->positional_count++] = value;
}

static bool asks_help(const struct argument_rules *rules, int count, char **argv)
{
    for (int i = 0; i < count && strcmp(argv[i], "--") != 0; i++) {
        bool asked = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (asked && find(rules->options, "--help", 6) != NULL)
            return true;
    }
    return false;
}

bool arguments_read(const struct argument_rules *rules, int count, char **argv,
                    struct arguments *out, FILE *problems)
{
    *out = (struct arguments){.rules = *rules, .detail = DETAIL_DEFAULT, .format = EXPORT_CHROME};
    struct argument_reader r = {.rules = rules, .out = out, .problems = problems};
    if (asks_help(rules, count, argv)) {
        out->help = true;
        return true;
    }
    bool options = true;
    for (int at = 0; at < count;) {
        if (options && strcmp(argv[at], "--") == 0) {
            options = false;
            at++;
        } else if (options && argv[at][0] == '-' && argv[at][1] != '\0') {
            at += take_option(&r, count, argv, at);
        } else {
            take_positional(&r, argv[at++]);
        }
    }
    const char *wanted = rules->positional;
    if (wanted != NULL && wanted[0] != '[' && out->positional_count == 0) {
        fprintf(problems, "orrery %s: %s is missing; see 'orrery %s --help'\n", rules->command,
                wanted, rules->command);
        r.problem_count++;
    }
    return r.problem_count == 0;
}

unsigned arguments_threads(const struct arguments *arguments, unsigned usual)
{
    if (arguments->threads == 0)
        return usual;
    return arguments->threads < ARGUMENT_THREADS_MAX ? (unsigned)arguments->threads
                                                     : ARGUMENT_THREADS_MAX;
}
