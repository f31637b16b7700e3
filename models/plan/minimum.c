/* The smallest cluster that holds the state and one pipeline's worth of microbatches.
 *
 * Sizes are tried in ascending order: up to a node every count, then whole nodes. For a size every
 * tp that divides the heads and stays inside a node, and every pp up to the layers, is a layout;
 * the rest is dp. An interleaved schedule becomes 1f1b, which holds less. A size is skipped when
 * the plain sum of the model state cannot fit. The batch follows the layout (dp x microbatch x pp):
 * how long a step would take is not asked here. */
#include "models/plan/minimum.h"

#include <math.h>

#include "models/plan/plan_space.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"

enum {
    EFFORT_MAX = 1 << 23 /* layouts looked at, and layer passes lowered: some tens of seconds */
};

/* Plays the memory of all stages; only time can be refused. */
static bool holds(const struct configuration *c, double usable_bytes, double *allocated_bytes)
{
    struct step_options options = {.memory_only = true, .usable_bytes = usable_bytes};
    struct error error;
    struct step *step = NULL;
    CHECK(step_run(c, &options, &step, &error));
    bool fits = step->fits;
    *allocated_bytes = step->peak.allocated_bytes;
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
    trial.cluster.gpus = 0;
    trial.cluster.nodes = (gpus + node - 1) / node;
    trial.cluster.node.gpus = gpus < node ? gpus : node;
    trial.layout.tp = tp;
    trial.layout.pp = pp;
    trial.layout.cp = 1;
    trial.layout.dp = gpus / (tp * pp);
    trial.layout.pipeline.first_layers = trial.layout.pipeline.last_layers = 0;
    trial.training.global_batch = trial.layout.dp * trial.layout.microbatch * pp;
    if (trial.layout.pipeline.schedule->interleaved) { /* chunks buy time with memory */
        trial.layout.pipeline.schedule = &schedule_one_f_one_b;
        trial.layout.pipeline.vpp = 1;
    }
    return trial;
}

/* The search and what it knows. A pair (tp, pp) whose failure is known is asked once more with the
 * largest dp: what is allocated does not grow with dp, but for the communicator between shard
 * groups, so what is too much there is too much at every size. What the allocator reserves beyond
 * that can grow, as blocks happen to fall, and is no reason. */
struct minimum_search {
    const struct configuration *c;
    uint64_t limit, effort_left;
    bool *hopeless, *asked; /* [tp x (layers + 1) + pp] */
};

static bool spend(struct minimum_search *s, uint64_t effort)
{
    s->effort_left -= effort < s->effort_left ? effort : s->effort_left;
    return s->effort_left > 0;
}

static bool pair_holds(struct minimum_search *s, uint64_t gpus, uint64_t tp, uint64_t pp)
{
    struct configuration trial = with_layout(s->c, gpus, tp, pp);
    const double usable_bytes = trial.gpu.hbm.usable_bytes;
    double bytes;
    return trial_state_may_fit(&trial, usable_bytes) && configuration_legal(&trial) &&
           spend(s, s->c->model.layers) &&
           !trial_first_stage(&trial, usable_bytes).failure.failed &&
           spend(s, s->c->model.layers * pp) && holds(&trial, usable_bytes, &bytes);
}

/* On a card without end. A size at which the layout breaks a rule tells nothing of the others. */
static bool pair_is_too_much(struct minimum_search *s, uint64_t gpus, uint64_t tp, uint64_t pp)
{
    struct configuration trial = with_layout(s->c, gpus, tp, pp);
    double bytes, room = trial.gpu.hbm.usable_bytes;
    room += trial.layout.data.sharding->hybrid ? trial.software.memory.communicator_bytes : 0.0;
    if (!configuration_legal(&trial))
        return false;
    if (!trial_state_may_fit(&trial, trial.gpu.hbm.usable_bytes))
        return true;
    return (spend(s, s->c->model.layers) &&
            trial_first_stage(&trial, INFINITY).peak_allocated_bytes > room) ||
           (spend(s, s->c->model.layers * pp) && holds(&trial, INFINITY, &bytes) && bytes > room);
}

/* The largest size up to the limit that is whole nodes and whole replicas; 0: none. */
static uint64_t largest(const struct minimum_search *s, uint64_t model_ranks)
{
    uint64_t step = whole_node(s->c);
    while (step % model_ranks != 0 && step <= s->limit)
        step += whole_node(s->c);
    return s->limit / step * step;
}

static bool try_pair(struct minimum_search *s, uint64_t gpus, uint64_t tp, uint64_t pp)
{
    uint64_t pair = tp * (s->c->model.layers + 1) + pp;
    if (s->hopeless[pair])
        return false;
    if (pair_holds(s, gpus, tp, pp))
        return true;
    uint64_t most = s->asked[pair] ? 0 : largest(s, tp * pp);
    s->asked[pair] = true;
    s->hopeless[pair] = most > gpus && pair_is_too_much(s, most, tp, pp);
    return false;
}

static bool size_holds(struct minimum_search *s, uint64_t gpus)
{
    struct plan_splits at = {.gpus = gpus,
                             .heads = s->c->model.attention.heads,
                             .tp = {1, whole_node(s->c)},
                             .cp = {1, 1},
                             .pp = {1, s->c->model.layers}};
    for (uint64_t before = 0; plan_splits_next(&at); before = at.looked) {
        if (!spend(s, at.looked - before))
            return false;
        if (try_pair(s, gpus, at.at_tp, at.at_pp))
            return true;
    }
    return false;
}

/* Everything sharded over all ranks is the lower bound; UINT64_MAX where a card has no room. */
static uint64_t lower_bound_gpus(const struct configuration *c)
{
    double weight, gradient, optimizer;
    trial_state_bytes(c, &weight, &gradient, &optimizer);
    double usable = c->gpu.hbm.usable_bytes - c->gpu.hbm.context_bytes;
    double total = (weight + gradient + optimizer) *
                   transformer_trained_parameters(&c->model, c->training.sequence);
    double gpus = usable > 0.0 ? ceil(total / usable) : INFINITY;
    return gpus > TOPOLOGY_GPU_MAX ? UINT64_MAX : (uint64_t)fmax(gpus, 1.0);
}

static uint64_t search_sizes(struct minimum_search *s)
{
    uint64_t node = whole_node(s->c);
    for (uint64_t gpus = lower_bound_gpus(s->c); gpus <= s->limit;) {
        if (gpus > node && gpus % node != 0) {
            gpus += node - gpus % node;
            continue;
        }
        if (size_holds(s, gpus))
            return gpus;
        if (!spend(s, 1))
            return MINIMUM_UNKNOWN;
        gpus += gpus < node ? 1 : node;
    }
    return 0;
}

uint64_t minimum_gpus(const struct configuration *c, uint64_t limit)
{
    uint64_t node = whole_node(c), heads = c->model.attention.heads;
    size_t pairs = ((node < heads ? node : heads) + 1) * (c->model.layers + 1);
    struct arena *arena = arena_create();
    struct minimum_search s = {
        .c = c,
        .limit = limit < TOPOLOGY_GPU_MAX ? limit : TOPOLOGY_GPU_MAX,
        .effort_left = EFFORT_MAX,
        .hopeless = ARENA_ARRAY(arena, bool, pairs),
        .asked = ARENA_ARRAY(arena, bool, pairs),
    };
    uint64_t gpus = search_sizes(&s);
    arena_destroy(arena);
    return gpus;
}
