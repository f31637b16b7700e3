#include "analysis/plan/search/searching.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "sim/check.h"
#include "sim/pool.h"

enum {
    AT_ONCE = 8 /* ledgers of a round */
};

bool searching_stopped(struct searching *g)
{
    const struct search_question *q = &g->s->question;
    if (!g->s->stopped && q->stop != NULL)
        g->s->stopped = q->stop(q->context);
    return g->s->stopped;
}

void searching_keep(const struct searching *g)
{
    const struct search_diary *diary = g->s->question.diary;
    if (diary != NULL)
        diary->keep(diary->context, g->s->book);
}

static void time_unit(void *context, size_t index)
{
    struct searching *g = context;
    search_unit_time(g->units[index], g->most_s);
}

static int compare_rows(const void *a, const void *b)
{
    const struct search_row *x = *(struct search_row *const *)a,
                            *y = *(struct search_row *const *)b;
    if (x->pass_s != y->pass_s)
        return x->pass_s < y->pass_s ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sort_timed(struct searching *g)
{
    struct search *s = g->s;
    g->order_count = 0;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].fate == FATE_TIMED)
            g->order[g->order_count++] = &s->rows[i];
    qsort(g->order, g->order_count, sizeof *g->order, compare_rows);
}

struct asking { /* rows whose ledgers are played at once */
    const struct searching *g;
    struct search_row *rows[AT_ONCE];
    uint32_t count;
};

bool searching_fits(const struct search_ground *ground, struct search_row *row)
{
    bool fits;
    if (search_book_ledger(row, &fits))
        return fits;
    fits = search_lead_fits(ground->base, &row->layout, ground->usable_bytes);
    search_book_note_ledger(row, fits);
    return fits;
}

static void ask_ledger(void *context, size_t index)
{
    struct asking *asking = context;
    struct search_row *row = asking->rows[index];
    row->fits = searching_fits(&asking->g->ground, row);
}

void searching_more(struct searching *g, struct search_row *row)
{
    row->fits = false;
    if (row->turn != NULL)
        row->turn = search_book_later(g->s->book, row->turn);
    for (uint32_t i = 0; i < g->unit_count; i++)
        if (search_unit_holds(g->units[i], row))
            search_unit_more(g->units[i], row);
}

bool searching_may_take(const struct searching *g, struct search_row *row, double most_s)
{
    uint32_t i = 0;
    if (row->pass_s <= most_s * SEARCHING_OVERSTATED)
        return true;
    while (i < g->unit_count && !search_unit_holds(g->units[i], row))
        i++;
    CHECK(i < g->unit_count);
    return search_unit_apart_s(g->units[i], row) <= most_s * SEARCHING_OVERSTATED;
}

double searching_least_open_s(const struct searching *g)
{
    double least_s = INFINITY;
    for (uint32_t i = 0; i < g->s->row_count; i++)
        if (g->s->rows[i].fate == FATE_OPEN)
            least_s = fmin(least_s, g->s->rows[i].least_s);
    return least_s;
}

/* Plays the ledgers of the fastest rows, until so many fit; of rows that something not timed may
 * yet pass, none. False: nothing was left to ask. */
static bool settle_fits(struct searching *g)
{
    const uint32_t wanted = g->wanted;
    const double open_s = searching_least_open_s(g);
    struct asking asking = {.g = g};
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->order_count && found + asking.count < wanted; i++) {
        struct search_row *row = g->order[i];
        if (asking.count == AT_ONCE || row->pass_s > open_s)
            break;
        found += row->fits;
        if (!row->fits)
            asking.rows[asking.count++] = row;
    }
    if (asking.count == 0)
        return false;
    pool_run(g->s->question.threads, asking.count, ask_ledger, &asking);
    g->s->counts.ledgers += asking.count;
    for (uint32_t i = 0; i < asking.count; i++)
        if (!asking.rows[i]->fits)
            searching_more(g, asking.rows[i]);
    sort_timed(g);
    return true;
}

void searching_time(struct searching *g, double most_s)
{
    g->most_s = most_s;
    pool_run(g->s->question.threads, g->unit_count, time_unit, g);
    sort_timed(g);
    searching_keep(g);
    while (!searching_stopped(g) && settle_fits(g))
        searching_keep(g);
}
