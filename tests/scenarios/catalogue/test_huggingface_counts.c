/* Every type of huggingface_types.c, proved by a model whose parameters are published. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/transformer.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/huggingface_types.h"
#include "tests/scenarios/catalogue/huggingface_published.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-hf-XX"
                       "XX"
                       "XX";

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The scenario lies in the same folder, so its `hf` is relative to that. */
static struct scenario *read_as(const char *model, const struct scenario_options *how)
{
    char text[1024], path[256];
    struct error error = {{0}};
    snprintf(path, sizeof path, "%s/t.yaml", folder);
    snprintf(text, sizeof text,
             "model: {%s}\ncluster: {gpu: h100-80gb-sxm, node: dgx-h100}\n"
             "training: {sequence: 1024, global_batch: 8}\n",
             model);
    struct scenario *scenario = scenario_read(path, text, strlen(text), how, &error);
    assert_non_null(scenario);
    return scenario;
}

static struct scenario *read_with(const char *model)
{
    return read_as(model, NULL);
}

static void test_published_counts(void **state)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        write_file("m.json", published[i].json);
        struct scenario *scenario = read_with("hf: m.json");
        const struct model_shape *m = &scenario->configuration.model;
        if (scenario->diagnostics.error_count > 0)
            fail_msg("row %zu: %s", i, scenario->diagnostics.problems[0].text);
        double off = transformer_parameters(m, 1024) / published[i].parameters - 1.0;
        if (!(fabs(off) <= published[i].beyond))
            fail_msg("row %zu: %.0f parameters, not %.0f", i, transformer_parameters(m, 1024),
                     published[i].parameters);
        assert_int_equal(scenario->diagnostics.problem_count, published[i].warnings);
        scenario_destroy(scenario);
    }
}

/* Members that decide about time and that no count of parameters shows: a type reads them, or its
 * files are refused by their name. */
static const struct decisive {
    const char *name, *members;
    uint64_t groups, chosen; /* as they are read; 0: never */
} decisive[] = {
    {"n_group", "\"n_group\": 4, \"topk_group\": 2, ", 4, 2},
    {"num_expert_group", "\"num_expert_group\": 4, \"topk_group\": 2, ", 4, 2},
    {"residual_in_fp32", "\"residual_in_fp32\": true, ", 0, 0},
};

/* First in the object of the language model. */
static void put_first(const char *json, const char *members, char *out, size_t room)
{
    static const char inner[] = "\"text_config\": {";
    const char *at = strstr(json, inner);
    at = at != NULL ? at + sizeof inner - 1 : json + 1;
    snprintf(out, room, "%.*s%s%s", (int)(at - json), json, members, at);
}

/* Is it read (1) or refused (0)? */
static int outcome_of(const char *json, const struct decisive *d)
{
    char text[4096];
    put_first(json, d->members, text, sizeof text);
    write_file("m.json", text);
    const struct scenario_options shape_alone = {.layout_open = true};
    struct scenario *s = read_as("hf: m.json", &shape_alone);
    const struct model_shape *m = &s->configuration.model;
    const bool read = s->diagnostics.error_count == 0;
    if (read &&
        (d->groups == 0 || m->moe.groups != d->groups || m->moe.groups_per_token != d->chosen))
        fail_msg("%s is dropped in silence: %s", d->name, text);
    bool named = false;
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        named = named || strstr(s->diagnostics.problems[i].text, d->name) != NULL;
    if (!read && !named)
        fail_msg("%s: %s: %s", d->name, s->diagnostics.problems[0].text, text);
    scenario_destroy(s);
    return read;
}

static void test_decisive_members(void **state)
{
    for (size_t k = 0; k < sizeof decisive / sizeof decisive[0]; k++) {
        int read = 0, refused = 0;
        for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
            if (decisive[k].groups > 0 && strstr(published[i].json, "topk_group") != NULL)
                continue; /* it says so itself */
            const int taken = outcome_of(published[i].json, &decisive[k]);
            read += taken;
            refused += !taken;
        }
        assert_true(refused > 0 && (read > 0) == (decisive[k].groups > 0));
    }
}

/* What no count of parameters tells, by the models' own papers and classes. */
static const struct {
    const char *type;
    uint64_t experts_per_token, window, full_interval, norms, mtp_layers;
    int ffn, norm, position;
} blocks[] = {
    {"llama", 0, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"gemma", 0, 0, 0, 2, 0, FFN_GEGLU, NORM_RMS, POSITION_ROPE},
    {"gemma2", 0, 4096, 2, 4, 0, FFN_GEGLU, NORM_RMS, POSITION_ROPE},
    {"gemma3_text", 0, 0, 6, 4, 0, FFN_GEGLU, NORM_RMS, POSITION_ROPE},
    {"phi3", 0, 2047, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"nemotron", 0, 0, 0, 2, 0, FFN_SQUARED_RELU, NORM_LAYERNORM, POSITION_ROPE},
    {"falcon", 0, 0, 0, 1, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ROPE},
    {"gpt2", 0, 0, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_LEARNED},
    {"mixtral", 2, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"qwen3_moe", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"qwen3_vl_moe_text", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"qwen2_moe", 4, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"olmoe", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"deepseek", 6, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"deepseek_v2", 6, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"deepseek_v3", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"kimi_k2", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"gpt_oss", 4, 128, 2, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"llama4", 1, 8192, 4, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"glm", 0, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"glm4", 0, 0, 0, 4, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"glm4_moe", 8, 0, 0, 2, 1, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"minimax_m2", 8, 0, 0, 2, 3, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"mimo", 0, 0, 0, 2, 1, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"cohere", 0, 0, 0, 1, 0, FFN_SWIGLU, NORM_LAYERNORM, POSITION_ROPE},
    {"cohere2", 0, 4096, 4, 1, 0, FFN_SWIGLU, NORM_LAYERNORM, POSITION_ROPE},
    {"stablelm", 0, 0, 0, 2, 0, FFN_SWIGLU, NORM_LAYERNORM, POSITION_ROPE},
    {"starcoder2", 0, 4096, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ROPE},
    {"olmo", 0, 0, 0, 2, 0, FFN_SWIGLU, NORM_LAYERNORM, POSITION_ROPE},
    {"gpt_neox", 0, 0, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ROPE},
    {"gptj", 0, 0, 0, 1, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ROPE},
    {"phi", 0, 0, 0, 1, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ROPE},
    {"opt", 0, 0, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_LEARNED},
    {"bloom", 0, 0, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ALIBI},
    {"mpt", 0, 0, 0, 2, 0, FFN_GELU, NORM_LAYERNORM, POSITION_ALIBI},
    {"dbrx", 4, 0, 0, 2, 0, FFN_SWIGLU, NORM_LAYERNORM, POSITION_ROPE},
    {"chatglm", 0, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"qwen3_next", 10, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"qwen3_5_text", 0, 0, 0, 2, 1, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
    {"nemotron_h", 0, 0, 0, 2, 0, FFN_SQUARED_RELU, NORM_RMS, POSITION_NONE},
    {"kimi_linear", 8, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_NONE},
    {"minimax_text_01", 2, 0, 0, 2, 0, FFN_SWIGLU, NORM_RMS, POSITION_ROPE},
};

static const char *published_file(const char *type)
{
    char word[128];
    snprintf(word, sizeof word, "\"model_type\": \"%s\"", type);
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (strstr(published[i].json, word))
            return published[i].json;
    fail_msg("%s", type);
    return NULL;
}

static void test_blocks(void **state)
{
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        write_file("m.json", published_file(blocks[i].type));
        struct scenario *scenario = read_with("hf: m.json");
        const struct model_shape *m = &scenario->configuration.model;
        if (m->moe.experts_per_token != blocks[i].experts_per_token ||
            m->windows.length != blocks[i].window ||
            m->windows.full_interval != blocks[i].full_interval ||
            m->norm.count != blocks[i].norms || m->mtp_layers != blocks[i].mtp_layers)
            fail_msg("%s: a count", blocks[i].type);
        if (m->ffn != blocks[i].ffn || m->norm.kind != blocks[i].norm ||
            m->position != blocks[i].position)
            fail_msg("%s: a word", blocks[i].type);
        scenario_destroy(scenario);
    }
}

/* Which layers attend, in the five spellings of the files. */
static void test_patterns(void **state)
{
    static const struct {
        const char *type, *pattern;
        bool gate;
    } rows[] = {{"qwen3_next", "3*gdn,attention", true},
                {"qwen3_5_moe_text", "3*gdn,attention", true},
                {"nemotron_h",
                 "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-"
                 "M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
                 false},
                {"kimi_linear",
                 "3*kda,attention,3*kda,attention,3*kda,attention,3*kda,attention,3*kda,attention,"
                 "3*kda,attention,2*kda,attention",
                 false},
                {"minimax_text_01", "7*lightning,attention", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_file("m.json", published_file(rows[i].type));
        struct scenario *scenario = read_with("hf: m.json");
        const struct model_shape *m = &scenario->configuration.model;
        assert_string_equal(m->pattern.text, rows[i].pattern);
        assert_int_equal(m->attention.gate, rows[i].gate);
        scenario_destroy(scenario);
    }
}

/* StableLM 2 12B: side by side, behind one norm. */
static void test_side_by_side_by_its_flag(void **state)
{
    write_file("m.json", "{\"model_type\": \"stablelm\", \"hidden_size\": 512, "
                         "\"intermediate_size\": 1024, \"num_attention_heads\": 8, "
                         "\"num_hidden_layers\": 2, \"vocab_size\": 100, "
                         "\"use_parallel_residual\": true}");
    struct scenario *scenario = read_with("hf: m.json");
    assert_int_equal(scenario->diagnostics.error_count, 0);
    assert_int_equal(scenario->configuration.model.norm.count, 1);
    assert_int_equal(scenario->diagnostics.problem_count, 1);
    assert_non_null(strstr(scenario->diagnostics.problems[0].text, "stand side by side"));
    scenario_destroy(scenario);
}

/* No type stands in the table whose counts were not proved; .1 % is the most that is left out. */
static void test_every_type_is_proved(void **state)
{
    for (unsigned t = 0; t < huggingface_type_count; t++) {
        char word[128];
        bool proved = false;
        snprintf(word, sizeof word, "\"model_type\": \"%s\"", huggingface_types[t].name);
        for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
            proved = proved || strstr(published[i].json, word);
        if (!proved && strcmp(huggingface_types[t].name, "llama4_text") != 0) /* by "llama4" */
            fail_msg("%s", huggingface_types[t].name);
    }
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        assert_true(published[i].beyond < 1e-3);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s/m.json", folder);
    unlink(path);
    return rmdir(folder);
}

/* A language model of several parts is read where its object says which it is; an object beside a
 * type that is known is left alone. */
static void test_text_config(void **state)
{
    static const struct {
        const char *members, *says;
    } rows[] = {
        {"\"model_type\": \"gemma3\"", "unknown \"model_type\" 'gemma3'"},
        {"\"model_type\": \"gemma3\", \"text_config\": 3", "unknown \"model_type\" 'gemma3'"},
        {"\"model_type\": \"gemma3\", \"text_config\": {}", "only the language model is read"},
        {"\"model_type\": \"llava\", \"text_config\": {}", "unknown \"model_type\" 'llava'"},
        {"\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}",
         "only the language model is read"},
        {"\"model_type\": \"llama\", \"text_config\": {\"model_type\": \"qwen2\"}",
         "\"num_hidden_layers\" is missing"},
    };
    char json[256];
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(json, sizeof json, "{%s}", rows[i].members);
        write_file("m.json", json);
        struct scenario *scenario = read_with("hf: m.json");
        assert_non_null(strstr(scenario->diagnostics.problems[0].text, rows[i].says));
        scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_config),
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_decisive_members),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_side_by_side_by_its_flag),
        cmocka_unit_test(test_every_type_is_proved),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
