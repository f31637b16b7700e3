/* checkpoint: the optimal interval against its closed form and table; laws of every policy. */
#include <math.h>
#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "tests/kind_defaults.h"
#include "tests/test.h"

/* J. T. Daly, Future Generation Computer Systems 22 (2006): in units of M, to all printed digits.
 */
static void test_optimum_table(void **state)
{
    static const double delta[] = {0.001, 0.01, 0.1, 0.5, 1.0, 2.0};
    static const double exact[] = {0.044057, 0.134835, 0.383183, 0.698290, 0.841406, 0.947531};
    static const double daly[] = {0.044057, 0.134833, 0.383031, 0.694444, 0.826114, 1.0};
    const double m = 3600.0;
    for (unsigned i = 0; i < sizeof delta / sizeof *delta; i++) {
        assert_true(fabs(checkpoint_optimum_s(delta[i] * m, m) / m - exact[i]) < 5.1e-7);
        assert_true(fabs(checkpoint_daly_s(delta[i] * m, m) / m - daly[i]) < 5.1e-7);
        assert_true(fabs(checkpoint_young_s(delta[i] * m, m) / m - sqrt(2.0 * delta[i])) < 1e-12);
    }
}

/* Expected time for each second of work, failures striking work and checkpoints, R = 0: Daly's
 * exact M (e^((tau + delta) / M) - 1) / tau. */
static double cost(double tau, double delta, double m)
{
    return m * expm1((tau + delta) / m) / tau;
}

/* Failures strike work alone: delta + (M + R)(e^(tau/M) - 1) for each segment. Least there, from
 * where the series is used to saves that are longer than all else; without a restart and for saves
 * that cost little it is Daly's; and it shrinks as the root of M + R. */
static void test_sheltered_optimum(void **state)
{
    const double m = 11000.0;
    for (double restart = 0.0; restart < 1e6; restart = 3.0 * restart + 100.0) {
        for (double delta = 1e-4; delta < 1e6; delta *= 3.0) {
            const double best = checkpoint_sheltered_optimum_s(delta, m, restart), x = best / m;
            const double short_of = delta - (m + restart) * (exp(x) * (x - 1.0) + 1.0);
            assert_true(best > 0.0 && fabs(short_of) < 1e-6 * (delta + m * 1e-6));
        }
    }
    const double daly = checkpoint_optimum_s(0.01, m);
    assert_true(fabs(checkpoint_sheltered_optimum_s(0.01, m, 0.0) / daly - 1.0) < 1e-3);
    assert_true(fabs(checkpoint_sheltered_optimum_s(0.01, m, 3.0 * m) / daly - 0.5) < 1e-3);
    assert_true(checkpoint_sheltered_optimum_s(0.0, m, 5.0) == 0.0);
    assert_true(isinf(checkpoint_sheltered_optimum_s(1.0, INFINITY, 5.0)));
}

static void test_optimum_is_a_minimum(void **state)
{
    const double m = 11000.0;
    for (double delta = 1e-4; delta < 1e5; delta *= 3.0) {
        double best = checkpoint_optimum_s(delta, m), least = cost(best, delta, m);
        assert_true(best > 0.0 && best <= m);
        assert_true(cost(best * 1.02, delta, m) > least);
        assert_true(cost(best / 1.02, delta, m) > least);
    }
}

/* (1 - y) e^(y + d) = 1 on both sides of the change to the series. */
static void test_optimum_solves(void **state)
{
    for (double d = 1e-9; d < 10.0; d *= 1.7) {
        double y = checkpoint_optimum_s(d, 1.0);
        double residue = -log1p(-y) - y - d;
        assert_true(fabs(residue) <= 1e-8 * d + 4e-16);
    }
}

static void test_optimum_ends(void **state)
{
    assert_true(checkpoint_optimum_s(0.0, 100.0) == 0.0);
    assert_true(isinf(checkpoint_optimum_s(1.0, INFINITY)));
    assert_true(isinf(checkpoint_optimum_s(0.0, INFINITY)));
    assert_true(isinf(checkpoint_young_s(0.0, INFINITY)));
    assert_true(isinf(checkpoint_daly_s(0.0, INFINITY)));
}

static const struct checkpoint_pace pace = {.snapshot_s = 3.0, .step_s = 5.0};
/* The safest first: policies put them in order. */
static const struct checkpoint_tier all_tiers[CHECKPOINT_LEVEL_MAX] = {
    {"pfs", SURVIVES_DOMAIN, false, 40.0, 60.0, 1.2, false, 4e12, 39.0},
    {"peer", SURVIVES_NODE, false, 7.0, 8.0, 1.1, true, 3e12, 7.0},
    {"host", SURVIVES_PROCESS, true, 3.5, 2.0, 1.0, true, 2e12, 3.5},
    {"nvme", SURVIVES_PROCESS, false, 9.0, 5.0, 1.0, false, 1e12, 8.5},
};

static void check_levels(const struct checkpoint_plan *plan)
{
    for (unsigned i = 0; i < plan->level_count; i++) {
        const struct checkpoint_level *level = &plan->levels[i];
        assert_true(level->stall_s >= 0.0 && level->persist_s >= 0.0);
        assert_true(level->load_s > 0.0);
        assert_true(level->slowdown_ratio >= 1.0);
        assert_true(level->stall_s + level->persist_s > 0.0); /* no copy comes from nothing */
        assert_true(level->every >= 1);
        if (i == 0) {
            assert_int_equal(level->every, 1);
            continue;
        }
        const struct checkpoint_level *before = &plan->levels[i - 1];
        assert_true(level->survival >= before->survival); /* later is safer */
        assert_true(level->persist_s >= before->persist_s);
        assert_int_equal(level->every % before->every, 0);
    }
}

/* Every row of the list, each number of tiers that it takes, default options. */
static void test_laws(void **state)
{
    unsigned every_step = 0, plans = 0;
    for (unsigned k = 0; k < checkpoint_kind_count; k++) {
        const struct checkpoint_kind *kind = checkpoint_kinds[k];
        struct kind_options options = kind_defaults(&kind->head);
        assert_ptr_equal(checkpoint_find(kind->head.name), kind);
        assert_true(kind->tiers_min <= kind->tiers_max);
        assert_true(kind->tiers_max <= CHECKPOINT_LEVEL_MAX);
        for (unsigned n = kind->tiers_min; n <= kind->tiers_max; n++) {
            struct checkpoint_plan plan;
            memset(&plan, 0xa5, sizeof plan);
            kind->plan(&options, &pace, all_tiers, n, &plan);
            assert_int_equal(plan.level_count, n);
            check_levels(&plan);
            every_step += plan.every_step;
            plans++;
            if (n > 0 && !kind->background)
                assert_true(plan.levels[0].persist_s == 0.0);
        }
    }
    assert_true(every_step == 3 && plans > 10);
    assert_null(checkpoint_find("every_step")); /* scenarios spell it with a dash */
    assert_non_null(checkpoint_find("every-step"));
}

/* The default storage names as many tiers as the policy takes. */
static void test_default_storage(void **state)
{
    for (unsigned k = 0; k < checkpoint_kind_count; k++) {
        const struct checkpoint_kind *kind = checkpoint_kinds[k];
        unsigned tiers = kind->default_storage[0] != '\0';
        for (const char *c = kind->default_storage; *c; c++)
            tiers += *c == '+';
        assert_true(tiers >= kind->tiers_min && tiers <= kind->tiers_max);
    }
}

static void test_traits(void **state)
{
    static const struct {
        const char *name;
        unsigned least, most;
        bool background, closed;
        const char *storage;
    } rows[] = {
        {"none", 0, 0, false, false, ""},
        {"sync", 1, 1, false, true, "pfs"},
        {"async", 1, 3, true, true, "host+pfs"},
        {"multi-level", 2, 4, true, false, "host+nvme+pfs"},
        {"peer-memory", 1, 3, true, false, "host+peer+pfs"},
        {"every-step", 1, 3, true, false, "host+peer+pfs"},
    };
    assert_int_equal(checkpoint_kind_count, sizeof rows / sizeof rows[0]);
    for (unsigned i = 0; i < checkpoint_kind_count; i++) {
        const struct checkpoint_kind *kind = checkpoint_find(rows[i].name);
        assert_non_null(kind);
        assert_int_equal(kind->tiers_min, rows[i].least);
        assert_int_equal(kind->tiers_max, rows[i].most);
        assert_int_equal(kind->background, rows[i].background);
        assert_int_equal(kind->closed_optimum, rows[i].closed);
        assert_string_equal(kind->default_storage, rows[i].storage);
    }
}

static void test_sync_blocks(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options none = {{0}};
    checkpoint_sync.plan(&none, &pace, &all_tiers[0], 1, &plan);
    assert_true(plan.levels[0].stall_s == 40.0 && plan.levels[0].load_s == 60.0);
    assert_true(plan.levels[0].slowdown_ratio == 1.0); /* nothing runs beside it */
}

static void test_async_snapshot(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options options = kind_defaults(&checkpoint_async.head);
    checkpoint_async.plan(&options, &pace, all_tiers, 1, &plan);
    assert_true(plan.levels[0].stall_s == 3.0 && plan.levels[0].persist_s == 40.0);
    /* With the host tier its caps make the snapshot, and its copy is there when it ends. */
    struct checkpoint_tier two[] = {all_tiers[0], all_tiers[2]};
    checkpoint_async.plan(&options, &pace, two, 2, &plan);
    assert_string_equal(plan.levels[0].tier, "host");
    assert_true(plan.levels[0].stall_s == 3.5 && plan.levels[0].persist_s == 0.0);
    assert_true(plan.levels[1].stall_s == 0.0 && plan.levels[1].persist_s == 40.0);
    /* Half of it hidden: the copy is there when the hidden part ends; at most a step is hidden. */
    options.value[0] = 0.5;
    checkpoint_async.plan(&options, &pace, two, 2, &plan);
    assert_true(plan.levels[0].stall_s == 1.75 && plan.levels[0].persist_s == 1.75);
    assert_true(plan.levels[1].persist_s == 41.75);
    struct checkpoint_pace fast = {.snapshot_s = 3.0, .step_s = 1.0};
    checkpoint_async.plan(&options, &fast, two, 2, &plan);
    assert_true(plan.levels[0].stall_s == 2.5 && plan.levels[0].persist_s == 1.0);
}

static void test_multi_level_multiples(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options options = {{3, 5, 2, 0}};
    checkpoint_multi_level.plan(&options, &pace, all_tiers, 4, &plan);
    static const char *const names[] = {"host", "nvme", "peer", "pfs"};
    static const uint64_t every[] = {1, 3, 15, 30};
    static const double persist[] = {0.0, 9.0, 16.0, 56.0};
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(plan.levels[i].tier, names[i]);
        assert_int_equal(plan.levels[i].every, every[i]);
        assert_true(plan.levels[i].persist_s == persist[i]);
    }
}

static void test_peers_and_seldom_storage(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options options = kind_defaults(&checkpoint_peer_memory.head);
    checkpoint_peer_memory.plan(&options, &pace, all_tiers, 3, &plan);
    assert_int_equal(plan.levels[1].every, 1);
    assert_int_equal(plan.levels[2].every, 100);
    assert_true(plan.levels[0].stall_s == 0.0 && !plan.every_step);
    checkpoint_every_step.plan(&options, &pace, all_tiers, 3, &plan);
    assert_true(plan.every_step);
    /* Storage alone is saved to each time. */
    checkpoint_peer_memory.plan(&options, &pace, all_tiers, 1, &plan);
    assert_int_equal(plan.levels[0].every, 1);
}

/* Drives may be written a tenth of the time: pfs flows for 39 s, so 390 s at each save, and 39 s
 * where it is saved at each tenth; nvme for 8.5 s. Memory wears out by nothing. */
static void test_floor(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options options = kind_defaults(&checkpoint_async.head);
    struct checkpoint_tier two[] = {all_tiers[0], all_tiers[2]};
    checkpoint_async.plan(&options, &pace, two, 2, &plan);
    assert_true(fabs(checkpoint_floor_s(&plan, 0.1) - 390.0) < 1e-9);
    plan.levels[1].every = 10;
    assert_true(fabs(checkpoint_floor_s(&plan, 0.1) - 39.0) < 1e-9);
    plan.levels[1].memory = true;
    assert_true(checkpoint_floor_s(&plan, 0.1) == 0.0);
    options = (struct kind_options){{1, 1, 20, 0}};
    checkpoint_multi_level.plan(&options, &pace, all_tiers, 4, &plan);
    assert_true(fabs(checkpoint_floor_s(&plan, 0.5) - 17.0) < 1e-9); /* of nvme, not of pfs */
    checkpoint_sync.plan(&options, &pace, all_tiers, 1, &plan);
    assert_true(fabs(checkpoint_floor_s(&plan, 0.25) - 156.0) < 1e-9);
}

/* What a save moves arrives in the level of its tier, whatever the policy. */
static void test_bytes_of_levels(void **state)
{
    struct checkpoint_plan plan;
    struct kind_options options = {{1, 1, 1, 0}};
    checkpoint_multi_level.plan(&options, &pace, all_tiers, 4, &plan);
    static const double bytes[] = {2e12, 1e12, 3e12, 4e12}, flow_s[] = {3.5, 8.5, 7.0, 39.0};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(plan.levels[i].bytes == bytes[i] && plan.levels[i].transfer_s == flow_s[i]);
        assert_int_equal(plan.levels[i].memory, i == 0 || i == 2);
    }
    checkpoint_sync.plan(&options, &pace, all_tiers, 1, &plan);
    assert_true(plan.levels[0].bytes == 4e12 && plan.levels[0].transfer_s == 39.0);
    assert_false(plan.levels[0].memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum_table),
        cmocka_unit_test(test_optimum_is_a_minimum),
        cmocka_unit_test(test_sheltered_optimum),
        cmocka_unit_test(test_optimum_solves),
        cmocka_unit_test(test_optimum_ends),
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_default_storage),
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_sync_blocks),
        cmocka_unit_test(test_async_snapshot),
        cmocka_unit_test(test_multi_level_multiples),
        cmocka_unit_test(test_peers_and_seldom_storage),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_bytes_of_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
