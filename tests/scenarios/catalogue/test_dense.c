/* The dense models of the catalogue hold as many parameters, to the unit, as the files that their
 * authors publish; and the config.json of their families reads as the same shape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/transformer.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-dn-XX"
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
    if (scenario->diagnostics.error_count > 0)
        fail_msg("%s: %s", model, scenario->diagnostics.problems[0].text);
    return scenario;
}

/* Of Gemma 3 the vision tower (SigLIP of 27 layers) and the projection to `hidden`, with its norm,
 * are in the published total. */
#define VISION(hidden) (416866032.0 + 1152.0 * (hidden) + 1152.0)

/* Totals of the safetensors files on huggingface.co; a head that is tied counts once, though the
 * smallest Qwen3 store it twice. */
static const struct {
    const char *preset;
    double published, apart;
} rows[] = {
    {"qwen2.5-0.5b", 494032768.0, 0.0},
    {"qwen2.5-1.5b", 1543714304.0, 0.0},
    {"qwen2.5-3b", 3085938688.0, 0.0},
    {"qwen2.5-7b", 7615616512.0, 0.0},
    {"qwen2.5-14b", 14770033664.0, 0.0},
    {"qwen2.5-32b", 32763876352.0, 0.0},
    {"qwen2.5-72b", 72706203648.0, 0.0},
    {"qwen3-0.6b", 596049920.0, 0.0},
    {"qwen3-1.7b", 1720574976.0, 0.0},
    {"qwen3-4b", 4022468096.0, 0.0},
    {"qwen3-8b", 8190735360.0, 0.0},
    {"qwen3-14b", 14768307200.0, 0.0},
    {"qwen3-32b", 32762123264.0, 0.0},
    {"mistral-7b", 7248023552.0, 0.0},
    {"mistral-small-24b", 23572403200.0, 0.0},
    {"mistral-large-123b", 122610069504.0, 0.0},
    {"gemma2-2b", 2614341888.0, 0.0},
    {"gemma2-9b", 9241705984.0, 0.0},
    {"gemma2-27b", 27227128320.0, 0.0},
    {"gemma3-4b", 4300079472.0, VISION(2560.0)},
    {"gemma3-12b", 12187325040.0, VISION(3840.0)},
    {"gemma3-27b", 27432406640.0, VISION(5376.0)},
    {"phi4-14b", 14659507200.0, 0.0},
    {"olmo2-7b", 7298617344.0, 0.0},
    {"olmo2-13b", 13716198400.0, 0.0},
    {"olmo2-32b", 32234279936.0, 0.0},
};

static void test_parameters(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char model[64];
        snprintf(model, sizeof model, "preset: %s", rows[i].preset);
        struct scenario *s = read_with(model);
        const double count = transformer_parameters(&s->configuration.model, 4096);
        if (count != rows[i].published - rows[i].apart)
            fail_msg("%s: %.0f, published %.0f", rows[i].preset, count,
                     rows[i].published - rows[i].apart);
        scenario_destroy(s);
    }
}

/* Nemotron-4 is published in billions, layers and embeddings apart: arXiv:2402.16819 section 2.1,
 * arXiv:2406.11704 section 2.2. */
static void test_nemotron(void **state)
{
    static const struct {
        const char *model;
        double layers, embeddings, digit;
    } papers[] = {
        {"preset: nemotron4-15b", 12.5e9, 3.15e9, 0.1e9},
        {"preset: nemotron4-340b", 331.6e9, 9.4e9, 0.1e9},
    };
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        struct scenario *s = read_with(papers[i].model);
        const struct model_shape *m = &s->configuration.model;
        const double ends = 2.0 * (double)(m->vocabulary * m->hidden);
        const double layers = transformer_parameters(m, 4096) - ends;
        assert_true(fabs(layers - papers[i].layers) <= 0.5 * papers[i].digit);
        assert_true(fabs(ends - papers[i].embeddings) <= 0.5 * papers[i].digit);
        scenario_destroy(s);
    }
}

/* Keys of the published files, without those that no shape needs. */
static const struct {
    const char *preset, *json;
} files[] = {
    {"qwen2.5-7b",
     "{\"model_type\": \"qwen2\", \"hidden_act\": \"silu\", \"hidden_size\": 3584, "
     "\"intermediate_size\": 18944, \"max_position_embeddings\": 131072, "
     "\"num_attention_heads\": 28, \"num_hidden_layers\": 28, "
     "\"num_key_value_heads\": 4, \"sliding_window\": 131072, \"tie_word_embeddings\": false, "
     "\"use_sliding_window\": false, \"vocab_size\": 152064}"},
    {"qwen3-0.6b",
     "{\"model_type\": \"qwen3\", \"attention_bias\": false, \"head_dim\": 128, "
     "\"hidden_act\": \"silu\", \"hidden_size\": 1024, \"intermediate_size\": 3072, "
     "\"max_position_embeddings\": 32768, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8, "
     "\"sliding_window\": null, \"tie_word_embeddings\": true, \"use_sliding_window\": false, "
     "\"vocab_size\": 151936}"},
    {"mistral-small-24b",
     "{\"model_type\": \"mistral\", \"head_dim\": 128, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 5120, \"intermediate_size\": 32768, \"max_position_embeddings\": 32768, "
     "\"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 40, \"num_key_value_heads\": 8, \"sliding_window\": null, "
     "\"tie_word_embeddings\": false, \"vocab_size\": 131072}"},
    {"gemma2-9b",
     "{\"model_type\": \"gemma2\", \"attention_bias\": false, \"attn_logit_softcapping\": 50.0, "
     "\"head_dim\": 256, \"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_size\": 3584, "
     "\"intermediate_size\": 14336, \"max_position_embeddings\": 8192, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 42, "
     "\"num_key_value_heads\": 8, \"sliding_window\": 4096, \"vocab_size\": 256000}"},
    {"gemma3-12b",
     "{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", "
     "\"head_dim\": 256, \"hidden_size\": 3840, \"intermediate_size\": 15360, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 48, \"num_key_value_heads\": 8, "
     "\"sliding_window\": 1024}}"},
    {"phi4-14b", "{\"model_type\": \"phi3\", \"hidden_act\": \"silu\", \"hidden_size\": 5120, "
                 "\"intermediate_size\": 17920, \"max_position_embeddings\": 16384, "
                 "\"num_attention_heads\": 40, \"num_hidden_layers\": 40, "
                 "\"num_key_value_heads\": 10, \"resid_pdrop\": 0.0, \"sliding_window\": null, "
                 "\"tie_word_embeddings\": false, \"vocab_size\": 100352}"},
    {"nemotron4-340b",
     "{\"model_type\": \"nemotron\", \"attention_bias\": false, \"head_dim\": 192, "
     "\"hidden_act\": \"relu2\", \"hidden_size\": 18432, \"intermediate_size\": 73728, "
     "\"mlp_bias\": false, \"max_position_embeddings\": 4096, "
     "\"num_attention_heads\": 96, \"num_hidden_layers\": 96, "
     "\"num_key_value_heads\": 8, \"tie_word_embeddings\": false, \"vocab_size\": 256000}"},
    {"olmo2-32b",
     "{\"model_type\": \"olmo2\", \"attention_bias\": false, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 5120, \"intermediate_size\": 27648, \"max_position_embeddings\": 4096, "
     "\"num_attention_heads\": 40, "
     "\"num_hidden_layers\": 64, \"num_key_value_heads\": 8, \"tie_word_embeddings\": false, "
     "\"vocab_size\": 100352}"},
};

/* Every field of the shape but its name and the number in it. */
static void assert_same(const char *name, const struct model_shape *a, const struct model_shape *b)
{
    for (unsigned i = 0; i < model_param_count; i++) {
        const struct param *p = &model_params[i];
        size_t size = p->type == PARAM_COUNT    ? sizeof(uint64_t)
                      : p->type == PARAM_CHOICE ? sizeof(int)
                      : p->type == PARAM_FLAG   ? sizeof(bool)
                                                : 0;
        if (memcmp((const char *)a + p->offset, (const char *)b + p->offset, size) != 0)
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
        assert_same(files[i].preset, &of_file->configuration.model, &preset->configuration.model);
        scenario_destroy(of_file);
        scenario_destroy(preset);
    }
    unlink(path);
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
        cmocka_unit_test(test_nemotron),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
