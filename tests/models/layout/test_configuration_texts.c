/* What a user reads of a broken rule, word for word, with the numbers computed by hand; and the
 * bounds of the rules on both sides. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

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

/* Is this said of the key? */
static bool said(const struct configuration *c, const char *key, const char *text)
{
    struct rule_break breaks[32];
    const unsigned count = configuration_check(c, breaks, 32);
    bool found = false;
    for (unsigned i = 0; i < count; i++)
        found |= strcmp(breaks[i].key, key) == 0 && strcmp(breaks[i].text, text) == 0;
    return found;
}

static void test_world(void **state)
{
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
    struct configuration c = sized(8, 1, 1, 1, 1);
    c.model.attention.kv_heads = 2;
    only(&c, true, "layout.tp",
         "tp = 8 exceeds the 2 key-value heads: each is repeated on 4 ranks, which all compute and "
         "store its keys and values");
    c.model.attention.kv_heads = 4;
    only(&c, true, "layout.tp",
         "tp = 8 exceeds the 4 key-value heads: each is repeated on 2 ranks, which all compute and "
         "store its keys and values");
    c.model.attention.kv_heads = 8;
    only(&c, false, NULL, NULL);
}

/* Under a causal mask a rank takes a block from either end: twice as many blocks as ranks. */
static void test_sequence(void **state)
{
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
    only(
        &c, false, "training.sequence",
        "the sequence 128 exceeds the 1 learned positions of the model: take at most as many, or a "
        "larger table (model.positions_max)");
    c.model.positions_max = 0; /* as many as there are */
    only(&c, false, NULL, NULL);
}

/* 4 x 2 x 15/16 x 128 x 64 x 2 bytes = 122,880; 25 GB/s a NIC. */
static void test_domain(void **state)
{
    struct configuration c = sized(16, 1, 1, 1, 1);
    c.model.attention.heads = c.model.attention.kv_heads = 16;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than the NVLink domain of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank at 25 GB/s through the NICs instead of 300 GB/s, 0.00492 ms instead "
         "of 0.00041 ms, 12 times as long");
    c.cluster.fabric.nic_bytes_per_s = 50e9; /* the fabric's NICs count before the node's */
    c.cluster.node.nic.count = 4;
    c.cluster.node.kind = &topology_pcie; /* bridges in pairs join no more than two */
    c.cluster.node.options = (struct kind_options){.value = {4, 2}};
    c.cluster.node.pcie.bytes_per_s = 100e9;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than a node of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank at 25 GB/s through the NICs instead of 100 GB/s, 0.00492 ms instead "
         "of 0.00123 ms, 4 times as long");
    c.cluster.fabric.nic_bytes_per_s = 0.0;
    c.cluster.node.nic.bytes_per_s = 0.0;
    only(&c, true, "layout.tp",
         "tp = 16 is larger than a node of 8 GPUs: each layer sends 0.123 MB a "
         "microbatch and rank through the network");
}

/* At most 60,000 microbatches, and 2^20 layers in all of them. */
static void test_batch(void **state)
{
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
    struct configuration c = sized(1, 1, 8, 1, 1);
    c.layout.data.sharding = &sharding_hsdp;
    for (uint64_t group = 1; group <= 8; group *= 2) {
        c.layout.data.shard_group = group;
        only(&c, false, NULL, NULL);
    }
    c.layout.data.shard_group = 3;
    only(&c, false, "layout.shard_group", "the shard group of 3 does not divide dp x cp = 8");
    c = sized(1, 1, 2, 2, 4);
    c.layout.data.sharding = &sharding_fsdp;
    only(&c, true, "layout.sharding",
         "fsdp with pp = 2 accumulates gradients in full and reduces them once, after the last "
         "microbatch, and keeps weights gathered through the step: it holds no less than zero-1");
    c.layout.data.sharding = &sharding_zero_2;
    only(&c, true, "layout.sharding",
         "zero-2 with pp = 2 accumulates gradients in full and reduces them once, after the last "
         "microbatch: it holds no less than zero-1");
    c.layout.data.sharding = &sharding_zero_1;
    only(&c, false, NULL, NULL);
    c.software.name = "old";
    c.software.pipeline.refuses_shards = true;
    only(&c, false, NULL, NULL);
    c.layout.data.sharding = &sharding_zero_2;
    only(&c, false, "layout.sharding",
         "old refuses zero-2 with pp = 2: under a pipeline take zero-1 or zero-0");
    c = sized(1, 1, 4, 1, 4);
    c.software.pipeline.refuses_shards = true;
    c.layout.data.sharding = &sharding_zero_3;
    only(&c, false, NULL, NULL);
}

/* The largest number that each key takes, and the words about one more and about none. */
static void test_largest_numbers(void **state)
{
#define ROW(key, field, most)                                                                      \
    {                                                                                              \
        key, offsetof(struct configuration, field), most                                           \
    }
    static const struct {
        const char *key;
        size_t at;
        uint64_t most;
    } rows[] = {
        ROW("layout.tp", layout.tp, 4194304),
        ROW("layout.pp", layout.pp, 4194304),
        ROW("layout.dp", layout.dp, 4194304),
        ROW("layout.cp", layout.cp, 4194304),
        ROW("layout.vpp", layout.pipeline.vpp, 64),
        ROW("layout.microbatch", layout.microbatch, 4194304),
        ROW("training.sequence", training.sequence, 1 << 30),
        ROW("training.global_batch", training.global_batch, 4294967295),
        ROW("model.layers", model.layers, 4096),
        ROW("model.hidden", model.hidden, 1 << 24),
        ROW("model.heads", model.attention.heads, 1 << 16),
        ROW("model.kv_heads", model.attention.kv_heads, 1 << 16),
        ROW("model.head_size", model.attention.head_size, 1 << 16),
        ROW("model.ffn_hidden", model.ffn_hidden, 1 << 24),
        ROW("model.vocabulary", model.vocabulary, 1 << 28),
        ROW("cluster.nodes", cluster.nodes, 4194304),
        ROW("cluster.node.gpus", cluster.node.gpus, 4194304),
    };
#undef ROW
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t values[] = {1, rows[i].most, rows[i].most + 1, 0};
        for (unsigned k = 0; k < 4; k++) {
            char text[100];
            struct configuration c = sized(1, 1, 1, 1, 1);
            memcpy((char *)&c + rows[i].at, &values[k], sizeof values[k]);
            snprintf(text, sizeof text, "%s is %" PRIu64 ": it must be from 1 to %" PRIu64,
                     rows[i].key, values[k], rows[i].most);
            assert_int_equal(said(&c, rows[i].key, text), k >= 2);
            if (k >= 2)
                only(&c, false, rows[i].key, text); /* nothing else is asked then */
        }
    }
}

/* 2^22 ranks or GPUs; products that wrap around are no way past it. */
static void test_most_ranks(void **state)
{
    static const struct {
        uint64_t tp, pp, dp, cp, nodes;
        bool taken;
    } cases[] = {
        {2048, 2048, 1, 1, 1, true},
        {1, 1, 2048, 2048, 1, true},
        {2048, 1, 2048, 1, 1, true},
        {2048, 2049, 1, 1, 1, false},
        {1, 1, 2048, 2049, 1, false},
        {2048, 1, 2049, 1, 1, false},
        {4194304, 4194304, 1048576, 1, 1, false},
        {1048576, 1, 4194304, 4194304, 1, false},
        {1, 1, 1, 1, 524288, true},
        {1, 1, 1, 1, 524289, false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = sized(1, 1, 1, 1, 1);
        c.layout.tp = cases[i].tp;
        c.layout.pp = cases[i].pp;
        c.layout.dp = cases[i].dp;
        c.layout.cp = cases[i].cp;
        c.cluster.nodes = cases[i].nodes;
        c.cluster.node.gpus = 8;
        assert_int_equal(said(&c, "layout", "more than 4194304 ranks or GPUs"), !cases[i].taken);
    }
}

static void test_what_tp_splits(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.model.attention.kv_heads = 3;
    only(&c, false, "model.kv_heads",
         "8 heads are not divisible by 3 key-value heads: take a divisor");
    c = sized(16, 1, 1, 1, 1);
    c.cluster.node.gpus = 16;
    c.cluster.nodes = 1;
    only(&c, false, "layout.tp", "8 attention heads are not divisible by tp = 16");
    c = sized(4, 1, 1, 1, 1);
    c.model.attention.heads = 24;
    c.model.attention.kv_heads = 6;
    only(&c, false, "layout.tp",
         "6 key-value heads can be neither split over nor repeated on tp = 4 ranks: one must "
         "divide the other");
    c.model.attention.kv_heads = 12; /* split */
    only(&c, false, NULL, NULL);
    c.model.ffn_hidden = 250;
    only(&c, false, "layout.tp", "ffn_hidden = 250 is not divisible by tp = 4");
}

/* cp x tp under sequence parallelism, cp alone without. */
static void test_sequence_parallel(void **state)
{
    static const struct {
        uint64_t tp, cp, sequence;
        bool parallel, sound;
    } cases[] = {{8, 1, 100, false, true}, {8, 1, 104, true, true},  {4, 2, 104, true, true},
                 {4, 2, 108, true, false}, {4, 2, 108, false, true}, {8, 1, 100, true, false},
                 {2, 4, 104, true, true},  {2, 4, 100, true, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = sized(cases[i].tp, cases[i].cp, 1, 1, 1);
        char text[120];
        c.training.sequence = cases[i].sequence;
        c.layout.sequence_parallel = cases[i].parallel;
        snprintf(text, sizeof text,
                 "the sequence %" PRIu64 " is not divisible by cp x tp = %" PRIu64
                 ", as sequence_parallel needs",
                 cases[i].sequence, cases[i].cp * cases[i].tp);
        only(&c, false, "layout.sequence_parallel", cases[i].sound ? NULL : text);
    }
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.layout.sequence_parallel = true;
    only(&c, true, "layout.sequence_parallel",
         "sequence_parallel has nothing to split with tp = 1: it changes nothing");
}

/* A full square is 4 s a a token, of 6 N + 12 s a; half of it under a mask that kernels use. */
static void test_selective(void **state)
{
    const double n = 4.0 * (16384 + 49152 + 128) + 64 + 512 * 64, square = 4.0 * 128 * 64 * 4;
    for (unsigned i = 0; i < 4; i++) {
        const bool causal = i & 1, full = i & 2;
        struct configuration c = sized(1, 1, 1, 1, 1);
        char text[300];
        c.layout.recompute = RECOMPUTE_SELECTIVE;
        c.training.attention = ATTENTION_FLASH2;
        c.training.causal = causal;
        c.software.attention.full_square = full;
        const double core = causal && !full ? 0.5 * square : square;
        snprintf(text, sizeof text,
                 "selective saves next to nothing with flash2 attention, which never keeps the "
                 "scores, and repeats its forward kernels: %.1f %% more FLOPs; take none, or full "
                 "where memory is short",
                 100.0 * core / (6.0 * n + 3.0 * core));
        only(&c, true, "layout.recompute", text);
    }
}

/* Kinds that count layers say how many, others do not; no more than a chunk holds. */
static void test_recompute_layers(void **state)
{
    struct configuration c = sized(1, 1, 2, 2, 1); /* chunks of two layers */
    const char *key = "layout.recompute_layers";
    c.layout.recompute = RECOMPUTE_BLOCK;
    only(&c, false, key, "block needs recompute_layers: how many of each chunk are recomputed");
    c.layout.recompute_layers = 2;
    only(&c, false, NULL, NULL);
    c.layout.recompute_layers = 3;
    only(&c, false, key,
         "a chunk has at most 2 layers, not 3: to recompute everything take recompute: full");
    c.layout.pipeline.first_layers = 3;
    only(&c, false, NULL, NULL);
    c.layout.pipeline.first_layers = 0;
    c.layout.recompute = RECOMPUTE_UNIFORM;
    only(&c, false, key, "a chunk has at most 2 layers, not 3");
    c.layout.recompute_layers = 0;
    only(&c, false, key, "uniform needs recompute_layers: how many share one kept input");
    c.layout.recompute = RECOMPUTE_FULL;
    c.layout.recompute_layers = 1;
    only(&c, false, key, "recompute full takes no number of layers: block and uniform do");
    c = sized(1, 1, 2, 1, 1);
    c.layout.recompute = RECOMPUTE_UNIFORM;
    c.layout.recompute_layers = 2;
    c.layout.data.sharding = &sharding_fsdp;
    only(&c, false, key, "fsdp gathers 1 layer at once, no multiple of uniform's 2");
    c.layout.data.fsdp_unit_layers = 4;
    only(&c, false, NULL, NULL);
    c.layout.data.sharding = &sharding_zero_3; /* layer by layer, whatever the units of fsdp are */
    only(&c, false, key, "zero-3 gathers 1 layer at once, no multiple of uniform's 2");
}

/* Of a card with all curves the remedy is a kernel that takes them, else the 16-bit operands. */
static void attention_in_eight_bits(struct configuration c)
{
    static const char key[] = "software.fp8_attention";
    c.gpu.peak_flops_per_s[PEAK_FP8] = 2e15;
    for (unsigned k = ATTENTION_FLASH1; k <= ATTENTION_CUDNN; k++)
        for (int causal = 0; causal < 2; causal++)
            c.gpu.attention.forward[k][causal] = c.gpu.attention.backward[k][causal] =
                (struct attention_curve){1, 1};
    c.training.precision = precision_find("fp8");
    c.training.attention = ATTENTION_FLASH2;
    only(&c, false, NULL, NULL);
    c.software.fp8.attention = true;
    only(&c, false, key,
         "the flash2 attention kernel takes no 8-bit operands: set training.attention=cudnn, or "
         "software.fp8_attention=false");
    c.training.precision = precision_find("bf16"); /* where it is nothing */
    only(&c, false, NULL, NULL);
    c.training.precision = precision_find("fp8");
    c.training.attention = ATTENTION_CUDNN;
    only(&c, false, NULL, NULL);
    c.training.attention = ATTENTION_FLASH3;
    only(&c, false, NULL, NULL);
    c.training.attention = ATTENTION_MATH;
    c.gpu.attention.forward[ATTENTION_CUDNN][1].ceiling_flops_per_s = 0.0;
    only(&c, false, key,
         "the math attention kernel takes no 8-bit operands: set training.attention=flash3, or "
         "software.fp8_attention=false");
    c.gpu.attention.forward[ATTENTION_FLASH3][1].ceiling_flops_per_s = 0.0;
    only(&c, false, key,
         "the math attention kernel takes no 8-bit operands: set software.fp8_attention=false");
}

static void test_machine(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 1);
    c.gpu.name = "card";
    c.training.attention = ATTENTION_FLASH3;
    only(&c, false, "training.attention",
         "card has no flash3 attention kernel: take auto, or math");
    c.training.precision = precision_find("fp32");
    only(&c, false, "training.attention",
         "no flash3 attention kernel takes fp32: set training.attention=math, or a training"
         ".precision of 16 bits or fewer");
    attention_in_eight_bits(c);
    c.training.attention = ATTENTION_MATH;
    c.training.precision = precision_find("fp8");
    only(&c, false, "training.precision",
         "card has no fp8 peak: it cannot train in that precision; take bf16");
    c.training.precision = precision_find("bf16");
    c.layout.order = "tp-dp-pp";
    only(&c, false, "layout.order",
         "'tp-dp-pp' must name each of tp, cp, dp, pp once, joined by dashes: tp-cp-dp-pp; "
         "or be auto");
    c = sized(1, 1, 6, 1, 1);
    c.layout.data.sharding = &sharding_hsdp;
    c.layout.data.shard_group = 12;
    assert_true(said(&c, "layout.shard_group", "the shard group of 12 is larger than dp x cp = 6"));
    c.layout.data.shard_group = 6;
    only(&c, false, NULL, NULL);
    c.layout.data.sharding = &sharding_fsdp; /* of its own kind alone */
    c.layout.data.shard_group = 12;
    only(&c, false, NULL, NULL);
    c = sized(2, 1, 2, 2, 4); /* a Volta: fp16 on matrix units, bf16 on the others */
    c.gpu.name = "card";
    c.gpu.peak_flops_per_s[PEAK_FP32] = c.gpu.peak_flops_per_s[PEAK_BF16] = 16e12;
    c.gpu.peak_flops_per_s[PEAK_FP16] = 125e12;
    only(&c, true, "training.precision",
         "card has no bf16 matrix units: GEMMs run at 16 of the 125 TFLOP/s that fp16 has");
    c.training.precision = precision_find("fp16");
    only(&c, false, "training.precision", NULL);
    c.gpu.peak_flops_per_s[PEAK_FP8] = 2e15; /* a Hopper: eight bits, but no scales by 32 */
    c.training.precision = precision_find("fp8");
    c.software.fp8.recipe = FP8_MX;
    only(&c, false, "software.fp8_recipe",
         "card has no GEMMs with scales by block of 32 (mxfp8): take blockwise, current or "
         "delayed");
    c.software.fp8.recipe = FP8_BLOCKWISE;
    only(&c, false, "software.fp8_recipe", NULL);
    c.training.precision = precision_find("nvfp4");
    only(&c, false, "training.precision",
         "card has no nvfp4 peak: it cannot train in that precision; take fp8");
    c.gpu.peak_flops_per_s[PEAK_FP4] = 4e15;
    only(&c, false, NULL, NULL);
    c.training.wide_layers_last = c.model.layers - 1;
    only(&c, false, NULL, NULL);
    c.training.wide_layers_first = 1;
    c.model.layers = 4;
    c.training.wide_layers_last = 3;
    assert_true(said(&c, "training.bf16_layers_first",
                     "4 layers in bf16 leave none of 4 in nvfp4: take fewer, or precision: bf16"));
    c.training.precision = precision_find("fp16");
    assert_true(said(&c, "training.bf16_layers_first",
                     "fp16 computes every layer in one format: take fp8 or nvfp4, or 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_domain),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_sharding),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_selective),
        cmocka_unit_test(test_recompute_layers),
        cmocka_unit_test(test_sequence_parallel),
        cmocka_unit_test(test_most_ranks),
        cmocka_unit_test(test_what_tp_splits),
        cmocka_unit_test(test_largest_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
