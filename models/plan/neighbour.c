/* Moves write a changed configuration and how it is spelt; the rules judge it; the ledger and the
 * step say what it is worth. A move that does not apply (half of a microbatch of one, more
 * recomputation than all of it) writes nothing. */
#include "models/plan/neighbour.h"

#include <stdlib.h>

#include "models/lower/stage/lower.h"
#include "models/plan/ladder.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"

enum {
    PAIR_EFFORT_MAX = 1 << 17, /* layer passes over all pairs: about a second */
    TIMED_OPS_MAX = 1 << 22    /* of ranks that jitter keeps apart: about a second */
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
    if (l->from->layout.pipeline.vpp > 1)
        add(l, MOVE_CHUNKS, &c);
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

static const char *spell(struct arena *arena, const char *before, const char *key, const char *is)
{
    return arena_format(arena, "%s%s%s=%s", before, *before != '\0' ? " " : "", key, is);
}

const char *neighbour_spell(struct arena *arena, const struct configuration *from,
                            const struct configuration *to)
{
    static const enum plan_axis order[] = {PLAN_SHARDING,
                                           PLAN_MICROBATCH,
                                           PLAN_RECOMPUTE,
                                           PLAN_RECOMPUTE_LAYERS,
                                           PLAN_SCHEDULE,
                                           PLAN_VPP,
                                           PLAN_TP,
                                           PLAN_PP,
                                           PLAN_CP,
                                           PLAN_DP,
                                           PLAN_SEQUENCE_PARALLEL};
    const struct plan_layout a = plan_layout_of(from), b = plan_layout_of(to);
    const char *s = "";
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        if (!plan_layout_same(&a, &b, ~(1u << order[i])))
            s = spell(arena, s, arena_format(arena, "layout.%s", plan_axis_names[order[i]]),
                      plan_layout_text(arena, &b, order[i]));
    if (from->training.attention != to->training.attention)
        s = spell(arena, s, "training.attention", attention_kernel_names[to->training.attention]);
    if (from->software.memory.expandable_segments != to->software.memory.expandable_segments)
        s = spell(arena, s, "software.expandable_segments", "true");
    return s;
}

/* Jitter sets every rank apart; without it ranks fold, and a step costs milliseconds. */
static bool worth_playing(const struct configuration *c, const struct step *memory)
{
    uint64_t ops = 0;
    for (uint32_t i = 0; c->kernel_jitter_sigma > 0.0 && i < memory->memory_count; i++)
        ops += (uint64_t)memory->memory[i].rank_count * memory->lowered.programs[i]->op_count;
    return ops <= TIMED_OPS_MAX;
}

static bool holds(struct neighbour *n, bool *playable)
{
    struct step_options options = {.memory_only = true};
    struct step *step = NULL;
    struct error error;
    const bool block = n->c.layout.recompute == RECOMPUTE_BLOCK;
    if (n->move == MOVE_RECOMPUTE && block && !trial_least_block(&n->c, n->c.gpu.hbm.usable_bytes))
        return false;
    if (!step_run(&n->c, &options, &step, &error))
        return false;
    bool fits = step->fits;
    n->peak_reserved_bytes = step->peak.reserved_bytes;
    *playable = worth_playing(&n->c, step);
    step_destroy(step);
    return fits;
}

static bool play(struct neighbour *n)
{
    struct step_options options = {0};
    struct step *step = NULL;
    struct error error;
    if (!step_run(&n->c, &options, &step, &error))
        return false;
    n->timed = true;
    n->step_s = step->step_s;
    n->tokens_per_s = step->rates.tokens_per_s;
    step_destroy(step);
    return true;
}

/* Keeps the neighbour when it fits and its cluster can be played. */
static void judge(struct arena *arena, const struct configuration *from, struct neighbourhood *hood,
                  struct neighbour *n)
{
    bool playable = false;
    hood->tried_count++;
    if (holds(n, &playable) && (!playable || play(n))) {
        n->set = neighbour_spell(arena, from, &n->c);
        hood->fitting[hood->fitting_count++] = *n;
    }
}

static int by_speed(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    int order = (x->tokens_per_s < y->tokens_per_s) - (x->tokens_per_s > y->tokens_per_s);
    if (order == 0) {
        order = (x->peak_reserved_bytes > y->peak_reserved_bytes) -
                (x->peak_reserved_bytes < y->peak_reserved_bytes);
    }
    return order;
}

static uint64_t passes(const struct configuration *c)
{
    return c->model.layers * configuration_microbatches(c);
}

/* Two moves in the order of their enum, so that no pair is tried twice. */
static void judge_pairs(struct arena *arena, const struct configuration *from,
                        const struct neighbour *first, unsigned first_count,
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
                judge(arena, from, hood, &second[k]);
        }
    }
}

void neighbour_search(struct arena *arena, const struct configuration *c, struct neighbourhood *out)
{
    const size_t room = (size_t)NEIGHBOUR_MAX * (NEIGHBOUR_MAX + 1);
    struct neighbour first[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(c, first);
    *out = (struct neighbourhood){.changes = 1};
    out->fitting = ARENA_ARRAY(arena, struct neighbour, room);
    for (unsigned i = 0; i < count; i++)
        judge(arena, c, out, &first[i]);
    if (out->fitting_count == 0) {
        out->changes = 2;
        judge_pairs(arena, c, first, count, out);
    }
    qsort(out->fitting, out->fitting_count, sizeof *out->fitting, by_speed);
}
