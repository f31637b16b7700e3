/* YAML of nanotron: what each key becomes, and an independent count of what it describes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "scenarios/import/configured/nanotron.h"
#include "sim/random.h"
#include "tests/scenarios/import/launched_case.h"
#include "tests/test.h"

#define RANKS "parallelism: {dp: 2, pp: 2, tp: 4, %s}\n"
#define TOKENS                                                                                     \
    "tokens: {sequence_length: 2048, micro_batch_size: 2, batch_accumulation_per_replica: 8, "     \
    "train_steps: 100}\n"
#define SHAPE                                                                                      \
    "hidden_size: 1024, intermediate_size: 2816, num_attention_heads: 16, num_key_value_heads: "   \
    "8,\n   num_hidden_layers: 12, vocab_size: 49152, max_position_embeddings: 4096"
#define MODEL "model:\n  dtype: bfloat16\n  model_config: {" SHAPE ", %s}\n"
#define REST                                                                                       \
    "optimizer: {zero_stage: 1, accumulate_grad_in_fp32: true, clip_grad: 1.0, "                   \
    "optimizer_factory: {name: adamW, adam_eps: 1.0e-08}, %s}\n"                                   \
    "data_stages:\n- {data: {dataset: null, seed: 42}, name: one}\n- {name: two}\nlighteval: "     \
    "null\n"

static void reads(const char *ranks, const char *model, const char *rest)
{
    char text[4096];
    snprintf(text, sizeof text, RANKS TOKENS MODEL REST, ranks, model, rest);
    launched_case_read(nanotron_read, text, NULL, 0);
}

static void test_whole(void **state)
{
    static const char *const lines[] = {"layers: 12",
                                        "hidden: 1024",
                                        "heads: 16",
                                        "kv_heads: 8",
                                        "ffn_hidden: 2816",
                                        "vocabulary: 49152",
                                        "positions_max: 4096",
                                        "ffn: swiglu",
                                        "norm: rms",
                                        "position: rope",
                                        "tied_embeddings: true",
                                        "biases: false",
                                        "gpus: 16",
                                        "global_batch: 32",
                                        "sequence: 2048",
                                        "tokens: 6553600",
                                        "precision: bf16",
                                        "gradient_bytes: 4",
                                        "optimizer: adamw",
                                        "tp: 4",
                                        "sequence_parallel: true",
                                        "pp: 2",
                                        "vpp: 1",
                                        "schedule: 1f1b",
                                        "cp: 1",
                                        "dp: 2",
                                        "order: tp-cp-dp-pp",
                                        "microbatch: 2",
                                        "sharding: zero-1",
                                        "recompute: full",
                                        "backward_tp_overlap: true",
                                        "backward_regather: true",
                                        "clip_gradients: true",
                                        "profile: nanotron"};
    reads("tp_mode: REDUCE_SCATTER, pp_engine: 1f1b, tp_linear_async_communication: true, "
          "recompute_layer: true",
          "tie_word_embeddings: true, _attn_implementation: flash_attention_2",
          "weight_decay: 0.1");
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        launched_case_has(lines[i]);
    launched_case_place("tp: 4", "run.sh:1, parallelism.tp");
    launched_case_place("layers: 12", "run.sh:6, model.model_config.num_hidden_layers");
    launched_case_silent(); /* what is of the optimizer moves no time */
    scenario_destroy(launched_case_scenario());
}

static void test_switches(void **state)
{
    reads("recompute_layer: false", "attention_bias: true", "weight_decay: 0.01");
    launched_case_has("sequence_parallel: false");
    launched_case_has("schedule: gpipe"); /* nanotron's own default */
    launched_case_has("backward_tp_overlap: false");
    launched_case_lacks("backward_regather: true");
    launched_case_has("recompute: none");
    launched_case_has("attention_biases: qkv");
    launched_case_has("tied_embeddings: false");
    reads("tp_mode: REDUCE_SCATTER, tp_recompute_allgather: false, context_parallel_size: 2",
          "hidden_act: gelu, sliding_window_size: 512, _attn_implementation: sdpa, extra: 1",
          "mine: 3");
    launched_case_warns("optimizer.mine: not known here, and left out");
    launched_case_has("backward_regather: false");
    launched_case_has("cp: 2");
    launched_case_has("cp_method: ring");
    launched_case_has("gpus: 32");
    launched_case_has("ffn: geglu");
    launched_case_has("window: 512");
    launched_case_warns("_attn_implementation: attention is simulated as FlashAttention 2");
    launched_case_warns("model.model_config.extra: not known here, and left out");
    reads("expert_parallel_size: 2, tp_mode: REDUCE_SCATTER",
          "moe_config: {num_experts: 8, top_k: 2, moe_intermediate_size: 512, "
          "shared_expert_intermediate_size: 1024, enable_shared_expert: true}",
          "weight_decay: 0");
    launched_case_has("experts: 8");
    launched_case_has("experts_per_token: 2");
    launched_case_has("moe_ffn_hidden: 512");
    launched_case_has("shared_experts: 2");
    launched_case_has("ep: 2");
}

/* Shared experts are as wide as the others, so of 768 over 512 there are two, and of 256 one; that
 * they are there must be said. Words of either case. What is not said: a key head for each head
 * (LlamaConfig), gradients in fp32, a vocabulary as it is, which a multiple of 2 fills up. */
static void test_shared_and_unsaid(void **state)
{
    static const char *const lean = "model: {model_config: {hidden_size: 1024, intermediate_size: "
                                    "2816, num_attention_heads: 16, num_hidden_layers: 12, "
                                    "vocab_size: 49153}%s}\n";
    char text[2048];
    reads("expert_parallel_size: 2",
          "moe_config: {num_experts: 8, top_k: 2, moe_intermediate_size: 512, "
          "shared_expert_intermediate_size: 768, enable_shared_expert: true}",
          "weight_decay: 0");
    launched_case_has("shared_experts: 2");
    launched_case_warns("shared experts have the width of the others, 512");
    reads("expert_parallel_size: 2",
          "moe_config: {num_experts: 8, top_k: 2, moe_intermediate_size: 512, "
          "shared_expert_intermediate_size: 256, enable_shared_expert: true}",
          "weight_decay: 0");
    launched_case_has("shared_experts: 1");
    reads("expert_parallel_size: 2",
          "moe_config: {num_experts: 8, top_k: 2, moe_intermediate_size: 512, "
          "shared_expert_intermediate_size: 1024, enable_shared_expert: false}",
          "weight_decay: 0");
    launched_case_lacks("shared_experts: 2");
    reads("tp_mode: reduce_scatter", "a: 1", "b: 1");
    launched_case_has("sequence_parallel: true");
    reads("tp_mode: all_reduce", "a: 1", "b: 1");
    launched_case_has("sequence_parallel: false");
    for (unsigned i = 0; i < 2; i++) {
        int length = snprintf(text, sizeof text, "parallelism: {dp: 2, pp: 1, tp: 2}\n" TOKENS);
        snprintf(text + length, sizeof text - (size_t)length, lean,
                 i == 0 ? "" : ", make_vocab_size_divisible_by: 2");
        launched_case_read(nanotron_read, text, NULL, 0);
        launched_case_has("kv_heads: 16");
        launched_case_has("gradient_bytes: 4");
        if (i == 0)
            launched_case_lacks("vocabulary_multiple: 1");
        else
            launched_case_has("vocabulary_multiple: 2");
    }
}

/* Parameters of a Llama, counted by hand. */
static void test_count(void **state)
{
    for (uint64_t number = 0; number < 200; number++) {
        uint64_t s = random_hash(number, 0x6e616e6f);
        const uint64_t hidden = LAUNCHED_CASE_PICK(&s, 1024, 2048),
                       heads = LAUNCHED_CASE_PICK(&s, 8, 16);
        const uint64_t kv = LAUNCHED_CASE_PICK(&s, 4, 8), ffn = LAUNCHED_CASE_PICK(&s, 2816, 5632),
                       layers = LAUNCHED_CASE_PICK(&s, 8, 12);
        const uint64_t words = LAUNCHED_CASE_PICK(&s, 49152, 128256),
                       tied = LAUNCHED_CASE_PICK(&s, 0, 1);
        const uint64_t tp = LAUNCHED_CASE_PICK(&s, 1, 2, 4), pp = LAUNCHED_CASE_PICK(&s, 1, 2, 4),
                       dp = LAUNCHED_CASE_PICK(&s, 2, 4, 8);
        const uint64_t micro = LAUNCHED_CASE_PICK(&s, 1, 2, 3),
                       times = LAUNCHED_CASE_PICK(&s, 4, 8);
        char text[2048];
        snprintf(text, sizeof text,
                 "parallelism: {dp: %" PRIu64 ", pp: %" PRIu64 ", tp: %" PRIu64 "}\n"
                 "tokens: {sequence_length: 1024, micro_batch_size: %" PRIu64
                 ", batch_accumulation_per_replica: %" PRIu64 "}\n"
                 "model: {model_config: {hidden_size: %" PRIu64 ", intermediate_size: %" PRIu64
                 ", num_attention_heads: %" PRIu64 ", num_key_value_heads: %" PRIu64
                 ", num_hidden_layers: %" PRIu64 ", vocab_size: %" PRIu64
                 ", tie_word_embeddings: %s}}\n",
                 dp, pp, tp, micro, times, hidden, ffn, heads, kv, layers, words,
                 tied ? "true" : "false");
        if (tp * pp * dp > 8 && tp * pp * dp % 8 != 0)
            continue;
        launched_case_read(nanotron_read, text, NULL, 0);
        struct scenario *scenario = launched_case_scenario();
        const struct configuration *c = &scenario->configuration;
        const double h = (double)hidden, size = h / (double)heads;
        const double block =
            h * size * (double)(2 * heads + 2 * kv) + 3.0 * h * (double)ffn + 2 * h;
        assert_true(transformer_parameters(&c->model, c->training.sequence) ==
                    (double)layers * block + (double)(2 - tied) * (double)words * h + h);
        assert_int_equal(configuration_ranks(c), tp * pp * dp);
        assert_int_equal(c->training.global_batch, micro * times * dp);
        scenario_destroy(scenario);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *ranks, *model, *words;
    } rows[] = {
        {"context_parallel_size: 0", "a: 1", "wants a whole number from 1 to 1e9, not '0'"},
        {"context_parallel_size: 1e9", "a: 1", "parallelism.dp: makes 16000000000 ranks"},
        {"context_parallel_size: .nan", "a: 1", "not '.nan'"},
        {"context_parallel_size: [1, 2]", "a: 1", "not '1 2'"},
        {"pp_engine: other", "a: 1", "'other' is not simulated; there are afab, 1f1b"},
        {"tp_mode: 3", "a: 1", "'3' is not simulated"},
        {"recompute_layer: 2", "a: 1", "wants true or false, not '2'"},
        {"dp: 2", "a: 1", "run.sh:1:"}, /* twice */
        {"a: 1", "is_starcoder2_config: true", "the blocks of StarCoder2 are not read"},
        {"a: 1", "hidden_act: relu", "'relu' is not simulated"},
        {"a: 1", "moe_config: {num_experts: 8}", "it has no model.model_config.moe_config.top_k"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        reads(rows[i].ranks, rows[i].model, "b: 1");
        launched_case_refused(rows[i].words);
    }
    launched_case_read(nanotron_read,
                       "parallelism: {dp: 2, pp: 1, tp: 1, tp_mode: REDUCE_SCATTER}\n" TOKENS
                       "model: {model_config: {" SHAPE "}}\n",
                       NULL, 0);
    launched_case_has("sequence_parallel: false");
    launched_case_lacks("schedule: gpipe");
    launched_case_read(nanotron_read, "model: {}\n", NULL, 0);
    launched_case_refused("it has no parallelism.tp");
    launched_case_read(nanotron_read, "- 1\n", NULL, 0);
    launched_case_refused("no mapping of keys");
    launched_case_read(nanotron_read, "parallelism: {dp: 2, pp: 1, tp: 1}\n", NULL, 8);
    launched_case_refused("parallelism.dp: makes 2 ranks, not 8 (--gpus)");
    launched_case_read(nanotron_read,
                       "parallelism: {dp: 9, pp: 1, tp: 1}\nmodel: {model_config: {" SHAPE "}}\n"
                       "tokens: {sequence_length: 8, micro_batch_size: 1e5, "
                       "batch_accumulation_per_replica: 1e5}\n",
                       NULL, 0);
    launched_case_refused("makes a batch of 90000000000 sequences");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_switches), cmocka_unit_test(test_count),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_shared_and_unsaid)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    launched_case_end();
    return failed;
}
