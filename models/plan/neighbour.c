/* Moves write a changed configuration and how it is spelt; the rules judge it; the ledger and the
 * step say what it is worth. A move that does not apply (half of a microbatch of one, more
 * recomputation than all of it) writes nothing. */
#include "models/plan/neighbour.h"

#include <stdlib.h>
#include <string.h>

#include "models/plan/ladder.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

enum {
    PAIR_EFFORT_MAX = 1 << 17, /* layer passes over all pairs: about a second */
    SETTLED_MAX = 8            /* of the fastest, with as few keys as will do */
};

struct list {
    const struct configuration *from;
    struct neighbour *rows;
    unsigned count;
};

static void add(struct list *l, enum neighbour_move move, const struct configuration *c)
{
    if (l->count < NEIGHBOUR_MAX && configuration_legal(c))
        l->rows[l->count++] = (struct neighbour){.move = move, .c = *c};
}

/* Bytes of state for each parameter by an equal weight of all its parts: orders the kinds. */
static double state_bytes(const struct configuration *c)
{
    return sharding_bytes_per_parameter(c->layout.data.sharding, 1.0, 1.0, 1.0,
                                        configuration_shards(c));
}

static void add_shardings(struct list *l)
{
    for (unsigned i = 0; i < sharding_kind_count; i++) {
        struct configuration c = *l->from;
        c.layout.data.sharding = sharding_kinds[i];
        if (state_bytes(&c) < state_bytes(l->from))
            add(l, MOVE_SHARDING, &c);
    }
}

static void add_microbatch(struct list *l)
{
    struct configuration c = *l->from;
    c.layout.microbatch /= 2;
    if (l->from->layout.microbatch % 2 == 0)
        add(l, MOVE_MICROBATCH, &c);
}

static void add_recompute(struct list *l)
{
    struct configuration c = *l->from;
    while (ladder_level(&c)) {
        ladder_last(&c);
        add(l, MOVE_RECOMPUTE, &c);
    }
}

static void add_switches(struct list *l)
{
    struct configuration c = *l->from;
    c.layout.sequence_parallel = true;
    if (!l->from->layout.sequence_parallel && c.layout.tp > 1)
        add(l, MOVE_SEQUENCE_PARALLEL, &c);
    c = *l->from;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    const struct schedule_kind *own = l->from->layout.pipeline.schedule;
    if (own != &schedule_one_f_one_b && (l->from->layout.pp > 1 || own->holds_all))
        add(l, MOVE_SCHEDULE, &c);
    c = *l->from;
    c.software.memory.expandable_segments = true;
    if (!l->from->software.memory.expandable_segments)
        add(l, MOVE_SEGMENTS, &c);
}

/* Twice as many ranks share a copy of the model, half as many copies are there. */
static void add_axes(struct list *l)
{
    struct configuration half = *l->from, c;
    if (half.layout.dp % 2 != 0)
        return;
    half.layout.dp /= 2;
    c = half;
    c.layout.tp *= 2;
    add(l, MOVE_TP, &c);
    if (!c.layout.sequence_parallel) {
        c.layout.sequence_parallel = true;
        add(l, MOVE_TP_SPLIT, &c);
    }
    c = half;
    c.layout.pp *= 2;
    add(l, MOVE_PP, &c);
    c = half;
    c.layout.cp *= 2;
    if (configuration_splits_sequences(&c))
        add(l, MOVE_CP, &c);
}

unsigned neighbour_list(const struct configuration *c, struct neighbour *out)
{
    struct list l = {.from = c, .rows = out};
    add_shardings(&l);
    add_microbatch(&l);
    add_recompute(&l);
    add_switches(&l);
    add_axes(&l);
    return l.count;
}

/* Keeps the neighbour when it fits. */
static void judge(struct neighbourhood *hood, struct neighbour *n)
{
    const bool block = n->c.layout.recompute == RECOMPUTE_BLOCK;
    hood->tried_count++;
    if (n->move == MOVE_RECOMPUTE && block && !trial_least_block(&n->c, n->c.gpu.hbm.usable_bytes))
        return;
    if (change_play(&n->c, &n->made))
        hood->fitting[hood->fitting_count++] = *n;
}

static int by_speed(const void *a, const void *b)
{
    const struct change *x = &((const struct neighbour *)a)->made,
                        *y = &((const struct neighbour *)b)->made;
    int order = (x->tokens_per_s < y->tokens_per_s) - (x->tokens_per_s > y->tokens_per_s);
    if (order == 0) {
        order = (x->peak_reserved_bytes > y->peak_reserved_bytes) -
                (x->peak_reserved_bytes < y->peak_reserved_bytes);
    }
    return order;
}

static void order(struct neighbourhood *hood)
{
    qsort(hood->fitting, hood->fitting_count, sizeof *hood->fitting, by_speed);
}

static bool is_told(const struct neighbourhood *hood, const char *set)
{
    for (unsigned i = 0; i < hood->fitting_count; i++)
        if (strcmp(hood->fitting[i].made.set, set) == 0)
            return true;
    return false;
}

/* Of what fits with all other keys held, what a user can have; two ways may be one. */
static void settle(struct arena *arena, const struct change_question *q, struct neighbourhood *hood)
{
    const unsigned count = hood->fitting_count;
    order(hood);
    hood->fitting_count = 0;
    for (unsigned i = 0; i < count; i++) {
        struct neighbour n = hood->fitting[i];
        const bool had = hood->fitting_count < SETTLED_MAX
                             ? change_settle(arena, q, &n.c, &n.made)
                             : change_settle_whole(arena, q, &n.c, &n.made);
        if (had && !is_told(hood, n.made.set))
            hood->fitting[hood->fitting_count++] = n;
    }
    order(hood);
}

static uint64_t passes(const struct configuration *c)
{
    return c->model.layers * configuration_microbatches(c);
}

/* Two moves in the order of their enum, so that no pair is tried twice. */
static void judge_pairs(const struct neighbour *first, unsigned first_count,
                        struct neighbourhood *hood)
{
    uint64_t effort = 0;
    struct neighbour second[NEIGHBOUR_MAX];
    for (unsigned i = 0; i < first_count; i++) {
        unsigned count = neighbour_list(&first[i].c, second);
        for (unsigned k = 0; k < count; k++) {
            bool fresh = second[k].move > first[i].move;
            effort += fresh ? passes(&second[k].c) : 0;
            if (fresh && effort <= PAIR_EFFORT_MAX)
                judge(hood, &second[k]);
        }
    }
}

void neighbour_search(struct arena *arena, const struct change_question *question,
                      struct neighbourhood *out)
{
    const size_t room = (size_t)NEIGHBOUR_MAX * (NEIGHBOUR_MAX + 1);
    struct neighbour first[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(question->from, first);
    *out = (struct neighbourhood){.changes = 1};
    out->fitting = ARENA_ARRAY(arena, struct neighbour, room);
    for (unsigned i = 0; i < count; i++)
        judge(out, &first[i]);
    settle(arena, question, out);
    if (out->fitting_count == 0) {
        out->changes = 2;
        judge_pairs(first, count, out);
        settle(arena, question, out);
    }
}
