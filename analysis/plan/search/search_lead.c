#include "analysis/plan/search/search_lead.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/record/numbers/cost.h"
#include "models/plan/trial.h"
#include "sim/units.h"

bool search_lead_fits(struct arena *scratch, const struct configuration *base,
                      const struct plan_layout *layout, double usable_bytes)
{
    struct configuration c;
    plan_layout_apply(base, layout, &c);
    trial_shorten(&c);
    return trial_fits_in(scratch, &c, usable_bytes);
}

bool search_lead_play(const struct configuration *base, const struct search_row *row,
                      double usable_bytes, struct arena *scratch, struct search_leader *out)
{
    struct configuration c;
    struct step *step = NULL;
    struct error error;
    const struct step_options options = {
        .fitting_only = true,
        .outcome_only = true,
        .threads = 1,
        .arena = scratch,
        .usable_bytes = usable_bytes,
    };
    plan_layout_apply(base, &row->layout, &c);
    *out = (struct search_leader){.row = row, .energy_j_per_token = NAN, .wall_w = NAN};
    if (!step_run(&c, &options, &step, &error))
        return false;
    const bool fits = step->fits;
    out->played = fits;
    out->step_s = step->step_s;
    out->tokens_per_s = step->rates.tokens_per_s;
    out->mfu_ratio = step->rates.mfu_ratio;
    out->peak_reserved_bytes = step->peak.reserved_bytes;
    out->peak_allocated_bytes = step->peak.allocated_bytes;
    for (unsigned part = 0; part < PART_COUNT; part++)
        out->breakdown_s[part] = step->parts.breakdown_s[part];
    step_destroy(step);
    return fits;
}

void search_lead_guess(const struct configuration *base, const struct search_row *row,
                       struct search_leader *out)
{
    struct configuration c;
    plan_layout_apply(base, &row->layout, &c);
    const double flops = configuration_flops_per_token(&c, false) * configuration_tokens(&c);
    *out = (struct search_leader){.row = row,
                                  .step_s = row->pass_s,
                                  .tokens_per_s = configuration_tokens(&c) / row->pass_s,
                                  .mfu_ratio = step_peak_ratio(&c, flops, row->pass_s),
                                  .peak_reserved_bytes = NAN,
                                  .peak_allocated_bytes = NAN,
                                  .energy_j_per_token = NAN,
                                  .wall_w = row->pass_w > 0.0 ? row->pass_w : NAN};
    for (unsigned part = 0; part < PART_COUNT; part++)
        out->breakdown_s[part] = NAN;
}

void search_lead_draw(const struct configuration *base, unsigned threads,
                      struct search_leader *leader)
{
    const struct step_options options = {.time_only = true, .threads = threads};
    struct configuration c;
    struct step *step;
    struct error error;
    plan_layout_apply(base, &leader->row->layout, &c);
    if (!step_run(&c, &options, &step, &error))
        return;
    leader->energy_j_per_token = step->power.step_j / configuration_tokens(&c);
    leader->wall_w = step->power.step_j / step->step_s;
    step_destroy(step);
}

static void find_energy(const struct search *s, struct search_leader *leader)
{
    if (search_terms_draws(&s->question.terms) && leader->played &&
        isnan(leader->energy_j_per_token))
        search_lead_draw(s->base, s->question.threads, leader);
}

static void price_weeks(const struct configuration *c, struct search_leader *leader)
{
    const double tokens = configuration_trained_tokens(c);
    const struct search_weeks *weeks = leader->weeks;
    leader->usd_per_1e9_tokens = weeks->usd_per_1e9_tokens;
    leader->training_s = tokens / weeks->tokens_per_s;
    leader->training_usd = tokens / GIGA * weeks->usd_per_1e9_tokens;
}

/* Log of how many times as long as the first it takes, and the standard deviation of that. */
static double log_slower(const struct search_leader *first, const struct search_leader *leader,
                         bool weeks, double *spread)
{
    double standard_error;
    if (!weeks || first->weeks == NULL || leader->weeks == NULL)
        return log(leader->step_s / first->step_s);
    const double slower = search_weeks_log_ratio(first->weeks, leader->weeks, &standard_error);
    *spread = hypot(*spread, standard_error);
    return slower;
}

void search_lead_price(const struct configuration *base, const struct search_leader *first,
                       bool weeks, struct search_leader *leader)
{
    struct configuration c, best;
    struct cost cost;
    plan_layout_apply(base, &leader->row->layout, &c);
    plan_layout_apply(base, &first->row->layout, &best);
    cost_of_step(&c, leader->step_s, &cost);
    leader->usd_per_1e9_tokens = cost.usd_per_1e9_tokens;
    leader->training_usd = cost.budget_usd;
    leader->training_s = configuration_trained_tokens(&c) / leader->tokens_per_s;
    if (leader->weeks != NULL)
        price_weeks(&c, leader);
    const struct model_error own = model_error_of(&residues_shipped, &c, NULL);
    const struct model_error its = model_error_of(&residues_shipped, &best, NULL);
    leader->nearness = own.nearness;
    leader->p10_s = leader->step_s * exp(-MODEL_ERROR_P90 * own.log_spread);
    leader->p90_s = leader->step_s * exp(MODEL_ERROR_P90 * own.log_spread);
    double spread = fmax(own.pair_log_spread, its.pair_log_spread);
    const double slower = log_slower(first, leader, weeks, &spread);
    leader->as_fast_probability = leader == first ? 1.0 : 0.5 * erfc(slower / (spread * sqrt(2.0)));
}

enum search_fate search_lead_missed(const struct search *s, const struct search_row *row,
                                    double step_s)
{
    struct configuration c;
    plan_layout_apply(s->base, &row->layout, &c);
    return search_terms_missed(&s->question.terms, &c, step_s);
}

static int compare_steps(const void *a, const void *b)
{
    const struct search_leader *x = a, *y = b;
    if (x->step_s != y->step_s)
        return x->step_s < y->step_s ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The last ones, while they miss a term. */
static void keep_terms(struct search *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        const enum search_fate fate = search_terms_broken(&s->question.terms, &s->leaders[i]);
        ((struct search_row *)s->leaders[i].row)->fate = fate == FATE_OPEN ? FATE_LEADER : fate;
        if (fate == FATE_OPEN)
            s->leaders[kept++] = s->leaders[i];
    }
    s->leader_count = kept;
}

static bool weighs(const struct search *s)
{
    return search_terms_weeks(&s->question.terms);
}

static void price_all(struct search *s)
{
    for (uint32_t i = 0; i < s->leader_count; i++)
        search_lead_price(s->base, &s->leaders[0], weighs(s), &s->leaders[i]);
}

static void play_weeks(struct search *s, struct search_leader **leaders, uint32_t count)
{
    const struct search_question *q = &s->question;
    const struct search_weeks_round round = {.wish = q->weeks,
                                             .leaders = leaders,
                                             .count = count,
                                             .threads = q->threads,
                                             .stop = q->stop,
                                             .context = q->context};
    struct error error;
    search_weeks_round(s->arena, &round, &error);
    if (s->weeks_error.text[0] == '\0')
        s->weeks_error = error;
}

/* The best stands first: a handful, so that each is put in its place among those before it. */
static void sort_by_value(struct search *s)
{
    const struct search_terms *terms = &s->question.terms;
    for (uint32_t i = 1; i < s->leader_count; i++) {
        const struct search_leader leader = s->leaders[i];
        uint32_t at = i;
        for (; at > 0 &&
               search_terms_value(terms, &leader) < search_terms_value(terms, &s->leaders[at - 1]);
             at--)
            s->leaders[at] = s->leaders[at - 1];
        s->leaders[at] = leader;
    }
}

/* Goodput is at most 1, so what is not listed would need so much of it. */
static void find_needed(struct search *s, double last_step_s, bool all)
{
    const struct search_weeks *best = s->leader_count > 0 ? s->leaders[0].weeks : NULL;
    if (best != NULL && !all && weighs(s))
        s->needed_goodput_ratio = best->tokens_per_s * last_step_s / configuration_tokens(s->base);
}

/* What is not listed takes longer, so it saves energy only where it draws so little. */
static void find_needed_power(struct search *s, double last_step_s, bool all)
{
    s->watts.needed_w = NAN;
    if (s->question.terms.best == BEST_ENERGY && s->leader_count > 0 && !all)
        s->watts.needed_w = s->leaders[0].wall_w * s->leaders[0].step_s / last_step_s;
}

/* Is `a` as fast and as lean, and better in one? */
static bool beats(const struct search_terms *terms, const struct search_leader *a,
                  const struct search_leader *b)
{
    const double x = search_terms_value(terms, a), y = search_terms_value(terms, b);
    return x <= y && a->peak_reserved_bytes <= b->peak_reserved_bytes &&
           (x < y || a->peak_reserved_bytes < b->peak_reserved_bytes);
}

static void find_pareto(struct search *s)
{
    s->pareto = ARENA_ARRAY(s->arena, uint32_t, s->leader_count);
    s->pareto_count = 0;
    for (uint32_t i = 0; i < s->leader_count; i++) {
        bool beaten = isnan(s->leaders[i].peak_reserved_bytes);
        for (uint32_t k = 0; k < s->leader_count; k++)
            beaten = beaten || beats(&s->question.terms, &s->leaders[k], &s->leaders[i]);
        if (!beaten)
            s->pareto[s->pareto_count++] = i;
    }
}

static void know_own(struct search *s)
{
    struct configuration c;
    if (s->leader_count == 0)
        return;
    plan_layout_apply(s->base, &s->leaders[0].row->layout, &c);
    s->own = model_error_of(&residues_shipped, &c, NULL);
}

void search_lead_order(struct search *s)
{
    qsort(s->leaders, s->leader_count, sizeof *s->leaders, compare_steps);
    const bool all = s->leader_count < s->question.leaders;
    if (s->leader_count > s->question.leaders)
        s->leader_count = s->question.leaders;
    const double last_s = s->leader_count > 0 ? s->leaders[s->leader_count - 1].step_s : NAN;
    s->needed_goodput_ratio = NAN;
    if (s->question.weeks != NULL) {
        struct search_leader **leaders =
            ARENA_ARRAY(s->arena, struct search_leader *, s->leader_count);
        for (uint32_t i = 0; i < s->leader_count; i++)
            leaders[i] = &s->leaders[i];
        play_weeks(s, leaders, s->leader_count);
    }
    for (uint32_t i = 0; i < s->leader_count; i++)
        find_energy(s, &s->leaders[i]);
    price_all(s);
    keep_terms(s);
    sort_by_value(s);
    price_all(s); /* now the first one is known */
    find_needed(s, last_s, all);
    find_needed_power(s, last_s, all);
    know_own(s);
    find_pareto(s);
}

/* The last value that leads, where as many lead as was asked; else all do. */
static double last_value(const struct search *s)
{
    if (s->leader_count < s->question.leaders)
        return INFINITY;
    return search_terms_value(&s->question.terms, &s->leaders[s->leader_count - 1]);
}

void search_lead_follow(struct search *s)
{
    price_all(s);
    if (s->has_safe)
        search_lead_price(s->base, &s->leaders[0], weighs(s), &s->safe);
    know_own(s);
    find_pareto(s);
}

uint32_t search_lead_take(struct search *s, const struct search_leader *leader)
{
    const struct search_terms *terms = &s->question.terms;
    const uint32_t count = s->leader_count;
    struct search_leader mine = *leader, *grown;
    if (count == 0)
        search_lead_price(s->base, &mine, weighs(s), &mine);
    if (search_terms_broken(terms, &mine) != FATE_OPEN ||
        !(search_terms_value(terms, &mine) < last_value(s)))
        return 0;
    grown = ARENA_ARRAY(s->arena, struct search_leader, count + (size_t)1);
    for (uint32_t i = 0; i < count; i++)
        grown[i] = s->leaders[i];
    const struct search_leader *was = count > 0 ? &s->leaders[0] : NULL;
    grown[count] = mine;
    s->leaders = grown;
    s->leader_count++;
    sort_by_value(s);
    const struct search_weeks *weeks = s->leaders[0].weeks;
    if (was != NULL && was->weeks != NULL && weeks != NULL)
        s->needed_goodput_ratio *= weeks->tokens_per_s / was->weeks->tokens_per_s;
    search_lead_follow(s);
    s->has_near = false; /* something keeps the terms */
    for (uint32_t i = 0; i < s->leader_count; i++)
        if (s->leaders[i].row == leader->row)
            return i + 1;
    return 0;
}

void search_lead_beside(struct search *s, struct search_leader *leader)
{
    if (s->question.weeks != NULL)
        play_weeks(s, &leader, 1);
    find_energy(s, leader);
    if (s->leader_count > 0)
        search_lead_price(s->base, &s->leaders[0], weighs(s), leader);
}
