/* condition: what the memory says is what step_run says, for any number of threads. */
#include <math.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/condition.h"
#include "models/step/simulate/step.h"
#include "sim/pool.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* tp 4, dp 4, pp 2 on four nodes of eight cards; messages are long enough for NICs to count. */
static struct configuration job(void)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 4, 1, 4, 2, 4);
    c.model.hidden = 1024;
    c.model.attention.head_size = 128;
    c.model.ffn_hidden = 4096;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options =
        (struct kind_options){{32, 1}}; /* nodes for each leaf, no oversubscription */
    c.cluster.node.pcie.bytes_per_s = 25 * GIGA;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    return c;
}

static double direct_s(const struct configuration *c)
{
    struct step *step;
    struct step_options options = {0};
    struct error error;
    assert_true(step_run(c, &options, &step, &error));
    double step_s = step->step_s;
    step_destroy(step);
    return step_s;
}

static struct condition_table *table_of(const struct configuration *c)
{
    struct error error;
    struct condition_table *t = condition_create(c, &error);
    assert_non_null(t);
    return t;
}

static void test_ideal(void **state)
{
    struct configuration c = job();
    struct condition_table *t = table_of(&c);
    assert_int_equal(condition_count(t), 1);
    assert_true(condition_step_s(t, &condition_ideal) == direct_s(&c));
    struct condition at_full_speed = {
        .slow_count = 1, .slow = {{0, false, 1.0}}, .nic_share_ratio = 1.0};
    assert_true(condition_step_s(t, &at_full_speed) == direct_s(&c));
    assert_int_equal(condition_count(t), 1);
    condition_destroy(t);
}

static void test_slow_units(void **state)
{
    struct configuration c = job();
    struct condition_table *t = table_of(&c);
    struct condition slow = {
        .slow_count = 3,
        .slow = {{1, false, 0.5}, {1, false, 0.625}, {0, true, 0.75}},
        .nic_share_ratio = 1.0,
    };
    /* Packed ranks, tp fastest, then dp, then pp: stage 1 begins at GPU 16, its second replica at
     * GPU 20. */
    struct perturbation same[] = {{PERTURB_GPU_SPEED, 16, 0.5, LINK_NIC},
                                  {PERTURB_GPU_SPEED, 20, 0.625, LINK_NIC},
                                  {PERTURB_LINK, 0, 0.75, LINK_NIC}};
    struct configuration direct = c;
    direct.perturbations = same;
    direct.perturbation_count = 3;
    assert_true(condition_step_s(t, &slow) == direct_s(&direct));
    assert_true(condition_step_s(t, &slow) > condition_step_s(t, &condition_ideal));
    assert_int_equal(condition_count(t), 2);
    /* One slow unit alone is another condition. */
    slow.slow_count = 1;
    direct.perturbation_count = 1;
    assert_true(condition_step_s(t, &slow) == direct_s(&direct));
    assert_int_equal(condition_count(t), 3);
    condition_destroy(t);
}

/* What the scenario perturbs stays beside what the condition adds. */
static void test_own_perturbations(void **state)
{
    struct configuration c = job();
    struct perturbation both[] = {{PERTURB_GPU_SPEED, 3, 0.9, LINK_NIC},
                                  {PERTURB_GPU_SPEED, 16, 0.5, LINK_NIC}};
    c.perturbations = both;
    c.perturbation_count = 2;
    double direct = direct_s(&c);
    c.perturbation_count = 1;
    struct condition_table *t = table_of(&c);
    assert_true(condition_step_s(t, &condition_ideal) == direct_s(&c));
    struct condition slow = {.slow_count = 1, .slow = {{1, false, 0.5}}, .nic_share_ratio = 1.0};
    assert_true(condition_step_s(t, &slow) == direct);
    condition_destroy(t);
}

static void test_fewer_replicas(void **state)
{
    struct configuration c = job();
    lower_case_size(&c, 4, 1, 8, 2, 4);
    struct condition_table *t = table_of(&c);
    struct configuration fewer = c;
    fewer.layout.dp = 6;
    fewer.training.global_batch = 24; /* four microbatches for each replica, as before */
    struct condition missing = {.replicas_missing = 2, .nic_share_ratio = 1.0};
    assert_true(condition_step_s(t, &missing) == direct_s(&fewer));
    /* A replica's work is the same, so a step takes nearly as long: its tokens fall, not its time.
     */
    double ratio = condition_step_s(t, &missing) / condition_step_s(t, &condition_ideal);
    assert_true(ratio > 0.9 && ratio < 1.1);
    condition_destroy(t);
}

/* Copies of two replicas: losing one replica loses its partner; the last copy is sharded anew. */
static void test_hybrid_copies(void **state)
{
    struct configuration c = job();
    c.layout.data.sharding = &sharding_hsdp;
    c.layout.data.shard_group = 2;
    c.layout.pp = 1;
    c.layout.dp = 8;
    c.training.global_batch = 32;
    assert_int_equal(lower_case_errors(&c), 0);
    struct condition_table *t = table_of(&c);
    struct configuration fewer = c;
    fewer.layout.dp = 6;
    fewer.training.global_batch = 24;
    struct condition missing = {.replicas_missing = 1, .nic_share_ratio = 1.0};
    assert_true(condition_step_s(t, &missing) == direct_s(&fewer));
    fewer.layout.dp = fewer.layout.data.shard_group = 1;
    fewer.training.global_batch = 4;
    missing.replicas_missing = 7;
    assert_true(condition_step_s(t, &missing) == direct_s(&fewer));
    condition_destroy(t);
}

/* A share of every NIC is a narrower NIC, also where the slot is narrower than the port. */
static void test_nic_share(void **state)
{
    struct condition half = {.nic_share_ratio = 0.5};
    for (unsigned slot = 0; slot < 2; slot++) {
        struct configuration c = job();
        c.cluster.node.pcie.bytes_per_s = (slot ? 10 : 30) * GIGA;
        double nic = topology_nic_bytes_per_s(&c.cluster);
        assert_true(nic == (slot ? 10 : 25) * GIGA);
        struct configuration narrow = c;
        narrow.cluster.node.nic.bytes_per_s = nic / 2;
        struct condition_table *t = table_of(&c);
        assert_true(fabs(condition_step_s(t, &half) / direct_s(&narrow) - 1.0) < 1e-12);
        assert_true(condition_step_s(t, &half) > 1.001 * condition_step_s(t, &condition_ideal));
        condition_destroy(t);
    }
}

enum {
    ASKED = 240
};
struct asker {
    struct condition_table *table;
    double step_s[ASKED];
};

/* Five stages of missing replicas and speeds, asked for again and again. */
static struct condition asked(size_t index)
{
    struct condition k = {.nic_share_ratio = 1.0};
    k.replicas_missing = (uint32_t)(index % 3);
    k.slow_count = index % 5 > 0;
    k.slow[0] = (struct condition_slow){(uint32_t)(index % 2), index % 5 == 4,
                                        0.5 + 0.025 * (double)(index % 16)};
    return k;
}

static void ask(void *context, size_t index)
{
    struct asker *asker = context;
    struct condition k = asked(index);
    asker->step_s[index] = condition_step_s(asker->table, &k);
}

static void test_any_thread_count(void **state)
{
    struct configuration c = job();
    struct asker alone = {table_of(&c), {0}}, together = {table_of(&c), {0}};
    pool_run(1, ASKED, ask, &alone);
    pool_run(7, ASKED, ask, &together);
    assert_memory_equal(alone.step_s, together.step_s, sizeof alone.step_s);
    assert_int_equal(condition_count(alone.table), condition_count(together.table));
    assert_true(condition_count(alone.table) > 32); /* the table has grown */
    /* Remembered, not simulated again; and still the same. */
    unsigned count = condition_count(alone.table);
    double first = alone.step_s[7];
    ask(&alone, 7);
    assert_true(alone.step_s[7] == first);
    assert_int_equal(condition_count(alone.table), count);
    condition_destroy(alone.table);
    condition_destroy(together.table);
}

static void test_fixed(void **state)
{
    struct condition_table *t = condition_fixed(4.0);
    assert_true(condition_step_s(t, &condition_ideal) == 4.0);
    struct condition k = {.replicas_missing = 3,
                          .slow_count = 2,
                          .slow = {{0, false, 0.5}, {1, true, 0.8}},
                          .nic_share_ratio = 0.25};
    assert_true(condition_step_s(t, &k) == 32.0);
    assert_int_equal(condition_count(t), 2);
    condition_destroy(t);
}

/* Conditions that differ in one thing are two, also where they meet in the table: of a hundred and
 * more, asked twice, each is remembered once. */
static void test_every_difference_counts(void **state)
{
    struct condition_table *t = condition_fixed(4.0);
    unsigned expected = 0;
    for (unsigned i = 0; i < 2 * 2304; i++) {
        unsigned bits = i % 2304;
        struct condition k = {.replicas_missing = bits % 3,
                              .slow_count = bits / 3 % 3,
                              .nic_share_ratio = bits / 9 % 2 ? 0.5 : 1.0};
        k.slow[0] = (struct condition_slow){bits / 18 % 2, bits / 36 % 2, bits / 72 % 2 ? .5 : .8};
        k.slow[1] =
            (struct condition_slow){bits / 144 % 2, bits / 288 % 2, bits / 576 % 2 ? .5 : .8};
        double slowest = k.slow_count > 1 ? fmin(k.slow[0].ratio, k.slow[1].ratio)
                         : k.slow_count   ? k.slow[0].ratio
                                          : 1.0;
        assert_true(condition_step_s(t, &k) == 4.0 / (slowest * k.nic_share_ratio));
    }
    expected = 3 * 2 * (1 + 8 + 64); /* none, one or two slow units of eight kinds */
    assert_int_equal(condition_count(t), expected);
    condition_destroy(t);
}

/* More slow units of a stage than it has replicas: the next is a tensor peer of the first. */
static void test_slow_peers(void **state)
{
    struct configuration c = job();
    lower_case_size(&c, 4, 1, 2, 2, 4);
    struct condition_table *t = table_of(&c);
    struct condition slow = {
        .slow_count = 4,
        .slow = {{1, false, 0.5}, {1, false, 0.5}, {1, false, 0.5}, {1, false, 0.5}},
        .nic_share_ratio = 1.0,
    };
    /* Stage 1 begins at GPU 8, its second replica at GPU 12. */
    struct perturbation same[] = {{PERTURB_GPU_SPEED, 8, 0.5, LINK_NIC},
                                  {PERTURB_GPU_SPEED, 12, 0.5, LINK_NIC},
                                  {PERTURB_GPU_SPEED, 9, 0.5, LINK_NIC},
                                  {PERTURB_GPU_SPEED, 13, 0.5, LINK_NIC}};
    struct configuration direct = c;
    direct.perturbations = same;
    direct.perturbation_count = 4;
    assert_true(condition_step_s(t, &slow) == direct_s(&direct));
    same[2].gpu = 8; /* one card slowed twice is another step */
    assert_true(condition_step_s(t, &slow) != direct_s(&direct));
    condition_destroy(t);
}

static void test_refuses(void **state)
{
    struct error error = {{0}};
    struct configuration c = job();
    c.gpu.hbm.usable_bytes = 1e6;
    assert_null(condition_create(&c, &error));
    assert_non_null(strstr(error.text, "memory"));
    c = job();
    c.cluster.nodes = 0;
    assert_null(condition_create(&c, &error));
    assert_non_null(strstr(error.text, "node"));
}

static void slow_down(struct configuration *c, double factor)
{
    for (unsigned i = 0; i < sizeof c->gpu.peak_flops_per_s / sizeof *c->gpu.peak_flops_per_s; i++)
        c->gpu.peak_flops_per_s[i] /= factor;
}

/* An ideal step of decades is played; one of a GPU at a tenth of the speed lasts longer than a step
 * may, asked for once or again. A narrower NIC alone changes little. */
static void test_too_long(void **state)
{
    struct configuration c = job();
    slow_down(&c, 1e9); /* now kernels are all that takes time */
    slow_down(&c, 60 * YEAR / direct_s(&c));
    struct condition_table *t = table_of(&c);
    struct condition slow = condition_ideal, narrow = condition_ideal;
    slow.slow_count = 1;
    slow.slow[0] = (struct condition_slow){.ratio = 0.1};
    narrow.nic_share_ratio = 0.5;
    const double step_s = condition_step_s(t, &condition_ideal);
    assert_true(step_s > 10 * YEAR && step_s < 100 * YEAR);
    assert_true(isnan(condition_step_s(t, &slow)));
    assert_true(isnan(condition_step_s(t, &slow)));
    assert_int_equal(condition_count(t), 2);
    assert_true(condition_step_s(t, &narrow) < 1.001 * step_s);
    condition_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ideal),
        cmocka_unit_test(test_slow_units),
        cmocka_unit_test(test_own_perturbations),
        cmocka_unit_test(test_fewer_replicas),
        cmocka_unit_test(test_hybrid_copies),
        cmocka_unit_test(test_nic_share),
        cmocka_unit_test(test_any_thread_count),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_every_difference_counts),
        cmocka_unit_test(test_slow_peers),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
