/* The mixtures of experts of the catalogue hold as many parameters as their authors publish and as
 * their shapes give by hand, in all and for a token; and the config.json of their families reads as
 * the same shape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/layout/transformer_formula.h"
#include "models/workload/transformer.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-ex-XX"
                       "XX"
                       "XX";

static struct scenario *read_with(const char *model)
{
    char text[1024], path[256];
    struct error error = {{0}};
    snprintf(path, sizeof path, "%s/t.yaml", folder);
    snprintf(text, sizeof text,
             "model: {%s}\ncluster: {gpu: h100-80gb-sxm, node: dgx-h100}\n"
             "training: {sequence: 1024, global_batch: 8}\n",
             model);
    struct scenario *scenario = scenario_read(path, text, strlen(text), NULL, &error);
    assert_non_null(scenario);
    return scenario;
}

/* Parameters in all, and those that a token meets with the head alone and with the lookup as well,
 * worked out by a script of its own from the published shapes (configurations on huggingface.co,
 * AI-Hypercomputer/maxtext src/maxtext/configs/models, xai-org/grok-1 run.py). `published`: model
 * cards, billions. */
static const struct {
    const char *preset;
    double total, active, with_lookup, published, within;
} rows[] = {
    {"mixtral-8x7b", 46.703, 12.75, 12.88, 46.7, 0.05},
    {"mixtral-8x22b", 140.630, 38.96, 39.16, 141.0, 0.5},
    {"grok-1-314b", 315.685, 83.76, 83.76, 314.0, 2.0}, /* the head is the lookup's matrix */
    {"deepseek-v2-236b", 235.741, 20.85, 21.38, 236.0, 0.5},
    {"deepseek-v3-671b", 671.026, 36.63, 37.55, 671.0, 0.5},
    {"kimi-k2-1t", 1026.408, 31.69, 32.86, 1040.0, 50.0},
    {"qwen3-30b-a3b", 30.532, 3.04, 3.35, 30.5, 0.05},
    {"qwen3-235b-a22b", 235.094, 21.57, 22.19, 235.0, 0.5},
    {"llama4-scout", 107.770, 16.14, 17.17, 109.0 - 0.87, 0.5},
    {"llama4-maverick", 400.712, 16.15, 17.18, 400.0, 1.0},
    {"gpt-oss-20b", 20.915, 3.61, 4.19, 20.9, 0.05},
    {"gpt-oss-120b", 116.829, 5.13, 5.71, 116.8, 0.05},
};

static bool rounds_to(double value, double shown, double digit)
{
    return fabs(value / 1e9 - shown) <= 0.5 * digit * (1.0 + 1e-9);
}

static void test_parameters(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char model[64];
        snprintf(model, sizeof model, "preset: %s", rows[i].preset);
        struct scenario *s = read_with(model);
        const struct model_shape *m = &s->configuration.model;
        const double total = transformer_parameters(m, 4096);
        const double active = transformer_active_parameters(m);
        const double lookup = m->tied_embeddings ? 0.0 : (double)(m->vocabulary * m->hidden);
        if (!rounds_to(total, rows[i].total, 1e-3) || !rounds_to(active, rows[i].active, 1e-2) ||
            !rounds_to(active + lookup, rows[i].with_lookup, 1e-2) ||
            fabs(total / 1e9 - rows[i].published) > rows[i].within)
            fail_msg("%s: %.6f B, active %.6f B, with lookup %.6f B", rows[i].preset, total / 1e9,
                     active / 1e9, (active + lookup) / 1e9);
        scenario_destroy(s);
    }
}

/* Keys of the published files, without those that no shape needs. */
static const struct {
    const char *preset, *json;
} files[] = {
    {"mixtral-8x7b",
     "{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"max_position_embeddings\": 32768, \"num_attention_heads\": 32, \"num_experts_per_tok\": 2, "
     "\"num_hidden_layers\": 32, "
     "\"num_key_value_heads\": 8, \"num_local_experts\": 8, \"sliding_window\": null, "
     "\"vocab_size\": 32000}"},
    {"qwen3-30b-a3b",
     "{\"model_type\": \"qwen3_moe\", \"decoder_sparse_step\": 1, \"head_dim\": 128, "
     "\"hidden_size\": 2048, \"intermediate_size\": 6144, \"moe_intermediate_size\": 768, "
     "\"max_position_embeddings\": 40960, \"num_attention_heads\": 32, \"num_experts\": 128, "
     "\"num_experts_per_tok\": 8, "
     "\"num_hidden_layers\": 48, \"num_key_value_heads\": 4, \"sliding_window\": null, "
     "\"use_sliding_window\": false, \"vocab_size\": 151936}"},
    {"deepseek-v2-236b",
     "{\"model_type\": \"deepseek_v2\", \"first_k_dense_replace\": 1, \"hidden_size\": 5120, "
     "\"intermediate_size\": 12288, \"kv_lora_rank\": 512, \"moe_intermediate_size\": 1536, "
     "\"n_group\": 8, \"topk_group\": 3, \"n_routed_experts\": 160, \"n_shared_experts\": 2, "
     "\"max_position_embeddings\": 163840, \"num_attention_heads\": 128, "
     "\"num_experts_per_tok\": 6, \"num_hidden_layers\": 60, \"q_lora_rank\": 1536, "
     "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
     "\"vocab_size\": 102400}"},
    {"deepseek-v3-671b",
     "{\"model_type\": \"deepseek_v3\", \"first_k_dense_replace\": 3, \"hidden_size\": 7168, "
     "\"intermediate_size\": 18432, \"kv_lora_rank\": 512, \"moe_intermediate_size\": 2048, "
     "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"max_position_embeddings\": 163840, "
     "\"num_attention_heads\": 128, "
     "\"num_nextn_predict_layers\": 1, "
     "\"num_experts_per_tok\": 8, \"num_hidden_layers\": 61, \"q_lora_rank\": 1536, "
     "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
     "\"vocab_size\": 129280}"},
    {"kimi-k2-1t",
     "{\"model_type\": \"kimi_k2\", \"first_k_dense_replace\": 1, \"hidden_size\": 7168, "
     "\"intermediate_size\": 18432, \"kv_lora_rank\": 512, \"moe_intermediate_size\": 2048, "
     "\"n_group\": 1, \"topk_group\": 1, \"n_routed_experts\": 384, \"n_shared_experts\": 1, "
     "\"max_position_embeddings\": 131072, \"num_attention_heads\": 64, "
     "\"num_experts_per_tok\": 8, \"num_hidden_layers\": 61, \"q_lora_rank\": 1536, "
     "\"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"v_head_dim\": 128, "
     "\"vocab_size\": 163840}"},
    {"gpt-oss-20b",
     "{\"model_type\": \"gpt_oss\", \"head_dim\": 64, \"hidden_size\": 2880, "
     "\"intermediate_size\": 2880, \"max_position_embeddings\": 131072, \"num_attention_heads\": "
     "64, \"num_experts_per_tok\": 4, "
     "\"num_hidden_layers\": 24, \"num_key_value_heads\": 8, \"num_local_experts\": 32, "
     "\"sliding_window\": 128, \"vocab_size\": 201088}"},
    {"llama4-maverick",
     "{\"model_type\": \"llama4\", \"text_config\": {\"attention_chunk_size\": 8192, "
     "\"head_dim\": 128, \"hidden_size\": 5120, \"interleave_moe_layer_step\": 2, "
     "\"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384, \"max_position_embeddings\": "
     "1048576, \"num_attention_heads\": 40, "
     "\"num_experts_per_tok\": 1, \"num_hidden_layers\": 48, \"num_key_value_heads\": 8, "
     "\"num_local_experts\": 128, \"vocab_size\": 202048}}"},
};

/* Every field of the shape but its name, the number in it, and how its makers trained it, which no
 * file says. */
static void assert_same(const char *name, struct model_shape a, struct model_shape b)
{
    for (unsigned i = 0; i < model_param_count; i++) {
        const struct param *p = &model_params[i];
        const char *x = (const char *)&a + p->offset, *y = (const char *)&b + p->offset;
        bool same = true;
        if (strncmp(p->name, "usual_", strlen("usual_")) == 0)
            continue;
        if (p->type == PARAM_COUNT)
            same = *(const uint64_t *)x == *(const uint64_t *)y;
        else if (p->type == PARAM_CHOICE)
            same = *(const int *)x == *(const int *)y;
        else if (p->type == PARAM_FLAG)
            same = *(const bool *)x == *(const bool *)y;
        if (!same)
            fail_msg("%s: %s differs", name, p->name);
    }
}

static void test_files(void **state)
{
    char path[256], model[64];
    snprintf(path, sizeof path, "%s/m.json", folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(files[i].json, file);
        fclose(file);
        snprintf(model, sizeof model, "preset: %s", files[i].preset);
        struct scenario *of_file = read_with("hf: m.json"), *preset = read_with(model);
        if (of_file->diagnostics.error_count > 0)
            fail_msg("%s: %s", files[i].preset, of_file->diagnostics.problems[0].text);
        assert_same(files[i].preset, of_file->configuration.model, preset->configuration.model);
        scenario_destroy(of_file);
        scenario_destroy(preset);
    }
    unlink(path);
}

/* Which layers of Maverick have experts (the second of each two) and which of GPT-OSS a window (the
 * first of each two); what a query meets there, counted key by key. */
static void test_layers(void **state)
{
    struct scenario *s = read_with("preset: llama4-maverick");
    const struct model_shape *m = &s->configuration.model;
    assert_true(!transformer_has_experts(m, 0) && transformer_has_experts(m, 1));
    assert_true(transformer_span(m, 0, 8192) == 0 && transformer_span(m, 0, 16384) == 8192);
    assert_true(transformer_span(m, 3, 16384) == 0); /* each fourth sees all */
    scenario_destroy(s);
    s = read_with("preset: gpt-oss-20b");
    m = &s->configuration.model;
    assert_true(transformer_span(m, 0, 4096) == 128 && transformer_span(m, 1, 4096) == 0);
    for (int kind = WINDOW_SLIDING; kind <= WINDOW_CHUNKED; kind++) {
        double met = 0.0; /* a query's own key counts half */
        for (int query = 0; query < 1024; query++)
            for (int key = 0; key <= query; key++)
                if (kind == WINDOW_SLIDING ? query - key < 128 : query / 128 == key / 128)
                    met += query == key ? 0.5 : 1.0;
        assert_true(fabs(transformer_keys_met(kind, 128, 1024, true) - met / 1024) <= 0.5);
        assert_true(transformer_keys_met(kind, 128, 1024, true) > 60.0);
    }
    const double all = transformer_flops_per_token(m, 4096, true);
    const double scores = 6.0 * 64 * (64 + 64);
    const double keys = 12 * 2048.0 + 12 * (128 - 0.5 * 128 * 128 / 4096.0);
    assert_true(fabs(all / (6.0 * transformer_active_parameters(m) + scores * keys) - 1.0) < 1e-12);
    scenario_destroy(s);
}

/* DeepSeek-V3's module: a layer with experts, 2 h h and three norms. Its checkpoint, which holds
 * the embedding and the head once more for it, has 680,571,043,840 parameters of eight bits and
 * 3,918,786,560 of sixteen, beside an fp32 bias for each expert of 59 layers. */
static void test_prediction(void **state)
{
    struct scenario *s = read_with("preset: deepseek-v3-671b");
    const struct model_shape *m = &s->configuration.model;
    const double own = transformer_prediction_parameters(m);
    const double table = 129280.0 * 7168.0;
    assert_true(own == 11507286272.0 + 2.0 * 7168 * 7168 + 3.0 * 7168);
    assert_true(rounds_to(own, 11.610, 1e-3));
    assert_true(transformer_trained_parameters(m, 4096) + 2.0 * table ==
                680571043840.0 + 3918786560.0 + 59.0 * 256.0);
    assert_true(transformer_prediction_expert_parameters(m) == 256.0 * 3.0 * 7168 * 2048);
    const double keys = 0.5 * 4096 * 6.0 * 128 * (128 + 64 + 128);
    struct model_shape alone = *m;
    alone.mtp_layers = 0;
    const double more = transformer_flops_per_token(m, 4096, true) -
                        transformer_flops_per_token(&alone, 4096, true);
    const double active = own - (256.0 - 8.0) * 3.0 * 7168 * 2048 + table;
    assert_true(fabs(more / (6.0 * active + keys) - 1.0) < 1e-9);
    assert_true(transformer_prediction_active_parameters(m) == active);
    assert_true(transformer_cache_elements(m, 4096) == transformer_cache_elements(&alone, 4096));
    assert_true(transformer_prediction_parameters(&alone) == 0.0 &&
                transformer_prediction_expert_parameters(&alone) == 0.0 &&
                transformer_prediction_active_parameters(&alone) == 0.0);
    scenario_destroy(s);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_prediction),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
