/* Each framework's own rules, one layout by hand on either side of each; hosts; what the
 * environment must hold. Rules and messages: docs/launch.md. */
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/analysis/exchange/launch_expect.h"
#include "tests/test.h"

static const struct launch_kind *const core[] = {&launch_megatron, &launch_nemo};

static void core_shapes(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = expect_base->configuration;
        expect_takes(core[i], &c);
        c.model.attention.heads = 60;
        expect_refuses(core[i], &c, "num_attention_heads must be a multiple of");
        c.model.attention.heads = 64;
        c.model.attention.kv_heads = 3;
        expect_refuses(core[i], &c, "num_query_groups must be a multiple or divisor");
        c.model.attention.kv_heads = 2; /* repeated on four ranks each */
        expect_takes(core[i], &c);
        c = expect_base->configuration;
        c.layout.cp = 2;
        c.layout.dp = 8;
        expect_takes(core[i], &c);
        c.training.sequence = 8190; /* not by 2 x 2 */
        expect_refuses(core[i], &c, "multiple of 2 * context-parallel-size");
        c.layout.cp = 1;
        c.layout.dp = 16;
        expect_takes(core[i], &c); /* the rule is that of context parallelism */
        c = expect_base->configuration;
        c.model.position = POSITION_LEARNED;
        c.model.positions_max = 4096;
        expect_refuses(core[i], &c, "max_position_embeddings");
        c.model.positions_max = 8192;
        expect_takes(core[i], &c);
    }
}

static void core_pipelines(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = expect_base->configuration;
        c.training.global_batch = 520; /* not by 1 x 16 */
        expect_refuses(core[i], &c, "global batch size is not divisible");
        c.training.global_batch = 16 * 30; /* 30 microbatches, groups of 4 */
        expect_refuses(core[i], &c, "multiple of the microbatch group size");
        c.layout.pipeline.vpp = 1;
        c.layout.pipeline.schedule = &schedule_one_f_one_b;
        expect_takes(core[i], &c);
        c = expect_base->configuration;
        c.layout.pp = 1;
        c.layout.dp = 64;
        expect_refuses(core[i], &c, "pipeline-model-parallel size should be greater than 1");
        c.layout.pp = 2;
        c.layout.dp = 32;
        expect_takes(core[i], &c);
        c.software.pipeline.blocking_interleaved = true;
        expect_refuses(core[i], &c, "greater than 2");
        c.layout.pp = 4;
        c.layout.dp = 16;
        expect_takes(core[i], &c);
    }
    assert_true(expect_has_line(&launch_megatron, &expect_base->configuration,
                                "--num-layers-per-virtual-pipeline-stage 5"));
    struct configuration c = expect_base->configuration;
    c.software.pipeline.blocking_interleaved = true;
    assert_true(expect_has_line(&launch_megatron, &c, "--no-overlap-p2p-communication"));
    assert_true(expect_has_line(&launch_nemo, &c, "comm_overlap.overlap_p2p_comm=false"));
}

/* 126 layers in 16 stages of 8: 128 with embedding and head; 17 layers in 4: given one by one. */
static void core_splits(void **state)
{
    struct configuration c = expect_base->configuration;
    c.model.layers = 126;
    c.layout.pp = 16;
    c.layout.pipeline.vpp = 8;
    c.layout.dp = 4;
    c.layout.pipeline.ends_count = true;
    assert_true(expect_has_line(&launch_megatron, &c, "--account-for-embedding-in-pipeline-split"));
    assert_true(expect_has_line(&launch_megatron, &c, "--num-layers-per-virtual-pipeline-stage 1"));
    assert_true(expect_has_line(&launch_nemo, &c, "model.account_for_loss_in_pipeline_split=true"));
    c = expect_base->configuration;
    c.model.layers = 17;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    assert_true(expect_has_line(&launch_megatron, &c,
                                "--pipeline-model-parallel-layout 'Et*5|(t*4|)*2t*4L'"));
    assert_true(expect_has_line(&launch_nemo, &c,
                                "'model.pipeline_model_parallel_layout=\"Et*5|(t*4|)*2t*4L\"'"));
    c.model.layers = 3000; /* a list of any length */
    c.layout.pp = 512;
    c.layout.dp = 1;
    c.layout.tp = 1;
    c.software.pipeline.split = SPLIT_COST;
    expect_takes(&launch_megatron, &c);
    c = expect_base->configuration;
    c.model.layers = 17;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.pipeline.first_layers = 2; /* leaves 15 for three */
    assert_true(expect_has_line(&launch_megatron, &c, "--decoder-first-pipeline-num-layers 2"));
    assert_false(expect_has_line(&launch_megatron, &c, "--decoder-last-pipeline-num-layers"));
    c.layout.pipeline.last_layers = 3; /* leaves 12 for two */
    assert_true(expect_has_line(&launch_nemo, &c, "model.num_layers_in_last_pipeline_stage=3"));
}

/* State on the host: what each offers of it. */
static void offload(void **state)
{
    struct configuration c = expect_base->configuration;
    c.layout.offload.optimizer = 0.5;
    assert_true(expect_has_line(&launch_megatron, &c, "--use-precision-aware-optimizer"));
    assert_true(expect_has_line(&launch_megatron, &c, "--optimizer-offload-fraction 0.5"));
    assert_true(expect_has_line(&launch_nemo, &c, "optimizer.optimizer_offload_fraction=0.5"));
    c.layout.offload.optimizer_to = OFFLOAD_NVME;
    expect_refuses(&launch_megatron, &c, "state on drives is not offered");
    c.layout.data.sharding = sharding_find("zero-0");
    expect_refuses(&launch_megatron, &c, "it stays on the cards");
    expect_refuses(&launch_deepspeed, &c, "it stays on the cards");
}

/* Activations: whole layers, without pipeline and recomputation, never all of them. */
static void activations(void **state)
{
    struct configuration c = expect_base->configuration;
    c.layout.offload.activations = 0.5;
    for (unsigned i = 0; i < 2; i++)
        expect_refuses(core[i], &c, "activations stay on the cards");
    expect_refuses(&launch_torchtitan, &c, "they stay on the cards");
    expect_refuses(&launch_deepspeed, &c, "they stay on the cards");
    c.layout.dp *= c.layout.pp;
    c.layout.pp = c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.recompute = RECOMPUTE_NONE;
    const unsigned long layers = (unsigned long)c.model.layers;
    char line[80];
    snprintf(line, sizeof line, "--cpu-offloading-num-layers %lu", layers / 2);
    assert_true(layers % 2 == 0 && expect_has_line(&launch_megatron, &c, line));
    c.layout.offload.activations = 1.0;
    snprintf(line, sizeof line, "--cpu-offloading-num-layers %lu", layers - 1);
    assert_true(expect_has_line(&launch_megatron, &c, line));
    snprintf(line, sizeof line, "model.cpu_offloading_num_layers=%lu", layers - 1);
    assert_true(expect_has_line(&launch_nemo, &c, line));
    c.layout.offload.activations_to = OFFLOAD_NVME;
    expect_refuses(&launch_megatron, &c, "activations on drives are not offered");
    c.layout.recompute = RECOMPUTE_FULL;
    expect_refuses(&launch_nemo, &c, "activations stay on the cards");
    c.layout.offload.activations = 0.0;
    assert_false(expect_has_line(&launch_megatron, &c, "--cpu-offloading-num-layers"));
}

static void core_sharding(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = expect_base->configuration;
        assert_true(expect_has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS=1"));
        c.gpu.gemm.block_scaling = true; /* Blackwell needs it no more */
        assert_false(expect_has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
        c = expect_base->configuration;
        c.layout.data.sharding = sharding_find("fsdp");
        expect_says(core[i], &c, "fsdp_dtensor");
        assert_false(expect_has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
        assert_true(expect_has_line(core[i], &c, "unset CUDA_DEVICE_MAX_CONNECTIONS"));
        assert_false(expect_has_line(core[i], &c, "--async-save"));
        assert_false(expect_has_line(core[i], &c, "checkpoint.async_save=true"));
        c.layout.data.sharding = sharding_find("zero-2");
        expect_says(core[i], &c, "strategy optim_grads)");
        c.layout.data.sharding = sharding_find("zero-0");
        c.training.precision = precision_find("fp8");
        expect_refuses(core[i], &c, "only supported with distributed optimizer");
        c.layout.recompute = RECOMPUTE_PER_OPERATOR;
        expect_refuses(core[i], &c, "recomputation per operator");
    }
    struct configuration c = expect_base->configuration;
    c.layout.order = "tp-cp-pp-dp";
    assert_true(expect_has_line(&launch_nemo, &c, "dist.use_tp_pp_dp_mapping=true"));
    c.layout.data.sharding = sharding_find("fsdp");
    expect_refuses(&launch_nemo, &c, "use_tp_pp_dp_mapping");
    assert_true(expect_has_line(&launch_megatron, &c, "--use-tp-pp-dp-mapping"));
    c = expect_base->configuration;
    c.training.precision = precision_find("fp8");
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-recipe delayed"));
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-param-gather"));
    c.gpu.gemm.block_scaling = true;
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-recipe mxfp8"));
    c.software.fp8.recipe = FP8_BLOCKWISE; /* Blackwell plays it as mxfp8 */
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-recipe mxfp8"));
    c.gpu.gemm.block_scaling = false;
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-recipe blockwise"));
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-format e4m3"));
    expect_refuses(&launch_nemo, &c, "bf16_with_fp8_subchannel_scaling_mixed keeps and gathers");
    c.gpu.gemm.block_scaling = true;
    c.software.fp8.recipe = FP8_CURRENT;
    assert_true(expect_has_line(&launch_megatron, &c, "--fp8-recipe tensorwise"));
    c.software.fp8.activation_cache = true;
    assert_true(expect_has_line(&launch_megatron, &c, "--activation-func-fp8-input-store"));
    c.software.fp8.attention_cache = true;
    expect_refuses(&launch_megatron, &c, "a cache of 12 is not offered");
    c.software.fp8.attention_cache = false;
    c.training.precision = precision_find("nvfp4");
    c.training.wide_layers_last = 3;
    assert_true(expect_has_line(&launch_megatron, &c, "--fp4-format e2m1"));
    assert_true(expect_has_line(&launch_megatron, &c, "--num-layers-at-start-in-bf16 0"));
    assert_true(expect_has_line(&launch_megatron, &c, "--num-layers-at-end-in-bf16 3"));
    expect_refuses(&launch_nemo, &c, "keeps 0 first and 0 last layers in bf16, not 0 and 3");
    expect_refuses(&launch_torchtitan, &c, "4-bit products are not offered");
    c.training.wide_layers_last = 0;
    assert_true(expect_has_line(&launch_nemo, &c, "mixed_precision=bf16_with_nvfp4_mixed"));
    c.training.precision = precision_find("fp8");
    c.layout.sequence_parallel = false;
    c.software.tensor.pipelines = true; /* needs sequence parallelism */
    assert_false(expect_has_line(&launch_megatron, &c, "--tp-comm-overlap"));
    c.layout.sequence_parallel = true;
    assert_true(expect_has_line(&launch_megatron, &c, "--tp-comm-overlap"));
    c.training.gradient_bytes = 2.0;
    assert_true(expect_has_line(&launch_megatron, &c, "--grad-reduce-in-bf16"));
    c.training.precision = precision_find("fp16"); /* keeps 16 bits unless it is told */
    assert_false(expect_has_line(&launch_megatron, &c, "--accumulate-allreduce-grads-in-fp32"));
    c.training.gradient_bytes = 4.0;
    assert_true(expect_has_line(&launch_megatron, &c, "--accumulate-allreduce-grads-in-fp32"));
    c.software.data.overlap_gradients = false; /* without it parameters cannot be */
    assert_false(expect_has_line(&launch_megatron, &c, "--overlap-param-gather"));
}

/* bf16 layers at either end: Megatron is given both counts and torchtitan the name of each; NeMo's
 * recipes have one of each with current scaling, none with others. */
static void wide_layers(void **state)
{
    for (unsigned i = 0; i < 9; i++) {
        const unsigned first = i / 3, last = i % 3, any = first + last > 0;
        struct configuration c = expect_base->configuration;
        char line[80];
        c.training.precision = precision_find("fp8");
        c.training.wide_layers_first = first;
        c.training.wide_layers_last = last;
        c.software.fp8.recipe = FP8_CURRENT;
        snprintf(line, sizeof line, "--num-layers-at-start-in-bf16 %u", first);
        assert_int_equal(expect_has_line(&launch_megatron, &c, line), any);
        snprintf(line, sizeof line, "--num-layers-at-end-in-bf16 %u", last);
        assert_int_equal(expect_has_line(&launch_megatron, &c, line), any);
        assert_int_equal(expect_has_line(&launch_nemo, &c,
                                         "mixed_precision=bf16_with_fp8_current_scaling_mixed"),
                         first == 1 && last == 1);
        static const char *const starts[] = {"", ",layers.0.", ",layers.0.,layers.1."};
        static const char *const ends[] = {"", ",layers.79.", ",layers.78.,layers.79."};
        snprintf(line, sizeof line, "--quantize.linear.float8.filter_fqns output%s%s",
                 starts[first], ends[last]);
        assert_true(expect_has_line(&launch_torchtitan, &c, line));
        c.software.fp8.recipe = FP8_DELAYED;
        for (unsigned k = 0; k < 2; k++)
            if (any)
                expect_refuses(core[k], &c, "Delayed scaling does not support first / last layer");
            else
                expect_takes(core[k], &c);
    }
}

/* The distributed optimizer takes Adam alone; plain data parallelism has no such thing. */
static void descent(void **state)
{
    static const char *const names[] = {"adam", "adamw", "sgd", "momentum"};
    for (unsigned i = 0; i < 2 * 4 * sharding_kind_count; i++) {
        const unsigned n = i / 2 % 4;
        struct configuration c = expect_base->configuration;
        c.layout.data.sharding = sharding_kinds[i / 8];
        c.layout.data.shard_group = 8;
        c.training.optimizer = optimizer_find(names[n]);
        if (n < 2 || c.layout.data.sharding == sharding_find("zero-0"))
            expect_takes(core[i % 2], &c);
        else
            expect_refuses(core[i % 2], &c, "Only Adam and HybridDeviceOptimizer");
    }
}

static void deepspeed_rules(void **state)
{
    const struct launch_kind *speed = &launch_deepspeed;
    struct configuration c = expect_base->configuration;
    expect_refuses(speed, &c, "no interleaving");
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    expect_takes(speed, &c);
    c.layout.data.sharding = sharding_find("zero-0");
    c.training.gradient_bytes = 2.0; /* a pipeline sums them as its JSON says */
    expect_takes(speed, &c);
    c.training.gradient_bytes = 0.0;
    c.layout.data.sharding = sharding_find("zero-2");
    expect_refuses(speed, &c, "incompatible with pipeline parallelism");
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.dp = 64;
    expect_takes(speed, &c);
    assert_true(expect_has_line(speed, &c, "--no-pipeline-parallel"));
    c.training.gradient_bytes = 2.0; /* as its JSON says, where ZeRO sums them */
    expect_takes(speed, &c);
    assert_true(expect_has_line(speed, &c, "\"data_types\": {\"grad_accum_dtype\": \"bf16\"},"));
    c.layout.data.sharding = sharding_find("zero-0");
    expect_refuses(speed, &c, "sums bf16 gradients in fp32");
    c.training.gradient_bytes = 4.0;
    expect_takes(speed, &c);
    c.layout.data.sharding = sharding_find("hsdp");
    c.layout.data.shard_group = 8;
    expect_says(speed, &c, "MiCS");
    assert_true(expect_has_line(speed, &c, "\"mics_shard_size\": 8,"));
    c.layout.cp = 8;
    c.layout.dp = 8;
    expect_refuses(speed, &c, "Ulysses");
    c.layout.context.method = CP_ALL_TO_ALL;
    c.layout.sequence_parallel = false;
    expect_takes(speed, &c); /* 64 heads over 8 x 8 */
    c.layout.sequence_parallel = true;
    expect_refuses(speed, &c, "sequence parallelism over tp does not go with Ulysses");
    c.layout.cp = 16;
    c.layout.dp = 4;
    expect_refuses(speed, &c, "heads must divide");
    c = expect_base->configuration;
    c.training.global_batch = 520;
    expect_refuses(speed, &c, "train_batch_size");
    c = expect_base->configuration;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.training.precision = precision_find("fp8");
    expect_refuses(speed, &c, "8-bit products are not offered");
}

/* Hosts are what torchrun starts ranks on: a node, or one chassis of a rack. */
static void hosts(void **state)
{
    struct configuration c = expect_base->configuration;
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.tp = 2;
    c.layout.dp = 6;
    c.cluster.nodes = 2;
    c.training.global_batch = 12;
    assert_true(expect_has_line(&launch_megatron, &c, "#SBATCH --gpus-per-node=6"));
    expect_says(&launch_megatron, &c, "do not fill hosts of 8 GPUs");
    c.layout.tp = 1;
    c.layout.dp = 9; /* three on each of three, but there are two */
    c.training.global_batch = 9;
    expect_refuses(&launch_megatron, &c, "do not divide over 2 hosts");
    c.layout.dp = 4; /* one host, half of it */
    c.training.global_batch = 4;
    assert_true(expect_has_line(&launch_megatron, &c, "#SBATCH --nodes=1"));
    assert_true(expect_has_line(&launch_megatron, &c, "#SBATCH --gpus-per-node=4"));
    c.cluster.node.gpus = 72;
    c.cluster.node.chassis_gpus = 4;
    c.layout.dp = 144;
    c.training.global_batch = 144;
    assert_true(expect_has_line(&launch_megatron, &c, "#SBATCH --nodes=36"));
    c.layout.placement = PLACEMENT_SCATTERED;
    expect_says(&launch_megatron, &c, "host by host");
    c.layout.placement = PLACEMENT_PACKED;
    c.layout.order = "dp-tp-cp-pp"; /* tp, cp, pp have one rank: it makes no difference */
    const struct launch_text text = expect_written(&launch_megatron, &c);
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "in the order"));
    c.layout.tp = 2;
    c.layout.dp = 72;
    expect_says(&launch_megatron, &c, "in the order dp-tp-cp-pp");
}

static void profiles(void **state)
{
    struct configuration c = expect_base->configuration;
    const struct launch_text own = expect_written(&launch_megatron, &c);
    assert_null(launch_case_note(&own, LAUNCH_DIFFERS, "profile"));
    expect_says(&launch_nemo, &c, "as the profile megatron runs it");
    c.software.name = "megatron-2021";
    expect_says(&launch_megatron, &c, "the older profile megatron-2021");
    c.training.causal = false;
    expect_refuses(&launch_megatron, &c, "without a causal mask");
    c.training.causal = true;
    c.training.tokens = 15e12; /* over 512 x 8192 a step */
    assert_true(expect_has_line(&launch_megatron, &c, "STEPS=${STEPS:-3576279}"));
    c.training.tokens = 1e12; /* 238,418.6 - and a tenth of a step more is a step more */
    assert_true(expect_has_line(&launch_megatron, &c, "STEPS=${STEPS:-238419}"));
    c.training.tokens = 238419.1 * 512 * 8192;
    assert_true(expect_has_line(&launch_megatron, &c, "STEPS=${STEPS:-238420}"));
    c.training.tokens = 238419.0 * 512 * 8192;
    assert_true(expect_has_line(&launch_megatron, &c, "STEPS=${STEPS:-238419}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_shapes),     cmocka_unit_test(core_pipelines),
        cmocka_unit_test(core_splits),     cmocka_unit_test(core_sharding),
        cmocka_unit_test(offload),         cmocka_unit_test(activations),
        cmocka_unit_test(wide_layers),     cmocka_unit_test(descent),
        cmocka_unit_test(deepspeed_rules), cmocka_unit_test(hosts),
        cmocka_unit_test(profiles),
    };
    return cmocka_run_group_tests(tests, expect_open, expect_close);
}
