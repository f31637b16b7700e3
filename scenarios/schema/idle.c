/* idle.c - keys that a scenario states and that mean nothing in it: one table, a row for the keys
 * of a section that need the same circumstance (circumstance.h). Who states such a key has
 * forgotten its partner, or believes in an effect that is not there; the step is simulated all the
 * same, so it is a warning, one a key: of the first of its rows that lacks its circumstance.
 *
 * A key is stated by the scenario's file or by --set; what a preset, the catalogue or a config.json
 * says of itself is no mistake of the user. Its default states nothing, but for keys that are
 * stated to turn something on (`always`). That the table is complete is a law:
 * tests/analysis/record/numbers/test_idle_keys.c. */
#include "scenarios/schema/idle.h"

#include <stdio.h>
#include <string.h>

#include "scenarios/language/quantity.h"
#include "scenarios/schema/circumstance.h"
#include "sim/check.h"

#define RATES(kernel, mask)                                                                        \
    "attention_" kernel "_" mask "_forward_rate attention_" kernel "_" mask                        \
    "_forward_half attention_" kernel "_" mask "_backward_rate attention_" kernel "_" mask         \
    "_backward_half "
#define ATTENTION(kernel)                                                                          \
    RATES(kernel, "causal")                                                                        \
    RATES(kernel, "full") "attention_" kernel "_head64 attention_" kernel "_head256"

static const struct idle_row {
    const char *section, *keys; /* names apart by blanks */
    enum need needs;
    const char *does; /* "it ..." */
    bool always;      /* its default is stated for an effect too */
} rows[] = {
    {"model", "ffn_hidden", NEED_DENSE_LAYERS, "is the width of layers without experts", false},
    {"model", "norm_biases", NEED_LAYERNORM, "gives biases to a layernorm", false},
    {"model", "experts_per_token", NEED_EXPERTS, "counts the experts that a token visits", false},
    {"model", "moe_ffn_hidden", NEED_EXPERTS, "is the width of an expert", false},
    {"model", "moe_latent", NEED_EXPERTS, "is the width in which experts work", false},
    {"model", "shared_experts", NEED_EXPERTS, "adds experts to those of a layer", false},
    {"model", "shared_expert_gate", NEED_SHARED_EXPERTS, "weighs what shared experts make", false},
    {"model", "dense_layers", NEED_EXPERTS, "counts layers before those with experts", false},
    {"model", "expert_interval", NEED_EXPERTS, "says which layers have experts", false},
    {"model", "expert_groups", NEED_EXPERTS, "divides the experts of a layer", false},
    {"model", "groups_per_token", NEED_EXPERTS, "limits the experts that a token may visit", false},
    {"model", "groups_per_token", NEED_EXPERT_GROUPS,
     "counts those of the groups that a token may visit", false},
    {"model", "router_bias", NEED_EXPERTS, "gives a bias to the router of experts", false},
    {"model", "clamped_activation", NEED_EXPERTS, "clamps the activations of experts", false},
    {"model", "window_kind", NEED_WINDOW, "says which positions a window holds", false},
    {"model", "full_interval", NEED_WINDOW, "says which layers attend without the window", false},
    {"model",
     "linear_heads linear_head_size linear_key_heads linear_key_size linear_conv linear_chunk",
     NEED_RECURRENT, "is a size of recurrent layers", false},
    {"model", "linear_conv", NEED_CONVOLUTION, "counts the taps of a convolution", false},
    {"model", "linear_chunk", NEED_MAMBA2, "is the chunk of the kernels of mamba2", false},
    {"model", "linear_full_gate", NEED_RECURRENT, "is a matrix of recurrent layers", false},
    {"model", "linear_full_gate", NEED_KDA, "is a matrix of kda", false},
    {"model", "indexer_size", NEED_INDEXER, "is a size of sparse attention", false},
    {"model", "sparse_keys", NEED_INDEXER, "counts the keys that sparse attention chooses", false},
    {"model", "indexer_interval indexer_first", NEED_INDEXER, "says which layers have an indexer",
     false},
    {"model", "indexer_first", NEED_INDEXER_INTERVAL, "counts layers before those of an interval",
     false},
    {"model", "q_rank", NEED_LATENT, "is a rank of latent attention", false},
    {"model", "rope_head_size", NEED_LATENT, "is a part of the heads of latent attention", false},
    {"model", "v_head_size", NEED_LATENT, "is a width of latent attention", false},

    {"training", "adapter_rank", NEED_ADAPTERS,
     "is the rank of adapters, and all weights are trained", true},
    {"training", "adapter_targets", NEED_ADAPTERS, "says which layers have adapters", true},

    {"training", "attention", NEED_ALL_KEYS, "is the kernel of attention to all keys", false},

    {"layout", "etp", NEED_EXPERTS, "splits experts", false},
    {"layout", "expert_imbalance", NEED_EXPERTS, "loads the ranks of experts unevenly", false},
    {"layout", "expert_capacity", NEED_EXPERTS, "bounds the tokens of an expert", false},
    {"layout", "dispatch", NEED_EXPERTS, "brings tokens to their experts", false},
    {"layout", "dispatch_8bit", NEED_EXPERTS, "brings tokens to their experts in 8 bits", false},
    {"layout", "dispatch dispatch_8bit", NEED_EXPERT_RANKS,
     "brings tokens to experts of other ranks", false},
    {"layout", "cp_method", NEED_CONTEXT, "exchanges keys and values of context ranks", false},
    {"layout", "cp_balance", NEED_CONTEXT, "divides a sequence over context ranks", false},
    {"layout", "cp_balance", NEED_KEYS_MOVED, "says which positions a context rank attends from",
     false},
    {"layout", "cp_balance", NEED_CAUSAL, "evens out the work under a causal mask", false},
    {"layout", "schedule", NEED_STAGES_INTERLEAVED,
     "interleaves stages of a pipeline, and is 1f1b without them", false},
    {"layout", "ends_count", NEED_PIPELINE, "spreads layers over the stages of a pipeline", false},
    {"layout", "first_stage_layers", NEED_PIPELINE, "counts the layers of the first stage", false},
    {"layout", "last_stage_layers", NEED_PIPELINE, "counts the layers of the last stage", false},
    {"layout", "shard_group", NEED_HYBRID, "groups the shards of hsdp", false},
    {"layout", "fsdp_unit_layers", NEED_UNITS, "counts the layers of a unit of fsdp", false},
    {"layout", "optimizer_offload_to", NEED_OPTIMIZER_OFFLOAD,
     "says where the offloaded share is kept, and nothing is offloaded", true},
    {"layout", "activation_offload_to", NEED_ACTIVATION_OFFLOAD,
     "says where the offloaded share is kept, and nothing is offloaded", true},

    {"software", "math_forward_bytes math_backward_bytes math_mask_bytes", NEED_MATH_ATTENTION,
     "is traffic of unfused attention", false},
    {"software", "math_mask_bytes attention_full_square cp_uneven", NEED_CAUSAL,
     "is about a causal mask", false},
    {"software", "attention_full_square", NEED_FUSED_ATTENTION, "is about fused attention", false},
    {"software", "attention_full_square repeats_keys", NEED_ALL_KEYS,
     "is about attention to all keys", false},
    {"software", "separate_projections", NEED_PROJECTIONS,
     "divides GEMMs of queries, keys and values, and of gate and up", false},
    {"software", "input_gradient_bytes", NEED_APART, "sums the gradients of GEMMs with one input",
     false},
    {"software", "gradient_fusion", NEED_KEPT_GRADIENTS, "adds to gradients that are kept whole",
     false},
    {"software", "gradient_fusion", NEED_ALL_TRAINED, "adds to the gradients of weights", false},
    {"software", "gradient_fusion", NEED_SUMS, "adds to the gradients of earlier microbatches",
     false},
    {"software", "recompute_stops_early", NEED_FULL_RECOMPUTE, "is about recomputed layers", false},
    {"software", "recompute_keeps_last", NEED_OPERATOR_RECOMPUTE,
     "is about recomputation per operator", false},
    {"software", "scan_time cp_mixers", NEED_RECURRENT, "is about recurrent layers", false},
    {"software", "sparse_time", NEED_INDEXER, "is about sparse attention", false},

    {"software",
     "router_fusion fused_grouped_mlp moe_paged_stash expert_padding_copies expert_bias_fusion "
     "shared_expert_overlap",
     NEED_EXPERTS, "is about experts", false},
    {"software", "shared_expert_overlap", NEED_SHARED_EXPERTS, "overlaps shared experts", false},
    {"software", "shared_expert_overlap", NEED_EXPERT_RANKS,
     "overlaps with exchanges of expert ranks", false},
    {"software", "moe_paged_stash", NEED_EXPERT_ROOM, "keeps less than room for rows that came not",
     false},
    {"software", "expert_bias_fusion", NEED_EXPERT_EXTRAS, "applies biases and clamps of experts",
     false},
    {"software", "cuda_graphs", NEED_MODULES, "captures modules of a layer", false},
    {"software", "fp8_recipe fp8_split_backward", NEED_EIGHT_BITS, "is about 8-bit GEMMs", false},
    {"software", "fp8_split_backward", NEED_ROUGH_SUMS, "says which GEMMs add up in fp32", false},
    {"software", "states_as_weights usual_gradient_bytes", NEED_HALVES,
     "is about weights narrower than fp32", false},
    {"software",
     "fp8_delayed_whole fp8_norm_fused fp8_gathers fp8_casts_again "
     "fp8_weights_each fp8_attention fp8_activation_cache fp8_attention_cache fused_grouped_mlp "
     "expert_padding_copies",
     NEED_NARROW, "is about low-precision linear layers", false},
    {"software", "fp8_delayed_whole", NEED_WIDE_LAYERS, "is about layers that stay in 16 bits",
     false},
    {"software", "fp8_norm_fused", NEED_NORM_WRITES, "lets a norm write 8-bit output", false},
    {"software", "fp8_attention_cache", NEED_FUSED_ATTENTION,
     "keeps the output of fused attention once", false},

    {"software",
     "launch_tp_growth tp_pipelines tp_scatter_splits tp_scatter_sms tp_bulk_sms "
     "backward_tp_overlap "
     "backward_regather tp_exposed_host record_streams fp8_gathers p2p_scatter",
     NEED_TENSOR, "is about tensor-parallel ranks", false},
    {"software",
     "tp_pipelines tp_scatter_splits tp_scatter_sms tp_bulk_sms backward_regather fp8_gathers "
     "record_streams",
     NEED_SEQUENCE, "is about all-gathers and reduce-scatters of tensor ranks", false},
    {"software", "tp_scatter_splits tp_scatter_sms tp_bulk_sms", NEED_TENSOR_PIPELINES,
     "is about GEMMs whose result is scattered while they run", false},
    {"software", "tp_overlap_cost", NEED_OVERLAP, "is time lost by overlap", false},
    {"software",
     "cp_uneven cp_mixers cp_merge_forward_bytes cp_merge_backward_bytes cp_gradient_bytes",
     NEED_CONTEXT, "is about context-parallel ranks", false},
    {"software", "cp_uneven cp_merge_forward_bytes cp_merge_backward_bytes cp_gradient_bytes",
     NEED_KEYS_MOVED, "is about keys of other context ranks", false},
    {"software", "cp_uneven", NEED_SOFTWARE_BALANCE, "says what cp_balance: auto is", false},

    {"software",
     "overlap_gradients overlap_parameters bucket gradient_reduce_bytes dp_copy_bandwidth "
     "partition_copy interference gather_parts fsdp_prefetch live_parameters fsdp_reshard "
     "fsdp_buffers weights_are_master",
     NEED_REPLICAS, "is about data-parallel ranks", false},
    {"software", "overlap_parameters", NEED_GATHER_AFTER_UPDATE,
     "overlaps the all-gather that follows the update", false},
    {"software", "gradient_copy gradients_after_pass", NEED_KEPT_GRADIENTS,
     "is about gradients that are kept whole", false},
    {"software", "partition_copy", NEED_PARTS, "copies parts of scattered and gathered buffers",
     false},
    {"software", "gather_parts fsdp_prefetch live_parameters fsdp_buffers weights_are_master",
     NEED_GATHERED_UNITS, "is about weights that are gathered unit by unit", false},
    {"software", "fsdp_reshard", NEED_UNITS, "frees units of fsdp", false},
    {"software", "fsdp_reshard", NEED_UNITS_AGAIN, "gathers units again in each microbatch", false},

    {"cluster.gpu", "peak_fp32", NEED_FP32, "is the rate of products in fp32", false},
    {"cluster.gpu", "peak_tf32", NEED_TF32, "is the rate of products in tf32", false},
    {"cluster.gpu", "peak_bf16", NEED_BF16, "is the rate of products in bf16", false},
    {"cluster.gpu", "peak_fp16", NEED_FP16, "is the rate of products in fp16", false},
    {"cluster.gpu", "peak_fp8", NEED_FP8, "is the rate of products in fp8", false},
    {"cluster.gpu", "peak_fp4 gemm_fp4_cost", NEED_FP4, "is about products in four bits", false},
    {"cluster.gpu", "gemm_split_cost", NEED_NARROW, "is about products of few bits", false},
    {"cluster.gpu", "gemm_block_cost", NEED_BLOCKS, "is about scales for blocks", false},
    {"cluster.gpu", "block_scaling", NEED_SCALES, "says which scales are taken in 8 bits", false},
    {"cluster.gpu", "transposed_copies", NEED_PLAIN_SCALES, "is about 8-bit copies", false},
    {"cluster.gpu", "persistent_products", NEED_TENSORS_BESIDE, "is about both at once", false},
    {"cluster.gpu", ATTENTION("flash1"), NEED_FLASH1, "is about attention by flash1", false},
    {"cluster.gpu", ATTENTION("flash2"), NEED_FLASH2, "is about attention by flash2", false},
    {"cluster.gpu", ATTENTION("flash3"), NEED_FLASH3, "is about attention by flash3", false},
    {"cluster.gpu", ATTENTION("cudnn"), NEED_CUDNN, "is about attention by cudnn", false},
    {"cluster.gpu",
     RATES("flash1", "causal") RATES("flash2", "causal") RATES("flash3", "causal")
         RATES("cudnn", "causal"),
     NEED_MASKED, "is about a causal mask", false},
    {"cluster.gpu",
     RATES("flash1", "full") RATES("flash2", "full") RATES("flash3", "full") RATES("cudnn", "full"),
     NEED_UNMASKED, "is about attention without a mask", false},
    {"cluster.gpu",
     "attention_flash1_head64 attention_flash2_head64 attention_flash3_head64 "
     "attention_cudnn_head64",
     NEED_SMALL_HEADS, "is about heads below 128", false},
    {"cluster.gpu",
     "attention_flash1_head256 attention_flash2_head256 attention_flash3_head256 "
     "attention_cudnn_head256",
     NEED_LARGE_HEADS, "is about heads above 128", false},

    {"cluster.gpu", "power", NEED_REACHED_CAP, "limits what the card draws", false},

    {"cluster.node", "host_dram_bandwidth host_dram_efficiency", NEED_OFFLOAD,
     "is about what is kept in CPU memory", false},
    {"cluster.node", "nvme_read_bandwidth nvme_write_bandwidth", NEED_DRIVES,
     "is a rate of the drives", false},
    {"cluster.node",
     "nvlink_bandwidth nvlink_latency nvlink_step nvls nvls_efficiency nvls_channels "
     "exchange_efficiency",
     NEED_NVLINK, "is about NVLink", false},
    {"cluster.node", "exchange_efficiency", NEED_EXCHANGES, "is about all-to-alls in a node",
     false},
    {"cluster.node", "host_bandwidth", NEED_PCIE_SWITCHES, "joins PCIe switches", false},

    {"cluster.fabric", "routing flows oversubscription core_oversubscription spines ecmp",
     NEED_TIERS, "is about paths between switches", false},
    {"cluster.fabric", "routing flows", NEED_CABLES, "is about parallel cables", false},
    {"cluster.fabric", "announced_error latency bulk_latency switch_latency port_power", NEED_NODES,
     "is about messages between nodes", false},
    {"cluster.fabric", "flows", NEED_HASHED, "counts the flows that are hashed", false},

    {"software", "pxn", NEED_FAR_NICS, "says how a GPU reaches the NIC of another", false},

    {"software", "p2p_blocking p2p_blocking_interleaved p2p_sync p2p_host_wait p2p_scatter split",
     NEED_PIPELINE, "is about stages of a pipeline", false},
    {"software", "p2p_blocking p2p_blocking_interleaved p2p_host_wait", NEED_WHOLE_BACKWARD,
     "is about 1f1b, gpipe and interleaved", false},
    {"software", "p2p_blocking p2p_host_wait", NEED_ONE_CHUNK, "is about 1f1b and gpipe", false},
    {"software", "p2p_blocking_interleaved", NEED_CHUNKS, "is about interleaved chunks", false},
    {"software", "p2p_scatter", NEED_WHOLE_MESSAGES, "divides messages that are whole", false},
};

enum {
    KEY_BYTES = 64
};

/* The first key of a list, "section.name"; returns what is behind it, NULL: the list is empty. */
static const char *next_key(const struct idle_row *row, const char *keys, char out[KEY_BYTES])
{
    keys += strspn(keys, " ");
    const int length = (int)strcspn(keys, " ");
    const int written = snprintf(out, KEY_BYTES, "%s.%.*s", row->section, length, keys);
    CHECK(written < KEY_BYTES);
    return length > 0 ? keys + length : NULL;
}

static bool has_key(const struct idle_row *row, const char *key)
{
    char each[KEY_BYTES];
    bool found = false;
    const char *rest = next_key(row, row->keys, each);
    for (; rest != NULL && !found; rest = next_key(row, rest, each))
        found = strcmp(each, key) == 0;
    return found;
}

/* The word that the scenario gives to the key itself; NULL: none. */
static const struct value *stated(const struct value *root, const char *key)
{
    const struct value *at = value_deepest(root, key);
    const bool is_key = at->key != NULL && strcmp(at->key, strrchr(key, '.') + 1) == 0;
    return is_key && at->kind == VALUE_WORD ? at : NULL;
}

/* The key's row; NULL: it is an option of a kind (of a fabric), whose table the kind has. */
static const struct param *param_of(const char *section, const char *name)
{
    const struct schema_section *of = schema_find(section);
    const struct params tables[] = {of->keys, schema_table(of)};
    for (unsigned t = 0; t < 2; t++)
        for (unsigned i = 0; i < tables[t].count; i++)
            if (strcmp(tables[t].rows[i].name, name) == 0)
                return &tables[t].rows[i];
    return NULL;
}

/* Does the word say what holds without it? */
static bool is_default(const struct value *value, const struct param *param)
{
    struct quantity given, usual;
    char why[QUANTITY_TEXT_MAX];
    if (param == NULL || param->fallback == NULL)
        return false;
    if (strcmp(value->text, param->fallback) == 0)
        return true;
    return param->type != PARAM_CHOICE && param->type != PARAM_TEXT &&
           quantity_read(param->type, value->text, "", &given, why) &&
           quantity_read(param->type, param->fallback, "", &usual, why) &&
           given.number == usual.number;
}

static bool lacks(const struct idle_row *row, const struct configuration *c, bool layout_open)
{
    return !(layout_open && circumstances[row->needs].of_layout) &&
           !circumstances[row->needs].holds(c);
}

/* Has a row before this one spoken of the key? */
static bool is_said(const struct idle_row *row, const char *key, const struct configuration *c,
                    bool layout_open)
{
    for (const struct idle_row *before = rows; before < row; before++)
        if (has_key(before, key) && lacks(before, c, layout_open))
            return true;
    return false;
}

static void warn_of(const struct idle_row *row, const char *key, const struct value *value,
                    const struct configuration *c, struct problems *problems)
{
    const struct circumstance *needs = &circumstances[row->needs];
    const char *name = needs->name != NULL ? needs->name(c) : "";
    problems_idle(problems, value->key_mark, key, "%s%s%s: it %s", needs->lacks, *name ? " " : "",
                  name, row->does);
}

/* A card without a name of the catalogue, a node or a network that is given by its kind is
 * described whole, where it stands; what is said beside a name, of the usual node, or by --set, is
 * there for its effect. */
static bool describes(const struct value *root, const struct idle_row *row,
                      const struct value *value)
{
    char name[KEY_BYTES], kind[KEY_BYTES];
    if (strncmp(row->section, "cluster.", strlen("cluster.")) != 0)
        return false;
    snprintf(name, sizeof name, "%s.name", row->section);
    snprintf(kind, sizeof kind, "%s.kind", row->section);
    const bool card = strcmp(row->section, "cluster.gpu") == 0;
    return stated(root, name) == NULL && (card || stated(root, kind) != NULL) &&
           value_deepest(root, row->section)->key_mark.source == value->key_mark.source;
}

void idle_warn(const struct value *root, const struct configuration *c, bool layout_open,
               struct problems *problems)
{
    for (const struct idle_row *row = rows; row < rows + sizeof rows / sizeof rows[0]; row++) {
        char key[KEY_BYTES];
        if (!lacks(row, c, layout_open))
            continue;
        const char *rest = next_key(row, row->keys, key);
        for (; rest != NULL; rest = next_key(row, rest, key)) {
            const struct value *value = stated(root, key);
            if (value != NULL && !describes(root, row, value) &&
                !is_said(row, key, c, layout_open) &&
                (row->always || !is_default(value, param_of(row->section, value->key))))
                warn_of(row, key, value, c, problems);
        }
    }
}
