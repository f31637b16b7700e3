#include "analysis/record/evidence/expectation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/names.h"
#include "scenarios/language/problems.h"
#include "scenarios/language/quantity.h"
#include "scenarios/language/value.h"

enum {
    DIGITS_ROUNDED = 3, /* from these on a bound is compared as it is written */
    DIGITS_EXACT = 16,  /* and from these on as it is: a double has no more */
    DIGITS_SHOWN = 6,
    TEXT_BYTES = 64
};
enum relation {
    IS,
    AT_LEAST,
    AT_MOST,
    ABOVE,
    BELOW
};
struct bound {
    enum relation relation;
    double number;     /* SI */
    double written;    /* in the unit in which it is written */
    unsigned digits;   /* that are written */
    const char *word;  /* of a text: the text itself */
    const char *words; /* as a message shows the whole */
};
/* One name with all that stands behind it. */
struct expectation {
    const struct row_column *column;
    const char *text; /* what is not read yet */
};

static const struct {
    const char *sign;
    enum relation relation;
} signs[] = {{">=", AT_LEAST}, {"<=", AT_MOST}, {">", ABOVE}, {"<", BELOW}, {"=", IS}};

/* Types of the language for the units of metrics.h; PARAM_COUNT: it has none for that unit. */
static enum param_type type_of(const struct row_column *column)
{
    static const struct {
        const char *unit;
        enum param_type type;
    } types[] = {{"s", PARAM_TIME},       {"B", PARAM_BYTES},          {"W", PARAM_POWER},
                 {"USD", PARAM_MONEY},    {"FLOP/s", PARAM_FLOP_RATE}, {"B/s", PARAM_BANDWIDTH},
                 {"Hz", PARAM_FREQUENCY}, {"1", PARAM_RATIO}};
    if (column->flag)
        return PARAM_FLAG;
    if (column->type == ROW_TEXT)
        return PARAM_TEXT;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].unit, column->unit) == 0)
            return types[i].type;
    return PARAM_COUNT;
}

static bool has_key(const struct row_column *column)
{
    return strcmp(column->key, "no_key") != 0;
}

/* Is this the column's key, whole or without the unit at its end? */
static bool is_called(const struct row_column *column, const char *name, bool whole)
{
    static const char *const units[] = {"_s", "_bytes", "_usd", "_w", "_j"};
    const size_t length = strlen(name);
    if (!has_key(column) || whole)
        return has_key(column) && strcmp(column->key, name) == 0;
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(column->key, name, length) == 0 && strcmp(column->key + length, units[i]) == 0)
            return true;
    return false;
}

static const struct row_column *find(const char *name)
{
    const struct row_table *table = &row_tables[ROW_run];
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < table->column_count; i++)
            if (is_called(&table->columns[i], name, pass == 0))
                return &table->columns[i];
    return NULL;
}

static struct name_list known_names(struct arena *arena, bool weeks)
{
    const struct row_table *table = &row_tables[ROW_run];
    const char **names = ARENA_ARRAY(arena, const char *, table->column_count);
    unsigned count = 0;
    for (unsigned i = 0; i < table->column_count; i++)
        if (has_key(&table->columns[i]) && (weeks || table->columns[i].when != ROW_WEEKS))
            names[count++] = table->columns[i].key;
    return (struct name_list){names, count};
}

/* Digits of the number from the first that is not 0. */
static unsigned digits_in(const char *text)
{
    unsigned count = 0;
    for (text += strspn(text, "+-"); strchr("0123456789.", *text) != NULL && *text; text++)
        if (*text != '.' && (*text != '0' || count > 0))
            count++;
    return count;
}

/* Reads a number of the column's kind; false with the reason. */
static bool read_number(const struct row_column *column, const char *text, const char *shown,
                        double *number, char *why)
{
    const enum param_type type = type_of(column);
    struct quantity quantity;
    bool read = quantity_read(type, text, shown, &quantity, why);
    /* What has no type in the language may have decimals, where it is no count. */
    if (!read && type == PARAM_COUNT && column->type == ROW_REAL && strchr(text, '%') == NULL) {
        read = quantity_read(PARAM_RATIO, text, shown, &quantity, why);
        if (!read)
            snprintf(why, QUANTITY_TEXT_MAX, "'%s' is not a plain number%s%s", shown,
                     *column->unit ? "; it is in " : "", column->unit);
    }
    *number = quantity.number;
    return read;
}

/* Takes the next bound of the text; false with the reason. */
static bool take(struct arena *arena, struct expectation *of, struct bound *out, char *why)
{
    const bool orders = of->column->type != ROW_TEXT && !of->column->flag;
    of->text += strspn(of->text, " ");
    const size_t length = of->column->type == ROW_TEXT ? strlen(of->text) : strcspn(of->text, ",");
    const bool more = of->text[length] == ',';
    char *text = arena_format(arena, "%.*s", (int)length, of->text);
    of->text += length + (more ? 1 : 0);
    for (char *end = text + strlen(text); end > text && end[-1] == ' '; *end = '\0')
        end--;
    *out = (struct bound){.relation = IS, .words = source_clean(arena, text)};
    for (unsigned i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t sign = strlen(signs[i].sign);
        if (strncmp(text, signs[i].sign, sign) != 0)
            continue;
        out->relation = signs[i].relation;
        text += sign + strspn(text + sign, " ");
        break;
    }
    out->word = text;
    if (more && of->text[strspn(of->text, " ")] == '\0') {
        snprintf(why, QUANTITY_TEXT_MAX,
                 "a comma stands between two bounds, and the last is missing");
        return false;
    }
    if (!orders && out->relation != IS) {
        snprintf(why, QUANTITY_TEXT_MAX, "this has no order, so it takes a value and no bound");
        return false;
    }
    if (of->column->type == ROW_TEXT)
        return true;
    out->written = strtod(text, NULL);
    out->digits = digits_in(text);
    return read_number(of->column, text, source_quote(arena, text), &out->number, why);
}

static void check(struct scenario *scenario, const struct value *member)
{
    struct arena *arena = scenario->arena;
    const char *path = arena_format(arena, "expect.%s", source_clean(arena, member->key));
    const struct expectation all = {find(member->key), member->text};
    char why[QUANTITY_TEXT_MAX];
    if (all.column == NULL) {
        scenario_reject_at(
            scenario, member->key_mark,
            arena_format(arena, "%s: no result has this name%s", path,
                         names_advice(arena, member->key, known_names(arena, scenario->has_run))));
        return;
    }
    if (all.column->when == ROW_WEEKS && !scenario->has_run) {
        scenario_reject_at(
            scenario, member->key_mark,
            arena_format(arena, "%s: is of weeks, which a scenario has with `run:`", path));
        return;
    }
    struct expectation left = all;
    do {
        struct bound bound;
        if (!take(arena, &left, &bound, why)) {
            scenario_reject_at(scenario, member->mark, arena_format(arena, "%s: %s", path, why));
            return;
        }
    } while (*left.text != '\0');
    for (const struct value *other = scenario->expect->first; other != member; other = other->next)
        if (find(other->key) == all.column)
            scenario_reject_at(scenario, member->key_mark,
                               arena_format(arena,
                                            "%s: says '%s' a second time; several bounds "
                                            "stand in one text, with commas",
                                            path, source_quote(arena, other->key)));
}

void expectation_check(struct scenario *scenario)
{
    if (scenario->expect == NULL || scenario->diagnostics.error_count > 0)
        return;
    for (const struct value *m = scenario->expect->first; m != NULL; m = m->next)
        check(scenario, m);
}

bool expectation_is_of(const struct scenario *scenario, const char *key)
{
    if (scenario->expect == NULL)
        return false;
    for (const struct value *m = scenario->expect->first; m != NULL; m = m->next)
        if (find(m->key) == find(key))
            return true;
    return false;
}

static double rounded(double number, unsigned digits)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%.*e", (int)digits - 1, number);
    return strtod(text, NULL);
}

static bool compares(enum relation relation, double a, double b)
{
    switch (relation) {
    case IS:
        return a == b;
    case AT_LEAST:
        return a >= b;
    case AT_MOST:
        return a <= b;
    case ABOVE:
        return a > b;
    case BELOW:
        return a < b;
    }
    UNREACHABLE("every relation stands above");
}

static bool number_holds(const struct row_column *column, const struct bound *bound, double is)
{
    const bool strict = bound->relation == ABOVE || bound->relation == BELOW;
    const bool as_written = !strict && column->type == ROW_REAL &&
                            bound->digits >= DIGITS_ROUNDED && bound->digits < DIGITS_EXACT &&
                            bound->written != 0.0;
    if (!as_written)
        return compares(bound->relation, is, bound->number);
    const double unit = bound->number / bound->written;
    return compares(bound->relation, rounded(is / unit, bound->digits),
                    rounded(bound->written, bound->digits));
}

/* The cell of a column with numbers; NAN where it is null. */
static double number_in(const struct run_row *run, const struct row_column *column)
{
    if (column->type == ROW_REAL)
        return row_real(run, column);
    const int64_t integer = row_integer(run, column);
    return integer == ROW_NULL ? NAN : (double)integer;
}

static bool holds(const struct row_column *column, const struct bound *bound,
                  const struct run_row *run)
{
    if (column->type != ROW_TEXT)
        return number_holds(column, bound, number_in(run, column)); /* of NAN nothing does */
    const char *is = row_text(run, column);
    return is != NULL && strcmp(is, bound->word) == 0;
}

/* What the number is, in the unit of the bound, with the digits that tell it from the bound. */
static const char *told(struct arena *arena, const struct row_column *column,
                        const struct bound *bound, const struct run_row *run)
{
    const enum param_type type = type_of(column);
    if (column->type == ROW_TEXT)
        return row_text(run, column) != NULL
                   ? arena_format(arena, "'%s'", source_clean(arena, row_text(run, column)))
                   : "there is none";
    const double is = number_in(run, column);
    if (isnan(is))
        return column->when == ROW_TIMED ? "there is none: memory runs out before a step is timed"
                                         : "there is none";
    if (column->flag)
        return is != 0.0 ? "true" : "false";
    char *text = arena_alloc(arena, TEXT_BYTES, 1);
    if (column->type == ROW_REAL && bound->digits > DIGITS_SHOWN)
        snprintf(text, TEXT_BYTES, "%.17g %s", is,
                 strcmp(column->unit, "1") == 0 ? "" : column->unit);
    else if (type == PARAM_COUNT)
        snprintf(text, TEXT_BYTES, column->type == ROW_REAL ? "%.6g %s" : "%.0f %s", is,
                 column->unit);
    else
        quantity_write_like(type, is, bound->word, text, TEXT_BYTES);
    for (char *end = text + strlen(text); end > text && end[-1] == ' '; *end = '\0')
        end--;
    return text;
}

/* The first bound of a name that does not hold; false: all do. */
static bool find_broken(struct arena *arena, const struct value *member, const struct run_row *run,
                        struct bound *bound)
{
    struct expectation left = {find(member->key), member->text};
    do {
        char why[QUANTITY_TEXT_MAX];
        const bool read = take(arena, &left, bound, why);
        CHECK(read);
        if (!holds(left.column, bound, run))
            return true;
    } while (*left.text != '\0');
    return false;
}

/* The first bound of a name that does not hold, told; true: all do. */
static bool judge(struct problems *problems, const struct value *member, const struct run_row *run)
{
    const struct row_column *column = find(member->key);
    struct bound bound;
    if (!find_broken(problems->arena, member, run, &bound))
        return true;
    problems_error(
        problems, member->mark, "expect.%s: expected %s, but %s%s", member->key, bound.words,
        column->type == ROW_TEXT || column->flag || !isnan(number_in(run, column)) ? "it is " : "",
        told(problems->arena, column, &bound, run));
    return false;
}

unsigned expectation_answers(const struct scenario *scenario, const struct run_row *run,
                             struct arena *arena, struct expectation_answer **out)
{
    unsigned count = 0;
    for (const struct value *m = scenario->expect->first; m != NULL; m = m->next)
        count++;
    struct expectation_answer *answer = ARENA_ARRAY(arena, struct expectation_answer, count);
    *out = answer;
    for (const struct value *m = scenario->expect->first; m != NULL; m = m->next, answer++) {
        struct bound bound;
        *answer = (struct expectation_answer){m->key, m->text, find(m->key),
                                              !find_broken(arena, m, run, &bound)};
    }
    return count;
}

unsigned expectation_tell(const struct scenario *scenario, const struct run_row *run, FILE *out,
                          bool colour)
{
    if (scenario->expect == NULL)
        return 0;
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    problems->arena = arena;
    unsigned failed = 0;
    for (const struct value *m = scenario->expect->first; m != NULL; m = m->next)
        failed += judge(problems, m, run) ? 0 : 1;
    for (unsigned i = 0; i < problems->kept_count; i++)
        scenario_print_problem(&problems->kept[i], out, colour);
    if (failed > problems->kept_count)
        fprintf(out, "and %u more that do not hold\n", failed - problems->kept_count);
    arena_destroy(arena);
    return failed;
}
