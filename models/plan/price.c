/* price.c
 *
 * Invariants
 * 1. A neighbour differs in what its key names and in what follows from it; it is legal.
 * 2. No trial is made that would exceed passes_max. */
#include "models/plan/price.h"

#include <math.h>
#include <stdlib.h>

#include "models/plan/choice_attention.h"
#include "models/plan/choice_keys.h"
#include "models/plan/choice_orders.h"
#include "models/plan/ladder.h"
#include "models/plan/neighbour.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

enum {
    MOVES_MAX = 40
};

struct price_move {
    const char *key;
    struct configuration c;
    double win_ratio; /* of the step: at most this can be won */
};
struct price_search {
    struct arena *arena;
    const struct price_question *q;
    struct price_move *moves;
    unsigned move_count;
    uint64_t passes;
    double usable_bytes;    /* of the card */
    double gpu_s_per_token; /* of the question's own configuration; 0: not known yet */
    struct prices *out;
};

static bool is_stated(const struct price_search *s, enum choice_key key)
{
    return (s->q->open >> key & 1u) == 0;
}

static double share(const struct price_search *s, enum breakdown_part part)
{
    return s->q->step->parts.breakdown_s[part] / s->q->step->step_s;
}

/* Worth a trial only when as much can be won as is asked for. */
static void add(struct price_search *s, const char *key, const struct configuration *c,
                double win_ratio)
{
    if (win_ratio <= s->q->win_ratio || !configuration_legal(c))
        return;
    CHECK(s->move_count < MOVES_MAX);
    s->moves[s->move_count++] = (struct price_move){key, *c, win_ratio}; /* 1 */
}

/* Under a pipeline gradients are reduced once whatever is sharded; without one a copy of the state
 * shared as little as fits moves least. */
static void add_sharding(struct price_search *s)
{
    struct configuration c = *s->q->c;
    if (!is_stated(s, CHOICE_SHARDING) || configuration_replicas(&c) == 1)
        return;
    c.layout.data.sharding = &sharding_zero_1;
    c.layout.data.sharding_options = (struct kind_options){{0}};
    if (s->q->c->layout.data.sharding != &sharding_zero_1)
        add(s, choice_key_path(CHOICE_SHARDING), &c,
            share(s, PART_EXPOSED_DP) + share(s, PART_OPTIMIZER));
}

/* What products of these rows and columns save when one side is twice as long. */
static double longer_product_saves(const struct configuration *c, struct gemm_shape shape,
                                   struct gemm_shape longer)
{
    const enum peak_kind peak = c->training.precision->gemm_peak;
    const struct kernel one = gpu_kernel_gemm("one", peak, shape, 2.0),
                        two = gpu_kernel_gemm("two", peak, longer, 2.0);
    return 1.0 - gpu_kernel_time_s(&c->gpu, &c->kernels, &two) /
                     (2.0 * gpu_kernel_time_s(&c->gpu, &c->kernels, &one));
}

/* The share of the step that larger products would save, by the layer's widest and narrowest. */
static double products_win(const struct price_search *s, double row_factor, double column_factor)
{
    const struct configuration *c = s->q->c;
    const double tp = (double)c->layout.tp,
                 kernels = share(s, PART_COMPUTE) + share(s, PART_RECOMPUTE);
    const double rows =
        (double)c->layout.microbatch * (double)c->training.sequence / (double)c->layout.cp;
    const double columns[] = {(double)c->model.ffn_hidden / tp, (double)c->model.hidden / tp};
    double most = 0.0;
    for (unsigned i = 0; i < 2; i++) {
        const struct gemm_shape now = {rows, columns[i], (double)c->model.hidden, 1.0};
        const struct gemm_shape then = {rows * row_factor, columns[i] * column_factor, now.k, 1.0};
        most = fmax(most, longer_product_saves(c, now, then));
    }
    return kernels * most;
}

/* Twice as large: products of more rows, half the launches, half the gathers of shards, and twice
 * the bubble. */
static double larger_microbatch_wins(const struct price_search *s)
{
    return products_win(s, 2.0, 1.0) + share(s, PART_HOST) + share(s, PART_EXPOSED_DP) / 2.0 -
           share(s, PART_BUBBLE);
}

static void add_microbatch(struct price_search *s)
{
    const char *key = choice_key_path(CHOICE_MICROBATCH);
    struct configuration c = *s->q->c;
    if (!is_stated(s, CHOICE_MICROBATCH))
        return;
    c.layout.microbatch = 2 * s->q->c->layout.microbatch;
    add(s, key, &c, larger_microbatch_wins(s));
    c.layout.microbatch = s->q->c->layout.microbatch / 2;
    if (s->q->c->layout.microbatch % 2 == 0)
        add(s, key, &c, share(s, PART_BUBBLE) / 2.0);
}

/* Less of it; where the microbatch is open, none with smaller ones. Recomputed layers send what
 * tensor and context parallelism send forward once more: a third of it. */
static void add_recompute(struct price_search *s)
{
    const double win =
        share(s, PART_RECOMPUTE) + (share(s, PART_EXPOSED_TP) + share(s, PART_EXPOSED_CP)) / 3.0;
    struct configuration c = *s->q->c;
    if (!is_stated(s, CHOICE_RECOMPUTE))
        return;
    c.layout.recompute = RECOMPUTE_NONE;
    c.layout.recompute_layers = 0;
    for (bool more = true; more && c.layout.recompute < s->q->c->layout.recompute;
         more = ladder_level(&c)) {
        ladder_last(&c);
        add(s, choice_key_path(CHOICE_RECOMPUTE), &c, win);
    }
    c.layout.recompute = RECOMPUTE_NONE;
    c.layout.recompute_layers = 0;
    while (s->q->c->layout.recompute != RECOMPUTE_NONE && !is_stated(s, CHOICE_MICROBATCH) &&
           c.layout.microbatch % 2 == 0) {
        c.layout.microbatch /= 2;
        add(s, choice_key_path(CHOICE_RECOMPUTE), &c, win);
    }
}

/* A bubble of v chunks a stage is 1 / v of that of one; plain 1f1b sends fewer messages. */
static void add_order(struct price_search *s)
{
    const struct layout_spec *l = &s->q->c->layout;
    const bool order = is_stated(s, CHOICE_SCHEDULE), chunks = is_stated(s, CHOICE_CHUNKS);
    const char *key = choice_key_path(order ? CHOICE_SCHEDULE : CHOICE_CHUNKS);
    struct configuration c = *s->q->c;
    if (l->pp == 1 || (!order && !chunks))
        return;
    if (l->pipeline.schedule != &schedule_one_f_one_b) {
        c.layout.pipeline.vpp = 1;
        c.layout.pipeline.schedule = &schedule_one_f_one_b;
        c.layout.pipeline.schedule_options = (struct kind_options){{0}};
        add(s, key, &c, share(s, PART_EXPOSED_PP));
    }
    c.layout.pipeline.vpp = choice_most_chunks(&c);
    c.layout.pipeline.schedule = &schedule_interleaved;
    if (c.software.pipeline.interleaves && c.layout.pipeline.vpp > l->pipeline.vpp)
        add(s, key, &c,
            share(s, PART_BUBBLE) *
                (1.0 - (double)l->pipeline.vpp / (double)c.layout.pipeline.vpp));
}

static void add_switches(struct price_search *s)
{
    struct configuration c = *s->q->c;
    if (is_stated(s, CHOICE_SEQUENCE_PARALLEL) && c.layout.tp > 1 && !c.layout.sequence_parallel &&
        c.software.offers.sequence_parallelism) {
        c.layout.sequence_parallel = true;
        add(s, choice_key_path(CHOICE_SEQUENCE_PARALLEL), &c, 1.0);
    }
    c = *s->q->c;
    if (is_stated(s, CHOICE_ATTENTION) && c.training.attention == ATTENTION_MATH &&
        choice_attention(&c) != ATTENTION_MATH) {
        c.training.attention = (int)choice_attention(&c);
        add(s, choice_key_path(CHOICE_ATTENTION), &c, 1.0);
    }
}

/* A pipeline of one stage has no order; chunks that no longer divide are not legal. */
static void settle_order(struct layout_spec *l)
{
    if (l->pp == 1) {
        l->pipeline.vpp = 1;
        l->pipeline.schedule = &schedule_one_f_one_b;
        l->pipeline.schedule_options = (struct kind_options){{0}};
        l->pipeline.ends_count = false;
    }
}

static void add_split(struct price_search *s, const char *key, const struct configuration *from,
                      double win_ratio)
{
    struct configuration c = *from;
    if (s->q->c->layout.pipeline.first_layers + s->q->c->layout.pipeline.last_layers > 0)
        return; /* a list for so many stages */
    settle_order(&c.layout);
    if (c.layout.tp == 1)
        c.layout.sequence_parallel = false;
    add(s, key, &c, win_ratio);
}

/* Without sequence parallelism every rank of tp does the same between its products: half of that
 * goes with half of tp. */
static double repeated_win(const struct price_search *s)
{
    const double kernels = share(s, PART_COMPUTE) + share(s, PART_RECOMPUTE);
    const double products = s->q->step->rates.hfu_ratio / s->q->c->gpu.gemm.efficiency_ratio;
    return s->q->c->layout.sequence_parallel ? 0.0 : fmax(0.0, kernels - products) / 2.0;
}

/* Half as many ranks share a layer, and twice as many copies or stages are there, either of which
 * doubles the bubble: (p - 1) / m. All exposed time of tensor parallelism goes where it crossed the
 * domain, or ends. */
static void add_tensor(struct price_search *s)
{
    const struct layout_spec *l = &s->q->c->layout;
    const bool all = l->tp > s->q->c->cluster.node.gpus || l->tp == 2;
    const double win = share(s, PART_EXPOSED_TP) * (all ? 1.0 : 0.5) + share(s, PART_HOST) / 2.0 +
                       products_win(s, 1.0, 2.0) + repeated_win(s) - share(s, PART_BUBBLE);
    struct configuration c = *s->q->c;
    if (l->tp % 2 != 0 || !is_stated(s, CHOICE_TP))
        return;
    c.layout.tp = l->tp / 2;
    c.layout.dp = 2 * l->dp;
    add_split(s, "layout.tp", &c, win);
    c.layout.dp = l->dp;
    c.layout.pp = 2 * l->pp;
    add_split(s, "layout.tp", &c, win);
}

/* Half of the stages, with twice the copies: (p / 2 - 1) / (m / 2), so that 1 / (p - 1) of the
 * bubble goes; with twice the tensor parallelism inside the domain (p / 2 - 1) / m. */
static void add_pipeline(struct price_search *s)
{
    const struct layout_spec *l = &s->q->c->layout;
    const double bubble = share(s, PART_BUBBLE), wire = share(s, PART_EXPOSED_PP);
    const double after = (double)l->pp - 1.0;
    struct configuration c = *s->q->c;
    if (l->pp % 2 != 0 || !is_stated(s, CHOICE_PP))
        return;
    c.layout.pp = l->pp / 2;
    c.layout.dp = 2 * l->dp;
    add_split(s, "layout.pp", &c, bubble / after + wire);
    c.layout.dp = l->dp;
    c.layout.tp = 2 * l->tp;
    if (c.layout.tp <= c.cluster.node.gpus)
        add_split(s, "layout.pp", &c, bubble * (double)l->pp / (2.0 * after) + wire);
}

static void add_context(struct price_search *s)
{
    const struct layout_spec *l = &s->q->c->layout;
    struct configuration c = *s->q->c;
    c.layout.cp = l->cp / 2;
    c.layout.dp = 2 * l->dp;
    if (l->cp % 2 == 0 && is_stated(s, CHOICE_CP))
        add_split(s, "layout.cp", &c,
                  share(s, PART_EXPOSED_CP) + share(s, PART_HOST) / 2.0 +
                      products_win(s, 2.0, 1.0) - share(s, PART_BUBBLE));
}

/* Spends the passes of a trial; false: no more are left. */
static bool afford(struct price_search *s, const struct configuration *c)
{
    const uint64_t passes = trial_passes(c);
    if (s->passes + passes > s->q->passes_max) {
        s->out->stopped = true; /* 2 */
        return false;
    }
    s->passes += passes;
    return true;
}

/* The scenario's own step, as a trial plays it; 0: it cannot be known. */
static double own_gpu_s_per_token(struct price_search *s)
{
    const struct configuration *c = s->q->c;
    if (s->gpu_s_per_token == 0.0 && !trial_differs(c)) {
        s->gpu_s_per_token =
            s->q->step->step_s * (double)configuration_ranks(c) / configuration_tokens(c);
    } else if (s->gpu_s_per_token == 0.0 && afford(s, c)) {
        const double own = trial_gpu_s_per_token(c, s->usable_bytes);
        s->gpu_s_per_token = isfinite(own) ? own : 0.0;
    }
    return s->gpu_s_per_token;
}

/* The row of this key; NULL when there is none yet. */
static struct price *row_of(const struct prices *prices, const char *key)
{
    for (unsigned i = 0; i < prices->count; i++)
        if (prices->rows[i].key == key)
            return (struct price *)&prices->rows[i];
    return NULL;
}

static void keep(struct price_search *s, const struct price_move *move, double cost_ratio)
{
    const struct configuration *c = s->q->c;
    struct price *row = row_of(s->out, move->key);
    if (row != NULL && row->cost_ratio >= cost_ratio)
        return;
    if (row == NULL) {
        CHECK(s->out->count < PRICE_MAX);
        row = &s->out->rows[s->out->count++];
    }
    *row = (struct price){
        .key = move->key,
        .stated = neighbour_spell(s->arena, &move->c, c),
        .other = neighbour_spell(s->arena, c, &move->c),
        .cost_ratio = cost_ratio,
        .step_s = s->q->step->step_s,
        .other_s = s->q->step->step_s / (1.0 + cost_ratio),
    };
}

/* A part of the replicas holds more of the state than all do, so it is asked of all. */
static void judge(struct price_search *s, struct price_move *move)
{
    struct configuration *c = &move->c;
    const bool counts =
        c->layout.recompute == RECOMPUTE_BLOCK && s->q->c->layout.recompute != RECOMPUTE_BLOCK;
    if (counts ? !trial_least_block(c, s->usable_bytes) : !trial_may_fit(c, s->usable_bytes))
        return;
    if (!afford(s, c))
        return;
    s->out->tried++;
    const double other = trial_gpu_s_per_token(&move->c, s->usable_bytes),
                 own = own_gpu_s_per_token(s);
    if (isfinite(other) && own > (1.0 + PRICE_RATIO) * other &&
        (!trial_differs(&move->c) || trial_fits(&move->c, s->usable_bytes)))
        keep(s, move, own / other - 1.0);
}

static int by_cost(const void *a, const void *b)
{
    const struct price *x = a, *y = b;
    return (x->cost_ratio < y->cost_ratio) - (x->cost_ratio > y->cost_ratio);
}

void price_find(struct arena *arena, const struct price_question *question, struct prices *out)
{
    struct price_search s = {.arena = arena,
                             .q = question,
                             .usable_bytes = question->c->gpu.hbm.usable_bytes,
                             .out = out};
    *out = (struct prices){.count = 0};
    if (!(question->step->step_s > 0.0) || !question->step->fits)
        return;
    s.moves = arena_alloc(arena, MOVES_MAX * sizeof *s.moves, _Alignof(struct price_move));
    add_sharding(&s);
    add_recompute(&s);
    add_order(&s);
    add_microbatch(&s);
    add_switches(&s);
    add_tensor(&s);
    add_pipeline(&s);
    add_context(&s);
    for (unsigned i = 0; i < s.move_count; i++)
        judge(&s, &s.moves[i]);
    qsort(out->rows, out->count, sizeof *out->rows, by_cost);
}
