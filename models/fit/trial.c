#include "models/fit/trial.h"

#include <math.h>

#include "models/step/step.h"

enum {
    TIMED_RANKS_MAX = 4096
};

static void idealise(struct configuration *c, bool timed)
{
    c->perturbation_count = 0;
    c->kernel_jitter_sigma = 0.0;
    while (timed && configuration_ranks(c) > TIMED_RANKS_MAX && c->layout.dp % 2 == 0 &&
           c->cluster.nodes % 2 == 0 && c->training.global_batch % 2 == 0) {
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
 * then: more of them repeat what was. Interleaved orders want multiples of the stages. */
static void shorten(struct configuration *c)
{
    const uint64_t stages = c->layout.pp, whole = configuration_microbatches(c);
    const uint64_t enough = 3 * stages + whole % stages;
    if (whole > enough)
        c->training.global_batch = enough * c->layout.dp * c->layout.microbatch;
}

bool trial_may_fit(const struct configuration *c)
{
    struct configuration few = *c;
    shorten(&few);
    return trial_fits(&few);
}

bool trial_fits(const struct configuration *c)
{
    struct configuration ideal = *c;
    struct step_options options = {.memory_only = true};
    struct step *step = NULL;
    struct error error;
    idealise(&ideal, false);
    if (!step_run(&ideal, &options, &step, &error))
        return false;
    const bool fits = step->fits;
    step_destroy(step);
    return fits;
}

double trial_gpu_s_per_token(const struct configuration *c)
{
    struct configuration ideal = *c;
    struct step_options options = {.brief = true};
    struct step *step = NULL;
    struct error error;
    idealise(&ideal, true);
    if (!configuration_legal(&ideal) || !step_run(&ideal, &options, &step, &error))
        return INFINITY;
    const double gpu_s = step->fits ? step->step_s * (double)configuration_ranks(&ideal) : 0.0;
    step_destroy(step);
    return gpu_s > 0.0 ? gpu_s / configuration_tokens(&ideal) : INFINITY;
}
