/* storage_check: which tiers a cluster can use, and the words about those that it cannot. */
#include <math.h>
#include <string.h>

#include "models/checkpoint/storage.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define BYTES 14.0

/* Sixteen ranks on two nodes of eight cards with a NIC each. */
static struct configuration job(uint64_t tp, uint64_t dp, uint64_t pp)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, 1, dp, pp, 2);
    c.layout.data.sharding = &sharding_zero_1;
    c.cluster.node.pcie.bytes_per_s = 25 * GIGA;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    return c;
}

static double all_bytes(const struct configuration *c)
{
    return transformer_parameters(&c->model, c->training.sequence) * BYTES;
}

static bool usable(const struct configuration *c, const struct storage_tier *tier, uint64_t keep,
                   struct error *error)
{
    return storage_check(c, tier, error) && storage_check_memory(c, tier, 1, BYTES, keep, error);
}

static void test_check(void **state)
{
    struct error error = {{0}};
    struct configuration c = job(2, 8, 1);
    struct storage_tier tier = {.name = "peer", .path = STORAGE_NIC, .memory = true, .copies = 1};
    assert_true(usable(&c, &tier, 1, &error));
    tier.copies = 2;
    assert_false(usable(&c, &tier, 1, &error));
    assert_non_null(strstr(error.text, "2 copies on other nodes, but the cluster has 2 nodes"));
    tier.copies = 1;
    /* Two checkpoints of half of the state each. */
    c.cluster.node.host.memory_bytes = all_bytes(&c);
    assert_true(usable(&c, &tier, 1, &error));
    c.cluster.node.host.memory_bytes *= 0.999;
    assert_false(usable(&c, &tier, 1, &error));
    /* 262,656 parameters in four blocks, 65,600 outside them: 4.596 MB. */
    assert_string_equal(error.text,
                        "peer must hold 1 checkpoint and the one being written, 0.0046 GB in a "
                        "node's memory of 0.00459 GB: spread the state over more nodes, or keep it "
                        "elsewhere");
    /* Each of the nodes holds half of the state: 40 halves are 39 and one being written. */
    c.cluster.node.host.memory_bytes = 20.0 * all_bytes(&c) * (1.0 + 1e-9);
    assert_true(usable(&c, &tier, 39, &error));
    assert_false(usable(&c, &tier, 40, &error));
    assert_non_null(strstr(error.text, "40 checkpoints and the one being written"));
    assert_non_null(strstr(error.text, "keep at most 39, spread"));
    tier.memory = false; /* a file system behind the NICs fills no memory */
    assert_true(usable(&c, &tier, 1, &error));
    c.cluster.node.nic.count = 0;
    assert_false(usable(&c, &tier, 1, &error));
    assert_non_null(strstr(error.text, "NICs"));
    tier.path = STORAGE_HOST;
    assert_true(usable(&c, &tier, 1, &error));
    c.cluster.node.pcie.bytes_per_s = 0;
    assert_false(usable(&c, &tier, 1, &error));
    assert_non_null(strstr(error.text, "pcie_bandwidth"));
}

/* Each copy is kept twice; only the memory of others asks for as many other nodes, and only a way
 * by NICs for NICs with a rate. */
static void test_check_copies(void **state)
{
    struct error error = {{0}};
    struct configuration c = job(2, 8, 1);
    struct storage_tier own = {.name = "own", .memory = true, .copies = 3};
    c.cluster.node.host.memory_bytes = 3.0 * all_bytes(&c);
    assert_true(usable(&c, &own, 1, &error));
    c.cluster.node.host.memory_bytes *= 0.999;
    assert_false(usable(&c, &own, 1, &error));
    struct storage_tier file = {.name = "file", .path = STORAGE_NIC, .copies = 3};
    assert_true(usable(&c, &file, 1, &error));
    c.cluster.node.nic.bytes_per_s = 0.0;
    assert_false(usable(&c, &file, 1, &error));
    own.copies = 2;
    assert_true(usable(&c, &own, 1, &error));
}

/* Tiers in one memory share it: own copies 2, peers' 1, of half of the state each and twice. A tier
 * elsewhere takes none of it. */
static void test_tiers_share_a_memory(void **state)
{
    struct error error = {{0}};
    struct configuration c = job(2, 8, 1);
    const struct storage_tier tiers[] = {
        {.name = "own", .memory = true, .copies = 2},
        {.name = "file", .path = STORAGE_NIC, .copies = 7},
        {.name = "peer", .path = STORAGE_NIC, .memory = true, .copies = 1}};
    c.cluster.node.host.memory_bytes = 3.0 * all_bytes(&c) * (1 + 1e-9);
    assert_true(storage_check_memory(&c, tiers, 3, BYTES, 1, &error));
    c.cluster.node.host.memory_bytes *= 0.999;
    assert_true(storage_check_memory(&c, tiers, 2, BYTES, 1, &error));
    assert_true(storage_check_memory(&c, tiers + 1, 2, BYTES, 1, &error));
    assert_false(storage_check_memory(&c, tiers, 3, BYTES, 1, &error));
    assert_string_equal(error.text,
                        "own and peer must each hold 1 checkpoint and the one being written, "
                        "0.0138 GB in a node's memory of 0.0138 GB: spread the state over more "
                        "nodes, or keep it elsewhere");
    c.cluster.node.host.memory_bytes *= 2;
    assert_false(storage_check_memory(&c, tiers, 3, BYTES, 3, &error));
    assert_non_null(strstr(error.text, "keep at most 2, spread"));
    assert_true(storage_check_memory(&c, tiers, 3, BYTES, 2, &error));
    assert_true(storage_check_memory(&c, tiers + 1, 1, BYTES, 1 << 20, &error));
    c.cluster.node.host.memory_bytes = 0.0; /* not known */
    assert_true(storage_check_memory(&c, tiers, 3, BYTES, 1, &error));
}

/* The fullest node counts, wherever it stands: without sharding all that is written stands in the
 * first replica's nodes; of two stages the larger one fills its node. */
static void test_check_fullest_node(void **state)
{
    struct error error = {{0}};
    struct arena *arena = arena_create();
    for (uint64_t layers = 3; layers <= 4; layers++) { /* stages of 2 1, and of 2 2 */
        struct configuration c = job(2, 4, 2);
        struct storage_tier tier = {.name = "own", .memory = true, .copies = 1};
        double *bytes;
        c.model.layers = layers;
        storage_shards(&c, BYTES, arena, &bytes);
        double fullest = 8.0 * fmax(bytes[0], bytes[8]);
        assert_true(layers == 3 ? bytes[0] > bytes[8] : bytes[0] < bytes[8]);
        c.cluster.node.host.memory_bytes = 2.0 * fullest * (1 + 1e-9);
        assert_true(usable(&c, &tier, 1, &error));
        c.cluster.node.host.memory_bytes = 2.0 * fullest * (1 - 1e-9);
        assert_false(usable(&c, &tier, 1, &error));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_copies),
        cmocka_unit_test(test_tiers_share_a_memory),
        cmocka_unit_test(test_check_fullest_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
