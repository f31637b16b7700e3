/* Models with sparse attention: presets and config.json files, against totals that were counted
 * from the tensors of their files; which of their layers have an indexer; lists that follow no
 * rule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/transformer.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-ix-XX"
                       "XX"
                       "XX";

static struct scenario *read_with(const char *model)
{
    char text[1024], path[256];
    struct error error = {""};
    snprintf(path, sizeof path, "%s/t.yaml", folder);
    snprintf(text, sizeof text,
             "model: {%s}\ncluster: {gpu: h100-80gb-sxm, nodes: 32}\n"
             "software: {profile: megatron}\ntraining: {sequence: 4096, global_batch: 256}\n"
             "layout: {tp: 1, pp: 1, cp: 1, ep: 1, microbatch: 1, recompute: none}\n",
             model);
    struct scenario *s = scenario_read(path, text, strlen(text), NULL, &error);
    assert_non_null(s);
    return s;
}

/* In 1e9: all; those a token is multiplied by; of modules that predict further. */
static const struct {
    const char *preset;
    double all, active, ahead;
    unsigned indexers;
} rows[] = {
    {"deepseek-v3.2", 671.878, 37.48, 11.624, 61},
    {"glm-5", 743.911, 40.83, 9.953, 78},
    {"glm-5.2", 743.377, 40.30, 9.953, 21},
};

static unsigned indexers(const struct model_shape *m)
{
    unsigned out = 0;
    for (uint64_t layer = 0; layer < m->layers; layer++)
        out += transformer_scores_keys(m, layer);
    return out;
}

static void near(const char *what, double value, double expected, double ratio)
{
    if (!(fabs(value * 1e-9 - expected) <= ratio * expected))
        fail_msg("%s: %.6g B, not %.6g", what, value * 1e-9, expected);
}

static void check_row(unsigned i, const struct scenario *s)
{
    const struct model_shape *m = &s->configuration.model;
    if (s->diagnostics.error_count > 0)
        fail_msg("%s: %s", rows[i].preset, s->diagnostics.problems[0].text);
    near(rows[i].preset, transformer_parameters(m, 4096), rows[i].all, 1e-6);
    near(rows[i].preset, transformer_active_parameters(m), rows[i].active, 1e-3);
    near(rows[i].preset, transformer_prediction_parameters(m), rows[i].ahead, 1e-4);
    assert_int_equal(indexers(m), rows[i].indexers);
}

static void presets_have_published_counts(void **state)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char model[64];
        snprintf(model, sizeof model, "preset: %s", rows[i].preset);
        struct scenario *s = read_with(model);
        check_row(i, s);
        scenario_destroy(s);
    }
}

static void write_file(const char *format, const char *list)
{
    char path[256];
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, format, list);
    fclose(file);
}

#define EXPERTS                                                                                    \
    "\"n_routed_experts\": 256, \"num_experts_per_tok\": 8, \"n_shared_experts\": 1, "             \
    "\"moe_intermediate_size\": 2048, \"first_k_dense_replace\": 3, \"moe_layer_freq\": 1, "       \
    "\"num_nextn_predict_layers\": 1, \"kv_lora_rank\": 512, \"qk_rope_head_dim\": 64, "           \
    "\"index_head_dim\": 128, \"index_topk\": 2048, "
static const char v32[] =
    "{\"model_type\": \"deepseek_v32\", " EXPERTS
    "\"num_hidden_layers\": 61, \"hidden_size\": 7168, \"num_attention_heads\": 128, "
    "\"intermediate_size\": 18432, \"vocab_size\": 129280, \"n_group\": 8, \"topk_group\": 4, "
    "\"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, \"v_head_dim\": 128, "
    "\"num_key_value_heads\": 128%s, \"index_n_heads\": 64}";
static const char glm[] =
    "{\"model_type\": \"glm_moe_dsa\", " EXPERTS
    "\"num_hidden_layers\": 78, \"hidden_size\": 6144, \"num_attention_heads\": 64, "
    "\"intermediate_size\": 12288, \"vocab_size\": 154880, \"n_group\": 1, \"topk_group\": 1, "
    "\"q_lora_rank\": 2048, \"qk_nope_head_dim\": 192, \"v_head_dim\": 256, \"head_dim\": 64, "
    "\"indexer_rope_interleave\": true%s, \"index_n_heads\": 32}";

/* 78 layers of GLM-5.2: 0, 1, 2, 6, 10, ... full; with one of them turned over. */
static void list_of(char *text, size_t size, const char *before, unsigned turned)
{
    size_t n = (size_t)snprintf(text, size, "%s, \"indexer_types\": [", before);
    for (unsigned i = 0; i < 78; i++) {
        const bool full = (i < 3 || (i - 2) % 4 == 0) != (i == turned);
        n += (size_t)snprintf(text + n, size - n, "%s\"%s\"", i > 0 ? ", " : "",
                              full ? "full" : "shared");
    }
    snprintf(text + n, size - n, "]");
}

static void files_read_as_presets(void **state)
{
    char list[2048];
    write_file(v32, "");
    for (unsigned i = 0; i < 5; i++) {
        if (i == 1)
            write_file(glm, "");
        if (i == 2) {
            list_of(list, sizeof list, ", \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3",
                    99);
            write_file(glm, list);
        }
        if (i == 3) { /* the list alone */
            list_of(list, sizeof list, "", 99);
            write_file(glm, list);
        }
        if (i == 4) /* the rule alone */
            write_file(glm, ", \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3");
        struct scenario *s = read_with("hf: config.json");
        check_row(i < 2 ? i : 2, s);
        scenario_destroy(s);
    }
}

static void refused(const char *words)
{
    struct scenario *s = read_with("hf: config.json");
    assert_int_not_equal(s->diagnostics.error_count, 0);
    bool found = false;
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        found = found || strstr(s->diagnostics.problems[i].text, words) != NULL;
    if (!found)
        fail_msg("not '%s' but '%s'", words, s->diagnostics.problems[0].text);
    scenario_destroy(s);
}

static void lists_without_a_rule_are_refused(void **state)
{
    char list[2048];
    for (unsigned turned = 0; turned < 78; turned += 11) {
        list_of(list, sizeof list, ", \"index_topk_freq\": 4, \"index_skip_topk_offset\": 3",
                turned);
        write_file(glm, list);
        char words[64];
        snprintf(words, sizeof words, "\"indexer_types\": layer %u is not what", turned);
        refused(words);
    }
    list_of(list, sizeof list, "", 50);
    write_file(glm, list);
    refused("\"indexer_types\": layer 50 is not what one of 4 behind the first 3");
    write_file(glm, ", \"indexer_types\": [\"full\"]");
    refused("\"indexer_types\" has 1 layer, \"num_hidden_layers\" is 78");
    write_file(glm, ", \"index_topk_pattern\": \"FFSS\"");
    refused("\"index_topk_pattern\" is \"FFSS\"");
    write_file(glm, ", \"compress_ratios\": [4]");
    refused("attention to chosen keys (sparse attention) (compress_ratios) are not simulated");
}

static int make_folder(void **state)
{
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s/config.json", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_published_counts),
        cmocka_unit_test(files_read_as_presets),
        cmocka_unit_test(lists_without_a_rule_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
