#include "analysis/explain/elasticity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/job/player/job.h"
#include "models/step/simulate/step.h"
#include "sim/pool.h"

#define TENTH_LESS 0.9
#define TENTH_MORE 1.1
enum {
    REPLICATIONS = 8
};

static const struct {
    const char *key, *figures, *what;
} inputs[HARDWARE_INPUT_COUNT] = {
#define X(key, figures, what) {#key, figures, what},
    HARDWARE_INPUTS(X)
#undef X
};

static bool scale_all(double *const *values, unsigned count, double factor)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        any = any || *values[i] > 0.0;
        *values[i] *= factor;
    }
    return any;
}
#define SCALE(...)                                                                                 \
    scale_all((double *const[]){__VA_ARGS__},                                                      \
              sizeof((double *const[]){__VA_ARGS__}) / sizeof(double *), factor)

static bool scale_arithmetic(struct gpu_spec *gpu, double factor)
{
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        gpu->peak_flops_per_s[i] *= factor;
    for (unsigned kernel = 0; kernel < ATTENTION_KERNEL_COUNT; kernel++) {
        for (unsigned causal = 0; causal < 2; causal++) {
            gpu->attention.forward[kernel][causal].ceiling_flops_per_s *= factor;
            gpu->attention.backward[kernel][causal].ceiling_flops_per_s *= factor;
        }
    }
    gpu->clock_hz *= factor;
    return true;
}

bool elasticity_scale(struct configuration *c, enum hardware_input input, double factor)
{
    struct gpu_spec *gpu = &c->gpu;
    struct node_spec *node = &c->cluster.node;
    struct fabric_spec *fabric = &c->cluster.fabric;
    struct software_profile *software = &c->software;
    switch (input) {
    case HARDWARE_flops:
        return scale_arithmetic(gpu, factor);
    case HARDWARE_hbm_bandwidth:
        return SCALE(&gpu->hbm.bytes_per_s);
    case HARDWARE_hbm_size:
        return SCALE(&gpu->hbm.bytes, &gpu->hbm.usable_bytes);
    case HARDWARE_power:
        return SCALE(&gpu->power.cap_w);
    case HARDWARE_nvlink:
        return SCALE(&node->nvlink.bytes_per_s);
    case HARDWARE_nic:
        return SCALE(&node->nic.bytes_per_s, &fabric->nic_bytes_per_s) && c->cluster.nodes > 1;
    case HARDWARE_pcie:
        return SCALE(&node->pcie.bytes_per_s, &node->pcie.host_bytes_per_s);
    case HARDWARE_latency:
        return SCALE(&node->nvlink.latency_s, &node->pcie.latency_s, &node->nic.latency_s,
                     &node->collective_start_s, &fabric->latency_s, &fabric->bulk_latency_s,
                     &fabric->switch_latency_s);
    case HARDWARE_kernel_start:
        return SCALE(&gpu->kernel_start_s);
    case HARDWARE_host:
        return SCALE(&software->host.launch_s, &software->host.pass_s, &software->host.optimizer_s,
                     &software->host.data_s, &software->tensor.exposed_host_s,
                     &software->pipeline.sync_s);
    case HARDWARE_mtbf:
    case HARDWARE_INPUT_COUNT:
        break;
    }
    return false;
}

struct outcome {
    bool known;
    double step_s, peak_bytes, cost; /* cost: GPU time, or money, of a token */
    struct error error;
};
struct nudging {
    const struct scenario *scenario;
    enum hardware_input inputs[HARDWARE_INPUT_COUNT];
    unsigned count;
    struct outcome *out; /* [0]: as it is; then 0.9 x and 1.1 x of each */
};

/* Longer lives: laws are stated by their means, and so are the causes. */
static void scale_mtbf(struct arena *scratch, struct scenario *s, double factor)
{
    struct failure_cause *causes =
        ARENA_ARRAY(scratch, struct failure_cause, s->job.cause_count + 1);
    for (uint32_t i = 0; i < s->job.cause_count; i++) {
        causes[i] = s->job.causes[i];
        causes[i].mtbf_s *= factor;
    }
    s->job.causes = causes;
}

/* Price, or wall clock where no price is known, of a kept token over all replications. */
static bool play_weeks(const struct scenario *s, double *cost, struct error *error)
{
    struct condition_table *conditions = condition_create(&s->configuration, error);
    struct job_spec spec;
    struct job_result played;
    double paid = 0.0, tokens = 0.0;
    if (conditions == NULL)
        return false;
    scenario_job(s, conditions, NULL, &spec);
    for (uint64_t i = 0; i < REPLICATIONS; i++) {
        job_run(&spec, conditions, s->configuration.seed + i, NULL, &played);
        paid += isfinite(played.cost_usd) ? played.cost_usd : played.wall_s;
        tokens += played.tokens_completed;
    }
    condition_destroy(conditions);
    *cost = paid / tokens;
    return tokens > 0.0 || error_set(error, "the weeks keep no step");
}

static bool simulate(const struct scenario *s, struct arena *scratch, struct outcome *out)
{
    const struct step_options options = {.arena = scratch, .threads = 1};
    struct step *step;
    if (!step_run(&s->configuration, &options, &step, &out->error))
        return false;
    const bool timed = step->fits && step->worker != NULL;
    out->step_s = step->step_s;
    out->peak_bytes = step->peak.reserved_bytes;
    step_destroy(step);
    if (!timed)
        return error_set(&out->error, "it does not fit in memory");
    out->cost = out->step_s / configuration_tokens(&s->configuration);
    return !s->has_run || play_weeks(s, &out->cost, &out->error);
}

static void nudge(void *context, size_t index, struct arena *scratch)
{
    const struct nudging *n = context;
    struct scenario changed = *n->scenario;
    if (index > 0) {
        const enum hardware_input input = n->inputs[(index - 1) / 2];
        const double factor = (index - 1) % 2 == 0 ? TENTH_LESS : TENTH_MORE;
        if (input == HARDWARE_mtbf)
            scale_mtbf(scratch, &changed, factor);
        else
            elasticity_scale(&changed.configuration, input, factor);
        if (input == HARDWARE_hbm_size && factor < 1.0)
            changed.configuration.gpu.hbm.usable_bytes =
                n->scenario->configuration.gpu.hbm.usable_bytes; /* time, whether it fits or not */
    }
    n->out[index].known = simulate(&changed, scratch, &n->out[index]);
}

static bool has_input(const struct scenario *s, enum hardware_input input)
{
    struct configuration trial = s->configuration;
    if (input != HARDWARE_mtbf)
        return elasticity_scale(&trial, input, 1.0);
    bool stated = false;
    for (uint32_t i = 0; s->has_run && i < s->job.cause_count; i++)
        stated = stated || s->job.causes[i].trace_count == 0;
    return stated;
}

static double central(double low, double high)
{
    return low > 0.0 && high > 0.0 ? log(high / low) / log(TENTH_MORE / TENTH_LESS) : 0.0;
}

static struct elasticity row_of(enum hardware_input input, const struct outcome *base,
                                const struct outcome *low, const struct outcome *high)
{
    return (struct elasticity){
        .input = input,
        .key = inputs[input].key,
        .figures = inputs[input].figures,
        .what = inputs[input].what,
        .step = central(low->step_s, high->step_s),
        .memory = central(low->peak_bytes, high->peak_bytes),
        .cost = central(low->cost, high->cost),
        .step_low_s = low->step_s,
        .step_high_s = high->step_s,
        .cost_low_ratio = low->cost / base->cost,
        .cost_high_ratio = high->cost / base->cost,
    };
}

static int by_effect(const void *a, const void *b)
{
    const struct elasticity *x = a, *y = b;
    if (fabs(x->cost) != fabs(y->cost))
        return fabs(x->cost) < fabs(y->cost) ? 1 : -1;
    return (int)x->input - (int)y->input;
}

static bool gather(const struct nudging *n, struct elasticities *out, struct error *error)
{
    for (unsigned i = 0; i < 2 * n->count + 1; i++) {
        if (!n->out[i].known) {
            *error = n->out[i].error;
            return false;
        }
    }
    const double usable = n->scenario->configuration.gpu.hbm.usable_bytes;
    *out = (struct elasticities){.count = n->count,
                                 .step_s = n->out[0].step_s,
                                 .headroom_bytes = usable - n->out[0].peak_bytes,
                                 .headroom_high_bytes = TENTH_MORE * usable - n->out[0].peak_bytes,
                                 .weeks = n->scenario->has_run};
    for (unsigned i = 0; i < n->count; i++)
        out->rows[i] = row_of(n->inputs[i], &n->out[0], &n->out[2 * i + 1], &n->out[2 * i + 2]);
    qsort(out->rows, out->count, sizeof *out->rows, by_effect);
    return true;
}

bool elasticity_find(const struct scenario *scenario, unsigned threads, struct elasticities *out,
                     struct error *error)
{
    struct arena *arena = arena_create();
    struct nudging n = {.scenario = scenario,
                        .out = ARENA_ARRAY(arena, struct outcome, 2 * HARDWARE_INPUT_COUNT + 1)};
    for (unsigned i = 0; i < HARDWARE_INPUT_COUNT; i++)
        if (has_input(scenario, (enum hardware_input)i))
            n.inputs[n.count++] = (enum hardware_input)i;
    pool_run_scratch(threads, 2 * (size_t)n.count + 1, nudge, &n);
    const bool good = gather(&n, out, error);
    arena_destroy(arena);
    return good;
}
