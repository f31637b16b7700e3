/* Launches of torchtitan: TOML, command lines, YAML of Primus; and the flavors that are presets. */
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "scenarios/import/launched/launched_torchtitan.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

#define LINE                                                                                       \
    "torchrun --nproc_per_node 8 --nnodes 8 -m torchtitan.train --model.name llama3 "              \
    "--model.flavor 8B --training.seq_len 4096 --training.local_batch_size 8 "

struct row {
    const char *text, *lines[4];
};

static void test_toml(void **state)
{
    static const char text[] =
        "# a comment with [brackets] = and \"quotes\"\n[job]\ndump_folder = \"./out # puts\"\n"
        "description = \"an \\\"[open\\\" # bracket\"\n"
        "[model]\nname = \"llama3\" # it's\nflavor = '70B'\nconverters = [\"float8\"]\n"
        "[training]\nlocal_batch_size = 1\nseq_len = 8192\nsteps = 1_0\n"
        "[parallelism]\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 4\n"
        "enable_async_tensor_parallel = true\n"
        "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n"
        "[compile]\nenable=true\ncomponents = [\"model\", # one\n  \"loss\"]\n"
        "[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\n"
        "filter_fqns = [\"output\", \"layers.0.\", \"layers.79.\"]\n";
    static const char *const lines[] = {"preset: llama3-70b",
                                        "gpus: 64",
                                        "global_batch: 16",
                                        "sequence: 8192",
                                        "tokens: 1310720",
                                        "precision: fp8",
                                        "gradient_bytes: 4",
                                        "bf16_layers_first: 1",
                                        "bf16_layers_last: 1",
                                        "tp: 4",
                                        "sequence_parallel: true",
                                        "pp: 1",
                                        "vpp: 1",
                                        "dp: 16",
                                        "sharding: fsdp",
                                        "recompute: per_operator",
                                        "microbatch: 1",
                                        "profile: torchtitan",
                                        "tp_pipelines: true",
                                        "fsdp_reshard: true",
                                        "fp8_recipe: current"};
    launched_case_read(launched_torchtitan, text, NULL, 64);
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        launched_case_has(lines[i]);
    launched_case_place("tp: 4", "run.sh:15, --parallelism.tensor-parallel-degree");
    launched_case_silent();
}

static void hold(const struct row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        launched_case_read(launched_torchtitan, rows[i].text, NULL, 0);
        for (unsigned k = 0; k < 4 && rows[i].lines[k] != NULL; k++)
            launched_case_has(rows[i].lines[k]);
        launched_case_silent();
    }
}

static void test_options(void **state)
{
    static const struct row rows[] = {
        {LINE,
         {"recompute: every_other_layer", "profile: torchtitan-eager", "microbatch: 8",
          "global_batch: 512"}},
        {LINE "--parallelism.data_parallel_replicate_degree 64 "
              "--parallelism.data_parallel_shard_degree 1",
         {"sharding: zero-0", "dp: 64"}},
        {LINE "--parallelism.data_parallel_replicate_degree 32 "
              "--parallelism.data_parallel_shard_degree 1 --parallelism.context_parallel_degree 2",
         {"sharding: hsdp", "shard_group: 2", "dp: 32"}}, /* over context ranks */
        {LINE "--parallelism.data_parallel_replicate_degree 4 "
              "--parallelism.context_parallel_degree 2 "
              "--parallelism.context_parallel_rotate_method alltoall",
         {"sharding: hsdp", "shard_group: 16", "cp_method: ring", "cp_balance: zig_zag"}},
        {LINE "--parallelism.data_parallel_replicate_degree 2",
         {"sharding: hsdp", "shard_group: 32", "fsdp_reshard: true", "dp: 64"}},
        {LINE "--parallelism.data_parallel_replicate_degree 2 "
              "--parallelism.fsdp_reshard_after_forward never",
         {"sharding: hsdp", "shard_group: 32", "fsdp_reshard: false"}},
        {LINE "--parallelism.fsdp_reshard_after_forward never",
         {"sharding: fsdp", "fsdp_reshard: false"}},
        {LINE "--parallelism.context_parallel_degree 2 "
              "--parallelism.context_parallel_load_balancer None",
         {"cp_method: all_gather", "cp_balance: none"}},
        {LINE "--parallelism.tensor_parallel_degree 2 -x 3", {"tp: 2"}}, /* of the launcher */
        {LINE "--activation_checkpoint.mode none", {"recompute: none"}},
        {LINE "--activation_checkpoint.mode none --activation_checkpoint.selective_ac_option 1",
         {"recompute: none"}},
        {LINE "--parallelism.tensor_parallel_degree 2", {"sequence_parallel: true", "dp: 32"}},
        {LINE "--parallelism.context_parallel_degree 2 "
              "--parallelism.context_parallel_load_balancer headtail",
         {"cp_balance: zig_zag"}},
        {LINE "--activation_checkpoint.mode full", {"recompute: full"}},
        {LINE "--activation_checkpoint.selective_ac_option 1", {"recompute: full"}},
        {LINE "--training.mixed_precision_param float32 --training.mixed_precision_reduce bfloat16",
         {"precision: fp32", "gradient_bytes: 2"}},
        {LINE "--training.dtype bfloat16", {"precision: bf16", "states_as_weights: true"}},
        {LINE "--training.dtype bfloat16 --training.mixed_precision_param bfloat16",
         {"precision: bf16", "states_as_weights: true"}},
        {LINE "--compile.enable --compile.components model,loss", {"profile: torchtitan"}},
        {LINE "--compile.enable --compile.components loss model", {"profile: torchtitan"}},
        {LINE "--compile.components model loss", {"profile: torchtitan-eager"}},
        {LINE "--optimizer.implementation fused", {"optimizer: adamw"}},
        {LINE "--model.converters quantize.linear.mx --training.global_batch_size 1024",
         {"precision: fp8", "fp8_recipe: mxfp8", "global_batch: 1024"}},
        {LINE "--training.global_batch_size -1 --optimizer.name Adam --compile.enable",
         {"global_batch: 512", "optimizer: adam", "profile: torchtitan"}},
        {LINE "--model.name qwen3 --model.flavor 30B-A3B --parallelism.expert_parallel_degree 8",
         {"preset: qwen3-30b-a3b", "ep: 8", "etp: 1"}},
        {LINE "--model.name qwen3 --model.flavor 30B-A3B --parallelism.tensor_parallel_degree 4 "
              "--parallelism.expert_parallel_degree 8 "
              "--parallelism.expert_tensor_parallel_degree 4",
         {"ep: 8", "etp: 4"}},
        {LINE "--model.name qwen3 --model.flavor 30B-A3B --parallelism.tensor_parallel_degree 2",
         {"ep: 1", "etp: 2"}},
    };
    hold(rows, sizeof rows / sizeof rows[0]);
}

static void test_pipelines(void **state)
{
    static const struct row rows[] = {
        {LINE "--parallelism.pipeline_parallel_degree 2",
         {"schedule: 1f1b", "vpp: 1", "sharding: zero-2", "ends_count: false"}},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_schedule Interleaved1F1B "
              "--parallelism.fsdp_reshard_after_forward always "
              "--parallelism.pipeline_parallel_microbatch_size 2",
         {"schedule: interleaved", "vpp: 2", "microbatch: 2", "sharding: fsdp"}},
        {LINE "--parallelism.pipeline_parallel_degree 4 "
              "--parallelism.pipeline_parallel_layers_per_stage 4 "
              "--parallelism.pipeline_parallel_schedule Interleaved1F1B "
              "--parallelism.pipeline_parallel_first_stage_less_layers 0 "
              "--parallelism.pipeline_parallel_last_stage_less_layers 0",
         {"vpp: 2", "ends_count: false"}},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_first_stage_less_layers 4 "
              "--parallelism.pipeline_parallel_last_stage_less_layers 0",
         {"first_stage_layers: 14"}},
        /* 32 layers, 1 less in the first stage and 3 less in the last: 36 over 4 are 9, each. */
        {LINE "--parallelism.pipeline_parallel_degree 4 "
              "--parallelism.pipeline_parallel_last_stage_less_layers 3",
         {"pp: 4", "first_stage_layers: 8", "last_stage_layers: 6"}},
        /* 36 and the two ends over 8: 5 of each of the first six, 4 of the others. */
        {LINE "--model.name qwen3 --model.flavor 4B --parallelism.pipeline_parallel_degree 8",
         {"vpp: 1", "ends_count: true"}},
        /* 37 over 8: 5 of each of the first five, and one less in the first. */
        {LINE "--model.name qwen3 --model.flavor 4B --parallelism.pipeline_parallel_degree 8 "
              "--parallelism.pipeline_parallel_last_stage_less_layers 0",
         {"first_stage_layers: 4"}},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_schedule ZBVZeroBubble",
         {"schedule: zb-v", "vpp: 2"}},
    };
    hold(rows, sizeof rows / sizeof rows[0]);
}

/* Defaults are those of torchtitan/config/job_config.py. */
static void test_unsaid(void **state)
{
    launched_case_read(launched_torchtitan, "[model]\nflavor = \"8B\"\n", NULL, 4);
    launched_case_has("microbatch: 8");
    launched_case_has("global_batch: 32");
    launched_case_has("sequence: 2048");
    launched_case_has("precision: bf16");
    launched_case_has("gradient_bytes: 4");
    launched_case_has("sharding: fsdp");
    launched_case_read(launched_torchtitan, "[model]\nflavor = \"8B\"\n", NULL, 1);
    launched_case_has("sharding: fsdp"); /* of one rank too */
    launched_case_has("sequence_parallel: false");
    launched_case_read(launched_torchtitan, LINE "--parallelism.pipeline_parallel_degree 2", NULL,
                       0);
    launched_case_lacks("fsdp_reshard: false"); /* the sharding says it */
    launched_case_lacks("fsdp_reshard: true");
}

/* A layer that several names of a filter are in is one. */
static void test_a_filter_of_parts(void **state)
{
    static const char *const filters[][3] = {
        {"layers.0.attention,layers.0.feed_forward,output", "bf16_layers_first: 1",
         "bf16_layers_last: 0"},
        {"output,layers.31.attention,layers.30.,layers.31.feed_forward,layers.0.",
         "bf16_layers_first: 1", "bf16_layers_last: 2"},
        {"layers.1.,layers.0.,layers.2.,layers.31.,layers.32.,output", "bf16_layers_first: 3",
         "bf16_layers_last: 1"},
    };
    for (unsigned i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 LINE "--model.converters quantize.linear.float8 "
                      "--quantize.linear.float8.enable_fsdp_float8_all_gather "
                      "--quantize.linear.float8.filter_fqns %s",
                 filters[i][0]);
        launched_case_read(launched_torchtitan, text, NULL, 0);
        launched_case_has(filters[i][1]);
        launched_case_has(filters[i][2]);
        launched_case_silent();
    }
}

static void test_yaml(void **state)
{
    static const char text[] =
        "modules:\n  pre_trainer:\n    framework: torchtitan\n    overrides:\n"
        "      model:\n        name: llama3\n        flavor: 405B\n"
        "      training:\n        local_batch_size: 2\n        seq_len: 4096\n"
        "      parallelism:\n        data_parallel_shard_degree: -1\n"
        "        tensor_parallel_degree: ${TP}\n"
        "      activation_checkpoint:\n        mode: \"full\"\n";
    launched_case_read(launched_torchtitan, text, "TP=8", 64);
    launched_case_has("preset: llama3-405b");
    launched_case_has("tp: 8");
    launched_case_has("global_batch: 16");
    launched_case_has("recompute: full");
    launched_case_read(launched_torchtitan, text, NULL, 64);
    launched_case_refused("run.sh:13: --parallelism.tensor-parallel-degree: $TP: it has no value");
    launched_case_read(launched_torchtitan, "model:\n  flavor: 8B\n", NULL, 8);
    launched_case_has("preset: llama3-8b");
    launched_case_read(launched_torchtitan, "modules:\n  other: 1\n", NULL, 8);
    launched_case_refused("no mapping modules.pre_trainer.overrides");
}

/* FSDP computes in mixed_precision_param; the compiler is given what compile.components names. */
static void test_what_is_computed(void **state)
{
    launched_case_read(launched_torchtitan,
                       LINE "--training.dtype bfloat16 --training.mixed_precision_param float32",
                       NULL, 0);
    launched_case_has("precision: fp32");
    launched_case_lacks("states_as_weights: true");
    launched_case_warns("states are simulated in 32 bits, as FSDP computes");
    launched_case_read(launched_torchtitan,
                       LINE "--training.dtype bfloat16 --training.mixed_precision_param float32 "
                            "--model.converters quantize.linear.mx",
                       NULL, 0);
    launched_case_has("states_as_weights: true");
    launched_case_read(launched_torchtitan,
                       "[model]\nflavor = \"8B\"\n[compile]\nenable = true\n"
                       "components = [\"loss\"]\n",
                       NULL, 8);
    launched_case_has("profile: torchtitan-eager");
    launched_case_warns("compile.components: the loss is simulated as the model: not compiled");
    launched_case_read(launched_torchtitan, LINE "--compile.enable --compile.components model",
                       NULL, 0);
    launched_case_has("profile: torchtitan");
    launched_case_warns("the loss is simulated as the model: compiled");
}

#define AUTOMODEL                                                                                  \
    "recipe: Benchmark\nstep_scheduler:\n  global_batch_size: 256\n  local_batch_size: 1\n"        \
    "distributed:\n  strategy: fsdp2\n  tp_size: 1\nmodel:\n  config: x\n"
#define MODULE(framework, keys)                                                                    \
    "modules:\n  pre_trainer:\n    framework: " framework "\n    overrides:\n" keys

/* A file of another program is none of torchtitan's, and a file of torchtitan's is. */
static void test_files_of_others(void **state)
{
    static const char *const refused[][2] = {
        {AUTOMODEL, "run.sh:1: not of torchtitan: 5 of its 6 keys, as recipe, are none of its; it "
                    "looks like a recipe of NeMo Automodel"},
        /* One key of its own is not enough. */
        {AUTOMODEL "training:\n  seq_len: 4096\n", "5 of its 7 keys, as recipe"},
        {MODULE("megatron", "      train_iters: 3\n"), "run.sh:3: its framework is megatron"},
        {"modules:\n  pre_trainer:\n    config: x\n    framework: megatron\n"
         "    overrides:\n      train_iters: 3\n",
         "run.sh:4: its framework is megatron"},
        {MODULE("maxtext", "      training:\n        seq_len: 8\n"), "its framework is maxtext"},
        {"training:\n  a: 1\nmodel:\n  name: x\noptimizer:\n  name: AdamW\n",
         "no key that torchtitan alone has"},
        {"model:\n  a: 1\nmax_seq_len: 3\nother: 1\n", "LLM Foundry"},
        {"model:\n  a: 1\nexp_manager:\n  x: 3\n", "orrery import nemo"},
        {"model:\n  a: 1\ntokens:\n  x: 3\n", "orrery import nanotron"},
        {"model:\n  a: 1\nmicro_batch_size: 3\n", "orrery import megatron"},
        {"[a]\nb = 1\n", "a file of another program: orrery import --help lists"},
    };
    static const char *const taken[] = {
        "[training]\nsteps = 3\nlocal_batch_size = 1\nnew = 1\nunknown = 2\n",
        "[parallelism]\ntensor_parallel_degree = 1\n[other]\na = 1\n",
        MODULE("torchtitan", "      training:\n        seq_len: 8\n"),
        "modules:\n  pre_trainer:\n    overrides:\n      model:\n        flavor: 8B\n",
        "training:\n  batch_size: 8\n",
    };
    for (unsigned i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        launched_case_read(launched_torchtitan, refused[i][0], NULL, 8);
        launched_case_refused(refused[i][1]);
    }
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        launched_case_read(launched_torchtitan, taken[i], NULL, 8);
        launched_case_has("dp: 8");
    }
}

static void test_warnings(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {LINE "--model.flavor mine", "the shape of the model is not known"},
        {LINE "--job.config_file x.toml", "the options of that file are not read"},
        {LINE "--training.enable_cpu_offload", "stay on the cards"},
        {LINE "--optimizer.implementation for-loop", "moves time: the optimizer is simulated"},
        {LINE "--optimizer.implementation foreach", "one fused kernel"},
        {LINE "--optimizer.early_step_in_backward", "moves time and memory: the optimizer is"},
        {LINE "--no_such.key 1", "1 not known here, and left out: no-such.key"},
        {LINE "--activation_checkpoint.selective_ac_option 3", "not one in 3"},
        {LINE "--model.converters quantize.linear.float8", "gathered in 8 bits"},
        {LINE "--model.converters other", "other: not simulated"},
        {LINE "--activation_checkpoint.mode memory_budget", "is simulated by operator"},
        {LINE "--model.flavor mine --parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_layers_per_stage 4",
         "stages follow from it where the flavor is known: 2 are simulated"},
        {LINE "--parallelism.pipeline_parallel_degree 2 --training.global_batch_size 1024",
         "filled once a step"},
        {LINE "--model.converters quantize.linear.mx --quantize.linear.mx.filter_fqns wq",
         "the head is simulated in 16 bits"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        launched_case_read(launched_torchtitan, rows[i].text, NULL, 0);
        launched_case_warns(rows[i].words);
    }
    launched_case_read(launched_torchtitan, LINE "--activation_checkpoint.mode memory_budget", NULL,
                       0);
    launched_case_has("recompute: per_operator");
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {LINE "--parallelism.tensor_parallel_degree 3", "64 GPUs do not divide by tp 3"},
        {LINE "--parallelism.data_parallel_shard_degree 16",
         "shard 16 x replicate 1 is not dp, 64"},
        {LINE "--training.global_batch_size 100", "100 sequences do not divide"},
        {LINE "--training.global_batch_size 520", "520 sequences do not divide by local batch 8"},
        {LINE "--parallelism.pipeline_parallel_degree 2 --training.global_batch_size 768 "
              "--parallelism.pipeline_parallel_microbatch_size 3",
         "microbatches of 3 do not divide a local batch of 8"},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_layers_per_stage 1 "
              "--parallelism.pipeline_parallel_first_stage_less_layers 9965",
         "makes 9998 stages"},
        {LINE "--parallelism.pipeline_parallel_degree 4 "
              "--parallelism.pipeline_parallel_layers_per_stage 7",
         "makes 5 stages, which pp 4 does not divide"},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_microbatch_size 3",
         "microbatches of 3 do not divide"},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_schedule LoopedBFS",
         "'LoopedBFS' is not simulated"},
        {LINE "--activation_checkpoint.selective_ac_option some", "wants op or a whole number"},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_first_stage_less_layers 40",
         "a stage has fewer layers than it is to have less"},
        {LINE "--parallelism.pipeline_parallel_degree 2 "
              "--parallelism.pipeline_parallel_last_stage_less_layers 40",
         "a stage has fewer layers than it is to have less"},
        {"[model]\nflavor = \"8B\"\n", "global_batch_size is not said"},
        {"[activation_checkpoint]\nselective_ac_option = \"op#x\"\n", "wants op or a whole number"},
        {"[[model]]\n[x]\n", "run.sh:1: arrays of tables are not read"},
        {"[model]\nflavor\n", "run.sh:2: no line such as key = value"},
        {"[model]\nx = {a = 1}\n", "tables within a line"},
        {"[model]\nx = [1,\n2\n", "run.sh:3: the array of x has no end"},
        {"[model\n[a]\n", "run.sh:1: no table such as [parallelism]"},
        {"[a]\n", "no key = value in it"},
        {"echo\n", "no launch"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        launched_case_read(launched_torchtitan, rows[i].text, NULL, 0);
        launched_case_refused(rows[i].words);
    }
}

/* The layers and experts of each flavor are those of its preset. */
static void test_flavors(void **state)
{
    unsigned count = 0;
    for (const struct launched_flavor *f = launched_flavors; f->model != NULL; f++, count++) {
        char text[512];
        struct error error;
        const struct scenario_options options = {.layout_open = true};
        snprintf(text, sizeof text,
                 "model: {preset: %s}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                 "training: {global_batch: 8}\n",
                 f->preset);
        struct scenario *s = scenario_read("preset.yaml", text, strlen(text), &options, &error);
        assert_non_null(s);
        assert_int_equal(s->configuration.model.layers, f->layers);
        assert_int_equal(s->configuration.model.moe.experts > 0, f->experts);
        scenario_destroy(s);
    }
    assert_true(count > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_toml),
                                       cmocka_unit_test(test_options),
                                       cmocka_unit_test(test_pipelines),
                                       cmocka_unit_test(test_unsaid),
                                       cmocka_unit_test(test_a_filter_of_parts),
                                       cmocka_unit_test(test_yaml),
                                       cmocka_unit_test(test_warnings),
                                       cmocka_unit_test(test_what_is_computed),
                                       cmocka_unit_test(test_files_of_others),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_flavors)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
