/* The smallest cluster that holds the state and one pipeline's worth of microbatches.
 *
 * Sizes are tried in ascending order: up to a node every count, then whole nodes. For a size every
 * tp that divides the heads and stays inside a node, and every pp up to the layers, is a layout;
 * the rest is dp. An interleaved schedule becomes 1f1b, which holds less. A size is skipped when
 * the plain sum of the model state cannot fit. The batch follows the layout (dp x microbatch x pp):
 * how long a step would take is not asked here. */
#include <math.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step.h"

enum {
    BREAK_MAX = 16
};

static bool legal(const struct configuration *c)
{
    struct rule_break breaks[BREAK_MAX];
    unsigned count = configuration_check(c, breaks, BREAK_MAX);
    for (unsigned i = 0; i < count && i < BREAK_MAX; i++) {
        if (!breaks[i].warning) {
            return false;
        }
    }
    return count <= BREAK_MAX;
}

static bool holds(const struct configuration *c)
{
    struct step_options options = {.memory_only = true};
    struct error error;
    struct step *step = NULL;
    if (!legal(c) || !step_run(c, &options, &step, &error)) {
        return false;
    }
    bool fits = step->fits;
    step_destroy(step);
    return fits;
}

/* GPUs in a whole node of this kind, whatever the scenario uses of it. */
static uint64_t whole_node(const struct configuration *c)
{
    uint64_t installed = c->cluster.node.installed_gpus;
    return installed > 0 ? installed : c->cluster.node.gpus;
}

/* The scenario on `gpus` GPUs as tp x pp, the rest data parallel. */
static struct configuration with_layout(const struct configuration *c, uint64_t gpus, uint64_t tp,
                                        uint64_t pp)
{
    struct configuration trial = *c;
    uint64_t node = whole_node(c);
    trial.cluster.nodes = (gpus + node - 1) / node;
    trial.cluster.node.gpus = gpus < node ? gpus : node;
    trial.layout.tp = tp;
    trial.layout.pp = pp;
    trial.layout.cp = 1;
    trial.layout.dp = gpus / (tp * pp);
    trial.layout.first_stage_layers = trial.layout.last_stage_layers = 0;
    trial.training.global_batch = trial.layout.dp * trial.layout.microbatch * pp;
    trial.perturbation_count = 0;
    if (trial.layout.schedule->interleaved) { /* chunks buy time with memory */
        trial.layout.schedule = &schedule_one_f_one_b;
        trial.layout.vpp = 1;
    }
    if (tp == 1) {
        trial.layout.sequence_parallel = false;
    }
    return trial;
}

/* Bytes of state for each parameter, by precision and optimizer. */
static void state_bytes(const struct configuration *c, double *weight, double *gradient,
                        double *optimizer)
{
    const struct precision *p = c->training.precision;
    const struct optimizer *o = c->training.optimizer;
    *weight = p->weight_bytes;
    *gradient = p->gradient_bytes;
    *optimizer = p->master_weights ? o->master_bytes : 0.0;
    for (unsigned i = 0; i < o->moment_count; i++) {
        *optimizer += o->moments[i].bytes;
    }
}

/* A bound before lowering: the mean stage's state alone. */
static bool state_may_fit(const struct configuration *trial)
{
    double weight, gradient, optimizer;
    state_bytes(trial, &weight, &gradient, &optimizer);
    const struct layout_spec *l = &trial->layout;
    uint64_t shards = sharding_shards(l->sharding, l->dp, l->shard_group);
    double bytes = sharding_bytes_per_parameter(l->sharding, weight, gradient, optimizer, shards) *
                   model_parameters(&trial->model, trial->training.sequence) /
                   (double)(l->tp * l->pp);
    return bytes <= trial->gpu.usable_hbm_bytes - trial->gpu.context_bytes;
}

static bool size_holds(const struct configuration *c, uint64_t gpus)
{
    uint64_t node = whole_node(c);
    for (uint64_t tp = 1; tp <= node && tp <= gpus; tp++) {
        if (gpus % tp != 0 || c->model.heads % tp != 0) {
            continue;
        }
        for (uint64_t pp = 1; pp * tp <= gpus && pp <= c->model.layers; pp++) {
            if (gpus % (tp * pp) != 0) {
                continue;
            }
            struct configuration trial = with_layout(c, gpus, tp, pp);
            if (state_may_fit(&trial) && holds(&trial)) {
                return true;
            }
        }
    }
    return false;
}

/* Everything sharded over all ranks is the lower bound. */
static uint64_t lower_bound_gpus(const struct configuration *c)
{
    double weight, gradient, optimizer;
    state_bytes(c, &weight, &gradient, &optimizer);
    double usable = c->gpu.usable_hbm_bytes - c->gpu.context_bytes;
    double total =
        (weight + gradient + optimizer) * model_parameters(&c->model, c->training.sequence);
    uint64_t gpus = (uint64_t)ceil(total / usable);
    return gpus < 1 ? 1 : gpus;
}

uint64_t step_minimum_gpus(const struct configuration *c, uint64_t limit)
{
    uint64_t node = whole_node(c);
    for (uint64_t gpus = lower_bound_gpus(c); gpus <= limit;) {
        if (gpus > node && gpus % node != 0) {
            gpus += node - gpus % node;
            continue;
        }
        if (size_holds(c, gpus)) {
            return gpus;
        }
        gpus += gpus < node ? 1 : node;
    }
    return 0;
}
