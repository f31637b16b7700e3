/* checkpoint_plan: a policy's levels from a configuration and its tiers; what the NICs cost a step;
 * what a user gives instead. */
#include <math.h>

#include "models/checkpoint/checkpoint_plan.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

#define BYTES 14.0

static struct configuration job(void)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 4, 1, 4, 2, 4);
    c.model.hidden = 1024;
    c.model.attention.head_size = 128;
    c.model.ffn_hidden = 4096;
    c.layout.data.sharding = &sharding_zero_1;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}}; /* nodes for each leaf */
    c.cluster.node.pcie.bytes_per_s = 25 * GIGA;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    return c;
}

/* Host memory, and a file system behind the NICs (25 GB/s each). */
static const struct storage_tier tiers[2] = {
    {.name = "host",
     .path = STORAGE_HOST,
     .memory = true,
     .survival = SURVIVES_PROCESS,
     .client_write_bytes_per_s = 5 * GIGA,
     .copies = 1},
    {.name = "pfs",
     .path = STORAGE_NIC,
     .survival = SURVIVES_DOMAIN,
     .client_write_bytes_per_s = 10 * GIGA,
     .client_read_bytes_per_s = 4 * GIGA,
     .copies = 1},
};
static const struct kind_options no_options = {{0}};

static struct checkpoint_request request_of(const struct checkpoint_kind *kind,
                                            const struct storage_tier *first, unsigned count)
{
    return (struct checkpoint_request){.kind = kind,
                                       .options = &no_options,
                                       .bytes_per_parameter = BYTES,
                                       .tiers = first,
                                       .tier_count = count,
                                       .stall_s = -1,
                                       .persist_s = -1,
                                       .load_s = -1};
}

static double largest_shard(const struct configuration *c)
{
    struct arena *arena = arena_create();
    double *bytes, most = 0.0;
    storage_shards(c, BYTES, arena, &bytes);
    for (uint64_t i = 0; i < configuration_ranks(c); i++)
        most = fmax(most, bytes[i]);
    arena_destroy(arena);
    return most;
}

static struct condition_table *table_of(const struct configuration *c)
{
    struct error error;
    struct condition_table *t = condition_create(c, &error);
    assert_non_null(t);
    return t;
}

static void assert_close(double got, double expected)
{
    assert_true(fabs(got - expected) <= 1e-12 * fabs(expected));
}

static void test_async(void **state)
{
    struct configuration c = job();
    struct condition_table *t = table_of(&c);
    struct checkpoint_request request = request_of(&checkpoint_async, tiers, 2);
    struct checkpoint_plan plan;
    double shard = largest_shard(&c);
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_int_equal(plan.level_count, 2);
    assert_close(plan.levels[0].stall_s, shard / (5 * GIGA)); /* the host tier's own cap */
    assert_true(plan.levels[0].persist_s == 0.0 && plan.levels[0].slowdown_ratio == 1.0);
    assert_close(plan.levels[0].load_s, shard / (25 * GIGA));
    assert_close(plan.levels[1].persist_s, shard / (10 * GIGA));
    assert_close(plan.levels[1].load_s, shard / (4 * GIGA));
    /* 10 of 25 GB/s of the busiest NIC are taken: a step takes what it takes with the rest. */
    struct condition beside = {.nic_share_ratio = 1.0 - 10 * GIGA / (25 * GIGA)};
    double slowdown = condition_step_s(t, &beside) / condition_step_s(t, &condition_ideal);
    assert_true(slowdown > 1.001);
    assert_true(fabs(plan.levels[1].slowdown_ratio - slowdown) < 1e-9);
    condition_destroy(t);
}

/* Wires so slow that a step lasts decades on them, and over a century on a half of them. */
static void test_no_step_beside(void **state)
{
    struct configuration c = job();
    c.cluster.fabric.efficiency_ratio = 1e-9; /* now messages are all that takes time */
    struct condition_table *t = table_of(&c);
    c.cluster.fabric.efficiency_ratio *= condition_step_s(t, &condition_ideal) / (80 * YEAR);
    condition_destroy(t);
    t = table_of(&c);
    struct storage_tier half = tiers[1];
    half.client_write_bytes_per_s = 0.5 * topology_nic_bytes_per_s(&c.cluster);
    struct checkpoint_request request = request_of(&checkpoint_async, &half, 1);
    struct checkpoint_plan plan;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(condition_step_s(t, &condition_ideal) > 50 * YEAR);
    assert_true(isinf(plan.levels[0].slowdown_ratio));
    condition_destroy(t);
}

/* Without the host tier the snapshot goes at the rate of PCIe. */
static void test_snapshot_alone(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    struct checkpoint_request request = request_of(&checkpoint_async, &tiers[1], 1);
    struct checkpoint_plan plan;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_close(plan.levels[0].stall_s, largest_shard(&c) / (25 * GIGA));
    assert_close(plan.levels[0].slowdown_ratio, 1.0 / 0.6);
    condition_destroy(t);
}

/* Blocking writes have every NIC for themselves, and slow nothing down. */
static void test_sync(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    struct storage_tier fast = tiers[1];
    fast.client_write_bytes_per_s = 0;
    struct checkpoint_request request = request_of(&checkpoint_sync, &fast, 1);
    struct checkpoint_plan plan;
    double shard = largest_shard(&c);
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_close(plan.levels[0].stall_s, shard / (25 * GIGA));
    assert_true(plan.levels[0].persist_s == 0.0 && plan.levels[0].slowdown_ratio == 1.0);
    /* In the background it shares them half and half. */
    request.kind = &checkpoint_async;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_close(plan.levels[0].persist_s, shard / (12.5 * GIGA));
    assert_close(plan.levels[0].slowdown_ratio, 2.0);
    condition_destroy(t);
}

static void test_overrides(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    struct checkpoint_request request = request_of(&checkpoint_async, tiers, 2);
    struct checkpoint_plan plan;
    request.stall_s = 7.0;
    request.persist_s = 60.0;
    request.load_s = 90.0;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[0].stall_s == 7.0 && plan.levels[1].stall_s == 0.0);
    assert_true(plan.levels[0].persist_s == 0.0 && plan.levels[1].persist_s == 60.0);
    assert_true(plan.levels[0].load_s == 90.0 && plan.levels[1].load_s == 90.0);
    assert_close(plan.levels[1].transfer_s, largest_shard(&c) / (10 * GIGA)); /* below 60 s */
    request.stall_s = 0.0;                                                    /* given, and free */
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[0].stall_s == 0.0);
    request.persist_s = 0.0; /* durable at once */
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[1].persist_s == 0.0 && plan.levels[1].transfer_s == 0.0);
    condition_destroy(t);
}

/* Bytes flow no longer than the write that was given: in the background as long as it lasts, in
 * front as long as training stands. */
static void test_overridden_flow(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    struct checkpoint_request request = request_of(&checkpoint_async, tiers, 2);
    struct checkpoint_plan plan;
    checkpoint_plan_build(&c, t, &request, &plan);
    double flow_s = plan.levels[1].transfer_s, host_s = plan.levels[0].transfer_s;
    assert_true(flow_s > 0.0 && host_s > 0.0);
    request.persist_s = flow_s / 2;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[1].persist_s == flow_s / 2 && plan.levels[1].transfer_s == flow_s / 2);
    request.persist_s = -1.0;
    request.stall_s = 7.0; /* of a write in the background it says nothing */
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[0].transfer_s == host_s && plan.levels[1].transfer_s == flow_s);
    request = request_of(&checkpoint_sync, &tiers[1], 1);
    request.stall_s = 7.0;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[0].stall_s == 7.0 && plan.levels[0].transfer_s == 7.0);
    /* The same bytes, more slowly, wear no more; faster than the tier was taken for: as told. */
    assert_close(plan.levels[0].wear_s, largest_shard(&c) / (10 * GIGA));
    request.stall_s = plan.levels[0].wear_s / 4;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_true(plan.levels[0].wear_s == request.stall_s);
    condition_destroy(t);
}

/* What a tier is goes on to its level; what flows is the write without its latency. */
static void test_tiers_as_played(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    const double all = transformer_parameters(&c.model, c.training.sequence) * BYTES;
    struct checkpoint_tier out;
    struct storage_tier slow = tiers[1];
    slow.latency_s = 2.5;
    checkpoint_tier_play(&c, t, &checkpoint_async, &slow, BYTES, &out);
    assert_string_equal(out.name, "pfs");
    assert_int_equal(out.survival, SURVIVES_DOMAIN);
    assert_true(!out.host_memory && !out.memory);
    assert_close(out.write_s, 2.5 + largest_shard(&c) / (10 * GIGA));
    assert_true(fabs(out.transfer_s - largest_shard(&c) / (10 * GIGA)) < 1e-12);
    assert_close(out.bytes, all);
    checkpoint_tier_play(&c, t, &checkpoint_async, &tiers[0], BYTES, &out);
    assert_true(out.host_memory && out.memory && out.slowdown_ratio == 1.0);
    slow.memory = true; /* the memory of a peer is not the node's own */
    checkpoint_tier_play(&c, t, &checkpoint_async, &slow, BYTES, &out);
    assert_true(!out.host_memory && out.memory);
    slow = tiers[0];
    slow.memory = false;
    checkpoint_tier_play(&c, t, &checkpoint_async, &slow, BYTES, &out);
    assert_true(!out.host_memory && !out.memory);
    condition_destroy(t);
}

static void test_none(void **state)
{
    struct configuration c = job();
    struct condition_table *t = condition_fixed(4.0);
    struct checkpoint_request request = request_of(&checkpoint_none, NULL, 0);
    struct checkpoint_plan plan;
    checkpoint_plan_build(&c, t, &request, &plan);
    assert_int_equal(plan.level_count, 0);
    condition_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_async),           cmocka_unit_test(test_snapshot_alone),
        cmocka_unit_test(test_no_step_beside),  cmocka_unit_test(test_sync),
        cmocka_unit_test(test_overrides),       cmocka_unit_test(test_none),
        cmocka_unit_test(test_overridden_flow), cmocka_unit_test(test_tiers_as_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
