/* Laws of the bill. What weeks without failures cost is what their steps cost, over drawn clusters
 * whose last node or chassis is in part used; what is paid and what it draws is counted here unit
 * by unit, from where each rank stands. Cases by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/numbers/cost.h"
#include "models/job/player/job.h"
#include "models/layout/layout.h"
#include "models/layout/power_wall.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

#define CLUSTERS 30
#define STEPS 1000
#define GPUS_MAX 1024

static struct scenario *read_job(const char *cluster, const char *layout, unsigned batch,
                                 const char *recovery)
{
    char text[1024];
    const struct scenario_options options = {0};
    struct error error;
    snprintf(text, sizeof text,
             "model: {layers: 2, hidden: 512, heads: 8, vocabulary: 1000}\n"
             "cluster: {%s}\ntraining: {sequence: 256, global_batch: %u}\n"
             "layout: {%s, pp: 1, microbatch: 1, recompute: none, sharding: zero-1}\n"
             "run: {steps: %u}\nrecovery: {%s}\ncost: {gpu_hour: 3USD}\n",
             cluster, batch, layout, STEPS, recovery);
    struct scenario *s = scenario_read("bill.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    return s;
}

/* GPUs of all units on which a rank stands, each unit counted once. */
static uint64_t count_paid(const struct configuration *c, uint64_t whole)
{
    static bool paid[GPUS_MAX];
    const uint64_t inside = c->cluster.node.gpus, tray = c->cluster.node.chassis_gpus;
    const uint64_t unit = tray > 0 ? tray : whole;
    uint64_t gpus = 0;
    memset(paid, 0, sizeof paid);
    for (uint32_t rank = 0; rank < configuration_ranks(c); rank++) {
        const uint32_t gpu = layout_gpu(c, rank);
        const uint64_t at = gpu / inside * whole + gpu % inside / unit * unit;
        assert_true(at < GPUS_MAX);
        gpus += paid[at] ? 0 : unit;
        paid[at] = true;
    }
    return gpus;
}

static void near(double a, double b)
{
    if (!(fabs(a / b - 1.0) <= 1e-9))
        fail_msg("%.12g is not %.12g", a, b);
}

/* docs/models/power.md, from the cells of the scenario: an air-cooled node, PUE 1. */
static double wall_w(const struct configuration *c, double card_w)
{
    const struct gpu_power *p = &c->gpu.power;
    const struct node_spec *node = &c->cluster.node;
    const double beside_w = 125.0 + 25.0 * (card_w - p->idle_w) / (p->cap_w - p->idle_w);
    const double fans = node->power.cooling == COOLING_LIQUID ? 1.03 : 1.13;
    const double ports = (double)node->nic.count / (double)node->gpus;
    return (card_w + beside_w) * fans / 0.94 +
           (layout_nodes(c) > 1 ? ports * c->cluster.fabric.port_w : 0.0);
}

static void check_power(const struct configuration *c, double paid)
{
    const double ranks = (double)configuration_ranks(c), idle_w = c->gpu.power.idle_w;
    const double static_w = c->gpu.power.static_ratio * c->gpu.power.tdp_w; /* capped at tdp */
    struct power_job power;
    power_job_of(c, 7.0, &power);
    near(power.step_w, 7.0);
    near(power.standing_w, ranks * wall_w(c, static_w) + (paid - ranks) * wall_w(c, idle_w));
    near(power.idle_w, paid * wall_w(c, idle_w));
}

static void check_alike(const struct scenario *s, uint64_t whole)
{
    const struct configuration *c = &s->configuration;
    const double step_s = 0.75;
    const double paid = (double)count_paid(c, whole);
    struct condition_table *conditions = condition_fixed(step_s);
    struct job_result weeks;
    struct cost step, kept;
    cost_of_step(c, step_s, &step);
    kept = step;
    job_run(&s->job, conditions, 1, NULL, &weeks);
    cost_of_weeks(&s->job, &weeks, &kept);
    assert_true(weeks.finished && weeks.failures == 0);
    assert_true(step.gpus == paid);
    assert_true(fabs(step.step_usd / (paid * 3.0 * step_s / HOUR) - 1.0) < 1e-12);
    assert_true(fabs(weeks.cost_usd / (step.step_usd * STEPS) - 1.0) < 1e-9);
    assert_true(fabs(kept.usd_per_1e9_tokens / step.usd_per_1e9_tokens - 1.0) < 1e-9);
    check_power(c, paid);
    condition_destroy(conditions);
}

/* Racks by trays, nodes by GPUs; a cluster larger than its job, and nodes of which each gives the
 * same part. */
static void weeks_cost_what_their_steps_cost(void **state)
{
    static const struct {
        const char *gpu;
        unsigned whole, tray;
    } machines[] = {{"gb200-186gb", 72, 4}, {"h100-80gb-sxm", 8, 1}, {"a100-80gb-sxm", 8, 1}};
    unsigned partial = 0, scattered = 0;
    for (uint64_t number = 0; number < CLUSTERS; number++) {
        const uint64_t key = random_key(number, "bill");
        const unsigned of = (unsigned)(number % 3), whole = machines[of].whole;
        const unsigned tp = 1u << random_hash(key, 0) % 3, tray = machines[of].tray;
        unsigned gpus = tray * (1 + (unsigned)(random_hash(key, 1) % 60));
        gpus = of == 0 || gpus <= whole ? gpus : gpus / whole * whole;
        gpus = gpus < tp ? tp : gpus / tp * tp;
        const unsigned all = gpus / tp, fewer = 1 + (unsigned)(random_hash(key, 2) % all);
        const unsigned dp = random_hash(key, 3) % 3 > 0 ? fewer : all;
        const bool apart = gpus % whole == 0 && random_hash(key, 4) % 2 > 0;
        char cluster[128], layout[128];
        snprintf(cluster, sizeof cluster, "gpu: %s, gpus: %u", machines[of].gpu, gpus);
        snprintf(layout, sizeof layout, "tp: %u, dp: %u, placement: %s", tp, dp,
                 apart ? "scattered" : "packed");
        struct scenario *s = read_job(cluster, layout, dp, "policy: restart-in-place");
        check_alike(s, whole);
        partial += count_paid(&s->configuration, whole) > tp * dp;
        scattered += apart;
        scenario_destroy(s);
    }
    assert_true(partial >= CLUSTERS / 3 && scattered >= 3);
}

/* At 3 USD. */
static void by_hand(void **state)
{
    static const struct {
        const char *cluster, *layout;
        unsigned batch;
        uint64_t paid, spare; /* GPUs */
    } rows[] = {
        /* 4 of 8 GPUs, and 2 of 8 in each of three nodes: whole nodes */
        {"gpu: h100-80gb-sxm, gpus: 4", "tp: 4", 4, 8, 8},
        {"gpu: h100-80gb-sxm, gpus: 6, nodes: 3", "tp: 2, dp: 3", 3, 24, 8},
        /* three nodes of which two have ranks, one of them two; round all three: two of each */
        {"gpu: h100-80gb-sxm, nodes: 3", "tp: 2, dp: 5", 5, 16, 8},
        {"gpu: h100-80gb-sxm, nodes: 3", "tp: 2, dp: 3, placement: scattered", 3, 24, 8},
        /* 64 + 64 + 8 GPUs of racks, of which each rank takes one: 16 trays of 4, 16 and 2 */
        {"gpu: gb200-186gb, gpus: 136", "tp: 4", 34, 136, 64},
        /* of a rack of 72, six ranks: two trays; 70 of a rack: all 18; 74 of two: 19 */
        {"gpu: gb200-186gb, nodes: 1", "tp: 2, dp: 3", 3, 8, 8},
        {"gpu: gb200-186gb, nodes: 1", "tp: 2, dp: 35", 35, 72, 72},
        {"gpu: gb200-186gb, nodes: 2", "tp: 2, dp: 37", 37, 76, 72},
        /* round two racks: five on the first, which is two trays, and five on the other */
        {"gpu: gb200-186gb, nodes: 2", "tp: 2, dp: 5, placement: scattered", 5, 16, 8},
        {"gpu: gb200-186gb, nodes: 2", "tp: 1, dp: 9, placement: scattered", 9, 12, 8},
        /* two chassis of four in a node of eight */
        {"gpu: h100-80gb-sxm, node: {chassis_gpus: 4}", "tp: 2, dp: 3", 3, 8, 8},
        {"gpu: h100-80gb-sxm, node: {chassis_gpus: 4}", "tp: 2, dp: 2", 2, 4, 4},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *s = read_job(rows[i].cluster, rows[i].layout, rows[i].batch,
                                      "policy: hot-spare, spares: 1");
        const struct rental *rental = &s->job.cost.rental;
        struct condition_table *conditions = condition_fixed(3.6);
        struct job_result weeks;
        if (rental->paid_gpus != rows[i].paid || rental->spare_gpus != rows[i].spare)
            fail_msg("%s, %s: %u and %u", rows[i].cluster, rows[i].layout,
                     (unsigned)rental->paid_gpus, (unsigned)rental->spare_gpus);
        job_run(&s->job, conditions, 1, NULL, &weeks); /* one hour */
        assert_true(fabs(weeks.cost_usd - 3.0 * (double)(rows[i].paid + rows[i].spare)) < 1e-9);
        struct power_job power;
        power_job_of(&s->configuration, NAN, &power);
        if (i == 0) /* 70 W idle and 140 W static: a tenth and a fifth of 700 */
            near(power.spare_w, 8 * (70 + 125) * 1.13 / 0.94);
        if (i == 0)
            near(power.standing_w, (4 * (140 + 125 + 25 / 9.0) + 4 * (70 + 125)) * 1.13 / 0.94);
        condition_destroy(conditions);
        scenario_destroy(s);
    }
}

static struct scenario *read_weeks(const char *more, struct condition_table **conditions,
                                   struct job_spec *job)
{
    char text[1024];
    const struct scenario_options options = {0};
    struct error error;
    snprintf(text, sizeof text,
             "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32000}\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: 3}\n"
             "training: {sequence: 2048, global_batch: 20}\n"
             "layout: {tp: 2, pp: 2, dp: 5, microbatch: 1, recompute: none, sharding: zero-1}\n"
             "storage: [{name: pfs}]\n%s\n",
             more);
    struct scenario *s = scenario_read("weeks.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s\n%s", s->diagnostics.problems[0].text, text);
    *conditions = condition_create(&s->configuration, &error);
    assert_non_null(*conditions);
    scenario_job(s, *conditions, NULL, job);
    return s;
}

/* A run without failures draws what its steps do, and in its saves what stands: 20 ranks on 24 paid
 * GPUs of three nodes, two spares of eight GPUs. */
static void weeks_draw_what_their_steps_draw(void **state)
{
    struct condition_table *conditions;
    struct job_spec job;
    struct job_result weeks;
    struct step *step;
    struct error error;
    struct scenario *s = read_weeks("checkpoint: {policy: sync, interval_steps: 100}\n"
                                    "recovery: {policy: hot-spare, spares: 2}\n"
                                    "run: {steps: 1000}",
                                    &conditions, &job);
    const struct configuration *c = &s->configuration;
    assert_true(step_run(c, &(struct step_options){0}, &step, &error));
    job_run(&job, conditions, 1, NULL, &weeks);
    const double stall_s = weeks.badput_s[BADPUT_checkpoint];
    const double stand_w = 20 * wall_w(c, 140.0) + 4 * wall_w(c, 70.0);
    assert_true(weeks.finished && stall_s > 0.0 && weeks.checkpoints == 10);
    near(weeks.energy.class_j[BADPUT_useful], 1000 * step->power.step_j);
    near(weeks.energy.spares_j, 2 * 8 * wall_w(c, 70.0) * weeks.wall_s);
    near(weeks.energy.all_j, 1000 * step->power.step_j + stand_w * stall_s + weeks.energy.spares_j);
    step_destroy(step);
    condition_destroy(conditions);
    scenario_destroy(s);
}

/* Energy of a step that a slow card draws out, as the engine plays it: that of the ideal step, and
 * standing cards for the time that is added. Where the cap binds no phase. */
static void added_time_stands(void **state)
{
    static const double ratios[] = {0.9, 0.5, 0.1};
    struct condition_table *conditions;
    struct job_spec job;
    struct error error;
    struct scenario *s = read_weeks("run: {steps: 10}", &conditions, &job);
    for (unsigned i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct configuration c = s->configuration;
        struct step *ideal, *slow;
        struct perturbation one = {.what = PERTURB_GPU_SPEED, .gpu = 5, .ratio = ratios[i]};
        assert_true(step_run(&c, &(struct step_options){0}, &ideal, &error));
        c.perturbations = &one;
        c.perturbation_count = 1;
        assert_true(step_run(&c, &(struct step_options){0}, &slow, &error));
        const double added_s = slow->step_s - ideal->step_s;
        assert_true(added_s > 0.0);
        near(slow->power.step_j, ideal->power.step_j + job.cost.power.standing_w * added_s);
        step_destroy(ideal);
        step_destroy(slow);
    }
    condition_destroy(conditions);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weeks_cost_what_their_steps_cost),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(weeks_draw_what_their_steps_draw),
        cmocka_unit_test(added_time_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
