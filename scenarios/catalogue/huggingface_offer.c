#include "scenarios/catalogue/huggingface_offer.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/catalogue/huggingface_signs.h"

/* Where types keep what a shape needs; the first name that the file has counts. */
static const struct offer_fact {
    const char *key, *names[6];
    bool optional; /* a shape has a default for it */
} facts[] = {
    {"layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers", NULL}, false},
    {"hidden", {"hidden_size", "n_embd", "d_model", "dim", NULL}, false},
    {"heads", {"num_attention_heads", "n_head", "n_heads", "num_heads", NULL}, false},
    {"kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", NULL}, true},
    {"head_size", {"head_dim", "head_size", NULL}, true},
    {"ffn_hidden", {"intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", NULL}, false},
    {"vocabulary", {"vocab_size", "n_vocab", NULL}, false},
};
/* What a preset tells, too, where the file does; `optional`: where the file does not, whatever
 * the preset has. */
static const struct offer_fact parts[] = {
    {"experts",
     {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", NULL},
     false},
    {"kv_rank", {"kv_lora_rank", NULL}, false},
    {"q_rank", {"q_lora_rank", NULL}, true},
    {"experts_per_token",
     {"num_experts_per_tok", "num_experts_per_token", "num_selected_experts", "moe_top_k",
      "moe_topk", NULL},
     true},
    {"moe_ffn_hidden", {"moe_intermediate_size", NULL}, true},
    {"shared_experts", {"n_shared_experts", "num_shared_experts", NULL}, true},
};
enum {
    FACT_COUNT = sizeof facts / sizeof facts[0],
    PART_COUNT = sizeof parts / sizeof parts[0]
};

/* Members that change no shape, or that the line reads. One that ends in '*' stands for all that
 * begin so. */
static const char *const understood[] = {"model_type",
                                         "architectures",
                                         "_name_or_path",
                                         "auto_map",
                                         "torch_dtype",
                                         "dtype",
                                         "transformers_*",
                                         "use_cache",
                                         "bos_token_id",
                                         "eos_token_id",
                                         "pad_token_id",
                                         "unk_token_id",
                                         "sep_token_id",
                                         "decoder_start_*",
                                         "initializer_*",
                                         "attention_dropout",
                                         "hidden_dropout",
                                         "resid_pdrop",
                                         "embd_pdrop",
                                         "attn_pdrop",
                                         "resid_dropout",
                                         "residual_dropout",
                                         "dropout",
                                         "embedding_dropout",
                                         "rms_norm_eps",
                                         "layer_norm_eps",
                                         "layer_norm_epsilon",
                                         "layernorm_epsilon",
                                         "norm_eps",
                                         "norm_epsilon",
                                         "rope_*",
                                         "rotary_*",
                                         "partial_rotary_factor",
                                         "max_position_embeddings",
                                         "max_sequence_length",
                                         "seq_length",
                                         "n_positions",
                                         "n_ctx",
                                         "hidden_act",
                                         "hidden_activation",
                                         "activation_function",
                                         "quantization_config",
                                         "compression_config",
                                         "pretraining_tp",
                                         "task_specific_params",
                                         "id2label",
                                         "label2id",
                                         "output_*",
                                         "return_dict*",
                                         "tie_word_embeddings",
                                         "attention_bias",
                                         "mlp_bias",
                                         "bias",
                                         "use_bias",
                                         "alibi",
                                         "norm_type",
                                         "torchscript",
                                         "problem_type",
                                         "attn_implementation",
                                         "_attn_implementation*",
                                         "gradient_checkpointing",
                                         "num_return_sequences",
                                         "max_length",
                                         "min_length",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "do_sample",
                                         "num_beams",
                                         "num_beam_groups",
                                         "repetition_penalty",
                                         "length_penalty",
                                         "typical_p",
                                         "is_decoder",
                                         "use_flash_attn",
                                         "max_window_layers",
                                         "embedding_scale",
                                         "logit_scale",
                                         "logits_scaling",
                                         "scale_attn_weights",
                                         "summary_*",
                                         NULL};

static const json_t *fact_of(const json_t *json, const struct offer_fact *fact)
{
    for (const char *const *name = fact->names; *name; name++) {
        const json_t *member = json_object_get(json, *name);
        if (json_is_integer(member))
            return member;
    }
    return NULL;
}

static bool names(const struct offer_fact *list, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        for (const char *const *name = list[i].names; *name; name++)
            if (strcmp(key, *name) == 0)
                return true;
    return false;
}

static bool is_fact(const char *key)
{
    return names(facts, FACT_COUNT, key) || names(parts, PART_COUNT, key);
}

static bool is_understood(const char *key)
{
    for (const char *const *word = understood; *word; word++) {
        size_t length = strlen(*word);
        bool family = (*word)[length - 1] == '*';
        if (family ? strncmp(key, *word, length - 1) == 0 : strcmp(key, *word) == 0)
            return true;
    }
    return is_fact(key);
}

/* "\"a\", \"b\" mean", three at most and how many more; NULL: all are understood. */
static const char *strange_members(struct arena *arena, const json_t *json)
{
    const char *key, *text = NULL;
    const json_t *member;
    unsigned count = 0;
    json_t *open = (json_t *)(uintptr_t)json; /* the macro takes no const; nothing is written */
    json_object_foreach(open, key, member)
    {
        if (huggingface_neutral(member) || is_understood(key))
            continue;
        if (++count <= 3)
            text = arena_format(arena, "%s%s\"%s\"", text ? text : "", text ? ", " : "",
                                source_quote(arena, key));
    }
    return count > 3    ? arena_format(arena, "%s and %u more mean", text, count - 3)
           : count == 0 ? NULL
                        : arena_format(arena, "%s %s", text, count > 1 ? "mean" : "means");
}

/* Told by a class that is called so: what the model sees is what stands before a token. */
static bool is_causal(const json_t *json)
{
    size_t index;
    const json_t *item, *list = json_object_get(json, "architectures");
    json_array_foreach(list, index, item)
    {
        const char *name = json_string_value(item);
        if (name && (strstr(name, "ForCausalLM") || strstr(name, "LMHeadModel")))
            return true;
    }
    return false;
}

static const char *string_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* A member of such a name that says no: then what stands beside it is no proof. */
static bool denied(const json_t *json, const char *word)
{
    const char *key;
    const json_t *member;
    json_t *open = (json_t *)(uintptr_t)json;
    json_object_foreach(open, key, member)
    {
        if (json_is_false(member) && strstr(key, word))
            return true;
    }
    return false;
}

/* Gates go by the names of activations alone where no other block has them; "gelu" is of both. */
static const char *ffn_word(const json_t *json)
{
    static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function"};
    if (denied(json, "glu") || denied(json, "gate"))
        return "?";
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *name = string_of(json, keys[i]);
        if (strcmp(name, "silu") == 0 || strcmp(name, "swish") == 0 || strcmp(name, "swiglu") == 0)
            return "swiglu";
        if (strcmp(name, "geglu") == 0)
            return "geglu";
    }
    return "?";
}

static const char *norm_word(const json_t *json)
{
    const char *type = string_of(json, "norm_type");
    if (denied(json, "rms"))
        return "?";
    if (json_object_get(json, "rms_norm_eps") || strstr(type, "rms"))
        return "rms";
    return strcmp(type, "layer_norm") == 0 || strcmp(type, "layernorm") == 0 ? "layernorm" : "?";
}

static const char *position_word(const json_t *json)
{
    bool rope = false;
    const char *key;
    const json_t *member;
    json_t *open = (json_t *)(uintptr_t)json;
    json_object_foreach(open, key, member)
    {
        bool names = strncmp(key, "rope_", 5) == 0 || strncmp(key, "rotary_", 7) == 0 ||
                     strcmp(key, "partial_rotary_factor") == 0;
        rope = rope || (names && !huggingface_neutral(member));
    }
    bool alibi = json_is_true(json_object_get(json, "alibi"));
    return rope == alibi || denied(json, "rope") || denied(json, "rotary") ? "?"
           : rope                                                          ? "rope"
                                                                           : "alibi";
}

static bool has_biases(const json_t *json)
{
    static const char *const keys[] = {"bias", "use_bias", "attention_bias", "mlp_bias"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (json_is_true(json_object_get(json, keys[i])))
            return true;
    return false;
}

/* Said to be none, in one word or in both halves; which have them where some do is not told. */
static const char *biases_word(const json_t *json)
{
    bool all = json_is_false(json_object_get(json, "bias")) ||
               json_is_false(json_object_get(json, "use_bias"));
    bool halves = json_is_false(json_object_get(json, "attention_bias")) &&
                  json_is_false(json_object_get(json, "mlp_bias"));
    return !has_biases(json) && (all || halves) ? "false" : "?";
}

static const char *tied_word(const json_t *json)
{
    const json_t *tied = json_object_get(json, "tie_word_embeddings");
    return json_is_true(tied) ? "true" : json_is_false(tied) ? "false" : "?";
}

static const char *shape_text(struct arena *arena, const json_t *json)
{
    const char *text = "model: {";
    for (unsigned i = 0; i < FACT_COUNT; i++) {
        const json_t *fact = fact_of(json, &facts[i]);
        if (fact)
            text = arena_format(arena, "%s%s: %lld, ", text, facts[i].key,
                                (long long)json_integer_value(fact));
        else if (!facts[i].optional)
            text = arena_format(arena, "%s%s: ?, ", text, facts[i].key);
    }
    return arena_format(
        arena, "%sffn: %s, norm: %s, position: %s, biases: %s, tied_embeddings: %s}", text,
        ffn_word(json), norm_word(json), position_word(json), biases_word(json), tied_word(json));
}

static bool word_is(const struct value *entry, const char *key, const json_t *fact, bool must)
{
    const struct value *word = value_find(entry, key);
    if (word == NULL || fact == NULL)
        return !must && (word == NULL) == (fact == NULL);
    return word->kind == VALUE_WORD &&
           strtoll(word->text, NULL, 10) == (long long)json_integer_value(fact);
}

/* A word of an entry, or what is meant where it has none, is not what the file tells. */
static bool denies(const struct value *entry, const char *key, const char *without,
                   const char *told)
{
    const struct value *word = value_find(entry, key);
    const char *own = word && word->kind == VALUE_WORD ? word->text : without;
    return strcmp(told, "?") != 0 && strcmp(told, own) != 0;
}

/* The same matrices of every layer, as far as the file tells: block, norm, positions, biases, a
 * head of its own, experts and latent attention. */
static bool has_parts(const struct value *entry, const json_t *json)
{
    const struct value *ffn = value_find(entry, "ffn"), *biases = value_find(entry, "biases");
    bool plain = value_find(entry, "attention_biases") == NULL &&
                 (biases == NULL || strcmp(biases->text, "false") == 0);
    for (unsigned i = 0; i < PART_COUNT; i++) {
        const json_t *fact = fact_of(json, &parts[i]);
        if (json_integer_value(fact) == 0)
            fact = NULL;
        if (!(parts[i].optional && fact == NULL) && !word_is(entry, parts[i].key, fact, false))
            return false;
    }
    return !(plain ? has_biases(json) : strcmp(biases_word(json), "false") == 0) &&
           !denies(entry, "norm", "rms", norm_word(json)) &&
           !denies(entry, "position", "rope", position_word(json)) &&
           !denies(entry, "tied_embeddings", "false", tied_word(json)) &&
           !huggingface_other_activation(json, ffn ? ffn->text : "swiglu");
}

/* Of equal layers, width, heads and vocabulary, and of a block as wide. */
static bool has_shape(const struct value *entry, const json_t *json)
{
    for (unsigned i = 0; i < FACT_COUNT; i++) {
        const json_t *fact = fact_of(json, &facts[i]);
        bool block = strcmp(facts[i].key, "ffn_hidden") == 0;
        if (facts[i].optional && (fact == NULL || value_find(entry, facts[i].key) == NULL))
            continue;
        if (!word_is(entry, facts[i].key, fact, true) &&
            !(block && word_is(entry, "moe_ffn_hidden", fact, true)))
            return false;
    }
    return true;
}

static const char *preset_of(const json_t *json, struct catalogue *catalogue)
{
    struct name_list list = {NULL, 0};
    if (catalogue)
        list = catalogue_names(catalogue, FAMILY_MODELS);
    for (unsigned i = 0; i < list.count; i++) {
        const struct value *entry = catalogue_find(catalogue, FAMILY_MODELS, list.names[i]);
        if (entry && has_shape(entry, json) && has_parts(entry, json))
            return list.names[i];
    }
    return NULL;
}

const char *huggingface_offer(struct arena *arena, const json_t *json, struct catalogue *catalogue)
{
    struct huggingface_signs signs = huggingface_signs(arena, json);
    const char *not = huggingface_unsayable(arena, &signs), *own;
    const char *strange = strange_members(arena, json);
    if (not )
        return arena_format(arena, "it has %s, which Orrery does not simulate", not );
    const char *preset = preset_of(json, catalogue);
    if (preset)
        return arena_format(arena, "the preset '%s' has the same sizes%s%s%s: model: {preset: %s}",
                            preset, strange ? ", but what " : "", strange ? strange : "",
                            strange ? " for its layers is not known" : "", preset);
    own = huggingface_sayable(arena, &signs);
    if (own)
        return arena_format(arena,
                            "it has %s, and which layers have them is not known of this type; "
                            "write the shape out in place of `hf` (docs/reference.md, model)",
                            own);
    if (!is_causal(json))
        return "no class of its \"architectures\" is a causal language model (...ForCausalLM), and "
               "no other is simulated";
    if (strange)
        return arena_format(arena,
                            "what %s for its layers is not known; write the shape out in "
                            "place of `hf` (docs/reference.md, model)",
                            strange);
    return arena_format(arena,
                        "write the shape out in place of `hf`, with what the file does not tell in "
                        "place of each '?': %s",
                        shape_text(arena, json));
}
