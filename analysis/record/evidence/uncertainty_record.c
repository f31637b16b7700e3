#include "analysis/record/evidence/uncertainty_record.h"

#include <math.h>

#include "analysis/record/evidence/power_error.h"

double uncertainty_tokens_per_s(const struct result *result, double step_s)
{
    return result->step->rates.tokens_per_s * result->step->step_s / step_s;
}

double uncertainty_mfu_ratio(const struct result *result, double step_s)
{
    return result->step->rates.mfu_ratio * result->step->step_s / step_s;
}

/* "the first is faster", or that it is a tie, or that there is nothing to choose. */
static const char *verdict_of(const struct uncertain_comparison *comparison)
{
    double p = comparison->faster_probability;
    bool tie = p > UNCERTAINTY_TIE_LOW && p < UNCERTAINTY_TIE_HIGH;
    return comparison->same            ? "the same"
           : tie                       ? "a tie"
           : p >= UNCERTAINTY_TIE_HIGH ? "the first is faster"
                                       : "the second is faster";
}

static void take_power(const struct uncertain_step *step, struct uncertainty_row *row)
{
    const struct configuration *c = &step->scenario->configuration;
    const double tokens = configuration_tokens(c);
    row->node_p10_w = uncertainty_node_w(step, 0.1);
    row->node_p50_w = uncertainty_node_w(step, 0.5);
    row->node_p90_w = uncertainty_node_w(step, 0.9);
    row->token_p10_j = uncertainty_energy_j(step, 0.1) / tokens;
    row->token_p50_j = uncertainty_energy_j(step, 0.5) / tokens;
    row->token_p90_j = uncertainty_energy_j(step, 0.9) / tokens;
    row->power_log_spread = step->power_log_spread;
    row->power_evidence = power_error_evidence(c);
}

void uncertainty_record(const struct uncertainty *u, struct record *record)
{
    const struct configuration *c = &u->step.scenario->configuration;
    struct uncertainty_row *row = record_add(record, ROW_uncertainty, 1);
    char text[MODEL_ERROR_SENTENCE_MAX];
    row->draws = u->step.draw_count;
    row->constants = u->step.scenario->stated.constant_count;
    row->step_p10_s = uncertainty_step_s(&u->step, 0.1);
    row->step_p50_s = uncertainty_step_s(&u->step, 0.5);
    row->step_p90_s = uncertainty_step_s(&u->step, 0.9);
    row->fits_ratio = uncertainty_fits_ratio(&u->step);
    row->model_variance_ratio = uncertainty_model_ratio(u->influences, u->influence_count);
    row->model_log_spread = u->step.own.log_spread;
    row->model_error_source = residues_shipped.from;
    row->measured =
        arena_text(record->arena, model_error_sentence(&u->step.own, text, sizeof text));
    row->own_steps = u->shift.steps;
    row->own_shift_ratio = expm1(u->shift.log_shift);
    row->prior_log_spread =
        u->shift.steps > 0 ? u->shift.before_log_spread : u->step.own.log_spread;
    take_power(&u->step, row);
    if (u->against != NULL) {
        row->against = u->against->scenario->path;
        row->against_step_s = u->against->step_s;
        row->against_fits_ratio = uncertainty_fits_ratio(u->against);
        row->faster_probability = u->comparison.faster_probability;
        row->verdict = verdict_of(&u->comparison);
        row->ratio_p10 = u->comparison.ratio[0];
        row->ratio_p50 = u->comparison.ratio[1];
        row->ratio_p90 = u->comparison.ratio[2];
        row->shared_ratio = u->comparison.shared_ratio;
    }
    struct influence_row *influence = record_add(record, ROW_influence, u->influence_count);
    for (uint32_t i = 0; i < u->influence_count; i++) {
        const struct influence *f = &u->influences[i];
        *influence++ = (struct influence_row){
            .name = f->constant->name,
            .value = constant_value(c, f->constant),
            .error_ratio = f->constant->error_ratio,
            .origin = constant_origin_names[f->constant->origin],
            .elasticity = f->elasticity,
            .variance_ratio = f->variance_ratio,
        };
    }
}
