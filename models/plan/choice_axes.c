/* choice_axes.c
 *
 * Invariants
 * 1. A key that is not open keeps its value; tp x pp x cp x dp is the number of GPUs.
 * 2. best[0] is the fastest, or the first that fits where none is timed; best[1] is another split.
 * 3. A layout is played once its state, its first stage, and all its stages were found to fit. */
#include "models/plan/choice_axes.h"

#include <math.h>

#include "models/plan/plan_space.h"
#include "sim/check.h"

enum {
    SPLIT_MAX = 4096, /* ranks of a replica */
    CONTEXT_MAX = 64,
    CHUNKINGS_MAX = 4 /* numbers of chunks that are tried of a pipeline */
};
/* What is so much slower by the smallest microbatches is not the fastest by larger ones. */
static const double close_ratio = 0.1;

struct axes_search {
    const struct configuration *from;
    const struct axes_question *q;
    struct axes_found *out;
    struct timed_split {
        struct choice_split split;
        double gpu_s; /* of a token; INFINITY: not timed */
        bool recomputes;
    } best[CHOICE_SPLITS_MAX];
    struct trial_budget budget;
    uint64_t shares_most; /* ranks that may share the experts */
    bool any;             /* some layout fits, timed or not */
    bool filled;          /* one of them has at least as many microbatches as stages */
};

struct axes_split {
    uint64_t tp, pp, cp;
    int level; /* of recomputation, where it is open */
};

/* This split with what follows from it, experts over `ep` ranks; false: it breaks a rule. */
static bool with_split(const struct axes_search *s, const struct axes_split *split, uint64_t ep,
                       struct configuration *out)
{
    const uint64_t gpus = configuration_gpus(s->from), ranks = split->tp * split->pp * split->cp;
    *out = *s->from;
    if (ranks > gpus || gpus % ranks != 0)
        return false;
    out->layout.tp = split->tp;
    out->layout.pp = split->pp;
    out->layout.cp = split->cp;
    out->layout.dp = gpus / ranks;
    out->layout.ep = ep;
    if (s->q->etp && split->tp > 1)
        out->layout.etp = plan_share_etp(out, ep);
    if (s->q->microbatch)
        out->layout.microbatch = 1;
    s->q->settle(s->q->context, out);
    if (s->q->recompute)
        out->layout.recompute = split->level;
    return configuration_legal(out); /* 1 */
}

/* With the fewest ranks that share the experts; a dense model has one way. */
static bool holds_by_some_share(struct axes_search *s, const struct axes_split *split,
                                struct configuration *out)
{
    const uint64_t said = s->from->layout.ep, experts = s->from->model.moe.experts;
    if (!s->q->ep || experts == 0)
        return with_split(s, split, said, out) && trial_holds(out, &s->budget);
    for (uint64_t ep = 1; ep > 0 && ep <= s->shares_most; ep = plan_share_after(s->from, ep))
        if (with_split(s, split, ep, out) && trial_holds(out, &s->budget))
            return true;
    return false;
}

static bool are_same(const struct choice_split *a, const struct choice_split *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp;
}

/* A split counts by its fastest order. */
static void enter(struct axes_search *s, const struct timed_split *timed)
{
    const bool same = are_same(&timed->split, &s->best[0].split);
    if (!same && timed->gpu_s < s->best[0].gpu_s)
        s->best[1] = s->best[0];
    if (timed->gpu_s < s->best[0].gpu_s)
        s->best[0] = *timed;
    else if (!same && timed->gpu_s < s->best[1].gpu_s)
        s->best[1] = *timed;
}

static void play(struct axes_search *s, const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const struct choice_split split = {l->tp, l->pp, l->cp, l->dp};
    s->out->fitting++;
    if (!s->any)
        s->best[0].split = split;
    s->any = true;
    s->filled |= configuration_microbatches(c) >= l->pp;
    if (!trial_spend(&s->budget, trial_slope_passes(c)))
        return;
    const double gpu_s = trial_gpu_s_by_slope(c, s->budget.usable_bytes);
    s->out->timed += isfinite(gpu_s) ? 1 : 0;
    enter(s, &(struct timed_split){split, gpu_s, l->recompute >= RECOMPUTE_BLOCK});
}

/* The same pipeline in the order of the most chunks that fit: what it waits for in the plain order
 * says little of what it would then. */
static void play_interleaved(struct axes_search *s, const struct configuration *plain, int level)
{
    struct configuration c = *plain;
    for (int i = 0; i < CHUNKINGS_MAX && s->q->interleave(s->q->context, &c); i++) {
        if (s->q->recompute) {
            c.layout.recompute = level;
            c.layout.recompute_layers = 0;
        }
        if (!configuration_legal(&c) || !trial_holds(&c, &s->budget))
            continue;
        if (s->q->recompute && level == RECOMPUTE_FULL && c.software.offers.block_recompute)
            trial_least_block(&c, s->budget.usable_bytes);
        play(s, &c);
        return;
    }
}

/* Layouts of one size: true when one holds the model at this level of recomputation. */
static bool try_size(struct axes_search *s, uint64_t ranks, uint64_t cp, int level)
{
    const struct layout_spec *l = &s->from->layout;
    const uint64_t domain = s->from->cluster.node.gpus;
    struct plan_splits at = {
        .gpus = configuration_gpus(s->from),
        .heads = s->from->model.attention.heads,
        .size = ranks,
        .tp = {s->q->tp ? 1 : l->tp, s->q->tp ? domain : l->tp},
        .cp = {cp, cp},
        .pp = {s->q->pp ? 1 : l->pp, s->q->pp ? s->from->model.layers : l->pp},
    };
    bool any = false;
    while (plan_splits_next(&at)) {
        const struct axes_split split = {at.at_tp, at.at_pp, cp, level};
        struct configuration c;
        if (!holds_by_some_share(s, &split, &c))
            continue;
        if (s->q->recompute && level == RECOMPUTE_FULL && c.software.offers.block_recompute)
            trial_least_block(&c, s->budget.usable_bytes);
        play(s, &c);
        if (c.layout.pp > 1)
            play_interleaved(s, &c, level);
        any = true;
    }
    return any;
}

/* Sizes from one rank up, until one holds the model without recomputing all of it, in a pipeline
 * that does not idle for half of the step because it has more stages than microbatches: where pp is
 * stated, a larger tp leaves fewer replicas, each with more microbatches. Where one of tp and pp is
 * stated, the other grows while that makes the step faster. */
static void try_sizes(struct axes_search *s, uint64_t cp)
{
    const uint64_t gpus = configuration_gpus(s->from);
    const bool one_open = s->q->tp != s->q->pp;
    bool heavy = false, light = false;
    for (uint64_t ranks = 1; ranks * cp <= gpus && ranks <= SPLIT_MAX; ranks++) {
        const double before_s = s->best[0].gpu_s;
        const unsigned timed = s->out->timed;
        if (gpus % (ranks * cp) != 0)
            continue;
        light |= try_size(s, ranks, cp, RECOMPUTE_NONE);
        if (!light && !(heavy && s->filled) && s->q->recompute)
            heavy |= try_size(s, ranks, cp, RECOMPUTE_FULL);
        const bool slower = s->out->timed > timed && s->best[0].gpu_s >= before_s;
        if (light && s->filled && (!one_open || slower))
            return;
    }
}

/* The state of no share of the experts leaves room. */
static bool state_is_too_much(const struct axes_search *s)
{
    struct configuration c = *s->from;
    if (!s->q->ep || c.model.moe.experts <= 1)
        return !trial_state_may_fit(&c, s->budget.usable_bytes);
    for (c.layout.ep = 1; c.layout.ep > 0; c.layout.ep = plan_share_after(&c, c.layout.ep))
        if (trial_state_may_fit(&c, s->budget.usable_bytes))
            return false;
    return true;
}

/* It fits as it is, without recomputing everything: nothing is split that need not be. Nor is what
 * breaks a rule, other than that there are more replicas than sequences, unless its state is more
 * than the card holds. */
static bool stays(struct axes_search *s)
{
    const struct layout_spec *l = &s->from->layout;
    const struct axes_split split = {l->tp, l->pp, l->cp, RECOMPUTE_NONE};
    struct configuration c;
    if (with_split(s, &split, l->ep, &c) || s->from->model.moe.experts > 0)
        return holds_by_some_share(s, &split, &c);
    return c.training.global_batch >= c.layout.dp * c.layout.microbatch && !state_is_too_much(s);
}

/* Longer parts of a sequence first: more ranks share it only where nothing fits, where every
 * pipeline has more stages than microbatches, or, as long as that is faster, where the fastest
 * computes layers again. */
static void try_contexts(struct axes_search *s)
{
    const bool may = s->q->cp && configuration_splits_sequences(s->from);
    const uint64_t from = s->from->layout.cp, most = may ? CONTEXT_MAX : from;
    bool good = false;
    for (uint64_t cp = from; cp <= most && !good; cp *= 2) {
        const double before_s = s->best[0].gpu_s;
        if (s->from->training.sequence % cp == 0)
            try_sizes(s, cp);
        good = s->any && s->filled && (!s->best[0].recomputes || s->best[0].gpu_s >= before_s);
    }
}

/* The second only where it is about as fast. */
static void take_splits(const struct axes_search *s, struct axes_found *out)
{
    for (unsigned i = 0; i < CHOICE_SPLITS_MAX; i++) {
        const struct choice_split *split = &s->best[i].split;
        if (i > 0 && (!isfinite(s->best[i].gpu_s) ||
                      s->best[i].gpu_s > (1.0 + close_ratio) * s->best[0].gpu_s))
            return;
        CHECK(split->tp * split->pp * split->cp * split->dp == configuration_gpus(s->from)); /* 1 */
        CHECK(i == 0 || !are_same(split, &s->best[0].split));                                /* 2 */
        out->best[out->count++] = *split;
    }
}

void choice_axes(const struct configuration *c, const struct axes_question *question,
                 struct axes_found *out)
{
    struct axes_search s = {.from = c, .q = question, .budget = question->budget, .out = out};
    for (unsigned i = 0; i < CHOICE_SPLITS_MAX; i++)
        s.best[i].gpu_s = INFINITY;
    *out = (struct axes_found){.fitting = 0};
    s.shares_most = c->cluster.node.gpus;
    out->stays = stays(&s);
    if (!out->stays)
        try_contexts(&s);
    if (!out->stays && !s.any && question->ep && c->model.moe.experts > s.shares_most) {
        s.shares_most = c->model.moe.experts;
        out->stays = stays(&s);
        if (!out->stays)
            try_contexts(&s);
    }
    if (s.any)
        take_splits(&s, out);
}
