/* huggingface_published.h - a config.json of each model type that is read, with what was published
 * of its parameters. */
#ifndef ORRERY_TESTS_HUGGINGFACE_PUBLISHED_H
#define ORRERY_TESTS_HUGGINGFACE_PUBLISHED_H

/* Counts as they are published with the weights, each tensor once (Hugging Face states Falcon's
 * with the shared head twice). The files hold the keys that differ from the defaults of their
 * class. `beyond` is the share of what no key of ours carries, or of the digits that were
 * published; 0: to the last parameter. */
#define DEEPSEEK_V3                                                                                \
    "\"hidden_size\": 7168, \"intermediate_size\": 18432, \"moe_intermediate_size\": 2048, "       \
    "\"num_hidden_layers\": 61, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, "             \
    "\"kv_lora_rank\": 512, \"q_lora_rank\": 1536, \"qk_rope_head_dim\": 64, "                     \
    "\"qk_nope_head_dim\": 128, \"v_head_dim\": 128, "
#define GLM_9B                                                                                     \
    "\"hidden_size\": 4096, \"intermediate_size\": 13696, \"num_attention_heads\": 32, "           \
    "\"num_hidden_layers\": 40, \"num_key_value_heads\": 2, \"head_dim\": 128, "                   \
    "\"attention_bias\": true, \"vocab_size\": 151552"
#define QWEN_LINEAR                                                                                \
    "\"head_dim\": 256, \"linear_num_key_heads\": 16, \"linear_key_head_dim\": 128, "              \
    "\"linear_value_head_dim\": 128, \"linear_conv_kernel_dim\": 4, "
#define TURN "0, 0, 0, 0, 0, 0, 0, 1, "
static const struct {
    const char *json;
    double parameters;
    unsigned warnings;
    double beyond;
} published[] = {
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 4096, \"intermediate_size\": 12288, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 36, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 151936, \"head_dim\": 128, \"hidden_act\": \"silu\", \"sliding_window\": "
     "null}",
     8190735360, 0, 0}, /* Qwen3-8B */
    {"{\"model_type\": \"qwen3\", \"hidden_size\": 1024, \"intermediate_size\": 3072, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 151936, \"tie_word_embeddings\": true}",
     596049920, 0, 0}, /* Qwen3-0.6B: heads x 128 is twice hidden */
    {"{\"model_type\": \"qwen2\", \"hidden_size\": 3584, \"intermediate_size\": 18944, "
     "\"num_attention_heads\": 28, \"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
     "\"vocab_size\": 152064}",
     7615616512, 0, 0}, /* Qwen2.5-7B */
    {"{\"model_type\": \"gemma2\", \"hidden_size\": 2304, \"intermediate_size\": 9216, "
     "\"num_attention_heads\": 8, \"num_hidden_layers\": 26, \"vocab_size\": 256000, "
     "\"sliding_window\": 4096}",
     2614341888, 0, 0}, /* Gemma 2 2B */
    {"{\"model_type\": \"gemma2\", \"hidden_size\": 4608, \"intermediate_size\": 36864, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 46, \"num_key_value_heads\": 16, "
     "\"head_dim\": 128, \"vocab_size\": 256000}",
     27227128320, 0, 0}, /* Gemma 2 27B */
    {"{\"model_type\": \"gemma3_text\", \"hidden_size\": 1152, \"intermediate_size\": 6912, "
     "\"num_attention_heads\": 4, \"num_hidden_layers\": 26, \"num_key_value_heads\": 1, "
     "\"vocab_size\": 262144}",
     999885952, 0, 0}, /* Gemma 3 1B */
    {"{\"model_type\": \"gemma3\", \"vision_config\": {}, \"text_config\": {\"hidden_size\": 1152, "
     "\"intermediate_size\": 6912, \"num_attention_heads\": 4, \"num_hidden_layers\": 26, "
     "\"num_key_value_heads\": 1, \"vocab_size\": 262144, \"sliding_window\": 512}}",
     999885952, 1, 0}, /* the same inside a model with vision */
    {"{\"model_type\": \"phi3\", \"hidden_size\": 3072, \"intermediate_size\": 8192, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
     "\"vocab_size\": 32064, \"sliding_window\": 2047}",
     3821079552, 0, 0}, /* Phi-3 mini */
    {"{\"model_type\": \"phi3\", \"hidden_size\": 5120, \"intermediate_size\": 17920, "
     "\"num_attention_heads\": 40, \"num_hidden_layers\": 40, \"num_key_value_heads\": 10, "
     "\"vocab_size\": 100352, \"attention_bias\": false}",
     14659507200, 0, 0}, /* Phi-4 */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 4544, \"num_attention_heads\": 71, "
     "\"num_hidden_layers\": 32, \"vocab_size\": 65024, \"multi_query\": true, "
     "\"parallel_attn\": true, \"bias\": false, \"alibi\": false}",
     6921720704, 1, 0}, /* Falcon-7B */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 8192, \"n_head\": 128, \"n_layer\": 60, "
     "\"num_kv_heads\": 8, \"vocab_size\": 65024, \"new_decoder_architecture\": true}",
     41303293952, 1, 0}, /* Falcon-40B */
    /* Falcon-RW-1B: (50304 + 1) 2048 + 24 (12 h^2 + 13 h) + h: biases, alibi, one after the other
     */
    {"{\"model_type\": \"falcon\", \"hidden_size\": 2048, \"num_attention_heads\": 32, "
     "\"num_hidden_layers\": 24, \"vocab_size\": 50304, \"multi_query\": false, "
     "\"parallel_attn\": false, \"bias\": true, \"alibi\": true}",
     1311625216, 0, 0},
    /* a small Llama with biases of q, k, v and o, by hand */
    {"{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 128, "
     "\"num_attention_heads\": 4, \"num_hidden_layers\": 1, \"num_key_value_heads\": 2, "
     "\"vocab_size\": 100, \"attention_bias\": true}",
     2 * 6400 + (2 * 4096 + 2 * 2048 + 64 + 2 * 32 + 64) + 3 * 8192 + 3 * 64, 0, 0},
    {"{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"vocab_size\": 32000}",
     7241732096, 0, 0}, /* Mistral 7B */
    {"{\"model_type\": \"olmo2\", \"hidden_size\": 5120, \"intermediate_size\": 13824, "
     "\"num_attention_heads\": 40, \"num_hidden_layers\": 40, \"vocab_size\": 100352}",
     13716198400, 0, 0}, /* OLMo 2 13B */
    {"{\"model_type\": \"nemotron\", \"hidden_size\": 18432, \"intermediate_size\": 73728, "
     "\"num_attention_heads\": 96, \"num_hidden_layers\": 96, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 256000}",
     341.03e9, 0, 1e-5}, /* Nemotron-4 340B */
    {"{\"model_type\": \"gpt2\", \"n_layer\": 48, \"n_embd\": 1600, \"n_head\": 25, "
     "\"vocab_size\": 50257}",
     1557611200, 0, 0}, /* GPT-2 XL */
    {"{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_local_experts\": 8, "
     "\"vocab_size\": 32000, \"router_aux_loss_coef\": 0.02}",
     46702792704, 0, 0}, /* Mixtral 8x7B */
    {"{\"model_type\": \"qwen3_moe\", \"hidden_size\": 2048, \"intermediate_size\": 6144, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 48, \"num_key_value_heads\": 4, "
     "\"head_dim\": 128, \"mlp_only_layers\": [], \"vocab_size\": 151936}",
     30532122624, 0, 0}, /* Qwen3-30B-A3B */
    {"{\"model_type\": \"qwen3_vl\", \"vision_config\": {\"depth\": 24}, "
     "\"tie_word_embeddings\": true, \"text_config\": {\"model_type\": \"qwen3_vl_text\", "
     "\"hidden_size\": 2048, \"intermediate_size\": 6144, \"num_attention_heads\": 16, "
     "\"num_hidden_layers\": 28, \"num_key_value_heads\": 8, \"vocab_size\": 151936}}",
     1720574976, 1, 0}, /* Qwen3-VL-2B: its text is Qwen3-1.7B, tied by the outer word */
    {"{\"model_type\": \"qwen3_vl_moe\", \"vision_config\": {\"depth\": 27}, "
     "\"text_config\": {\"model_type\": \"qwen3_vl_moe_text\", \"hidden_size\": 4096, "
     "\"intermediate_size\": 12288, \"moe_intermediate_size\": 1536, \"num_attention_heads\": 64, "
     "\"num_hidden_layers\": 94, \"head_dim\": 128, \"vocab_size\": 151936}}",
     235093634560, 1, 0}, /* Qwen3-VL-235B-A22B: its text is Qwen3-235B-A22B */
    {"{\"model_type\": \"deepseek_v2\", \"hidden_size\": 5120, \"intermediate_size\": 12288, "
     "\"moe_intermediate_size\": 1536, \"num_hidden_layers\": 60, \"num_attention_heads\": 128, "
     "\"num_key_value_heads\": 128, \"n_shared_experts\": 2, \"n_routed_experts\": 160, "
     "\"num_experts_per_tok\": 6, \"first_k_dense_replace\": 1, \"moe_layer_freq\": 1, "
     "\"kv_lora_rank\": 512, \"q_lora_rank\": 1536, \"qk_rope_head_dim\": 64, "
     "\"qk_nope_head_dim\": 128, \"v_head_dim\": 128, \"vocab_size\": 102400}",
     235741434880, 0, 0}, /* DeepSeek-V2 */
    {"{\"model_type\": \"deepseek_v3\"," DEEPSEEK_V3 "\"n_routed_experts\": 256, "
     "\"first_k_dense_replace\": 3, \"num_attention_heads\": 128, \"vocab_size\": 129280}",
     671026419200, 0, 0}, /* DeepSeek-V3 */
    {"{\"model_type\": \"kimi_k2\"," DEEPSEEK_V3 "\"n_routed_experts\": 384, "
     "\"first_k_dense_replace\": 1, \"num_attention_heads\": 64, \"vocab_size\": 163840, "
     "\"n_group\": 1, \"topk_group\": 1}",
     1026408232448, 0, 0}, /* Kimi K2 */
    {"{\"model_type\": \"gpt_oss\", \"hidden_size\": 2880, \"intermediate_size\": 2880, "
     "\"num_attention_heads\": 64, \"num_hidden_layers\": 24, \"num_local_experts\": 32, "
     "\"head_dim\": 64, \"sliding_window\": 128, \"layer_types\": [\"sliding_attention\", "
     "\"full_attention\"], \"vocab_size\": 201088}",
     20914757184, 0, 0}, /* gpt-oss-20b */
    {"{\"model_type\": \"llama4\", \"vision_config\": {}, \"text_config\": {\"hidden_size\": "
     "5120, \"intermediate_size\": 8192, \"intermediate_size_mlp\": 16384, "
     "\"num_attention_heads\": 40, \"num_key_value_heads\": 8, \"num_hidden_layers\": 48, "
     "\"head_dim\": 128, \"num_local_experts\": 16, \"vocab_size\": 202048}}",
     107.8e9, 1, 5e-4}, /* Llama 4 Scout */
    {"{\"model_type\": \"gemma\", \"hidden_size\": 3072, \"intermediate_size\": 24576, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"vocab_size\": 256000}",
     8537680896, 0, 0}, /* Gemma 7B: head_dim and tied embeddings of the class */
    {"{\"model_type\": \"granite\", \"hidden_size\": 4096, \"intermediate_size\": 12800, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 40, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 49155, \"tie_word_embeddings\": true}",
     8170848256, 0, 0}, /* Granite 3.0 8B */
    {"{\"model_type\": \"cohere\", \"hidden_size\": 12288, \"intermediate_size\": 33792, "
     "\"num_attention_heads\": 96, \"num_hidden_layers\": 64, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 256000, \"use_qk_norm\": true}",
     103810674688, 1, 0}, /* Command R+ */
    {"{\"model_type\": \"cohere\", \"hidden_size\": 8192, \"intermediate_size\": 22528, "
     "\"num_attention_heads\": 64, \"num_hidden_layers\": 40, \"vocab_size\": 256000}",
     34980831232, 1, 0}, /* Command R */
    {"{\"model_type\": \"cohere2\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 256000}",
     8028033024, 1, 0}, /* Command R7B */
    {"{\"model_type\": \"qwen2_moe\", \"hidden_size\": 2048, \"intermediate_size\": 5632, "
     "\"moe_intermediate_size\": 1408, \"shared_expert_intermediate_size\": 5632, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 24, \"vocab_size\": 151936}",
     14315784192, 0, 0}, /* Qwen1.5-MoE-A2.7B, with 24 gates of 2048 */
    {"{\"model_type\": \"olmoe\", \"hidden_size\": 2048, \"intermediate_size\": 1024, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 16, \"num_experts\": 64, "
     "\"vocab_size\": 50304}",
     6919161856, 0, 0}, /* OLMoE 1B-7B */
    {"{\"model_type\": \"deepseek\", \"hidden_size\": 2048, \"intermediate_size\": 10944, "
     "\"moe_intermediate_size\": 1408, \"num_hidden_layers\": 28, \"num_attention_heads\": 16, "
     "\"n_shared_experts\": 2, \"n_routed_experts\": 64, \"num_experts_per_tok\": 6, "
     "\"first_k_dense_replace\": 1, \"moe_layer_freq\": 1, \"vocab_size\": 102400}",
     16375728128, 0, 0},                                         /* DeepSeekMoE 16B */
    {"{\"model_type\": \"glm\"," GLM_9B "}", 9399951360, 0, 0},  /* GLM-4 9B */
    {"{\"model_type\": \"glm4\"," GLM_9B "}", 9400279040, 0, 0}, /* GLM-4 9B 0414: two norms more */
    {"{\"model_type\": \"glm4_moe\", \"hidden_size\": 4096, \"intermediate_size\": 10944, "
     "\"moe_intermediate_size\": 1408, \"num_hidden_layers\": 46, \"num_attention_heads\": 96, "
     "\"num_key_value_heads\": 8, \"head_dim\": 128, \"n_routed_experts\": 128, "
     "\"n_shared_experts\": 1, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 1, "
     "\"vocab_size\": 151552, \"attention_bias\": true, \"use_qk_norm\": false, "
     "\"num_nextn_predict_layers\": 1}",
     106.85e9, 0, 1e-4}, /* GLM-4.5-Air */
    {"{\"model_type\": \"minimax_m2\", \"hidden_size\": 3072, \"intermediate_size\": 1536, "
     "\"num_attention_heads\": 48, \"num_hidden_layers\": 62, \"num_key_value_heads\": 8, "
     "\"head_dim\": 128, \"num_local_experts\": 256, \"num_experts_per_tok\": 8, "
     "\"num_mtp_modules\": 3, \"attn_type_list\": [1, 1], \"qk_norm_type\": \"per_layer\", "
     "\"vocab_size\": 200064}",
     228.7e9, 0, 1e-4}, /* MiniMax-M2 */
    {"{\"model_type\": \"mimo\", \"hidden_size\": 4096, \"intermediate_size\": 11008, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 36, \"num_key_value_heads\": 8, "
     "\"head_dim\": 128, \"attention_bias\": true, \"num_nextn_predict_layers\": 1, "
     "\"vocab_size\": 151680}",
     /* MiMo-7B: 7,833,409,536 with its module, which is a layer, 2 h h and three norms */
     7833409536.0 - (177223680.0 + 2.0 * 4096 * 4096 + 3.0 * 4096), 0, 0},
    {"{\"model_type\": \"smollm3\", \"hidden_size\": 2048, \"intermediate_size\": 11008, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 36, \"vocab_size\": 128256, "
     "\"tie_word_embeddings\": true}",
     3075098624, 0, 0}, /* SmolLM3 3B */
    {"{\"model_type\": \"olmo\", \"hidden_size\": 4096, \"intermediate_size\": 11008, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"vocab_size\": 50304}",
     6888095744, 0, 4e-5}, /* OLMo 7B: its 65 norms have no weights */
    {"{\"model_type\": \"internlm2\", \"hidden_size\": 6144, \"intermediate_size\": 16384, "
     "\"num_attention_heads\": 48, \"num_hidden_layers\": 48, \"num_key_value_heads\": 8, "
     "\"vocab_size\": 92544, \"bias\": false}",
     19861149696, 0, 0}, /* InternLM2 20B */
    {"{\"model_type\": \"stablelm\", \"hidden_size\": 2560, \"intermediate_size\": 6912, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"vocab_size\": 50304, "
     "\"use_qkv_bias\": false}",
     2795443200, 0, 0}, /* StableLM 3B 4E1T */
    {"{\"model_type\": \"starcoder2\", \"hidden_size\": 6144, \"intermediate_size\": 24576, "
     "\"num_attention_heads\": 48, \"num_hidden_layers\": 40, \"num_key_value_heads\": 4, "
     "\"use_bias\": true, \"sliding_window\": 4096, \"tie_word_embeddings\": false, "
     "\"vocab_size\": 49152}",
     15.9577e9, 0, 2e-5}, /* StarCoder2 15B */
    {"{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144, \"intermediate_size\": 24576, "
     "\"num_attention_heads\": 64, \"num_hidden_layers\": 44, \"vocab_size\": 50432}",
     20554567680, 1, 0}, /* GPT-NeoX 20B */
    {"{\"model_type\": \"gptj\", \"n_embd\": 4096, \"n_layer\": 28, \"n_head\": 16, "
     "\"vocab_size\": 50400}",
     6050882784, 1, 1e-4}, /* GPT-J 6B: biases of the head, none of the attention */
    {"{\"model_type\": \"phi\", \"hidden_size\": 2560, \"intermediate_size\": 10240, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"vocab_size\": 51200}",
     2779683840, 1, 2e-5}, /* Phi-2: a bias of the head */
    {"{\"model_type\": \"opt\", \"hidden_size\": 2048, \"ffn_dim\": 8192, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 24, \"word_embed_proj_dim\": 2048, "
     "\"vocab_size\": 50272}",
     1315758080, 0, 4e-6}, /* OPT 1.3B: two positions more */
    {"{\"model_type\": \"bloom\", \"n_embed\": 14336, \"n_layer\": 70, "
     "\"num_attention_heads\": 112, \"vocab_size\": 250880}",
     176247271424, 0, 2e-7}, /* BLOOM: a norm behind the embedding */
    {"{\"model_type\": \"mpt\", \"d_model\": 4096, \"n_heads\": 32, \"n_layers\": 32, "
     "\"expansion_ratio\": 4, \"no_bias\": true, \"vocab_size\": 50432, "
     "\"attn_config\": {\"alibi\": true}}",
     6649286656, 0, 0}, /* MPT 7B */
    {"{\"model_type\": \"dbrx\", \"d_model\": 6144, \"n_heads\": 48, \"n_layers\": 40, "
     "\"vocab_size\": 100352, \"attn_config\": {\"kv_n_heads\": 8}, \"ffn_config\": "
     "{\"ffn_hidden_size\": 10752, \"moe_num_experts\": 16, \"moe_top_k\": 4}}",
     131596523520, 0, 0}, /* DBRX */
    {"{\"model_type\": \"chatglm\", \"hidden_size\": 4096, \"ffn_hidden_size\": 13696, "
     "\"num_layers\": 28, \"num_attention_heads\": 32, \"kv_channels\": 128, "
     "\"multi_query_attention\": true, \"multi_query_group_num\": 2, "
     "\"padded_vocab_size\": 65024, \"add_qkv_bias\": true, \"add_bias_linear\": false}",
     6243584000, 0, 0}, /* ChatGLM3 6B */
    /* Of these the totals are published to few digits, or with what the files list not. */
    {"{\"model_type\": \"qwen3_next\", \"hidden_size\": 2048, \"intermediate_size\": "
     "5120, " QWEN_LINEAR
     "\"num_hidden_layers\": 48, \"num_attention_heads\": 16, \"num_key_value_heads\": 2, "
     "\"linear_num_value_heads\": 32, \"num_experts\": 512, \"num_experts_per_tok\": 10, "
     "\"moe_intermediate_size\": 512, \"shared_expert_intermediate_size\": 512, "
     "\"full_attention_interval\": 4, \"mlp_only_layers\": [], \"vocab_size\": 151936}",
     81.325e9 - 1.650e9, 0, 1e-4}, /* Qwen3-Next 80B: less the module that predicts further */
    {"{\"model_type\": \"qwen3_5_text\", \"hidden_size\": 5120, \"intermediate_size\": "
     "17408, " QWEN_LINEAR
     "\"num_hidden_layers\": 64, \"num_attention_heads\": 24, \"num_key_value_heads\": 4, "
     "\"linear_num_value_heads\": 48, \"attn_output_gate\": true, \"vocab_size\": 248320, "
     "\"mtp_num_hidden_layers\": 1}",
     26.896e9, 0, 1e-4}, /* Qwen3.6 27B: 27 published */
    {"{\"model_type\": \"qwen3_5_moe_text\", \"hidden_size\": 4096, " QWEN_LINEAR
     "\"num_hidden_layers\": 4, \"num_attention_heads\": 32, \"num_key_value_heads\": 2, "
     "\"linear_num_value_heads\": 64, \"num_experts\": 512, \"num_experts_per_tok\": 10, "
     "\"moe_intermediate_size\": 1024, \"shared_expert_intermediate_size\": 1024, "
     "\"layer_types\": [\"linear_attention\", \"linear_attention\", \"linear_attention\", "
     "\"full_attention\"], \"vocab_size\": 248320}",
     2034237440.0 + (396.346e9 - 2034237440.0) / 15, 0, 1e-4}, /* a turn of Qwen3.5 397B */
    {"{\"model_type\": \"nemotron_h\", \"hidden_size\": 8192, \"intermediate_size\": 32768, "
     "\"num_hidden_layers\": 118, \"num_attention_heads\": 64, \"num_key_value_heads\": 8, "
     "\"attention_head_dim\": 128, \"mamba_num_heads\": 256, \"mamba_head_dim\": 64, "
     "\"n_groups\": 8, \"ssm_state_size\": 256, \"conv_kernel\": 4, \"use_conv_bias\": true, "
     "\"mlp_hidden_act\": \"relu2\", \"hybrid_override_pattern\": "
     "\"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-"
     "M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-\", \"vocab_size\": 131072}",
     56.324e9, 0, 1e-4}, /* Nemotron-H 56B: 56 published */
    {"{\"model_type\": \"nemotron_h\", \"hidden_size\": 2688, \"intermediate_size\": 1856, "
     "\"num_hidden_layers\": 52, \"num_attention_heads\": 32, \"num_key_value_heads\": 2, "
     "\"head_dim\": 128, \"mamba_num_heads\": 64, \"mamba_head_dim\": 64, \"n_groups\": 8, "
     "\"ssm_state_size\": 128, \"n_routed_experts\": 128, \"num_experts_per_tok\": 6, "
     "\"moe_intermediate_size\": 1856, \"moe_shared_expert_intermediate_size\": 3712, "
     "\"hybrid_override_pattern\": \"MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME\", "
     "\"vocab_size\": 131072}",
     31.6e9, 0, 9e-4}, /* Nemotron 3 Nano 30B-A3B */
    {"{\"model_type\": \"nemotron_h\", \"hidden_size\": 512, \"intermediate_size\": 1024, "
     "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"num_key_value_heads\": 2, "
     "\"head_dim\": 64, \"mamba_num_heads\": 16, \"mamba_head_dim\": 64, \"n_groups\": 8, "
     "\"ssm_state_size\": 128, \"layers_block_type\": [\"mamba\", \"mlp\", \"attention\", "
     "\"mlp\"], \"vocab_size\": 1000}",
     2 * 1000 * 512.0 + 512 + 512 * (2 * 1024 + 2 * 1024 + 16) + 5 * (1024 + 2048) + 3 * 16 + 1024 +
         1024 * 512 + 2 * 512 * 512 + 2 * 512 * 128 + 2 * 2 * 512 * 1024 + 4 * 512,
     0, 0}, /* blocks by name */
    {"{\"model_type\": \"kimi_linear\", \"hidden_size\": 2304, \"intermediate_size\": 9216, "
     "\"num_hidden_layers\": 27, \"num_attention_heads\": 32, \"kv_lora_rank\": 512, "
     "\"q_lora_rank\": null, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, "
     "\"v_head_dim\": 128, \"num_experts\": 256, \"num_experts_per_token\": 8, "
     "\"moe_intermediate_size\": 1024, \"num_shared_experts\": 1, \"first_k_dense_replace\": 1, "
     "\"mla_use_nope\": true, \"vocab_size\": 163840, \"linear_attn_config\": "
     "{\"full_attn_layers\": [4, 8, 12, 16, 20, 24, 27], \"head_dim\": 128, \"num_heads\": 32, "
     "\"short_conv_kernel_size\": 4}}",
     49.1e9, 0, 9e-4}, /* Kimi Linear 48B-A3B */
    {"{\"model_type\": \"minimax_text_01\", \"hidden_size\": 6144, \"intermediate_size\": 9216, "
     "\"num_hidden_layers\": 80, \"num_attention_heads\": 64, \"num_key_value_heads\": 8, "
     "\"head_dim\": 128, \"num_local_experts\": 32, \"num_experts_per_tok\": 2, "
     "\"attn_type_list\": [" TURN TURN TURN TURN TURN TURN TURN TURN TURN
     "0, 0, 0, 0, 0, 0, 0, 1], \"vocab_size\": 200064}",
     456.09e9, 0, 1e-4}, /* MiniMax-Text-01 */
    {"{\"model_type\": \"deepseek_v32\", " DEEPSEEK_V3
     "\"num_attention_heads\": 128, \"n_routed_experts\": 256, \"first_k_dense_replace\": 3, "
     "\"index_head_dim\": 128, \"index_n_heads\": 64, \"index_topk\": 2048, "
     "\"vocab_size\": 129280}",
     671.878e9, 2, 1e-6}, /* DeepSeek-V3.2, from the tensors of its files */
    {"{\"model_type\": \"glm_moe_dsa\", \"hidden_size\": 6144, \"intermediate_size\": 12288, "
     "\"moe_intermediate_size\": 2048, \"num_hidden_layers\": 78, \"num_attention_heads\": 64, "
     "\"n_routed_experts\": 256, \"n_shared_experts\": 1, \"num_experts_per_tok\": 8, "
     "\"first_k_dense_replace\": 3, \"kv_lora_rank\": 512, \"q_lora_rank\": 2048, "
     "\"qk_rope_head_dim\": 64, \"qk_nope_head_dim\": 192, \"v_head_dim\": 256, "
     "\"index_head_dim\": 128, \"index_n_heads\": 32, \"index_topk\": 2048, "
     "\"vocab_size\": 154880}",
     743.911e9, 2, 1e-6}, /* GLM-5, from the tensors of its files */
};

#endif
