/* choice_experts.c
 *
 * Invariants
 * 1. best[0 .. count) are legal, and ordered by time; what was not timed stands behind. */
#include "models/plan/choice_experts.h"

#include <math.h>

#include "models/plan/plan_space.h"
#include "sim/check.h"

enum {
    SLOWER_MAX = 2 /* shares in a row behind which nothing better is looked for */
};
/* What is so much slower with small microbatches is not the fastest with larger ones. */
static const double close_ratio = 0.1;

struct shares_search {
    const struct configuration *from;
    const struct shares_question *q;
    struct shares_found *out;
    double best_s[CHOICE_SHARES_MAX]; /* GPU time of a token; INFINITY: not timed */
    struct trial_budget budget;
    unsigned slower; /* in a row */
};

/* This share of the experts; false: it breaks a rule. */
static bool with_share(const struct shares_search *s, uint64_t ep, struct configuration *out)
{
    *out = *s->from;
    out->layout.ep = ep;
    if (s->q->etp && out->layout.tp > 1)
        out->layout.etp = plan_share_etp(out, ep);
    if (s->q->microbatch)
        out->layout.microbatch = 1;
    if (s->q->recompute)
        out->layout.recompute = RECOMPUTE_NONE;
    return configuration_legal(out);
}

/* Puts a share where its time belongs. */
static void enter(struct shares_search *s, const struct configuration *c, double gpu_s)
{
    struct shares_found *out = s->out;
    unsigned place = out->count;
    while (place > 0 && gpu_s < s->best_s[place - 1])
        place--;
    s->slower = place == 0 ? 0 : s->slower + 1;
    if (place == CHOICE_SHARES_MAX)
        return;
    out->count += out->count < CHOICE_SHARES_MAX ? 1 : 0;
    for (unsigned i = out->count - 1; i > place; i--) {
        out->best[i] = out->best[i - 1];
        s->best_s[i] = s->best_s[i - 1];
    }
    out->best[place] = (struct choice_share){c->layout.ep, c->layout.etp};
    s->best_s[place] = gpu_s;
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

static void play(struct shares_search *s, struct configuration *c)
{
    bool fits = trial_holds(c, &s->budget);
    if (!fits && s->q->recompute) {
        c->layout.recompute = RECOMPUTE_FULL;
        fits = trial_holds(c, &s->budget);
        if (fits && c->software.offers.block_recompute)
            trial_least_block(c, s->budget.usable_bytes);
    }
    if (!fits)
        return;
    s->out->fitting++;
    const double gpu_s = time_of(s, c);
    s->out->timed += isfinite(gpu_s) ? 1 : 0;
    enter(s, c, gpu_s);
}

/* Nothing fits: the share of the least state, the smallest of those. */
static void take_least(struct shares_search *s)
{
    double least = INFINITY;
    for (uint64_t ep = 1; ep > 0; ep = plan_share_after(s->from, ep)) {
        struct configuration c;
        if (!with_share(s, ep, &c))
            continue;
        const double bytes = trial_mean_state_bytes(&c);
        if (bytes < least)
            s->out->best[0] = (struct choice_share){c.layout.ep, c.layout.etp};
        least = fmin(least, bytes);
        s->out->count = 1;
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
    struct shares_search s = {.from = c, .q = question, .budget = question->budget, .out = out};
    *out = (struct shares_found){.best = {{c->layout.ep, legal_etp(c, question)}}};
    for (uint64_t ep = 0;
         question->ep && s.slower < SLOWER_MAX && (ep = plan_share_after(c, ep)) > 0;) {
        struct configuration trial;
        if (!with_share(&s, ep, &trial))
            continue;
        out->legal++;
        if (trial_state_may_fit(&trial, s.budget.usable_bytes))
            play(&s, &trial);
    }
    if (out->fitting == 0 && question->ep && c->model.moe.experts > 0)
        take_least(&s);
    while (out->count > 1 && s.best_s[out->count - 1] > (1.0 + close_ratio) * s.best_s[0])
        out->count--;
    if (out->count == 0) /* dense, said, or nothing is legal */
        out->count = 1;
    CHECK(out->count <= CHOICE_SHARES_MAX); /* 1 */
}
