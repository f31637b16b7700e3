/* Which stage a slow unit slows: GPUs by their number in the node, NICs by the first of the GPUs
 * that share them, by the place in the job where the node stands. */
#include <math.h>

#include "sim/units.h"
#include "tests/models/job/job_case.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

enum {
    STEPS = 10
};

/* Two stages, the last of which has a head that is four times a layer: a slow card in it costs more
 * than one in the first. */
static struct condition_table *uneven_stages(void)
{
    static struct configuration c;
    struct error error;
    c = lower_case();
    lower_case_size(&c, 4, 1, 4, 2, 4);
    c.model.hidden = 1024;
    c.model.attention.head_size = 128;
    c.model.ffn_hidden = 4096;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.cluster.node.pcie.bytes_per_s = 25 * GIGA;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    c.model.vocabulary = 65536;
    struct condition_table *table = condition_create(&c, &error);
    assert_non_null(table);
    return table;
}

static double slow_step_s(struct condition_table *table, uint32_t stage, bool link)
{
    struct condition condition = condition_ideal;
    condition.slow_count = 1;
    condition.slow[0] = (struct condition_slow){stage, link, 0.5};
    return condition_step_s(table, &condition);
}

/* Nodes of eight GPUs and `nics` NICs; the last two GPUs of the first serve stage 1, and all of the
 * second but three. The first step is under way when the unit becomes slow. */
static void check_unit(struct condition_table *table, int unit_kind, uint32_t nics, uint32_t unit,
                       uint32_t stage)
{
    static const uint32_t stage_of_gpu[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
    double step_s = condition_step_s(table, &condition_ideal);
    struct trace_event event = {.at_s = 0.5 * step_s, .unit = unit};
    struct job_case job;
    struct job_result out;
    job_case_make(&job, STEPS * step_s, step_s);
    condition_destroy(job.conditions);
    job.conditions = table;
    job_case_nodes(&job, 2, 1, "restart-in-place");
    job.spec.nics_per_node = nics;
    job.spec.stage_of_gpu = stage_of_gpu;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, unit_kind);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->detect.mean_s = 1e9;
    job_case_play(&job, 1, &out);
    double expected_s = step_s + (STEPS - 1) * slow_step_s(table, stage, false);
    if (!(fabs(out.wall_s / expected_s - 1.0) <= 1e-9))
        fail_msg("unit %u of %u NICs: %.9g s, expected %.9g s", unit, nics, out.wall_s, expected_s);
}

static void test_stages_of_units(void **state)
{
    static const struct {
        int kind;
        uint32_t nics, unit, stage;
    } rows[] = {
        {UNIT_GPU, 8, 0, 0},  {UNIT_GPU, 8, 5, 0},  {UNIT_GPU, 8, 6, 1},
        {UNIT_GPU, 8, 7, 1},  {UNIT_GPU, 8, 11, 0}, {UNIT_GPU, 8, 12, 1}, /* of the second node */
        {UNIT_NIC, 8, 5, 0},  {UNIT_NIC, 8, 6, 1},  {UNIT_NIC, 8, 13, 1},
        {UNIT_NIC, 4, 2, 0},  {UNIT_NIC, 4, 3, 1}, /* GPUs 6 and 7 share it */
        {UNIT_NIC, 4, 5, 0},  {UNIT_NIC, 4, 6, 1}, /* of the second node: GPUs 2 and 4 */
        {UNIT_NIC, 2, 1, 0},  {UNIT_NIC, 2, 3, 1}, /* four GPUs each: GPU 4 of each node */
        {UNIT_NIC, 1, 0, 0},  {UNIT_NIC, 1, 1, 1},  {UNIT_NODE, 8, 0, 0},
        {UNIT_NODE, 8, 1, 1}, {UNIT_JOB, 8, 0, 0}, /* the first GPU of all */
    };
    struct condition_table *table = uneven_stages();
    assert_true(slow_step_s(table, 1, false) > slow_step_s(table, 0, false) * 1.01);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_unit(table, rows[i].kind, rows[i].nics, rows[i].unit, rows[i].stage);
    condition_destroy(table);
}

/* A slow link is the NIC's, not the card's. */
static void test_slow_link(void **state)
{
    struct condition_table *table = uneven_stages();
    double step_s = condition_step_s(table, &condition_ideal);
    const struct trace_event event = {.at_s = 0.5 * step_s};
    struct job_case job;
    struct job_result out;
    job_case_make(&job, STEPS * step_s, step_s);
    condition_destroy(job.conditions);
    job.conditions = table;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NIC);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->slow_link = true;
    cause->detect.mean_s = 1e9;
    job_case_play(&job, 1, &out);
    double expected_s = step_s + (STEPS - 1) * slow_step_s(table, 0, true);
    assert_true(fabs(out.wall_s / expected_s - 1.0) < 1e-9);
    assert_true(slow_step_s(table, 0, true) < slow_step_s(table, 0, false));
    condition_destroy(table);
}

/* Five slow cards, of which a condition holds four: one at half its speed in the second stage
 * counts, whether it comes first or last, and three of the four mild ones of the first. */
static void test_the_worst_count(void **state)
{
    static const uint32_t stage_of_gpu[] = {0, 0, 0, 0, 0, 0, 1, 1};
    struct condition_table *table = uneven_stages();
    struct condition worst = condition_ideal;
    double step_s = condition_step_s(table, &condition_ideal);
    worst.slow_count = 4;
    worst.slow[0] = (struct condition_slow){1, false, 0.5};
    for (unsigned i = 1; i < 4; i++)
        worst.slow[i] = (struct condition_slow){0, false, 0.8};
    for (unsigned last = 0; last < 2; last++) {
        struct job_case job;
        struct job_result out;
        struct trace_event mild[4];
        const struct trace_event bad = {.at_s = (last ? 0.9 : 0.1) * step_s, .unit = 6};
        for (uint32_t i = 0; i < 4; i++)
            mild[i] = (struct trace_event){.at_s = (0.2 + 0.1 * i) * step_s, .unit = i};
        job_case_make(&job, STEPS * step_s, step_s);
        condition_destroy(job.conditions);
        job.conditions = table;
        job.spec.stage_of_gpu = stage_of_gpu;
        for (unsigned i = 0; i < 2; i++) {
            struct failure_cause *cause = i ? job_case_trace(&job, mild, 4, UNIT_GPU)
                                            : job_case_trace(&job, &bad, 1, UNIT_GPU);
            cause->effect = EFFECT_SLOW;
            cause->slow_ratio = i ? 0.8 : 0.5;
            cause->detect.mean_s = 1e9;
        }
        job_case_play(&job, 1, &out);
        double expected_s = step_s + (STEPS - 1) * condition_step_s(table, &worst);
        assert_true(fabs(out.wall_s / expected_s - 1.0) < 1e-9);
    }
    condition_destroy(table);
}

/* One of four replicas is lost for good: steps last what they last with three, and ten steps of
 * four are fourteen of three. */
static void test_steps_of_fewer_replicas(void **state)
{
    struct condition_table *table = uneven_stages();
    struct condition fewer = condition_ideal;
    fewer.replicas_missing = 1;
    double step_s = condition_step_s(table, &condition_ideal);
    const struct trace_event event = {.at_s = 0.5 * step_s, .unit = 1, .repair_s = 1e9};
    struct job_case job;
    struct job_result out;
    job_case_make(&job, STEPS * step_s, step_s);
    condition_destroy(job.conditions);
    job.conditions = table;
    job_case_nodes(&job, 4, 4, "elastic-shrink");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job_case_play(&job, 1, &out);
    double fewer_s = condition_step_s(table, &fewer);
    assert_true(fabs(fewer_s / step_s - 1.0) > 1e-6);
    assert_true(fabs(out.wall_s / (0.5 * step_s + 14 * fewer_s) - 1.0) < 1e-9);
    condition_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages_of_units),
        cmocka_unit_test(test_slow_link),
        cmocka_unit_test(test_the_worst_count),
        cmocka_unit_test(test_steps_of_fewer_replicas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
