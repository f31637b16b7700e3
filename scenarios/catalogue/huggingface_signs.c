#include "scenarios/catalogue/huggingface_signs.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "scenarios/language/source.h"

static const char *const nouns[SIGN_COUNT] = {
    [SIGN_MAMBA] = "Mamba layers",
    [SIGN_LINEAR] = "layers of linear attention or recurrence",
    [SIGN_CONVOLUTION] = "layers of convolutions",
    [SIGN_SPARSE] = "attention to chosen keys (sparse attention)",
    [SIGN_ENCODER] = "an encoder beside the decoder",
    [SIGN_BOTH_WAYS] = "attention in both directions",
    [SIGN_MEDIA] = "images or sound as input",
    [SIGN_UNEQUAL] = "layers whose widths differ one by one",
    [SIGN_STREAMS] = "several residual streams",
    [SIGN_OTHER_LAYERS] = "layers of another kind",
    [SIGN_EXPERTS] = "experts",
    [SIGN_LATENT] = "latent attention",
    [SIGN_INDEXER] = "an indexer that chooses keys",
    [SIGN_PREDICTION] = "modules that predict further tokens",
};
/* The key of ours that a type has which describes it; NULL: none can. */
static const char *const described[SIGN_COUNT] = {
    [SIGN_MAMBA] = "linear_heads",    [SIGN_LINEAR] = "linear_heads",
    [SIGN_EXPERTS] = "experts",       [SIGN_LATENT] = "kv_rank",
    [SIGN_INDEXER] = "indexer_heads", [SIGN_PREDICTION] = "mtp_layers"};

/* How the word is met: where a part of a member's name begins with it (parts are divided by '_');
 * where the member is called so and false; in the model_type or a class of `architectures`, or as
 * their beginning; as the beginning of a kind of layer. */
enum place {
    IN_KEY,
    KEY_FALSE,
    IN_CLASS,
    CLASS_BEGINS,
    IN_LAYER
};
static const struct sign_word {
    const char *text;
    enum place place;
    enum huggingface_sign sign;
} words[] = {
    {"mamba", IN_KEY, SIGN_MAMBA},
    {"ssm", IN_KEY, SIGN_MAMBA},
    {"mamba", IN_CLASS, SIGN_MAMBA},
    {"jamba", IN_CLASS, SIGN_MAMBA},
    {"mamba", IN_LAYER, SIGN_MAMBA},
    {"ssm", IN_LAYER, SIGN_MAMBA},
    {"linear_attn", IN_KEY, SIGN_LINEAR},
    {"linear_attention", IN_KEY, SIGN_LINEAR},
    {"linear_num", IN_KEY, SIGN_LINEAR},
    {"linear_conv", IN_KEY, SIGN_LINEAR},
    {"kimi_linear", IN_CLASS, SIGN_LINEAR},
    {"lightning", IN_KEY, SIGN_LINEAR},
    {"kda", IN_KEY, SIGN_LINEAR},
    {"gated_delta", IN_KEY, SIGN_LINEAR},
    {"deltanet", IN_KEY, SIGN_LINEAR},
    {"retention", IN_KEY, SIGN_LINEAR},
    {"lru", IN_KEY, SIGN_LINEAR},
    {"wkv", IN_KEY, SIGN_LINEAR},
    {"rwkv", IN_CLASS, SIGN_LINEAR},
    {"retnet", IN_CLASS, SIGN_LINEAR},
    {"recurrentgemma", IN_CLASS, SIGN_LINEAR},
    {"xlstm", IN_CLASS, SIGN_LINEAR},
    {"linear", IN_LAYER, SIGN_LINEAR},
    {"lightning", IN_LAYER, SIGN_LINEAR},
    {"recurrent", IN_LAYER, SIGN_LINEAR},
    {"gated_delta", IN_LAYER, SIGN_LINEAR},
    {"conv_", IN_KEY, SIGN_CONVOLUTION},
    {"conv", IN_LAYER, SIGN_CONVOLUTION},
    {"hyena", IN_CLASS, SIGN_CONVOLUTION},
    {"index_topk", IN_KEY, SIGN_INDEXER},
    {"index_n_heads", IN_KEY, SIGN_INDEXER},
    {"indexer", IN_KEY, SIGN_INDEXER},
    {"compress_ratio", IN_KEY, SIGN_SPARSE},
    {"sparse_attention", IN_KEY, SIGN_SPARSE},
    {"sparse_attn", IN_KEY, SIGN_SPARSE},
    {"is_encoder_decoder", IN_KEY, SIGN_ENCODER},
    {"encoder_layers", IN_KEY, SIGN_ENCODER},
    {"encoder_config", IN_KEY, SIGN_ENCODER},
    {"num_decoder_layers", IN_KEY, SIGN_ENCODER},
    {"cross_attention", IN_KEY, SIGN_ENCODER},
    {"t5", CLASS_BEGINS, SIGN_ENCODER},
    {"mt5", CLASS_BEGINS, SIGN_ENCODER},
    {"umt5", CLASS_BEGINS, SIGN_ENCODER},
    {"bart", IN_CLASS, SIGN_ENCODER},
    {"whisper", IN_CLASS, SIGN_ENCODER},
    {"pegasus", IN_CLASS, SIGN_ENCODER},
    {"type_vocab_size", IN_KEY, SIGN_BOTH_WAYS},
    {"bidirectional", IN_KEY, SIGN_BOTH_WAYS},
    {"is_causal", KEY_FALSE, SIGN_BOTH_WAYS},
    {"causal", KEY_FALSE, SIGN_BOTH_WAYS},
    {"bert", IN_CLASS, SIGN_BOTH_WAYS},
    {"electra", IN_CLASS, SIGN_BOTH_WAYS},
    {"formaskedlm", IN_CLASS, SIGN_BOTH_WAYS},
    {"bidirectional", IN_CLASS, SIGN_BOTH_WAYS},
    {"llada", IN_CLASS, SIGN_BOTH_WAYS},
    {"image_size", IN_KEY, SIGN_MEDIA},
    {"patch_size", IN_KEY, SIGN_MEDIA},
    {"num_channels", IN_KEY, SIGN_MEDIA},
    {"vision", IN_KEY, SIGN_MEDIA},
    {"audio", IN_KEY, SIGN_MEDIA},
    {"num_mel_bins", IN_KEY, SIGN_MEDIA},
    {"forimage", IN_CLASS, SIGN_MEDIA},
    {"clip", IN_CLASS, SIGN_MEDIA},
    {"vit", CLASS_BEGINS, SIGN_MEDIA},
    {"block_configs", IN_KEY, SIGN_UNEQUAL},
    {"hc_mult", IN_KEY, SIGN_STREAMS},
    {"altup", IN_KEY, SIGN_STREAMS},
    {"expert", IN_KEY, SIGN_EXPERTS},
    {"moe", IN_KEY, SIGN_EXPERTS},
    {"moe", IN_CLASS, SIGN_EXPERTS},
    {"moe", IN_LAYER, SIGN_EXPERTS},
    {"sparse", IN_LAYER, SIGN_EXPERTS},
    {"lora_rank", IN_KEY, SIGN_LATENT},
    {"deepseek_sparse", IN_LAYER, SIGN_INDEXER},
    {"nextn", IN_KEY, SIGN_PREDICTION},
    {"mtp", IN_KEY, SIGN_PREDICTION},
};
enum {
    WORD_COUNT = sizeof words / sizeof words[0]
};
/* Kinds of layers that a shape has, or that are said otherwise. */
static const char *const plain_layers[] = {"full_attention",
                                           "sliding_attention",
                                           "chunked_attention",
                                           "attention",
                                           "dense",
                                           "full",
                                           "global",
                                           "local",
                                           "mlp",
                                           NULL};

bool huggingface_neutral(const json_t *json)
{
    if (json_is_string(json))
        return *json_string_value(json) == '\0';
    if (json_is_number(json))
        return json_number_value(json) == 0.0;
    if (json_is_array(json))
        return json_array_size(json) == 0;
    if (json_is_object(json))
        return json_object_size(json) == 0;
    return !json_is_true(json);
}

static bool begins(const char *text, const char *word)
{
    return strncasecmp(text, word, strlen(word)) == 0;
}

static bool part_begins(const char *key, const char *word)
{
    for (const char *part = key; part; part = strchr(part, '_'), part = part ? part + 1 : NULL)
        if (begins(part, word))
            return true;
    return false;
}

static bool holds(const char *text, const char *word)
{
    for (; *text; text++)
        if (begins(text, word))
            return true;
    return false;
}

static void note(struct arena *arena, struct huggingface_signs *signs, enum huggingface_sign sign,
                 const char *by)
{
    if (signs->by[sign] == NULL)
        signs->by[sign] = source_quote(arena, by);
}

static void read_class(struct arena *arena, struct huggingface_signs *signs, const json_t *json)
{
    const char *text = json_string_value(json);
    for (unsigned i = 0; text && i < WORD_COUNT; i++)
        if (words[i].place == IN_CLASS
                ? holds(text, words[i].text)
                : words[i].place == CLASS_BEGINS && begins(text, words[i].text))
            note(arena, signs, words[i].sign, text);
}

static bool is_plain(const char *kind)
{
    for (const char *const *plain = plain_layers; *plain; plain++)
        if (strcasecmp(kind, *plain) == 0)
            return true;
    return false;
}

/* A list of the kinds of layers, one by one. */
static void read_layers(struct arena *arena, struct huggingface_signs *signs, const json_t *list)
{
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        const char *kind = json_string_value(item);
        bool known = kind == NULL || is_plain(kind);
        for (unsigned i = 0; kind && i < WORD_COUNT; i++)
            if (words[i].place == IN_LAYER && begins(kind, words[i].text)) {
                note(arena, signs, words[i].sign, kind);
                known = true;
            }
        if (!known)
            note(arena, signs, SIGN_OTHER_LAYERS, kind);
    }
}

/* Gemma 4: use_bidirectional_attention "vision" is said of the tokens of images alone. */
static enum huggingface_sign sign_of(const struct sign_word *word, const json_t *json)
{
    const char *text = json_string_value(json);
    if (word->sign == SIGN_BOTH_WAYS && text && strcasecmp(text, "vision") == 0)
        return SIGN_MEDIA;
    return word->sign;
}

static void read_key(struct arena *arena, struct huggingface_signs *signs, const char *key,
                     const json_t *json)
{
    for (unsigned i = 0; i < WORD_COUNT; i++) {
        const struct sign_word *word = &words[i];
        bool told = holds(key, "dtype") ? false
                    : word->place == IN_KEY
                        ? !huggingface_neutral(json) && part_begins(key, word->text)
                        : word->place == KEY_FALSE && json_is_false(json) &&
                              strcasecmp(key, word->text) == 0;
        if (told)
            note(arena, signs, sign_of(word, json), key);
    }
}

/* MiniMax: 1 is an ordinary layer, 0 one of linear attention. */
static bool has_zero(const json_t *list)
{
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        if (json_is_integer(item) && json_integer_value(item) == 0)
            return true;
    }
    return false;
}

/* Objects that tell of the language model itself; others are of quantization, of vision, of names.
 */
static bool enters(const char *key, const json_t *json)
{
    bool config = holds(key, "config") || holds(key, "cfg");
    bool other = holds(key, "quant") || holds(key, "compress") || holds(key, "vision") ||
                 holds(key, "audio");
    return json_is_object(json) && config && !other;
}

static void read_object(struct arena *arena, struct huggingface_signs *signs, const json_t *object,
                        unsigned depth)
{
    const char *key;
    const json_t *json;
    /* jansson's macro takes no const object; nothing is written. */
    json_t *open = (json_t *)(uintptr_t)object;
    json_object_foreach(open, key, json)
    {
        size_t index;
        const json_t *item;
        read_key(arena, signs, key, json);
        if (strcmp(key, "model_type") == 0)
            read_class(arena, signs, json);
        if (strcmp(key, "architectures") == 0)
            json_array_foreach(json, index, item) read_class(arena, signs, item);
        if ((holds(key, "layer") || holds(key, "block")) && holds(key, "type"))
            read_layers(arena, signs, json);
        if (strcmp(key, "attn_type_list") == 0 && has_zero(json))
            note(arena, signs, SIGN_LINEAR, key);
        if (depth < 2 && enters(key, json))
            read_object(arena, signs, json, depth + 1);
    }
}

/* Each block by the activations whose matrices and bytes are its own; relu's are gelu's. */
static bool activates(const char *ffn, const char *activation)
{
    static const char *const pairs[][2] = {
        {"swiglu", "silu"}, {"swiglu", "swish"},      {"swiglu", "swiglu"}, {"geglu", "gelu"},
        {"geglu", "geglu"}, {"geglu", "quick_gelu"},  {"gelu", "gelu"},     {"gelu", "quick_gelu"},
        {"gelu", "relu"},   {"squared_relu", "relu2"}};
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        bool family = strcmp(pairs[i][1], "gelu") == 0; /* gelu_new, gelu_pytorch_tanh */
        if (strcmp(pairs[i][0], ffn) == 0 &&
            (family ? strncmp(activation, "gelu", 4) == 0 : strcmp(activation, pairs[i][1]) == 0))
            return true;
    }
    return false;
}

const char *huggingface_other_activation(const json_t *json, const char *ffn)
{
    static const char *const keys[] = {"hidden_activation", "hidden_act", "activation_function"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *named = json_string_value(json_object_get(json, keys[i]));
        if (named != NULL)
            return activates(ffn, named) ? NULL : named;
    }
    return NULL;
}

struct huggingface_signs huggingface_signs(struct arena *arena, const json_t *json)
{
    struct huggingface_signs signs = {{NULL}};
    if (json_is_object(json))
        read_object(arena, &signs, json, 0);
    if (signs.by[SIGN_MAMBA] || signs.by[SIGN_LINEAR])
        signs.by[SIGN_CONVOLUTION] = NULL; /* a part of those */
    return signs;
}

/* Left out of a known type with a warning: the layers of its language model are what they are. */
static bool beside_it(unsigned sign)
{
    return sign == SIGN_MEDIA || sign == SIGN_PREDICTION;
}

static const char *add_sign(struct arena *arena, const char *text, unsigned sign, const char *by)
{
    return arena_format(arena, "%s%s%s (%s)", text ? text : "", text ? ", " : "", nouns[sign], by);
}

const char *huggingface_undescribed(struct arena *arena, const struct huggingface_signs *signs,
                                    const struct huggingface_type *whole, bool beside)
{
    const char *text = NULL;
    for (unsigned sign = 0; sign < SIGN_COUNT; sign++) {
        bool told = described[sign] && huggingface_tells(whole, described[sign]);
        if (signs->by[sign] && !told && beside_it(sign) == beside)
            text = add_sign(arena, text, sign, signs->by[sign]);
    }
    return text;
}

const char *huggingface_unsayable(struct arena *arena, const struct huggingface_signs *signs)
{
    const char *text = NULL;
    for (unsigned sign = 0; sign < SIGN_EXPERTS; sign++)
        if (signs->by[sign])
            text = add_sign(arena, text, sign, signs->by[sign]);
    return text;
}

const char *huggingface_sayable(struct arena *arena, const struct huggingface_signs *signs)
{
    const char *text = NULL;
    for (unsigned sign = SIGN_EXPERTS; sign < SIGN_COUNT; sign++)
        if (signs->by[sign])
            text = add_sign(arena, text, sign, signs->by[sign]);
    return text;
}
