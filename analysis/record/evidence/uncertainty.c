#include "analysis/record/evidence/uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/power_error.h"
#include "analysis/record/numbers/statistics.h"
#include "models/gpu/gpu_power.h"
#include "models/layout/power_wall.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/pool.h"
#include "sim/random.h"

static const double insignificant = 1e-6; /* an elasticity below this is no effect */
static const double farthest = 12.0;      /* standard deviations, on either side */

enum {
    CAPPED_STEPS = 200 /* of Simpson's rule: even */
};
struct simulated {
    bool known, fits;
    double step_s, wall_w, node_w;
    uint64_t digest;
    struct error error;
};

static void time_passes(const struct configuration *c, struct simulated *out)
{
    struct pass_played played;
    out->known = pass_alone(c, &played, &out->error);
    out->fits = true;
    out->wall_w = out->node_w = NAN;
    out->step_s = out->known ? played.step_s : NAN;
}

static void simulate(const struct configuration *c, bool time_only, struct arena *scratch,
                     struct simulated *out)
{
    struct step_options options = {
        .ignore_memory = true, .time_only = time_only, .arena = scratch, .threads = 1};
    struct step *step;
    out->known = step_run(c, &options, &step, &out->error);
    if (!out->known)
        return;
    out->step_s = step->step_s;
    out->wall_w = step->power.step_j / step->step_s;
    out->node_w = power_node_w(c, step->power.card_w);
    out->digest = step->digest;
    out->fits = step->fits;
    step_destroy(step);
}

struct drawing {
    const struct scenario *scenario;
    uint64_t seed;
    bool time_only, passes;
    struct simulated *out; /* [0]: nothing drawn; [i + 1]: draw i */
};

double uncertainty_factor(struct arena *scratch, uint64_t seed, uint64_t index,
                          const struct constant *constant)
{
    struct random_stream *stream = random_create(scratch, seed, index, constant->name);
    return exp(constant->error_ratio * random_normal(stream));
}

static void draw(void *context, size_t index, struct arena *scratch)
{
    const struct drawing *d = context;
    struct configuration c = d->scenario->configuration;
    for (unsigned i = 0; index > 0 && i < d->scenario->stated.constant_count; i++) {
        const struct constant *constant = &d->scenario->stated.constants[i];
        constant_scale(&c, constant, uncertainty_factor(scratch, d->seed, index - 1, constant));
    }
    c.path_draw = index;
    if (d->passes)
        time_passes(&c, &d->out[index]);
    else
        simulate(&c, d->time_only, scratch, &d->out[index]);
}

static bool first_error(const struct simulated *s, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!s[i].known) {
            *error = s[i].error;
            return false;
        }
    }
    return true;
}

static double spread_of(const struct uncertain_draw *draws, uint32_t count)
{
    double mean = 0.0, square = 0.0;
    for (uint32_t i = 0; i < count; i++)
        mean += draws[i].log_step / count;
    for (uint32_t i = 0; i < count; i++)
        square += (draws[i].log_step - mean) * (draws[i].log_step - mean);
    return count > 1 ? sqrt(square / (count - 1)) : 0.0;
}

static struct drawn_power most_power(const struct configuration *c)
{
    struct power_job job;
    power_job_of(c, NAN, &job);
    return (struct drawn_power){log(job.most_w), log(power_node_w(c, gpu_power_limit_w(&c->gpu)))};
}

bool uncertainty_draw(struct arena *arena, const struct scenario *scenario,
                      const struct uncertainty_options *how, struct uncertain_step *out,
                      struct error *error)
{
    size_t count = (size_t)how->draw_count + 1;
    struct simulated *s = ARENA_ARRAY(arena, struct simulated, count);
    struct drawing drawing = {scenario, how->seed, how->time_only, how->passes, s};
    CHECK(how->draw_count >= 1);
    pool_run_scratch(how->threads, count, draw, &drawing);
    if (!first_error(s, count, error))
        return false;
    *out = (struct uncertain_step){
        .scenario = scenario,
        .step_s = s[0].step_s,
        .digest = s[0].digest,
        .fits = s[0].fits,
        .draw_count = how->draw_count,
        .own = model_error_of(&residues_shipped, &scenario->configuration, how->but)};
    out->draws = ARENA_ARRAY(arena, struct uncertain_draw, how->draw_count);
    out->power = ARENA_ARRAY(arena, struct drawn_power, how->draw_count);
    out->power_log_spread = power_error_log_spread(&scenario->configuration);
    out->most = most_power(&scenario->configuration);
    for (uint32_t i = 0; i < how->draw_count; i++) {
        out->draws[i] =
            (struct uncertain_draw){log(s[i + 1].step_s), s[i + 1].fits, 1.0 / how->draw_count};
        out->power[i] = (struct drawn_power){log(s[i + 1].wall_w), log(s[i + 1].node_w)};
    }
    out->log_spread = spread_of(out->draws, out->draw_count);
    return true;
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

struct mixture {
    const struct uncertain_draw *draws; /* of whose log_step it is */
    uint32_t count;
    double spread, probability;
    /* The rest is of energy: the log of power beside that of time, with its own spread and most. */
    const struct drawn_power *power;
    double power_spread, most;
};

/* Probability that min(power, most) x time lies below `x`, in logs, both normal around a draw:
 * Simpson's rule over the errors of power that the cap lets pass, and the others at the cap. */
static double capped_below(const struct mixture *m, double time, double power, double x)
{
    const double ends = 9.0, highest = (m->most - power) / m->power_spread; /* 1e-19 is beyond */
    if (highest > ends)
        return normal_below((x - power - time) / hypot(m->spread, m->power_spread));
    const double step = (fmax(highest, -ends) + ends) / CAPPED_STEPS;
    double sum = 0.0;
    for (unsigned i = 0; i <= CAPPED_STEPS; i++) {
        const double z = -ends + step * i,
                     sides = i == 0 || i == CAPPED_STEPS ? 1.0 : 2.0 + 2.0 * (i % 2);
        sum += sides * exp(-0.5 * z * z) *
               normal_below((x - power - m->power_spread * z - time) / m->spread);
    }
    const double within = sum * step / 3.0 / sqrt(2.0 * acos(-1.0));
    return within + normal_below(-highest) * normal_below((x - m->most - time) / m->spread);
}

/* How much more than the probability lies below `x`. */
static double mixture_excess(double x, void *context)
{
    const struct mixture *m = context;
    double below = 0.0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct uncertain_draw *d = &m->draws[i];
        below += d->weight * (m->power == NULL
                                  ? normal_below((x - d->log_step) / m->spread)
                                  : capped_below(m, d->log_step, m->power[i].log_wall_w, x));
    }
    return below - m->probability;
}

/* Where a mixture of normals around the draws, all of one spread, has this probability below it. */
static double mixture_quantile(const struct uncertain_draw *draws, uint32_t count, double spread,
                               double probability)
{
    struct mixture mixture = {
        .draws = draws, .count = count, .spread = spread, .probability = probability};
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        low = fmin(low, draws[i].log_step);
        high = fmax(high, draws[i].log_step);
    }
    return statistics_root(mixture_excess, &mixture, low - farthest * spread,
                           high + farthest * spread);
}

double uncertainty_step_s(const struct uncertain_step *step, double probability)
{
    return exp(mixture_quantile(step->draws, step->draw_count, step->own.log_spread, probability));
}

double uncertainty_step_below(const struct uncertain_step *step, double step_s)
{
    struct mixture mixture = {
        .draws = step->draws, .count = step->draw_count, .spread = step->own.log_spread};
    return mixture_excess(log(step_s), &mixture);
}

static bool power_known(const struct uncertain_step *step, bool wall)
{
    bool known = true;
    for (uint32_t i = 0; i < step->draw_count; i++)
        known &= isfinite(wall ? step->power[i].log_wall_w : step->power[i].log_node_w);
    return known;
}

/* Errors that would lift cards above their cap leave them at it: the lower values stay where they
 * are, so a quantile is that of the errors alone, or the most. */
double uncertainty_node_w(const struct uncertain_step *step, double probability)
{
    if (!power_known(step, false))
        return NAN;
    struct arena *arena = arena_create();
    struct uncertain_draw *draws = ARENA_ARRAY(arena, struct uncertain_draw, step->draw_count);
    for (uint32_t i = 0; i < step->draw_count; i++) {
        draws[i] = step->draws[i];
        draws[i].log_step = step->power[i].log_node_w;
    }
    const double log_w =
        mixture_quantile(draws, step->draw_count, step->power_log_spread, probability);
    arena_destroy(arena);
    return exp(fmin(log_w, step->most.log_node_w));
}

double uncertainty_energy_j(const struct uncertain_step *step, double probability)
{
    struct mixture m = {step->draws, step->draw_count,       step->own.log_spread, probability,
                        step->power, step->power_log_spread, step->most.log_wall_w};
    double low = INFINITY, high = -INFINITY;
    if (!power_known(step, true))
        return NAN;
    for (uint32_t i = 0; i < m.count; i++) {
        const double log_j = fmin(m.power[i].log_wall_w, m.most) + m.draws[i].log_step;
        low = fmin(low, log_j);
        high = fmax(high, log_j);
    }
    const double far = farthest * hypot(m.spread, m.power_spread);
    return exp(statistics_root(mixture_excess, &m, low - far, high + far));
}

double uncertainty_fits_ratio(const struct uncertain_step *step)
{
    double fits = 0.0;
    for (uint32_t i = 0; i < step->draw_count; i++)
        fits += step->draws[i].fits ? step->draws[i].weight : 0.0;
    return fits;
}

/* Figure i one standard error down (2 i) and up (2 i + 1). */
static void nudge(void *context, size_t index, struct arena *scratch)
{
    const struct drawing *d = context;
    const struct constant *constant = &d->scenario->stated.constants[index / 2];
    struct configuration c = d->scenario->configuration;
    constant_scale(&c, constant, exp(index % 2 ? constant->error_ratio : -constant->error_ratio));
    simulate(&c, d->time_only, scratch, &d->out[index]);
}

static double moved(const struct scenario *s, const struct constant *constant)
{
    struct configuration down = s->configuration, up = s->configuration;
    constant_scale(&down, constant, exp(-constant->error_ratio));
    constant_scale(&up, constant, exp(constant->error_ratio));
    return log(constant_value(&up, constant) / constant_value(&down, constant));
}

static int by_share(const void *a, const void *b)
{
    const struct influence *x = a, *y = b;
    if (x->variance_ratio != y->variance_ratio)
        return x->variance_ratio < y->variance_ratio ? 1 : -1;
    return (x->constant > y->constant) - (x->constant < y->constant);
}

bool uncertainty_influences(struct arena *arena, const struct uncertain_step *step,
                            unsigned threads, const struct influence **out, uint32_t *count,
                            struct error *error)
{
    const struct scenario *scenario = step->scenario;
    unsigned constant_count = scenario->stated.constant_count;
    struct simulated *s = ARENA_ARRAY(arena, struct simulated, 2 * (size_t)constant_count + 1);
    struct influence *found = ARENA_ARRAY(arena, struct influence, constant_count + 1);
    struct drawing drawing = {.scenario = scenario, .time_only = true, .out = s};
    double own = step->own.log_spread, total = own * own;
    pool_run_scratch(threads, 2 * (size_t)constant_count, nudge, &drawing);
    *count = 0;
    if (!first_error(s, 2 * (size_t)constant_count, error))
        return false;
    for (unsigned i = 0; i < constant_count; i++) {
        const struct constant *constant = &scenario->stated.constants[i];
        double change = log(s[2 * i + 1].step_s / s[2 * i].step_s);
        double elasticity = change / moved(scenario, constant);
        if (fabs(elasticity) < insignificant)
            continue;
        double variance = pow(elasticity * constant->error_ratio, 2);
        found[(*count)++] = (struct influence){constant, elasticity, variance};
        total += variance;
    }
    for (uint32_t i = 0; i < *count; i++)
        found[i].variance_ratio /= total;
    qsort(found, *count, sizeof *found, by_share);
    *out = found;
    return true;
}

double uncertainty_model_ratio(const struct influence *influences, uint32_t count)
{
    double rest = 1.0;
    for (uint32_t i = 0; i < count; i++)
        rest -= influences[i].variance_ratio;
    return fmax(rest, 0.0);
}

/* Do the two differ in layout alone: model, GPU, number of GPUs, fabric, software? */
static bool alike_but_for_layout(const struct configuration *a, const struct configuration *b)
{
    return transformer_parameters(&a->model, a->training.sequence) ==
               transformer_parameters(&b->model, b->training.sequence) &&
           a->model.layers == b->model.layers && a->model.mtp_layers == b->model.mtp_layers &&
           a->model.hidden == b->model.hidden && a->training.sequence == b->training.sequence &&
           configuration_gpus(a) == configuration_gpus(b) &&
           strcmp(a->gpu.name, b->gpu.name) == 0 &&
           strcmp(a->cluster.fabric.name, b->cluster.fabric.name) == 0 &&
           strcmp(a->software.name, b->software.name) == 0;
}

/* Are they one step: the same timeline, by the figures as they are and in every draw, of the same
 * software on the same card? */
static bool same_step(const struct uncertain_step *a, const struct uncertain_step *b)
{
    bool same = a->digest == b->digest &&
                alike_but_for_layout(&a->scenario->configuration, &b->scenario->configuration);
    for (uint32_t i = 0; same && i < a->draw_count; i++)
        same = a->draws[i].log_step == b->draws[i].log_step;
    return same;
}

void uncertainty_compare(const struct uncertain_step *a, const struct uncertain_step *b,
                         struct uncertain_comparison *out)
{
    CHECK(a->draw_count == b->draw_count);
    if (same_step(a, b)) { /* whatever is wrong with one is wrong with the other */
        *out = (struct uncertain_comparison){true, 0.5, 1.0, {1.0, 1.0, 1.0}};
        return;
    }
    static const double percentiles[] = {0.1, 0.5, 0.9};
    bool alike = alike_but_for_layout(&a->scenario->configuration, &b->scenario->configuration);
    double own_a = a->own.log_spread, own_b = b->own.log_spread;
    *out = (struct uncertain_comparison){.shared_ratio =
                                             alike ? model_error_shared(&a->own, &b->own) : 0.0};
    double spread = sqrt(own_a * own_a + own_b * own_b - 2.0 * out->shared_ratio * own_a * own_b);
    struct arena *arena = arena_create();
    struct uncertain_draw *longer = ARENA_ARRAY(arena, struct uncertain_draw, a->draw_count);
    for (uint32_t i = 0; i < a->draw_count; i++) {
        longer[i] = a->draws[i];
        longer[i].log_step = b->draws[i].log_step - a->draws[i].log_step;
        out->faster_probability += a->draws[i].weight * normal_below(longer[i].log_step / spread);
    }
    for (unsigned i = 0; i < 3; i++)
        out->ratio[i] = exp(mixture_quantile(longer, a->draw_count, spread, percentiles[i]));
    arena_destroy(arena);
}
