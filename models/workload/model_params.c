/* model_params.c - how the fields of a model's shape are spelt, checked and explained. Zeros that
 * mean "the usual" are replaced by transformer_complete. */
#include "models/workload/transformer.h"

#define AT(field) offsetof(struct model_shape, field)
/* Wider than any published model by orders of magnitude; keeps every product exact in a double. */
#define WIDE 10000000
#define DEEP 100000
/* Those that configuration_check bounds, as it does. */
#define LAYERS 4096
#define HEADS 65536

const char *const ffn_names[] = {"gelu", "swiglu", "squared_relu", "geglu", NULL};
const char *const attention_bias_names[] = {"none", "qkv", "all", NULL};
const char *const window_names[] = {"sliding", "chunked", NULL};
const char *const norm_names[] = {"layernorm", "rms", NULL};
const char *const position_names[] = {"learned", "rope", "alibi", "none", NULL};

const struct param model_params[] = {
    {"layers", PARAM_COUNT, AT(layers), 1, LAYERS, NULL, NULL, "Transformer layers."},
    {"hidden", PARAM_COUNT, AT(hidden), 1, WIDE, NULL, NULL, "Width of the residual stream."},
    {"heads", PARAM_COUNT, AT(attention.heads), 1, HEADS, NULL, NULL, "Attention (query) heads."},
    {"kv_heads", PARAM_COUNT, AT(attention.kv_heads), 0, HEADS, "0", NULL,
     "Key and value heads, fewer in grouped-query attention; 0: as many as heads."},
    {"head_size", PARAM_COUNT, AT(attention.head_size), 0, HEADS, "0", NULL,
     "Width of a head; 0: hidden / heads."},
    {"ffn_hidden", PARAM_COUNT, AT(ffn_hidden), 0, WIDE, "0", NULL,
     "Inner width of the feed-forward block; 0: four times hidden."},
    {"vocabulary", PARAM_COUNT, AT(vocabulary), 1, 100000000, NULL, NULL,
     "Entries of the vocabulary, without padding."},
    {"positions_max", PARAM_COUNT, AT(positions_max), 0, 100000000, "0", NULL,
     "Positions that the model was made for: the rows of a learned table (0: the sequence "
     "length), otherwise the longest sequence that it was trained on (0: not known)."},
    {"ffn", PARAM_CHOICE, AT(ffn), 0, 0, "swiglu", ffn_names,
     "Feed-forward block; swiglu and geglu have three matrices, the others two."},
    {"norm", PARAM_CHOICE, AT(norm), 0, 0, "rms", norm_names,
     "Normalisation; layernorm has a bias where linear layers have."},
    {"norms", PARAM_COUNT, AT(norm.count), 1, 8, "2", NULL,
     "Norms of a layer; their time and memory are divided between its two blocks."},
    {"norm_biases", PARAM_FLAG, AT(norm.biases), 0, 0, "false", NULL,
     "A layernorm has a bias although linear layers have none."},
    {"qk_norms", PARAM_FLAG, AT(norm.qk_norms), 0, 0, "false", NULL,
     "Queries and keys are normalised head by head, each with one scale for all heads."},
    {"qk_norms_whole", PARAM_FLAG, AT(norm.qk_norms_whole), 0, 0, "false", NULL,
     "Queries and keys are normalised over all heads at once, with a scale for each element (OLMo "
     "2)."},
    {"position", PARAM_CHOICE, AT(position), 0, 0, "rope", position_names,
     "Position encoding: a learned table, rotation of q and k, a bias on the scores, or none."},
    {"tied_embeddings", PARAM_FLAG, AT(tied_embeddings), 0, 0, "false", NULL,
     "The head shares the matrix of the embedding."},
    {"biases", PARAM_FLAG, AT(biases), 0, 0, "false", NULL, "Linear layers have biases."},
    {"attention_biases", PARAM_CHOICE, AT(attention.biases), 0, 0, "none", attention_bias_names,
     "Biases of attention when other linear layers have none: of q, k and v, or of the output "
     "too."},
    {"dropout", PARAM_RATIO, AT(dropout_ratio), 0, 0.99, "0", NULL,
     "Dropout after attention, feed-forward and embedding; 0: no dropout, no masks."},
    {"experts", PARAM_COUNT, AT(moe.experts), 0, DEEP, "0", NULL,
     "Experts of a mixture-of-experts layer; 0: a dense model."},
    {"experts_per_token", PARAM_COUNT, AT(moe.experts_per_token), 0, DEEP, "0", NULL,
     "Routed experts that process each token."},
    {"moe_ffn_hidden", PARAM_COUNT, AT(moe.ffn_hidden), 0, WIDE, "0", NULL,
     "Inner width of one expert."},
    {"moe_latent", PARAM_COUNT, AT(moe.latent), 0, WIDE, "0", NULL,
     "Width in which routed experts work: a token is projected to it before it is sent to them, "
     "and what they return is projected back (LatentMoE); 0: the tokens' own."},
    {"shared_experts", PARAM_COUNT, AT(moe.shared_experts), 0, DEEP, "0", NULL,
     "Shared experts that process every token, in addition to the routed ones."},
    {"shared_expert_gate", PARAM_FLAG, AT(moe.shared_gate), 0, 0, "false", NULL,
     "The output of the shared experts is weighed for each token, by a sigmoid of a product with "
     "its input (Qwen2-MoE, Qwen3-Next, Qwen3.5)."},
    {"dense_layers", PARAM_COUNT, AT(moe.dense_layers), 0, DEEP, "0", NULL,
     "Leading layers with an ordinary feed-forward block."},
    {"expert_interval", PARAM_COUNT, AT(moe.interval), 1, DEEP, "1", NULL,
     "After the dense layers, every Nth layer has experts."},
    {"expert_groups", PARAM_COUNT, AT(moe.groups), 0, 1000, "0", NULL,
     "Groups of experts; a token first chooses groups_per_token of them; 0: any experts may be "
     "chosen."},
    {"groups_per_token", PARAM_COUNT, AT(moe.groups_per_token), 0, 1000, "0", NULL,
     "Number of groups from which the experts of one token are chosen."},
    {"router_bias", PARAM_FLAG, AT(moe.router_bias), 0, 0, "false", NULL,
     "The router has a bias for each expert, learned or to balance their loads."},
    {"clamped_activation", PARAM_FLAG, AT(moe.clamped), 0, 0, "false", NULL,
     "What enters the activation of an expert is clamped to a range (GPT-OSS: swiglu_limit)."},
    {"window", PARAM_COUNT, AT(windows.length), 0, 100000000, "0", NULL,
     "Window of attention: most positions that a query attends to; 0: the whole sequence."},
    {"window_kind", PARAM_CHOICE, AT(windows.kind), 0, 0, "sliding", window_names,
     "Kind of window: the last positions (sliding), or earlier positions within the same chunk of "
     "that length (chunked)."},
    {"full_interval", PARAM_COUNT, AT(windows.full_interval), 0, DEEP, "0", NULL,
     "Every Nth layer attends to the whole sequence despite the window; 0: none."},
    {"sinks", PARAM_FLAG, AT(attention.sinks), 0, 0, "false", NULL,
     "Each head has a learned score in addition to those of its keys (attention sink)."},
    {"attention_gate", PARAM_FLAG, AT(attention.gate), 0, 0, "false", NULL,
     "The output of attention passes a gate as wide as the queries (Qwen3-Next)."},
    {"pattern", PARAM_TEXT, AT(pattern.text), 0, 0, "", NULL,
     "Order of layers where not all attend, repeated: kinds of `list layers` or attention, each "
     "with "
     "a feed-forward block, as in 3*gdn,attention; or letters, each a layer of one block alone, as "
     "in MEM*-E: M mamba2, G gdn, * attention, - dense, E experts."},
    {"linear_heads", PARAM_COUNT, AT(pattern.sizes.heads), 0, HEADS, "0", NULL,
     "Recurrent layers of the pattern: heads (of values)."},
    {"linear_head_size", PARAM_COUNT, AT(pattern.sizes.head_size), 0, HEADS, "0", NULL,
     "Recurrent layers: width of a head."},
    {"linear_key_heads", PARAM_COUNT, AT(pattern.sizes.key_heads), 0, HEADS, "0", NULL,
     "Recurrent layers: heads of keys, or groups of mamba2; 0: as linear_heads."},
    {"linear_key_size", PARAM_COUNT, AT(pattern.sizes.key_size), 0, HEADS, "0", NULL,
     "Recurrent layers: width of a key, or the state size of mamba2; 0: as linear_head_size."},
    {"linear_conv", PARAM_COUNT, AT(pattern.sizes.conv), 0, 64, "4", NULL,
     "Recurrent layers: taps of their convolution."},
    {"linear_chunk", PARAM_COUNT, AT(pattern.sizes.chunk), 0, DEEP, "0", NULL,
     "Recurrent layers: positions that a kernel of mamba2 takes at once; 0: 256."},
    {"linear_full_gate", PARAM_FLAG, AT(pattern.sizes.full_gate), 0, 0, "false", NULL,
     "Recurrent layers: the output gate of kda is a full matrix (Kimi K3)."},
    {"q_rank", PARAM_COUNT, AT(latent.q_rank), 0, WIDE, "0", NULL,
     "Latent attention: rank of the query projection; 0: a full matrix."},
    {"kv_rank", PARAM_COUNT, AT(latent.kv_rank), 0, WIDE, "0", NULL,
     "Latent attention: rank of the key-value projection; 0: ordinary attention."},
    {"rope_head_size", PARAM_COUNT, AT(latent.rope_head_size), 0, DEEP, "0", NULL,
     "Latent attention: rotated part of a query or key head."},
    {"v_head_size", PARAM_COUNT, AT(latent.v_head_size), 0, DEEP, "0", NULL,
     "Latent attention: width of a value head."},
    {"indexer_heads", PARAM_COUNT, AT(latent.indexer.heads), 0, HEADS, "0", NULL,
     "Sparse attention: heads of the indexer that chooses each query's keys (DeepSeek-V3.2); 0: "
     "attention to all keys, as these models are pre-trained before the indexer is added."},
    {"indexer_size", PARAM_COUNT, AT(latent.indexer.size), 0, DEEP, "0", NULL,
     "Sparse attention: width of an indexer head."},
    {"sparse_keys", PARAM_COUNT, AT(latent.indexer.keys), 0, WIDE, "0", NULL,
     "Sparse attention: keys that are chosen for a query."},
    {"indexer_interval", PARAM_COUNT, AT(latent.indexer.interval), 1, DEEP, "1", NULL,
     "Sparse attention: one layer of N has an indexer, the others take its choice (GLM-5.2: 4)."},
    {"indexer_first", PARAM_COUNT, AT(latent.indexer.first), 0, DEEP, "0", NULL,
     "Sparse attention: leading layers that each have an indexer; counting of indexer_interval "
     "begins behind them (GLM-5.2: 3)."},
    {"mtp_layers", PARAM_COUNT, AT(mtp_layers), 0, 8, "0", NULL,
     "Multi-token prediction modules (DeepSeek-V3): each predicts one token further ahead with one "
     "more layer and the head again; 0: none."},
    {"nominal_parameters", PARAM_RATIO, AT(nominal_parameters), 0, 1e16, "0", NULL,
     "Parameter count in the model's name, for the rule of thumb; 0: the exact count."},
    {"facts", PARAM_TEXT, AT(usual.facts), 0, 0, "", NULL,
     "What the trained function has and no time depends on, as key=value with blanks between, "
     "spelt "
     "as in a config.json: partial_rotary_factor=0.5 scoring_func=sigmoid. A launch script says "
     "each or is refused."},
    {"usual_precision", PARAM_TEXT, AT(usual.precision), 0, 0, "", NULL,
     "Number format in which its makers trained it: taken where training.precision is not given, "
     "on "
     "cards that have it."},
    {"usual_dispatch", PARAM_TEXT, AT(usual.dispatch), 0, 0, "", NULL,
     "Dispatch to experts that they ran: taken where layout.dispatch is not given and the layout "
     "can."},
    {"usual_dispatch_8bit", PARAM_FLAG, AT(usual.dispatch_8bit), 0, 0, "false", NULL,
     "With it in 8-bit precision: their layout.dispatch_8bit."},
    {"usual_schedule", PARAM_TEXT, AT(usual.schedule), 0, 0, "", NULL,
     "Order of passes that they ran: taken where layout.schedule is not given and a pipeline can."},
    {"usual_recompute", PARAM_CHOICE, AT(usual.recompute), 0, 0, "none", recompute_names,
     "What they recomputed: where no framework is named a search tries it beside its own."},
};
const unsigned model_param_count = sizeof model_params / sizeof model_params[0];
