/* zb_greedy.c - rounds of a forward down the ranks and an input pass up, with passes of weights put
 * where a rank would wait, or where what it keeps has to leave.
 *
 * A first round brings as many forwards to each rank as fit before its first input pass comes: at
 * `early` one more, that ends later. In later rounds a rank that is two forwards ahead of the next
 * may leave its forward out for the sake of the backward (`patient`); a gap too short for a pass of
 * weights is filled with one anyway unless others idle more and it is `sparing`.
 *
 * Invariants
 * 1. A rank's passes of one kind follow the microbatches; a pass is put when what it needs has
 *    been.
 * 2. What a rank keeps never passes the limit, but where one microbatch alone does. */
#include "models/schedule/zb_greedy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

enum step_kind {
    FORWARD,
    INPUT,
    WEIGHTS,
    STEP_KINDS
};
enum {
    EARLY = 1,
    PATIENT = 2,
    SPARING = 4,
    VARIANTS = 8
};
static const double rounding = 1e-9; /* of the limit, and of a forward's time */

struct greedy_rank {
    double begin_s, now_s, idle_s;
    double kept_bytes;
    double change_bytes[STEP_KINDS];
    double cost_s[STEP_KINDS];
    uint32_t done[STEP_KINDS];
    uint32_t wanted;             /* forwards of this round */
    double *forward_s, *input_s; /* when each microbatch's is over */
};
struct greedy {
    const struct schedule_shape *shape;
    struct greedy_rank *ranks;
    double limit_bytes, transfer_s;
    double tie_s; /* times that differ by less are equal */
    unsigned variant;
    double cost_s[STEP_KINDS];
    uint32_t stage; /* whose passes are written */
    struct pass *out;
    uint32_t count;
    bool stuck; /* what is kept can not leave: the variant does not fit */
};

static double worst_idle_s(const struct greedy *g)
{
    double worst_s = 0.0;
    for (uint32_t j = 0; j < g->shape->stages; j++)
        worst_s = fmax(worst_s, g->ranks[j].idle_s);
    return worst_s;
}

/* When what the next pass of this kind needs of its neighbour is there. */
static double arrival_s(const struct greedy *g, uint32_t stage, enum step_kind kind)
{
    const uint32_t nth = g->ranks[stage].done[kind];
    if (kind == FORWARD && stage > 0)
        return g->ranks[stage - 1].forward_s[nth] + g->transfer_s;
    if (kind == INPUT && stage + 1 < g->shape->stages)
        return g->ranks[stage + 1].input_s[nth] + g->transfer_s;
    return 0.0;
}

static void put(struct greedy *g, uint32_t stage, enum step_kind kind)
{
    static const uint8_t kinds[STEP_KINDS] = {PASS_FORWARD, PASS_BACKWARD_INPUT, PASS_WEIGHTS};
    struct greedy_rank *r = &g->ranks[stage];
    const uint32_t nth = r->done[kind];
    CHECK(nth < g->shape->microbatches);
    CHECK(kind == FORWARD || r->done[kind - 1] > nth); /* 1 */
    CHECK(kind != FORWARD || stage == 0 || g->ranks[stage - 1].done[FORWARD] > nth);
    const double begin_s = fmax(r->now_s, arrival_s(g, stage, kind));
    if (kind == FORWARD && nth == 0)
        r->begin_s = begin_s;
    else
        r->idle_s += begin_s - r->now_s;
    r->now_s = begin_s + r->cost_s[kind];
    r->kept_bytes += r->change_bytes[kind];
    r->done[kind]++;
    if (kind != WEIGHTS)
        (kind == FORWARD ? r->forward_s : r->input_s)[nth] = r->now_s;
    if (stage == g->stage)
        g->out[g->count++] = (struct pass){kinds[kind], 0, (uint16_t)nth};
}

static bool weights_wait(const struct greedy_rank *r)
{
    return r->done[WEIGHTS] < r->done[INPUT];
}

/* Weights before a pass, as long as the rank would wait for it anyway. */
static void fill(struct greedy *g, uint32_t stage, enum step_kind kind)
{
    struct greedy_rank *r = &g->ranks[stage];
    const double there_s = arrival_s(g, stage, kind);
    while (weights_wait(r) && r->now_s + r->cost_s[WEIGHTS] <= there_s + g->tie_s)
        put(g, stage, WEIGHTS);
    const double gap_s = there_s - r->now_s;
    if (!weights_wait(r) || !(gap_s > g->tie_s))
        return;
    if (gap_s > worst_idle_s(g) - r->idle_s + g->tie_s || !(g->variant & SPARING))
        put(g, stage, WEIGHTS);
}

/* One microbatch always fits. */
static bool fits(const struct greedy *g, const struct greedy_rank *r, double bytes)
{
    return bytes <= fmax(g->limit_bytes, r->change_bytes[FORWARD]) * (1.0 + rounding);
}

static void make_room(struct greedy *g, uint32_t stage, enum step_kind kind)
{
    struct greedy_rank *r = &g->ranks[stage];
    while (!fits(g, r, r->kept_bytes + r->change_bytes[kind]) && weights_wait(r))
        put(g, stage, WEIGHTS);
    g->stuck = g->stuck || !fits(g, r, r->kept_bytes + r->change_bytes[kind]); /* 2 */
}

/* How many forwards more fit on this rank before its first input pass can come. */
static uint32_t forwards_before(const struct greedy *g, uint32_t stage, double there_s)
{
    const struct greedy_rank *r = &g->ranks[stage];
    const double each_s = r->cost_s[FORWARD];
    uint32_t more = 0;
    double now_s = r->now_s;
    while (
        r->done[FORWARD] + more < g->shape->microbatches &&
        fits(g, r, r->kept_bytes + (more + 1.0) * r->change_bytes[FORWARD]) &&
        (g->variant & EARLY ? now_s + g->tie_s < there_s : now_s + each_s <= there_s + g->tie_s)) {
        now_s += each_s;
        more++;
    }
    return more;
}

static void first_round(struct greedy *g)
{
    const uint32_t p = g->shape->stages, m = g->shape->microbatches;
    for (uint32_t j = 0; j < p; j++)
        put(g, j, FORWARD);
    double there_s = g->ranks[p - 1].now_s + g->ranks[p - 1].cost_s[INPUT];
    for (uint32_t j = p - 1; j-- > 0;) {
        struct greedy_rank *r = &g->ranks[j];
        r->wanted = forwards_before(g, j, there_s + g->transfer_s);
        const double after_s = r->now_s + r->wanted * r->cost_s[FORWARD];
        there_s = fmax(after_s, there_s + g->transfer_s) + r->cost_s[INPUT];
    }
    for (uint32_t j = 1; j < p; j++) {
        struct greedy_rank *r = &g->ranks[j];
        const uint32_t before = g->ranks[j - 1].wanted; /* no more can have come from there */
        r->wanted = r->wanted < before ? r->wanted : before;
        if (r->wanted > 0 && r->wanted == before && r->done[FORWARD] + r->wanted < m)
            r->wanted--;
    }
    for (uint32_t j = 0; j < p; j++)
        for (uint32_t i = 0; i < g->ranks[j].wanted; i++)
            put(g, j, FORWARD);
    for (uint32_t j = p; j-- > 0;)
        put(g, j, INPUT);
}

/* May this rank, ahead of the next, leave its forward out of the round without being waited for? */
static bool may_skip(const struct greedy *g, uint32_t stage)
{
    const struct greedy_rank *r = &g->ranks[stage];
    if (!(g->variant & PATIENT) || stage + 1 == g->shape->stages)
        return false;
    const struct greedy_rank *next = r + 1;
    if (r->done[FORWARD] < next->done[FORWARD] + 2)
        return false;
    const double back_s = next->now_s + next->cost_s[FORWARD] + next->cost_s[INPUT] + g->transfer_s;
    double ready_s = r->now_s + r->cost_s[FORWARD], kept = r->kept_bytes + r->change_bytes[FORWARD];
    for (uint32_t i = r->done[WEIGHTS]; i < r->done[INPUT] && !fits(g, r, kept); i++) {
        ready_s += r->cost_s[WEIGHTS];
        kept += r->change_bytes[WEIGHTS];
    }
    if (r->now_s + g->tie_s >= back_s)
        return true;
    return ready_s > back_s + g->tie_s &&
           back_s - r->now_s <= worst_idle_s(g) - r->idle_s + g->tie_s;
}

static void forwards_of_round(struct greedy *g)
{
    const uint32_t p = g->shape->stages;
    for (uint32_t j = 0; j < p; j++)
        g->ranks[j].wanted = g->ranks[j].done[FORWARD] < g->shape->microbatches && !may_skip(g, j);
    for (uint32_t j = p - 1; j-- > 0;)
        if (g->ranks[j + 1].wanted == 0)
            g->ranks[j].wanted = 0;
    for (uint32_t j = 0; j < p; j++) {
        if (g->ranks[j].wanted == 0)
            continue;
        make_room(g, j, FORWARD);
        if (g->stuck)
            return;
        fill(g, j, FORWARD);
        put(g, j, FORWARD);
    }
}

static void inputs_of_round(struct greedy *g)
{
    for (uint32_t j = g->shape->stages; j-- > 0;) {
        struct greedy_rank *r = &g->ranks[j];
        make_room(g, j, INPUT);
        if (g->stuck)
            return;
        fill(g, j, INPUT);
        while (j == 0 && r->done[FORWARD] == g->shape->microbatches && weights_wait(r))
            put(g, j, WEIGHTS);
        put(g, j, INPUT);
    }
}

/* A forward takes room for what its backward will need: recomputed, that is more than it keeps. */
static double room_bytes(const struct pass_costs *costs, uint32_t stage)
{
    return fmax(costs->kept_bytes[stage], costs->late_bytes[stage]);
}

static void begin(struct greedy *g, const struct pass_costs *costs)
{
    const uint32_t m = g->shape->microbatches;
    g->count = 0;
    g->stuck = false;
    for (uint32_t j = 0; j < g->shape->stages; j++) {
        struct greedy_rank *r = &g->ranks[j];
        double *forward_s = r->forward_s, *input_s = r->input_s;
        *r = (struct greedy_rank){.change_bytes = {1.0, 0.0, -1.0}};
        memcpy(r->cost_s, g->cost_s, sizeof r->cost_s);
        if (costs != NULL) {
            r->change_bytes[FORWARD] = room_bytes(costs, j);
            r->change_bytes[INPUT] = costs->late_bytes[j] - room_bytes(costs, j);
            r->change_bytes[WEIGHTS] = -costs->late_bytes[j];
        }
        r->forward_s = forward_s;
        r->input_s = input_s;
        memset(forward_s, 0, sizeof *forward_s * m);
        memset(input_s, 0, sizeof *input_s * m);
    }
}

/* The longest time between a rank's first pass and its last; infinite: it does not fit. */
static double play(struct greedy *g, const struct pass_costs *costs, unsigned variant)
{
    const uint32_t m = g->shape->microbatches;
    double span_s = 0.0;
    begin(g, costs);
    g->variant = variant;
    first_round(g);
    for (uint32_t i = 1; i < m && !g->stuck; i++) {
        forwards_of_round(g);
        if (!g->stuck)
            inputs_of_round(g);
    }
    if (g->stuck)
        return INFINITY;
    for (uint32_t j = 0; j < g->shape->stages; j++) {
        while (weights_wait(&g->ranks[j]))
            put(g, j, WEIGHTS);
        span_s = fmax(span_s, g->ranks[j].now_s - g->ranks[j].begin_s);
    }
    return span_s;
}

/* The middle one of so many. */
static double middle(const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t below = 0, equal = 0;
        for (uint32_t k = 0; k < count; k++) {
            below += values[k] < values[i];
            equal += values[k] == values[i];
        }
        if (below <= count / 2 && count / 2 < below + equal)
            return values[i];
    }
    return 0.0;
}

/* All ranks are taken to be as fast as the middle one, and may keep so many forwards as the larger
 * of the first two keeps (sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/runtime.py). */
static void take_costs(struct greedy *g, const struct pass_costs *costs)
{
    const uint32_t p = g->shape->stages;
    g->cost_s[FORWARD] = middle(costs->forward_s, p);
    g->cost_s[INPUT] = middle(costs->input_s, p);
    g->cost_s[WEIGHTS] = middle(costs->weights_s, p);
    g->transfer_s = costs->transfer_s;
    g->limit_bytes *= fmax(room_bytes(costs, 0), room_bytes(costs, 1));
}

uint32_t zb_greedy_write(const struct schedule_shape *shape, uint32_t limit,
                         const struct pass_costs *costs, uint32_t stage, struct pass *out)
{
    const uint32_t p = shape->stages, m = shape->microbatches;
    struct greedy_rank *ranks = calloc(p, sizeof *ranks);
    double *times = calloc((size_t)2 * p * m, sizeof *times);
    CHECK(ranks != NULL && times != NULL);
    for (uint32_t j = 0; j < p; j++) {
        ranks[j].forward_s = times + (size_t)2 * j * m;
        ranks[j].input_s = ranks[j].forward_s + m;
    }
    struct greedy g = {.shape = shape,
                       .ranks = ranks,
                       .limit_bytes = limit,
                       .cost_s = {1.0, 1.0, 1.0},
                       .stage = stage,
                       .out = out};
    if (costs != NULL)
        take_costs(&g, costs);
    g.tie_s = rounding * g.cost_s[FORWARD];
    double best_s = INFINITY;
    unsigned best = VARIANTS;
    for (unsigned variant = 0; variant < VARIANTS; variant++) {
        const double span_s = play(&g, costs, variant);
        if (span_s + g.tie_s < best_s || best == VARIANTS) {
            best_s = span_s;
            best = variant;
        }
    }
    CHECK(best_s < INFINITY);
    play(&g, costs, best);
    free(times);
    free(ranks);
    return g.count;
}
