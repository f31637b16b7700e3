#include "scenarios/catalogue/huggingface_facts.h"

#include <jansson.h>
#include <string.h>

/* Members that change the function, and the value with which they change nothing (NULL: none). */
static const char *const members[][2] = {
    {"partial_rotary_factor", "1"},
    {"rotary_pct", "1"},
    {"rotary_dim", NULL},
    {"scoring_func", "softmax"},
    {"moe_router_activation_func", "softmax"},
    {"routed_scaling_factor", "1"},
    {"norm_topk_prob", "true"},
    {"attn_logit_softcapping", NULL},
    {"final_logit_softcapping", NULL},
    {"clip_qkv", NULL},
    {"residual_multiplier", "1"},
    {"embedding_multiplier", "1"},
    {"attention_multiplier", NULL},
    {"logits_scaling", "1"},
    {"logit_scale", "1"},
    {"apply_residual_connection_post_layernorm", "false"},
    {"indexer_rope_interleave", "false"},
    {"attn_temperature_tuning", "false"},
};
/* What a type does where its file is silent: defaults of its class in transformers. */
static const char *const defaults[][3] = {
    {"stablelm", "partial_rotary_factor", "0.25"},
    {"nemotron", "partial_rotary_factor", "0.5"},
    {"phi", "partial_rotary_factor", "0.5"},
    {"glm", "partial_rotary_factor", "0.5"},
    {"glm4", "partial_rotary_factor", "0.5"},
    {"glm4_moe", "partial_rotary_factor", "0.5"},
    {"qwen3_next", "partial_rotary_factor", "0.25"},
    {"qwen3_5_text", "partial_rotary_factor", "0.25"},
    {"qwen3_5_moe_text", "partial_rotary_factor", "0.25"},
    {"gpt_neox", "rotary_pct", "0.25"},
    {"gptj", "rotary_dim", "64"},
    {"chatglm", "partial_rotary_factor", "0.5"},
    {"deepseek_v3", "scoring_func", "sigmoid"},
    {"kimi_k2", "scoring_func", "sigmoid"},
    {"deepseek_v32", "scoring_func", "sigmoid"},
    {"glm_moe_dsa", "scoring_func", "sigmoid"},
    {"glm4_moe", "scoring_func", "sigmoid"},
    {"minimax_m2", "scoring_func", "sigmoid"},
    {"llama4_text", "scoring_func", "sigmoid"},
    {"deepseek_v3", "routed_scaling_factor", "2.5"},
    {"qwen2_moe", "norm_topk_prob", "false"},
    {"qwen3_moe", "norm_topk_prob", "false"},
    {"olmoe", "norm_topk_prob", "false"},
    {"deepseek_v2", "norm_topk_prob", "false"},
    {"cohere", "logit_scale", "0.0625"},
    {"cohere2", "logit_scale", "0.0625"},
    {"smollm3", "no_rope_layer_interval", "4"},
    {"llama4_text", "no_rope_layer_interval", "4"},
    {"llama4_text", "attn_temperature_tuning", "true"},
    {"llama4_text", "qk_l2_norm_of_rotated_layers", "true"},
    {"llama4_text", "moe_apply_probs_on_input", "true"},
    {"cohere2", "rope_of_full_attention", "false"},
    {"olmo", "norm_weights", "false"},
    {"gemma", "embedding_multiplier", "sqrt(hidden_size)"},
    {"gemma2", "embedding_multiplier", "sqrt(hidden_size)"},
    {"gemma3_text", "embedding_multiplier", "sqrt(hidden_size)"},
};

struct facts {
    struct arena *arena;
    const char *text;
};

static void add(struct facts *facts, const char *key, const char *value)
{
    facts->text =
        arena_format(facts->arena, "%s%s%s=%s", facts->text, *facts->text ? " " : "", key, value);
}

/* One word: what is none (lists, objects, empty texts, blanks) reads "?", which nobody writes. */
static const char *word_of(struct arena *arena, const json_t *json)
{
    const char *text = json_string_value(json);
    if (json_is_boolean(json))
        return json_is_true(json) ? "true" : "false";
    if (json_is_number(json))
        return arena_format(arena, "%.9g", json_number_value(json));
    if (text == NULL || *text == '\0' || strlen(text) > 32)
        return "?";
    const size_t good =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return text[good] == '\0' ? arena_text(arena, text) : "?";
}

static const json_t *member(const json_t *json, const char *key)
{
    static const char *const inner[] = {"rope_parameters", "rope_scaling", "attn_config"};
    const json_t *found = json_object_get(json, key);
    for (unsigned i = 0; found == NULL && i < sizeof inner / sizeof inner[0]; i++)
        found = json_object_get(json_object_get(json, inner[i]), key);
    return json_is_null(found) ? NULL : found;
}

static const char *default_of(const char *type, const char *key)
{
    for (unsigned i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (strcmp(defaults[i][0], type) == 0 && strcmp(defaults[i][1], key) == 0)
            return defaults[i][2];
    return NULL;
}

static void add_members(struct facts *facts, const json_t *json, const char *type)
{
    for (unsigned i = 0; i < sizeof members / sizeof members[0]; i++) {
        const json_t *own = member(json, members[i][0]);
        const char *value =
            own != NULL ? word_of(facts->arena, own) : default_of(type, members[i][0]);
        if (value != NULL && (members[i][1] == NULL || strcmp(value, members[i][1]) != 0))
            add(facts, members[i][0], value);
    }
}

/* Layers without rotation: a list of 1 (rotated) and 0, or every Nth. A list that is every Nth is
 * told as that. */
static void add_unrotated(struct facts *facts, const json_t *json, const char *type)
{
    const json_t *list = json_object_get(json, "no_rope_layers");
    const json_t *each = member(json, "no_rope_layer_interval");
    const size_t count = json_array_size(list);
    size_t first = 0;
    bool periodic = true;
    if (count == 0) {
        const char *value =
            each != NULL ? word_of(facts->arena, each) : default_of(type, "no_rope_layer_interval");
        if (value != NULL && strcmp(value, "0") != 0)
            add(facts, "no_rope_layer_interval", value);
        return;
    }
    while (first < count && json_integer_value(json_array_get(list, first)) != 0)
        first++;
    for (size_t i = 0; i < count; i++)
        periodic = periodic && (json_integer_value(json_array_get(list, i)) == 0) ==
                                   ((i + 1) % (first + 1) == 0);
    if (first < count)
        add(facts, periodic ? "no_rope_layer_interval" : "no_rope_layers",
            periodic ? arena_format(facts->arena, "%zu", first + 1) : "?");
}

const char *huggingface_facts(struct arena *arena, const json_t *json, const char *type,
                              bool beside)
{
    static const char *const of_type[] = {"rope_of_full_attention", "norm_weights",
                                          "moe_apply_probs_on_input"};
    struct facts facts = {arena, ""};
    add_members(&facts, json, type);
    add_unrotated(&facts, json, type);
    for (unsigned i = 0; i < sizeof of_type / sizeof of_type[0]; i++)
        if (default_of(type, of_type[i]) != NULL)
            add(&facts, of_type[i], default_of(type, of_type[i]));
    const char *unlearned = "qk_l2_norm_of_rotated_layers";
    if (default_of(type, unlearned) != NULL && !json_is_false(member(json, "use_qk_norm")))
        add(&facts, unlearned, default_of(type, unlearned));
    if (beside)
        add(&facts, "parallel_blocks", "true");
    return facts.text;
}
