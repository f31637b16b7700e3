#include "models/plan/trial.h"

#include <math.h>

#include "models/lower/stage/lower.h"
#include "models/plan/ladder.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"

enum {
    TIMED_RANKS_MAX = 4096
};

static void idealise(struct configuration *c, bool timed)
{
    c->perturbation_count = 0;
    c->kernel_jitter_sigma = 0.0;
    while (timed && configuration_ranks(c) > TIMED_RANKS_MAX && c->layout.dp % 2 == 0 &&
           c->cluster.nodes % 2 == 0 && c->cluster.gpus == 0 && c->training.global_batch % 2 == 0) {
        c->layout.dp /= 2;
        c->cluster.nodes /= 2;
        c->training.global_batch /= 2;
    }
}

bool trial_differs(const struct configuration *c)
{
    struct configuration ideal = *c;
    idealise(&ideal, true);
    return c->perturbation_count > 0 || c->kernel_jitter_sigma > 0.0 ||
           ideal.layout.dp != c->layout.dp;
}

uint64_t trial_passes(const struct configuration *c)
{
    return c->model.layers * configuration_microbatches(c);
}

/* Ranks hold no more microbatches at once than two for each stage, and the allocator is warm by
 * then: more of them repeat what was. Interleaved orders want multiples of the stages. An order
 * that holds all is as fast for each, and holds more. */
static uint64_t enough_microbatches(const struct configuration *c)
{
    return 3 * c->layout.pp + configuration_microbatches(c) % c->layout.pp;
}

static void set_microbatches(struct configuration *c, uint64_t count)
{
    c->training.global_batch = count * c->layout.dp * c->layout.microbatch;
}

void trial_shorten(struct configuration *c)
{
    const uint64_t enough = enough_microbatches(c);
    if (configuration_microbatches(c) > enough)
        set_microbatches(c, enough);
}

void trial_state_bytes(const struct configuration *c, double *weight, double *gradient,
                       double *optimizer)
{
    const struct precision *p = c->training.precision;
    const struct optimizer *o = c->training.optimizer;
    *weight = p->weight_bytes + configuration_weight_copy_bytes(c);
    *gradient = p->gradient_bytes;
    const struct optimizer_state state = optimizer_state(o, p, &c->training.state_formats);
    *optimizer = optimizer_nominal_bytes(o, &state) * (1.0 - c->layout.offload.optimizer);
    if (c->training.adapter.kind == ADAPTER_NONE)
        return;
    const double share = configuration_adapter_parameters(c) /
                         transformer_parameters(&c->model, c->training.sequence);
    *weight = configuration_frozen_bytes(c) + *weight * share;
    *gradient *= share;
    *optimizer *= share;
}

double trial_mean_state_bytes(const struct configuration *c)
{
    double weight, gradient, optimizer;
    trial_state_bytes(c, &weight, &gradient, &optimizer);
    const struct layout_spec *l = &c->layout;
    const struct expert_ranks ranks = configuration_expert_ranks(c);
    const uint64_t shards = configuration_shards(c),
                   expert_shards = ranks.apart ? configuration_expert_shards(c) : shards;
    const double experts = transformer_expert_parameters(&c->model) +
                           transformer_prediction_expert_parameters(&c->model);
    const double others = transformer_trained_parameters(&c->model, c->training.sequence) - experts;
    return sharding_bytes_per_parameter(l->data.sharding, weight, gradient, optimizer, shards) *
               others / (double)(l->tp * l->pp) +
           sharding_bytes_per_parameter(l->data.sharding, weight, gradient, optimizer,
                                        expert_shards) *
               experts / (double)(ranks.ep * ranks.etp * l->pp);
}

double trial_usable_bytes(const struct configuration *c, double headroom_ratio)
{
    return c->gpu.hbm.usable_bytes * (1.0 - headroom_ratio);
}

bool trial_spend(struct trial_budget *budget, uint64_t passes)
{
    budget->passes += passes;
    return budget->passes <= budget->passes_max;
}

bool trial_state_may_fit(const struct configuration *c, double usable_bytes)
{
    return trial_mean_state_bytes(c) <= usable_bytes - c->gpu.hbm.context_bytes;
}

struct ledger_result trial_first_stage(const struct configuration *c, double usable_bytes)
{
    struct ledger_limits limits = {
        .usable_bytes = usable_bytes,
        .expandable_segments = c->software.memory.expandable_segments,
    };
    struct arena *arena = arena_create();
    struct ledger_result result;
    ledger_play(arena, lower_stage(arena, c, 0), &limits, false, &result);
    arena_destroy(arena);
    return result;
}

bool trial_may_fit(const struct configuration *c, double usable_bytes)
{
    struct configuration few = *c;
    trial_shorten(&few);
    return trial_fits(&few, usable_bytes);
}

bool trial_holds(const struct configuration *c, struct trial_budget *b)
{
    struct configuration few = *c;
    trial_shorten(&few);
    return trial_state_may_fit(c, b->usable_bytes) &&
           trial_spend(b, c->model.layers / c->layout.pp) &&
           !trial_first_stage(&few, b->usable_bytes).failure.failed &&
           trial_spend(b, c->model.layers * c->layout.pp) && trial_fits(&few, b->usable_bytes) &&
           (!c->layout.pipeline.schedule->holds_all ||
            (trial_spend(b, trial_passes(c)) &&
             !trial_first_stage(c, b->usable_bytes).failure.failed &&
             trial_fits(c, b->usable_bytes)));
}

bool trial_fits(const struct configuration *c, double usable_bytes)
{
    return trial_fits_in(NULL, c, usable_bytes);
}

bool trial_fits_in(struct arena *scratch, const struct configuration *c, double usable_bytes)
{
    struct configuration ideal = *c;
    const struct step_options options = {
        .fits_only = true, .usable_bytes = usable_bytes, .arena = scratch};
    struct step *step = NULL;
    struct error error;
    idealise(&ideal, false);
    if (!step_run(&ideal, &options, &step, &error))
        return false;
    const bool fits = step->fits;
    step_destroy(step);
    return fits;
}

struct block_trial {
    struct configuration c;
    double usable_bytes;
};

static bool block_may_fit(void *context, uint64_t layers)
{
    struct block_trial *t = context;
    t->c.layout.recompute_layers = layers;
    return trial_may_fit(&t->c, t->usable_bytes);
}

/* What is kept falls with every layer; a stage that holds more than the others decides. */
bool trial_least_block(struct configuration *c, double usable_bytes)
{
    const uint64_t most = configuration_chunk_layers(c);
    struct block_trial trial = {*c, usable_bytes};
    trial.c.layout.recompute = RECOMPUTE_BLOCK;
    ladder_last(&trial.c);
    if (most < 2 || !configuration_legal(&trial.c) || !trial_may_fit(&trial.c, usable_bytes))
        return false;
    c->layout.recompute = RECOMPUTE_BLOCK;
    c->layout.recompute_layers =
        ladder_least_layers(&(struct ladder_block){block_may_fit, &trial}, 0, most - 1);
    return true;
}

double trial_gpu_s_per_token(const struct configuration *c, double usable_bytes)
{
    struct configuration ideal = *c;
    struct step_options options = {
        .brief = true,
        .fitting_only = true,
        .outcome_only = true,
        .usable_bytes = usable_bytes,
    };
    struct step *step = NULL;
    struct error error;
    idealise(&ideal, true);
    options.time_only = ideal.layout.dp != c->layout.dp; /* fewer replicas hold more each */
    if (!configuration_legal(&ideal) || !step_run(&ideal, &options, &step, &error))
        return INFINITY;
    double step_s = step->fits ? step->step_s : INFINITY;
    step_destroy(step);
    if (!(step_s > 0.0)) { /* of what is not soon played; pass detail is soon known of any step */
        struct pass_played played;
        const bool built = pass_alone(&ideal, &played, &error);
        CHECK(built);
        step_s = played.step_s;
    }
    return step_s * (double)configuration_ranks(&ideal) / configuration_tokens(&ideal);
}

/* Microbatches of the longer of the two; 0: the whole step is hardly longer. */
static uint64_t slope_microbatches(const struct configuration *c)
{
    const uint64_t longer = enough_microbatches(c) + c->layout.pp;
    return configuration_microbatches(c) > 2 * longer ? longer : 0;
}

uint64_t trial_slope_passes(const struct configuration *c)
{
    const uint64_t longer = slope_microbatches(c);
    return longer > 0 ? c->model.layers * (2 * longer - c->layout.pp) : trial_passes(c);
}

double trial_gpu_s_by_slope(const struct configuration *c, double usable_bytes)
{
    const uint64_t longer = slope_microbatches(c);
    struct configuration one = *c, two = *c;
    if (longer == 0)
        return trial_gpu_s_per_token(c, usable_bytes);
    set_microbatches(&one, longer - c->layout.pp);
    set_microbatches(&two, longer);
    const double one_s = trial_gpu_s_per_token(&one, usable_bytes) * configuration_tokens(&one);
    if (!isfinite(one_s))
        return INFINITY;
    const double two_s = trial_gpu_s_per_token(&two, usable_bytes) * configuration_tokens(&two);
    const double left = (double)(configuration_microbatches(c) - longer) / (double)c->layout.pp;
    return (two_s + left * (two_s - one_s)) / configuration_tokens(c);
}
