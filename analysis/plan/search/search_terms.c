#include "analysis/plan/search/search_terms.h"

#include <math.h>

#include "analysis/record/numbers/cost.h"

const char *const search_best_names[] = {"step",    "tokens", "cost", "days",
                                         "goodput", "energy", NULL};
const char *const search_best_docs[SEARCH_BEST_COUNT] = {"the shortest step",
                                                         "the most tokens a second",
                                                         "the cheapest token",
                                                         "the soonest end",
                                                         "the most tokens a day that are kept",
                                                         "the least energy a token"};

static bool needs_tokens(const struct search_terms *t)
{
    return t->deadline_s > 0.0 || t->budget_usd > 0.0 || t->best == BEST_DAYS;
}

bool search_terms_check(const struct search_terms *t, const struct configuration *c,
                        struct error *error)
{
    const bool priced = c->gpu.price_per_hour_usd > 0.0;
    if (needs_tokens(t) && c->training.tokens <= 0.0)
        return error_set(error, "a deadline, a budget and days refer to the whole training run: "
                                "give its tokens with --tokens 15T or in training.tokens");
    if ((t->budget_usd > 0.0 || t->best == BEST_COST) && !priced)
        return error_set(error,
                         "the price of %s is not known, so no training can be priced: give one "
                         "with --set cost.gpu_hour=2.5USD",
                         c->gpu.name);
    if (search_terms_draws(t) && !(c->cluster.node.power.conversion_ratio > 0.0))
        return error_set(error,
                         "what a node of %s draws beside its cards is not known, so no layout has "
                         "%s: give it with --set cluster.node.conversion=94%%",
                         c->cluster.node.name,
                         t->best == BEST_ENERGY ? "an energy" : "a power at the wall");
    return true;
}

enum search_fate search_terms_missed(const struct search_terms *t, const struct configuration *c,
                                     double step_s)
{
    const double steps = (double)configuration_steps(c);
    struct cost cost;
    if (t->deadline_s > 0.0 && step_s * steps > t->deadline_s)
        return FATE_DEADLINE;
    if (!(t->budget_usd > 0.0))
        return FATE_OPEN;
    cost_of_step(c, step_s, &cost);
    return cost.budget_usd > t->budget_usd ? FATE_BUDGET : FATE_OPEN;
}

enum search_fate search_terms_broken(const struct search_terms *t, const struct search_leader *l)
{
    if (t->deadline_s > 0.0 && l->training_s > t->deadline_s)
        return FATE_DEADLINE;
    if (t->budget_usd > 0.0 && l->training_usd > t->budget_usd)
        return FATE_BUDGET;
    return search_terms_limited(t) && l->wall_w > t->power_w ? FATE_POWER : FATE_OPEN;
}

bool search_terms_draws(const struct search_terms *t)
{
    return t->best == BEST_ENERGY || t->power_w > 0.0;
}

bool search_terms_limited(const struct search_terms *t)
{
    return t->power_w > 0.0 && isfinite(t->power_w);
}

bool search_terms_weeks(const struct search_terms *t)
{
    return t->best == BEST_COST || t->best == BEST_DAYS || t->best == BEST_GOODPUT;
}

static double known(double value)
{
    return isnan(value) ? INFINITY : value;
}

double search_terms_value(const struct search_terms *t, const struct search_leader *l)
{
    switch (t->best) {
    case BEST_STEP:
        return l->step_s;
    case BEST_TOKENS:
        return -l->tokens_per_s;
    case BEST_COST:
        return known(l->usd_per_1e9_tokens);
    case BEST_DAYS:
        return known(l->training_s);
    case BEST_GOODPUT:
        return l->weeks != NULL ? -l->weeks->tokens_per_s : INFINITY;
    case BEST_ENERGY:
        return known(l->energy_j_per_token);
    case SEARCH_BEST_COUNT:
        break;
    }
    return INFINITY;
}
