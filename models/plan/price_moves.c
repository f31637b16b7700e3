#include "models/plan/price_moves.h"

#include <math.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/plan/choice_attention.h"
#include "models/plan/choice_keys.h"
#include "models/plan/choice_orders.h"
#include "models/plan/ladder.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

struct moves {
    const struct configuration *c;
    unsigned open;
    const struct step *step;
    double win_ratio;
    struct price_move *rows;
    unsigned count;
};
/* What may be won by a size so many times as large, or as small. */
typedef double (*price_win_fn)(const struct moves *s, double times);

static bool is_stated(const struct moves *s, enum choice_key key)
{
    return (s->open >> key & 1u) == 0;
}

static double share(const struct moves *s, enum breakdown_part part)
{
    return s->step->parts.breakdown_s[part] / s->step->step_s;
}

/* Worth a trial only when as much can be won as is asked for. */
static void add(struct moves *s, const char *key, const struct configuration *c, double win_ratio)
{
    if (win_ratio <= s->win_ratio || !configuration_legal(c))
        return;
    CHECK(s->count < PRICE_MOVES_MAX);
    s->rows[s->count++] = (struct price_move){key, *c, NULL, INFINITY};
}

/* The most that any of its sizes can win, twice or half of the first, and so on. */
static double best_win(const struct moves *s, uint64_t most, price_win_fn win)
{
    double best = 0.0;
    for (uint64_t times = 2; times <= most; times *= 2)
        best = fmax(best, win(s, (double)times));
    return best;
}

/* A first step from the scenario's own layout, and further ones while they win. */
static void add_walk(struct moves *s, const char *key, price_further_fn further, double win_ratio)
{
    struct configuration c = *s->c;
    const unsigned before = s->count;
    if (further(&c))
        add(s, key, &c, win_ratio);
    if (s->count > before)
        s->rows[before].further = further;
}

/* Under a pipeline gradients are reduced once whatever is sharded; without one a copy of the state
 * shared as little as fits moves least, and copies nothing out of buffers between its kernels. */
static void add_sharding(struct moves *s)
{
    struct configuration c = *s->c;
    if (!is_stated(s, CHOICE_SHARDING) || configuration_replicas(&c) == 1)
        return;
    c.layout.data.sharding = &sharding_zero_1;
    c.layout.data.sharding_options = (struct kind_options){{0}};
    if (s->c->layout.data.sharding != &sharding_zero_1)
        add(s, choice_key_path(CHOICE_SHARDING), &c,
            share(s, PART_EXPOSED_DP) + share(s, PART_OPTIMIZER) +
                (s->c->software.shards.buffers ? share(s, PART_COMPUTE) : 0.0));
}

/* What products of these rows and columns save when one side is so many times as long. */
static double longer_product_saves(const struct configuration *c, struct gemm_shape shape,
                                   struct gemm_shape longer, double times)
{
    const enum peak_kind peak = c->training.precision->gemm_peak;
    const struct kernel one = gpu_kernel_gemm("one", peak, shape, 2.0),
                        two = gpu_kernel_gemm("two", peak, longer, 2.0);
    return 1.0 - gpu_kernel_time_s(&c->gpu, &c->kernels, &two) /
                     (times * gpu_kernel_time_s(&c->gpu, &c->kernels, &one));
}

/* The share of the step that larger products would save, by the layer's widest and narrowest. */
static double products_win(const struct moves *s, double row_factor, double column_factor)
{
    const struct configuration *c = s->c;
    const double tp = (double)c->layout.tp,
                 kernels = share(s, PART_COMPUTE) + share(s, PART_RECOMPUTE);
    const double rows =
        (double)c->layout.microbatch * (double)c->training.sequence / (double)c->layout.cp;
    const double columns[] = {(double)c->model.ffn_hidden / tp, (double)c->model.hidden / tp};
    double most = 0.0;
    for (unsigned i = 0; i < 2; i++) {
        const struct gemm_shape now = {rows, columns[i], (double)c->model.hidden, 1.0};
        const struct gemm_shape then = {rows * row_factor, columns[i] * column_factor, now.k, 1.0};
        most = fmax(most, longer_product_saves(c, now, then, row_factor * column_factor));
    }
    return kernels * most;
}

/* So many times as large: products of more rows, fewer launches and gathers of shards, fewer and
 * longer messages of tensor ranks, half of whose time at most is not by the byte, and a bubble so
 * many times as long. */
static double larger_microbatch_wins(const struct moves *s, double times)
{
    const double gone = 1.0 - 1.0 / times;
    return products_win(s, times, 1.0) + share(s, PART_HOST) + share(s, PART_EXPOSED_DP) * gone +
           share(s, PART_EXPOSED_TP) * gone / 2.0 - share(s, PART_BUBBLE) * (times - 1.0);
}

/* Numbers that divide a replica's share of the batch. */
static bool double_microbatch(struct configuration *c)
{
    const uint64_t share = c->training.global_batch / c->layout.dp;
    for (uint64_t size = 2 * c->layout.microbatch; size <= share; size++) {
        if (share % size == 0) {
            c->layout.microbatch = size;
            return true;
        }
    }
    return false;
}

static bool halve_microbatch(struct configuration *c)
{
    const bool even = c->layout.microbatch % 2 == 0;
    c->layout.microbatch /= even ? 2 : 1;
    return even;
}

static void add_microbatch(struct moves *s)
{
    const char *key = choice_key_path(CHOICE_MICROBATCH);
    if (!is_stated(s, CHOICE_MICROBATCH))
        return;
    add_walk(s, key, double_microbatch,
             best_win(s, configuration_microbatches(s->c), larger_microbatch_wins));
    add_walk(s, key, halve_microbatch, share(s, PART_BUBBLE) / 2.0);
}

/* Less of it; where the microbatch is open, none with smaller ones. Recomputed layers send what
 * tensor and context parallelism send forward once more: a third of it. */
static void add_recompute(struct moves *s)
{
    const double win =
        share(s, PART_RECOMPUTE) + (share(s, PART_EXPOSED_TP) + share(s, PART_EXPOSED_CP)) / 3.0;
    struct configuration c = *s->c;
    if (!is_stated(s, CHOICE_RECOMPUTE))
        return;
    c.layout.recompute = RECOMPUTE_NONE;
    c.layout.recompute_layers = 0;
    for (bool more = true; more && c.layout.recompute < s->c->layout.recompute;
         more = ladder_level(&c)) {
        ladder_last(&c);
        add(s, choice_key_path(CHOICE_RECOMPUTE), &c, win);
    }
    c.layout.recompute = RECOMPUTE_NONE;
    c.layout.recompute_layers = 0;
    while (s->c->layout.recompute != RECOMPUTE_NONE && !is_stated(s, CHOICE_MICROBATCH) &&
           c.layout.microbatch % 2 == 0) {
        c.layout.microbatch /= 2;
        add(s, choice_key_path(CHOICE_RECOMPUTE), &c, win);
    }
}

/* A bubble of v chunks a stage is 1 / v of that of one; plain 1f1b sends fewer messages. */
static void add_order(struct moves *s)
{
    const struct layout_spec *l = &s->c->layout;
    const bool order = is_stated(s, CHOICE_SCHEDULE), chunks = is_stated(s, CHOICE_CHUNKS);
    const char *key = choice_key_path(order ? CHOICE_SCHEDULE : CHOICE_CHUNKS);
    struct configuration c = *s->c;
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

static void add_switches(struct moves *s)
{
    struct configuration c = *s->c;
    if (is_stated(s, CHOICE_SEQUENCE_PARALLEL) && c.layout.tp > 1 && !c.layout.sequence_parallel &&
        c.software.offers.sequence_parallelism) {
        c.layout.sequence_parallel = true;
        add(s, choice_key_path(CHOICE_SEQUENCE_PARALLEL), &c, 1.0);
    }
    c = *s->c;
    if (is_stated(s, CHOICE_ATTENTION) && c.training.attention == ATTENTION_MATH &&
        choice_attention(&c) != ATTENTION_MATH) {
        c.training.attention = (int)choice_attention(&c);
        add(s, choice_key_path(CHOICE_ATTENTION), &c, 1.0);
    }
}

/* A pipeline of one stage has no order, one tensor rank no sequence to share. Chunks that no longer
 * divide are not legal; nor is a list of layers for so many stages. */
static bool settle_split(struct configuration *c)
{
    struct layout_spec *l = &c->layout;
    if (l->pp == 1) {
        l->pipeline.vpp = 1;
        l->pipeline.schedule = &schedule_one_f_one_b;
        l->pipeline.schedule_options = (struct kind_options){{0}};
        l->pipeline.ends_count = false;
    }
    if (l->tp == 1)
        l->sequence_parallel = false;
    return l->pipeline.first_layers + l->pipeline.last_layers == 0;
}

/* Half of one size, twice another. */
static bool trade(struct configuration *c, uint64_t *from, uint64_t *to)
{
    if (*from % 2 != 0)
        return false;
    *from /= 2;
    *to *= 2;
    return settle_split(c);
}

static bool tensors_to_replicas(struct configuration *c)
{
    return trade(c, &c->layout.tp, &c->layout.dp);
}

static bool tensors_to_stages(struct configuration *c)
{
    return trade(c, &c->layout.tp, &c->layout.pp);
}

static bool stages_to_replicas(struct configuration *c)
{
    return trade(c, &c->layout.pp, &c->layout.dp);
}

static bool stages_to_tensors(struct configuration *c)
{
    return trade(c, &c->layout.pp, &c->layout.tp) && c->layout.tp <= c->cluster.node.gpus;
}

static bool contexts_to_replicas(struct configuration *c)
{
    return trade(c, &c->layout.cp, &c->layout.dp);
}

/* Without sequence parallelism every rank of tp does the same between its products: half of that
 * goes with half of tp. */
static double repeated(const struct moves *s)
{
    const double kernels = share(s, PART_COMPUTE) + share(s, PART_RECOMPUTE);
    const double products = s->step->rates.hfu_ratio / s->c->gpu.gemm.efficiency_ratio;
    return s->c->layout.sequence_parallel ? 0.0 : fmax(0.0, kernels - products);
}

/* What tensor traffic takes of the step: exposed, and what products beside it lose. Beside them
 * runs at most as much as is exposed: half of the all-reduces of a layer, four of ten gathers and
 * scatters. */
static double tensor_traffic(const struct moves *s)
{
    const struct software_tensor *t = &s->c->software.tensor;
    const bool beside = t->backward_overlap || t->backward_regather;
    return share(s, PART_EXPOSED_TP) *
           (1.0 + (beside ? configuration_tensor_overlap_cost(s->c) : 0.0));
}

/* Half as many ranks share a layer, and twice as many copies or stages are there, either of which
 * doubles the ideal bubble, (p - 1) / m. All exposed time of tensor parallelism goes where it
 * crossed the domain, or ends. */
static double fewer_tensors_win(const struct moves *s, double times)
{
    const struct layout_spec *l = &s->c->layout;
    const double gone = 1.0 - 1.0 / times;
    const double ideal = (double)(l->pp - 1) / (double)configuration_microbatches(s->c);
    const bool all = l->tp > s->c->cluster.node.gpus || (double)l->tp == times;
    return tensor_traffic(s) * (all ? 1.0 : gone) + share(s, PART_HOST) * gone +
           products_win(s, 1.0, times) + repeated(s) * gone -
           fmin(share(s, PART_BUBBLE), ideal) * (times - 1.0);
}

static void add_tensor(struct moves *s)
{
    const double win = best_win(s, s->c->layout.tp, fewer_tensors_win);
    if (!is_stated(s, CHOICE_TP))
        return;
    add_walk(s, choice_key_path(CHOICE_TP), tensors_to_replicas, win);
    add_walk(s, choice_key_path(CHOICE_TP), tensors_to_stages, win);
}

/* Half of the stages, with twice the copies: (p / 2 - 1) / (m / 2), so that 1 / (p - 1) of the
 * bubble goes. */
static double more_replicas_win(const struct moves *s, double times)
{
    return share(s, PART_BUBBLE) * (times - 1.0) / ((double)s->c->layout.pp - 1.0) +
           share(s, PART_EXPOSED_PP);
}

/* With twice the tensor parallelism inside the domain: (p / 2 - 1) / m. */
static double wider_stages_win(const struct moves *s, double times)
{
    const double stages = (double)s->c->layout.pp;
    return share(s, PART_BUBBLE) * (stages - stages / times) / (stages - 1.0) +
           share(s, PART_EXPOSED_PP);
}

static void add_pipeline(struct moves *s)
{
    const uint64_t stages = s->c->layout.pp;
    if (!is_stated(s, CHOICE_PP))
        return;
    add_walk(s, choice_key_path(CHOICE_PP), stages_to_replicas,
             best_win(s, stages, more_replicas_win));
    add_walk(s, choice_key_path(CHOICE_PP), stages_to_tensors,
             best_win(s, stages, wider_stages_win));
}

static double fewer_contexts_win(const struct moves *s, double times)
{
    return share(s, PART_EXPOSED_CP) + share(s, PART_HOST) * (1.0 - 1.0 / times) +
           products_win(s, times, 1.0) - share(s, PART_BUBBLE) * (times - 1.0);
}

static void add_context(struct moves *s)
{
    if (is_stated(s, CHOICE_CP))
        add_walk(s, choice_key_path(CHOICE_CP), contexts_to_replicas,
                 best_win(s, s->c->layout.cp, fewer_contexts_win));
}

/* Another exchange with the experts, of those that the software has: it wins at most what is
 * exposed of it, and the host's wait for the number of rows. Nobody has compared one that was
 * chosen, so that it has a price too. */
static void add_dispatch(struct moves *s)
{
    const double win = share(s, PART_EXPOSED_EP) + share(s, PART_HOST);
    if (configuration_expert_ranks(s->c).ep == 1)
        return;
    for (unsigned i = 0; i < dispatch_kind_count; i++) {
        struct configuration c = *s->c;
        const struct dispatch_kind *kind = dispatch_kinds[i];
        if (kind == configuration_dispatch(s->c) ||
            !software_dispatches(&c.software, kind->head.name))
            continue;
        c.layout.experts.dispatch = kind;
        c.layout.experts.dispatch_options = (struct kind_options){{0}};
        c.layout.experts.dispatch_8bit = c.layout.experts.dispatch_8bit && kind->eight_bit;
        add(s, choice_key_path(CHOICE_DISPATCH), &c, win);
    }
}

unsigned price_moves(const struct configuration *c, unsigned open, const struct step *step,
                     double win_ratio, struct price_move *out)
{
    struct moves s = {.c = c, .open = open, .step = step, .win_ratio = win_ratio, .rows = out};
    add_sharding(&s);
    add_recompute(&s);
    add_order(&s);
    add_microbatch(&s);
    add_switches(&s);
    add_tensor(&s);
    add_pipeline(&s);
    add_context(&s);
    add_dispatch(&s);
    return s.count;
}
