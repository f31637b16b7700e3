/* Each row of the elasticities is two runs of its own: the scenario with the keys of that input
 * set to 0.9 and 1.1 of what they are, as `run --set` has it; over weeks, eight seeds of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/explain/elasticity.h"
#include "analysis/record/numbers/job_record.h"
#include "models/gpu/gpu_spec.h"
#include "models/step/simulate/step.h"
#include "tests/sanitized.h"
#include "tests/test.h"
#include "topology/topology.h"

enum {
    KEYS_MAX = 8,
    SEEDS = 8,
    SET_BYTES = 96
};
/* A transport with latencies of every sort. */
static const char two_nodes[] = "model: {layers: 4, hidden: 4096, heads: 32, vocabulary: 32k}\n"
                                "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: tcpxo-8x200}\n"
                                "training: {sequence: 2048, global_batch: 32}\n"
                                "layout: {tp: 8, pp: 1, dp: auto, microbatch: 1}\n";

struct key {
    const char *section, *name;
};
static const struct {
    enum hardware_input input;
    struct key keys[KEYS_MAX];
} sets[] = {
    {HARDWARE_hbm_bandwidth, {{"cluster.gpu", "hbm_bandwidth"}}},
    {HARDWARE_power, {{"cluster.gpu", "power"}}},
    {HARDWARE_kernel_start, {{"cluster.gpu", "kernel_start"}}},
    {HARDWARE_nvlink, {{"cluster.node", "nvlink_bandwidth"}}},
    {HARDWARE_nic, {{"cluster.fabric", "nic"}}}, /* in place of the node's */
    {HARDWARE_pcie, {{"cluster.node", "pcie_bandwidth"}, {"cluster.node", "host_bandwidth"}}},
    {HARDWARE_latency,
     {{"cluster.node", "nvlink_latency"},
      {"cluster.node", "pcie_latency"},
      {"cluster.node", "nic_latency"},
      {"cluster.node", "collective_start"},
      {"cluster.fabric", "latency"},
      {"cluster.fabric", "bulk_latency"},
      {"cluster.fabric", "switch_latency"}}},
};

static const void *table_of(const struct configuration *c, const char *section,
                            const struct param **rows, unsigned *count)
{
    if (strcmp(section, "cluster.gpu") == 0) {
        *rows = gpu_params;
        *count = gpu_param_count;
        return &c->gpu;
    }
    const bool node = strcmp(section, "cluster.node") == 0;
    *rows = node ? node_params : fabric_params;
    *count = node ? node_param_count : fabric_param_count;
    return node ? (const void *)&c->cluster.node : &c->cluster.fabric;
}

/* "cluster.node.nic_bandwidth=4.5e10B/s" */
static void write_set(const struct configuration *c, const struct key *key, double factor,
                      char out[SET_BYTES])
{
    const struct param *rows;
    unsigned count, at = 0;
    const char *spec = table_of(c, key->section, &rows, &count);
    while (at < count && strcmp(rows[at].name, key->name) != 0)
        at++;
    assert_true(at < count);
    const double value = *(const double *)(const void *)(spec + rows[at].offset);
    const char *unit = rows[at].type == PARAM_TIME    ? "s"
                       : rows[at].type == PARAM_POWER ? "W"
                                                      : "B/s";
    snprintf(out, SET_BYTES, "%s.%s=%.17g%s", key->section, key->name, value * factor, unit);
}

static struct scenario *read_with(const char *text, const struct scenario_options *how)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t", text, strlen(text), how, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static double step_of(const struct scenario *s)
{
    const struct step_options options = {.threads = 1};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(&s->configuration, &options, &step, &error));
    const double seconds = step->step_s;
    step_destroy(step);
    return seconds;
}

static double run_keys(const struct scenario *base, const struct key *keys, unsigned count,
                       double factor)
{
    char texts[KEYS_MAX][SET_BYTES];
    const char *given[KEYS_MAX];
    struct scenario_options how = {.sets = given};
    for (; how.set_count < count; how.set_count++) {
        write_set(&base->configuration, &keys[how.set_count], factor, texts[how.set_count]);
        given[how.set_count] = texts[how.set_count];
    }
    struct scenario *s = read_with(base->file.text, &how);
    const double seconds = step_of(s);
    scenario_destroy(s);
    return seconds;
}

static unsigned keys_of(unsigned row)
{
    unsigned count = 0;
    while (count < KEYS_MAX && sets[row].keys[count].name != NULL)
        count++;
    return count;
}

static double run_with(const struct scenario *base, unsigned row, double factor)
{
    return run_keys(base, sets[row].keys, keys_of(row), factor);
}

static const struct elasticity *find(const struct elasticities *e, enum hardware_input input)
{
    for (unsigned i = 0; i < e->count; i++)
        if (e->rows[i].input == input)
            return &e->rows[i];
    fail_msg("no row %u", (unsigned)input);
    return NULL;
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static void rows_are_runs_with_set(void **state)
{
    struct scenario *s = read_with(two_nodes, NULL);
    struct elasticities e;
    struct error error = {""};
    assert_true(elasticity_find(s, 1, &e, &error));
    near(e.step_s, step_of(s));
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i += SANITIZED_EVERY(3)) {
        const struct elasticity *row = find(&e, sets[i].input);
        const double low_s = run_with(s, i, 0.9), high_s = run_with(s, i, 1.1);
        near(row->step_low_s, low_s);
        near(row->step_high_s, high_s);
        assert_true(fabs(row->step - log(high_s / low_s) / log(1.1 / 0.9)) < 1e-9);
        near(row->cost_low_ratio, low_s / e.step_s);
        near(row->cost_high_ratio, high_s / e.step_s);
    }
    scenario_destroy(s);
}

/* "node.nic_latency=" is cluster.node.nic_latency. */
static const struct elasticity_figure *figure_of(const struct elasticity *row,
                                                 const struct key *key)
{
    char name[SET_BYTES];
    snprintf(name, sizeof name, "%s.%s=", strchr(key->section, '.') + 1, key->name);
    for (unsigned i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].name, name) == 0)
            return &row->figures[i];
    return NULL;
}

static void figures_alone_are_runs_with_one_set(void **state)
{
    struct scenario *s = read_with(two_nodes, NULL);
    struct elasticities e;
    struct error error = {""};
    unsigned several = 0;
    assert_true(elasticity_find(s, 2, &e, &error));
    for (unsigned i = 0; i < sizeof sets / sizeof sets[0]; i += SANITIZED_EVERY(3)) {
        const struct elasticity *row = find(&e, sets[i].input);
        double sum = 0.0;
        for (unsigned k = 0; k < keys_of(i); k++) {
            const struct elasticity_figure *figure = figure_of(row, &sets[i].keys[k]);
            const double low_s = run_keys(s, &sets[i].keys[k], 1, 0.9);
            const double high_s = run_keys(s, &sets[i].keys[k], 1, 1.1);
            const double cost = log(high_s / low_s) / log(1.1 / 0.9);
            assert_true(figure == NULL ? cost == 0.0 : fabs(figure->cost - cost) < 1e-9);
            sum += cost;
        }
        for (unsigned k = 1; k < row->figure_count; k++)
            assert_true(fabs(row->figures[k].cost) <= fabs(row->figures[k - 1].cost));
        several += row->figure_count > 1 && row->cost != 0.0;
        if (sets[i].input == HARDWARE_latency)
            assert_true(fabs(sum - row->cost) < 0.01 * row->cost);
    }
    assert_true(several > 0 || SANITIZED_EVERY(3) > 1);
    scenario_destroy(s);
}

static const char weeks_text[] =
    "model: {layers: 2, hidden: 1024, heads: 8, vocabulary: 32k}\n"
    "cluster: {gpu: h100-80gb-sxm, nodes: 2}\n"
    "training: {sequence: 2048, global_batch: 32, tokens: 20T}\n"
    "layout: {tp: 8, pp: 1, dp: auto, microbatch: 1}\n"
    "run: {duration: 20d}\nfailures: [{cause: GPU, unit: gpu, mtbf: 3d}]\n"
    "checkpoint: {policy: sync, interval: 20min}\ncost: {gpu_hour: 2USD}\n";

/* Money by kept tokens of eight seeds, each a run of its own. */
static double paid_by_runs(struct scenario *s)
{
    const uint64_t first = s->configuration.seed;
    double paid = 0.0, tokens = 0.0;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct job_record *record = NULL;
        struct error error = {""};
        s->configuration.seed = first + i;
        assert_true(job_record_play(s, false, (struct job_watches){NULL, NULL}, &record, &error));
        paid += record->result.cost_usd;
        tokens += record->result.tokens_completed;
        job_record_destroy(record);
    }
    s->configuration.seed = first;
    return paid / tokens;
}

static void weeks_are_eight_runs(void **state)
{
    static const char *const rare[] = {"failures=[{cause: GPU, unit: gpu, mtbf: 3.3d}]"};
    static const char *const often[] = {"failures=[{cause: GPU, unit: gpu, mtbf: 2.7d}]"};
    struct scenario *s = read_with(weeks_text, NULL);
    struct scenario *low = read_with(weeks_text, &(struct scenario_options){.sets = often, 1});
    struct scenario *high = read_with(weeks_text, &(struct scenario_options){.sets = rare, 1});
    struct elasticities e;
    struct error error = {""};
    assert_true(elasticity_find(s, 2, &e, &error) && e.weeks);
    const double paid = paid_by_runs(s);
    const struct elasticity *row = find(&e, HARDWARE_mtbf);
    near(row->cost_low_ratio, paid_by_runs(low) / paid);
    near(row->cost_high_ratio, paid_by_runs(high) / paid);
    assert_true(row->cost_low_ratio > row->cost_high_ratio && row->step == 0.0);
    scenario_destroy(high);
    scenario_destroy(low);
    scenario_destroy(s);
}

/* A card that is nearly full: with less memory the caching allocator gives back what it caches, and
 * holds less; with a tenth more it keeps it. */
static void more_memory_is_held_where_there_is_more(void **state)
{
    struct scenario *s =
        read_with("model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 50k}\n"
                  "cluster: {gpu: a100-40gb-sxm, gpus: 1}\nsoftware: megatron-2021\n"
                  "training: {sequence: 2048, global_batch: 12}\n"
                  "layout: {tp: 1, pp: 1, dp: 1, microbatch: 4}\n",
                  NULL);
    double peaks[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct step_options options = {.threads = 1};
        struct step *step;
        struct error error = {""};
        assert_true(step_run(&s->configuration, &options, &step, &error) && step->fits);
        peaks[i] = step->peak.reserved_bytes;
        s->configuration.gpu.hbm.usable_bytes = 0.99 * peaks[0];
        step_destroy(step);
    }
    struct elasticities e;
    struct error error = {""};
    assert_true(peaks[1] < peaks[0] && elasticity_find(s, 1, &e, &error));
    near(find(&e, HARDWARE_hbm_size)->memory, log(peaks[0] / peaks[1]) / log(1.1 / 0.9));
    near(e.headroom_bytes, 0.99 * peaks[0] - peaks[1]);
    near(e.headroom_high_bytes, 1.1 * 0.99 * peaks[0] - peaks[1]);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_runs_with_set),
        cmocka_unit_test(figures_alone_are_runs_with_one_set),
        cmocka_unit_test(weeks_are_eight_runs),
        cmocka_unit_test(more_memory_is_held_where_there_is_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
