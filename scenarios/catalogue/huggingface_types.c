/* huggingface_types.c - names and defaults are those of transformers' configuration classes
 * (LlamaConfig, MistralConfig, ... in huggingface/transformers, src/transformers/models; of mimo,
 * internlm2, chatglm, deepseek, minimax_m2 and kimi_k2 those of configuration_*.py beside the
 * weights), which layers have which norms, biases and windows those of the models beside them.
 * kimi_k2 has the keys of deepseek_v3; the routers of nemotron_h and kimi_linear choose groups of
 * experts as its does. What no key of ours carries is below .01 % of the
 * parameters: biases of the head and none of the attention (gptj, phi), a gate of the shared
 * experts (qwen2_moe), a norm behind the embedding (bloom), norms that have no weights (olmo).
 * opt's relu is played as gelu: as many matrices, as many bytes. */
#include "scenarios/catalogue/huggingface_types.h"

#include <stddef.h>
#include <string.h>

#include "sim/check.h"

#define NEED(key, json)                                                                            \
    {                                                                                              \
        key, json, NULL, NULL, NULL, NULL                                                          \
    }
#define ELSE(key, json, fallback)                                                                  \
    {                                                                                              \
        key, json, fallback, NULL, NULL, NULL                                                      \
    }
#define FLAG(key, json, fallback, yes, no)                                                         \
    {                                                                                              \
        key, json, fallback, yes, no, NULL                                                         \
    }
#define NONE(key)                                                                                  \
    {                                                                                              \
        key, NULL, NULL, NULL, NULL, NULL                                                          \
    }

/* A plain decoder: what a type does not say otherwise. */
static const struct huggingface_type common = {
    .fixed = {{"ffn", "swiglu"}, {"norm", "rms"}, {"position", "rope"}},
    .rows = {NEED("layers", "num_hidden_layers"), NEED("hidden", "hidden_size"),
             NEED("heads", "num_attention_heads"), ELSE("kv_heads", "num_key_value_heads", ""),
             ELSE("head_size", "head_dim", ""), NEED("ffn_hidden", "intermediate_size"),
             NEED("vocabulary", "vocab_size"),
             ELSE("tied_embeddings", "tie_word_embeddings", "false"),
             ELSE("positions_max", "max_position_embeddings", "")},
    .must = {{"n_group", "1"}, {"num_expert_group", "1"}, {"residual_in_fp32", "false"}},
};

/* Rows that several types have. */
#define ATTENTION_BIASES(yes) FLAG("attention_biases", "attention_bias", "none", yes, "none")
#define MLP_BIASES ELSE("biases", "mlp_bias", "false")
#define TIED ELSE("tied_embeddings", "tie_word_embeddings", "true")
#define TIED_OR_NOT NEED("tied_embeddings", "tie_word_embeddings")
#define SHARED_WIDTH                                                                               \
    {                                                                                              \
        "shared_experts", "shared_expert_intermediate_size", "", NULL, NULL,                       \
            "moe_intermediate_size"                                                                \
    }
#define GATED_DELTA                                                                                \
    NEED("linear_heads", "linear_num_value_heads"),                                                \
        NEED("linear_head_size", "linear_value_head_dim"),                                         \
        NEED("linear_key_heads", "linear_num_key_heads"),                                          \
        NEED("linear_key_size", "linear_key_head_dim"),                                            \
        ELSE("linear_conv", "linear_conv_kernel_dim", "4")
#define WINDOW ELSE("window", "sliding_window", "")

const struct huggingface_type huggingface_types[] = {
    {.name = "llama", .rows = {ATTENTION_BIASES("all"), MLP_BIASES}},
    {.name = "mistral", .rows = {ELSE("kv_heads", "num_key_value_heads", "8"), WINDOW}},
    {.name = "qwen2", .fixed = {{"attention_biases", "qkv"}}, .windowed = "use_sliding_window"},
    {.name = "qwen3",
     .fixed = {{"qk_norms", "true"}},
     .rows = {ELSE("head_size", "head_dim", "128"), ATTENTION_BIASES("all")},
     .windowed = "use_sliding_window"},
    {.name = "qwen3_vl_text", .like = "qwen3"},
    {.name = "gemma",
     .fixed = {{"ffn", "geglu"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "16"), ELSE("head_size", "head_dim", "256"),
              TIED, ATTENTION_BIASES("all")}},
    {.name = "gemma2",
     .like = "gemma",
     .fixed = {{"norms", "4"}, {"full_interval", "2"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "4"), WINDOW}},
    {.name = "gemma3_text",
     .like = "gemma",
     .fixed = {{"norms", "4"}, {"qk_norms", "true"}},
     .rows = {ELSE("heads", "num_attention_heads", "8"),
              ELSE("kv_heads", "num_key_value_heads", "4"),
              ELSE("vocabulary", "vocab_size", "262208"),
              ELSE("positions_max", "max_position_embeddings", "131072"), WINDOW,
              ELSE("full_interval", "sliding_window_pattern", "6")},
     .stretched = true},
    {.name = "phi3", .rows = {ELSE("dropout", "resid_pdrop", "0"), WINDOW}},
    {.name = "olmo2", .fixed = {{"qk_norms_whole", "true"}}, .rows = {ATTENTION_BIASES("all")}},
    {.name = "nemotron",
     .fixed = {{"ffn", "squared_relu"}, {"norm", "layernorm"}, {"norm_biases", "true"}},
     .rows = {ATTENTION_BIASES("all"), MLP_BIASES}},
    {.name = "falcon", /* kv_heads, norms and beside: huggingface.c */
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"norm_biases", "true"}},
     .rows = {NONE("kv_heads"), NONE("head_size"), ELSE("ffn_hidden", "ffn_hidden_size", ""), TIED,
              ELSE("biases", "bias", "false"), FLAG("position", "alibi", "rope", "alibi", "rope"),
              ELSE("dropout", "hidden_dropout", "0")}},
    {.name = "gpt2",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"position", "learned"}, {"biases", "true"}},
     .rows = {NEED("layers", "n_layer"), NEED("hidden", "n_embd"), NEED("heads", "n_head"),
              NONE("kv_heads"), NONE("head_size"), ELSE("ffn_hidden", "n_inner", ""),
              ELSE("positions_max", "n_positions", "1024"), ELSE("dropout", "resid_pdrop", "0.1"),
              TIED}},
    {.name = "mixtral",
     .rows = {ELSE("kv_heads", "num_key_value_heads", "8"),
              NEED("moe_ffn_hidden", "intermediate_size"),
              ELSE("experts", "num_local_experts", "8"),
              ELSE("experts_per_token", "num_experts_per_tok", "2"), WINDOW}},
    {.name = "qwen3_moe",
     .fixed = {{"qk_norms", "true"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "4"),
              ELSE("moe_ffn_hidden", "moe_intermediate_size", "768"),
              ELSE("experts", "num_experts", "128"),
              ELSE("experts_per_token", "num_experts_per_tok", "8"),
              ELSE("expert_interval", "decoder_sparse_step", "1"), ATTENTION_BIASES("all")},
     .must = {{"mlp_only_layers", "[]"}},
     .windowed = "use_sliding_window"},
    {.name = "qwen3_vl_moe_text", .like = "qwen3_moe"},
    {.name = "qwen2_moe",
     .fixed = {{"attention_biases", "qkv"}, {"shared_expert_gate", "true"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "16"),
              ELSE("moe_ffn_hidden", "moe_intermediate_size", "1408"),
              ELSE("experts", "num_experts", "60"),
              ELSE("experts_per_token", "num_experts_per_tok", "4"),
              {"shared_experts", "shared_expert_intermediate_size", NULL, NULL, NULL,
               "moe_intermediate_size"},
              ELSE("expert_interval", "decoder_sparse_step", "1")},
     .must = {{"mlp_only_layers", "[]"}},
     .windowed = "use_sliding_window"},
    {.name = "olmoe",
     .fixed = {{"qk_norms_whole", "true"}},
     .rows = {NEED("moe_ffn_hidden", "intermediate_size"), ELSE("experts", "num_experts", "64"),
              ELSE("experts_per_token", "num_experts_per_tok", "8"), ATTENTION_BIASES("all")}},
    {.name = "deepseek", /* of DeepSeekMoE, arXiv:2401.06066: ordinary attention */
     .rows = {NEED("experts", "n_routed_experts"), NEED("experts_per_token", "num_experts_per_tok"),
              NEED("moe_ffn_hidden", "moe_intermediate_size"),
              ELSE("shared_experts", "n_shared_experts", "0"),
              ELSE("dense_layers", "first_k_dense_replace", "0"), ATTENTION_BIASES("all")},
     .must = {{"moe_layer_freq", "1"}}},
    {.name = "deepseek_v2",
     .rows = {NONE("kv_heads"), NEED("head_size", "qk_nope_head_dim"),
              NEED("rope_head_size", "qk_rope_head_dim"), NEED("v_head_size", "v_head_dim"),
              ELSE("q_rank", "q_lora_rank", ""), NEED("kv_rank", "kv_lora_rank"),
              NEED("experts", "n_routed_experts"), NEED("experts_per_token", "num_experts_per_tok"),
              NEED("moe_ffn_hidden", "moe_intermediate_size"),
              ELSE("shared_experts", "n_shared_experts", "0"), ELSE("expert_groups", "n_group", ""),
              ELSE("groups_per_token", "topk_group", ""),
              ELSE("dense_layers", "first_k_dense_replace", "0")},
     .must = {{"moe_layer_freq", "1"}}},
    {.name = "deepseek_v3",
     .like = "deepseek_v2",
     .fixed = {{"router_bias", "true"}},
     .rows = {ELSE("expert_groups", "n_group", "8"), ELSE("groups_per_token", "topk_group", "4"),
              ELSE("mtp_layers", "num_nextn_predict_layers", "0")}},
    {.name = "kimi_k2", .like = "deepseek_v3"},
    {.name = "deepseek_v32",
     .like = "deepseek_v3",
     .rows = {NEED("indexer_heads", "index_n_heads"), NEED("indexer_size", "index_head_dim"),
              NEED("sparse_keys", "index_topk")}},
    {.name = "glm_moe_dsa", /* which layers have an indexer: huggingface_indexer.c */
     .like = "deepseek_v32",
     .rows = {ELSE("expert_groups", "n_group", "1"), ELSE("groups_per_token", "topk_group", "1")},
     .must = {{"index_topk_pattern", "null"}}},
    {.name = "glm", .rows = {ATTENTION_BIASES("qkv")}},
    {.name = "glm4", .like = "glm", .fixed = {{"norms", "4"}}},
    {.name = "glm4_moe",
     .fixed = {{"router_bias", "true"}},
     .rows = {FLAG("qk_norms", "use_qk_norm", "false", "true", "false"),
              NEED("experts", "n_routed_experts"), NEED("experts_per_token", "num_experts_per_tok"),
              NEED("moe_ffn_hidden", "moe_intermediate_size"),
              ELSE("shared_experts", "n_shared_experts", "1"), ELSE("expert_groups", "n_group", ""),
              ELSE("groups_per_token", "topk_group", ""),
              ELSE("dense_layers", "first_k_dense_replace", "1"),
              ELSE("mtp_layers", "num_nextn_predict_layers", "0"), ATTENTION_BIASES("qkv")}},
    {.name = "minimax_m2",
     .fixed = {{"qk_norms_whole", "true"}, {"router_bias", "true"}},
     .rows = {NEED("moe_ffn_hidden", "intermediate_size"), NEED("experts", "num_local_experts"),
              NEED("experts_per_token", "num_experts_per_tok"),
              ELSE("mtp_layers", "num_mtp_modules", "0")},
     .must = {{"qk_norm_type", "\"per_layer\""},
              {"use_qk_norm", "true"},
              {"use_routing_bias", "true"},
              {"shared_intermediate_size", "0"},
              {"mtp_transformer_layers", "1"}}},
    {.name = "mimo",
     .like = "qwen2",
     .rows = {ELSE("mtp_layers", "num_nextn_predict_layers", "0")},
     .must = {{"attention_bias", "true"}}},
    {.name = "gpt_oss",
     .fixed = {{"biases", "true"},
               {"router_bias", "true"},
               {"clamped_activation", "true"},
               {"sinks", "true"},
               {"full_interval", "2"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "8"),
              NEED("moe_ffn_hidden", "intermediate_size"),
              ELSE("experts", "num_local_experts", "128"),
              ELSE("experts_per_token", "num_experts_per_tok", "4"), WINDOW}},
    {.name = "llama4_text",
     .fixed = {{"shared_experts", "1"}, {"window_kind", "chunked"}},
     .rows = {NEED("ffn_hidden", "intermediate_size_mlp"),
              NEED("moe_ffn_hidden", "intermediate_size"),
              ELSE("experts", "num_local_experts", "16"),
              ELSE("experts_per_token", "num_experts_per_tok", "1"),
              ELSE("expert_interval", "interleave_moe_layer_step", "1"),
              ELSE("window", "attention_chunk_size", "8192"),
              ELSE("full_interval", "no_rope_layer_interval", "4")}},
    {.name = "granite", .like = "llama"},
    {.name = "smollm3",
     .like = "llama",
     .rows = {ELSE("kv_heads", "num_key_value_heads", "4"), TIED_OR_NOT},
     .windowed = "use_sliding_window"},
    {.name = "olmo", .fixed = {{"norm", "layernorm"}}, .rows = {ATTENTION_BIASES("all")}},
    {.name = "internlm2", .rows = {FLAG("attention_biases", "bias", "all", "all", "none")}},
    {.name = "cohere",
     .fixed = {{"norm", "layernorm"}, {"norms", "1"}},
     .rows = {TIED, ATTENTION_BIASES("all"),
              FLAG("qk_norms_whole", "use_qk_norm", "false", "true", "false")},
     .beside = ""},
    {.name = "cohere2",
     .fixed = {{"norm", "layernorm"}, {"norms", "1"}},
     .rows = {TIED, ATTENTION_BIASES("all"), ELSE("window", "sliding_window", "4096"),
              ELSE("full_interval", "sliding_window_pattern", "4")},
     .must = {{"layer_switch", "4"}, {"use_qk_norm", "false"}},
     .beside = ""},
    {.name = "stablelm",
     .fixed = {{"norm", "layernorm"}, {"norm_biases", "true"}},
     .rows = {FLAG("attention_biases", "use_qkv_bias", "none", "qkv", "none"),
              FLAG("norms", "use_parallel_residual", "2", "1", "2"),
              ELSE("dropout", "hidden_dropout", "0")},
     .must = {{"qk_layernorm", "false"}},
     .beside = "use_parallel_residual"},
    {.name = "starcoder2",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"norm_biases", "true"}},
     .rows = {ELSE("kv_heads", "num_key_value_heads", "2"), ELSE("biases", "use_bias", "true"),
              ELSE("dropout", "residual_dropout", "0"), TIED_OR_NOT, WINDOW},
     .must = {{"norm_type", "\"layer_norm\""}}},
    {.name = "gpt_neox",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"biases", "true"}},
     .rows = {NONE("kv_heads"), NONE("head_size"), ELSE("dropout", "hidden_dropout", "0")},
     .must = {{"attention_bias", "true"}},
     .beside = "use_parallel_residual",
     .beside_default = true},
    {.name = "gptj",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"biases", "true"}, {"norms", "1"}},
     .rows = {NEED("layers", "n_layer"), NEED("hidden", "n_embd"), NEED("heads", "n_head"),
              NONE("kv_heads"), NONE("head_size"), ELSE("ffn_hidden", "n_inner", ""),
              ELSE("positions_max", "n_positions", ""), ELSE("dropout", "resid_pdrop", "0")},
     .beside = ""},
    {.name = "phi",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"biases", "true"}, {"norms", "1"}},
     .rows = {NONE("head_size"), ELSE("dropout", "resid_pdrop", "0")},
     .must = {{"qk_layernorm", "false"}},
     .beside = ""},
    {.name = "opt",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"position", "learned"}, {"biases", "true"}},
     .rows = {NONE("kv_heads"), NONE("head_size"), NEED("ffn_hidden", "ffn_dim"),
              ELSE("positions_max", "max_position_embeddings", "2048"), TIED,
              ELSE("dropout", "dropout", "0.1")},
     .must = {{"do_layer_norm_before", "true"},
              {"word_embed_proj_dim", "=hidden_size"},
              {"enable_bias", "true"},
              {"layer_norm_elementwise_affine", "true"}}},
    {.name = "bloom",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}, {"position", "alibi"}, {"biases", "true"}},
     .rows = {NONE("kv_heads"), NONE("head_size"), NONE("ffn_hidden"), TIED,
              ELSE("dropout", "hidden_dropout", "0")}},
    {.name = "mpt",
     .fixed = {{"ffn", "gelu"}, {"norm", "layernorm"}},
     .rows = {NEED("layers", "n_layers"), NEED("hidden", "d_model"), NEED("heads", "n_heads"),
              ELSE("kv_heads", "attn_config.kv_n_heads", ""), NONE("head_size"), NONE("ffn_hidden"),
              TIED, FLAG("biases", "no_bias", NULL, "false", "true"),
              FLAG("position", "attn_config.alibi", "learned", "alibi", "learned"),
              ELSE("positions_max", "max_seq_len", "2048")},
     .must = {{"expansion_ratio", "4"},
              {"attn_config.qk_ln", "false"},
              {"attn_config.rope", "false"},
              {"attn_config.attn_type", "\"multihead_attention\""}}},
    {.name = "dbrx",
     .fixed = {{"norm", "layernorm"}},
     .rows = {NEED("layers", "n_layers"), NEED("hidden", "d_model"), NEED("heads", "n_heads"),
              NEED("kv_heads", "attn_config.kv_n_heads"), NONE("head_size"),
              NEED("ffn_hidden", "ffn_config.ffn_hidden_size"),
              NEED("moe_ffn_hidden", "ffn_config.ffn_hidden_size"),
              NEED("experts", "ffn_config.moe_num_experts"),
              NEED("experts_per_token", "ffn_config.moe_top_k"),
              ELSE("positions_max", "max_seq_len", ""), ELSE("dropout", "resid_pdrop", "0")}},
    {.name = "qwen3_5_text",
     .fixed = {{"qk_norms", "true"}},
     .rows = {ELSE("head_size", "head_dim", "256"),
              FLAG("attention_gate", "attn_output_gate", "true", "true", "false"), GATED_DELTA,
              ELSE("mtp_layers", "mtp_num_hidden_layers", "0"), ATTENTION_BIASES("all")},
     .mixer = "gdn"},
    {.name = "qwen3_5_moe_text",
     .like = "qwen3_5_text",
     .fixed = {{"shared_expert_gate", "true"}},
     .rows = {NEED("ffn_hidden", "moe_intermediate_size"),
              NEED("moe_ffn_hidden", "moe_intermediate_size"), NEED("experts", "num_experts"),
              NEED("experts_per_token", "num_experts_per_tok"), SHARED_WIDTH},
     .must = {{"mlp_only_layers", "[]"}}},
    {.name = "qwen3_next",
     .like = "qwen3_5_moe_text",
     .rows = {ELSE("ffn_hidden", "intermediate_size", "5120"),
              ELSE("expert_interval", "decoder_sparse_step", "1")}},
    {.name = "nemotron_h",
     .fixed = {{"ffn", "squared_relu"}, {"position", "none"}, {"router_bias", "true"}},
     .rows = {ELSE("experts", "n_routed_experts", ""),
              ELSE("experts_per_token", "num_experts_per_tok", ""),
              ELSE("expert_groups", "n_group", ""),
              ELSE("groups_per_token", "topk_group", ""),
              ELSE("moe_ffn_hidden", "moe_intermediate_size", ""),
              ELSE("moe_latent", "moe_latent_size", "0"),
              {"shared_experts", "moe_shared_expert_intermediate_size", "", NULL, NULL,
               "moe_intermediate_size"},
              NEED("linear_heads", "mamba_num_heads"),
              NEED("linear_head_size", "mamba_head_dim"),
              NEED("linear_key_heads", "n_groups"),
              NEED("linear_key_size", "ssm_state_size"),
              ELSE("linear_conv", "conv_kernel", "4"),
              ELSE("linear_chunk", "chunk_size", "128"),
              ATTENTION_BIASES("all"),
              MLP_BIASES},
     .must = {{"mamba_proj_bias", "false"},
              {"use_bias", "false"},
              {"use_conv_bias", "true"},
              {"mlp_hidden_act", "\"relu2\""}},
     .mixer = "mamba2"},
    {.name = "kimi_linear",
     .like = "deepseek_v2",
     .fixed = {{"position", "none"}, {"router_bias", "true"}},
     .rows = {NEED("experts", "num_experts"), NEED("experts_per_token", "num_experts_per_token"),
              ELSE("shared_experts", "num_shared_experts", "0"),
              ELSE("expert_groups", "num_expert_group", ""),
              NEED("linear_heads", "linear_attn_config.num_heads"),
              NEED("linear_head_size", "linear_attn_config.head_dim"),
              ELSE("linear_conv", "linear_attn_config.short_conv_kernel_size", "4"),
              ELSE("mtp_layers", "num_nextn_predict_layers", "0")},
     .must = {{"mla_use_nope", "true"},
              {"use_grouped_topk", "true"},
              {"routed_expert_hidden_size", "0"},
              {"attn_res_block_size", "0"},
              {"mla_use_output_gate", "false"}},
     .mixer = "kda"},
    {.name = "minimax_text_01",
     .rows = {NEED("moe_ffn_hidden", "intermediate_size"), NEED("experts", "num_local_experts"),
              NEED("experts_per_token", "num_experts_per_tok"),
              NEED("linear_heads", "num_attention_heads"), NEED("linear_head_size", "head_dim")},
     .must = {{"shared_intermediate_size", "0"}},
     .mixer = "lightning"},
    {.name = "chatglm",
     .rows = {NEED("layers", "num_layers"), NEED("kv_heads", "multi_query_group_num"),
              NEED("head_size", "kv_channels"), NEED("ffn_hidden", "ffn_hidden_size"),
              NEED("vocabulary", "padded_vocab_size"), ELSE("positions_max", "seq_length", ""),
              FLAG("attention_biases", "add_qkv_bias", "none", "qkv", "none"),
              ELSE("dropout", "hidden_dropout", "0")},
     .must = {{"multi_query_attention", "true"},
              {"add_bias_linear", "false"},
              {"rmsnorm", "true"},
              {"apply_residual_connection_post_layernorm", "false"},
              {"post_layer_norm", "true"}}},
};
const unsigned huggingface_type_count = sizeof huggingface_types / sizeof huggingface_types[0];

const struct huggingface_type *huggingface_find(const char *name)
{
    for (unsigned i = 0; name && i < huggingface_type_count; i++)
        if (strcmp(name, huggingface_types[i].name) == 0)
            return &huggingface_types[i];
    return NULL;
}

static unsigned fixed_at(const struct huggingface_type *type, const char *key)
{
    unsigned i = 0;
    while (i < HUGGINGFACE_FIXED_MAX && type->fixed[i][0] && strcmp(type->fixed[i][0], key) != 0)
        i++;
    return i;
}

static unsigned row_at(const struct huggingface_type *type, const char *key)
{
    unsigned i = 0;
    while (i < HUGGINGFACE_ROW_MAX && type->rows[i].key && strcmp(type->rows[i].key, key) != 0)
        i++;
    return i;
}

/* The last takes the place of the one that goes. */
static void forget(struct huggingface_type *whole, const char *key)
{
    unsigned fixed = fixed_at(whole, key), row = row_at(whole, key), end;
    if (fixed < HUGGINGFACE_FIXED_MAX && whole->fixed[fixed][0]) {
        end = fixed_at(whole, "");
        memcpy(whole->fixed[fixed], whole->fixed[end - 1], sizeof whole->fixed[0]);
        whole->fixed[end - 1][0] = NULL;
    }
    if (row < HUGGINGFACE_ROW_MAX && whole->rows[row].key) {
        end = row_at(whole, "");
        whole->rows[row] = whole->rows[end - 1];
        whole->rows[end - 1].key = NULL;
    }
}

static void lay_over(struct huggingface_type *whole, const struct huggingface_type *type)
{
    unsigned must = 0;
    for (unsigned i = 0; i < HUGGINGFACE_FIXED_MAX && type->fixed[i][0]; i++) {
        forget(whole, type->fixed[i][0]);
        unsigned end = fixed_at(whole, "");
        CHECK(end < HUGGINGFACE_FIXED_MAX);
        memcpy(whole->fixed[end], type->fixed[i], sizeof whole->fixed[0]);
    }
    for (const struct huggingface_row *row = type->rows; row->key; row++) {
        forget(whole, row->key);
        unsigned end = row_at(whole, "");
        CHECK(end + 1 < HUGGINGFACE_ROW_MAX);
        if (row->json)
            whole->rows[end] = *row;
    }
    while (must < HUGGINGFACE_MUST_MAX && whole->must[must][0])
        must++;
    for (unsigned i = 0; i < HUGGINGFACE_MUST_MAX && type->must[i][0]; i++, must++) {
        CHECK(must < HUGGINGFACE_MUST_MAX);
        memcpy(whole->must[must], type->must[i], sizeof whole->must[0]);
    }
    whole->name = type->name;
    whole->mixer = type->mixer ? type->mixer : whole->mixer;
    whole->windowed = type->windowed ? type->windowed : whole->windowed;
    whole->beside = type->beside ? type->beside : whole->beside;
    whole->stretched = type->stretched || whole->stretched;
    whole->beside_default = type->beside ? type->beside_default : whole->beside_default;
}

struct huggingface_type huggingface_whole(const struct huggingface_type *type)
{
    struct huggingface_type whole = common;
    if (type->like)
        whole = huggingface_whole(huggingface_find(type->like));
    lay_over(&whole, type);
    whole.like = NULL;
    return whole;
}

bool huggingface_tells(const struct huggingface_type *whole, const char *key)
{
    unsigned fixed = fixed_at(whole, key), row = row_at(whole, key);
    return (fixed < HUGGINGFACE_FIXED_MAX && whole->fixed[fixed][0]) ||
           (row < HUGGINGFACE_ROW_MAX && whole->rows[row].key);
}
