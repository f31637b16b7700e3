#include "scenarios/import/trace/span_unknown.h"

#include <stdlib.h>
#include <string.h>

struct unknown_name {
    const char *name;
    double s;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct unknown_name *)left)->name,
                  ((const struct unknown_name *)right)->name);
}

static int by_seconds(const void *left, const void *right)
{
    const struct unknown_name *a = left, *b = right;
    return a->s != b->s ? (a->s > b->s ? -1 : 1) : by_name(left, right);
}

/* Adds up rows of one name. Returns how many are left, the largest first. */
static unsigned add_up(struct unknown_name *rows, unsigned count)
{
    unsigned kept = 0;
    qsort(rows, count, sizeof *rows, by_name);
    for (unsigned i = 0; i < count; i++)
        if (kept > 0 && strcmp(rows[kept - 1].name, rows[i].name) == 0)
            rows[kept - 1].s += rows[i].s;
        else
            rows[kept++] = rows[i];
    qsort(rows, kept, sizeof *rows, by_seconds);
    return kept;
}

void span_unknown(struct arena *arena, const struct trace_span *spans, unsigned count,
                  struct span_unknown *out)
{
    struct unknown_name *rows = ARENA_ARRAY(arena, struct unknown_name, count + 1);
    unsigned named = 0;
    double all_s = 0.0, unknown_s = 0.0;
    *out = (struct span_unknown){.ratio = 0.0};
    for (unsigned i = 0; i < count; i++) {
        all_s += spans[i].busy_s;
        if (spans[i].kind != SPAN_OTHER)
            continue;
        unknown_s += spans[i].busy_s;
        rows[named++] = (struct unknown_name){spans[i].name, spans[i].busy_s};
    }
    named = add_up(rows, named);
    out->ratio = all_s > 0.0 ? unknown_s / all_s : 0.0;
    for (; out->count < named && out->count < UNKNOWN_NAMES; out->count++) {
        out->largest[out->count].name = rows[out->count].name;
        out->largest[out->count].s = rows[out->count].s;
    }
}
