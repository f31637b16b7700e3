/* The rules of torchtitan, one layout by hand on either side of each. */
#include <stdio.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/analysis/exchange/launch_expect.h"
#include "tests/test.h"

/* The converter of 8 bits says what it leaves out and how it gathers, or that it cannot. */
static void torchtitan_converters(void **state)
{
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = expect_base->configuration;
    assert_false(expect_has_line(titan, &c, "--model.converters"));
    c.training.precision = precision_find("fp8");
    c.software.usual.execution = EXECUTION_EAGER;
    c.software.tensor.pipelines = false;
    expect_takes(titan, &c);
    assert_true(
        expect_has_line(titan, &c, "--quantize.linear.float8.enable_fsdp_float8_all_gather"));
    c.software.fp8.gathers = false;
    expect_says(titan, &c, "gathered over tensor ranks in 8 bits");
    c.layout.cp = 16;
    c.layout.dp = 1;
    expect_refuses(titan, &c, "weights are gathered in 8 bits only where data ranks share them");
    c = expect_base->configuration;
    c.training.precision = precision_find("fp8");
    c.gpu.gemm.block_scaling = true;
    c.software.fp8.recipe = FP8_MX;
    expect_refuses(titan, &c, "mx gathers weights in 16 bits");
    c.layout = (struct layout_spec){.pp = 1, .cp = 1, .tp = 1, .dp = 512};
    c.layout.data.sharding = sharding_find("zero-0");
    c.layout.microbatch = c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.order = expect_base->configuration.layout.order;
    expect_takes(titan, &c);
    assert_true(expect_has_line(titan, &c, "--quantize.linear.mx.filter_fqns output"));
    assert_false(expect_has_line(titan, &c, "enable_fsdp_float8_all_gather"));
    c.layout.dp = 1;
    c.layout.tp = 8;
    c.software.usual.execution = EXECUTION_COMPILED;
    expect_refuses(titan, &c, "mx is not compiled with tensor parallelism");
    c.model.moe.experts = 8;
    expect_refuses(titan, &c, "experts in 8 bits are not written");
}

static void torchtitan_dims(void **state)
{
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = expect_base->configuration;
    expect_takes(titan, &c);
    expect_says(titan, &c, "like ZeRO-2");
    assert_false(expect_has_line(titan, &c, "export CUDA_DEVICE_MAX_CONNECTIONS"));
    c.layout.data.sharding = sharding_find("zero-0");
    expect_refuses(titan, &c, "DDP has not supported");
    c.layout.tp = 1;
    c.layout.pp = 1;
    c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    c.layout.dp = 512;
    expect_takes(titan, &c);
    assert_true(expect_has_line(titan, &c, "--parallelism.data_parallel_replicate_degree 512"));
    c = expect_base->configuration;
    c.training.sequence = 8200; /* by 8, not by 2 x 8, though cp is 1 */
    expect_refuses(titan, &c, "divisible by the product");
    c.training.sequence = 8208;
    expect_takes(titan, &c);
    c.training.global_batch = 520;
    expect_refuses(titan, &c, "must be multiple of local batch size");
    c = expect_base->configuration;
    c.layout.data.sharding = sharding_find("hsdp");
    c.layout.data.shard_group = 8;
    expect_refuses(titan, &c, "with a pipeline FSDP2 leaves parameters gathered");
    c.layout.dp *= c.layout.pp;
    c.layout.pp = c.layout.pipeline.vpp = 1;
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    expect_takes(titan, &c);
    assert_true(expect_has_line(titan, &c, "--parallelism.data_parallel_shard_degree 8"));
    assert_true(expect_has_line(titan, &c, "--parallelism.data_parallel_replicate_degree 8"));
    c.layout.data.shard_group = 1; /* copies, as zero-0 */
    expect_refuses(titan, &c, "DDP has not supported");
    c.layout.data.shard_group = 8;
    c.layout.cp = 4;
    c.layout.dp = 4;
    assert_true(expect_has_line(titan, &c, "--parallelism.data_parallel_shard_degree 2"));
    c.layout.data.fsdp_unit_layers = 2;
    expect_says(titan, &c, "units of 2 layers");
    c.layout.data.shard_group = 2; /* less than the context ranks that shard anyway */
    expect_refuses(titan, &c, "Invalid parallel dims");
}

/* "alltoall" passes keys and values from rank to rank, "allgather" gathers them; it has no exchange
 * of heads. */
static void torchtitan_context(void **state)
{
    static const struct {
        enum cp_method method;
        uint64_t ranks;
        const char *rotates, *refused;
    } rows[] = {{CP_RING, 2, "alltoall", NULL},
                {CP_RING, 4, "alltoall", NULL},
                {CP_ALL_GATHER, 2, "allgather", NULL},
                {CP_ALL_TO_ALL, 2, NULL, "keys and values are gathered"}};
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = expect_base->configuration;
    assert_false(expect_has_line(titan, &c, "--parallelism.context_parallel_rotate_method"));
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[96];
        c = expect_base->configuration;
        c.layout.cp = rows[i].ranks;
        c.layout.dp /= rows[i].ranks;
        c.layout.context.method = (int)rows[i].method;
        if (rows[i].refused != NULL) {
            expect_refuses(titan, &c, rows[i].refused);
            continue;
        }
        expect_takes(titan, &c);
        snprintf(line, sizeof line, "--parallelism.context_parallel_rotate_method %s",
                 rows[i].rotates);
        assert_true(expect_has_line(titan, &c, line));
    }
}

static void torchtitan_pipelines(void **state)
{
    const struct launch_kind *titan = &launch_torchtitan;
    struct configuration c = expect_base->configuration;
    c.model.layers = 46;
    c.layout.pp = 8;
    c.layout.pipeline.vpp = 3; /* 24 stages of 2 layers are 23 */
    c.layout.dp = 8;
    expect_refuses(titan, &c, "must be divisible by the pipeline parallel size");
    c.layout.pipeline.ends_count = true; /* 48 are 24 */
    expect_takes(titan, &c);
    assert_true(
        expect_has_line(titan, &c, "--parallelism.pipeline_parallel_first_stage_less_layers 1"));
    c = expect_base->configuration;
    c.training.global_batch = 16 * 9; /* two rounds of 4 or more in 9 */
    expect_refuses(titan, &c, "multiple of the number of rounds");
    c.training.global_batch = 16 * 10;
    expect_takes(titan, &c);
    c = expect_base->configuration;
    c.training.precision = precision_find("fp16");
    expect_refuses(titan, &c, "fp16 is not offered");
    c.training.precision = precision_find("fp8");
    expect_says(titan, &c, "delayed");
    assert_true(expect_has_line(titan, &c, "--model.converters quantize.linear.float8"));
    c = expect_base->configuration;
    c.layout.dp = 1;
    c.training.global_batch = 32;
    c.cluster.nodes = 4;
    expect_refuses(titan, &c, "mixed_precision_param has no effect");
    c = expect_base->configuration;
    c.model.layers = 96;
    const struct launch_text text = expect_written(titan, &c);
    assert_non_null(launch_case_note(&text, LAUNCH_YOURS, "n_layers 96"));
    assert_true(expect_has_line(titan, &c, "FLAVOR=${FLAVOR:?"));
    assert_true(expect_has_line(titan, &expect_base->configuration, "FLAVOR=${FLAVOR:-70B}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torchtitan_converters),
        cmocka_unit_test(torchtitan_dims),
        cmocka_unit_test(torchtitan_context),
        cmocka_unit_test(torchtitan_pipelines),
    };
    return cmocka_run_group_tests(tests, expect_open, expect_close);
}
