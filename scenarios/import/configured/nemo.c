/* nemo.c - the YAML of NeMo 1: the file, the model, the training. */
#include "scenarios/import/configured/nemo.h"

#include <inttypes.h>
#include <string.h>

#define HAS(option) launched_has(l, NEMO_##option)
#define COUNT(option, usual) launched_count(l, NEMO_##option, usual)
#define NEEDED(option, name) launched_needed(l, NEMO_##option, name)
#define TRUTH(option, usual) launched_truth(l, NEMO_##option, usual)
#define MODEL(option, ...) launched_key(l, LAUNCHED_MODEL, NEMO_##option, __VA_ARGS__)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, NEMO_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, NEMO_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name) {name, NULL, LAUNCHED_VALUE},
#include "scenarios/import/configured/nemo_list.h"
#undef X
};
static const char fused[] = "kernels are simulated as the profile fuses them";
/* The first that fits counts. */
static const struct launched_other others[] = {
    {"name", NULL},
    {"restore_from_path", NULL},
    {"run.*", NULL},
    {"hydra.*", NULL},
    {"exp_manager.*", NULL},
    {"trainer.*", NULL},
    {"model.data.*", NULL},
    {"model.tokenizer.*", NULL},
    {"model.optim.lr", NULL},
    {"model.optim.weight_decay", NULL},
    {"model.optim.betas", NULL},
    {"model.optim.sched.*", NULL},
    {"model.optim.contiguous_grad_buffer", NULL},
    {"model.optim.contiguous_param_buffer", NULL},
    {"model.nsys_profile.*", NULL},
    {"model.native_amp_*", NULL},
    {"model.hysteresis", NULL},
    {"model.init_method_std", NULL},
    {"model.layernorm_epsilon", NULL},
    {"model.apply_query_key_layer_scaling", NULL},
    {"model.pre_process", NULL},
    {"model.post_process", NULL},
    {"model.persist_layer_norm", NULL},
    {"model.gradient_as_bucket_view", NULL},
    {"model.grad_div_ar_fusion", NULL},
    {"model.grad_allreduce_chunk_size_mb", NULL},
    {"model.bias_activation_fusion", NULL},
    {"model.bias_dropout_add_fusion", NULL},
    {"model.bias_gelu_fusion", NULL},
    {"model.masked_softmax_fusion", NULL},
    {"model.fp32_residual_connection", "the residual stream is simulated in 16 bits"},
    {"model.fp16_lm_cross_entropy", "the loss is simulated as the profile's passes"},
    {"model.mcore_gpt", NULL},
    {"model.megatron_legacy", NULL},
    {"model.fp8_*", NULL},
    {"model.fsdp_*", NULL},
    {"model.sharp", "switches reduce nothing here unless the fabric says so"},
    {"model.seed", NULL},
    {"model.sync_batch_comm", NULL},
    {"model.batch_p2p_comm", NULL},
    {"model.use_cpu_initialization", NULL},
    {"model.onnx_safe", NULL},
    {"model.apex_transformer_log_level", NULL},
    {"model.resume_from_checkpoint", NULL},
    {"model.rotary_*", NULL},
    {"model.seq_len_interpolation_factor", NULL},
    {"model.gc_interval", NULL},
    {"model.num_micro_batches_with_partial_activation_checkpoints", fused},
    {"model.activations_checkpoint_layers_per_pipeline", "all stages compute as much again"},
    {"model.defer_embedding_wgrad_compute", "it overlaps more than is simulated"},
    {"model.rampup_batch_size", "the batch is simulated at its full size"},
    {"model.target", NULL},
    {"model.precision", NULL},
};
static const struct launched_table table = {options, NEMO_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

/* What is still to be resolved: "${multiply:4, ${.hidden_size}}". */
static void refuse_open(struct launched *l)
{
    for (int i = 0; i < NEMO_OPTIONS; i++)
        if (launched_has(l, i) && strstr(l->said[i].value, "${") != NULL)
            launched_bad(l, i,
                         "is not resolved: give the YAML that the run resolved, as "
                         "OmegaConf.to_yaml(config, resolve=True) prints it");
}

static void read_vocabulary(struct launched *l)
{
    if (HAS(VOCABULARY)) {
        MODEL(VOCABULARY, "vocabulary: %" PRIu64, COUNT(VOCABULARY, 1));
    } else if (strcmp(launched_text(l, NEMO_TOKENIZER, ""), "GPT2BPETokenizer") == 0) {
        MODEL(TOKENIZER, "vocabulary: 50257");
    } else {
        MODEL(TOKENIZER, "# vocabulary: not said: that of the tokenizer");
        launched_warn(l, LAUNCHED_NOTHING,
                      "the size of the vocabulary is not said: --set model.vocabulary=N says it to "
                      "orrery run");
    }
    SOFTWARE(VOCABULARY_MULTIPLE, "vocabulary_multiple: %" PRIu64, COUNT(VOCABULARY_MULTIPLE, 128));
}

static void read_blocks(struct launched *l)
{
    static const char *const acts[] = {"gelu",       "fast-swiglu",  "swiglu", "geglu",
                                       "fast-geglu", "squared-relu", NULL};
    static const char *const names[] = {"gelu",  "swiglu", "swiglu",
                                        "geglu", "geglu",  "squared_relu"};
    static const char *const norms[] = {"layernorm", "rmsnorm", "layernorm1p", NULL};
    static const char *const types[] = {"learned_absolute", "rope", "none", NULL};
    static const char *const positions[] = {"learned", "rope", "none"};
    const int norm = launched_choice(l, NEMO_NORM, norms, 0);
    const int type = launched_choice(l, NEMO_POSITION, types, 0);
    const double dropout = launched_number(l, NEMO_DROPOUT, 0.1);
    const bool biases = TRUTH(BIASES, true);
    MODEL(ACTIVATION, "ffn: %s", names[launched_choice(l, NEMO_ACTIVATION, acts, 0)]);
    MODEL(NORM, "norm: %s", norm == 1 ? "rms" : "layernorm");
    if (norm != 1 && !biases)
        MODEL(BIASES, "norm_biases: true");
    MODEL(POSITION, "position: %s", positions[type]);
    if (type == 0 && HAS(POSITIONS))
        MODEL(POSITIONS, "positions_max: %" PRIu64, COUNT(POSITIONS, 1));
    MODEL(SHARED_EMBEDDINGS, "tied_embeddings: %s",
          TRUTH(SHARED_EMBEDDINGS, true) ? "true" : "false");
    MODEL(BIASES, "biases: %s", biases ? "true" : "false");
    MODEL(DROPOUT, "dropout: %.15g", dropout);
    if ((launched_number(l, NEMO_ATTENTION_DROPOUT, 0.1) > 0.0) != (dropout > 0.0))
        launched_warn(l, HAS(ATTENTION_DROPOUT) ? NEMO_ATTENTION_DROPOUT : LAUNCHED_NOTHING,
                      "one dropout is simulated, that of hidden_dropout, %g", dropout);
}

static void read_model(struct launched *l)
{
    const uint64_t heads = NEEDED(HEADS, "model.num_attention_heads");
    const uint64_t hidden = NEEDED(HIDDEN, "model.hidden_size");
    const uint64_t ffn = COUNT(FFN, 4 * hidden);
    MODEL(LAYERS, "layers: %" PRIu64, NEEDED(LAYERS, "model.num_layers"));
    MODEL(HIDDEN, "hidden: %" PRIu64, hidden);
    MODEL(HEADS, "heads: %" PRIu64, heads);
    MODEL(GROUPS, "kv_heads: %" PRIu64, COUNT(GROUPS, heads));
    if (HAS(HEAD_SIZE))
        MODEL(HEAD_SIZE, "head_size: %" PRIu64, COUNT(HEAD_SIZE, 1));
    MODEL(FFN, "ffn_hidden: %" PRIu64, ffn);
    read_vocabulary(l);
    read_blocks(l);
    if (HAS(EXPERTS)) {
        MODEL(EXPERTS, "experts: %" PRIu64, COUNT(EXPERTS, 1));
        MODEL(TOPK, "experts_per_token: %" PRIu64, COUNT(TOPK, 2));
        MODEL(FFN, "moe_ffn_hidden: %" PRIu64, ffn);
    }
}

static void read_training(struct launched *l, const struct launched_ranks *r)
{
    static const char *const types[] = {"16",         "bf16",    "32", "16-mixed",
                                        "bf16-mixed", "32-true", NULL};
    static const char *const precisions[] = {"fp16", "bf16", "fp32"};
    static const char *const sent[] = {"fp32", "bf16", "fp16", "float32", "bfloat16", NULL};
    const uint64_t micro = NEEDED(MICRO, "model.micro_batch_size");
    const uint64_t batch = NEEDED(BATCH, "model.global_batch_size");
    const uint64_t sequence = NEEDED(SEQUENCE, "model.encoder_seq_length");
    const int type = launched_choice(l, NEMO_PRECISION, types, 2);
    if (!l->broken && r->dp > 0 && batch % (micro * r->dp) != 0)
        launched_bad(l, NEMO_BATCH,
                     "%" PRIu64 " sequences do not divide by microbatch %" PRIu64 " x dp %" PRIu64,
                     batch, micro, r->dp);
    TRAINING(BATCH, "global_batch: %" PRIu64, batch);
    launched_key(l, LAUNCHED_LAYOUT, NEMO_MICRO, "microbatch: %" PRIu64, micro);
    TRAINING(SEQUENCE, "sequence: %" PRIu64, sequence);
    if (TRUTH(FP8, false))
        TRAINING(FP8, "precision: fp8");
    else
        TRAINING(PRECISION, "precision: %s", precisions[type % 3]);
    if (HAS(GRADIENT_TYPE)) {
        const int kind = launched_choice(l, NEMO_GRADIENT_TYPE, sent, 0);
        SOFTWARE(GRADIENT_TYPE, "gradient_reduce_bytes: %d", kind == 0 || kind == 3 ? 4 : 2);
    }
    if (HAS(FLASH))
        TRAINING(FLASH, "attention: %s", TRUTH(FLASH, false) ? "flash2" : "math");
    else if (!TRUTH(ENGINE, true))
        TRAINING(ENGINE, "attention: math");
    if (!TRUTH(ENGINE, true))
        launched_warn(l, NEMO_ENGINE,
                      "moves time: norms and products of layers are simulated as Transformer "
                      "Engine's");
    if (!TRUTH(AMP_O2, true))
        launched_warn(l, NEMO_AMP_O2,
                      "moves time and memory: weights are simulated in the type of the products, "
                      "with a copy in 32 bits in the optimizer's state");
    if (HAS(STEPS) && l->said[NEMO_STEPS].value[0] != '-')
        TRAINING(STEPS, "tokens: %.0f",
                 launched_number(l, NEMO_STEPS, 0.0) * (double)batch * (double)sequence);
    SOFTWARE(CLIP, "clip_gradients: %s",
             launched_number(l, NEMO_CLIP, 0.0) > 0.0 ? "true" : "false");
}

static uint64_t read_gpus(struct launched *l, uint64_t gpus)
{
    const uint64_t said = HAS(DEVICES) ? COUNT(DEVICES, 1) * COUNT(NODES, 1) : 0;
    l->gpus = gpus > 0 ? gpus : said;
    if (l->gpus > 1000000000)
        launched_bad(l, NEMO_DEVICES, "makes %" PRIu64 " GPUs", l->gpus);
    if (l->gpus > 0)
        launched_key(l, LAUNCHED_CLUSTER, gpus > 0 ? LAUNCHED_NOTHING : NEMO_DEVICES,
                     "gpus: %" PRIu64, l->gpus);
    return l->gpus;
}

bool nemo_read(struct arena *arena, const struct import_file *file,
               const struct launched_hints *hints, uint64_t gpus, struct launched *l,
               struct error *error)
{
    struct launched_words words = {.arena = arena, .path = file->path, .error = error};
    (void)hints;
    if (!launched_document(file, "", &words))
        return false;
    launched_take(&words, &table, l);
    l->profile = "nemo";
    refuse_open(l);
    struct launched_ranks r = {COUNT(TP, 1), COUNT(PP, 1), COUNT(CP, 1), 0};
    const double least = (double)r.tp * (double)r.pp * (double)r.cp;
    const uint64_t all = l->broken ? 0 : read_gpus(l, gpus);
    if (all > 0 && (least > (double)all || all % (uint64_t)least != 0))
        launched_bad(l, NEMO_DEVICES,
                     "%" PRIu64 " GPUs do not divide by tp %" PRIu64 " x pp %" PRIu64
                     " x cp %" PRIu64 "; --gpus N says how many there are",
                     all, r.tp, r.pp, r.cp);
    else if (all > 0)
        r.dp = all / (uint64_t)least;
    if (l->broken)
        return false;
    read_model(l);
    nemo_layout(l, &r);
    read_training(l, &r);
    return !l->broken;
}
