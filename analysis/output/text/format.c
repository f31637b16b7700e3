#include "analysis/output/text/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/units.h"

enum {
    BAR_STEPS = 8
}; /* Unicode has blocks of eighths */

struct format_unit {
    double factor;
    const char *name;
};

static const struct format_unit time_units[] = {
    {DAY, "d"},          {HOUR, "h"},         {MINUTE, "min"},    {1.0, "s"},
    {MILLISECOND, "ms"}, {MICROSECOND, "us"}, {NANOSECOND, "ns"}, {0.0, NULL}};
static const struct format_unit byte_units[] = {{KIB * GIB, "TiB"}, {GIB, "GiB"}, {MIB, "MiB"},
                                                {KIB, "KiB"},       {1.0, "B"},   {0.0, NULL}};
static const struct format_unit rate_units[] = {{TERA, "TB/s"}, {GIGA, "GB/s"}, {MEGA, "MB/s"},
                                                {KILO, "kB/s"}, {1.0, "B/s"},   {0.0, NULL}};
static const struct format_unit decimal_units[] = {{PETA, "PB"}, {GIGA, "GB"}, {MEGA, "MB"},
                                                   {KILO, "kB"}, {1.0, "B"},   {0.0, NULL}};
static const struct format_unit flop_units[] = {{KILO * KILO * PETA, "ZFLOP"},
                                                {KILO * PETA, "EFLOP"},
                                                {PETA, "PFLOP"},
                                                {TERA, "TFLOP"},
                                                {GIGA, "GFLOP"},
                                                {MEGA, "MFLOP"},
                                                {1.0, "FLOP"},
                                                {0.0, NULL}};
static const struct format_unit energy_units[] = {
    {GIGA * HOUR, "GWh"}, {MEGA * HOUR, "MWh"}, {KILO * HOUR, "kWh"}, {HOUR, "Wh"}, {0.0, NULL}};
static const struct format_unit power_units[] = {
    {GIGA, "GW"}, {MEGA, "MW"}, {KILO, "kW"}, {1.0, "W"}, {0.0, NULL}};
static const struct format_unit quantity_units[] = {{TERA, "T"}, {GIGA, "B"}, {MEGA, "M"},
                                                    {KILO, "k"}, {1.0, ""},   {0.0, NULL}};

static int decimals_for(double value)
{
    double size = fabs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

/* A number of a unit: plain digits where there are few, else with an exponent. */
static int put_number(char *text, size_t size, double shown)
{
    const double least = 0.0995, most = MEGA - 0.5; /* before they are rounded to 0.1 and 10^6 */
    if (fabs(shown) < least || fabs(shown) >= most)
        return snprintf(text, size, "%.3g", shown);
    return snprintf(text, size, "%.*f", decimals_for(shown), shown);
}

/* The largest unit that leaves at least 1; the smallest one for what is smaller still. */
static struct text scaled(double value, const struct format_unit *units)
{
    struct text out;
    if (!isfinite(value))
        return (struct text){"-"};
    const struct format_unit *unit = units;
    while (unit[1].name != NULL && fabs(value) < unit->factor * 0.9995)
        unit++;
    if (value == 0.0) {
        snprintf(out.s, sizeof out.s, "0%s%s", unit->name[0] != '\0' ? " " : "", unit->name);
        return out;
    }
    double shown = value / unit->factor;
    bool whole = unit->factor == 1.0 && shown == floor(shown) && fabs(shown) < KILO;
    int used = whole ? snprintf(out.s, sizeof out.s, "%.0f", shown)
                     : put_number(out.s, sizeof out.s, shown);
    snprintf(out.s + used, sizeof out.s - (size_t)used, "%s%s", unit->name[0] != '\0' ? " " : "",
             unit->name);
    return out;
}

#define ROUNDING 1e-9 /* parts of two days may add up to a little less */

struct text format_time(double seconds)
{
    /* Below two minutes, hours and days a planner reads the smaller unit more easily. */
    const struct format_unit *units = time_units;
    double size = fabs(seconds) * (1.0 + ROUNDING);
    units += size >= 2.0 * DAY ? 0 : size >= 2.0 * HOUR ? 1 : size >= 2.0 * MINUTE ? 2 : 3;
    return size < 0.5 * MILLISECOND * NANOSECOND ? (struct text){"0 s"} : scaled(seconds, units);
}

struct text format_bytes(double bytes)
{
    return scaled(bytes, byte_units);
}

struct text format_rate(double bytes_per_s)
{
    return scaled(bytes_per_s, rate_units);
}

struct text format_flops(double flops)
{
    return scaled(flops, flop_units);
}

struct text format_quantity(double value)
{
    return scaled(value, quantity_units);
}

struct text format_count(uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    struct text out;
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.s[at++] = ',';
        out.s[at++] = digits[i];
    }
    out.s[at] = '\0';
    return out;
}

struct text format_bytes_decimal(double bytes)
{
    const double thousand = 0.9995 * KILO * GIGA; /* what rounds to it */
    if (isfinite(bytes) && bytes >= thousand && bytes < PETA) {
        struct text out;
        snprintf(out.s, sizeof out.s, "%.30s GB", format_count((uint64_t)llround(bytes / GIGA)).s);
        return out;
    }
    return scaled(bytes, decimal_units);
}

struct text format_percent(double ratio)
{
    struct text out;
    if (!isfinite(ratio))
        return (struct text){"-"};
    snprintf(out.s, sizeof out.s, "%.1f %%", 100.0 * ratio);
    return out;
}

struct text format_money(double usd)
{
    const double cents = 999.5; /* below this, which rounds to 1,000, they matter */
    const double small = 0.1;   /* below this a cent is too coarse */
    struct text out;
    if (!isfinite(usd))
        return (struct text){"-"};
    if (usd != 0.0 && fabs(usd) < small) {
        snprintf(out.s, sizeof out.s, "%.3g USD", usd);
    } else if (fabs(usd) < cents) {
        snprintf(out.s, sizeof out.s, "%.*f USD", decimals_for(usd), usd);
    } else if (fabs(usd) >= PETA) {
        snprintf(out.s, sizeof out.s, "%.3g USD", usd);
    } else {
        snprintf(out.s, sizeof out.s, "%s%.30s USD", usd < 0.0 ? "-" : "",
                 format_count((uint64_t)llround(fabs(usd))).s);
    }
    return out;
}

struct text format_energy(double joules)
{
    return scaled(joules, energy_units);
}

struct text format_power(double watts)
{
    return scaled(watts, power_units);
}

struct text format_moment(double seconds)
{
    struct text out;
    if (!isfinite(seconds))
        return (struct text){"-"};
    long long whole = (long long)seconds;
    long long day = (long long)DAY, hour = (long long)HOUR, minute = (long long)MINUTE;
    snprintf(out.s, sizeof out.s, "%3lld d %02lld:%02lld:%02lld", whole / day, whole % day / hour,
             whole % hour / minute, whole % minute);
    return out;
}

static const struct format_unit size_suffixes[] = {
    {1.0, ""},        {1.0, "B"},   {KIB, "k"},   {KIB, "K"},         {MIB, "M"},   {GIB, "G"},
    {KIB * GIB, "T"}, {KILO, "kB"}, {KILO, "KB"}, {MEGA, "MB"},       {GIGA, "GB"}, {TERA, "TB"},
    {KIB, "KiB"},     {MIB, "MiB"}, {GIB, "GiB"}, {KIB * GIB, "TiB"}, {0.0, NULL}};

bool format_parse_size(const char *text, double *bytes)
{
    if (text[0] < '0' || text[0] > '9' || strchr("xX", text[1] != '\0' ? text[1] : '.') != NULL)
        return false;
    char *rest;
    double value = strtod(text, &rest);
    while (*rest == ' ')
        rest++;
    for (const struct format_unit *suffix = size_suffixes; suffix->name != NULL; suffix++) {
        if (strcmp(rest, suffix->name) == 0) {
            *bytes = value * suffix->factor;
            return isfinite(*bytes) && *bytes >= 1.0 && *bytes < KILO * KILO * PETA;
        }
    }
    return false;
}

struct shown format_shown(const char *text)
{
    enum {
        SHOWN_MAX = 80
    };
    struct shown out;
    size_t length = strnlen(text, SHOWN_MAX);
    while (length > 0 && length == SHOWN_MAX && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--; /* not in the middle of a character */
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        out.s[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    snprintf(out.s + length, sizeof out.s - length, "%s", text[length] != '\0' ? "..." : "");
    return out;
}

void format_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\x%02x", c);
            continue;
        }
        if (c == '"' || c == '\\')
            fputc('\\', out);
        fputc(c, out);
    }
    fputc('"', out);
}

static void append(struct bar *bar, const char *cell)
{
    size_t used = strlen(bar->s);
    snprintf(bar->s + used, sizeof bar->s - used, "%s", cell);
}

struct bar format_bar(double ratio, unsigned width, bool utf8)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    struct bar out = {""};
    width = width > 40 ? 40 : width;
    double filled = fmin(fmax(ratio, 0.0), 1.0) * width;
    unsigned whole = (unsigned)filled;
    unsigned part = utf8 ? (unsigned)((filled - whole) * BAR_STEPS) : 0;
    unsigned cells = 0;
    for (; cells < whole; cells++)
        append(&out, utf8 ? "█" : "#");
    if (part > 0 && cells < width) {
        append(&out, eighths[part]);
        cells++;
    }
    for (; cells < width; cells++)
        append(&out, utf8 ? " " : ".");
    return out;
}
