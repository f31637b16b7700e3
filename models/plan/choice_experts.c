/* choice_experts.c
 *
 * Invariants
 * 1. Microbatches go from small to large, and for each of them shares from small to large. A share
 *    that does not hold a microbatch is not asked for larger ones.
 * 2. best[0 .. count) are legal, and ordered by time; what was not timed stands behind. */
#include "models/plan/choice_experts.h"

#include <math.h>

#include "models/plan/plan_space.h"
#include "sim/check.h"

enum {
    TRIED_MAX = 64 /* divisors of a number of experts */
};
/* What is so much slower in the plainest order of the pipeline is not the fastest in another. */
static const double close_ratio = 0.1;

struct tried_share {
    struct choice_share share;
    bool fits, full; /* some microbatch; a larger one would not */
    double gpu_s;    /* of a token, by the best microbatch; INFINITY: not timed */
};
struct shares_search {
    const struct configuration *from;
    const struct shares_question *q;
    struct tried_share tried[TRIED_MAX];
    unsigned count;
    struct trial_budget budget;
};

/* This share of the experts; false: it breaks a rule. */
static bool with_share(const struct shares_search *s, uint64_t ep, uint64_t microbatch,
                       struct configuration *out)
{
    *out = *s->from;
    out->layout.ep = ep;
    if (s->q->etp && out->layout.tp > 1)
        out->layout.etp = plan_share_etp(out, ep);
    out->layout.microbatch = microbatch;
    if (s->q->recompute)
        out->layout.recompute = RECOMPUTE_NONE;
    return configuration_legal(out);
}

/* What a few microbatches need of recomputation may be too little for the whole step: then more. */
static double time_of(struct shares_search *s, struct configuration *c)
{
    const uint64_t most = configuration_chunk_layers(c);
    double gpu_s = INFINITY;
    while (!isfinite(gpu_s) && trial_spend(&s->budget, trial_slope_passes(c))) {
        gpu_s = trial_gpu_s_by_slope(c, s->budget.usable_bytes);
        if (c->layout.recompute != RECOMPUTE_BLOCK || c->layout.recompute_layers == most)
            break;
        c->layout.recompute_layers++;
    }
    return gpu_s;
}

static bool holds(struct shares_search *s, struct configuration *c)
{
    if (trial_holds(c, &s->budget))
        return true;
    if (!s->q->recompute)
        return false;
    c->layout.recompute = RECOMPUTE_FULL;
    if (!trial_holds(c, &s->budget))
        return false;
    if (c->software.offers.block_recompute)
        trial_least_block(c, s->budget.usable_bytes);
    return true;
}

static void play(struct shares_search *s, struct configuration *c, struct tried_share *t)
{
    if (!holds(s, c)) {
        t->full = true;
        return;
    }
    t->fits = true;
    t->gpu_s = fmin(t->gpu_s, time_of(s, c));
}

static uint64_t least_microbatch(const struct shares_search *s)
{
    return s->q->microbatches[s->q->microbatch_count - 1];
}

/* The legal shares, none of them timed. */
static void list_shares(struct shares_search *s)
{
    struct configuration c;
    for (uint64_t ep = plan_share_after(s->from, 0); ep > 0; ep = plan_share_after(s->from, ep))
        if (s->count < TRIED_MAX && with_share(s, ep, least_microbatch(s), &c))
            s->tried[s->count++] =
                (struct tried_share){{c.layout.ep, c.layout.etp}, .gpu_s = INFINITY};
}

static void play_all(struct shares_search *s)
{
    for (unsigned i = s->q->microbatch_count; i-- > 0;) { /* 1 */
        for (unsigned k = 0; k < s->count; k++) {
            struct configuration c;
            if (!s->tried[k].full &&
                with_share(s, s->tried[k].share.ep, s->q->microbatches[i], &c) &&
                trial_state_may_fit(&c, s->budget.usable_bytes))
                play(s, &c, &s->tried[k]);
        }
    }
}

/* The fastest first; of equal ones the smallest. */
static void take_fastest(const struct shares_search *s, struct shares_found *out)
{
    double best_s[CHOICE_SHARES_MAX];
    for (unsigned k = 0; k < s->count; k++) {
        const struct tried_share *t = &s->tried[k];
        unsigned place = out->count;
        if (!t->fits)
            continue;
        out->fitting++;
        out->timed += isfinite(t->gpu_s) ? 1 : 0;
        while (place > 0 && t->gpu_s < best_s[place - 1])
            place--;
        if (place == CHOICE_SHARES_MAX)
            continue;
        out->count += out->count < CHOICE_SHARES_MAX ? 1 : 0;
        for (unsigned i = out->count - 1; i > place; i--) {
            out->best[i] = out->best[i - 1];
            best_s[i] = best_s[i - 1];
        }
        out->best[place] = t->share;
        best_s[place] = t->gpu_s;
    }
    while (out->count > 1 && best_s[out->count - 1] > (1.0 + close_ratio) * best_s[0])
        out->count--;
}

/* Nothing fits: the share of the least state, the smallest of those. */
static void take_least(const struct shares_search *s, struct shares_found *out)
{
    double least = INFINITY;
    for (unsigned k = 0; k < s->count; k++) {
        struct configuration c;
        with_share(s, s->tried[k].share.ep, least_microbatch(s), &c);
        const double bytes = trial_mean_state_bytes(&c);
        if (bytes < least)
            out->best[0] = s->tried[k].share;
        least = fmin(least, bytes);
        out->count = 1;
    }
}

/* Of a share that is said: whole experts where those of tp ranks each break a rule. Megatron-LM
 * megatron/training/arguments.py: expert_tensor_parallel_size is that of tensors unless told. */
static uint64_t legal_etp(const struct configuration *c, const struct shares_question *question)
{
    struct configuration whole = *c;
    whole.layout.etp = 1;
    const bool open = question->etp && !question->ep && c->model.moe.experts > 0;
    return open && !configuration_legal(c) && configuration_legal(&whole) ? 1 : c->layout.etp;
}

void choice_shares(const struct configuration *c, const struct shares_question *question,
                   struct shares_found *out)
{
    struct shares_search s = {.from = c, .q = question, .budget = question->budget};
    *out = (struct shares_found){.best = {{c->layout.ep, legal_etp(c, question)}}};
    if (question->ep && c->model.moe.experts > 0) {
        list_shares(&s);
        play_all(&s);
        take_fastest(&s, out);
        out->legal = s.count;
        if (out->fitting == 0)
            take_least(&s, out);
    }
    if (out->count == 0) /* dense, said, or nothing is legal */
        out->count = 1;
    CHECK(out->count <= CHOICE_SHARES_MAX); /* 2 */
}
