/* A Hugging Face config.json becomes the same shape as the catalogue's preset of that model. The
 * files hold the published values of the models they are named after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenarios/scenario.h"

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

static const char llama3_8b[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"hidden_size\": 4096, "
    "\"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_hidden_layers\": 32, "
    "\"num_key_value_heads\": 8, \"vocab_size\": 128256, \"tie_word_embeddings\": false, "
    "\"attention_bias\": false, \"rope_theta\": 500000.0}";
static const char gpt2[] =
    "{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_embd\": 768, \"n_head\": 12, "
    "\"n_positions\": 1024, \"n_inner\": null, \"vocab_size\": 50257, \"resid_pdrop\": 0.1}";

static void assert_same_shape(const struct model_shape *a, const struct model_shape *b)
{
    assert_int_equal(a->layers, b->layers);
    assert_int_equal(a->hidden, b->hidden);
    assert_int_equal(a->heads, b->heads);
    assert_int_equal(a->kv_heads, b->kv_heads);
    assert_int_equal(a->head_size, b->head_size);
    assert_int_equal(a->ffn_hidden, b->ffn_hidden);
    assert_int_equal(a->vocabulary, b->vocabulary);
    assert_int_equal(a->ffn, b->ffn);
    assert_int_equal(a->norm, b->norm);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->tied_embeddings, b->tied_embeddings);
    assert_int_equal(a->biases, b->biases);
    assert_true(a->dropout_ratio == b->dropout_ratio);
}

static void compare(const char *file, const char *preset)
{
    char model[256];
    snprintf(model, sizeof model, "hf: %s", file);
    struct scenario *read = read_with(model);
    snprintf(model, sizeof model, "preset: %s", preset);
    struct scenario *named = read_with(model);
    assert_int_equal(read->error_count, 0);
    assert_int_equal(named->error_count, 0);
    assert_same_shape(&read->configuration.model, &named->configuration.model);
    scenario_destroy(read);
    scenario_destroy(named);
}

static void test_presets(void **state)
{
    (void)state;
    write_file("llama.json", llama3_8b);
    write_file("gpt2.json", gpt2);
    compare("llama.json", "llama3-8b");
    compare("gpt2.json", "gpt2-124m");
}

static void test_overrides(void **state)
{
    (void)state;
    write_file("llama.json", llama3_8b);
    struct scenario *scenario = read_with("hf: llama.json, layers: 4");
    assert_int_equal(scenario->error_count, 0);
    assert_int_equal(scenario->configuration.model.layers, 4);
    assert_string_equal(scenario->configuration.model.name, "llama");
    scenario_destroy(scenario);
}

struct refusal {
    const char *json, *words; /* after the path */
    bool in_file;
    unsigned column;
};
static const struct refusal refusals[] = {
    {"{\"model_type\": \"bert\"}",
     ": unknown \"model_type\" 'bert'; known: llama, mistral, qwen2, gpt2", false, 13},
    {"{\"model_type\": \"lama\"}", ": unknown \"model_type\" 'lama'; did you mean 'llama'?", false,
     13},
    {"{}", ": unknown \"model_type\" '(none)'; known: llama, mistral, qwen2, gpt2", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_head\": 12, \"vocab_size\": 9}",
     ": \"n_embd\" is missing", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": [], \"n_embd\": 768, \"n_head\": 12, "
     "\"vocab_size\": 9}",
     ": \"n_layer\" is not a number", false, 13},
    {"{\"model_type\": ", "", true, 15},
    {"[1]", ": unknown \"model_type\" '(none)'; known: llama, mistral, qwen2, gpt2", false, 13},
};

static void test_refusals(void **state)
{
    (void)state;
    char expected[512];
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        write_file("bad.json", r->json);
        struct scenario *scenario = read_with("hf: bad.json");
        assert_int_equal(scenario->error_count, 1);
        const struct problem *p = &scenario->problems[0];
        snprintf(expected, sizeof expected, "%s/bad.json%s", folder, r->words);
        assert_int_equal(p->column, r->column);
        if (r->in_file)
            assert_true(strncmp(p->text, "not JSON: ", 10) == 0);
        else
            assert_string_equal(p->text, expected);
        scenario_destroy(scenario);
    }
}

static void test_ranges_hold(void **state)
{
    (void)state;
    write_file("bad.json", "{\"model_type\": \"gpt2\", \"n_layer\": -3, \"n_embd\": 768, "
                           "\"n_head\": 12, \"vocab_size\": 9}");
    struct scenario *scenario = read_with("hf: bad.json");
    assert_int_equal(scenario->error_count, 1);
    assert_string_equal(scenario->problems[0].text, "model.layers: '-3' is not a whole number");
    scenario_destroy(scenario);
}

/* What the shapes do not carry is said, not dropped in silence. */
static void test_warnings(void **state)
{
    (void)state;
    write_file("m.json", "{\"model_type\": \"mistral\", \"hidden_size\": 4096, "
                         "\"intermediate_size\": 14336, \"num_attention_heads\": 32, "
                         "\"num_hidden_layers\": 32, \"sliding_window\": 4096, "
                         "\"vocab_size\": 32000}");
    struct scenario *scenario = read_with("hf: m.json");
    assert_int_equal(scenario->error_count, 0);
    assert_int_equal(scenario->configuration.model.kv_heads, 8);
    assert_true(scenario->problem_count == 1 && scenario->problems[0].warning);
    assert_non_null(strstr(scenario->problems[0].text, "the sliding window is left out"));
    scenario_destroy(scenario);
    write_file("q.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
                         "\"intermediate_size\": 18944, \"num_attention_heads\": 28, "
                         "\"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
                         "\"sliding_window\": 131072, \"use_sliding_window\": false, "
                         "\"vocab_size\": 152064}");
    scenario = read_with("hf: q.json");
    assert_int_equal(scenario->error_count, 0);
    assert_true(scenario->problem_count == 1 && scenario->problems[0].warning);
    assert_non_null(strstr(scenario->problems[0].text, "biases of the attention alone"));
    scenario_destroy(scenario);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"llama.json", "gpt2.json", "bad.json", "m.json", "q.json"};
    char path[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),  cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_ranges_hold),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
