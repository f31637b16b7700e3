/* failure_year.c - the year of lines that name none, as syslog writes them.
 *
 * 1. A date that lies between --start and --end in one year only is of that year, wherever its line
 *    stands: logs of several nodes may stand one behind the other, and rotated ones in any order.
 * 2. Where several years are possible (a watch of more than a year, or without --end), the lines of
 *    a node stand in the order of time: the first such moment that is not before the latest one of
 *    that node, nor before --start, less a day for lines out of order.
 * Lines that step back by more than a day on their node are counted: both rules interpret them. */
#include <math.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "scenarios/import/reader/time_stamp.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/units.h"

enum {
    YEARS_MOST = 9 /* one of them has a February 29, also around 1900 and 2100 */
};

static bool same_host(const void *rows, uint32_t number, const void *key)
{
    return strcmp(((const struct failure_node *)rows)[number].host, key) == 0;
}

static struct failure_node *node_of(struct failure_reading *r, const char *host)
{
    struct failure_nodes *nodes = &r->nodes;
    const uint32_t count = nodes->names.count;
    LIST_ROOM(r->arena, nodes->rows, count, 1, nodes->room);
    const uint32_t row =
        table_number(&nodes->names, r->arena, random_key(0, host), same_host, nodes->rows, host);
    if (row == count)
        nodes->rows[row] = (struct failure_node){host, -INFINITY};
    return &nodes->rows[row];
}

/* The first year, from that of `from_s` on, in which these words are not before it. */
static double first_from(char *const *words, double from_s)
{
    const int year = time_stamp_year(from_s);
    double at_s = NAN;
    for (int i = 0; i < YEARS_MOST && !(at_s >= from_s); i++)
        time_stamp_syslog(words[0], words[1], words[2], year + i, &at_s);
    return at_s;
}

static void count_step(uint32_t *count, uint32_t *first_line, uint32_t line)
{
    if (++*count == 1)
        *first_line = line;
}

bool failure_year_find(struct failure_reading *r, char *const *words, const char *host,
                       double *at_s)
{
    const double start_s = r->rules->start_s, end_s = r->rules->end_s;
    const double latest_s = node_of(r, host)->latest_s;
    struct failure_years *years = &r->out->years;
    if (!isfinite(start_s))
        return import_text_bad(&r->text, "this log knows no year: give --start, as in --start "
                                         "2026-01-01");
    if (!time_stamp_syslog(words[0], words[1], words[2], time_stamp_year(start_s), at_s))
        return import_text_bad(&r->text, "no moment before it, as in Nov  3 04:05:06");
    *at_s = first_from(words, start_s);
    if (*at_s > end_s)
        return true; /* outside, whatever its year */
    if (first_from(words, nextafter(*at_s, INFINITY)) > end_s) {
        if (*at_s < latest_s - DAY)
            count_step(&years->back, &years->back_line, r->text.line);
        return true;
    }
    *at_s = first_from(words, fmax(start_s, latest_s) - DAY);
    if (*at_s > end_s)
        return import_text_bad(&r->text,
                               "this date stands behind a later one of %s, and no year before "
                               "--end has it: put the lines of each node in the order of time",
                               import_text_quote(&r->text, host));
    if (first_from(words, start_s - DAY) < latest_s - DAY &&
        time_stamp_year(*at_s) > time_stamp_year(latest_s))
        count_step(&years->turned, &years->turned_line, r->text.line);
    return true;
}

void failure_year_note(struct failure_reading *r, const char *host, double at_s)
{
    struct failure_node *node = node_of(r, host);
    if (!(at_s > r->rules->end_s))
        node->latest_s = fmax(node->latest_s, at_s);
}
