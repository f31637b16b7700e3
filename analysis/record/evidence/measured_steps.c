#include "analysis/record/evidence/measured_steps.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

bool measured_step_speaks(const struct scenario *measured, const struct scenario *of)
{
    const struct configuration *a = &measured->configuration, *b = &of->configuration;
    return strcmp(a->software.name, b->software.name) == 0 && strcmp(a->gpu.name, b->gpu.name) == 0;
}

double measured_step_distance(const struct measured_step *measured)
{
    const double p10 = log(uncertainty_step_s(measured->step, 0.1));
    const double p90 = log(uncertainty_step_s(measured->step, 0.9));
    return fabs(log(measured->measured_s) - 0.5 * (p10 + p90)) * 2.0 * MODEL_ERROR_P90 /
           (p90 - p10);
}

/* Variance of the common shift: of the nearest of the steps, less the scatter. */
static double common_variance(const struct measured_step *measured, uint32_t count,
                              const struct uncertain_step *step)
{
    const double within = residues_shipped.within_log_spread;
    double least = step->own.log_spread;
    for (uint32_t k = 0; k < count; k++)
        least = fmin(least, measured[k].step->own.log_spread);
    return fmax(least * least - within * within, 0.0);
}

static bool one_scenario(const struct measured_step *a, const struct measured_step *b)
{
    bool same = a->step->draw_count == b->step->draw_count;
    for (uint32_t i = 0; same && i < a->step->draw_count; i++)
        same = a->step->draws[i].log_step == b->step->draws[i].log_step;
    return same;
}

/* Mean logarithm of the first `count` that are of the scenario of `of`, and how many they are. */
static double mean_of(const struct measured_step *measured, uint32_t count,
                      const struct measured_step *of, uint32_t *found)
{
    double sum = 0.0;
    *found = 0;
    for (uint32_t k = 0; k < count; k++)
        if (one_scenario(&measured[k], of)) {
            sum += log(measured[k].measured_s);
            ++*found;
        }
    return *found > 0 ? sum / *found : NAN;
}

double measured_steps_scatter(const struct measured_step *measured, uint32_t count)
{
    double squares = 0.0, scenarios = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t found;
        const double mean = mean_of(measured, count, &measured[k], &found);
        squares += pow(log(measured[k].measured_s) - mean, 2.0);
        scenarios += 1.0 / found;
    }
    const double freedom = count - round(scenarios);
    const double within = residues_shipped.within_log_spread;
    return freedom > 0.0 ? fmax(within, sqrt(squares / freedom)) : within;
}

double measured_step_repeated(const struct measured_step *measured, uint32_t index,
                              double *earlier_s)
{
    uint32_t found;
    const double mean = mean_of(measured, index, &measured[index], &found);
    const double spread = residues_shipped.within_log_spread * sqrt(1.0 + 1.0 / found);
    *earlier_s = exp(mean);
    return found > 0 ? 0.5 * erfc((mean - log(measured[index].measured_s)) / spread / sqrt(2.0))
                     : NAN;
}

void measured_steps_apply(const struct measured_step *measured, uint32_t count,
                          struct uncertain_step *step, struct measured_shift *out)
{
    const double scatter = measured_steps_scatter(measured, count), within = scatter * scatter;
    const double usual = pow(residues_shipped.within_log_spread, 2.0);
    const double between = common_variance(measured, count, step);
    const double all = within + count * between;
    const double before = step->own.log_spread, before_s = uncertainty_step_s(step, 0.5);
    double best = -INFINITY, sum = 0.0;
    CHECK(count > 0);
    for (uint32_t i = 0; i < step->draw_count; i++) {
        double total = 0.0, square = 0.0;
        for (uint32_t k = 0; k < count; k++) {
            const struct uncertain_step *other = measured[k].step;
            CHECK(other->draw_count == step->draw_count &&
                  measured_step_speaks(other->scenario, step->scenario));
            const double y = log(measured[k].measured_s) - other->draws[i].log_step;
            total += y;
            square += y * y;
        }
        struct uncertain_draw *draw = &step->draws[i];
        draw->log_step += between * total / all;
        draw->weight = -0.5 * (square - between * total * total / all) / within; /* its logarithm */
        best = fmax(best, draw->weight);
    }
    for (uint32_t i = 0; i < step->draw_count; i++) {
        step->draws[i].weight = exp(step->draws[i].weight - best);
        sum += step->draws[i].weight;
    }
    for (uint32_t i = 0; i < step->draw_count; i++)
        step->draws[i].weight /= sum;
    /* what the shift leaves open, and what is not common to the steps */
    step->own.log_spread =
        sqrt(before * before - between + between * within / all + within - usual);
    *out = (struct measured_shift){.steps = count,
                                   .log_shift = log(uncertainty_step_s(step, 0.5) / before_s),
                                   .before_log_spread = before,
                                   .scatter_log_spread = scatter};
}

void measured_steps_itself(double measured_s, struct uncertain_step *step,
                           struct measured_shift *out)
{
    out->log_shift += log(measured_s / uncertainty_step_s(step, 0.5));
    out->itself = true;
    step->own.log_spread = out->scatter_log_spread; /* which no step is below */
    for (uint32_t i = 0; i < step->draw_count; i++)
        step->draws[i].log_step = log(measured_s);
}
