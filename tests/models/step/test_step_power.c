/* Energy of a step by phase, counted by hand; and what stands at the wall for a card. */
#include "models/step/simulate/step_power.h"

#include <math.h>

#include "models/layout/power_wall.h"
#include "tests/test.h"

/* 8 cards of a node, 6 of which work: 700 W, 140 of them static, 70 idle. */
static struct configuration node_of_eight(void)
{
    struct configuration c = {0};
    c.gpu.sm_count = 132;
    c.gpu.power = (struct gpu_power){
        .cap_w = 700, .tdp_w = 700, .idle_w = 70, .static_ratio = 0.2, .voltage_floor_ratio = 0.76};
    c.gpu.gemm.efficiency_ratio = c.gpu.gemm.burst_ratio = 0.8; /* a FLOP costs the same at boost */
    c.cluster.nodes = 1;
    c.cluster.node.gpus = c.cluster.node.installed_gpus = 8;
    c.cluster.node.nic.count = 4;
    c.cluster.fabric.port_w = 10;
    c.cluster.node.power = (struct node_power){
        .rest_w = 100, .load_w = 63, .conversion_ratio = 0.8, .pue = 1.5, .cooling = COOLING_AIR};
    c.layout.tp = c.layout.pp = c.layout.cp = 1;
    c.layout.dp = 6;
    return c;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Load: 63 W over 630 W of card, a tenth of what it draws above idle. */
static double inlet(double card_w)
{
    return (card_w + 100 + 0.1 * (card_w - 70)) * 1.13 / 0.8;
}

static void test_wall(void **state)
{
    struct configuration c = node_of_eight();
    near(power_wall_w(&c, 700), (700 + 163) * 1.13 / 0.8 * 1.5);
    near(power_wall_w(&c, 70), 170 * 1.13 / 0.8 * 1.5);
    const double node_w = 6 * inlet(300) + 2 * inlet(70); /* two of eight have no rank */
    near(power_node_w(&c, 300), node_w);
    c.cluster.node.power.cooling = COOLING_LIQUID;
    near(power_node_w(&c, 300), node_w * 1.03 / 1.13);
    c.cluster.node.power.cooling = COOLING_IMMERSION;
    near(power_node_w(&c, 300), node_w / 1.13);
    c.cluster.node.chassis_gpus = 2; /* trays of others are not the job's */
    near(power_node_w(&c, 300), 6 * inlet(300) / 1.13);
    c.cluster.node.chassis_gpus = 0;
    /* Two nodes meet at a switch: half a port for each card. */
    c.cluster.nodes = 2;
    c.layout.dp = 16;
    near(power_wall_w(&c, 300), (inlet(300) / 1.13 + 5) * 1.5);
    near(power_node_w(&c, 300), 8 * inlet(300) / 1.13);
}

/* A node of which nobody stated what it draws: nothing is known, and nothing fails. */
static void test_unstated(void **state)
{
    struct configuration c = node_of_eight();
    struct step_power power = {.time_s = {1.0}, .card_j = {500.0}};
    c.cluster.node.power.conversion_ratio = 0.0;
    step_power_end(&c, 1.0, &power);
    assert_true(isnan(power.card_w) && isnan(power.step_j));
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++)
        assert_true(isnan(power.phase_j[phase]) && isnan(power.card_j[phase]) &&
                    isnan(power.time_s[phase]));
}

static struct program *program_of(struct arena *arena)
{
    struct program *p = ARENA_NEW(arena, struct program);
    p->costs = ARENA_ARRAY(arena, struct op_cost, 3);
    p->ops = ARENA_ARRAY(arena, struct op, 5);
    p->cost_count = 3;
    p->op_count = 5;
    p->costs[0] = (struct op_cost){.gpu_s = 1, .flop_j = 100, .byte_j = 20};
    p->costs[1] = (struct op_cost){.gpu_s = 1, .flop_j = 2000, .byte_j = 0};
    p->costs[2] = (struct op_cost){.gpu_s = 1, .flop_j = 0, .byte_j = 30};
    p->ops[0] = (struct op){.kind = OP_COMPUTE, .phase = PHASE_FORWARD, .cost = 0};
    p->ops[1] = (struct op){.kind = OP_COMPUTE, .phase = PHASE_BACKWARD, .cost = 0};
    p->ops[2] = (struct op){.kind = OP_COMPUTE, .phase = PHASE_RECOMPUTE, .cost = 0};
    p->ops[3] = (struct op){.kind = OP_COLLECTIVE, .phase = PHASE_BACKWARD, .cost = 1};
    p->ops[4] = (struct op){.kind = OP_COMPUTE, .phase = PHASE_OPTIMIZER, .cost = 2};
    return p;
}

static void test_phases(void **state)
{
    const struct configuration c = node_of_eight();
    struct arena *arena = arena_create();
    const struct program *p = program_of(arena);
    double parts_s[PART_COUNT];
    for (unsigned part = 0; part < PART_COUNT; part++)
        parts_s[part] = 1.0;
    struct step_power power = {0};
    step_power_add(&c, p, parts_s, 0.25, &power);
    step_power_add(&c, p, parts_s, 0.75, &power);
    step_power_end(&c, 12.0, &power);
    /* Three kernels of 120 J in two seconds; 30 J of the update; six parts are transfers. */
    const double card_j[] = {2 * 140 + 360, 140 + 30, 6 * 140, 3 * 140};
    const double time_s[] = {2, 1, 6, 3};
    double sum_j = 0.0, all_j = 0.0;
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++) {
        near(power.card_j[phase], card_j[phase]);
        const double idle_j = phase == POWER_WAITING ? 2 * inlet(70) * 1.5 * 12 : 0.0;
        near(power.phase_j[phase],
             6 * inlet(card_j[phase] / time_s[phase]) * 1.5 * time_s[phase] + idle_j);
        sum_j += power.phase_j[phase];
        all_j += card_j[phase];
    }
    near(power.card_w, all_j / 12);
    near(power.step_j, sum_j);
    arena_destroy(arena);
}

/* Kernels that want more than the cap leaves get that; each part has one phase. */
static void test_cap(void **state)
{
    const struct configuration c = node_of_eight();
    struct arena *arena = arena_create();
    struct program *p = program_of(arena);
    p->costs[0].flop_j = 1000;
    double parts_s[PART_COUNT] = {[PART_COMPUTE] = 2.0};
    struct step_power power = {0};
    step_power_add(&c, p, parts_s, 1.0, &power);
    step_power_end(&c, 2.0, &power);
    near(power.card_w, 700);
    near(power.step_j, (6 * inlet(700) + 2 * inlet(70)) * 1.5 * 2);
    unsigned count[POWER_PHASE_COUNT] = {0};
    for (unsigned part = 0; part < PART_COUNT; part++)
        count[step_power_phase((enum breakdown_part)part)]++;
    assert_int_equal(count[POWER_COMPUTE], 2);
    assert_int_equal(count[POWER_OPTIMIZER], 1);
    assert_int_equal(count[POWER_COMMUNICATION], 6);
    assert_int_equal(count[POWER_WAITING], 3);
    arena_destroy(arena);
}

/* A cap above tdp moves nothing: not the card, not the node beside it; one that lowers a draw is
 * met. A card of which nothing is said of tdp draws at its cap. */
static void test_caps_above_tdp(void **state)
{
    struct arena *arena = arena_create();
    const struct program *p = program_of(arena);
    double parts_s[PART_COUNT];
    struct power_job of[5];
    struct step_power power[5] = {0};
    static const double caps_w[] = {500, 700, 1400, 100e3, 1400},
                        tdps_w[] = {700, 700, 700, 700, 0};
    for (unsigned part = 0; part < PART_COUNT; part++)
        parts_s[part] = 1.0;
    for (unsigned i = 0; i < 5; i++) {
        struct configuration c = node_of_eight();
        c.gpu.power.cap_w = caps_w[i];
        c.gpu.power.tdp_w = tdps_w[i];
        step_power_add(&c, p, parts_s, 1.0, &power[i]);
        step_power_end(&c, 12.0, &power[i]);
        power_job_of(&c, 0.0, &of[i]);
    }
    assert_true(power[0].card_w < power[1].card_w && of[0].standing_w < of[1].standing_w);
    for (unsigned i = 2; i < 4; i++) {
        assert_true(power[i].card_w == power[1].card_w && power[i].step_j == power[1].step_j);
        assert_true(of[i].standing_w == of[1].standing_w && of[i].idle_w == of[1].idle_w);
    }
    near(power[4].card_w - power[1].card_w, 0.2 * 700); /* static power is a share of tdp */
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall),           cmocka_unit_test(test_unstated),
        cmocka_unit_test(test_phases),         cmocka_unit_test(test_cap),
        cmocka_unit_test(test_caps_above_tdp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
