#include "analysis/explain/elasticity.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/job/player/job.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/pool.h"

#define TENTH_LESS 0.9
#define TENTH_MORE 1.1
enum {
    REPLICATIONS = 8
};

static const struct {
    const char *key, *what;
} inputs[HARDWARE_INPUT_COUNT] = {
#define X(key, what) {#key, what},
    HARDWARE_INPUTS(X)
#undef X
};

/* The peak that most products of this run have (stands_on.h knows which), and the others. */
static bool scale_own_peak(struct configuration *c, double factor)
{
    c->gpu.peak_flops_per_s[c->training.precision->gemm_peak] *= factor;
    return true;
}

static bool scale_other_peaks(struct configuration *c, double factor)
{
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        c->gpu.peak_flops_per_s[i] *= i == c->training.precision->gemm_peak ? 1.0 : factor;
    return true;
}

static bool scale_attention(struct attention_curve (*of)[2], double factor)
{
    for (unsigned kernel = 0; kernel < ATTENTION_KERNEL_COUNT; kernel++)
        for (unsigned causal = 0; causal < 2; causal++)
            of[kernel][causal].ceiling_flops_per_s *= factor;
    return true;
}

static bool scale_attention_forward(struct configuration *c, double factor)
{
    return scale_attention(c->gpu.attention.forward, factor);
}

static bool scale_attention_backward(struct configuration *c, double factor)
{
    return scale_attention(c->gpu.attention.backward, factor);
}

/* Which figures an input is: one number, or several that are scaled together; lives are neither. */
#define NOWHERE SIZE_MAX
#define AT(member) offsetof(struct configuration, member)
static const struct input_figure {
    enum hardware_input input;
    const char *name;
    size_t at;
    bool (*scale)(struct configuration *c, double factor);
} figures[] = {
    {HARDWARE_flops, "gpu.peak_", NOWHERE, scale_own_peak},
    {HARDWARE_flops, "", NOWHERE, scale_other_peaks}, /* none that is named */
    {HARDWARE_flops, "gpu.attention_*_forward_rate=", NOWHERE, scale_attention_forward},
    {HARDWARE_flops, "gpu.attention_*_backward_rate=", NOWHERE, scale_attention_backward},
    {HARDWARE_flops, "gpu.clock=", AT(gpu.clock_hz), NULL},
    {HARDWARE_hbm_bandwidth, "gpu.hbm_bandwidth=", AT(gpu.hbm.bytes_per_s), NULL},
    {HARDWARE_hbm_size, "gpu.usable_hbm=", AT(gpu.hbm.usable_bytes), NULL},
    {HARDWARE_hbm_size, "gpu.hbm=", AT(gpu.hbm.bytes), NULL},
    {HARDWARE_power, "gpu.power=", AT(gpu.power.cap_w), NULL},
    {HARDWARE_nvlink, "node.nvlink_bandwidth=", AT(cluster.node.nvlink.bytes_per_s), NULL},
    {HARDWARE_nic, "node.nic_bandwidth=", AT(cluster.node.nic.bytes_per_s), NULL},
    {HARDWARE_nic, "fabric.nic=", AT(cluster.fabric.nic_bytes_per_s), NULL},
    {HARDWARE_pcie, "node.pcie_bandwidth=", AT(cluster.node.pcie.bytes_per_s), NULL},
    {HARDWARE_pcie, "node.host_bandwidth=", AT(cluster.node.pcie.host_bytes_per_s), NULL},
    {HARDWARE_latency, "node.nvlink_latency=", AT(cluster.node.nvlink.latency_s), NULL},
    {HARDWARE_latency, "node.pcie_latency=", AT(cluster.node.pcie.latency_s), NULL},
    {HARDWARE_latency, "node.nic_latency=", AT(cluster.node.nic.latency_s), NULL},
    {HARDWARE_latency, "node.collective_start=", AT(cluster.node.collective_start_s), NULL},
    {HARDWARE_latency, "fabric.latency=", AT(cluster.fabric.latency_s), NULL},
    {HARDWARE_latency, "fabric.bulk_latency=", AT(cluster.fabric.bulk_latency_s), NULL},
    {HARDWARE_latency, "fabric.switch_latency=", AT(cluster.fabric.switch_latency_s), NULL},
    {HARDWARE_kernel_start, "gpu.kernel_start=", AT(gpu.kernel_start_s), NULL},
    {HARDWARE_host, "software.launch=", AT(software.host.launch_s), NULL},
    {HARDWARE_host, "software.pass_host=", AT(software.host.pass_s), NULL},
    {HARDWARE_host, "software.optimizer_host=", AT(software.host.optimizer_s), NULL},
    {HARDWARE_host, "software.data_host=", AT(software.host.data_s), NULL},
    {HARDWARE_host, "software.tp_exposed_host=", AT(software.tensor.exposed_host_s), NULL},
    {HARDWARE_host, "software.p2p_sync=", AT(software.pipeline.sync_s), NULL},
    {HARDWARE_mtbf, "failures.mtbf=", NOWHERE, NULL},
};
enum {
    FIGURE_COUNT = sizeof figures / sizeof figures[0]
};

/* False where it is 0. */
static bool scale_figure(struct configuration *c, const struct input_figure *figure, double factor)
{
    if (figure->scale != NULL)
        return figure->scale(c, factor);
    if (figure->at == NOWHERE)
        return false;
    double *value = (double *)(void *)((char *)c + figure->at);
    *value *= factor;
    return *value > 0.0;
}

bool elasticity_scale(struct configuration *c, enum hardware_input input, double factor)
{
    bool any = false;
    for (unsigned i = 0; i < FIGURE_COUNT; i++)
        if (figures[i].input == input && scale_figure(c, &figures[i], factor))
            any = true;
    return any && (input != HARDWARE_nic || c->cluster.nodes > 1);
}

struct outcome {
    bool known;
    double step_s, peak_bytes, cost; /* cost: GPU time, or money, of a token */
    struct error error;
};
struct nudge {
    enum hardware_input input;
    const struct input_figure *alone; /* NULL: all figures of the input */
};
struct nudging {
    const struct scenario *scenario;
    struct nudge nudges[FIGURE_COUNT];
    unsigned count;
    struct outcome *out; /* 0.9 x and 1.1 x of each; behind them as it is */
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
    if (index < 2 * (size_t)n->count) {
        const struct nudge *one = &n->nudges[index / 2];
        const double factor = index % 2 == 0 ? TENTH_LESS : TENTH_MORE;
        if (one->input == HARDWARE_mtbf)
            scale_mtbf(scratch, &changed, factor);
        else if (one->alone != NULL)
            scale_figure(&changed.configuration, one->alone, factor);
        else
            elasticity_scale(&changed.configuration, one->input, factor);
        if (one->input == HARDWARE_hbm_size && factor < 1.0)
            changed.configuration.gpu.hbm.usable_bytes =
                n->scenario->configuration.gpu.hbm.usable_bytes; /* time, whether it fits or not */
    }
    n->out[index].known = simulate(&changed, scratch, &n->out[index]);
}

static bool all_known(const struct nudging *n, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!n->out[i].known) {
            *error = n->out[i].error;
            return false;
        }
    }
    return true;
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

static void set_figures(const struct scenario *s, struct elasticity *row)
{
    struct configuration trial = s->configuration;
    for (unsigned i = 0; i < FIGURE_COUNT; i++) {
        if (figures[i].input != row->input ||
            (row->input != HARDWARE_mtbf && !scale_figure(&trial, &figures[i], 1.0)))
            continue;
        CHECK(row->figure_count < ELASTICITY_FIGURES_MAX);
        row->figures[row->figure_count++] = (struct elasticity_figure){figures[i].name, row->cost};
    }
}

static struct elasticity row_of(const struct nudging *n, unsigned at)
{
    const struct outcome *low = &n->out[2 * at], *high = low + 1, *base = &n->out[2 * n->count];
    const enum hardware_input input = n->nudges[at].input;
    struct elasticity row = {
        .input = input,
        .key = inputs[input].key,
        .what = inputs[input].what,
        .step = central(low->step_s, high->step_s),
        .memory = central(low->peak_bytes, high->peak_bytes),
        .cost = central(low->cost, high->cost),
        .step_low_s = low->step_s,
        .step_high_s = high->step_s,
        .cost_low_ratio = low->cost / base->cost,
        .cost_high_ratio = high->cost / base->cost,
    };
    set_figures(n->scenario, &row);
    return row;
}

static int by_effect(const void *a, const void *b)
{
    const struct elasticity *x = a, *y = b;
    if (fabs(x->cost) != fabs(y->cost))
        return fabs(x->cost) < fabs(y->cost) ? 1 : -1;
    return (int)x->input - (int)y->input;
}

static void gather(const struct nudging *n, struct elasticities *out)
{
    const double usable = n->scenario->configuration.gpu.hbm.usable_bytes;
    const struct outcome *base = &n->out[2 * n->count];
    *out = (struct elasticities){.count = n->count,
                                 .step_s = base->step_s,
                                 .headroom_bytes = usable - base->peak_bytes,
                                 .headroom_high_bytes = TENTH_MORE * usable - base->peak_bytes,
                                 .weeks = n->scenario->has_run};
    for (unsigned i = 0; i < n->count; i++)
        out->rows[i] = row_of(n, i);
    qsort(out->rows, out->count, sizeof *out->rows, by_effect);
}

/* Stable: there are few, and those that tie stand as in the table. */
static void sort_figures(struct elasticity *row)
{
    for (unsigned i = 1; i < row->figure_count; i++) {
        const struct elasticity_figure one = row->figures[i];
        unsigned at = i;
        for (; at > 0 && fabs(row->figures[at - 1].cost) < fabs(one.cost); at--)
            row->figures[at] = row->figures[at - 1];
        row->figures[at] = one;
    }
}

static const struct input_figure *figure_named(const char *name)
{
    unsigned i = 0;
    while (figures[i].name != name)
        i++;
    return &figures[i];
}

/* Where an input of several figures does anything: which of them. */
static bool ask_figures(struct nudging *n, unsigned threads, struct elasticities *e,
                        struct error *error)
{
    struct elasticity_figure *asked[FIGURE_COUNT];
    n->count = 0;
    for (unsigned i = 0; i < e->count; i++) {
        struct elasticity *row = &e->rows[i];
        for (unsigned k = 0; row->cost != 0.0 && row->figure_count > 1 && k < row->figure_count;
             k++) {
            asked[n->count] = &row->figures[k];
            n->nudges[n->count++] = (struct nudge){row->input, figure_named(row->figures[k].name)};
        }
    }
    pool_run_scratch(threads, 2 * (size_t)n->count, nudge, n);
    if (!all_known(n, 2 * (size_t)n->count, error))
        return false;
    for (unsigned i = 0; i < n->count; i++)
        asked[i]->cost = central(n->out[2 * i].cost, n->out[2 * i + 1].cost);
    for (unsigned i = 0; i < e->count; i++)
        sort_figures(&e->rows[i]);
    return true;
}

bool elasticity_find(const struct scenario *scenario, unsigned threads, struct elasticities *out,
                     struct error *error)
{
    struct arena *arena = arena_create();
    struct nudging n = {.scenario = scenario,
                        .out = ARENA_ARRAY(arena, struct outcome, 2 * FIGURE_COUNT + 1)};
    for (unsigned i = 0; i < HARDWARE_INPUT_COUNT; i++)
        if (has_input(scenario, (enum hardware_input)i))
            n.nudges[n.count++] = (struct nudge){(enum hardware_input)i, NULL};
    pool_run_scratch(threads, 2 * (size_t)n.count + 1, nudge, &n);
    bool good = all_known(&n, 2 * (size_t)n.count + 1, error);
    if (good) {
        gather(&n, out);
        good = ask_figures(&n, threads, out, error);
    }
    arena_destroy(arena);
    return good;
}
