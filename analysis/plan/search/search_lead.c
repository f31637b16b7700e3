#include "analysis/plan/search/search_lead.h"

#include <math.h>

#include "analysis/plan/search/search_weeks.h"
#include "analysis/record/evidence/model_error.h"
#include "analysis/record/numbers/cost.h"
#include "models/plan/trial.h"
#include "sim/units.h"

static void with_room(const struct configuration *base, const struct plan_layout *layout,
                      double usable_bytes, struct configuration *out)
{
    plan_layout_apply(base, layout, out);
    out->gpu.hbm.usable_bytes = usable_bytes;
}

bool search_lead_fits(const struct configuration *base, const struct plan_layout *layout,
                      double usable_bytes)
{
    struct configuration c;
    with_room(base, layout, usable_bytes, &c);
    return trial_may_fit(&c);
}

bool search_lead_play(const struct configuration *base, const struct search_row *row,
                      double usable_bytes, struct arena *scratch, struct search_leader *out)
{
    struct configuration c;
    struct step *step = NULL;
    struct error error;
    struct step_options options = {.threads = 1, .arena = scratch};
    with_room(base, &row->layout, usable_bytes, &c);
    *out = (struct search_leader){.row = row};
    if (!step_run(&c, &options, &step, &error))
        return false;
    const bool fits = step->fits;
    out->played = true;
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
                                  .peak_allocated_bytes = NAN};
    for (unsigned part = 0; part < PART_COUNT; part++)
        out->breakdown_s[part] = NAN;
}

static void price_weeks(const struct configuration *c, struct search_leader *leader)
{
    const double tokens = c->training.tokens;
    const struct search_weeks *weeks = leader->weeks;
    leader->usd_per_1e9_tokens = weeks->usd_per_1e9_tokens;
    leader->training_s = tokens > 0.0 ? tokens / weeks->tokens_per_s : NAN;
    leader->training_usd = tokens > 0.0 ? tokens / GIGA * weeks->usd_per_1e9_tokens : NAN;
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
    leader->step_usd = cost.step_usd;
    leader->usd_per_1e9_tokens = cost.usd_per_1e9_tokens;
    leader->training_usd = cost.budget_usd;
    leader->training_s = c.training.tokens > 0.0 ? c.training.tokens / leader->tokens_per_s : NAN;
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
