/* nanotron.c - nanotron's YAML: model, ranks, tokens. */
#include "scenarios/import/configured/nanotron.h"

#include <inttypes.h>

#define HAS(option) launched_has(l, NANOTRON_##option)
#define COUNT(option, usual) launched_count(l, NANOTRON_##option, usual)
#define NEEDED(option, name) launched_needed(l, NANOTRON_##option, name)
#define TRUTH(option, usual) launched_truth(l, NANOTRON_##option, usual)
#define MODEL(option, ...) launched_key(l, LAUNCHED_MODEL, NANOTRON_##option, __VA_ARGS__)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, NANOTRON_##option, __VA_ARGS__)
#define LAYOUT(option, ...) launched_key(l, LAUNCHED_LAYOUT, NANOTRON_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, NANOTRON_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name) {name, NULL, LAUNCHED_VALUE},
#include "scenarios/import/configured/nanotron_list.h"
#undef X
};
/* The first that fits counts. */
static const struct launched_other others[] = {
    {"parallelism.moe_layer_recompute", "experts alone are not computed again"},
    {"model.model_config.rope_*", NULL},
    {"model.model_config.initializer_range", NULL},
    {"model.model_config.rms_norm_eps", NULL},
    {"model.model_config.pretraining_tp", NULL},
    {"model.model_config.use_cache", NULL},
    {"model.model_config.is_llama_config", NULL},
    {"model.model_config.is_qwen2_config", NULL},
    {"model.model_config.z_loss_*", NULL},
    {"model.model_config.interleaved_rotary", NULL},
    {"model.model_config.bos_token_id", NULL},
    {"model.model_config.eos_token_id", NULL},
    {"model.model_config.pad_token_id", NULL},
    {"model.model_config.moe_config", NULL},
    {"model.model_config.moe_config.*", NULL},
    {"model.model_config.flex_attention_mask", "attention has a causal mask"},
    {"model.model_config.no_rope_layer", NULL},
    {"model.model_config._fused_*", "kernels are simulated as the profile fuses them"},
    {"model.model_config._use_qkv_packed", NULL},
    {"model.model_config._use_doc_masking", "attention does not stop at the ends of documents"},
    {"model.init_method.*", NULL},
    {"optimizer.weight_decay*", NULL},
    {"optimizer.learning_rate_scheduler.*", NULL},
    {"optimizer.optimizer_factory.*", NULL},
    {"tokens.val_check_interval", NULL},
    {"tokens.limit_*", NULL},
    {"checkpoints*", NULL},
    {"data_stages*", NULL},
    {"data.*", NULL},
    {"general*", NULL},
    {"logging*", NULL},
    {"tokenizer*", NULL},
    {"lighteval*", NULL},
    {"profiler*", NULL},
    {"s3_upload*", NULL},
    {"metrics_logging*", NULL},
    {"experiment_logger*", NULL},
    {"kill_switch_path", NULL},
};
static const struct launched_table table = {options, NANOTRON_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

static void read_experts(struct launched *l, uint64_t ffn)
{
    const uint64_t inner = COUNT(MOE_FFN, ffn), shared = COUNT(SHARED_FFN, inner);
    if (!HAS(EXPERTS))
        return;
    MODEL(EXPERTS, "experts: %" PRIu64, COUNT(EXPERTS, 1));
    MODEL(TOPK, "experts_per_token: %" PRIu64, NEEDED(TOPK, "model.model_config.moe_config.top_k"));
    MODEL(MOE_FFN, "moe_ffn_hidden: %" PRIu64, inner);
    LAYOUT(EP, "ep: %" PRIu64, COUNT(EP, 1));
    if (!TRUTH(SHARED, false) || l->broken)
        return;
    MODEL(SHARED, "shared_experts: %" PRIu64, (shared + inner - 1) / inner);
    if (shared % inner != 0)
        launched_warn(l, NANOTRON_SHARED_FFN,
                      "shared experts have the width of the others, %" PRIu64, inner);
}

static void read_model(struct launched *l)
{
    static const char *const acts[] = {"silu", "gelu", "gelu_pytorch_tanh", NULL};
    const uint64_t heads = NEEDED(HEADS, "model.model_config.num_attention_heads");
    const uint64_t ffn = NEEDED(FFN, "model.model_config.intermediate_size");
    if (TRUTH(STARCODER, false))
        launched_bad(l, NANOTRON_STARCODER, "the blocks of StarCoder2 are not read");
    MODEL(LAYERS, "layers: %" PRIu64, NEEDED(LAYERS, "model.model_config.num_hidden_layers"));
    MODEL(HIDDEN, "hidden: %" PRIu64, NEEDED(HIDDEN, "model.model_config.hidden_size"));
    MODEL(HEADS, "heads: %" PRIu64, heads);
    MODEL(KV_HEADS, "kv_heads: %" PRIu64, COUNT(KV_HEADS, heads));
    if (HAS(HEAD_SIZE))
        MODEL(HEAD_SIZE, "head_size: %" PRIu64, COUNT(HEAD_SIZE, 1));
    MODEL(FFN, "ffn_hidden: %" PRIu64, ffn);
    MODEL(VOCABULARY, "vocabulary: %" PRIu64, NEEDED(VOCABULARY, "model.model_config.vocab_size"));
    if (HAS(POSITIONS))
        MODEL(POSITIONS, "positions_max: %" PRIu64, COUNT(POSITIONS, 1));
    MODEL(ACTIVATION, "ffn: %s",
          launched_choice(l, NANOTRON_ACTIVATION, acts, 0) == 0 ? "swiglu" : "geglu");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "norm: rms");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "position: rope");
    MODEL(TIED, "tied_embeddings: %s", TRUTH(TIED, false) ? "true" : "false");
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "biases: false");
    if (TRUTH(BIASES, false))
        MODEL(BIASES, "attention_biases: qkv");
    if (HAS(WINDOW))
        MODEL(WINDOW, "window: %" PRIu64, COUNT(WINDOW, 1));
    if (COUNT(VOCABULARY_MULTIPLE, 1) > 1)
        SOFTWARE(VOCABULARY_MULTIPLE, "vocabulary_multiple: %" PRIu64,
                 COUNT(VOCABULARY_MULTIPLE, 1));
    read_experts(l, ffn);
}

static void read_training(struct launched *l, uint64_t dp)
{
    static const char *const types[] = {"bfloat16", "float16", "float32", NULL};
    static const char *const precisions[] = {"bf16", "fp16", "fp32"};
    static const char *const kernels[] = {"flash_attention_2",     "sdpa",
                                          "flex_attention",        "ring_flash_triton",
                                          "llama3_ring_attention", NULL};
    static const char *const optimizers[] = {"adamW", "adamw", "sgd", NULL};
    const uint64_t micro = NEEDED(MICRO, "tokens.micro_batch_size");
    const uint64_t sequence = NEEDED(SEQUENCE, "tokens.sequence_length");
    const double batch = (double)micro * (double)COUNT(ACCUMULATION, 1) * (double)dp;
    if (batch > 1e9)
        launched_bad(l, NANOTRON_ACCUMULATION, "makes a batch of %.0f sequences", batch);
    TRAINING(ACCUMULATION, "global_batch: %.0f", batch);
    LAYOUT(MICRO, "microbatch: %" PRIu64, micro);
    TRAINING(SEQUENCE, "sequence: %" PRIu64, sequence);
    TRAINING(DTYPE, "precision: %s", precisions[launched_choice(l, NANOTRON_DTYPE, types, 0)]);
    TRAINING(GRADIENTS_FP32, "gradient_bytes: %d", TRUTH(GRADIENTS_FP32, true) ? 4 : 2);
    TRAINING(OPTIMIZER, "optimizer: %s",
             launched_choice(l, NANOTRON_OPTIMIZER, optimizers, 0) == 2 ? "sgd" : "adamw");
    if (HAS(STEPS))
        TRAINING(STEPS, "tokens: %.0f",
                 launched_number(l, NANOTRON_STEPS, 0.0) * batch * (double)sequence);
    if (HAS(KERNEL) && launched_choice(l, NANOTRON_KERNEL, kernels, 0) > 0)
        launched_warn(l, NANOTRON_KERNEL, "attention is simulated as FlashAttention 2");
    SOFTWARE(CLIP, "clip_gradients: %s",
             launched_number(l, NANOTRON_CLIP, 0.0) > 0.0 ? "true" : "false");
}

static void read_layout(struct launched *l, const struct launched_ranks *r)
{
    static const char *const engines[] = {"afab", "1f1b", NULL};
    static const char *const modes[] = {"ALL_REDUCE", "REDUCE_SCATTER", "all_reduce",
                                        "reduce_scatter", NULL};
    static const char *const stages[] = {"0", "1", NULL};
    const bool sequence = launched_choice(l, NANOTRON_TP_MODE, modes, 0) % 2 == 1 && r->tp > 1;
    LAYOUT(TP, "tp: %" PRIu64, r->tp);
    LAYOUT(TP_MODE, "sequence_parallel: %s", sequence ? "true" : "false");
    if (r->tp > 1)
        SOFTWARE(ASYNC, "backward_tp_overlap: %s", TRUTH(ASYNC, false) ? "true" : "false");
    if (sequence)
        SOFTWARE(GATHERS_AGAIN, "backward_regather: %s",
                 TRUTH(GATHERS_AGAIN, true) ? "true" : "false");
    LAYOUT(PP, "pp: %" PRIu64, r->pp);
    LAYOUT(PP, "vpp: 1");
    if (r->pp > 1)
        LAYOUT(ENGINE, "schedule: %s",
               launched_choice(l, NANOTRON_ENGINE, engines, 0) == 1 ? "1f1b" : "gpipe");
    LAYOUT(CP, "cp: %" PRIu64, r->cp);
    if (r->cp > 1)
        LAYOUT(CP, "cp_method: ring");
    LAYOUT(DP, "dp: %" PRIu64, r->dp);
    launched_key(l, LAUNCHED_LAYOUT, LAUNCHED_NOTHING, "order: tp-cp-dp-pp");
    LAYOUT(ZERO, "sharding: zero-%s", stages[launched_choice(l, NANOTRON_ZERO, stages, 0)]);
    LAYOUT(RECOMPUTE, "recompute: %s", TRUTH(RECOMPUTE, false) ? "full" : "none");
    if (HAS(BUCKET))
        SOFTWARE(BUCKET, "bucket: %" PRIu64 "MiB", COUNT(BUCKET, 25));
}

bool nanotron_read(struct arena *arena, const struct import_file *file,
                   const struct launched_hints *hints, uint64_t gpus, struct launched *l,
                   struct error *error)
{
    struct launched_words words = {.arena = arena, .path = file->path, .error = error};
    (void)hints;
    if (!launched_document(file, "", &words))
        return false;
    launched_take(&words, &table, l);
    l->profile = "nanotron";
    const struct launched_ranks r = {NEEDED(TP, "parallelism.tp"), NEEDED(PP, "parallelism.pp"),
                                     COUNT(CP, 1), NEEDED(DP, "parallelism.dp")};
    const double ranks = (double)r.tp * (double)r.pp * (double)r.cp * (double)r.dp;
    if (ranks > 1e9)
        launched_bad(l, NANOTRON_DP, "makes %.0f ranks", ranks);
    if (gpus > 0 && !l->broken && (double)gpus != ranks)
        launched_bad(l, NANOTRON_DP, "makes %.0f ranks, not %" PRIu64 " (--gpus)", ranks, gpus);
    if (l->broken)
        return false;
    l->gpus = r.tp * r.pp * r.cp * r.dp;
    launched_key(l, LAUNCHED_CLUSTER, NANOTRON_DP, "gpus: %" PRIu64, l->gpus);
    read_model(l);
    read_layout(l, &r);
    read_training(l, r.dp);
    return !l->broken;
}
