/* The smallest cluster that holds the state and what a step of the scenario's batch keeps.
 *
 * Sizes are tried in ascending order: up to a node every count, then whole nodes. For a size every
 * tp that divides the heads and stays inside a node, every cp, and every pp up to the layers, is a
 * layout, where ep is open with every ep that divides the experts; the rest is dp. An interleaved
 * schedule becomes 1f1b, which holds less. A size is skipped when the plain sum of the
 * model state cannot fit, and where no layout divides the scenario's batch. How long a step would
 * take is not asked here. */
#include "models/plan/minimum.h"

#include <math.h>

#include "models/plan/choice_rules.h"
#include "models/plan/plan_space.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"

enum {
    EFFORT_MAX = 1 << 23, /* layouts looked at, and layer passes lowered: some tens of seconds */
    CONTEXT_DOUBLINGS = 6
};

/* Memory of all stages and hosts; only time can be refused. */
static bool holds(const struct configuration *c, double usable_bytes)
{
    struct step_options options = {.fits_only = true, .usable_bytes = usable_bytes};
    struct error error;
    struct step *step = NULL;
    CHECK(step_run(c, &options, &step, &error));
    bool fits = step->fits;
    step_destroy(step);
    return fits;
}

static uint64_t whole_node(const struct configuration *c)
{
    return topology_whole_node(&c->cluster.node);
}

/* The search and what it knows. A split (tp, pp, cp) whose failure is known is asked once more with
 * the largest dp that the batch allows: what the first stage allocates does not grow with dp, but
 * for the communicator between shard groups, so what is too much there is too much at every size.
 * What the allocator reserves beyond that can grow, as blocks happen to fall, and is no reason. */
struct minimum_search {
    const struct configuration *c; /* what does not depend on the split is chosen */
    struct arena *arena;
    unsigned open;
    uint64_t limit, effort_left;
    bool *hopeless, *asked; /* [split]: see split_row */
    struct configuration found;
};
struct minimum_split {
    uint64_t tp, pp, cp;
};

static bool is_open(const struct minimum_search *s, enum choice_key key)
{
    return (s->open >> key & 1u) != 0;
}

static size_t split_row(const struct minimum_search *s, const struct minimum_split *split)
{
    unsigned doublings = 0; /* cp */
    while (split->cp >> (doublings + 1) > 0)
        doublings++;
    return (split->tp * (s->c->model.layers + 1) + split->pp) * (CONTEXT_DOUBLINGS + 1) + doublings;
}

/* The scenario on `gpus` GPUs so split, the rest data parallel. */
static struct configuration with_layout(const struct minimum_search *s, uint64_t gpus,
                                        const struct minimum_split *split, uint64_t ep)
{
    struct configuration trial = *s->c;
    uint64_t node = whole_node(s->c);
    trial.cluster.gpus = 0;
    trial.cluster.nodes = (gpus + node - 1) / node;
    trial.cluster.node.gpus = gpus < node ? gpus : node;
    trial.layout.tp = split->tp;
    trial.layout.pp = split->pp;
    trial.layout.cp = split->cp;
    trial.layout.dp = gpus / (split->tp * split->pp * split->cp);
    trial.layout.ep = ep;
    if (is_open(s, CHOICE_ETP) && split->tp > 1)
        trial.layout.etp = plan_share_etp(&trial, ep);
    trial.layout.pipeline.first_layers = trial.layout.pipeline.last_layers = 0;
    if (trial.layout.pipeline.schedule->interleaved) { /* chunks buy time with memory */
        trial.layout.pipeline.schedule = &schedule_one_f_one_b;
        trial.layout.pipeline.vpp = 1;
    }
    choice_settle(s->arena, s->open, &trial);
    return trial;
}

static bool spend(struct minimum_search *s, uint64_t effort)
{
    s->effort_left -= effort < s->effort_left ? effort : s->effort_left;
    return s->effort_left > 0;
}

static bool shares_are_open(const struct minimum_search *s)
{
    return is_open(s, CHOICE_EP) && s->c->model.moe.experts > 0;
}

/* Numbers of ranks that may share the experts, from one on; 0: there is no other. */
static uint64_t first_share(const struct minimum_search *s)
{
    return shares_are_open(s) ? 1 : s->c->layout.ep;
}

static uint64_t next_share(const struct minimum_search *s, uint64_t ep)
{
    return shares_are_open(s) ? plan_share_after(s->c, ep) : 0;
}

static bool share_holds(struct minimum_search *s, const struct configuration *trial)
{
    const double usable_bytes = trial->gpu.hbm.usable_bytes;
    struct configuration few = *trial;
    trial_shorten(&few);
    return trial_state_may_fit(trial, usable_bytes) && configuration_legal(trial) &&
           spend(s, s->c->model.layers) && !trial_first_stage(&few, usable_bytes).failure.failed &&
           spend(s, s->c->model.layers * trial->layout.pp) && holds(&few, usable_bytes) &&
           (!trial->layout.pipeline.schedule->holds_all ||
            (spend(s, trial_passes(trial)) &&
             !trial_first_stage(trial, usable_bytes).failure.failed && holds(trial, usable_bytes)));
}

static bool split_holds(struct minimum_search *s, uint64_t gpus, const struct minimum_split *split)
{
    uint64_t ep = first_share(s);
    do {
        const struct configuration trial = with_layout(s, gpus, split, ep);
        if (share_holds(s, &trial)) {
            s->found = trial;
            return true;
        }
        ep = next_share(s, ep);
    } while (ep > 0);
    return false;
}

/* On a card without end. A size at which the layout breaks a rule tells nothing of the others. */
static bool share_is_too_much(struct minimum_search *s, const struct configuration *trial)
{
    struct configuration few = *trial;
    double room = trial->gpu.hbm.usable_bytes;
    trial_shorten(&few);
    room += trial->layout.data.sharding->hybrid ? trial->software.memory.communicator_bytes : 0.0;
    if (!configuration_legal(trial))
        return false;
    if (!trial_state_may_fit(trial, trial->gpu.hbm.usable_bytes))
        return true;
    return spend(s, s->c->model.layers) &&
           trial_first_stage(&few, INFINITY).peak_allocated_bytes > room;
}

static bool split_is_too_much(struct minimum_search *s, uint64_t gpus,
                              const struct minimum_split *split)
{
    uint64_t ep = first_share(s);
    do {
        const struct configuration trial = with_layout(s, gpus, split, ep);
        if (!share_is_too_much(s, &trial))
            return false;
        ep = next_share(s, ep);
    } while (ep > 0);
    return true;
}

/* The largest size up to the limit that is whole nodes and whole replicas that divide the batch;
 * 0: none. Its replicas keep the fewest microbatches. */
static uint64_t largest(const struct minimum_search *s, uint64_t model_ranks)
{
    const uint64_t sequences = s->c->training.global_batch / s->c->layout.microbatch,
                   most = s->limit / model_ranks;
    for (uint64_t dp = most < sequences ? most : sequences; dp > 0; dp--)
        if (sequences % dp == 0 && dp * model_ranks % whole_node(s->c) == 0)
            return dp * model_ranks;
    return 0;
}

static bool try_split(struct minimum_search *s, uint64_t gpus, const struct minimum_split *split)
{
    const size_t row = split_row(s, split);
    if (s->hopeless[row])
        return false;
    if (split_holds(s, gpus, split))
        return true;
    uint64_t most = s->asked[row] ? 0 : largest(s, split->tp * split->pp * split->cp);
    s->asked[row] = true;
    s->hopeless[row] = most > gpus && split_is_too_much(s, most, split);
    return false;
}

static bool size_holds(struct minimum_search *s, uint64_t gpus)
{
    struct plan_splits at = {.gpus = gpus,
                             .heads = s->c->model.attention.heads,
                             .tp = {1, whole_node(s->c)},
                             .cp = {1, 1u << CONTEXT_DOUBLINGS},
                             .pp = {1, s->c->model.layers}};
    for (uint64_t before = 0; plan_splits_next(&at); before = at.looked) {
        if (!spend(s, at.looked - before))
            return false;
        if (try_split(s, gpus, &(struct minimum_split){at.at_tp, at.at_pp, at.at_cp}))
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

/* Of the keys that are open and do not depend on the split: what holds least. */
static struct configuration leanest(const struct configuration *c, unsigned open)
{
    const unsigned recompute = 1u << CHOICE_RECOMPUTE | 1u << CHOICE_RECOMPUTE_LAYERS;
    struct configuration lean = *c;
    if ((open >> CHOICE_MICROBATCH & 1u) != 0)
        lean.layout.microbatch = 1;
    if ((open & recompute) == recompute) {
        lean.layout.recompute = RECOMPUTE_FULL;
        lean.layout.recompute_layers = 0;
    }
    return lean;
}

uint64_t minimum_layout(const struct configuration *c, unsigned open, uint64_t limit,
                        struct configuration *out)
{
    uint64_t node = whole_node(c), heads = c->model.attention.heads;
    size_t pairs = ((node < heads ? node : heads) + 1) * (c->model.layers + 1);
    struct arena *arena = arena_create();
    const struct configuration lean = leanest(c, open);
    struct minimum_search s = {
        .c = &lean,
        .arena = arena,
        .open = open,
        .limit = limit < TOPOLOGY_GPU_MAX ? limit : TOPOLOGY_GPU_MAX,
        .effort_left = EFFORT_MAX,
        .hopeless = ARENA_ARRAY(arena, bool, pairs *(CONTEXT_DOUBLINGS + 1)),
        .asked = ARENA_ARRAY(arena, bool, pairs *(CONTEXT_DOUBLINGS + 1)),
    };
    uint64_t gpus = search_sizes(&s);
    *out = s.found;
    arena_destroy(arena);
    return gpus;
}

uint64_t minimum_gpus(const struct configuration *c, unsigned open, uint64_t limit)
{
    struct configuration found;
    return minimum_layout(c, open, limit, &found);
}

unsigned minimum_held(const struct configuration *c, unsigned open)
{
    unsigned kept = 1u << CHOICE_SEQUENCE_PARALLEL | 1u << CHOICE_SHARDING | 1u << CHOICE_SCHEDULE |
                    1u << CHOICE_RECOMPUTE | 1u << CHOICE_RECOMPUTE_LAYERS |
                    1u << CHOICE_MICROBATCH;
    if (c->model.moe.experts > 0)
        kept |= 1u << CHOICE_EP | 1u << CHOICE_ETP;
    return kept & ~open;
}
