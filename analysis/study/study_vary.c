#include "analysis/study/study_vary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "scenarios/language/quantity.h"
#include "sim/check.h"

/* Types that a number may have, in the order in which they are tried. */
static const enum param_type types[] = {
    PARAM_COUNT,     PARAM_RATIO,     PARAM_TIME,  PARAM_BYTES, PARAM_BANDWIDTH,
    PARAM_FLOP_RATE, PARAM_FREQUENCY, PARAM_POWER, PARAM_MONEY,
};
enum {
    TYPE_COUNT = sizeof types / sizeof *types,
    VALUE_TEXT_MAX = 64
};

struct range {
    double low, high;
    unsigned type; /* row of types */
    size_t count;
    bool log, counted; /* the number of points was given */
};

/* Row of the first type that takes the text; TYPE_COUNT: none does. */
static unsigned number_of(const char *text, unsigned first, double *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity quantity;
    for (unsigned i = first; i < TYPE_COUNT; i++) {
        if (quantity_read(types[i], text, text, &quantity, why)) {
            *out = quantity.number;
            return i;
        }
    }
    return TYPE_COUNT;
}

static bool refuse(struct error *error, const char *text, const char *why)
{
    return error_set(error,
                     "--vary %s: %s; write KEY=a,b,c or KEY=A..B:N or KEY=A..B:log:N, as in "
                     "checkpoint.interval=1min..4h:log:25",
                     format_shown(text).s, why);
}

/* ":log:N", ":N", ":log" or nothing. */
static bool read_tail(const char *tail, struct range *range)
{
    range->count = VARY_DEFAULT;
    if (strncmp(tail, ":log", 4) == 0) {
        range->log = true;
        tail += 4;
    }
    if (*tail == '\0')
        return true;
    if (*tail++ != ':' || strspn(tail, "0123456789") != strlen(tail) || strlen(tail) > 5)
        return false;
    range->count = (size_t)strtoul(tail, NULL, 10);
    range->counted = true;
    return range->count >= 2 && range->count <= VARY_VALUE_MAX;
}

/* Both ends in one type: "1..2.5" are ratios although 1 is a count too, and so is "0..1:5", where
 * more points are asked for than there are whole numbers. */
static bool read_ends(const char *low, const char *high, struct range *range)
{
    unsigned a = number_of(low, 0, &range->low), b = number_of(high, 0, &range->high);
    unsigned type = a > b ? a : b;
    bool whole = type < TYPE_COUNT && types[type] == PARAM_COUNT;
    if (whole && range->counted && (double)(range->count - 1) > range->high - range->low)
        type++;
    range->type = type;
    return type < TYPE_COUNT && number_of(low, type, &range->low) == type &&
           number_of(high, type, &range->high) == type;
}

static double range_value(const struct range *r, size_t i)
{
    double share = (double)i / (double)(r->count - 1);
    double value =
        r->log ? r->low * pow(r->high / r->low, share) : r->low + (r->high - r->low) * share;
    return types[r->type] == PARAM_COUNT ? round(value) : value;
}

/* Ends stay as they were typed. Values between them have six digits, and the number is that of the
 * text: what is played is what people read, to the last digit. Times below 10^6 s, which six digits
 * write plainly, stay in seconds. False where the value is larger than a text can say. */
static bool value_between(struct arena *arena, enum param_type type, double value, const char *like,
                          struct vary_value *out)
{
    const double seconds_most = 999999.5;
    char text[VALUE_TEXT_MAX], why[QUANTITY_TEXT_MAX];
    struct quantity quantity;
    if (type == PARAM_TIME && value >= 1.0 && value < seconds_most)
        snprintf(text, sizeof text, "%.6gs", value);
    else
        quantity_write_like(type, value, like, text, sizeof text);
    if (!quantity_read(type, text, text, &quantity, why))
        return false;
    *out = (struct vary_value){arena_text(arena, text), quantity.number, .between = true};
    return true;
}

static bool fill_range(struct arena *arena, const struct range *r, const char *low,
                       const char *high, struct vary *out)
{
    out->values = ARENA_ARRAY(arena, struct vary_value, r->count);
    out->values[out->count++] = (struct vary_value){.text = low, .number = r->low};
    for (size_t i = 1; i + 1 < r->count; i++) {
        const double number = range_value(r, i);
        struct vary_value value;
        if (!isfinite(number))
            return false;
        if (number >= r->high)
            break;
        if (!value_between(arena, types[r->type], number, low, &value))
            return false;
        if (value.number > out->values[out->count - 1].number && value.number < r->high)
            out->values[out->count++] = value;
    }
    out->values[out->count++] = (struct vary_value){.text = high, .number = r->high};
    out->numeric = true;
    out->range = true;
    out->log = r->log;
    out->type = types[r->type];
    return true;
}

static bool read_range(struct arena *arena, const char *text, char *low, char *dots,
                       struct vary *out, struct error *error)
{
    struct range range = {0};
    char *high = dots + 2, *tail = strchr(high, ':');
    *dots = '\0';
    if (!read_tail(tail ? tail : "", &range))
        return refuse(error, text, "what follows the range is not :N or :log:N with N from 2");
    if (tail)
        *tail = '\0';
    if (!read_ends(low, high, &range))
        return refuse(error, text, "the ends of the range are not two numbers of one kind");
    if (!(range.low < range.high))
        return refuse(error, text, "the range does not ascend");
    if (range.log && range.low <= 0.0)
        return refuse(error, text, "a logarithmic range starts above 0");
    if (!fill_range(arena, &range, low, high, out))
        return refuse(error, text, "the range is too wide");
    return true;
}

/* Whole numbers among ratios are ratios; other types do not mix. */
static bool joins(enum param_type so_far, enum param_type type)
{
    const bool plain = so_far == PARAM_COUNT || so_far == PARAM_RATIO;
    return so_far == type || (plain && (type == PARAM_COUNT || type == PARAM_RATIO));
}

static void note_number(struct vary *out, const char *word, bool first)
{
    double number = NAN;
    const unsigned row = number_of(word, 0, &number);
    const enum param_type type = row < TYPE_COUNT ? types[row] : PARAM_TEXT;
    const bool ascends = first || number > out->values[out->count - 1].number;
    out->numeric =
        row < TYPE_COUNT && (first || (out->numeric && ascends && joins(out->type, type)));
    if (first || type == PARAM_RATIO)
        out->type = type;
    out->values[out->count++] = (struct vary_value){.text = word, .number = number};
}

static bool read_list(struct arena *arena, const char *text, char *list, struct vary *out,
                      struct error *error)
{
    size_t commas = 0;
    for (const char *c = list; *c; c++)
        commas += *c == ',';
    if (commas >= VARY_VALUE_MAX)
        return refuse(error, text, "too many values");
    out->values = ARENA_ARRAY(arena, struct vary_value, commas + 1);
    for (char *word = list; word;) {
        char *comma = strchr(word, ',');
        if (comma)
            *comma++ = '\0';
        if (*word == '\0')
            return refuse(error, text, "a value is empty");
        note_number(out, word, out->count == 0);
        word = comma;
    }
    return true;
}

bool study_vary_read(struct arena *arena, const char *text, struct vary *out, struct error *error)
{
    char *copy = arena_text(arena, text), *equals = strchr(copy, '=');
    *out = (struct vary){.key = copy};
    if (equals == NULL || equals == copy || equals[1] == '\0')
        return refuse(error, text, "it has no key with values");
    *equals = '\0';
    char *dots = strstr(equals + 1, "..");
    if (dots)
        return read_range(arena, text, equals + 1, dots, out, error);
    return read_list(arena, text, equals + 1, out, error);
}

bool study_vary_points(const struct vary *varies, unsigned count, size_t *points,
                       struct error *error)
{
    *points = 1;
    for (unsigned k = 0; k < count; k++) {
        *points *= varies[k].count;
        if (*points > VARY_VALUE_MAX)
            return error_set(error,
                             "--vary: the grid has more than %d points; vary fewer keys or "
                             "fewer values",
                             VARY_VALUE_MAX);
    }
    return true;
}

const char *study_vary_label(struct arena *arena, const struct vary *varies, unsigned count,
                             size_t point)
{
    const char *label = "";
    for (unsigned k = 0; k < count; k++) {
        const size_t index = study_vary_index(varies, count, k, point);
        label = arena_format(arena, "%s%s%s=%s", label, k ? ", " : "", varies[k].key,
                             varies[k].values[index].text);
    }
    return label;
}

size_t study_vary_index(const struct vary *varies, unsigned count, unsigned k, size_t point)
{
    for (unsigned later = count - 1; later > k; later--)
        point /= varies[later].count;
    return point % varies[k].count;
}
