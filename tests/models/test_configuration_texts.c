/* What a user reads of a broken rule, word for word, with the numbers computed by hand; and the
 * bounds of the rules on both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower_case.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

static struct configuration sized(uint64_t tp, uint64_t cp, uint64_t dp, uint64_t pp, uint64_t m)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, cp, dp, pp, m);
    return c;
}

/* The only break is this one; NULL: none. */
static void only(const struct configuration *c, bool warning, const char *key, const char *text)
{
    struct rule_break breaks[8];
    const unsigned count = configuration_check(c, breaks, 8);
    assert_int_equal(count, text != NULL);
    if (text != NULL) {
        assert_int_equal(breaks[0].warning, warning);
        assert_string_equal(breaks[0].key, key);
        assert_string_equal(breaks[0].text, text);
    }
}

static void test_world(void **state)
{
    (void)state;
    struct configuration c = sized(2, 1, 2, 2, 4);
    c.layout.dp = 1;
    c.training.global_batch = 4;
    only(&c, true, "layout.dp",
         "tp x pp x cp x dp = 4 ranks leave 4 of 8 GPUs idle: 50 % of what is paid for; dp = 2 "
         "would use them all");
    c.layout.tp = 1;
    c.training.global_batch = 8;
    only(&c, true, "layout.dp",
         "tp x pp x cp x dp = 2 ranks leave 6 of 8 GPUs idle: 75 % of what is paid for; dp = 4 "
         "would use them all");
    c = sized(2, 1, 2, 2, 4);
    c.layout.dp = 3;
    c.training.global_batch = 12;
    only(&c, false, "layout.dp",
         "tp x pp x cp x dp = 12 ranks, but the cluster has 8 GPUs: dp can be at most 2");
    c = sized(2, 1, 2, 2, 4);
    c.layout.pp = 3;
    c.layout.dp = 1;
    only(&c, false, "layout", "the world size 8 is not divisible by tp x pp x cp = 2 x 3 x 1 = 6");
}

static void test_heads(void **state)
{
    (void)state;
    struct configuration c = sized(8, 1, 1, 1, 1);
    c.model.kv_heads = 2;
    only(&c, true, "layout.tp",
         "tp = 8 exceeds the 2 key-value heads: each is repeated on 4 ranks, which all compute and "
         "store its keys and values");
    c.model.kv_heads = 4;
    only(&c, true, "layout.tp",
         "tp = 8 exceeds the 4 key-value heads: each is repeated on 2 ranks, which all compute and "
         "store its keys and values");
    c.model.kv_heads = 8;
    only(&c, false, NULL, NULL);
}

/* Under a causal mask a rank takes a block from either end: twice as many blocks as ranks. */
static void test_sequence(void **state)
{
    (void)state;
    static const struct {
        uint64_t cp, sequence;
        bool causal;
        const char *text; /* NULL: sound */
    } cases[] = {
        {1, 127, true, NULL},
        {2, 126, false, NULL},
        {2, 128, true, NULL},
        {2, 126, true,
         "the sequence 126 is not divisible by 2 x cp = 4: under a causal mask each rank takes a "
         "block from either end"},
        {4, 124, true,
         "the sequence 124 is not divisible by 2 x cp = 8: under a causal mask each rank takes a "
         "block from either end"},
        {4, 136, true, NULL},
        {4, 126, true, "the sequence 126 is not divisible by cp = 4"},
        {2, 127, false, "the sequence 127 is not divisible by cp = 2"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = sized(1, cases[i].cp, 1, 1, 1);
        c.training.sequence = cases[i].sequence;
        c.training.causal = cases[i].causal;
        only(&c, false, "layout.cp", cases[i].text);
    }
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.position = POSITION_LEARNED;
    c.model.positions_max = 128;
    only(&c, false, NULL, NULL);
    c.model.positions_max = 1;
    only(&c, false, "training.sequence",
         "the sequence 128 exceeds the 1 learned positions of the model");
    c.model.positions_max = 0; /* as many as there are */
    only(&c, false, NULL, NULL);
}

/* 4 x 2 x 15/16 x 128 x 64 x 2 bytes = 122,880; 25 GB/s a NIC. */
static void test_domain(void **state)
{
    (void)state;
    struct configuration c = sized(16, 1, 1, 1, 1);
    c.model.heads = c.model.kv_heads = 16;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than the NVLink domain of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank at 25 GB/s through the NICs instead of 300 GB/s, 0.00492 ms instead "
         "of 0.00041 ms, 12 times as long");
    c.cluster.fabric.nic_bytes_per_s = 50e9; /* the fabric's NICs count before the node's */
    c.cluster.node.nics = 4;
    c.cluster.node.nvlink_bytes_per_s = 0.0;
    c.cluster.node.pcie_bytes_per_s = 100e9;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than the NVLink domain of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank at 25 GB/s through the NICs instead of 100 GB/s, 0.00492 ms instead "
         "of 0.00123 ms, 4 times as long");
    c.cluster.fabric.nic_bytes_per_s = 0.0;
    c.cluster.node.nic_bytes_per_s = 0.0;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than the NVLink domain of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank through the network");
}

/* At most 60,000 microbatches, and 2^20 layers in all of them. */
static void test_batch(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 2, 1, 4);
    c.layout.microbatch = 2;
    c.training.global_batch = 14;
    only(&c, false, "training.global_batch",
         "the global batch 14 is not divisible by dp x microbatch = 2 x 2 = 4");
    c.model.layers = 1;
    c.training.global_batch = 4 * 60000;
    only(&c, false, NULL, NULL);
    c.training.global_batch = 4 * 60001;
    only(&c, false, "training.global_batch",
         "60001 microbatches of 1 layers are too many to simulate (at most 60000 microbatches, "
         "1048576 layers in all of them): take a larger microbatch or dp");
    c.model.layers = 32;
    c.training.global_batch = 4 * 32768;
    only(&c, false, NULL, NULL);
    c.training.global_batch = 4 * 32769;
    only(&c, false, "training.global_batch",
         "32769 microbatches of 32 layers are too many to simulate (at most 60000 microbatches, "
         "1048576 layers in all of them): take a larger microbatch or dp");
}

/* A shard group that holds twice, once and not; what a pipeline of units costs in passes. */
static void test_sharding(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 8, 1, 1);
    c.layout.sharding = &sharding_hsdp;
    for (uint64_t group = 1; group <= 8; group *= 2) {
        c.layout.shard_group = group;
        only(&c, false, NULL, NULL);
    }
    c.layout.shard_group = 3;
    only(&c, false, "layout.shard_group", "the shard group of 3 does not divide dp x cp = 8");
    c = sized(1, 1, 2, 2, 4);
    c.layout.sharding = &sharding_fsdp;
    only(&c, true, "layout.sharding",
         "fsdp with pp = 2 gathers the stage's weights anew in each of up to 8 passes of a step, "
         "where zero-1 gathers them once");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world),    cmocka_unit_test(test_heads),
        cmocka_unit_test(test_sequence), cmocka_unit_test(test_domain),
        cmocka_unit_test(test_batch),    cmocka_unit_test(test_sharding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
