#include "analysis/tell/document/document_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "scenarios/language/source.h"
#include "sim/check.h"

static struct text document_count_text(double value)
{
    return isfinite(value) ? format_count(value > 0.0 ? (uint64_t)fmin(value, 1e18) : 0)
                           : (struct text){"-"};
}

static struct text document_digits(double value)
{
    struct text out;
    snprintf(out.s, sizeof out.s, "%.0f", value);
    return out;
}

static const struct document_format {
    const char *name;
    struct text (*of)(double value);
} formats[DOCUMENT_UNIT_COUNT] = {
#define X(unit, name, format) [unit] = {name, format},
    DOCUMENT_UNITS(X)
#undef X
};

static size_t name_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789.");
}

/* Of `fact`, what the path names: a.b; of an object that is not known, that it is not known. NULL:
 * nothing. */
static const struct fact *descend(const struct fact *fact, const char *path, size_t length)
{
    while (fact != NULL && length > 0) {
        const char *dot = memchr(path + 1, '.', length - 1);
        const size_t own = dot != NULL ? (size_t)(dot - path) : length;
        fact = document_find(fact, path, own);
        path += own < length ? own + 1 : own;
        length -= own < length ? own + 1 : own;
        if (fact != NULL && fact->kind == FACT_NULL)
            break;
    }
    return fact;
}

static struct fact counted(int64_t count)
{
    return (struct fact){.kind = FACT_INTEGER, .unit = IN_COUNT, .value.integer = count};
}

static struct fact named(const struct document_scope *scope, const char *name, size_t length)
{
    static const char count[] = ".count", row[] = "row";
    const size_t tail = sizeof count - 1;
    const bool counts = length > tail && memcmp(name + length - tail, count, tail) == 0;
    const struct fact *found = NULL;
    if (length == sizeof row - 1 && memcmp(name, row, length) == 0)
        return counted((int64_t)scope->row[scope->depth - 1]);
    for (unsigned i = scope->depth; i-- > 0 && found == NULL;)
        found = descend(scope->object[i], name, counts ? length - tail : length);
    if (found == NULL) {
        if (!scope->blind)
            CHECK(scope->blind); /* a name that no fact has */
        return (struct fact){.kind = FACT_NULL};
    }
    return counts ? counted((int64_t)(found->kind == FACT_ARRAY ? found->value.of.count : 0))
                  : *found;
}

double document_number(const struct fact *value)
{
    return value->kind == FACT_REAL      ? value->value.real
           : value->kind == FACT_INTEGER ? (double)value->value.integer
                                         : (double)NAN;
}

static struct fact term(const struct document_scope *scope, const char **at)
{
    const size_t length = name_length(*at);
    CHECK(length > 0);
    const char *name = *at;
    *at += length;
    return named(scope, name, length);
}

struct fact document_value(const struct document_scope *scope, const char **at)
{
    struct fact value = term(scope, at);
    const char sign = **at;
    if (sign != '/' && sign != '-')
        return value;
    ++*at;
    const struct fact other = term(scope, at);
    const double a = document_number(&value), b = document_number(&other);
    value.kind = FACT_REAL;
    value.unit = sign == '/' ? IN_RATIO : value.unit;
    value.value.real = sign == '/' ? a / b : a - b;
    return value;
}

bool document_holds(const struct fact *value)
{
    switch (value->kind) {
    case FACT_NULL:
        return false;
    case FACT_FLAG:
        return value->value.flag;
    case FACT_REAL:
        return isfinite(value->value.real);
    case FACT_WORD:
    case FACT_QUOTE:
        return *value->value.word != '\0';
    case FACT_ARRAY:
        return value->value.of.count > 0;
    case FACT_INTEGER:
    case FACT_OBJECT:
        break;
    }
    return true;
}

/* ".3f", "+.4f", ".4g", "+.1%": the part of printf's formats that reports need. */
static const char *by_digits(struct arena *arena, double number, const char *format, size_t length)
{
    const bool sign = *format == '+';
    const int digits = (int)strtol(format + sign + 1, NULL, 10);
    if (format[length - 1] == 'g')
        return arena_format(arena, "%.*g", digits, number);
    if (format[length - 1] == '%')
        return arena_format(arena, "%+.*f %%", digits, 100.0 * number);
    return sign ? arena_format(arena, "%+.*f", digits, number)
                : arena_format(arena, "%.*f", digits, number);
}

static const char *show_number(struct arena *arena, const struct fact *value, const char *format,
                               size_t length)
{
    const double number = document_number(value);
    const bool sign = length > 0 && *format == '+';
    if (length > 0 && format[sign] == '.')
        return by_digits(arena, number, format, length);
    if (sign) { /* a format of no length may be NULL */
        format++;
        length--;
    }
    unsigned unit = value->unit;
    if (length > 0)
        for (unit = 0;
             unit < DOCUMENT_UNIT_COUNT && (strncmp(formats[unit].name, format, length) != 0 ||
                                            formats[unit].name[length] != '\0');
             unit++)
            continue;
    CHECK(unit < DOCUMENT_UNIT_COUNT);
    if (value->kind == FACT_INTEGER && unit == IN_DIGITS)
        return arena_format(arena, "%" PRIu64, (uint64_t)value->value.integer);
    if (value->kind == FACT_INTEGER && unit == IN_COUNT)
        return arena_text(arena, format_count((uint64_t)value->value.integer).s);
    return arena_format(arena, "%s%s", sign && number > 0.0 ? "+" : "", formats[unit].of(number).s);
}

static const char *show_words(struct arena *arena, const struct fact *value, const char *format,
                              size_t length)
{
    const char *word = value->value.word;
    if (length == 0)
        return value->kind == FACT_WORD ? word : arena_text(arena, format_shown(word).s);
    CHECK(strchr("cwr", *format) != NULL);
    return *format == 'c'   ? source_clean(arena, word)
           : *format == 'w' ? source_whole(arena, word)
                            : word;
}

const char *document_shown(struct arena *arena, const struct fact *value, const char *format,
                           size_t length)
{
    switch (value->kind) {
    case FACT_INTEGER:
    case FACT_REAL:
        return show_number(arena, value, format, length);
    case FACT_WORD:
    case FACT_QUOTE:
        return show_words(arena, value, format, length);
    case FACT_NULL:
        return "-";
    case FACT_FLAG:
    case FACT_OBJECT:
    case FACT_ARRAY:
        break;
    }
    CHECK(false); /* these have no words */
    return "";
}
