/* format.h - the way out: SI becomes text for people. The only unit conversions of this floor.
 *
 * Every function writes into `out` and returns it, so that it can stand inside a printf call with a
 * local buffer. Three significant digits or so: reports are read by people; databases and JSON
 * carry the full numbers. What a unit cannot show plainly has an exponent. Values that are not
 * finite are written as "-". */
#ifndef ORRERY_ANALYSIS_OUTPUT_TEXT_FORMAT_H
#define ORRERY_ANALYSIS_OUTPUT_TEXT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char s[48];
};
struct text format_time(double seconds); /* 8.42 s, 213 ms, 4.1 us, 54.0 d */
struct text format_bytes(double bytes);  /* 72.4 GiB: memory, powers of 1024 */
struct text
format_bytes_decimal(double bytes);          /* 1,120 GB: storage, data sheets and the classroom */
struct text format_rate(double bytes_per_s); /* 450 GB/s */
struct text format_flops(double flops);      /* 1.23 EFLOP */
struct text format_quantity(double value);   /* 70.6 B, 249 k, 12 */
struct text format_count(uint64_t value);    /* 16,384 */
struct text format_percent(double ratio);    /* 41.2 % */
struct text format_money(double usd);        /* 12,345 USD; 2.50 USD; 0.0123 USD */
struct text format_energy(double joules);    /* 5.61 GWh */
struct text format_power(double watts);      /* 928 W, 10.2 kW */
struct text format_moment(double seconds);   /* "  3 d 04:05:06": day and time of a run */
/* A size as an option carries it: 8, 64k, 8GiB, 1.5GB (k M G T alone mean 1024 as in nccl-tests).
 * False when it is not a size of at least one byte. */
bool format_parse_size(const char *text, double *bytes);

/* A word of the user's as messages may show it: at most 80 bytes, control characters as '?'. */
struct shown {
    char s[96];
};
struct shown format_shown(const char *text);
/* A text in double quotes of YAML, whole, as a scenario reads it back: quotes and backslashes
 * behind a backslash, control characters as \xNN. */
void format_quoted(FILE *out, const char *text);

/* A bar of `width` cells filled to `ratio` (clamped to [0, 1]) with blocks of an eighth, or with
 * '#' and '.' when the terminal does not speak UTF-8. */
struct bar {
    char s[128];
};
struct bar format_bar(double ratio, unsigned width, bool utf8);

#endif
