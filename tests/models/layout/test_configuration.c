/* Every rule of a layout: a case that keeps it, and one that breaks it under the key a user must
 * look at. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

static struct configuration sized(uint64_t tp, uint64_t cp, uint64_t dp, uint64_t pp, uint64_t m)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, cp, dp, pp, m);
    return c;
}

static void test_sound(void **state)
{
    struct rule_break breaks[4];
    struct configuration c = sized(1, 1, 1, 1, 1);
    assert_int_equal(configuration_check(&c, breaks, 4), 0);
    c = sized(4, 2, 2, 2, 8);
    c.layout.sequence_parallel = true;
    assert_int_equal(configuration_check(&c, breaks, 4), 0);
    assert_int_equal(configuration_microbatches(&c), 8);
    assert_int_equal(configuration_ranks(&c), 32);
}

/* 120 SMs, of which copies hold 20: the product takes 120 / 100 of its time, whatever its kind and
 * the software's figure. By NCCL a persistent one ends as if both had run one after the other. */
static void test_what_overlap_with_tensor_traffic_costs(void **state)
{
    static const struct {
        bool pipelines, persistent;
        uint64_t held;
        double cost;
    } rows[] = {{false, false, 20, 0.4}, {false, true, 20, 1.0}, {true, false, 20, 0.2},
                {true, true, 20, 0.2},   {true, true, 0, 0.0},   {true, true, 120, 1.0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = sized(4, 1, 1, 1, 1);
        c.software.tensor.overlap_cost_ratio = 0.4;
        c.software.tensor.pipelines = rows[i].pipelines;
        c.software.tensor.bulk_sms = rows[i].held;
        c.software.tensor.scatter_sms = 30;
        c.gpu.gemm.persistent = rows[i].persistent;
        c.gpu.sm_count = 120;
        c.layout.sequence_parallel = true;
        assert_true(fabs(configuration_tensor_overlap_cost(&c) - rows[i].cost) < 1e-15);
        const double by_nccl = rows[i].persistent ? 1.0 : 0.4;
        c.layout.sequence_parallel = false; /* all-reduces are NCCL's */
        assert_true(configuration_tensor_overlap_cost(&c) == by_nccl);
        c.layout.sequence_parallel = true;
        c.cluster.node.gpus = 2; /* and so is what leaves the node */
        assert_true(configuration_tensor_overlap_cost(&c) == by_nccl);
    }
}

/* A product needs an SM that no copy holds. */
static void test_copies_leave_sms(void **state)
{
    for (unsigned bulk = 0; bulk < 2; bulk++) {
        struct configuration c = sized(4, 1, 1, 1, 1);
        const char *const key = bulk ? "software.tp_bulk_sms" : "software.tp_scatter_sms";
        c.layout.sequence_parallel = c.software.tensor.pipelines = true;
        *(bulk ? &c.software.tensor.bulk_sms : &c.software.tensor.scatter_sms) = 16;
        c.gpu.sm_count = 17;
        assert_int_equal(lower_case_errors(&c), 0);
        c.gpu.sm_count = 16;
        assert_true(lower_case_breaks(&c, key, false));
        c.software.tensor.pipelines = false; /* none is held */
        assert_int_equal(lower_case_errors(&c), 0);
    }
}

static void test_world(void **state)
{
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
    struct configuration c = sized(16, 1, 1, 1, 1);
    assert_true(lower_case_breaks(&c, "layout.tp", false)); /* 8 heads on 16 ranks */
    c = sized(8, 1, 1, 1, 1);
    c.model.attention.kv_heads = 2; /* repeated on 4 ranks each: allowed, and said */
    assert_int_equal(lower_case_errors(&c), 0);
    assert_true(lower_case_breaks(&c, "layout.tp", true));
    c = sized(4, 1, 1, 1, 1);
    c.model.attention.heads = 24;
    c.model.attention.kv_heads = 6; /* neither split over nor repeated on 4 ranks */
    assert_true(lower_case_breaks(&c, "layout.tp", false));
    c = sized(1, 1, 1, 1, 1);
    c.model.attention.kv_heads = 3;
    assert_true(lower_case_breaks(&c, "model.kv_heads", false));
    c = sized(4, 1, 1, 1, 1);
    c.model.ffn_hidden = 250;
    assert_true(lower_case_breaks(&c, "layout.tp", false));
}

static void test_sequence(void **state)
{
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
    struct configuration c = sized(16, 1, 1, 1, 1);
    c.model.attention.heads = c.model.attention.kv_heads = 16;
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
    struct configuration c = sized(1, 1, 1, 8, 8); /* 4 layers on 8 stages */
    assert_true(lower_case_breaks(&c, "layout.pp", false));
    c = sized(1, 1, 1, 2, 8);
    c.layout.pipeline.schedule = &schedule_interleaved;
    c.layout.pipeline.vpp = 4;
    assert_true(lower_case_breaks(&c, "layout.vpp", false));
    c.layout.pipeline.vpp = 2;
    assert_int_equal(lower_case_errors(&c), 0);
    c.training.global_batch = 7;
    assert_true(lower_case_breaks(&c, "layout.schedule", false));
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.training.global_batch = 8;
    assert_true(lower_case_breaks(&c, "layout.schedule", false));
    c = sized(1, 1, 1, 2, 8);
    c.layout.pipeline.first_layers = 3;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.pipeline.last_layers = 2;
    assert_true(lower_case_breaks(&c, "layout.first_stage_layers", false));
    c = sized(1, 1, 1, 1, 8);
    c.layout.pipeline.vpp = 2;
    c.layout.pipeline.schedule = &schedule_interleaved;
    assert_true(lower_case_breaks(&c, "layout.vpp", false)); /* no pipeline to interleave */
    c.layout.pipeline.vpp = 1;
    assert_int_equal(lower_case_errors(&c), 0);
    c = sized(1, 1, 1, 2, 8);
    c.layout.pipeline.schedule = &schedule_interleaved;
    assert_true(lower_case_breaks(&c, "layout.schedule", false)); /* one chunk: 1f1b */
}

/* `what` is said of `key`, as an error. */
static bool says(const struct configuration *c, const char *key, const char *what)
{
    struct rule_break breaks[8];
    unsigned count = configuration_check(c, breaks, 8);
    for (unsigned i = 0; i < count; i++)
        if (!breaks[i].warning && strcmp(breaks[i].key, key) == 0)
            return strstr(breaks[i].text, what) != NULL;
    return false;
}

static struct configuration staged(uint64_t layers, uint64_t pp, uint64_t vpp)
{
    struct configuration c = sized(1, 1, 1, pp, 2 * pp);
    c.model.layers = layers;
    c.layout.pipeline.vpp = vpp;
    c.layout.pipeline.schedule = vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
    c.software.pipeline.even_stages = true;
    return c;
}

/* Megatron's rules for layers over stages and chunks; software that splits by cost has none. */
static void test_even_stages(void **state)
{
    static const struct {
        uint64_t layers, pp, vpp;
        const char *key, *remedy; /* NULL: legal */
    } cases[] = {
        {80, 8, 3, "layout.vpp", "vpp = 2 or 5 would do"},
        {80, 64, 1, "layout.pp", "pp = 40 or 80 would do"},
        {80, 3, 1, "layout.pp", "pp = 2 or 4 would do"},
        {80, 48, 1, "layout.pp", "pp = 40 or 80 would do"},
        {126, 16, 4, "layout.pp", "ends_count: true"},
        {61, 4, 2, "layout.pp", "vpp = 1 with pp = 1 or 61 would do"},
        {80, 8, 2, NULL, NULL},
        {80, 8, 10, NULL, NULL},
        {80, 80, 1, NULL, NULL},
        {61, 1, 1, NULL, NULL},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = staged(cases[i].layers, cases[i].pp, cases[i].vpp);
        if (cases[i].key != NULL) {
            assert_true(says(&c, cases[i].key, cases[i].remedy));
            assert_int_equal(lower_case_errors(&c), 1);
            c.software.pipeline.even_stages = false;
        }
        assert_int_equal(lower_case_errors(&c), 0);
    }
    struct configuration c = staged(126, 16, 4);
    c.layout.pipeline.ends_count = true;
    assert_int_equal(lower_case_errors(&c), 0);
    c.model.layers = 127;
    assert_true(says(&c, "layout.pp", "129 layers (with embedding and head)"));
}

/* A given first or last stage leaves the rest, which must be even again. */
static void test_given_stages_even(void **state)
{
    struct configuration c = staged(80, 8, 1);
    c.layout.pipeline.first_layers = 9;
    assert_true(says(&c, "layout.first_stage_layers", "71 layers for 7 stages"));
    c.layout.pipeline.last_layers = 11;
    assert_int_equal(lower_case_errors(&c), 0); /* 60 over 6 */
    c.layout.pipeline.last_layers = 10;
    assert_true(says(&c, "layout.first_stage_layers", "61 layers for 6 stages"));
    c.layout.pipeline.first_layers = 0;
    assert_int_equal(lower_case_errors(&c), 0); /* 70 over 7 */
    c = staged(5, 2, 1);
    c.layout.pipeline.first_layers = 2;
    c.layout.pipeline.last_layers = 3;
    assert_int_equal(lower_case_errors(&c), 0); /* nothing is left */
}

/* What selective recomputation drops, a flash kernel never kept. */
static void test_recompute(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.layout.recompute = RECOMPUTE_SELECTIVE;
    struct rule_break b[2] = {{0}};
    assert_int_equal(configuration_check(&c, b, 2), 0); /* unfused attention keeps scores */
    c.training.attention = ATTENTION_FLASH2;
    c.training.causal = true;
    assert_int_equal(configuration_check(&c, b, 2), 1);
    assert_true(b[0].warning && strcmp(b[0].key, "layout.recompute") == 0);
    /* 2 s a of 6N + 6 s a for each layer: s 128, a 64, N / layers 16384 + 49152 + norms, and head
     */
    double core = 4.0 * 2.0 * 128 * 64, n = 4.0 * (16384 + 49152 + 128) + 64 + 512 * 64;
    char wanted[32];
    snprintf(wanted, sizeof wanted, ": %.1f %% more", 100.0 * core / (6.0 * n + 3.0 * core));
    assert_non_null(strstr(b[0].text, wanted));
    assert_non_null(strstr(b[0].text, "none"));
    c.training.causal = false;
    assert_int_equal(configuration_check(&c, b, 2), 1);
    snprintf(wanted, sizeof wanted, ": %.1f %% more", 200.0 * core / (6.0 * n + 6.0 * core));
    assert_non_null(strstr(b[0].text, wanted));
    for (int other = RECOMPUTE_NONE; other <= RECOMPUTE_FULL; other++) {
        if (other == RECOMPUTE_SELECTIVE)
            continue;
        lower_case_recompute(&c, other);
        assert_int_equal(configuration_check(&c, b, 2), 0);
    }
}

static void test_sharding(void **state)
{
    struct configuration c = sized(1, 1, 6, 1, 1);
    c.layout.data.sharding = &sharding_hsdp;
    c.layout.data.shard_group = 4;
    assert_true(lower_case_breaks(&c, "layout.shard_group", false));
    c.layout.data.shard_group = 3;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.data.shard_group = 12;
    assert_true(lower_case_breaks(&c, "layout.shard_group", false));
    c = sized(1, 1, 2, 2, 4);
    c.layout.data.sharding = &sharding_fsdp;
    assert_true(lower_case_breaks(&c, "layout.sharding", true));
}

/* No experts to cut, or to share. */
static void test_dense(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.layout.etp = 2;
    assert_true(lower_case_breaks(&c, "layout.etp", false));
    assert_false(lower_case_breaks(&c, "layout.ep", false));
    c.layout.ep = 2;
    c.layout.etp = 1;
    assert_true(lower_case_breaks(&c, "layout.ep", false));
    assert_false(lower_case_breaks(&c, "layout.etp", false));
    c.layout.ep = 1;
    assert_int_equal(lower_case_errors(&c), 0);
}

static void test_model(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.moe.experts = 8;
    assert_true(lower_case_breaks(&c, "model.experts", false)); /* of no width */
    c.model.moe.experts_per_token = 9;
    c.model.moe.ffn_hidden = 64;
    assert_true(lower_case_breaks(&c, "model.experts_per_token", false));
    c.model.moe.experts_per_token = 2;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.ep = 3;
    assert_true(lower_case_breaks(&c, "layout.ep", false)); /* of 8 experts, of one rank */
    c.layout.ep = 1;
    c.layout.etp = 2;
    assert_true(lower_case_breaks(&c, "layout.etp", false));
    c.layout.etp = 0;
    c.layout.recompute = RECOMPUTE_PER_OPERATOR;
    assert_true(lower_case_breaks(&c, "layout.recompute", false));
    c = sized(2, 1, 2, 1, 4);
    c.model.moe.experts = 8;
    c.model.moe.experts_per_token = 2;
    c.model.moe.ffn_hidden = 64;
    assert_true(lower_case_breaks(&c, "layout.sequence_parallel", false));
    c.layout.sequence_parallel = true;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.ep = 2;
    assert_int_equal(lower_case_errors(&c), 0);
    c.software.experts.shared_overlap = true;
    c.layout.experts.dispatch = &dispatch_hierarchical; /* no shared experts to run beside it */
    c.layout.etp = 1;
    assert_int_equal(lower_case_errors(&c), 0);
    c.model.moe.shared_experts = 1;
    assert_true(lower_case_breaks(&c, "software.shared_expert_overlap", false));
    c.layout.experts.dispatch = &dispatch_alltoall;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.pipeline.schedule = &schedule_dualpipe;
    assert_true(lower_case_breaks(&c, "software.shared_expert_overlap", false));
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.data.sharding = &sharding_zero_3;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.data.sharding = &sharding_hsdp;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.data.shard_group = 1;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.ep = 4; /* of two ranks of a shard group */
    assert_true(lower_case_breaks(&c, "layout.ep", false));
    c.layout.ep = 2;
    c.layout.order = "dp-tp-cp-pp";
    assert_true(lower_case_breaks(&c, "layout.order", false));
    c.layout.order = "tp-cp-dp-pp";
    c.layout.data.shard_group = 0;
    c.layout.ep = 1;
    c.layout.dp = 1;
    c.training.global_batch = c.layout.microbatch;
    c.layout.data.sharding = &sharding_zero_1;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.data.sharding = &sharding_fsdp; /* experts on two ranks, all else on one */
    assert_true(lower_case_breaks(&c, "layout.sharding", false));
    c.layout.ep = 2;
    assert_int_equal(lower_case_errors(&c), 0);
    c.model.moe.experts = 0;
    assert_true(lower_case_breaks(&c, "layout.ep", false));
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
    struct configuration base = sized(1, 1, 1, 1, 1);
    static const size_t fields[] = {
        offsetof(struct configuration, layout.tp),
        offsetof(struct configuration, layout.pp),
        offsetof(struct configuration, layout.dp),
        offsetof(struct configuration, layout.cp),
        offsetof(struct configuration, layout.pipeline.vpp),
        offsetof(struct configuration, layout.microbatch),
        offsetof(struct configuration, training.sequence),
        offsetof(struct configuration, training.global_batch),
        offsetof(struct configuration, model.layers),
        offsetof(struct configuration, model.hidden),
        offsetof(struct configuration, model.attention.heads),
        offsetof(struct configuration, model.attention.kv_heads),
        offsetof(struct configuration, model.attention.head_size),
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
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.moe.experts = 8;
    c.layout.order = "";
    struct rule_break one[2] = {{0}};
    assert_int_equal(configuration_check(&c, one, 1), 2);
    assert_null(one[1].key);
}

/* All GPUs of the nodes, or as many as are stated. */
static void test_gpus(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.cluster.nodes = 3;
    c.cluster.node.gpus = 8;
    c.cluster.gpus = 0;
    assert_true(configuration_gpus(&c) == 24);
    c.cluster.gpus = 20;
    assert_true(configuration_gpus(&c) == 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_what_overlap_with_tensor_traffic_costs),
        cmocka_unit_test(test_copies_leave_sms),
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_nvlink_domain),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_sharding),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_even_stages),
        cmocka_unit_test(test_given_stages_even),
        cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
