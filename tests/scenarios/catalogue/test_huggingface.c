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

#include "models/workload/transformer.h"
#include "scenarios/build/scenario.h"

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

#define KNOWN                                                                                      \
    "; known: llama, mistral, qwen2, qwen3, gemma2, gemma3_text, phi3, olmo2, nemotron, "          \
    "falcon, gpt2, mixtral, "                                                                      \
    "qwen3_moe, deepseek_v2, deepseek_v3, kimi_k2, gpt_oss, llama4_text; of another, write "       \
    "the shape out in place of `hf`, and check ffn, norm, position and biases: "
#define UNTOLD                                                                                     \
    "model: {layers: ?, hidden: ?, heads: ?, ffn_hidden: ?, vocabulary: ?, ffn: gelu, norm: "      \
    "layernorm, position: rope, tied_embeddings: false}"

struct refusal {
    const char *json, *words; /* after the path */
    bool in_file;
    unsigned column;
};
static const struct refusal refusals[] = {
    {"{\"model_type\": \"bert\"}", ": unknown \"model_type\" 'bert'" KNOWN UNTOLD, false, 13},
    {"{}", ": unknown \"model_type\" '(none)'" KNOWN UNTOLD, false, 13},
    {"{\"model_type\": \"stablelm\", \"num_hidden_layers\": 16, \"hidden_size\": 2048, "
     "\"num_attention_heads\": 16, \"intermediate_size\": 8192, \"vocab_size\": 100352, "
     "\"num_key_value_heads\": 4, \"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-6, "
     "\"tie_word_embeddings\": true}",
     ": unknown \"model_type\" 'stablelm'" KNOWN
     "model: {layers: 16, hidden: 2048, heads: 16, kv_heads: 4, ffn_hidden: 8192, vocabulary: "
     "100352, ffn: swiglu, norm: rms, position: rope, tied_embeddings: true}",
     false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_head\": 12, \"vocab_size\": 9}",
     ": \"n_embd\" is missing", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": [], \"n_embd\": 768, \"n_head\": 12, "
     "\"vocab_size\": 9}",
     ": \"n_layer\" is not a number", false, 13},
    {"{\"model_type\": ", "", true, 15},
    {"[1]", ": unknown \"model_type\" '(none)'" KNOWN UNTOLD, false, 13},
};

static void test_refusals(void **state)
{
    (void)state;
    char expected[1024];
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
    assert_int_equal(scenario->problem_count, 0);
    assert_int_equal(scenario->configuration.model.window, 4096);
    scenario_destroy(scenario);
    write_file("q.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
                         "\"intermediate_size\": 18944, \"num_attention_heads\": 28, "
                         "\"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
                         "\"sliding_window\": 131072, \"use_sliding_window\": false, "
                         "\"vocab_size\": 152064}");
    scenario = read_with("hf: q.json");
    assert_int_equal(scenario->error_count, 0);
    assert_int_equal(scenario->problem_count, 0);
    scenario_destroy(scenario);
    write_file("q.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
                         "\"intermediate_size\": 18944, \"num_attention_heads\": 28, "
                         "\"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
                         "\"sliding_window\": 131072, \"use_sliding_window\": true, "
                         "\"vocab_size\": 152064}");
    scenario = read_with("hf: q.json");
    assert_true(scenario->problem_count == 1 && scenario->problems[0].warning);
    assert_non_null(strstr(scenario->problems[0].text, "the sliding window is left out"));
    scenario_destroy(scenario);
}

/* Counts as they are published with the weights, each tensor once (Hugging Face states Falcon's
 * with the shared head twice). The files hold the keys that differ from the defaults of their
 * class. */
static const struct {
    const char *json;
    double parameters;
    unsigned warnings;
} published[] = {
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"intermediate_size\": 12288, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 36, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 151936, \"head_dim\": 128, \"hidden_act\": \"silu\", \"sliding_window\": "
     "null}",
     8190735360, 0}, /* Qwen3-8B */
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 1024, \"intermediate_size\": 3072, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 151936, \"tie_word_embeddings\": true}",
     596049920, 0}, /* Qwen3-0.6B: heads x 128 is twice hidden */
    {"{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"intermediate_size\": 18944, "
     "\"num_attention_heads\": 28, \"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
     "\"vocab_size\": 152064}",
     7615616512, 0}, /* Qwen2.5-7B */
    {"{\"model_type\": \"gemma2\", \"hidden_size\": 2304, \"intermediate_size\": 9216, "
     "\"num_attention_heads\": 8, \"num_hidden_layers\": 26, \"vocab_size\": 256000, "
     "\"sliding_window\": 4096}",
     2614341888, 0}, /* Gemma 2 2B */
    {"{\"model_type\": \"gemma2\", \"hidden_size\": 4608, \"intermediate_size\": 36864, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 46, \"num_key_value_heads\": 16, "
     "\"head_dim\": 128, \"vocab_size\": 256000}",
     27227128320, 0}, /* Gemma 2 27B */
    {"{\"model_type\": \"gemma3_text\", \"hidden_size\": 1152, \"intermediate_size\": 6912, "
     "\"num_attention_heads\": 4, \"num_hidden_layers\": 26, \"num_key_value_heads\": 1, "
     "\"vocab_size\": 262144}",
     999885952, 0}, /* Gemma 3 1B */
    {"{\"model_type\": \"gemma3\", \"vision_config\": {}, \"text_config\": {\"hidden_size\": 1152, "
     "\"intermediate_size\": 6912, \"num_attention_heads\": 4, \"num_hidden_layers\": 26, "
     "\"num_key_value_heads\": 1, \"vocab_size\": 262144, \"sliding_window\": 512}}",
     999885952, 1}, /* the same inside a model with vision */
    {"{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"intermediate_size\": 8192, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
     "\"vocab_size\": 32064, \"sliding_window\": 2047}",
     3821079552, 0}, /* Phi-3 mini */
    {"{\"model_type\": \"phi3\", \"hidden_size\": 5120, \"intermediate_size\": 17920, "
     "\"num_attention_heads\": 40, \"num_hidden_layers\": 40, \"num_key_value_heads\": 10, "
     "\"vocab_size\": 100352, \"attention_bias\": false}",
     14659507200, 0}, /* Phi-4 */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"num_attention_heads\": 71, "
     "\"num_hidden_layers\": 32, \"vocab_size\": 65024, \"multi_query\": true, "
     "\"parallel_attn\": true, \"bias\": false, \"alibi\": false}",
     6921720704, 1}, /* Falcon-7B */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 8192, \"n_head\": 128, \"n_layer\": 60, "
     "\"num_kv_heads\": 8, \"vocab_size\": 65024, \"new_decoder_architecture\": true}",
     41303293952, 1}, /* Falcon-40B */
    /* Falcon-RW-1B: (50304 + 1) 2048 + 24 (12 h^2 + 13 h) + h: biases, alibi, one after the other
     */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 2048, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 24, \"vocab_size\": 50304, \"multi_query\": false, "
     "\"parallel_attn\": false, \"bias\": true, \"alibi\": true}",
     1311625216, 0},
    /* a small Llama with biases of q, k, v and o, by hand */
    {"{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128, "
     "\"num_attention_heads\": 4, \"num_hidden_layers\": 1, \"num_key_value_heads\": 2, "
     "\"vocab_size\": 100, \"attention_bias\": true}",
     2 * 6400 + (2 * 4096 + 2 * 2048 + 64 + 2 * 32 + 64) + 3 * 8192 + 3 * 64, 0},
};

static void test_published_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        write_file("m.json", published[i].json);
        struct scenario *scenario = read_with("hf: m.json");
        const struct model_shape *m = &scenario->configuration.model;
        if (scenario->error_count > 0)
            fail_msg("row %zu: %s", i, scenario->problems[0].text);
        if (transformer_parameters(m, 1024) != published[i].parameters)
            fail_msg("row %zu: %.0f parameters, not %.0f", i, transformer_parameters(m, 1024),
                     published[i].parameters);
        assert_int_equal(scenario->problem_count, published[i].warnings);
        scenario_destroy(scenario);
    }
}

/* What the message offers for an unknown type is a shape that reads. */
static void test_offered_shape_reads(void **state)
{
    (void)state;
    write_file("bad.json",
               "{\"model_type\": \"x\", \"n_layers\": 3, \"d_model\": 64, \"n_heads\": 4, "
               "\"ffn_dim\": 200, \"n_vocab\": 100, \"head_dim\": 32}");
    struct scenario *scenario = read_with("hf: bad.json");
    const char *shape = strstr(scenario->problems[0].text, "model: {");
    char model[512];
    assert_non_null(shape);
    snprintf(model, sizeof model, "%s", shape + strlen("model: {"));
    model[strlen(model) - 1] = '\0'; /* the closing brace */
    struct scenario *own = read_with(model);
    const struct model_shape *m = &own->configuration.model;
    assert_int_equal(own->error_count, 0);
    assert_true(m->layers == 3 && m->hidden == 64 && m->heads == 4 && m->ffn_hidden == 200);
    assert_true(m->vocabulary == 100 && m->head_size == 32 && m->ffn == FFN_GELU);
    scenario_destroy(own);
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
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_ranges_hold),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_offered_shape_reads),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
