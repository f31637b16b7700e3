#include "analysis/plan/search/search_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static struct store_value real_if(bool known, double value)
{
    return known && isfinite(value) ? store_real(value) : store_null();
}

void search_store_machine(struct store *store, int64_t machine, const char *label,
                          const struct search_book *book)
{
    const struct configuration *c = book->base;
    struct store_value row[] = {store_integer(machine),
                                store_text(label),
                                store_text(c->model.name),
                                store_text(c->gpu.name),
                                store_integer((int64_t)configuration_gpus(c)),
                                store_text(c->software.name),
                                store_integer(book->places)};
    if (!book->kept)
        store_row(store, STORE_plan, row, COUNT(row));
}

static void write_judged(struct store *store, int64_t machine, const struct search_turn *t)
{
    const struct plan_layout *l = &t->row.layout;
    struct store_value row[] = {store_integer(machine),
                                store_integer(t->place),
                                store_integer(t->turn),
                                store_integer(l->tp),
                                store_integer(l->pp),
                                store_integer(l->dp),
                                store_integer(l->cp),
                                store_integer(l->ep),
                                store_integer(l->etp),
                                store_integer(l->vpp),
                                store_integer(l->microbatch),
                                store_text(l->schedule->head.name),
                                store_text(l->sharding->head.name),
                                store_integer(l->sequence_parallel),
                                store_integer(l->ends_count),
                                store_text(recompute_names[l->recompute]),
                                store_integer(l->recompute_layers),
                                store_text(search_fate_names[t->row.fate]),
                                t->row.rule != NULL ? store_text(t->row.rule) : store_null(),
                                store_integer(t->row.tried),
                                store_real(t->row.least_bytes),
                                store_real(t->row.least_s)};
    store_row(store, STORE_plan_layout, row, COUNT(row));
}

static void write_played(struct store *store, int64_t machine, const struct search_turn *t)
{
    const struct search_leader *l = &t->leader;
    struct store_value row[] = {store_integer(machine),
                                store_integer(t->place),
                                store_integer(t->turn),
                                store_integer(t->plays),
                                real_if(t->plays, l->step_s),
                                real_if(t->plays, l->tokens_per_s),
                                real_if(t->plays, l->mfu_ratio),
                                real_if(t->plays, l->peak_reserved_bytes),
                                real_if(t->plays, l->peak_allocated_bytes)};
    store_row(store, STORE_plan_play, row, COUNT(row));
    for (unsigned part = 0; part < PART_COUNT && t->plays; part++) {
        struct store_value of[] = {store_integer(machine), store_integer(t->place),
                                   store_integer(t->turn), store_text(breakdown_names[part]),
                                   real_if(true, l->breakdown_s[part])};
        store_row(store, STORE_plan_play_part, of, COUNT(of));
    }
}

static void write_turn(struct store *store, int64_t machine, struct search_turn *t)
{
    const unsigned wanted = t->asked & ~t->kept;
    struct store_value row[] = {store_integer(machine), store_integer(t->place),
                                store_integer(t->turn), store_null()};
    if ((wanted & SEARCH_JUDGED) != 0)
        write_judged(store, machine, t);
    if ((wanted & SEARCH_TIMED) != 0) {
        row[COUNT(row) - 1] = store_real(t->row.pass_s);
        store_row(store, STORE_plan_time, row, COUNT(row));
    }
    if ((wanted & SEARCH_LEDGER) != 0) {
        row[COUNT(row) - 1] = store_integer(t->fits);
        store_row(store, STORE_plan_ledger, row, COUNT(row));
    }
    if ((wanted & SEARCH_PLAYED) != 0)
        write_played(store, machine, t);
    t->kept |= wanted;
}

void search_store_keep(struct store *store, int64_t machine, struct search_book *book)
{
    for (uint32_t i = 0; i < book->places && store_good(store); i++)
        for (struct search_turn *t = book->of[i]; t != NULL; t = t->later)
            write_turn(store, machine, t);
    store_commit(store);
}

struct recalling_book {
    struct search_book *book;
    bool kept, there;
};

static bool whole(const struct query_row *row, unsigned column, uint32_t *out)
{
    const int64_t value = query_integer(row, column);
    *out = (uint32_t)value;
    return query_type(row, column) == QUERY_INTEGER && value >= 0 && value <= UINT32_MAX;
}

static bool word(const struct query_row *row, unsigned column, char *out, size_t size)
{
    unsigned bytes;
    const char *text = query_text(row, column, &bytes);
    if (query_type(row, column) != QUERY_TEXT || bytes >= size)
        return false;
    snprintf(out, size, "%.*s", (int)bytes, text);
    return true;
}

static bool damaged(struct error *error)
{
    return error_set(error, "a row of its layouts is damaged");
}

/* The first three columns are of all of these: place, turn, and then what was found. */
static bool begin_turn(const struct recalling_book *r, const struct query_row *row,
                       enum search_finding finding, struct search_turn *out)
{
    *out = (struct search_turn){.known = finding, .kept = r->kept ? finding : 0};
    return whole(row, 0, &out->place) && whole(row, 1, &out->turn);
}

static bool read_layout(const struct query_row *row, struct plan_layout *l)
{
    char name[64];
    uint32_t sequence_parallel, ends_count;
    if (!whole(row, 2, &l->tp) || !whole(row, 3, &l->pp) || !whole(row, 4, &l->dp) ||
        !whole(row, 5, &l->cp) || !whole(row, 6, &l->vpp) || !whole(row, 7, &l->microbatch) ||
        !whole(row, 10, &sequence_parallel) || !whole(row, 11, &ends_count) ||
        !whole(row, 13, &l->recompute_layers) || !whole(row, 19, &l->ep) ||
        !whole(row, 20, &l->etp))
        return false;
    l->sequence_parallel = sequence_parallel == 1;
    l->ends_count = ends_count == 1;
    return word(row, 8, name, sizeof name) && plan_layout_read(l, PLAN_SCHEDULE, name) &&
           word(row, 9, name, sizeof name) && plan_layout_read(l, PLAN_SHARDING, name) &&
           word(row, 12, name, sizeof name) && plan_layout_read(l, PLAN_RECOMPUTE, name);
}

/* Columns: place, turn, the layout, fate, rule, tried, the bounds. */
static bool take_judged(void *context, const struct query_row *row, struct error *error)
{
    const struct recalling_book *r = context;
    struct search_turn turn;
    char fate[16], rule[64];
    if (!begin_turn(r, row, SEARCH_JUDGED, &turn) || !read_layout(row, &turn.row.layout) ||
        !word(row, 14, fate, sizeof fate) || !whole(row, 16, &turn.row.tried))
        return damaged(error);
    plan_layout_settle_ends(r->book->base, &turn.row.layout);
    turn.row.fate = FATE_COUNT;
    for (unsigned f = FATE_OPEN; f <= FATE_HEADROOM; f++)
        if (strcmp(search_fate_names[f], fate) == 0)
            turn.row.fate = (enum search_fate)f;
    if (word(row, 15, rule, sizeof rule))
        turn.row.rule = arena_text(r->book->arena, rule);
    turn.row.least_bytes = query_real(row, 17);
    turn.row.least_s = query_real(row, 18);
    return search_book_take(r->book, &turn, error);
}

/* Columns: place, turn, pass_step_s. */
static bool take_time(void *context, const struct query_row *row, struct error *error)
{
    const struct recalling_book *r = context;
    struct search_turn turn;
    if (!begin_turn(r, row, SEARCH_TIMED, &turn))
        return damaged(error);
    turn.row.pass_s = query_real(row, 2);
    return search_book_take(r->book, &turn, error);
}

/* Columns: place, turn, fits. */
static bool take_ledger(void *context, const struct query_row *row, struct error *error)
{
    const struct recalling_book *r = context;
    struct search_turn turn;
    if (!begin_turn(r, row, SEARCH_LEDGER, &turn))
        return damaged(error);
    turn.fits = query_integer(row, 2) == 1;
    return search_book_take(r->book, &turn, error);
}

/* Columns: place, turn, fits, what the step was, and its parts in the order of their names' list.
 */
static bool take_play(void *context, const struct query_row *row, struct error *error)
{
    const struct recalling_book *r = context;
    struct search_turn turn;
    if (!begin_turn(r, row, SEARCH_PLAYED, &turn))
        return damaged(error);
    turn.plays = query_integer(row, 2) == 1;
    turn.leader = (struct search_leader){.played = turn.plays,
                                         .step_s = query_real(row, 3),
                                         .tokens_per_s = query_real(row, 4),
                                         .mfu_ratio = query_real(row, 5),
                                         .peak_reserved_bytes = query_real(row, 6),
                                         .peak_allocated_bytes = query_real(row, 7)};
    for (unsigned part = 0; part < PART_COUNT; part++)
        turn.leader.breakdown_s[part] = query_real(row, 8 + part);
    return search_book_take(r->book, &turn, error);
}

/* Columns: layouts. */
static bool take_machine(void *context, const struct query_row *row, struct error *error)
{
    struct recalling_book *r = context;
    r->there = true;
    r->book->kept = r->kept;
    return query_integer(row, 0) == r->book->places ||
           error_set(error, "it was made for another space of layouts: the catalogue, or a file "
                            "that the scenario names, has changed");
}

/* "(select seconds ... where part = 'bubble'), ...": the parts of a step as columns. */
static const char *play_text(struct arena *arena)
{
    const char *text = "select p.place, p.turn, p.fits, p.step_s, p.tokens_per_s, p.mfu, "
                       "p.peak_reserved_bytes, p.peak_allocated_bytes";
    for (unsigned part = 0; part < PART_COUNT; part++)
        text = arena_format(arena,
                            "%s, (select seconds from plan_play_part q where q.machine = p.machine "
                            "and q.place = p.place and q.turn = p.turn and q.part = '%s')",
                            text, breakdown_names[part]);
    return arena_format(arena, "%s from plan_play p where p.machine = ?1 order by 1, 2", text);
}

bool search_store_recall(struct query *query, int64_t machine, bool kept, struct search_book *book,
                         struct error *error)
{
    struct recalling_book r = {.book = book, .kept = kept};
    const struct query_values of = {&machine, 1};
    if (!query_run(query, "select layouts from plan where id = ?1", &of, take_machine, &r, error))
        return false;
    if (!r.there)
        return true;
    return query_run(query,
                     "select place, turn, tp, pp, dp, cp, vpp, microbatch, schedule, sharding, "
                     "sequence_parallel, ends_count, recompute, recompute_layers, fate, rule, "
                     "tried, least_bytes, least_step_s, ep, etp from plan_layout "
                     "where machine = ?1 "
                     "order by place, turn",
                     &of, take_judged, &r, error) &&
           query_run(query,
                     "select place, turn, pass_step_s from plan_time where machine = ?1 "
                     "order by place, turn",
                     &of, take_time, &r, error) &&
           query_run(query,
                     "select place, turn, fits from plan_ledger where machine = ?1 "
                     "order by place, turn",
                     &of, take_ledger, &r, error) &&
           query_run(query, play_text(book->arena), &of, take_play, &r, error);
}
