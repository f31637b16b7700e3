#include "scenarios/language/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/units.h"

enum {
    NUMBER_MAX = 64, /* characters of a number; more is no number that anyone writes */
    UNIT_COUNT_MAX = 16
};
/* Whole numbers are exact in a double up to 2^53. */
#define EXACT_MAX 9007199254740992.0
/* One above the largest count, 2^64. */
#define COUNT_END 18446744073709551616.0

struct quantity_unit {
    const char *name;
    double factor;
};
struct quantity_dimension {
    const char *name, *units; /* units as a message lists them */
    struct quantity_unit unit[UNIT_COUNT_MAX];
};

static const struct quantity_dimension dimensions[] = {
    [PARAM_TIME] = {"time",
                    "ns, us, ms, s, min, h, d, y",
                    {{"ns", NANOSECOND},
                     {"us", MICROSECOND},
                     {"ms", MILLISECOND},
                     {"s", 1.0},
                     {"min", MINUTE},
                     {"h", HOUR},
                     {"d", DAY},
                     {"y", YEAR}}},
    [PARAM_BYTES] = {"size",
                     "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB",
                     {{"B", 1.0},
                      {"kB", KILO},
                      {"MB", MEGA},
                      {"GB", GIGA},
                      {"TB", TERA},
                      {"PB", PETA},
                      {"KiB", KIB},
                      {"MiB", MIB},
                      {"GiB", GIB},
                      {"TiB", GIB *KIB}}},
    [PARAM_BANDWIDTH] = {"bandwidth",
                         "B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, b/s, kb/s, Mb/s, Gb/s, Tb/s",
                         {{"B/s", 1.0},
                          {"kB/s", KILO},
                          {"MB/s", MEGA},
                          {"GB/s", GIGA},
                          {"TB/s", TERA},
                          {"MiB/s", MIB},
                          {"GiB/s", GIB},
                          {"b/s", 1.0 / BITS_PER_BYTE},
                          {"kb/s", KILO / BITS_PER_BYTE},
                          {"Mb/s", MEGA / BITS_PER_BYTE},
                          {"Gb/s", GIGA / BITS_PER_BYTE},
                          {"Tb/s", TERA / BITS_PER_BYTE}}},
    [PARAM_FLOP_RATE] =
        {"FLOP rate",
         "MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s",
         {{"MFLOP/s", MEGA}, {"GFLOP/s", GIGA}, {"TFLOP/s", TERA}, {"PFLOP/s", PETA}}},
    [PARAM_FREQUENCY] = {"frequency",
                         "Hz, kHz, MHz, GHz",
                         {{"Hz", 1.0}, {"kHz", KILO}, {"MHz", MEGA}, {"GHz", GIGA}}},
    [PARAM_POWER] = {"power", "W, kW, MW", {{"W", 1.0}, {"kW", KILO}, {"MW", MEGA}}},
    [PARAM_MONEY] = {"money", "USD, kUSD, MUSD", {{"USD", 1.0}, {"kUSD", KILO}, {"MUSD", MEGA}}},
    [PARAM_FLAG] = {"flag", "", {{NULL, 0}}},
    [PARAM_COUNT] = {"count", "", {{NULL, 0}}},
    [PARAM_RATIO] = {"number", "", {{NULL, 0}}},
    [PARAM_CHOICE] = {"choice", "", {{NULL, 0}}},
    [PARAM_TEXT] = {"text", "", {{NULL, 0}}},
};

/* The suffixes of a count, as powers of ten, so that 2.3M is exactly 2300000. */
static const struct {
    const char *name, *exponent;
} count_suffixes[] = {{"", ""}, {"k", "e3"}, {"M", "e6"}, {"B", "e9"}, {"T", "e12"}};

const char *quantity_units(enum param_type type)
{
    return dimensions[type].units;
}

const char *quantity_si_unit(enum param_type type)
{
    const struct quantity_unit *unit = dimensions[type].unit;
    while (unit->name && unit->factor != 1.0)
        unit++;
    return unit->name ? unit->name : type == PARAM_FLOP_RATE ? "FLOP/s" : "";
}

const char *quantity_type_name(enum param_type type)
{
    return dimensions[type].name;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Characters of the number at the start of `text`; 0: none. */
static size_t number_length(const char *text)
{
    size_t at = strspn(text, "+-") == 1 ? 1 : 0;
    size_t whole = digits(text + at), fraction = 0;
    at += whole;
    if (text[at] == '.') {
        fraction = digits(text + at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-' ? 1 : 0;
        size_t power = digits(text + at + 1 + sign);
        if (power)
            at += 1 + sign + power;
    }
    return at;
}

__attribute__((format(printf, 2, 3))) static bool refuse(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, QUANTITY_TEXT_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* Splits into number and unit; refuses what is no finite decimal number. */
static bool split(const char *text, const char *shown, char number[NUMBER_MAX], const char **unit,
                  char *why)
{
    size_t length = number_length(text);
    if (length == 0)
        return refuse(why, "'%s' is not a number", shown);
    if (length >= NUMBER_MAX)
        return refuse(why, "'%s' has too many digits", shown);
    memcpy(number, text, length);
    number[length] = '\0';
    *unit = text + length + strspn(text + length, " ");
    if (!isfinite(strtod(number, NULL)))
        return refuse(why, "'%s' is too large", shown);
    return true;
}

static bool read_flag(const char *text, const char *shown, struct quantity *out, char *why)
{
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return refuse(why, "'%s' is neither true nor false", shown);
    *out = (struct quantity){.number = yes ? 1.0 : 0.0};
    return true;
}

/* Digits alone are exact up to 2^64 - 1; anything else must be a whole number up to 2^53. */
static bool read_count(const char *text, const char *shown, struct quantity *out, char *why)
{
    char number[NUMBER_MAX], scaled[NUMBER_MAX + 4];
    const char *unit = NULL, *exponent = NULL;
    if (!split(text, shown, number, &unit, why))
        return false;
    for (size_t i = 0; i < sizeof count_suffixes / sizeof count_suffixes[0]; i++)
        if (strcmp(unit, count_suffixes[i].name) == 0)
            exponent = count_suffixes[i].exponent;
    if (exponent == NULL || (*exponent && strpbrk(number, "eE")))
        return refuse(why, "'%s' is not a count; it may end in k, M, B or T", shown);
    snprintf(scaled, sizeof scaled, "%s%s", number, exponent);
    double value = strtod(scaled, NULL);
    if (value < 0 || value != floor(value))
        return refuse(why, "'%s' is not a whole number", shown);
    bool plain = digits(scaled) == strlen(scaled);
    errno = 0;
    out->count = plain ? strtoull(scaled, NULL, 10) : value <= EXACT_MAX ? (uint64_t)value : 0;
    if (errno == ERANGE || (!plain && value > EXACT_MAX))
        return refuse(why, "'%s' is too large", shown);
    out->number = (double)out->count;
    return true;
}

static bool read_ratio(const char *text, const char *shown, struct quantity *out, char *why)
{
    char number[NUMBER_MAX];
    const char *unit = NULL;
    if (!split(text, shown, number, &unit, why))
        return false;
    bool percent = strcmp(unit, "%") == 0;
    if (*unit && !percent)
        return refuse(why, "'%s' is a plain number with something behind it; only %% may be",
                      shown);
    out->number = strtod(number, NULL) / (percent ? 100.0 : 1.0);
    return true;
}

static bool read_physical(enum param_type type, const char *text, const char *shown,
                          struct quantity *out, char *why)
{
    const struct quantity_dimension *dimension = &dimensions[type];
    char number[NUMBER_MAX];
    const char *name = NULL;
    if (!split(text, shown, number, &name, why))
        return false;
    if (*name == '\0')
        return refuse(why, "'%s' has no unit; write one of %s", shown, dimension->units);
    for (const struct quantity_unit *unit = dimension->unit; unit->name; unit++) {
        if (strcmp(name, unit->name) != 0)
            continue;
        out->number = strtod(number, NULL) * unit->factor;
        return isfinite(out->number) || refuse(why, "'%s' is too large", shown);
    }
    return refuse(why, "'%s' has no known unit; write one of %s", shown, dimension->units);
}

bool quantity_read(enum param_type type, const char *text, const char *shown, struct quantity *out,
                   char *why)
{
    *out = (struct quantity){0};
    switch (type) {
    case PARAM_FLAG:
        return read_flag(text, shown, out, why);
    case PARAM_COUNT:
        return read_count(text, shown, out, why);
    case PARAM_RATIO:
        return read_ratio(text, shown, out, why);
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        return read_physical(type, text, shown, out, why);
    case PARAM_CHOICE:
    case PARAM_TEXT:
        break;
    }
    UNREACHABLE("the type is that of a quantity");
}

/* Units that are written together: GB with TB, GiB with TiB, Gb/s with Tb/s. */
enum unit_family {
    FAMILY_DECIMAL,
    FAMILY_BINARY,
    FAMILY_BITS
};

static enum unit_family family_of(const char *unit)
{
    if (strchr(unit, 'i') != NULL && strcmp(unit, "min") != 0)
        return FAMILY_BINARY;
    return strchr(unit, 'b') != NULL ? FAMILY_BITS : FAMILY_DECIMAL;
}

/* What stands behind the number: "GiB" of "8 GiB". */
static const char *unit_of(const char *text)
{
    text += number_length(text);
    return text + strspn(text, " ");
}

/* The largest unit of the family in which the number is at least 1; else the smallest. */
static const struct quantity_unit *fitting_unit(const struct quantity_dimension *dimension,
                                                enum unit_family family, double number)
{
    const struct quantity_unit *best = &dimension->unit[0];
    for (const struct quantity_unit *unit = dimension->unit; unit->name; unit++)
        if (family_of(unit->name) == family && unit->factor <= fabs(number))
            best = unit;
    return best;
}

void quantity_write_like(enum param_type type, double number, const char *like, char *text,
                         unsigned size)
{
    const struct quantity_dimension *dimension = &dimensions[type];
    const char *unit_like = unit_of(like);
    if (type == PARAM_FLAG) {
        snprintf(text, size, "%s", number != 0 ? "true" : "false");
    } else if (type == PARAM_RATIO && strcmp(unit_like, "%") == 0) {
        snprintf(text, size, "%.6g%%", 100.0 * number);
    } else if (dimension->unit[0].name == NULL) {
        /* A count above 2^53 is read back from digits alone, without an exponent. */
        bool whole = type == PARAM_COUNT && number < COUNT_END;
        snprintf(text, size, whole ? "%.0f" : "%.6g", number);
    } else {
        const struct quantity_unit *unit = fitting_unit(dimension, family_of(unit_like), number);
        snprintf(text, size, "%.6g%s", number / unit->factor, unit->name);
    }
}

void quantity_write(enum param_type type, double number, char *text, unsigned size)
{
    quantity_write_like(type, number, "", text, size);
}
