/* simumax.c - the documents of SimuMax: the model, the training, and what makes no key. */
#include "scenarios/import/peers/simumax.h"

#include <inttypes.h>

#define HAS(option) launched_has(l, SIMUMAX_##option)
#define COUNT(option, usual) launched_count(l, SIMUMAX_##option, usual)
#define NEEDED(option, name) launched_needed(l, SIMUMAX_##option, name)
#define TRUTH(option, usual) launched_truth(l, SIMUMAX_##option, usual)
#define MODEL(option, ...) launched_key(l, LAUNCHED_MODEL, SIMUMAX_##option, __VA_ARGS__)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, SIMUMAX_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, SIMUMAX_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name) {name, NULL, LAUNCHED_VALUE},
#include "scenarios/import/peers/simumax_list.h"
#undef X
};
static const char own_rates[] = "collectives reach the share that is simulated of NCCL";
static const char by_shape[] = "products are simulated by their shapes";
/* The first that fits counts. */
static const struct launched_other others[] = {
    {"model.model_type", NULL},
    {"model.model_name", NULL},
    {"model.orig_vocab_size", NULL},
    {"model.group_linear_mode", "products of experts are simulated in groups"},
    {"model.moe_pad_expert_input_to_capacity", NULL},
    {"attn_recompute", NULL}, /* what selective recomputation takes, which is warned of */
    {"mla_rms_recompute", NULL},
    {"mlp_recompute", NULL},
    {"mlp_rms_recompute", NULL},
    {"recompute_variance", NULL},
    {"skip_ckpt_micro_batch_num", "all microbatches are computed again"},
    {"no_sync", NULL},
    {"use_accm_weight", NULL},
    {"dispatch_probs", "routing weights are applied where the profile has them"},
    {"cache_groupgemm_col_fp8_inputs", "inputs of experts are kept as the profile keeps them"},
    {"offload_groupgemm_col_inputs", "inputs of experts stay on the cards"},
    {"etp_net", NULL},
    {"edp_net", NULL},
    {"system.sys_name", NULL},
    {"system._notes", NULL},
    {"system.FC8", "links of GPUs without a switch are simulated as those of one"},
    {"system.accelerator.backend", NULL},
    {"system.accelerator.op.matmul.accurate_efficient_factor*", by_shape},
    {"system.accelerator.op.sdp_*", "attention is simulated by one rate, whatever its shape"},
    {"system.accelerator.op.*", by_shape},
    {"system.accelerator.bandwidth.default.latency_us",
     "kernels that move memory start as fast as others"},
    {"system.accelerator.bandwidth.*", "all kernels stream at one share of the memory's rate"},
    {"system.networks.low_intra_node.*", own_rates},
    {"system.networks.high_intra_node.*", own_rates},
    {"system.networks.inter_node.processor_usage", "traffic takes the profile's share of compute"},
    {"system.networks.inter_node.*", own_rates},
    {"system.networks.intra_node_pcie_*", own_rates},
};
static const struct launched_table table = {options, SIMUMAX_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

static void read_attention(struct launched *l, uint64_t heads)
{
    static const char *const types[] = {"mha", "gqa", "mla", NULL};
    const bool latent = launched_choice(l, SIMUMAX_ATTENTION, types, 0) == 2;
    MODEL(HEADS, "heads: %" PRIu64, heads);
    MODEL(KV_HEADS, "kv_heads: %" PRIu64, latent ? heads : COUNT(KV_HEADS, heads));
    if (!latent) {
        if (HAS(HEAD_SIZE))
            MODEL(HEAD_SIZE, "head_size: %" PRIu64, COUNT(HEAD_SIZE, 1));
        return;
    }
    MODEL(QK_HEAD, "head_size: %" PRIu64, NEEDED(QK_HEAD, "qk_head_dim"));
    MODEL(KV_RANK, "kv_rank: %" PRIu64, NEEDED(KV_RANK, "kv_lora_rank"));
    if (HAS(Q_RANK))
        MODEL(Q_RANK, "q_rank: %" PRIu64, COUNT(Q_RANK, 1));
    MODEL(POSITION_HEAD, "rope_head_size: %" PRIu64, NEEDED(POSITION_HEAD, "qk_pos_emb_head_dim"));
    MODEL(V_HEAD, "v_head_size: %" PRIu64, NEEDED(V_HEAD, "v_head_dim"));
}

static void read_experts(struct launched *l, uint64_t ffn)
{
    const uint64_t inner = COUNT(MOE_FFN, ffn), shared = COUNT(SHARED_FFN, inner);
    MODEL(EXPERTS, "experts: %" PRIu64, COUNT(EXPERTS, 1));
    MODEL(TOPK, "experts_per_token: %" PRIu64, NEEDED(TOPK, "topk"));
    MODEL(MOE_FFN, "moe_ffn_hidden: %" PRIu64, inner);
    if (HAS(DENSE_LAYERS) && launched_number(l, SIMUMAX_DENSE_LAYERS, 0.0) > 0.0)
        MODEL(DENSE_LAYERS, "dense_layers: %" PRIu64, COUNT(DENSE_LAYERS, 1));
    if (!HAS(SHARED_FFN) || l->broken)
        return;
    MODEL(SHARED_FFN, "shared_experts: %" PRIu64, (shared + inner - 1) / inner);
    if (shared % inner != 0)
        launched_warn(l, SIMUMAX_SHARED_FFN,
                      "shared experts have the width of the others, %" PRIu64, inner);
}

static void read_model(struct launched *l, uint64_t layers, uint64_t experts)
{
    const uint64_t heads = NEEDED(HEADS, "head_num"), ffn = NEEDED(FFN, "intermediate_size");
    MODEL(LAYERS, "layers: %" PRIu64, layers);
    MODEL(HIDDEN, "hidden: %" PRIu64, NEEDED(HIDDEN, "hidden_size"));
    read_attention(l, heads);
    MODEL(FFN, "ffn_hidden: %" PRIu64, ffn);
    MODEL(VOCABULARY, "vocabulary: %" PRIu64, NEEDED(VOCABULARY, "vocab_size"));
    MODEL(SWIGLU, "ffn: %s", TRUTH(SWIGLU, false) ? "swiglu" : "gelu");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "norm: rms");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "position: rope");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "tied_embeddings: false");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "biases: false");
    SOFTWARE(VOCABULARY_MULTIPLE, "vocabulary_multiple: %" PRIu64,
             TRUTH(VOCABULARY_PADDED, true) ? COUNT(VOCABULARY_MULTIPLE, 128) : 0);
    if (TRUTH(DROPOUT, false))
        launched_warn(l, SIMUMAX_DROPOUT, "no dropout is simulated, as SimuMax has none");
    if (experts > 1)
        read_experts(l, ffn);
}

static void read_training(struct launched *l, const struct launched_ranks *ranks)
{
    static const char *const types[] = {"bf16", "fp16", "fp32", NULL};
    const int type = launched_choice(l, SIMUMAX_DTYPE, types, 0);
    const uint64_t micro = NEEDED(MICROBATCH, "micro_batch_size");
    const uint64_t count = NEEDED(MICROBATCHES, "micro_batch_num");
    const double batch = (double)micro * (double)count * (double)ranks->dp;
    TRAINING(SEQUENCE, "sequence: %" PRIu64, NEEDED(SEQUENCE, "seq_len"));
    if (batch > 1e9)
        launched_bad(l, SIMUMAX_MICROBATCHES, "makes a batch of %.0f sequences", batch);
    TRAINING(MICROBATCHES, "global_batch: %.0f", batch);
    launched_key(l, LAUNCHED_LAYOUT, SIMUMAX_MICROBATCH, "microbatch: %" PRIu64, micro);
    if (TRUTH(FP8, false))
        TRAINING(FP8, "precision: fp8");
    else
        TRAINING(DTYPE, "precision: %s", types[type]);
    TRAINING(GRADIENTS_FP32, "gradient_bytes: %d", TRUTH(GRADIENTS_FP32, true) ? 4 : 2);
    if (TRUTH(REDUCE_BF16, false))
        SOFTWARE(REDUCE_BF16, "gradient_reduce_bytes: 2");
    TRAINING(MATH, "attention: %s", TRUTH(MATH, false) || !TRUTH(FLASH, true) ? "math" : "flash2");
}

/* What is fused, and what of the score matrix a kernel computes. */
static void read_kernels(struct launched *l)
{
    const double sparse = launched_number(l, SIMUMAX_SPARSE, 0.0);
    SOFTWARE(FUSED_GRADIENTS, "gradient_fusion: %s",
             TRUTH(FUSED_GRADIENTS, true) ? "true" : "false");
    SOFTWARE(SPARSE, "attention_full_square: %s", sparse < 0.25 ? "true" : "false");
    if (sparse != 0.0 && sparse != 0.5)
        launched_warn(l, SIMUMAX_SPARSE, "simulated as %s", sparse < 0.25 ? "0" : "0.5");
    if (!TRUTH(FUSED_NORM, true))
        launched_warn(l, SIMUMAX_FUSED_NORM, "norms are simulated as one kernel");
    if (!TRUTH(FUSED_SWIGLU, true))
        launched_warn(l, SIMUMAX_FUSED_SWIGLU, "activations are simulated as one kernel");
}

static struct simumax_run read_run(struct launched *l)
{
    struct simumax_run run = {.gpus = NEEDED(WORLD, "world_size"),
                              .layers = NEEDED(LAYERS, "layer_num"),
                              .experts = COUNT(EXPERTS, 1),
                              .ranks = {COUNT(TP, 1), COUNT(PP, 1), COUNT(CP, 1), 1}};
    const double least = (double)run.ranks.tp * (double)run.ranks.pp * (double)run.ranks.cp;
    if (least > (double)run.gpus || run.gpus % (uint64_t)least != 0)
        launched_bad(l, SIMUMAX_WORLD,
                     "%" PRIu64 " GPUs do not divide by tp %" PRIu64 " x pp %" PRIu64
                     " x cp %" PRIu64,
                     run.gpus, run.ranks.tp, run.ranks.pp, run.ranks.cp);
    else
        run.ranks.dp = run.gpus / (uint64_t)least;
    return run;
}

bool simumax_read(struct arena *arena, const struct peer_files *files, uint64_t gpus,
                  struct launched *l, struct error *error)
{
    if (!peer_take(arena, files, &table, l, error))
        return false;
    l->profile = "megatron";
    const struct simumax_run run = read_run(l);
    if (l->broken)
        return false;
    peer_gpus(l, SIMUMAX_WORLD, run.gpus, gpus);
    read_model(l, run.layers, run.experts);
    simumax_layout(l, &run);
    read_training(l, &run.ranks);
    read_kernels(l);
    if (files->system != NULL && !l->broken)
        simumax_system(l, &run, files->card);
    return !l->broken;
}
