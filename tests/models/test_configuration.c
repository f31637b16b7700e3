/* Every rule of a layout: a case that keeps it, and one that breaks it under the key a user must
 * look at. */
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

static void test_sound(void **state)
{
    (void)state;
    struct rule_break breaks[4];
    struct configuration c = sized(1, 1, 1, 1, 1);
    assert_int_equal(configuration_check(&c, breaks, 4), 0);
    c = sized(4, 2, 2, 2, 8);
    c.layout.sequence_parallel = true;
    assert_int_equal(configuration_check(&c, breaks, 4), 0);
    assert_int_equal(configuration_microbatches(&c), 8);
    assert_int_equal(configuration_ranks(&c), 32);
}

static void test_world(void **state)
{
    (void)state;
    struct configuration c = sized(2, 1, 2, 2, 4);
    c.layout.dp = 4;
    c.training.global_batch = 16;
    assert_true(lower_case_breaks(&c, "layout.dp", false)); /* more ranks than GPUs */
    c.layout.dp = 1;
    assert_int_equal(lower_case_errors(&c), 0);
    assert_true(lower_case_breaks(&c, "layout.dp", true)); /* GPUs stay idle */
    c.layout.pp = 3;
    assert_true(lower_case_breaks(&c, "layout", false)); /* 8 GPUs, 2 x 3 */
}

static void test_heads(void **state)
{
    (void)state;
    struct configuration c = sized(16, 1, 1, 1, 1);
    assert_true(lower_case_breaks(&c, "layout.tp", false)); /* 8 heads on 16 ranks */
    c = sized(8, 1, 1, 1, 1);
    c.model.kv_heads = 2; /* repeated on 4 ranks each: allowed, and said */
    assert_int_equal(lower_case_errors(&c), 0);
    assert_true(lower_case_breaks(&c, "layout.tp", true));
    c = sized(4, 1, 1, 1, 1);
    c.model.heads = 24;
    c.model.kv_heads = 6; /* neither split over nor repeated on 4 ranks */
    assert_true(lower_case_breaks(&c, "layout.tp", false));
    c = sized(1, 1, 1, 1, 1);
    c.model.kv_heads = 3;
    assert_true(lower_case_breaks(&c, "model.kv_heads", false));
    c = sized(4, 1, 1, 1, 1);
    c.model.ffn_hidden = 250;
    assert_true(lower_case_breaks(&c, "layout.tp", false));
}

static void test_sequence(void **state)
{
    (void)state;
    struct configuration c = sized(1, 2, 1, 1, 1);
    c.training.sequence = 127;
    assert_true(lower_case_breaks(&c, "layout.cp", false));
    c = sized(8, 1, 1, 1, 1);
    c.training.sequence = 100;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.sequence_parallel = true;
    assert_true(lower_case_breaks(&c, "layout.sequence_parallel", false));
    c = sized(1, 1, 1, 1, 1);
    c.layout.sequence_parallel = true; /* nothing to split: a warning */
    assert_int_equal(lower_case_errors(&c), 0);
    assert_true(lower_case_breaks(&c, "layout.sequence_parallel", true));
    c.model.position = POSITION_LEARNED;
    c.model.positions_max = 64;
    assert_true(lower_case_breaks(&c, "training.sequence", false));
}

/* The warning names its price: bytes, both rates, both times, the factor. */
static void test_nvlink_domain(void **state)
{
    (void)state;
    struct configuration c = sized(16, 1, 1, 1, 1);
    c.model.heads = c.model.kv_heads = 16;
    struct rule_break breaks[8];
    assert_int_equal(configuration_check(&c, breaks, 8), 1);
    assert_true(breaks[0].warning);
    assert_string_equal(breaks[0].key, "layout.tp");
    /* 4 x 2 x 15/16 x 128 x 64 x 2 bytes; 25 GB/s for each GPU against 300 GB/s */
    assert_non_null(strstr(breaks[0].text, "0.123 MB"));
    assert_non_null(strstr(breaks[0].text, "25 GB/s"));
    assert_non_null(strstr(breaks[0].text, "300 GB/s"));
    assert_non_null(strstr(breaks[0].text, "12 times"));
    c = sized(8, 1, 2, 1, 1);
    assert_int_equal(configuration_check(&c, breaks, 8), 0);
}

static void test_batch(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 2, 1, 4);
    c.training.global_batch = 7;
    assert_true(lower_case_breaks(&c, "training.global_batch", false));
    c.training.global_batch = 2ull * 100000;
    assert_true(lower_case_breaks(&c, "training.global_batch", false));
    c.training.global_batch = 2ull * 50000; /* 50,000 microbatches of 4 layers can be simulated */
    assert_int_equal(lower_case_errors(&c), 0);
    c.model.layers = 40;
    assert_true(lower_case_breaks(&c, "training.global_batch", false));
}

static void test_stages(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 1, 8, 8); /* 4 layers on 8 stages */
    assert_true(lower_case_breaks(&c, "layout.pp", false));
    c = sized(1, 1, 1, 2, 8);
    c.layout.schedule = &schedule_interleaved;
    c.layout.vpp = 4;
    assert_true(lower_case_breaks(&c, "layout.vpp", false));
    c.layout.vpp = 2;
    assert_int_equal(lower_case_errors(&c), 0);
    c.training.global_batch = 7;
    assert_true(lower_case_breaks(&c, "layout.schedule", false));
    c.layout.schedule = &schedule_one_f_one_b;
    c.training.global_batch = 8;
    assert_true(lower_case_breaks(&c, "layout.schedule", false));
    c = sized(1, 1, 1, 2, 8);
    c.layout.first_stage_layers = 3;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.last_stage_layers = 2;
    assert_true(lower_case_breaks(&c, "layout.first_stage_layers", false));
    c = sized(1, 1, 1, 1, 8);
    c.layout.vpp = 2;
    c.layout.schedule = &schedule_interleaved;
    assert_true(lower_case_breaks(&c, "layout.vpp", true));
}

static void test_sharding(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 6, 1, 1);
    c.layout.sharding = &sharding_hsdp;
    c.layout.shard_group = 4;
    assert_true(lower_case_breaks(&c, "layout.shard_group", false));
    c.layout.shard_group = 3;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.shard_group = 12;
    assert_true(lower_case_breaks(&c, "layout.shard_group", false));
    c = sized(1, 1, 2, 2, 4);
    c.layout.sharding = &sharding_fsdp;
    assert_true(lower_case_breaks(&c, "layout.sharding", true));
}

static void test_model(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.experts = 8;
    assert_true(lower_case_breaks(&c, "model.experts", true)); /* counted, not simulated */
    c.model.experts = 0;
    c.model.kv_rank = 64;
    assert_true(lower_case_breaks(&c, "model.kv_rank", false));
    c = sized(1, 1, 1, 1, 1);
    c.training.attention = ATTENTION_FLASH3; /* not for an A100 */
    assert_true(lower_case_breaks(&c, "training.attention", false));
    c = sized(1, 1, 1, 1, 1);
    c.layout.order = "tp-dp-pp";
    assert_true(lower_case_breaks(&c, "layout.order", false));
    c = sized(1, 1, 1, 1, 1);
    c.training.precision = precision_find("fp8"); /* an A100 has no fp8 */
    assert_true(lower_case_breaks(&c, "training.precision", false));
}

/* Zeros and numbers that would overflow stop the checks that divide by them. */
static void test_hostile_numbers(void **state)
{
    (void)state;
    struct configuration base = sized(1, 1, 1, 1, 1);
    static const size_t fields[] = {
        offsetof(struct configuration, layout.tp),
        offsetof(struct configuration, layout.pp),
        offsetof(struct configuration, layout.dp),
        offsetof(struct configuration, layout.cp),
        offsetof(struct configuration, layout.vpp),
        offsetof(struct configuration, layout.microbatch),
        offsetof(struct configuration, training.sequence),
        offsetof(struct configuration, training.global_batch),
        offsetof(struct configuration, model.layers),
        offsetof(struct configuration, model.hidden),
        offsetof(struct configuration, model.heads),
        offsetof(struct configuration, model.kv_heads),
        offsetof(struct configuration, model.head_size),
        offsetof(struct configuration, model.ffn_hidden),
        offsetof(struct configuration, model.vocabulary),
        offsetof(struct configuration, cluster.nodes),
        offsetof(struct configuration, cluster.node.gpus),
    };
    static const uint64_t values[] = {0, UINT64_MAX, UINT64_MAX / 2, 1ull << 40};
    for (unsigned f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        for (unsigned v = 0; v < sizeof values / sizeof values[0]; v++) {
            struct configuration c = base;
            memcpy((char *)&c + fields[f], &values[v], sizeof values[v]);
            assert_true(lower_case_errors(&c) >= 1);
        }
    }
    base.layout.tp = base.layout.pp = base.layout.dp = 1u << 20;
    assert_true(lower_case_breaks(&base, "layout", false));
}

/* More breaks than room: all are counted, none is written past the end. */
static void test_capacity(void **state)
{
    (void)state;
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.experts = 8;
    c.layout.order = "";
    struct rule_break one[2] = {{0}};
    assert_int_equal(configuration_check(&c, one, 1), 2);
    assert_null(one[1].key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),         cmocka_unit_test(test_world),
        cmocka_unit_test(test_heads),         cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_nvlink_domain), cmocka_unit_test(test_batch),
        cmocka_unit_test(test_stages),        cmocka_unit_test(test_sharding),
        cmocka_unit_test(test_model),         cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
