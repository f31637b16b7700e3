#include "analysis/plan/search/search_batch.h"

#include <math.h>

#include "analysis/plan/search/search_weeks.h"
#include "models/plan/plan_space.h"

enum {
    CANDIDATES = 4
};
#define NEAR_RATIO 0.3
/* So many more layouts, and tokens a second, are worth a word. */
#define MORE_LAYOUTS 1.25
#define MORE_TOKENS 1.01

struct batch_candidate {
    uint64_t batch, shared; /* shared: the greatest divisor that it has in common with the GPUs */
};

static uint64_t shared_by(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool before(const struct batch_candidate *a, const struct batch_candidate *b, uint64_t own)
{
    if (a->shared != b->shared)
        return a->shared > b->shared;
    return distance(a->batch, own) < distance(b->batch, own);
}

/* Keeps the best few, in order. */
static void consider(struct batch_candidate *kept, unsigned *count, uint64_t batch, uint64_t own,
                     uint64_t gpus)
{
    struct batch_candidate next = {batch, shared_by(batch, gpus)};
    const bool near = batch > 0 && (double)distance(batch, own) <= NEAR_RATIO * (double)own;
    if (!near || next.shared <= shared_by(own, gpus))
        return;
    for (unsigned i = 0; i < *count; i++)
        if (kept[i].batch == batch)
            return;
    for (unsigned i = 0; i < *count; i++) {
        if (before(&next, &kept[i], own)) {
            const struct batch_candidate pushed = kept[i];
            kept[i] = next;
            next = pushed;
        }
    }
    if (*count < CANDIDATES)
        kept[(*count)++] = next;
}

static uint32_t legal_layouts(const struct search *s, uint64_t batch)
{
    struct arena *arena = arena_create();
    struct configuration base = *s->base, c;
    struct plan_layout *layouts = NULL;
    uint32_t legal = 0;
    base.training.global_batch = batch;
    const uint32_t count = plan_space(arena, &base, s->question.held, &layouts);
    for (uint32_t i = 0; i < count; i++) {
        plan_layout_apply(&base, &layouts[i], &c);
        legal += configuration_legal(&c);
    }
    arena_destroy(arena);
    return legal;
}

static double fastest(const struct search *s)
{
    double most = 0.0;
    for (uint32_t i = 0; i < s->leader_count; i++)
        most = fmax(most, s->leaders[i].tokens_per_s);
    return most;
}

/* What it would bring. */
static void search_it(struct arena *arena, const struct search *s, struct search_batch *out)
{
    struct configuration base = *s->base;
    struct search_question question = s->question;
    struct search *found = NULL;
    struct error error;
    base.training.global_batch = out->batch;
    question.base = &base;
    question.leaders = 1;
    question.terms = (struct search_terms){.best = BEST_STEP};
    question.weeks = NULL;
    question.diary = NULL;
    question.told = NULL;
    if (!search_run(&question, &found, &error))
        return;
    if (found->leader_count > 0) {
        const double own = fastest(s);
        out->leader = search_weeks_keep(arena, &found->leaders[0]);
        out->faster_ratio = own > 0.0 ? out->leader.tokens_per_s / own : INFINITY;
        out->known = out->faster_ratio >= MORE_TOKENS;
    }
    search_destroy(found);
}

void search_batch_near(struct arena *arena, const struct search *s, struct search_batch *out)
{
    const uint64_t gpus = configuration_gpus(s->base), own = s->base->training.global_batch;
    struct batch_candidate kept[CANDIDATES];
    unsigned count = 0;
    *out = (struct search_batch){.known = false};
    for (uint64_t d = 1; d * d <= gpus; d++) {
        const uint64_t pair[] = {d, gpus / d};
        for (unsigned i = 0; i < 2 && gpus % d == 0; i++) {
            const uint64_t below = own / pair[i] * pair[i];
            consider(kept, &count, below, own, gpus);
            consider(kept, &count, below + pair[i], own, gpus);
        }
    }
    if (count == 0 || s->stopped)
        return;
    out->own_layouts = legal_layouts(s, own);
    for (unsigned i = 0; i < count; i++) {
        const uint32_t legal = legal_layouts(s, kept[i].batch);
        if (legal > out->layouts) {
            out->layouts = legal;
            out->batch = kept[i].batch;
        }
    }
    if ((double)out->layouts >= MORE_LAYOUTS * (double)out->own_layouts)
        search_it(arena, s, out);
}
