/* A Hugging Face config.json becomes the same shape as the catalogue's preset of that model. The
 * files hold the published values of the models they are named after. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/transformer.h"
#include "scenarios/assemble/scenario.h"
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
    assert_int_equal(a->attention.heads, b->attention.heads);
    assert_int_equal(a->attention.kv_heads, b->attention.kv_heads);
    assert_int_equal(a->attention.head_size, b->attention.head_size);
    assert_int_equal(a->ffn_hidden, b->ffn_hidden);
    assert_int_equal(a->vocabulary, b->vocabulary);
    assert_int_equal(a->ffn, b->ffn);
    assert_int_equal(a->norm.kind, b->norm.kind);
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
    assert_int_equal(read->diagnostics.error_count, 0);
    assert_int_equal(named->diagnostics.error_count, 0);
    assert_same_shape(&read->configuration.model, &named->configuration.model);
    scenario_destroy(read);
    scenario_destroy(named);
}

static void test_presets(void **state)
{
    write_file("llama.json", llama3_8b);
    write_file("gpt2.json", gpt2);
    compare("llama.json", "llama3-8b");
    compare("gpt2.json", "gpt2-124m");
}

static void test_overrides(void **state)
{
    write_file("llama.json", llama3_8b);
    struct scenario *scenario = read_with("hf: llama.json, layers: 4");
    assert_int_equal(scenario->diagnostics.error_count, 0);
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
    {"{\"model_type\": \"gpt2\", \"n_layer\": 12, \"n_head\": 12, \"vocab_size\": 9}",
     ": \"n_embd\" is missing", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": [], \"n_embd\": 768, \"n_head\": 12, "
     "\"vocab_size\": 9}",
     ": \"n_layer\" is not a finite number", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": Infinity, \"n_embd\": 768, \"n_head\": 12, "
     "\"vocab_size\": 9}",
     ": \"n_layer\" is not a finite number", false, 13},
    {"{\"model_type\": \"gpt2\", \"n_layer\": NaN, \"n_embd\": 768, \"n_head\": 12, "
     "\"vocab_size\": 9}",
     ": \"n_layer\" is not a finite number", false, 13},
    {"{\"model_type\": \"deepseek_v2\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 4, \"intermediate_size\": 64, \"vocab_size\": 9, "
     "\"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 8, \"v_head_dim\": 8, \"kv_lora_rank\": 8, "
     "\"num_routed_experts\": 8, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8}",
     ": \"n_routed_experts\" is missing; there is \"num_routed_experts\"", false, 13},
    {"{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 4, \"intermediate_size\": 64, \"vocab_size\": 9, "
     "\"num_local_experts\": 8}",
     ": models of type 'llama' that have experts (num_local_experts) are not simulated", false, 13},
    {"{\"model_type\": \"qwen3_moe\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 4, \"intermediate_size\": 64, \"vocab_size\": 9, "
     "\"mlp_only_layers\": [0]}",
     ": \"mlp_only_layers\" is [0], and only models of this type where it is [] are read", false,
     13},
    {"{\"model_type\": \"opt\", \"num_hidden_layers\": 24, \"hidden_size\": 1024, "
     "\"num_attention_heads\": 16, \"ffn_dim\": 4096, \"vocab_size\": 50272, "
     "\"word_embed_proj_dim\": 512}",
     ": \"word_embed_proj_dim\" is 512, and only models of this type where it is \"hidden_size\" "
     "are "
     "read",
     false, 13},
    {"{\"model_type\": \"qwen2_moe\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 16, \"intermediate_size\": 64, \"vocab_size\": 9, "
     "\"shared_expert_intermediate_size\": 100, \"moe_intermediate_size\": 64}",
     ": \"shared_expert_intermediate_size\" is not a multiple of moe_intermediate_size", false, 13},
    {"{\"model_type\": ", "", true, 15},
};

static void test_refusals(void **state)
{
    char expected[1024];
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        write_file("bad.json", r->json);
        struct scenario *scenario = read_with("hf: bad.json");
        assert_int_equal(scenario->diagnostics.error_count, 1);
        const struct problem *p = &scenario->diagnostics.problems[0];
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
    write_file("bad.json", "{\"model_type\": \"gpt2\", \"n_layer\": -3, \"n_embd\": 768, "
                           "\"n_head\": 12, \"vocab_size\": 9}");
    struct scenario *scenario = read_with("hf: bad.json");
    assert_int_equal(scenario->diagnostics.error_count, 1);
    assert_string_equal(scenario->diagnostics.problems[0].text,
                        "model.layers: '-3' is not a whole number");
    scenario_destroy(scenario);
}

/* What the shapes do not carry is said, not dropped in silence. */
static void test_warnings(void **state)
{
    write_file("m.json", "{\"model_type\": \"mistral\", \"hidden_size\": 4096, "
                         "\"intermediate_size\": 14336, \"num_attention_heads\": 32, "
                         "\"num_hidden_layers\": 32, \"sliding_window\": 4096, "
                         "\"vocab_size\": 32000}");
    struct scenario *scenario = read_with("hf: m.json");
    assert_int_equal(scenario->diagnostics.error_count, 0);
    assert_int_equal(scenario->configuration.model.attention.kv_heads, 8);
    assert_int_equal(scenario->diagnostics.problem_count, 0);
    assert_int_equal(scenario->configuration.model.windows.length, 4096);
    scenario_destroy(scenario);
    write_file("q.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
                         "\"intermediate_size\": 18944, \"num_attention_heads\": 28, "
                         "\"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
                         "\"sliding_window\": 131072, \"use_sliding_window\": false, "
                         "\"vocab_size\": 152064}");
    scenario = read_with("hf: q.json");
    assert_int_equal(scenario->diagnostics.error_count, 0);
    assert_int_equal(scenario->diagnostics.problem_count, 0);
    scenario_destroy(scenario);
    write_file("q.json", "{\"model_type\": \"qwen2\", \"hidden_size\": 3584, "
                         "\"intermediate_size\": 18944, \"num_attention_heads\": 28, "
                         "\"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
                         "\"sliding_window\": 131072, \"use_sliding_window\": true, "
                         "\"vocab_size\": 152064}");
    scenario = read_with("hf: q.json");
    assert_true(scenario->diagnostics.problem_count == 1 &&
                scenario->diagnostics.problems[0].warning);
    assert_non_null(
        strstr(scenario->diagnostics.problems[0].text, "the sliding window is left out"));
    scenario_destroy(scenario);
}

#define TOLD                                                                                       \
    "\"hidden_act\": \"silu\", \"rms_norm_eps\": 1e-6, \"rope_theta\": 5e5, "                      \
    "\"attention_bias\": false, \"mlp_bias\": false, \"tie_word_embeddings\": false, "             \
    "\"torch_dtype\": \"bfloat16\", \"bos_token_id\": 1, \"max_position_embeddings\": 8192"
/* What is said of a type that is not known, up to the list of known ones: what is not simulated; a
 * preset; or a shape, in which what the file does not tell is '?'. */
#define SIZES                                                                                      \
    "\"num_hidden_layers\": 16, \"hidden_size\": 2048, \"num_attention_heads\": 16, "              \
    "\"intermediate_size\": 8192, \"vocab_size\": 100352, "
#define CAUSAL "\"architectures\": [\"XForCausalLM\"], "
#define WRITE                                                                                      \
    "write the shape out in place of `hf`, with what the file does not tell in place of "          \
    "each '?': model: {layers: 16, hidden: 2048, heads: 16, ffn_hidden: 8192, vocabulary: "        \
    "100352, "
/* As many layers as llama2-70b and as wide; and deepseek-v3-671b. */
#define LLAMA2                                                                                     \
    "\"num_hidden_layers\": 80, \"hidden_size\": 8192, \"num_attention_heads\": 64, "              \
    "\"num_key_value_heads\": 8, \"intermediate_size\": 28672, \"vocab_size\": 32000, "
#define LLAMA2_PRESET "the preset 'llama2-70b' has the same sizes: model: {preset: llama2-70b}"
#define LLAMA2_WRITE                                                                               \
    "write the shape out in place of `hf`, with what the file does not tell in place of each "     \
    "'?': model: {layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn_hidden: 28672, "           \
    "vocabulary: 32000, "
#define EXPERTS(own)                                                                               \
    "it has experts (" own "), and which layers have them is not known of this type" BY_HAND
#define BY_HAND "; write the shape out in place of `hf` (docs/reference.md, model)"
#define NOT ", which Orrery does not simulate"
static const struct {
    const char *members, *words;
} offers[] = {
    {"\"model_type\": \"bert\"", "it has attention in both directions (bert)" NOT},
    {SIZES CAUSAL "\"is_causal\": false", "it has attention in both directions (is_causal)" NOT},
    {SIZES CAUSAL "\"type_vocab_size\": 2",
     "it has attention in both directions (type_vocab_size)" NOT},
    {SIZES CAUSAL "\"use_bidirectional_attention\": true",
     "it has attention in both directions (use_bidirectional_attention)" NOT},
    {SIZES CAUSAL "\"use_bidirectional_attention\": \"vision\"",
     "it has images or sound as input (use_bidirectional_attention)" NOT},
    {SIZES CAUSAL "\"mamba_d_conv\": 4, \"conv_kernel\": 4, \"num_experts\": 16",
     "it has Mamba layers (mamba_d_conv)" NOT},
    {SIZES CAUSAL "\"ssm_cfg\": {\"layer\": \"Mamba2\"}", "it has Mamba layers (ssm_cfg)" NOT},
    {SIZES CAUSAL "\"layer_types\": [\"full_attention\", \"linear_attention\"]",
     "it has layers of linear attention or recurrence (linear_attention)" NOT},
    {SIZES CAUSAL "\"attn_type_list\": [1, 0]",
     "it has layers of linear attention or recurrence (attn_type_list)" NOT},
    {SIZES CAUSAL "\"layer_types\": [\"full_attention\", \"odd\"]",
     "it has layers of another kind (odd)" NOT},
    {SIZES CAUSAL "\"layer_types\": [\"conv\", \"full_attention\"]",
     "it has layers of convolutions (conv)" NOT},
    {SIZES CAUSAL "\"compress_ratios\": [4]",
     "it has attention to chosen keys (sparse attention) (compress_ratios)" NOT},
    {SIZES "\"is_encoder_decoder\": true",
     "it has an encoder beside the decoder (is_encoder_decoder)" NOT},
    {"\"model_type\": \"t5\"", "it has an encoder beside the decoder (t5)" NOT},
    {"\"model_type\": \"whisper\", \"num_mel_bins\": 80",
     "it has an encoder beside the decoder (whisper), images or sound as input (num_mel_bins)" NOT},
    {"\"architectures\": [\"ViTForImageClassification\"], \"image_size\": 224",
     "it has images or sound as input (ViTForImageClassification)" NOT},
    {SIZES CAUSAL "\"block_configs\": [{\"n\": 1}]",
     "it has layers whose widths differ one by one (block_configs)" NOT},
    {SIZES CAUSAL "\"num_local_experts\": 8, \"mamba_ssm_dtype\": \"float32\"",
     "it has experts (num_local_experts), and which layers have them is not known of this "
     "type" BY_HAND},
    {SIZES CAUSAL "\"inner_config\": {\"kv_lora_rank\": 512}",
     "it has latent attention (kv_lora_rank), and which layers have them is not known of this "
     "type" BY_HAND},
    {SIZES "\"hidden_act\": \"silu\"",
     "no class of its \"architectures\" is a causal language model (...ForCausalLM), and no other "
     "is simulated"},
    {SIZES CAUSAL "\"a_gadget\": 4, \"no_gadget\": 0, \"none\": null, \"b\": true, \"c\": \"x\", "
                  "\"d\": [1]",
     "what \"a_gadget\", \"b\", \"c\" and 1 more mean for its layers is not known" BY_HAND},
    {SIZES CAUSAL "\"num_experts\": 0",
     WRITE "ffn: ?, norm: ?, position: ?, biases: ?, tied_embeddings: ?}"},
    {SIZES CAUSAL "\"hidden_act\": \"gelu\", \"layer_norm_eps\": 1e-5, \"attention_bias\": true, "
                  "\"mlp_bias\": false, \"tie_word_embeddings\": true",
     WRITE "ffn: ?, norm: ?, position: ?, biases: ?, tied_embeddings: true}"},
    {SIZES CAUSAL "\"hidden_act\": \"silu\", \"gated_mlp\": false, \"use_rms_norm\": false, "
                  "\"rms_norm_eps\": 1e-6, \"alibi\": true, \"use_bias\": false",
     WRITE "ffn: ?, norm: ?, position: alibi, biases: false, tied_embeddings: ?}"},
    {SIZES CAUSAL "\"alibi\": true, \"rope_theta\": 10000, \"attention_bias\": false, "
                  "\"norm_type\": \"layer_norm\", \"hidden_act\": \"geglu\"",
     WRITE "ffn: geglu, norm: layernorm, position: ?, biases: ?, tied_embeddings: ?}"},
    {SIZES CAUSAL TOLD,
     WRITE "ffn: swiglu, norm: rms, position: rope, biases: false, tied_embeddings: false}"},
    {"\"num_hidden_layers\": 64, \"hidden_size\": 6144, \"num_attention_heads\": 48, "
     "\"num_key_value_heads\": 8, \"intermediate_size\": 32768, \"vocab_size\": 131072, "
     "\"num_experts\": 8, \"num_experts_per_tok\": 2",
     "the preset 'grok-1-314b' has the same sizes: model: {preset: grok-1-314b}"},
    {"\"num_hidden_layers\": 64, \"hidden_size\": 6144, \"num_attention_heads\": 48, "
     "\"num_key_value_heads\": 8, \"intermediate_size\": 32768, \"vocab_size\": 131072, "
     "\"num_experts\": 16, \"num_experts_per_tok\": 2",
     "it has experts (num_experts), and which layers have them is not known of this type" BY_HAND},
    {"\"num_hidden_layers\": 64, \"hidden_size\": 6144, \"num_attention_heads\": 48, "
     "\"num_key_value_heads\": 4, \"intermediate_size\": 32768, \"vocab_size\": 131072, "
     "\"num_experts\": 8",
     "it has experts (num_experts), and which layers have them is not known of this type" BY_HAND},
    {SIZES CAUSAL "\"b\": true", "what \"b\" means for its layers is not known" BY_HAND},
    /* A preset of the same sizes is named unless the file tells of another block, norm, position,
     * of biases, a shared embedding or other experts. */
    {LLAMA2 TOLD, LLAMA2_PRESET},
    {LLAMA2 "\"num_experts\": 0, \"hidden_act\": \"swish\"", LLAMA2_PRESET},
    {LLAMA2 "\"sliding_window\": 128",
     "the preset 'llama2-70b' has the same sizes, but what \"sliding_window\" means for its layers "
     "is not known: model: {preset: llama2-70b}"},
    {LLAMA2 CAUSAL "\"tie_word_embeddings\": true",
     LLAMA2_WRITE "ffn: ?, norm: ?, position: ?, biases: ?, tied_embeddings: true}"},
    {LLAMA2 CAUSAL "\"hidden_act\": \"gelu\"",
     LLAMA2_WRITE "ffn: ?, norm: ?, position: ?, biases: ?, tied_embeddings: ?}"},
    {LLAMA2 CAUSAL "\"attention_bias\": true",
     LLAMA2_WRITE "ffn: ?, norm: ?, position: ?, biases: ?, tied_embeddings: ?}"},
    {LLAMA2 CAUSAL "\"norm_type\": \"layer_norm\"",
     LLAMA2_WRITE "ffn: ?, norm: layernorm, position: ?, biases: ?, tied_embeddings: ?}"},
    {LLAMA2 CAUSAL "\"alibi\": true",
     LLAMA2_WRITE "ffn: ?, norm: ?, position: alibi, biases: ?, tied_embeddings: ?}"},
    {LLAMA2 "\"num_experts\": 4", EXPERTS("num_experts")},
    {"\"num_hidden_layers\": 64, \"hidden_size\": 6144, \"num_attention_heads\": 48, "
     "\"num_key_value_heads\": 8, \"intermediate_size\": 32768, \"vocab_size\": 131072, "
     "\"num_experts\": 8, \"num_experts_per_tok\": 3",
     EXPERTS("num_experts")},
    {"\"num_hidden_layers\": 64, \"hidden_size\": 6144, \"num_attention_heads\": 48, "
     "\"num_key_value_heads\": 8, \"intermediate_size\": 32768, \"vocab_size\": 131072, "
     "\"num_experts\": 8, \"n_shared_experts\": 1",
     EXPERTS("num_experts")},
    {SIZES CAUSAL "\"llm_config\": {\"ffn_config\": {\"moe_top_k\": 2}}",
     "it has experts (moe_top_k), and which layers have them is not known of this type" BY_HAND},
};

/* An activation that is not the type's is said, and what it is played as. */
static void test_other_activation(void **state)
{
    static const struct {
        const char *type, *activation, *says;
    } rows[] = {
        {"llama", "silu", NULL},
        {"llama", "gelu", "the activation 'gelu' is simulated as swiglu"},
        {"llama", "snake", "the activation 'snake' is simulated as swiglu"},
        {"gemma", "gelu_pytorch_tanh", NULL},
        {"gemma", "silu", "the activation 'silu' is simulated as geglu"},
        {"nemotron", "relu2", NULL},
        {"nemotron", "relu", "the activation 'relu' is simulated as squared_relu"},
        {"falcon", "gelu_new", NULL},
        {"falcon", "silu", "the activation 'silu' is simulated as gelu"},
    };
    char json[1024];
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(json, sizeof json,
                 "{\"model_type\": \"%s\", " LLAMA2
                 "\"parallel_attn\": false, \"multi_query\": false, \"hidden_act\": \"%s\"}",
                 rows[i].type, rows[i].activation);
        write_file("m.json", json);
        struct scenario *scenario = read_with("hf: m.json");
        assert_int_equal(scenario->diagnostics.error_count, 0);
        assert_int_equal(scenario->diagnostics.problem_count, rows[i].says ? 1 : 0);
        if (rows[i].says)
            assert_non_null(strstr(scenario->diagnostics.problems[0].text, rows[i].says));
        scenario_destroy(scenario);
    }
}

static void test_offers(void **state)
{
    char json[1024], start[2048];
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
        bool named = strstr(offers[i].members, "model_type") != NULL;
        snprintf(json, sizeof json, "{%s%s}", named ? "" : "\"model_type\": \"x\", ",
                 offers[i].members);
        write_file("bad.json", json);
        struct scenario *scenario = read_with("hf: bad.json");
        assert_int_equal(scenario->diagnostics.error_count, 1);
        const char *text = scenario->diagnostics.problems[0].text, *told = strstr(text, "': ");
        assert_non_null(told);
        snprintf(start, sizeof start, "%s; known types: llama, mistral, ", offers[i].words);
        if (strncmp(told + 3, start, strlen(start)) != 0)
            fail_msg("row %zu: %s", i, text);
        scenario_destroy(scenario);
    }
}

/* A line without '?' is a shape that reads, and it is that of a llama of these members. */
static void test_offered_shape_reads(void **state)
{
    char model[512];
    write_file("bad.json", "{\"model_type\": \"x\", " SIZES CAUSAL TOLD "}");
    write_file("m.json", "{\"model_type\": \"llama\", " SIZES CAUSAL TOLD "}");
    struct scenario *scenario = read_with("hf: bad.json"), *llama = read_with("hf: m.json");
    const char *shape = strstr(scenario->diagnostics.problems[0].text, "model: {");
    assert_non_null(shape);
    snprintf(model, sizeof model, "%s", shape + strlen("model: {"));
    *strchr(model, '}') = '\0';
    struct scenario *own = read_with(model);
    assert_int_equal(own->diagnostics.error_count + llama->diagnostics.error_count, 0);
    assert_same_shape(&own->configuration.model, &llama->configuration.model);
    scenario_destroy(own);
    scenario_destroy(llama);
    scenario_destroy(scenario);
}

/* Lists of what is not quantized make megabytes; Python writes Infinity and NaN. */
static void test_large_and_python(void **state)
{
    const size_t names = 60000;
    char *text = malloc(2048 + names * 32), *end = text;
    assert_non_null(text);
    end += sprintf(end, "{\"model_type\": \"llama\", \"say\": \"a \\\"NaN\\\\\", \"time\": [0.0, "
                        "Infinity, -Infinity, NaN], \"quantization_config\": {\"ignore\": [0");
    for (size_t i = 0; i < names; i++)
        end += sprintf(end, ", \"layers.%zu.moe.experts\"", i);
    sprintf(end, "]}, " SIZES "\"num_key_value_heads\": 4}");
    assert_true(strlen(text) > 1 << 20);
    write_file("m.json", text);
    struct scenario *scenario = read_with("hf: m.json");
    assert_int_equal(scenario->diagnostics.error_count, 0);
    assert_int_equal(scenario->configuration.model.attention.kv_heads, 4);
    scenario_destroy(scenario);
    free(text);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"llama.json", "gpt2.json", "gemma.json", "bad.json",
                                        "m.json",     "q.json",    "rope.json"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* By the docs of transformers: Qwen2.5 as its card extends it, DeepSeek-V3, which states what is
 * reached, Llama 3.2, Phi-3 128k, Gemma 3, and factors that are none. */
static void test_positions_reached(void **state)
{
#define PLAIN                                                                                      \
    "{\"model_type\": \"%s\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "                     \
    "\"num_attention_heads\": 4, \"intermediate_size\": 64, \"vocab_size\": 9, "                   \
    "\"max_position_embeddings\": %d, \"%s\": {\"%s\": \"%s\", \"factor\": %s, "                   \
    "\"original_max_position_embeddings\": %d}}"
    static const char scaling[] = "rope_scaling", type[] = "rope_type";
    static const struct {
        const char *model, *member, *key, *kind, *factor;
        int stated, trained; /* 0: not said */
        uint64_t positions;
    } rows[] = {
        {"llama", scaling, "type", "yarn", "4.0", 32768, 32768, 131072},
        {"llama", scaling, type, "yarn", "40", 163840, 4096, 163840},
        {"llama", scaling, type, "yarn", "2", 65536, 4096, 65536},
        {"llama", scaling, type, "linear", "2.5", 4096, 0, 10240},
        {"llama", "rope_parameters", type, "dynamic", "1.5", 4097, 0, 6145},
        {"llama", scaling, type, "llama3", "32.0", 131072, 8192, 131072},
        {"llama", scaling, type, "longrope", "32.0", 131072, 4096 * 2, 131072},
        {"llama", scaling, "type", "default", "4", 8192, 0, 8192},
        {"llama", scaling, "type", "linear", "null", 8192, 0, 8192},
        {"llama", scaling, "type", "linear", "-4", 8192, 0, 8192},
        {"gemma3_text", scaling, type, "linear", "8.0", 131072, 0, 131072},
    };
    char text[1024];
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, PLAIN, rows[i].model, rows[i].stated, rows[i].member,
                 rows[i].key, rows[i].kind, rows[i].factor, rows[i].trained);
        write_file("rope.json", text);
        struct scenario *scenario = read_with("hf: rope.json");
        assert_int_equal(scenario->diagnostics.error_count, 0);
        assert_int_equal(scenario->configuration.model.positions_max, rows[i].positions);
        scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),          cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_ranges_hold),
        cmocka_unit_test(test_warnings),         cmocka_unit_test(test_other_activation),
        cmocka_unit_test(test_offers),           cmocka_unit_test(test_offered_shape_reads),
        cmocka_unit_test(test_large_and_python), cmocka_unit_test(test_positions_reached),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
