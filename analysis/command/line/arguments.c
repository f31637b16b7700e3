#include "analysis/command/line/arguments.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "scenarios/language/names.h"
#include "scenarios/language/quantity.h"
#include "sim/check.h"

#define COUNT_MOST 9.0e15 /* what a double counts by ones, and a scenario takes */

struct argument_reader {
    const struct argument_rules *rules;
    struct arguments *out; /* and what the command's struct has behind it */
    FILE *problems;
    unsigned problem_count;
};

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

/* 8, 1k, 15T, 1e8: as in a scenario. NULL, or what is the matter. */
static const char *read_count(const char *text, uint64_t *out)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (quantity_read(PARAM_COUNT, text, text, &quantity, why)) {
        *out = quantity.count;
        return quantity.count > 0 ? NULL : "expected a whole number above 0";
    }
    char *end;
    const double number = strtod(text, &end);
    return end != text && *end == '\0' && number >= COUNT_MOST ? "too large for a count"
                                                               : "expected a whole number above 0";
}

static bool whole_number(const char *text, uint64_t *out)
{
    if (!all_digits(text))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static void take_some(struct argument_reader *r, const struct option *o, const char *value,
                      uint64_t *target)
{
    const char *why = read_count(value, target);
    if (why != NULL)
        problem(r, o, value, why);
}

/* A document calls itself `compare_trace`, its choice is `compare-trace`: '-' and '_' are alike. */
static bool is_choice(const char *choice, const char *value)
{
    while (*choice != '\0' && (*choice == *value || (*choice == '-' && *value == '_')))
        choice++, value++;
    return *choice == '\0' && *value == '\0';
}

static void take_choice(struct argument_reader *r, const struct option *o, const char *value,
                        int *target)
{
    unsigned count = 0;
    for (; o->choices[count] != NULL; count++) {
        if (is_choice(o->choices[count], value)) {
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

static void take_repeated(struct argument_reader *r, const struct option *o, const char *value,
                          struct option_list *target)
{
    const unsigned most = o->type == OPTION_SET ? ARGUMENT_SET_MAX : ARGUMENT_VARY_MAX;
    if (o->type == OPTION_SET && (strchr(value, '=') == NULL || value[0] == '='))
        problem(r, o, value, "expected KEY=VALUE, as in layout.tp=4");
    else if (target->count == most)
        problem(r, o, value, "too many of these");
    else
        target->words[target->count++] = value;
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
    static const struct {
        enum param_type type;
        const char *expected;
    } of[] = {
        [OPTION_TIME] = {PARAM_TIME, "expected a time above 0, as in 60d, 12h or 2y"},
        [OPTION_MONEY] = {PARAM_MONEY, "expected an amount above 0, as in 250000USD or 5MUSD"},
        [OPTION_POWER] = {PARAM_POWER, "expected a power above 0, as in 800kW or 10MW"}};
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (!quantity_read(of[o->type].type, value, value, &quantity, why) || quantity.number <= 0.0) {
        problem(r, o, value, of[o->type].expected);
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
    if ((type == OPTION_PICTURE || type == OPTION_PAGE) && strcmp(value, "-") == 0)
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

static void take_size(struct argument_reader *r, const struct option *o, const char *value,
                      double *bytes)
{
    if (o->type == OPTION_LIMIT && *value != '\0' && all_zeros(value))
        *bytes = 0.0;
    else if (!format_parse_size(value, bytes))
        problem(r, o, value, "expected a size, as in 64k, 8GiB or 1.5GB");
}

static void take_value(struct argument_reader *r, const struct option *o, const char *value)
{
    CHECK(o->member == option_member_of(o->type));
    CHECK(o->offset < r->rules->bytes);
    void *member = (char *)r->out + o->offset;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        break;
    case OPTION_MAYBE:
        if (!whole_number(value, member) || all_zeros(value))
            problem(r, o, value, "expected a whole number above 0, or none");
        break;
    case OPTION_SOME:
        take_some(r, o, value, member);
        break;
    case OPTION_COUNT:
        if (!whole_number(value, member))
            problem(r, o, value, "expected a whole number");
        break;
    case OPTION_FACTOR:
        take_factor(r, o, value, member);
        break;
    case OPTION_SIZE:
    case OPTION_LIMIT:
        take_size(r, o, value, member);
        break;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_FOLDER:
    case OPTION_PICTURE:
    case OPTION_PAGE:
    case OPTION_OUTPUT:
        take_file(r, o, value, member);
        break;
    case OPTION_DATABASE:
        take_file(r, o, value, &((struct database_arguments *)member)->path);
        break;
    case OPTION_CHOICE:
        take_choice(r, o, value, member);
        break;
    case OPTION_RATIO:
    case OPTION_SHARE:
        take_ratio(r, o, value, member);
        break;
    case OPTION_TIME:
    case OPTION_MONEY:
    case OPTION_POWER:
        take_quantity(r, o, value, member);
        break;
    case OPTION_SET:
    case OPTION_VARY:
    case OPTION_STEP:
        take_repeated(r, o, value, member);
        break;
    }
}

static void mark_given(const struct argument_reader *r, const struct option *o)
{
    if (o->given_offset != OPTION_NO_OFFSET)
        *(bool *)((char *)r->out + o->given_offset) = true;
}

/* The last of two values would count, and the first be lost without a word. */
static void refuse_second(struct argument_reader *r, const struct option *o)
{
    bool *given = &r->out->given[o - r->rules->options];
    if (*given && o->value != NULL && o->member != MEMBER_LIST) {
        fprintf(r->problems, "orrery %s: %s is given twice; it takes one value\n",
                r->rules->command, o->name);
        r->problem_count++;
    }
    *given = true;
}

/* Reads the option argv[at]; returns how many arguments it took. */
static int take_option(struct argument_reader *r, int count, char **argv, int at)
{
    const char *given = argv[at];
    const char *equals = given[1] == '-' ? strchr(given, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - given) : strlen(given);
    const struct option *o = option_find(r->rules->options, given, length);
    if (o == NULL) {
        unknown_option(r, given, length);
        return 1;
    }
    CHECK(o - r->rules->options < OPTION_MAX);
    refuse_second(r, o);
    if (o->value == NULL) {
        if (equals != NULL)
            problem(r, o, equals, "takes no value");
        else
            take_value(r, o, "");
        mark_given(r, o);
        return 1;
    }
    if (equals != NULL) {
        mark_given(r, o);
        take_value(r, o, equals + 1);
        return 1;
    }
    if (o->type == OPTION_MAYBE && (at + 1 == count || !all_digits(argv[at + 1]))) {
        mark_given(r, o);
        return 1;
    }
    if (at + 1 == count) {
        fprintf(r->problems, "orrery %s: %s needs a value: %s %s\n", r->rules->command, o->name,
                o->name, o->value);
        r->problem_count++;
        return 1;
    }
    mark_given(r, o);
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

static bool was_given(const struct argument_reader *r, const char *name)
{
    const struct option *o = option_find(r->rules->options, name, strlen(name));
    CHECK(o != NULL);
    return r->out->given[o - r->rules->options];
}

static void refuse_conflicts(struct argument_reader *r)
{
    const struct option_conflict *c = r->rules->conflicts;
    for (; c != NULL && c->one != NULL; c++) {
        if (!was_given(r, c->one) || !was_given(r, c->other))
            continue;
        fprintf(r->problems, "orrery %s: %s\n", r->rules->command, c->why);
        r->problem_count++;
    }
}

static bool asks_help(const struct argument_rules *rules, int count, char **argv)
{
    for (int i = 0; i < count && strcmp(argv[i], "--") != 0; i++) {
        bool asked = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (asked && option_find(rules->options, "--help", 6) != NULL)
            return true;
    }
    return false;
}

/* Zero, and the defaults that rows state, which are values that the option itself would take. */
static void begin(struct argument_reader *r)
{
    memset(r->out, 0, r->rules->bytes);
    r->out->rules = *r->rules;
    for (const struct option *o = r->rules->options; o->name != NULL; o++)
        if (o->usual != NULL)
            take_value(r, o, o->usual);
    CHECK(r->problem_count == 0);
}

bool arguments_read(const struct argument_rules *rules, int count, char **argv, void *out,
                    FILE *problems)
{
    struct arguments *line = out;
    struct argument_reader r = {.rules = rules, .out = line, .problems = problems};
    CHECK(rules->bytes >= sizeof *line);
    begin(&r);
    if (asks_help(rules, count, argv)) {
        line->help = true;
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
    if (wanted != NULL && wanted[0] != '[' && line->positional_count == 0) {
        fprintf(problems, "orrery %s: %s is missing; see 'orrery %s --help'\n", rules->command,
                wanted, rules->command);
        r.problem_count++;
    }
    refuse_conflicts(&r);
    return r.problem_count == 0;
}

size_t arguments_step_file(const char *value)
{
    static const char form[] = ":step=";
    const char *last = NULL;
    for (const char *at = strstr(value, form); at != NULL; at = strstr(at + 1, form))
        last = at;
    return last != NULL ? (size_t)(last - value) : 0;
}

bool arguments_positional_file(const struct argument_rules *rules, unsigned n)
{
    static const char *const words[] = {"ACTION", "COMMAND", "FAMILY", "KIND", "NAME", "SHELL"};
    const char *at = rules->positional != NULL ? rules->positional : "";
    for (const char *next = strchr(at, ' '); n > 0 && next != NULL; next = strchr(at, ' ')) {
        at = next + 1;
        n--;
    }
    at += strspn(at, "[");
    const size_t length = strcspn(at, " []");
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], at, length) == 0)
            return false;
    return length > 0;
}

unsigned arguments_threads(uint64_t asked, unsigned usual)
{
    if (asked == 0)
        return usual;
    return asked < ARGUMENT_THREADS_MAX ? (unsigned)asked : ARGUMENT_THREADS_MAX;
}
