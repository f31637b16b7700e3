/* Configurations of DeepSpeed: batches, ZeRO, what lies on the host; scripts with one in them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/import/launched/launched_deepspeed.h"
#include "sim/random.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

static const char *model = "llama3-8b";

static bool reader(struct arena *arena, const struct import_file *file,
                   const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                   struct error *error)
{
    struct launched_hints own = *hints;
    own.model = model;
    return launched_deepspeed(arena, file, &own, gpus, out, error);
}

static void read(const char *text, uint64_t gpus)
{
    launched_case_read(reader, text, NULL, gpus);
}

struct row {
    const char *keys, *lines[4];
};

/* Keys beside a batch, and what they become. */
static void hold(const struct row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 1,\n%s}",
                 rows[i].keys);
        read(text, 16);
        for (unsigned k = 0; k < 4 && rows[i].lines[k] != NULL; k++)
            launched_case_has(rows[i].lines[k]);
    }
}

static void test_keys(void **state)
{
    static const struct row rows[] = {
        {"\"bf16\": {\"enabled\": true}",
         {"precision: bf16", "sharding: zero-0", "optimizer: adamw", "preset: \"llama3-8b\""}},
        {"\"fp16\": {\"enabled\": true, \"loss_scale\": 0}", {"precision: fp16"}},
        {"\"fp16\": {\"enabled\": false}", {"precision: fp32", "gpus: 16", "dp: 16", "tp: 1"}},
        {"\"torch_autocast\": {\"enabled\": true, \"dtype\": \"float16\"}", {"precision: fp16"}},
        {"\"torch_autocast\": {\"enabled\": true, \"dtype\": \"bf16\"}", {"precision: bf16"}},
        {"\"data_types\": {\"grad_accum_dtype\": \"bf16\"}", {"gradient_bytes: 2"}},
        {"\"data_types\": {\"grad_accum_dtype\": \"fp32\"}", {"gradient_bytes: 4"}},
        {"\"communication_data_type\": \"fp16\"", {"gradient_reduce_bytes: 2"}},
        {"\"gradient_clipping\": 1.0", {"clip_gradients: true"}},
        {"\"gradient_clipping\": 0", {"clip_gradients: false"}},
        {"\"optimizer\": {\"type\": \"SGD\"}", {"optimizer: sgd"}},
        {"\"optimizer\": {\"type\": \"Muon\"}", {"optimizer: muon"}},
        {"\"zero_optimization\": {\"stage\": 1, \"mics_shard_size\": 8}", {"sharding: zero-1"}},
        {"\"zero_optimization\": {\"stage\": 2}", {"sharding: zero-2", "overlap_gradients: false"}},
        {"\"zero_optimization\": {\"stage\": 3, \"stage3_max_live_parameters\": 5e8}",
         {"sharding: zero-3", "overlap_gradients: true", "live_parameters: 500000000"}},
        {"\"zero_optimization\": {\"stage\": 3, \"mics_shard_size\": 8}",
         {"sharding: hsdp", "shard_group: 8"}},
        {"\"zero_optimization\": {\"stage\": 3, \"mics_shard_size\": -1}", {"sharding: zero-3"}},
        {"\"zero_optimization\": {\"stage\": 1, \"reduce_bucket_size\": 5e8}",
         {"bucket: 1000000000B"}},
        {"\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"cpu\"}}",
         {"optimizer_offload: 1", "optimizer_offload_to: cpu"}},
        {"\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"nvme\", "
         "\"ratio\": 0.3}}",
         {"optimizer_offload: 0.3", "optimizer_offload_to: nvme"}},
        {"\"zero_optimization\": {\"stage\": 2, \"cpu_offload\": true}", {"optimizer_offload: 1"}},
        {"\"activation_checkpointing\": {\"number_checkpoints\": 4}", {"recompute: full"}},
        {"\"activation_checkpointing\": {\"profile\": true}", {"# recompute: not said"}},
        {"\"tensor_parallel\": {\"autotp_size\": 4}", {"tp: 4", "dp: 4"}},
        {"\"sequence_parallel_size\": 2", {"cp: 2", "cp_method: all_to_all", "dp: 8"}},
    };
    hold(rows, sizeof rows / sizeof rows[0]);
    /* parameters stay where they are before stage 3: none come alive */
    read("{\"train_batch_size\": 64, \"zero_optimization\": {\"stage\": 2, "
         "\"stage3_max_live_parameters\": 5e8}}",
         16);
    launched_case_lacks("live_parameters: 500000000");
    read("{\"train_batch_size\": 64, \"zero_optimization\": {\"newer\": 1},\n\"mine\": {\"a\": 1}}",
         8);
    launched_case_warns("zero_optimization.newer: not known here, and left out");
    launched_case_place("global_batch: 64", "run.sh:1, train_batch_size");
    launched_case_warns("run.sh:2, mine.a: not known here, and left out");
    scenario_destroy(launched_case_scenario());
    read("{\"train_batch_size\": 64, \"optimizer\": {\"type\": \"Lion\"}}", 8);
    launched_case_warns("optimizer.type: simulated as adamw");
    model = "shapes/config.json";
    read("{\"train_batch_size\": 64}", 8);
    launched_case_has("hf: \"shapes/config.json\"");
    model = NULL;
    read("{\"train_batch_size\": 64}", 8);
    launched_case_warns("the model is not said");
    model = "a\nb";
    read("{\"train_batch_size\": 64}", 8);
    launched_case_refused("--model is no name and no path");
    model = "llama3-8b";
}

static void test_warnings(void **state)
{
    read("{\"train_batch_size\": 64, \"bf16\": {\"enabled\": \"auto\"}, \"optimizer\": {\"type\": "
         "\"Lamb\", \"params\": {\"lr\": \"auto\"}},\n"
         "\"zero_optimization\": {\"stage\": 3, \"offload_param\": {\"device\": \"cpu\"}, "
         "\"stage3_prefetch_bucket_size\": \"auto\", \"allgather_bucket_size\": 5e8},\n"
         "\"activation_checkpointing\": {\"partition_activations\": true, "
         "\"cpu_checkpointing\": true}, \"sparse_gradients\": false}",
         8);
    launched_case_warns("bf16.enabled: the Trainer says it");
    launched_case_lacks("precision: fp32");
    launched_case_warns("optimizer.type: simulated as adamw");
    launched_case_warns("offload_param.device: parameters stay on the cards");
    launched_case_warns("allgather_bucket_size: gathers have the size of the profile's");
    launched_case_quiet("stage3_prefetch");
    launched_case_quiet("sparse_gradients");
    launched_case_warns("partition_activations: the program says which layers");
    launched_case_warns("cpu_checkpointing: inputs of layers stay on the cards");
    launched_case_warns("partition_activations: inputs of layers are held whole");
    launched_case_warns("the length of sequences is not said");
}

/* batch = microbatch x accumulation x dp, whichever of them are said. */
static void test_batches(void **state)
{
    for (uint64_t number = 0; number < 400; number++) {
        const uint64_t draw = random_hash(number, 0x6261746368);
        const uint64_t micro = 1 + draw % 4, count = 1 + draw / 8 % 8, dp = 1 + draw / 64 % 16;
        const bool whole = draw / 4096 % 2 == 0, each = draw / 8192 % 2 == 0;
        const bool times = draw / 16384 % 2 == 0, known = draw / 32768 % 2 == 0;
        char text[512], line[64];
        size_t used = (size_t)snprintf(text, sizeof text, "{\"steps_per_print\": 10");
        if (whole)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     ", \"train_batch_size\": %" PRIu64, micro * count * dp);
        if (each)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     ", \"train_micro_batch_size_per_gpu\": %" PRIu64, micro);
        if (times)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     ", \"gradient_accumulation_steps\": %" PRIu64, count);
        snprintf(text + used, sizeof text - used, "}");
        read(text, known ? dp : 0);
        if (!whole && (!each || !known)) {
            launched_case_refused("it does not say train_batch_size");
            continue;
        }
        const uint64_t steps = times || whole ? count : 1; /* not said: once */
        snprintf(line, sizeof line, "global_batch: %" PRIu64, micro * steps * dp);
        launched_case_has(line);
        snprintf(line, sizeof line, "gpus: %" PRIu64, dp);
        (known || (whole && each && times) ? launched_case_has : launched_case_lacks)(line);
        snprintf(line, sizeof line, "microbatch: %" PRIu64, each || times ? micro : micro * count);
        (each || known ? launched_case_has : launched_case_lacks)(line);
    }
}

#define SCRIPT                                                                                     \
    "#!/bin/bash\nCONFIG=ds.json\ncat >$CONFIG <<'END'\n{\"train_batch_size\": 64,\n"              \
    " \"train_micro_batch_size_per_gpu\": 2,\n \"zero_optimization\": {\"stage\": 1}}\nEND\n"
#define LINE                                                                                       \
    "deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config "         \
    "$CONFIG --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 1024 "

static void test_script(void **state)
{
    model = NULL;
    read(SCRIPT LINE "--bf16 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
                     "--swiglu --disable-bias-linear --normalization rmsnorm --use-flash-attn-v2",
         0);
    launched_case_place("sharding: zero-1", "run.sh:6, zero_optimization.stage");
    launched_case_place("layers: 24", "run.sh:8, num-layers");
    launched_case_has("gpus: 16");
    launched_case_has("dp: 4");
    launched_case_has("schedule: 1f1b");
    launched_case_has("ffn: swiglu");
    launched_case_has("norm: rms");
    launched_case_has("biases: false");
    launched_case_has("precision: bf16");
    launched_case_has("attention: flash2");
    launched_case_has("recompute: none");
    launched_case_has("dropout: 0.1");
    launched_case_has("even_stages: false");
    launched_case_has("sequence_parallel: false");
    launched_case_lacks("norm_biases: true");
    launched_case_warns("--set model.vocabulary=N");
    read(SCRIPT LINE "--recompute-granularity full --recompute-method uniform "
                     "--recompute-num-layers 2 --disable-bias-linear --sequence-parallel "
                     "--tensor-model-parallel-size 2",
         0);
    launched_case_has("recompute: uniform");
    launched_case_has("recompute_layers: 2");
    launched_case_has("norm_biases: true");
    launched_case_has("sequence_parallel: true");
    read(SCRIPT LINE "--recompute-granularity full --recompute-method uniform", 0);
    launched_case_has("recompute: full");
    launched_case_has("position: learned");
    launched_case_has("ffn_hidden: 8192");
    launched_case_has("attention: math");
    read(SCRIPT "deepspeed --num_nodes 1000000000 --num_gpus 1000000000 x.py --deepspeed "
                "--num-layers 8 --hidden-size 8 --num-attention-heads 8",
         0);
    launched_case_refused("makes 1000000000000000000 GPUs");
    read(LINE, 0);
    launched_case_refused("no configuration in it");
    read(SCRIPT LINE "--num-experts 8", 0);
    launched_case_refused("num-experts: experts of DeepSpeed are not read");
    model = "llama3-8b";
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"{}", "no mapping of keys"},
        {"{\"train_batch_size\": 64", "run.sh:2: ',' or '}' was expected"},
        {"{\"train_batch_size\": 63, \"train_micro_batch_size_per_gpu\": 2}",
         "run.sh:1: train_batch_size: 63 sequences are not microbatches of 2 x acc"},
        {"{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2, "
         "\"gradient_accumulation_steps\": 3}",
         "64 sequences are not microbatches of 2 x accumulation"},
        {"{\"train_batch_size\": 12}",
         "12 sequences are not microbatches of 1 x accumulation x dp 8"},
        {"{\"train_batch_size\": 4}", "microbatches of 0"},
        {"{\"train_batch_size\": 0}", "wants a whole number from 1 to 1e9, not '0'"},
        {"{\"train_batch_size\": -1}", "not '-1'"},
        {"{\"train_batch_size\": 1e300}", "not '1e300'"},
        {"{\"train_batch_size\": NaN}", "not 'NaN'"},
        {"{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 4}}",
         "'4' is not simulated; there are 0, 1, 2, 3"},
        {"{\"train_batch_size\": 8, \"bf16\": {\"enabled\": \"yes\"}}", "wants true or false"},
        {"{\"train_batch_size\": 8, \"bf16\": {\"enabled\": true}, \"fp16\": {\"enabled\": true}}",
         "fp16.enabled: bf16 is enabled too"},
        {"{\"train_batch_size\": 8, \"tensor_parallel\": {\"autotp_size\": 3}}",
         "8 GPUs do not divide by tp 3"},
        {"{\"train_batch_size\": 8, \"zero_optimization\": {\"offload_optimizer\": {\"device\": "
         "\"cpu\", \"ratio\": 2}}}",
         "wants a share from 0 to 1, not 2"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        read(rows[i].text, 8);
        launched_case_refused(rows[i].words);
    }
    read("{\"train_batch_size\": 66, \"train_micro_batch_size_per_gpu\": 2, "
         "\"gradient_accumulation_steps\": 4}",
         0);
    launched_case_refused("66 sequences are not microbatches of 2 x accumulation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_warnings),
                                       cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_script),
                                       cmocka_unit_test(test_refused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
