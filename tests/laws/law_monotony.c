#include "tests/laws/law_monotony.h"

#include <math.h>

#include "models/lower/stage/lower.h"
#include "sim/check.h"

/* Each transfer at the rate that it has alone, each compute op undisturbed. */
static void set_apart(struct law_play *p)
{
    for (uint32_t i = 0; i < p->symmetry.plan_count; i++) {
        struct played_plan *plan = &p->symmetry.plans[i];
        for (uint32_t u = plan->use_first; u < plan->use_first + plan->use_count; u++) {
            const struct share_use *use = &p->symmetry.uses[u];
            const double wire_bytes_per_s = p->symmetry.links[use->link].bytes_per_s / use->weight;
            plan->cap_bytes_per_s =
                fmin(plan->cap_bytes_per_s, wire_bytes_per_s / plan->wire_weight);
        }
        plan->use_count = 0;
    }
    for (uint32_t i = 0; i < p->lowered.program_count; i++) {
        p->lowered.programs[i]->interference.ratio = 0.0;
        p->lowered.programs[i]->interference.join_ratio[JOIN_TENSOR] = 0.0;
        p->lowered.programs[i]->interference.join_ratio[JOIN_CONTEXT] = 0.0;
    }
}

static void play(struct law_play *p, const struct configuration *c, bool apart)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, apart); /* loads of a class are of all its groups: apart, each is its own */
    if (apart)
        set_apart(p);
    law_run(p);
}

void law_pair_begin(struct law_pair *pair, const struct configuration *c)
{
    play(&pair->shared, c, false);
    play(&pair->apart, c, true);
}

void law_pair_end(struct law_pair *pair)
{
    law_end(&pair->shared);
    law_end(&pair->apart);
}

static double alone_s(const struct played_plan *plan)
{
    return plan->bytes / plan->cap_bytes_per_s + plan->latency_s;
}

static void compare_plans(const struct law_play *better, const struct law_play *worse,
                          struct law_monotony *out)
{
    CHECK(better->symmetry.plan_count == worse->symmetry.plan_count);
    for (uint32_t i = 0; i < better->symmetry.plan_count; i++) {
        const struct played_plan *b = &better->symmetry.plans[i], *w = &worse->symmetry.plans[i];
        const bool same = b->tuned.kind == w->tuned.kind && b->tuned.protocol == w->tuned.protocol;
        const bool longer = alone_s(b) > alone_s(w);
        out->retuned_count += longer && !same;
        out->misplaced_count += longer && same;
        out->misplaced_count += b->tuned.time_s > w->tuned.time_s;
    }
}

static uint32_t count_late(const struct law_play *better, const struct law_play *worse)
{
    uint32_t late = 0;
    for (uint32_t rank = 0; rank < better->lowered.rank_count; rank++) {
        CHECK(law_program(better, rank)->op_count == law_program(worse, rank)->op_count);
        for (uint32_t op = 0; op < law_program(better, rank)->op_count; op++) {
            const struct op_times b = law_times(better, rank, op), w = law_times(worse, rank, op);
            late += b.post_s > w.post_s || b.begin_s > w.begin_s || b.finish_s > w.finish_s;
        }
    }
    return late;
}

void law_monotony(const struct law_pair *better, const struct law_pair *worse, bool same_ops,
                  struct law_monotony *out)
{
    *out = (struct law_monotony){
        .anomaly_ratio = better->shared.step_s / worse->shared.step_s - 1.0,
        .apart_ratio = better->apart.step_s / worse->apart.step_s - 1.0,
    };
    if (same_ops) {
        compare_plans(&better->apart, &worse->apart, out);
        out->late_ops = count_late(&better->apart, &worse->apart);
    }
}

bool law_monotony_holds(const struct law_monotony *m)
{
    const bool retuned = m->retuned_count > 0;
    return m->misplaced_count == 0 && (retuned || (m->late_ops == 0 && m->apart_ratio <= 0.0));
}

bool law_monotony_of(const struct law_pair *pair, const struct configuration *c,
                     enum law_change change, struct law_monotony *out)
{
    struct law_changed changed;
    struct law_pair other;
    if (!law_change(c, change, &changed))
        return false;
    law_pair_begin(&other, &changed.c);
    const bool better = law_change_is_better(change);
    law_monotony(better ? &other : pair, better ? pair : &other, change != CHANGE_RECOMPUTE, out);
    law_pair_end(&other);
    return true;
}
