/* Each framework's own rules, one layout by hand on either side of each; hosts; what the
 * environment must hold. Rules and messages: docs/launch.md. */
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

static struct scenario *base;

static int open_base(void **state)
{
    base = launch_case_read();
    return 0;
}

static int close_base(void **state)
{
    scenario_destroy(base);
    return 0;
}

static struct launch_text written(const struct launch_kind *kind, const struct configuration *c)
{
    struct launch_text text;
    launch_write(kind, c, base->arena, &text);
    return text;
}

static void refuses(const struct launch_kind *kind, const struct configuration *c,
                    const char *words)
{
    const struct launch_text text = written(kind, c);
    if (launch_case_note(&text, LAUNCH_REFUSED, words) == NULL)
        fail_msg("%s does not refuse: %s", kind->head.name, words);
    assert_true(text.refused);
    assert_int_equal(text.line_count, 0);
}

static void takes(const struct launch_kind *kind, const struct configuration *c)
{
    const struct launch_text text = written(kind, c);
    if (text.refused)
        fail_msg("%s refuses: %s", kind->head.name, launch_case_note(&text, LAUNCH_REFUSED, ""));
    assert_true(text.line_count > 40);
}

static void says(const struct launch_kind *kind, const struct configuration *c, const char *words)
{
    const struct launch_text text = written(kind, c);
    if (launch_case_note(&text, LAUNCH_DIFFERS, words) == NULL)
        fail_msg("%s does not say: %s", kind->head.name, words);
}

/* Is there a line that begins so? */
static bool has_line(const struct launch_kind *kind, const struct configuration *c,
                     const char *words)
{
    const struct launch_text text = written(kind, c);
    for (uint32_t i = 0; i < text.line_count; i++)
        if (strncmp(text.lines[i] + strspn(text.lines[i], " "), words, strlen(words)) == 0)
            return true;
    return false;
}

static const struct launch_kind *const core[] = {&launch_megatron, &launch_nemo};

static void core_shapes(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = base->configuration;
        takes(core[i], &c);
        c.model.attention.heads = 60;
        refuses(core[i], &c, "num_attention_heads must be a multiple of");
        c.model.attention.heads = 64;
        c.model.attention.kv_heads = 3;
        refuses(core[i], &c, "num_query_groups must be a multiple or divisor");
        c.model.attention.kv_heads = 2; /* repeated on four ranks each */
        takes(core[i], &c);
        c = base->configuration;
        c.layout.cp = 2;
        c.layout.dp = 8;
        takes(core[i], &c);
        c.training.sequence = 8190; /* not by 2 x 2 */
        refuses(core[i], &c, "multiple of 2 * context-parallel-size");
        c.layout.cp = 1;
        c.layout.dp = 16;
        takes(core[i], &c); /* the rule is that of context parallelism */
        c = base->configuration;
        c.model.position = POSITION_LEARNED;
        c.model.positions_max = 4096;
        refuses(core[i], &c, "max_position_embeddings");
        c.model.positions_max = 8192;
        takes(core[i], &c);
    }
}

static void core_pipelines(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = base->configuration;
        c.training.global_batch = 520; /* not by 1 x 16 */
        refuses(core[i], &c, "global batch size is not divisible");
        c.training.global_batch = 16 * 30; /* 30 microbatches, groups of 4 */
        refuses(core[i], &c, "multiple of the microbatch group size");
        c.layout.pipeline.vpp = 1;
        c.layout.pipeline.schedule = &schedule_one_f_one_b;
        takes(core[i], &c);
        c = base->configuration;
        c.layout.pp = 1;
        c.layout.dp = 64;
        refuses(core[i], &c, "pipeline-model-parallel size should be greater than 1");
        c.layout.pp = 2;
        c.layout.dp = 32;
        takes(core[i], &c);
        c.software.pipeline.blocking_interleaved = true;
        refuses(core[i], &c, "greater than 2");
        c.layout.pp = 4;
        c.layout.dp = 16;
        takes(core[i], &c);
    }
    assert_true(has_line(&launch_megatron, &base->configuration,
                         "--num-layers-per-virtual-pipeline-stage 5"));
    struct configuration c = base->configuration;
    c.software.pipeline.blocking_interleaved = true;
    assert_true(has_line(&launch_megatron, &c, "--no-overlap-p2p-communication"));
    assert_true(has_line(&launch_nemo, &c, "comm_overlap.overlap_p2p_comm=false"));
}

/* 126 layers in 16 stages of 8: 128 with embedding and head; 17 layers in 4: given one by one. */
static void core_splits(void **state)
{
    struct configuration c = base->configuration;
    c.model.layers = 126;
    c.layout.pp = 16;
    c.layout.pipeline.vpp = 8;
    c.layout.dp = 4;
    c.layout.pipeline.ends_count = true;
    assert_true(has_line(&launch_megatron, &c, "--account-for-embedding-in-pipeline-split"));
    assert_true(has_line(&launch_megatron, &c, "--num-layers-per-virtual-pipeline-stage 1"));
    assert_true(has_line(&launch_nemo, &c, "model.account_for_loss_in_pipeline_split=true"));
    c = base->configuration;
    c.model.layers = 17;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    assert_true(
        has_line(&launch_megatron, &c, "--pipeline-model-parallel-layout 'Et*5|(t*4|)*2t*4L'"));
    assert_true(
        has_line(&launch_nemo, &c, "'model.pipeline_model_parallel_layout=\"Et*5|(t*4|)*2t*4L\"'"));
    c.model.layers = 3000; /* a list of any length */
    c.layout.pp = 512;
    c.layout.dp = 1;
    c.layout.tp = 1;
    c.software.pipeline.split = SPLIT_COST;
    takes(&launch_megatron, &c);
    c = base->configuration;
    c.model.layers = 17;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.pipeline.first_layers = 2; /* leaves 15 for three */
    assert_true(has_line(&launch_megatron, &c, "--decoder-first-pipeline-num-layers 2"));
    assert_false(has_line(&launch_megatron, &c, "--decoder-last-pipeline-num-layers"));
    c.layout.pipeline.last_layers = 3; /* leaves 12 for two */
    assert_true(has_line(&launch_nemo, &c, "model.num_layers_in_last_pipeline_stage=3"));
}

/* State on the host: what each offers of it. */
static void offload(void **state)
{
    struct configuration c = base->configuration;
    c.layout.offload.optimizer = 0.5;
    assert_true(has_line(&launch_megatron, &c, "--use-precision-aware-optimizer"));
    assert_true(has_line(&launch_megatron, &c, "--optimizer-offload-fraction 0.5"));
    assert_true(has_line(&launch_nemo, &c, "optimizer.optimizer_offload_fraction=0.5"));
    c.layout.offload.optimizer_to = OFFLOAD_NVME;
    refuses(&launch_megatron, &c, "state on drives is not offered");
    c.layout.data.sharding = sharding_find("zero-0");
    refuses(&launch_megatron, &c, "it stays on the cards");
    refuses(&launch_deepspeed, &c, "it stays on the cards");
}

/* Activations: whole layers, without pipeline and recomputation, never all of them. */
static void activations(void **state)
{
    struct configuration c = base->configuration;
    c.layout.offload.activations = 0.5;
    for (unsigned i = 0; i < 2; i++)
        refuses(core[i], &c, "activations stay on the cards");
    refuses(&launch_torchtitan, &c, "they stay on the cards");
    refuses(&launch_deepspeed, &c, "they stay on the cards");
    c.layout.dp *= c.layout.pp;
    c.layout.pp = c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.recompute = RECOMPUTE_NONE;
    const unsigned long layers = (unsigned long)c.model.layers;
    char line[80];
    snprintf(line, sizeof line, "--cpu-offloading-num-layers %lu", layers / 2);
    assert_true(layers % 2 == 0 && has_line(&launch_megatron, &c, line));
    c.layout.offload.activations = 1.0;
    snprintf(line, sizeof line, "--cpu-offloading-num-layers %lu", layers - 1);
    assert_true(has_line(&launch_megatron, &c, line));
    snprintf(line, sizeof line, "model.cpu_offloading_num_layers=%lu", layers - 1);
    assert_true(has_line(&launch_nemo, &c, line));
    c.layout.offload.activations_to = OFFLOAD_NVME;
    refuses(&launch_megatron, &c, "activations on drives are not offered");
    c.layout.recompute = RECOMPUTE_FULL;
    refuses(&launch_nemo, &c, "activations stay on the cards");
    c.layout.offload.activations = 0.0;
    assert_false(has_line(&launch_megatron, &c, "--cpu-offloading-num-layers"));
}

static void core_sharding(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = base->configuration;
        assert_true(has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS=1"));
        c.gpu.gemm.block_scaling = true; /* Blackwell needs it no more */
        assert_false(has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
        c = base->configuration;
        c.layout.data.sharding = sharding_find("fsdp");
        says(core[i], &c, "fsdp_dtensor");
        assert_false(has_line(core[i], &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
        assert_true(has_line(core[i], &c, "unset CUDA_DEVICE_MAX_CONNECTIONS"));
        assert_false(has_line(core[i], &c, "--async-save"));
        assert_false(has_line(core[i], &c, "checkpoint.async_save=true"));
        c.layout.data.sharding = sharding_find("zero-2");
        says(core[i], &c, "strategy optim_grads)");
        c.layout.data.sharding = sharding_find("zero-0");
        c.training.precision = precision_find("fp8");
        refuses(core[i], &c, "only supported with distributed optimizer");
        c.layout.recompute = RECOMPUTE_PER_OPERATOR;
        refuses(core[i], &c, "recomputation per operator");
    }
    struct configuration c = base->configuration;
    c.layout.order = "tp-cp-pp-dp";
    assert_true(has_line(&launch_nemo, &c, "dist.use_tp_pp_dp_mapping=true"));
    c.layout.data.sharding = sharding_find("fsdp");
    refuses(&launch_nemo, &c, "use_tp_pp_dp_mapping");
    assert_true(has_line(&launch_megatron, &c, "--use-tp-pp-dp-mapping"));
    c = base->configuration;
    c.training.precision = precision_find("fp8");
    assert_true(has_line(&launch_megatron, &c, "--fp8-recipe delayed"));
    assert_true(has_line(&launch_megatron, &c, "--fp8-param-gather"));
    c.gpu.gemm.block_scaling = true;
    assert_true(has_line(&launch_megatron, &c, "--fp8-recipe mxfp8"));
    c.software.fp8.recipe = FP8_BLOCKWISE; /* Blackwell plays it as mxfp8 */
    assert_true(has_line(&launch_megatron, &c, "--fp8-recipe mxfp8"));
    c.gpu.gemm.block_scaling = false;
    assert_true(has_line(&launch_megatron, &c, "--fp8-recipe blockwise"));
    assert_true(has_line(&launch_megatron, &c, "--fp8-format e4m3"));
    assert_true(
        has_line(&launch_nemo, &c, "mixed_precision=bf16_with_fp8_subchannel_scaling_mixed"));
    c.gpu.gemm.block_scaling = true;
    c.software.fp8.recipe = FP8_CURRENT;
    assert_true(has_line(&launch_megatron, &c, "--fp8-recipe tensorwise"));
    c.software.fp8.activation_cache = true;
    assert_true(has_line(&launch_megatron, &c, "--activation-func-fp8-input-store"));
    c.software.fp8.attention_cache = true;
    refuses(&launch_megatron, &c, "a cache of 12 is not offered");
    c.software.fp8.attention_cache = false;
    c.training.precision = precision_find("nvfp4");
    c.training.wide_layers_last = 3;
    assert_true(has_line(&launch_megatron, &c, "--fp4-format e2m1"));
    assert_true(has_line(&launch_megatron, &c, "--num-layers-at-start-in-bf16 0"));
    assert_true(has_line(&launch_megatron, &c, "--num-layers-at-end-in-bf16 3"));
    assert_true(has_line(&launch_nemo, &c, "mixed_precision=bf16_with_nvfp4_mixed"));
    refuses(&launch_torchtitan, &c, "4-bit products are not offered");
    c.training.wide_layers_last = 0;
    c.training.precision = precision_find("fp8");
    c.layout.sequence_parallel = false;
    c.software.tensor.pipelines = true; /* needs sequence parallelism */
    assert_false(has_line(&launch_megatron, &c, "--tp-comm-overlap"));
    c.layout.sequence_parallel = true;
    assert_true(has_line(&launch_megatron, &c, "--tp-comm-overlap"));
    c.training.gradient_bytes = 2.0;
    assert_true(has_line(&launch_megatron, &c, "--grad-reduce-in-bf16"));
    c.training.precision = precision_find("fp16"); /* keeps 16 bits unless it is told */
    assert_false(has_line(&launch_megatron, &c, "--accumulate-allreduce-grads-in-fp32"));
    c.training.gradient_bytes = 4.0;
    assert_true(has_line(&launch_megatron, &c, "--accumulate-allreduce-grads-in-fp32"));
    c.software.data.overlap_gradients = false; /* without it parameters cannot be */
    assert_false(has_line(&launch_megatron, &c, "--overlap-param-gather"));
}

/* bf16 layers at either end: two are given both counts, torchtitan says that it has none. */
static void wide_layers(void **state)
{
    static const char *const words[2][2] = {
        {"--num-layers-at-start-in-bf16", "--num-layers-at-end-in-bf16"},
        {"model.num_layers_at_start_in_bf16", "model.num_layers_at_end_in_bf16"}};
    for (unsigned i = 0; i < 2 * 9; i++) {
        const unsigned first = i / 2 / 3, last = i / 2 % 3, any = first + last > 0;
        struct configuration c = base->configuration;
        char line[80];
        c.training.precision = precision_find("fp8");
        c.training.wide_layers_first = first;
        c.training.wide_layers_last = last;
        for (unsigned k = 0; k < 2; k++) {
            snprintf(line, sizeof line, "%s%c%u", words[i % 2][k], " ="[i % 2], k ? last : first);
            assert_int_equal(has_line(core[i % 2], &c, line), any);
        }
        const struct launch_text text = written(&launch_torchtitan, &c);
        assert_int_equal(launch_case_note(&text, LAUNCH_DIFFERS, "first and last") != NULL, any);
    }
}

static void torchtitan_dims(void **state)
{
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = base->configuration;
    takes(titan, &c);
    says(titan, &c, "like ZeRO-2");
    assert_false(has_line(titan, &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
    c.layout.data.sharding = sharding_find("zero-0");
    refuses(titan, &c, "DDP has not supported");
    c.layout.tp = 1;
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.dp = 512;
    takes(titan, &c);
    assert_true(has_line(titan, &c, "--parallelism.data_parallel_replicate_degree 512"));
    c = base->configuration;
    c.training.sequence = 8200; /* by 8, not by 2 x 8, though cp is 1 */
    refuses(titan, &c, "divisible by the product");
    c.training.sequence = 8208;
    takes(titan, &c);
    c.training.global_batch = 520;
    refuses(titan, &c, "must be multiple of local batch size");
    c = base->configuration;
    c.layout.data.sharding = sharding_find("hsdp");
    c.layout.data.shard_group = 8;
    refuses(titan, &c, "with a pipeline FSDP2 leaves parameters gathered");
    c.layout.dp *= c.layout.pp;
    c.layout.pp = c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    takes(titan, &c);
    assert_true(has_line(titan, &c, "--parallelism.data_parallel_shard_degree 8"));
    assert_true(has_line(titan, &c, "--parallelism.data_parallel_replicate_degree 8"));
    c.layout.data.shard_group = 1; /* copies, as zero-0 */
    refuses(titan, &c, "DDP has not supported");
    c.layout.data.shard_group = 8;
    c.layout.cp = 4;
    c.layout.dp = 4;
    assert_true(has_line(titan, &c, "--parallelism.data_parallel_shard_degree 2"));
    c.layout.data.fsdp_unit_layers = 2;
    says(titan, &c, "units of 2 layers");
    c.layout.data.shard_group = 2; /* less than the context ranks that shard anyway */
    refuses(titan, &c, "Invalid parallel dims");
}

static void torchtitan_pipelines(void **state)
{
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = base->configuration;
    c.model.layers = 46;
    c.layout.pp = 8;
    c.layout.pipeline.vpp = 3; /* 24 stages of 2 layers are 23 */
    c.layout.dp = 8;
    refuses(titan, &c, "must be divisible by the pipeline parallel size");
    c.layout.pipeline.ends_count = true; /* 48 are 24 */
    takes(titan, &c);
    assert_true(has_line(titan, &c, "--parallelism.pipeline_parallel_first_stage_less_layers 1"));
    c = base->configuration;
    c.training.global_batch = 16 * 9; /* two rounds of 4 or more in 9 */
    refuses(titan, &c, "multiple of the number of rounds");
    c.training.global_batch = 16 * 10;
    takes(titan, &c);
    c = base->configuration;
    c.training.precision = precision_find("fp16");
    refuses(titan, &c, "fp16 is not offered");
    c.training.precision = precision_find("fp8");
    says(titan, &c, "delayed");
    assert_true(has_line(titan, &c, "--model.converters quantize.linear.float8"));
    c.gpu.gemm.block_scaling = true;
    assert_true(has_line(titan, &c, "--model.converters quantize.linear.mx"));
    c = base->configuration;
    c.layout.dp = 1;
    c.training.global_batch = 32;
    c.cluster.nodes = 4;
    refuses(titan, &c, "mixed_precision_param has no effect");
    c = base->configuration;
    c.model.layers = 96;
    const struct launch_text text = written(titan, &c);
    assert_non_null(launch_case_note(&text, LAUNCH_YOURS, "n_layers 96"));
    assert_true(has_line(titan, &c, "FLAVOR=${FLAVOR:?"));
    assert_true(has_line(titan, &base->configuration, "FLAVOR=${FLAVOR:-70B}"));
}

static void deepspeed_rules(void **state)
{
    const struct launch_kind *speed = &launch_deepspeed;
    struct configuration c = base->configuration;
    refuses(speed, &c, "no interleaving");
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    takes(speed, &c);
    c.layout.data.sharding = sharding_find("zero-2");
    refuses(speed, &c, "incompatible with pipeline parallelism");
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.dp = 64;
    takes(speed, &c);
    assert_true(has_line(speed, &c, "--no-pipeline-parallel"));
    c.layout.data.sharding = sharding_find("hsdp");
    c.layout.data.shard_group = 8;
    says(speed, &c, "MiCS");
    assert_true(has_line(speed, &c, "\"mics_shard_size\": 8,"));
    c.layout.cp = 8;
    c.layout.dp = 8;
    refuses(speed, &c, "Ulysses");
    c.layout.context.method = CP_ALL_TO_ALL;
    c.layout.sequence_parallel = false;
    takes(speed, &c); /* 64 heads over 8 x 8 */
    c.layout.sequence_parallel = true;
    refuses(speed, &c, "sequence parallelism over tp does not go with Ulysses");
    c.layout.cp = 16;
    c.layout.dp = 4;
    refuses(speed, &c, "heads must divide");
    c = base->configuration;
    c.training.global_batch = 520;
    refuses(speed, &c, "train_batch_size");
    c = base->configuration;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.training.precision = precision_find("fp8");
    refuses(speed, &c, "8-bit products are not offered");
}

/* Hosts are what torchrun starts ranks on: a node, or one chassis of a rack. */
static void hosts(void **state)
{
    struct configuration c = base->configuration;
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.tp = 2;
    c.layout.dp = 6;
    c.cluster.nodes = 2;
    c.training.global_batch = 12;
    assert_true(has_line(&launch_megatron, &c, "#SBATCH --gpus-per-node=6"));
    says(&launch_megatron, &c, "do not fill hosts of 8 GPUs");
    c.layout.tp = 1;
    c.layout.dp = 9; /* three on each of three, but there are two */
    c.training.global_batch = 9;
    refuses(&launch_megatron, &c, "do not divide over 2 hosts");
    c.layout.dp = 4; /* one host, half of it */
    c.training.global_batch = 4;
    assert_true(has_line(&launch_megatron, &c, "#SBATCH --nodes=1"));
    assert_true(has_line(&launch_megatron, &c, "#SBATCH --gpus-per-node=4"));
    c.cluster.node.gpus = 72;
    c.cluster.node.chassis_gpus = 4;
    c.layout.dp = 144;
    c.training.global_batch = 144;
    assert_true(has_line(&launch_megatron, &c, "#SBATCH --nodes=36"));
    c.layout.placement = PLACEMENT_SCATTERED;
    says(&launch_megatron, &c, "host by host");
    c.layout.placement = PLACEMENT_PACKED;
    c.layout.order = "dp-tp-cp-pp"; /* tp, cp, pp have one rank: it makes no difference */
    const struct launch_text text = written(&launch_megatron, &c);
    assert_null(launch_case_note(&text, LAUNCH_DIFFERS, "in the order"));
    c.layout.tp = 2;
    c.layout.dp = 72;
    says(&launch_megatron, &c, "in the order dp-tp-cp-pp");
}

static void profiles(void **state)
{
    struct configuration c = base->configuration;
    const struct launch_text own = written(&launch_megatron, &c);
    assert_null(launch_case_note(&own, LAUNCH_DIFFERS, "profile"));
    says(&launch_nemo, &c, "as the profile megatron runs it");
    c.software.name = "megatron-2021";
    says(&launch_megatron, &c, "the older profile megatron-2021");
    c.training.causal = false;
    refuses(&launch_megatron, &c, "without a causal mask");
    c.training.causal = true;
    c.training.tokens = 15e12; /* over 512 x 8192 a step */
    assert_true(has_line(&launch_megatron, &c, "STEPS=${STEPS:-3576279}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_shapes),
        cmocka_unit_test(core_pipelines),
        cmocka_unit_test(core_splits),
        cmocka_unit_test(core_sharding),
        cmocka_unit_test(offload),
        cmocka_unit_test(activations),
        cmocka_unit_test(wide_layers),
        cmocka_unit_test(torchtitan_dims),
        cmocka_unit_test(torchtitan_pipelines),
        cmocka_unit_test(deepspeed_rules),
        cmocka_unit_test(hosts),
        cmocka_unit_test(profiles),
    };
    return cmocka_run_group_tests(tests, open_base, close_base);
}
