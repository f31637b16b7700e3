/* search_unit.c
 *
 * Invariants
 * 1. Between calls nobody owns a unit's arenas; whoever works on it claims them and gives them up.
 * 2. A row is judged once for each level of recomputation that it comes to, and timed once. */
#include "analysis/plan/search/search_unit.h"

#include <math.h>
#include <string.h>

#include "analysis/plan/search/search_book.h"
#include "models/gpu/gpu_power.h"
#include "models/layout/layout.h"
#include "models/layout/power_wall.h"
#include "models/plan/ladder.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/estimate/pass_bound.h"
#include "sim/check.h"

enum {
    BREAKS_READ = 16
};
struct unit_split { /* layouts whose groups of ranks are alike (pass.h) */
    uint32_t pp;
    uint64_t ep, etp;
    uint64_t shards;
    bool ring, hybrid; /* chunks; groups of hsdp */
    enum schedule_placement placement;
    struct pass_split *split;
    struct unit_split *later;
};
struct search_unit {
    struct arena *arena;
    struct search_ground ground;
    struct search_row *rows;
    uint32_t count;
    struct pass_memory *memory;
    struct unit_split *splits;
};

static void give(struct search_unit *u)
{
    for (struct unit_split *s = u->splits; s != NULL; s = s->later)
        pass_split_give(s->split);
    pass_memory_give(u->memory);
    arena_give(u->arena);
}

static void claim(struct search_unit *u)
{
    arena_claim(u->arena);
    pass_memory_claim(u->memory);
    for (struct unit_split *s = u->splits; s != NULL; s = s->later)
        pass_split_claim(s->split);
}

struct search_unit *search_unit_create(const struct search_ground *ground, struct search_row *first,
                                       uint32_t count)
{
    struct arena *arena = arena_create();
    struct search_unit *u = ARENA_NEW(arena, struct search_unit);
    *u = (struct search_unit){.arena = arena, .ground = *ground, .rows = first, .count = count};
    u->memory = pass_memory_create();
    give(u);
    return u;
}

void search_unit_destroy(struct search_unit *unit)
{
    claim(unit);
    for (struct unit_split *s = unit->splits; s != NULL; s = s->later)
        pass_split_destroy(s->split);
    pass_memory_destroy(unit->memory);
    arena_destroy(unit->arena);
}

bool search_unit_holds(const struct search_unit *unit, const struct search_row *row)
{
    return row >= unit->rows && row < unit->rows + unit->count;
}

static struct pass_split *find_split(struct search_unit *u, const struct configuration *c)
{
    const bool ring = c->layout.pipeline.vpp > 1, hybrid = c->layout.data.sharding->hybrid;
    const enum schedule_placement placement = c->layout.pipeline.schedule->placement;
    const uint64_t shards = configuration_shards(c);
    struct unit_split *s = u->splits;
    while (s != NULL && (s->pp != c->layout.pp || s->ep != c->layout.ep ||
                         s->etp != c->layout.etp || s->shards != shards || s->ring != ring ||
                         s->hybrid != hybrid || s->placement != placement))
        s = s->later;
    if (s == NULL) {
        s = ARENA_NEW(u->arena, struct unit_split);
        *s = (struct unit_split){.pp = (uint32_t)c->layout.pp,
                                 .ep = c->layout.ep,
                                 .etp = c->layout.etp,
                                 .shards = shards,
                                 .ring = ring,
                                 .hybrid = hybrid,
                                 .placement = placement,
                                 .split = pass_split_create(c, u->ground.topology),
                                 .later = u->splits};
        u->splits = s;
    }
    return s->split;
}

/* The key of the first rule that it breaks, or NULL. */
static const char *broken_rule(const struct configuration *c)
{
    struct rule_break breaks[BREAKS_READ];
    const unsigned count = configuration_check(c, breaks, BREAKS_READ);
    for (unsigned i = 0; i < count && i < BREAKS_READ; i++)
        if (!breaks[i].warning)
            return breaks[i].key;
    return count > BREAKS_READ ? breaks[0].key : NULL;
}

static double least_bytes(struct search_unit *u, const struct plan_layout *layout)
{
    struct configuration c;
    plan_layout_apply(u->ground.base, layout, &c);
    return pass_least_bytes(u->memory, &c);
}

struct unit_block { /* fits by the bound of memory? */
    struct search_unit *u;
    struct plan_layout layout;
};

static bool block_fits(void *context, uint64_t layers)
{
    struct unit_block *b = context;
    b->layout.recompute_layers = (uint32_t)layers;
    return least_bytes(b->u, &b->layout) <= b->u->ground.usable_bytes;
}

/* The fewest layers of a block, from those of the layout on, with which the bound is met; the most
 * when it never is. */
static void settle_layers(struct search_unit *u, struct plan_layout *layout)
{
    struct unit_block block = {u, *layout};
    struct configuration c;
    plan_layout_apply(u->ground.base, layout, &c);
    ladder_last(&c);
    if (layout->recompute_layers < c.layout.recompute_layers)
        layout->recompute_layers =
            (uint32_t)ladder_least_layers(&(struct ladder_block){block_fits, &block},
                                          layout->recompute_layers - 1, c.layout.recompute_layers);
}

/* More is never held than with less recomputation: where the most is not enough nothing is, and
 * the row is left there. */
static void give_up_hopeless(struct search_unit *u, struct search_row *row)
{
    struct plan_layout most = row->layout;
    ladder_most(u->ground.held, &most);
    const double bytes = least_bytes(u, &most);
    if (bytes <= u->ground.usable_bytes)
        return;
    row->layout = most;
    row->least_bytes = bytes;
    row->fate = bytes > u->ground.base->gpu.hbm.usable_bytes ? FATE_MEMORY : FATE_HEADROOM;
}

/* Up from this level of recomputation to the first that passes the rules and the bound of memory.
 */
static void judge_anew(struct search_unit *u, struct search_row *row)
{
    struct configuration c;
    row->least_s = 0.0;
    row->bound = false;
    plan_layout_apply(u->ground.base, &row->layout, &c);
    row->rule = broken_rule(&c);
    row->fate = row->rule != NULL ? FATE_RULE : FATE_OPEN;
    if (row->fate == FATE_OPEN)
        give_up_hopeless(u, row);
    while (row->fate == FATE_OPEN) {
        if (row->layout.recompute == RECOMPUTE_BLOCK)
            settle_layers(u, &row->layout);
        row->least_bytes = least_bytes(u, &row->layout);
        if (row->least_bytes <= u->ground.usable_bytes)
            break;
        const bool more = ladder_more(u->ground.base, u->ground.held, &row->layout);
        CHECK(more); /* of the most the bound is met */
        row->tried++;
    }
    plan_layout_apply(u->ground.base, &row->layout, &c);
    row->rule = row->fate == FATE_OPEN ? broken_rule(&c) : row->rule;
    if (row->rule != NULL)
        row->fate = FATE_RULE;
    if (row->fate == FATE_OPEN)
        row->least_s = pass_least_s(u->memory, &c);
}

static void judge(struct search_unit *u, struct search_row *row)
{
    row->pass_s = row->apart_s = row->apart_least_s = 0.0; /* of another level of recomputation */
    row->pass_w = row->least_w = row->keeps_s = 0.0;
    if (search_book_knows(row, SEARCH_JUDGED))
        return;
    judge_anew(u, row);
    search_book_note(row, SEARCH_JUDGED);
}

void search_unit_judge(struct search_unit *u)
{
    claim(u);
    for (uint32_t i = 0; i < u->count; i++)
        judge(u, &u->rows[i]);
    give(u);
}

/* What it draws, and whether that is too much. Of a step so long its kernels draw
 * rest + (pass_w - rest) x pass_s / step (pass_least_card_w), which is the limit at keeps_s. */
static void weigh(struct search_unit *u, struct search_row *row)
{
    struct configuration c;
    if (!(u->ground.power_w > 0.0))
        return;
    plan_layout_apply(u->ground.base, &row->layout, &c);
    const double longest_s = row->pass_s * SEARCH_UNIT_UNDERSTATED;
    row->pass_w = power_job_w(&c, pass_least_card_w(u->memory, &c, row->pass_s));
    row->least_w = power_job_w(&c, pass_least_card_w(u->memory, &c, longest_s));
    if (row->least_w > u->ground.power_w)
        row->fate = FATE_POWER;
    const double rest_w = power_job_w(&c, gpu_power_static_w(&c.gpu));
    row->keeps_s = u->ground.power_w > rest_w
                       ? (row->pass_w - rest_w) * row->pass_s / (u->ground.power_w - rest_w)
                       : INFINITY;
}

static void time_row(struct search_unit *u, struct search_row *row)
{
    struct configuration c;
    struct pass_played played;
    CHECK(row->pass_s == 0.0); /* 2 */
    row->fate = FATE_TIMED;
    if (!search_book_knows(row, SEARCH_TIMED)) {
        plan_layout_apply(u->ground.base, &row->layout, &c);
        pass_step(u->memory, find_split(u, &c), &c, &played);
        row->pass_s = played.step_s;
        row->apart_least_s = played.queued_again ? 0.0 : played.step_s - played.queued_s;
        CHECK(row->apart_least_s <= row->pass_s);
        search_book_note(row, SEARCH_TIMED);
    }
    weigh(u, row);
}

static double below_op_detail(const struct configuration *c, double bound_s, bool loose)
{
    const bool usual = strcmp(layout_order(c), LAYOUT_USUAL_ORDER) == 0;
    return bound_s / (!loose  ? SEARCH_UNIT_OVERSTATED
                      : usual ? SEARCH_UNIT_OVERSTATED_LOOSE
                              : SEARCH_UNIT_OVERSTATED_SCATTERED);
}

/* May it be as fast as this, by the bound that takes its order of passes into account? */
static bool may_be_faster(struct search_unit *u, struct search_row *row, double most_s)
{
    struct configuration c;
    bool loose;
    if (row->least_s <= most_s && !row->bound) {
        plan_layout_apply(u->ground.base, &row->layout, &c);
        const double order_s = pass_order_least_s(u->memory, find_split(u, &c), &c, &loose);
        row->least_s = fmax(row->least_s, below_op_detail(&c, order_s, loose));
        row->bound = true;
    }
    return row->least_s <= most_s;
}

void search_unit_time(struct search_unit *u, double most_s)
{
    claim(u);
    for (uint32_t i = 0; i < u->count; i++)
        if (u->rows[i].fate == FATE_OPEN && may_be_faster(u, &u->rows[i], most_s))
            time_row(u, &u->rows[i]);
    give(u);
}

void search_unit_time_one(struct search_unit *u, struct search_row *row, double most_s)
{
    CHECK(search_unit_holds(u, row) && row->fate == FATE_OPEN);
    claim(u);
    if (may_be_faster(u, row, most_s))
        time_row(u, row);
    give(u);
}

double search_unit_apart_s(struct search_unit *u, struct search_row *row)
{
    struct configuration c;
    bool loose;
    CHECK(search_unit_holds(u, row));
    if (row->apart_s > 0.0)
        return row->apart_s;
    claim(u);
    plan_layout_apply(u->ground.base, &row->layout, &c);
    row->apart_s = pass_apart_s(u->memory, find_split(u, &c), &c, &loose);
    row->apart_s = below_op_detail(&c, row->apart_s, loose);
    give(u);
    return row->apart_s;
}

void search_unit_more(struct search_unit *u, struct search_row *row)
{
    CHECK(search_unit_holds(u, row));
    if (!ladder_more(u->ground.base, u->ground.held, &row->layout)) {
        row->fate = FATE_LEDGER;
        return;
    }
    claim(u);
    row->tried++;
    judge(u, row);
    if (row->fate == FATE_OPEN)
        time_row(u, row);
    give(u);
}
