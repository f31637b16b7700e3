/* YAML of NeMo 1: what each key becomes, and an independent count of what it describes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "scenarios/import/configured/nemo.h"
#include "sim/random.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

#define TRAINER                                                                                    \
    "trainer: {num_nodes: 2, devices: 8, precision: bf16, max_steps: 100, gradient_clip_val: "     \
    "1.0}\n"
#define SHAPE                                                                                      \
    "micro_batch_size: 2, global_batch_size: 64, encoder_seq_length: 2048, "                       \
    "max_position_embeddings: 4096,\n  num_layers: 24, hidden_size: 1024, ffn_hidden_size: 4096, " \
    "num_attention_heads: 16, tokenizer: {type: GPT2BPETokenizer}"

static void reads(const char *keys)
{
    char text[4096];
    snprintf(text, sizeof text, TRAINER "model: {" SHAPE ",\n  %s}\n", keys);
    launched_case_read(nemo_read, text, NULL, 0);
}

static void test_whole(void **state)
{
    static const char *const lines[] = {"layers: 24",
                                        "hidden: 1024",
                                        "heads: 16",
                                        "kv_heads: 16",
                                        "ffn_hidden: 4096",
                                        "vocabulary: 50257",
                                        "positions_max: 4096",
                                        "ffn: gelu",
                                        "norm: layernorm",
                                        "position: learned",
                                        "tied_embeddings: true",
                                        "biases: true",
                                        "dropout: 0.1",
                                        "gpus: 16",
                                        "global_batch: 64",
                                        "microbatch: 2",
                                        "sequence: 2048",
                                        "precision: bf16",
                                        "tokens: 13107200",
                                        "tp: 2",
                                        "sequence_parallel: true",
                                        "tp_pipelines: false",
                                        "pp: 2",
                                        "vpp: 3",
                                        "schedule: interleaved",
                                        "p2p_blocking_interleaved: false",
                                        "dp: 4",
                                        "cp: 1",
                                        "order: tp-cp-dp-pp",
                                        "sharding: zero-1",
                                        "overlap_gradients: true",
                                        "gradient_reduce_bytes: 2",
                                        "bucket: 220MiB",
                                        "gradient_fusion: true",
                                        "recompute: none",
                                        "vocabulary_multiple: 128",
                                        "clip_gradients: true",
                                        "profile: nemo"};
    reads(
        "tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2, sequence_parallel: True, "
        "virtual_pipeline_model_parallel_size: 3, overlap_p2p_comm: True, "
        "gradient_accumulation_fusion: True, activations_checkpoint_granularity: null, "
        "optim: {name: distributed_fused_adam, overlap_grad_sync: True, grad_sync_dtype: bf16, "
        "bucket_cap_mb: 220, lr: 1e-4}");
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        launched_case_has(lines[i]);
    launched_case_place("layers: 24", "run.sh:3, model.num_layers");
    launched_case_silent();
    scenario_destroy(launched_case_scenario());
}

static const struct {
    const char *keys, *lines[4];
} switches[] = {
    {"activation: fast-swiglu, normalization: rmsnorm, bias: False, position_embedding_type: "
     "rope",
     {"ffn: swiglu", "norm: rms", "biases: false", "position: rope"}},
    {"bias: False", {"norm_biases: true", "sharding: zero-0", "sequence_parallel: false"}},
    {"activation: fast-geglu, normalization: layernorm1p", {"ffn: geglu", "norm: layernorm"}},
    {"activation: squared-relu, position_embedding_type: none",
     {"ffn: squared_relu", "position: none"}},
    {"activation: geglu, sequence_parallel: True", {"ffn: geglu", "sequence_parallel: false"}},
    {"activation: swiglu, gradient_accumulation_fusion: False, optim: {overlap_grad_sync: "
     "False, overlap_param_sync: False}",
     {"ffn: swiglu", "gradient_fusion: false", "overlap_gradients: false",
      "overlap_parameters: false"}},
    {"share_embeddings_and_output_weights: False", {"tied_embeddings: false"}},
    {"num_query_groups: 4, kv_channels: 96", {"kv_heads: 4", "head_size: 96"}},
    {"override_vocab_size: 32000", {"vocabulary: 32000"}},
    {"fp8: True", {"precision: fp8"}},
    {"use_flash_attention: True", {"attention: flash2"}},
    {"use_flash_attention: False", {"attention: math"}},
    {"transformer_engine: False", {"attention: math"}},
    {"transformer_engine: False, use_flash_attention: True", {"attention: flash2"}},
    {"activations_checkpoint_granularity: selective", {"recompute: selective"}},
    {"activations_checkpoint_granularity: full, activations_checkpoint_method: block, "
     "activations_checkpoint_num_layers: 3",
     {"recompute: block", "recompute_layers: 3"}},
    {"activations_checkpoint_method: uniform, activations_checkpoint_num_layers: 1",
     {"recompute: full"}},
    {"activations_checkpoint_granularity: full, activations_checkpoint_method: uniform, "
     "activations_checkpoint_num_layers: 2",
     {"recompute: uniform", "recompute_layers: 2"}},
    {"activations_checkpoint_granularity: full, activations_checkpoint_method: block, "
     "activations_checkpoint_num_layers: 1",
     {"recompute: block", "recompute_layers: 1"}},
    {"optim: {name: fused_adam, grad_sync_dtype: float32}", {"gradient_reduce_bytes: 4"}},
    {"optim: {name: fused_adam, grad_sync_dtype: fp16}", {"gradient_reduce_bytes: 2"}},
    {"fsdp: True", {"sharding: fsdp"}},
    {"fsdp: True, fsdp_sharding_strategy: grad", {"sharding: zero-2"}},
    {"optim: {name: mcore_distributed_optim, overlap_param_sync: True}",
     {"sharding: zero-1", "overlap_parameters: true"}},
    {"context_parallel_size: 2", {"cp: 2", "cp_method: ring", "dp: 8"}},
    {"num_moe_experts: 8, expert_model_parallel_size: 4",
     {"experts: 8", "experts_per_token: 2", "moe_ffn_hidden: 4096", "ep: 4"}},
    {"tensor_model_parallel_size: 4, sequence_parallel: True, ub_tp_comm_overlap: True",
     {"tp_pipelines: true", "dp: 4", "vpp: 1"}},
    {"pipeline_model_parallel_size: 4", {"schedule: 1f1b", "vpp: 1", "pp: 4"}},
    {"virtual_pipeline_model_parallel_size: 4", {"vpp: 1", "pp: 1"}},
};

static void test_switches(void **state)
{
    for (unsigned i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        reads(switches[i].keys);
        for (unsigned k = 0; k < 4 && switches[i].lines[k] != NULL; k++)
            launched_case_has(switches[i].lines[k]);
    }
    reads("transformer_engine: False, megatron_amp_O2: False");
    launched_case_warns("model.transformer_engine: moves time");
    launched_case_warns("model.megatron_amp_O2: moves time and memory");
    reads("transformer_engine: True, megatron_amp_O2: True");
    launched_case_lacks("attention: math");
    launched_case_quiet("moves time");
    reads("attention_dropout: 0.0, sharp: True, newer: 1, rampup_batch_size: [32, 32, 100]");
    launched_case_warns("model.attention_dropout: one dropout is simulated");
    launched_case_warns("model.sharp: switches reduce nothing here");
    launched_case_warns("model.rampup_batch_size: the batch is simulated at its full size");
    launched_case_warns("run.sh:4, model.newer: not known here, and left out");
    reads("fp16_lm_cross_entropy: False");
    launched_case_silent();
    launched_case_read(nemo_read, "trainer: {precision: 16}\nmodel: {" SHAPE "}\n", NULL, 0);
    launched_case_has("# gpus: not said: --gpus N");
    launched_case_has("precision: fp16");
    launched_case_lacks("dp: 1");
    launched_case_read(nemo_read, "trainer: {precision: 32, max_steps: -1}\nmodel: {" SHAPE "}\n",
                       NULL, 8);
    launched_case_has("precision: fp32");
    launched_case_has("dp: 8");
    launched_case_lacks("tokens: 0");
}

/* Only layer norms have a bias, and only learned positions a table; a block is four times as
 * wide where nothing is said (NeMo's megatron_gpt_config.yaml). */
static void test_unsaid(void **state)
{
    reads("bias: False, normalization: rmsnorm, position_embedding_type: rope");
    launched_case_lacks("norm_biases: true");
    launched_case_lacks("positions_max: 4096");
    launched_case_read(nemo_read,
                       TRAINER "model: {micro_batch_size: 2, global_batch_size: 64, "
                               "encoder_seq_length: 2048, num_layers: 24, hidden_size: 1024, "
                               "num_attention_heads: 16, override_vocab_size: 32000}\n",
                       NULL, 0);
    launched_case_has("ffn_hidden: 4096");
    /* Lightning's precision is 32 bits; one GPU is one replica. */
    launched_case_read(nemo_read, "model: {" SHAPE "}\n", NULL, 1);
    launched_case_has("precision: fp32");
    launched_case_has("dp: 1");
    launched_case_has("clip_gradients: false");
    reads("num_moe_experts: 8");
    launched_case_has("ep: 1");
    reads("tensor_model_parallel_size: 2");
    launched_case_has("sequence_parallel: false");
}

/* A GPT with biases, layer norms, learned positions and a shared head, counted by hand. */
static void test_count(void **state)
{
    for (uint64_t number = 0; number < 200; number++) {
        uint64_t s = random_hash(number, 0x6e656d6f);
        const uint64_t hidden = LAUNCHED_CASE_PICK(&s, 768, 1024, 2048),
                       layers = LAUNCHED_CASE_PICK(&s, 8, 12, 24);
        const uint64_t ffn = LAUNCHED_CASE_PICK(&s, 3072, 4096),
                       words = LAUNCHED_CASE_PICK(&s, 32000, 50257);
        const uint64_t tp = LAUNCHED_CASE_PICK(&s, 1, 2, 4), pp = LAUNCHED_CASE_PICK(&s, 1, 2, 4),
                       nodes = LAUNCHED_CASE_PICK(&s, 2, 4, 8);
        const uint64_t micro = LAUNCHED_CASE_PICK(&s, 1, 2, 4), dp = 8 * nodes / (tp * pp);
        const uint64_t batch = micro * dp * pp * LAUNCHED_CASE_PICK(&s, 1, 2, 4),
                       sequence = LAUNCHED_CASE_PICK(&s, 512, 2048);
        const double h = (double)hidden, f = (double)ffn;
        char text[2048];
        snprintf(text, sizeof text,
                 "trainer: {num_nodes: %" PRIu64 ", devices: 8, precision: bf16-mixed}\n"
                 "model: {micro_batch_size: %" PRIu64 ", global_batch_size: %" PRIu64
                 ", encoder_seq_length: %" PRIu64 ", num_layers: %" PRIu64 ", hidden_size: %" PRIu64
                 ", ffn_hidden_size: %" PRIu64
                 ", num_attention_heads: 8, override_vocab_size: %" PRIu64
                 ", tensor_model_parallel_size: %" PRIu64 ", pipeline_model_parallel_size: %" PRIu64
                 "}\n",
                 nodes, micro, batch, sequence, layers, hidden, ffn, words, tp, pp);
        launched_case_read(nemo_read, text, NULL, 0);
        struct scenario *scenario = launched_case_scenario();
        const struct configuration *c = &scenario->configuration;
        const double block = 4 * h * h + 4 * h + 2 * h * f + h + f + 4 * h;
        assert_true(transformer_parameters(&c->model, c->training.sequence) ==
                    (double)layers * block + (double)(words + sequence) * h + 2 * h);
        assert_int_equal(configuration_ranks(c), 8 * nodes);
        assert_int_equal(c->training.global_batch, batch);
        scenario_destroy(scenario);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *keys, *words;
    } rows[] = {
        {"tensor_model_parallel_size: 3", "16 GPUs do not divide by tp 3 x pp 1 x cp 1"},
        {"tensor_model_parallel_size: 2, pipeline_model_parallel_size: 3",
         "16 GPUs do not divide by tp 2 x pp 3 x cp 1"},
        {"tensor_model_parallel_size: 1e9, pipeline_model_parallel_size: 1e9",
         "16 GPUs do not divide by tp 1000000000"},
        {"tensor_model_parallel_size: 0", "wants a whole number from 1 to 1e9, not '0'"},
        {"kv_channels: .nan", "not '.nan'"},
        {"kv_channels: '${divide:1,2}'", "model.kv_channels: is not resolved: give the YAML"},
        {"sequence_parallel: maybe", "wants true or false, not 'maybe'"},
        {"activation: relu", "'relu' is not simulated"},
        {"num_layers: 2", "run.sh:"}, /* twice */
        {"activations_checkpoint_granularity: most", "'most' is not simulated"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reads(rows[i].keys);
        launched_case_refused(rows[i].words);
    }
    launched_case_read(nemo_read, TRAINER "model: {" SHAPE "}\n", NULL, 48);
    launched_case_refused("64 sequences do not divide by microbatch 2 x dp 48");
    launched_case_read(nemo_read, TRAINER "model: {" SHAPE "}\n", NULL, 64);
    launched_case_refused("64 sequences do not divide by microbatch 2 x dp 64");
    launched_case_read(nemo_read, "trainer: {devices: 2000, num_nodes: 1000000}\n", NULL, 0);
    launched_case_refused("trainer.devices: makes 2000000000 GPUs");
    launched_case_read(nemo_read, "trainer: {devices: 1e9, num_nodes: 1e9}\n", NULL, 0);
    launched_case_refused("trainer.devices: makes 1000000000000000000 GPUs");
    launched_case_read(nemo_read, "trainer: {devices: 8}\n", NULL, 0);
    launched_case_refused("it has no model.num_attention_heads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole),
                                       cmocka_unit_test(test_switches),
                                       cmocka_unit_test(test_unsaid), cmocka_unit_test(test_count),
                                       cmocka_unit_test(test_refused)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
