/* pass_bound.c
 *
 * Invariants
 * 1. A pass of one part has one price, whichever rank it is on.
 * 2. An instant is written once, and never read before: UNKNOWN until then. */
#include "models/step/estimate/pass_bound.h"

#include <math.h>

#include "models/lower/stage/lower_walk.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"

#define UNKNOWN (-1.0)

enum {
    BESIDE = 2 /* prices of a pass: by itself, and paired */
};
struct pass_price {
    double alone_s, kernels_s;
};
struct stage_order {
    const struct pass *passes;
    uint32_t count, next;
    const uint32_t *parts; /* [chunk] */
    double free_s;         /* compute */
};
struct bounding {
    struct arena *arena;
    struct lowering *l;
    struct pass_prices *prices;
    struct pass_price *rows; /* [(part x PASS_KIND_COUNT + kind) x BESIDE] */
    double *made_s[2]; /* [part x microbatches]: its forward, its backward as far as inputs go */
    uint32_t microbatches; /* of the step */
    struct stage_order *stages;
};

/* The lists of a pass up to its last kernel, and their number. */
static uint32_t lists_of(struct bounding *b, const struct units *units, const struct pass *pass,
                         bool paired, struct run *out)
{
    const struct piece_list **lists = NULL;
    uint32_t count = 0, room = 0, kernels = 0;
    struct pass_walk walk;
    *out = (struct run){.key = 0};
    lower_walk_begin(&walk, units, pass, paired);
    for (enum walk_step at; (at = lower_walk_next(&walk)) != WALK_END;) {
        if (at == WALK_LIST) {
            LIST_ROOM(b->arena, lists, count, 1, room);
            lists[count++] = walk.list;
            kernels = 0;
        } else if (at == WALK_PIECE && walk.piece->kind == OP_COMPUTE) {
            kernels = walk.pieces;
            out->list_count = count;
            out->last_rows = kernels;
        }
    }
    out->lists = lists;
    return count;
}

/* Of whole passes, which are no runs of lower_runs.c: those end where a piece settles. */
static uint64_t key_of(const struct lowering *l, const struct run *run)
{
    const char *base = (const char *)l->blocks;
    uint64_t key = random_hash(run->last_rows, run->list_count);
    for (uint32_t i = 0; i < run->list_count; i++)
        key = random_hash(key, (uint64_t)((const char *)run->lists[i] - base));
    return random_hash(key, UINT64_MAX);
}

static void price_pass(struct bounding *b, const struct units *units, const struct pass *pass,
                       bool paired, struct pass_price *out)
{
    const struct arena_mark mark = arena_mark(b->arena);
    struct run run;
    if (lists_of(b, units, pass, paired, &run) > 0 && run.list_count > 0) {
        run.key = key_of(b->l, &run);
        const struct pass_run found = pass_price_run(b->prices, &run);
        *out = (struct pass_price){found.follows_s, found.compute_s};
    }
    arena_rewind(b->arena, mark);
}

static struct pass_price *price_row(const struct bounding *b, uint32_t part, int kind, bool paired)
{
    return &b->rows[(part * PASS_KIND_COUNT + (uint32_t)kind) * BESIDE + paired];
}

/* 1. */
static void price_stage(struct bounding *b, uint32_t stage)
{
    const struct schedule_kind *kind = b->l->c->layout.pipeline.schedule;
    struct units units;
    lower_units_build(&units, b->l, stage);
    for (uint32_t chunk = 0; chunk < b->l->chunks; chunk++) {
        const uint32_t part = schedule_part(kind, &b->l->shape, stage, chunk);
        for (int k = 0; k < PASS_KIND_COUNT; k++) {
            const struct pass pass = {.kind = (uint8_t)k, .chunk = (uint8_t)chunk};
            const bool split = k == PASS_BACKWARD_INPUT || k == PASS_WEIGHTS;
            const bool paired = k == PASS_FORWARD_PAIRED || k == PASS_BACKWARD;
            if (!split || kind->splits)
                price_pass(b, &units, &pass, false, price_row(b, part, k, false));
            if (paired && b->l->weaves)
                price_pass(b, &units, &pass, true, price_row(b, part, k, true));
        }
    }
}

static struct pass_price whole_pass(const struct bounding *b, uint32_t part, int kind)
{
    return *price_row(b, part, kind, false);
}

/* Each stage works off its passes one behind the other, from when the first forward has come to it;
 * the last gradient goes back from there. */
static double closed_s(const struct bounding *b)
{
    const struct schedule_kind *kind = b->l->c->layout.pipeline.schedule;
    double least_s = 0.0, fill_s = 0.0;
    for (uint32_t stage = 0; stage < b->l->shape.stages; stage++) {
        double work_s = 0.0;
        for (uint32_t chunk = 0; chunk < b->l->chunks; chunk++) {
            const uint32_t part = schedule_part(kind, &b->l->shape, stage, chunk);
            work_s += whole_pass(b, part, PASS_FORWARD).alone_s +
                      whole_pass(b, part, PASS_BACKWARD).alone_s;
        }
        least_s = fmax(least_s, fill_s + (double)b->microbatches * work_s);
        fill_s += whole_pass(b, stage, PASS_FORWARD).alone_s +
                  whole_pass(b, stage, PASS_BACKWARD).alone_s;
    }
    return least_s;
}

/* When what a pass reads is there; UNKNOWN: not yet. */
static double ready_s(const struct bounding *b, uint32_t part, const struct pass *pass)
{
    const double *forward_s = b->made_s[0], *backward_s = b->made_s[1];
    const size_t at = (size_t)part * b->microbatches + pass->microbatch;
    if (pass->kind == PASS_WEIGHTS)
        return 0.0; /* behind its inputs in the order of its rank */
    if (pass_is_forward(pass))
        return part == 0 ? 0.0 : forward_s[at - b->microbatches];
    return part + 1 == b->l->parts ? forward_s[at] : backward_s[at + b->microbatches];
}

static void note_made(struct bounding *b, uint32_t part, const struct pass *pass, double at_s)
{
    const size_t at = (size_t)part * b->microbatches + pass->microbatch;
    if (pass->kind == PASS_WEIGHTS)
        return;
    CHECK(b->made_s[!pass_is_forward(pass)][at] == UNKNOWN); /* 2 */
    b->made_s[!pass_is_forward(pass)][at] = at_s;
}

static bool play_pair(struct bounding *b, struct stage_order *s)
{
    const struct pass *forward = &s->passes[s->next], *backward = forward + 1;
    const uint32_t there = s->parts[forward->chunk], back = s->parts[backward->chunk];
    const double x_s = ready_s(b, there, forward), y_s = ready_s(b, back, backward);
    if (x_s == UNKNOWN || y_s == UNKNOWN)
        return false;
    const struct pass_price x = *price_row(b, there, PASS_FORWARD_PAIRED, true),
                            y = *price_row(b, back, PASS_BACKWARD, true);
    const double forward_s = fmax(s->free_s, x_s) + x.alone_s,
                 backward_s = fmax(s->free_s, y_s) + y.alone_s;
    note_made(b, there, forward, forward_s);
    note_made(b, back, backward, backward_s);
    s->free_s = fmax(fmax(s->free_s, fmin(x_s, y_s)) + x.kernels_s + y.kernels_s,
                     fmax(forward_s, backward_s));
    s->next += 2;
    return true;
}

static bool play_pass(struct bounding *b, struct stage_order *s)
{
    const struct pass *pass = &s->passes[s->next];
    const uint32_t part = s->parts[pass->chunk];
    if (pass->kind == PASS_FORWARD_PAIRED && b->l->weaves)
        return play_pair(b, s);
    const double begin_s = ready_s(b, part, pass);
    if (begin_s == UNKNOWN)
        return false;
    s->free_s = fmax(s->free_s, begin_s) + whole_pass(b, part, pass->kind).alone_s;
    note_made(b, part, pass, s->free_s);
    s->next++;
    return true;
}

static void begin_order(struct bounding *b)
{
    const struct lowering *l = b->l;
    const size_t cells = (size_t)l->parts * b->microbatches;
    for (unsigned d = 0; d < 2; d++) {
        b->made_s[d] = ARENA_ARRAY(b->arena, double, cells);
        for (size_t i = 0; i < cells; i++)
            b->made_s[d][i] = UNKNOWN;
    }
    b->stages = ARENA_ARRAY(b->arena, struct stage_order, l->shape.stages);
    for (uint32_t stage = 0; stage < l->shape.stages; stage++) {
        struct stage_order *s = &b->stages[stage];
        uint32_t *parts = ARENA_ARRAY(b->arena, uint32_t, l->chunks);
        for (uint32_t chunk = 0; chunk < l->chunks; chunk++)
            parts[chunk] = schedule_part(l->c->layout.pipeline.schedule, &l->shape, stage, chunk);
        s->parts = parts;
        s->passes = lower_plan_passes(l, stage, &s->count);
    }
}

/* No schedule can deadlock: each round at least one stage goes on (schedule_kind.h). */
static double order_s(struct bounding *b)
{
    double end_s = 0.0;
    bool open = true;
    begin_order(b);
    while (open) {
        bool moved = false;
        open = false;
        for (uint32_t stage = 0; stage < b->l->shape.stages; stage++) {
            struct stage_order *s = &b->stages[stage];
            while (s->next < s->count && play_pass(b, s))
                moved = true;
            open = open || s->next < s->count;
            end_s = fmax(end_s, s->free_s);
        }
        CHECK(moved || !open);
    }
    return end_s;
}

double pass_order_least_s(struct pass_memory *memory, struct pass_split *split,
                          const struct configuration *c, bool *loose)
{
    struct arena *scratch = pass_memory_scratch(memory);
    const struct arena_mark mark = arena_mark(scratch);
    struct pass_blocks *blocks = pass_blocks_find(memory, c);
    const struct lowering *plan = pass_blocks_plan(blocks);
    struct pass_wires *wires = pass_split_wires(split);
    struct bounding b = {.arena = scratch, .l = lower_plan_like(scratch, c, plan)};
    b.l->detail = LOWERED_AS_RUNS;
    b.microbatches = (uint32_t)configuration_microbatches(c);
    *loose = pass_wires_learn(wires, scratch, &(struct lowered){.program_count = 0}, plan);
    b.prices = pass_blocks_price(blocks, wires);
    b.rows = ARENA_ARRAY(scratch, struct pass_price, (size_t)b.l->parts * PASS_KIND_COUNT * BESIDE);
    for (uint32_t stage = 0; stage < b.l->shape.stages; stage++)
        price_stage(&b, stage);
    const double least_s = c->layout.pipeline.schedule->splits ? order_s(&b) : closed_s(&b);
    arena_rewind(scratch, mark);
    return least_s;
}
