/* pass_blocks.c
 *
 * Invariants
 * 1. What is remembered is a function of its key alone, whatever was asked before: blocks of the
 *    layout without dp, pp, vpp, order of passes and sharding; prices of the times of all transfers
 *    of the blocks as well.
 * 2. A run's pieces are played as the ops of lower_ops.c: compute takes what was waited for; a
 *    transfer waits for the compute before it and for what that compute waited for; one that is
 *    sent beside the next compute is waited for by the one after. */
#include "models/step/estimate/pass_blocks.h"

#include <math.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/estimate/pass_wires.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/table.h"

struct pass_prices {
    uint64_t key; /* of the times of the wires */
    struct pass_blocks *blocks;
    struct pass_wires *wires; /* of who asked last */
    struct table runs;        /* by run.key */
    struct pass_run *rows;
    uint32_t row_room;
    struct pass_prices *later;
};
struct pass_blocks {
    struct arena *arena;
    struct configuration c; /* of whoever asked first */
    struct layout_spec key;
    bool accumulates;
    const struct lowering *plan;
    double slowness;
    double join_ratio[JOIN_COUNT];
    struct pass_prices *prices;
    struct pass_blocks *later;
};
struct pass_memory {
    struct arena *arena, *scratch;
    struct pass_blocks *first;
};

struct pass_memory *pass_memory_create(void)
{
    struct arena *arena = arena_create();
    struct pass_memory *m = ARENA_NEW(arena, struct pass_memory);
    m->arena = arena;
    m->scratch = arena_create();
    return m;
}

void pass_memory_destroy(struct pass_memory *memory)
{
    if (memory == NULL)
        return;
    arena_destroy(memory->scratch);
    arena_destroy(memory->arena);
}

void pass_memory_give(struct pass_memory *memory)
{
    arena_give(memory->scratch);
    arena_give(memory->arena);
}

void pass_memory_claim(struct pass_memory *memory)
{
    arena_claim(memory->arena);
    arena_claim(memory->scratch);
}

struct arena *pass_memory_scratch(struct pass_memory *memory)
{
    return memory->scratch;
}

/* What blocks depend on, with the rest at zero. */
static struct layout_spec key_of(const struct configuration *c)
{
    struct layout_spec key;
    memset(&key, 0, sizeof key);
    const struct layout_spec *l = &c->layout;
    key.tp = l->tp;
    key.cp = l->cp;
    key.ep = l->ep;
    key.etp = l->etp;
    key.microbatch = l->microbatch;
    key.recompute = l->recompute;
    key.recompute_layers = l->recompute == RECOMPUTE_UNIFORM ? l->recompute_layers : 0;
    key.context.method = l->context.method;
    key.context.inner = l->context.inner;
    key.context.balance = l->context.balance;
    key.sequence_parallel = l->sequence_parallel;
    key.pipeline.vpp = l->pipeline.schedule->splits;       /* such blocks have two lists more */
    key.pipeline.ends_count = l->pipeline.schedule->pairs; /* and these two more again */
    return key;
}

static bool accumulates(const struct configuration *c)
{
    return configuration_microbatches(c) > 1;
}

/* Whether weights are gathered, and gradients kept, changes what kernels read and write: layouts
 * of different sharding, or with one stage and with several, have blocks of their own. */
static bool same_blocks(const struct pass_blocks *b, const struct configuration *c,
                        const struct layout_spec *key)
{
    const struct layout_spec *l = &b->c.layout;
    return memcmp(&b->key, key, sizeof *key) == 0 && b->accumulates == accumulates(c) &&
           l->data.sharding == c->layout.data.sharding && (l->pp > 1) == (c->layout.pp > 1) &&
           (configuration_shards(&b->c) > 1) == (configuration_shards(c) > 1) &&
           (c->model.moe.experts == 0 || (configuration_expert_ranks(&b->c).edp > 1) ==
                                             (configuration_expert_ranks(c).edp > 1)) &&
           configuration_ranks(&b->c) == configuration_ranks(c);
}

struct pass_blocks *pass_blocks_find(struct pass_memory *memory, const struct configuration *c)
{
    const struct layout_spec key = key_of(c);
    for (struct pass_blocks *b = memory->first; b != NULL; b = b->later)
        if (same_blocks(b, c, &key))
            return b;
    struct pass_blocks *b = ARENA_NEW(memory->arena, struct pass_blocks);
    *b = (struct pass_blocks){
        .arena = memory->arena, .c = *c, .accumulates = accumulates(c), .later = memory->first};
    memcpy(&b->key, &key, sizeof key);
    const struct arena_mark mark = arena_mark(memory->scratch);
    b->plan = lower_plan_slim(memory->arena, lower_plan_lowering(memory->scratch, &b->c));
    arena_rewind(memory->scratch, mark);
    b->join_ratio[JOIN_TENSOR] = configuration_tensor_overlap_cost(c);
    b->join_ratio[JOIN_CONTEXT] = c->software.tensor.overlap_cost_ratio;
    b->slowness = 1.0 + gpu_slowest_excess_ratio(&c->gpu, configuration_ranks(c));
    memory->first = b;
    return b;
}

const struct lowering *pass_blocks_plan(const struct pass_blocks *blocks)
{
    return blocks->plan;
}

static uint64_t hash_list(struct pass_wires *wires, const struct piece_list *list, uint64_t hash)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct lowered_piece *p = &list->rows[i];
        if (p->kind == OP_COMPUTE)
            continue;
        const double time_s = pass_wires_slowest_s(wires, (enum stream)p->stream, p->transfer);
        uint64_t bits;
        memcpy(&bits, &time_s, sizeof bits);
        hash = random_hash(hash, bits);
    }
    return hash;
}

struct pass_prices *pass_blocks_price(struct pass_blocks *blocks, struct pass_wires *wires)
{
    uint64_t key = 0;
    for (unsigned b = 0; b < lower_plan_block_count(blocks->plan); b++)
        for (unsigned i = 0; i < PIECES_PAIRED_FORWARD; i++)
            key = hash_list(wires, &blocks->plan->blocks[b].lists[i], key);
    struct pass_prices *p = blocks->prices;
    while (p != NULL && p->key != key)
        p = p->later;
    if (p == NULL) {
        p = ARENA_NEW(blocks->arena, struct pass_prices);
        *p = (struct pass_prices){.key = key, .blocks = blocks, .later = blocks->prices};
        blocks->prices = p;
    }
    p->wires = wires;
    return p;
}

enum {
    BESIDE_MAX = 8
};
struct beside_span {
    double begin_s, finish_s;
    double cost_ratio; /* of the time beside compute; 0 of compute */
};
struct spans {
    struct beside_span rows[BESIDE_MAX];
    unsigned count;
};
struct run_clock {               /* 2: a rank inside a run */
    double free_s;               /* compute stream */
    double wire_free_s[2];       /* of tp, of cp */
    double waits_s;              /* of the next compute */
    double issue_s, host_left_s; /* the host */
    struct spans joining;        /* beside the next compute */
    struct spans joined;         /* the next compute pays for them */
    struct beside_span before;   /* the compute before */
    double compute_s;
    bool begun;
};

static double finite_or_zero(double value)
{
    return isfinite(value) ? value : 0.0;
}

/* What the time costs that the compute before and these transfers spent beside each other. */
static double joined_s(const struct run_clock *p)
{
    double sum_s = 0.0;
    for (unsigned i = 0; i < p->joined.count; i++) {
        const struct beside_span *t = &p->joined.rows[i];
        const double begin_s = fmax(p->before.begin_s, t->begin_s);
        sum_s += t->cost_ratio *
                 fmax(0.0, finite_or_zero(fmin(p->before.finish_s, t->finish_s) - begin_s));
    }
    return sum_s;
}

static void play_compute(const struct pass_blocks *b, struct run_clock *p,
                         const struct lowered_piece *piece)
{
    const double post_s = fmax(fmax(p->free_s, p->waits_s), p->issue_s);
    double work_s = piece->cost.gpu_s * b->slowness;
    p->compute_s += work_s;
    work_s += joined_s(p);
    p->before = (struct beside_span){post_s, post_s + work_s, 0.0};
    p->free_s = post_s + work_s;
    p->waits_s = -INFINITY;
    p->joined = p->joining;
    p->joining.count = 0;
    for (unsigned i = 0; i < p->joined.count; i++)
        p->waits_s = fmax(p->waits_s, p->joined.rows[i].finish_s);
}

static void play_transfer(struct pass_prices *prices, struct run_clock *p,
                          const struct lowered_piece *piece)
{
    double *wire_free_s = &p->wire_free_s[piece->stream == STREAM_CP];
    const double post_s = fmax(fmax(p->free_s, p->waits_s), fmax(*wire_free_s, p->issue_s));
    const double time_s =
        pass_wires_slowest_s(prices->wires, (enum stream)piece->stream, piece->transfer);
    *wire_free_s = post_s + time_s;
    if (!piece->beside) {
        p->waits_s = *wire_free_s;
        p->joined.count = 0; /* the next compute waits for this one alone */
        return;
    }
    CHECK(p->joining.count < BESIDE_MAX);
    p->joining.rows[p->joining.count++] = (struct beside_span){
        post_s, *wire_free_s,
        prices->blocks->join_ratio[piece->stream == STREAM_CP ? JOIN_CONTEXT : JOIN_TENSOR]};
}

static void play_piece(struct pass_prices *prices, struct run_clock *p,
                       const struct lowered_piece *piece)
{
    if (p->begun)
        p->issue_s += piece->host_s + p->host_left_s;
    p->begun = true;
    p->host_left_s = 0.0;
    if (piece->kind == OP_COMPUTE)
        play_compute(prices->blocks, p, piece);
    else
        play_transfer(prices, p, piece);
}

/* When a run ends that may begin, was launched, and finds its wires free at these instants. */
static double play_run(struct pass_prices *prices, const struct run *run, double begin_s,
                       double launched_s, double wires_s, double *compute_s)
{
    struct run_clock p = {.free_s = begin_s,
                          .wire_free_s = {wires_s, wires_s},
                          .waits_s = -INFINITY,
                          .issue_s = launched_s,
                          .before = {-INFINITY, -INFINITY, 0.0}};
    for (uint32_t i = 0; i < run->list_count; i++) {
        const struct piece_list *list = run->lists[i];
        const uint32_t end = i + 1 == run->list_count ? run->last_rows : list->count;
        for (uint32_t k = 0; k < end; k++)
            play_piece(prices, &p, &list->rows[k]);
        p.host_left_s += list->host_left_s;
    }
    *compute_s = p.compute_s;
    return p.free_s;
}

struct pass_run pass_price_run(struct pass_prices *prices, const struct run *run)
{
    uint32_t row = table_find(&prices->runs, run->key, NULL, NULL, NULL);
    if (row != TABLE_NONE)
        return prices->rows[row];
    struct arena *arena = prices->blocks->arena;
    row = table_number(&prices->runs, arena, run->key, NULL, NULL, NULL);
    LIST_ROOM(arena, prices->rows, row, 1, prices->row_room);
    struct pass_run *out = &prices->rows[row];
    const double never = -INFINITY;
    out->follows_s = play_run(prices, run, 0.0, never, never, &out->compute_s);
    out->launched_s = play_run(prices, run, never, 0.0, never, &out->compute_s);
    out->wires_s = play_run(prices, run, never, never, 0.0, &out->compute_s);
    return *out;
}
