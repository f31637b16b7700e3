/* launched_megatron.c - a launch of Megatron-LM: the file, the model, the GPUs. */
#include "scenarios/import/launched/launched_megatron.h"

#include <inttypes.h>
#include <string.h>

#include "scenarios/language/source.h"

#define HAS(option) launched_has(l, MEGATRON_##option)
#define ON(option) launched_on(l, MEGATRON_##option)
#define COUNT(option, usual) launched_count(l, MEGATRON_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_MODEL, MEGATRON_##option, __VA_ARGS__)

static void read_vocabulary(struct launched *l)
{
    enum {
        GPT2_ENTRIES = 50257 /* of the byte pair encoding of GPT-2 */
    };
    const char *type = launched_text(l, MEGATRON_TOKENIZER_TYPE, "");
    const bool null = strcmp(type, "NullTokenizer") == 0; /* adds the end of a document */
    const bool pairs = strcmp(type, "GPT2BPETokenizer") == 0 || (*type == '\0' && HAS(MERGE_FILE));
    if (HAS(TOKENIZER_ENTRIES)) {
        KEY(TOKENIZER_ENTRIES, "vocabulary: %" PRIu64, COUNT(TOKENIZER_ENTRIES, 1));
    } else if (HAS(VOCAB_SIZE)) {
        KEY(VOCAB_SIZE, "vocabulary: %" PRIu64, COUNT(VOCAB_SIZE, 1) + null);
    } else if (HAS(PADDED_VOCAB_SIZE)) {
        KEY(PADDED_VOCAB_SIZE, "vocabulary: %" PRIu64, COUNT(PADDED_VOCAB_SIZE, 1));
        launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_PADDED_VOCAB_SIZE, "vocabulary_multiple: 0");
    } else if (pairs) {
        KEY(MERGE_FILE, "vocabulary: %d", GPT2_ENTRIES);
    } else {
        KEY(TOKENIZER_TYPE, "# vocabulary: not said: that of the tokenizer");
        launched_warn(l, LAUNCHED_NOTHING,
                      "the size of the vocabulary is not said: --set model.vocabulary=N says it to "
                      "orrery run");
    }
    if (HAS(VOCAB_MULTIPLE) && (HAS(VOCAB_SIZE) || HAS(TOKENIZER_ENTRIES) || pairs))
        launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_VOCAB_MULTIPLE, "vocabulary_multiple: %" PRIu64,
                     COUNT(VOCAB_MULTIPLE, 128));
}

/* A feed-forward block with a gate has two thirds of the usual width, in whole 64s. */
static uint64_t usual_ffn(struct launched *l, uint64_t hidden)
{
    return ON(SWIGLU) ? 4 * hidden * 2 / 3 / 64 * 64 : 4 * hidden;
}

static void read_heads(struct launched *l, uint64_t hidden)
{
    const uint64_t heads = launched_needed(l, MEGATRON_HEADS, "num-attention-heads");
    KEY(HEADS, "heads: %" PRIu64, heads);
    if (ON(GROUPED_QUERIES))
        KEY(QUERY_GROUPS, "kv_heads: %" PRIu64, COUNT(QUERY_GROUPS, 1));
    if (!l->broken && hidden % heads != 0 && !HAS(KV_CHANNELS) && !ON(MLA))
        launched_bad(l, MEGATRON_HEADS, "%" PRIu64 " heads do not divide --hidden-size %" PRIu64,
                     heads, hidden);
    if (HAS(KV_CHANNELS) && !ON(MLA))
        KEY(KV_CHANNELS, "head_size: %" PRIu64, COUNT(KV_CHANNELS, 1));
}

static void read_latent(struct launched *l)
{
    const char *variant = launched_text(l, MEGATRON_VARIANT, "dsa");
    if (!ON(MLA))
        return;
    KEY(QK_HEAD, "head_size: %" PRIu64, COUNT(QK_HEAD, 128));
    KEY(KV_RANK, "kv_rank: %" PRIu64, COUNT(KV_RANK, 32));
    if (HAS(Q_RANK))
        KEY(Q_RANK, "q_rank: %" PRIu64, COUNT(Q_RANK, 1));
    KEY(QK_POSITION_HEAD, "rope_head_size: %" PRIu64, COUNT(QK_POSITION_HEAD, 64));
    KEY(V_HEAD, "v_head_size: %" PRIu64, COUNT(V_HEAD, 128));
    if (!ON(QK_NORMS))
        launched_warn(l, MEGATRON_MLA,
                      "the latents are simulated with their norms "
                      "(--qk-layernorm)");
    if (!HAS(VARIANT))
        return;
    if (strcmp(variant, "dsa") != 0)
        launched_bad(l, MEGATRON_VARIANT, "of these, dsa alone is simulated");
    KEY(INDEXER_HEADS, "indexer_heads: %" PRIu64, COUNT(INDEXER_HEADS, 1));
    KEY(INDEXER_SIZE, "indexer_size: %" PRIu64, COUNT(INDEXER_SIZE, 1));
    KEY(INDEXER_KEYS, "sparse_keys: %" PRIu64, COUNT(INDEXER_KEYS, 1));
    if (HAS(INDEXER_FREQ))
        KEY(INDEXER_FREQ, "indexer_interval: %" PRIu64, COUNT(INDEXER_FREQ, 1));
    if (HAS(INDEXER_FIRST) && launched_number(l, MEGATRON_INDEXER_FIRST, 0.0) > 0.0)
        KEY(INDEXER_FIRST, "indexer_first: %" PRIu64, COUNT(INDEXER_FIRST, 1));
}

static void read_positions(struct launched *l)
{
    static const char *const types[] = {"learned_absolute", "rope", "yarn", "none", NULL};
    static const char *const positions[] = {"learned", "rope", "rope", "none"};
    const int type = launched_choice(l, MEGATRON_POSITION_TYPE, types, 0);
    if (type == 0 && ON(ROTARY))
        KEY(ROTARY, "position: rope");
    else
        KEY(POSITION_TYPE, "position: %s", positions[type]);
    const bool rotates = type == 1 || type == 2 || ON(ROTARY);
    if (ON(NO_ROPE_FUSION) && rotates && !HAS(VARIANT)) /* which asks for it */
        launched_warn(l, MEGATRON_NO_ROPE_FUSION, "rotation is simulated as one kernel");
    if (type == 0 && !ON(ROTARY) && HAS(POSITIONS))
        KEY(POSITIONS, "positions_max: %" PRIu64, COUNT(POSITIONS, 1));
}

static void read_windows(struct launched *l)
{
    if (HAS(WINDOW_SIZE)) /* that many before a query, and itself */
        KEY(WINDOW_SIZE, "window: %.0f", launched_number(l, MEGATRON_WINDOW_SIZE, 0.0) + 1.0);
    if (HAS(WINDOW_SIZE) && HAS(WINDOW_FREQ))
        KEY(WINDOW_FREQ, "full_interval: %" PRIu64, COUNT(WINDOW_FREQ, 1));
    if (strcmp(launched_text(l, MEGATRON_SOFTMAX_TYPE, "vanilla"), "learnable") == 0)
        KEY(SOFTMAX_TYPE, "sinks: true");
    if (ON(OUTPUT_GATE))
        KEY(OUTPUT_GATE, "attention_gate: true");
}

static void read_blocks(struct launched *l)
{
    static const char *const norms[] = {"LayerNorm", "RMSNorm", NULL};
    const int norm = launched_choice(l, MEGATRON_NORMALIZATION, norms, 0);
    const double dropout = launched_number(l, MEGATRON_HIDDEN_DROPOUT, 0.1);
    if (ON(SWIGLU))
        KEY(SWIGLU, "ffn: swiglu");
    else if (ON(SQUARED_RELU))
        KEY(SQUARED_RELU, "ffn: squared_relu");
    else
        KEY(QUICK_GEGLU, "ffn: %s", ON(QUICK_GEGLU) ? "geglu" : "gelu");
    KEY(NORMALIZATION, "norm: %s", norm == 0 ? "layernorm" : "rms");
    if (norm == 0 && ON(NO_BIASES))
        KEY(NO_BIASES, "norm_biases: true");
    if (ON(QK_NORMS) && !ON(MLA))
        KEY(QK_NORMS, "qk_norms: true");
    read_positions(l);
    KEY(UNTIE, "tied_embeddings: %s", ON(UNTIE) ? "false" : "true");
    KEY(NO_BIASES, "biases: %s", ON(NO_BIASES) ? "false" : "true");
    if (ON(NO_BIASES) && ON(QKV_BIASES))
        KEY(QKV_BIASES, "attention_biases: qkv");
    KEY(HIDDEN_DROPOUT, "dropout: %g", dropout);
    if ((launched_number(l, MEGATRON_ATTENTION_DROPOUT, 0.1) > 0.0) != (dropout > 0.0))
        launched_warn(l, HAS(ATTENTION_DROPOUT) ? MEGATRON_ATTENTION_DROPOUT : LAUNCHED_NOTHING,
                      "one dropout is simulated, that of --hidden-dropout, %g", dropout);
    read_windows(l);
}

static void read_shared_experts(struct launched *l, uint64_t inner)
{
    if (!HAS(SHARED_FFN))
        return;
    const uint64_t width = COUNT(SHARED_FFN, 1);
    KEY(SHARED_FFN, "shared_experts: %" PRIu64, (width + inner - 1) / inner);
    if (width % inner != 0)
        launched_warn(l, MEGATRON_SHARED_FFN,
                      "shared experts have the width of the others, %" PRIu64 ": not %" PRIu64,
                      inner, width);
    if (ON(SHARED_GATE))
        KEY(SHARED_GATE, "shared_expert_gate: true");
    launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_SHARED_OVERLAP, "shared_expert_overlap: %s",
                 ON(SHARED_OVERLAP) ? "true" : "false");
}

static void read_experts(struct launched *l, uint64_t layers, uint64_t ffn)
{
    if (!HAS(EXPERTS))
        return;
    const uint64_t inner = COUNT(MOE_FFN, ffn);
    KEY(EXPERTS, "experts: %" PRIu64, COUNT(EXPERTS, 1));
    KEY(TOPK, "experts_per_token: %" PRIu64, COUNT(TOPK, 2));
    KEY(MOE_FFN, "moe_ffn_hidden: %" PRIu64, inner);
    if (HAS(MOE_LATENT))
        KEY(MOE_LATENT, "moe_latent: %" PRIu64, COUNT(MOE_LATENT, 1));
    if (!l->broken)
        read_shared_experts(l, inner);
    launched_megatron_expert_layers(l, layers);
    if (HAS(ROUTER_GROUPS)) {
        KEY(ROUTER_GROUPS, "expert_groups: %" PRIu64, COUNT(ROUTER_GROUPS, 1));
        KEY(ROUTER_GROUP_TOPK, "groups_per_token: %" PRIu64, COUNT(ROUTER_GROUP_TOPK, 1));
    }
    if (ON(EXPERT_BIAS))
        KEY(EXPERT_BIAS, "router_bias: true");
}

/* What no time depends on, as a config.json calls it. */
static void read_facts(struct launched *l)
{
    struct arena *a = l->arena;
    const char *facts = "";
    const bool sigmoid =
        strcmp(launched_text(l, MEGATRON_SCORE_FUNCTION, "softmax"), "sigmoid") == 0;
    const char *percent = launched_text(l, MEGATRON_ROTARY_PERCENT, "1");
    const char *scaling = launched_text(l, MEGATRON_TOPK_SCALING, NULL);
    if (launched_number(l, MEGATRON_ROTARY_PERCENT, 1.0) != 1.0)
        facts = arena_format(a, "%s partial_rotary_factor=%s", facts, percent);
    if (HAS(NO_ROPE_FREQ))
        facts =
            arena_format(a, "%s no_rope_layer_interval=%" PRIu64, facts, COUNT(NO_ROPE_FREQ, 1));
    if (sigmoid && HAS(EXPERTS))
        facts = arena_format(a, "%s scoring_func=sigmoid", facts);
    if (ON(PROBS_ON_INPUT))
        facts = arena_format(a, "%s moe_apply_probs_on_input=true", facts);
    if (scaling != NULL && launched_number(l, MEGATRON_TOPK_SCALING, 1.0) != 1.0)
        facts = arena_format(a, "%s routed_scaling_factor=%s", facts, scaling);
    if (ON(PRE_SOFTMAX) && !sigmoid)
        facts = arena_format(a, "%s norm_topk_prob=false", facts);
    if (*facts != '\0')
        launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "facts: \"%s\"", facts + 1);
}

static void read_model(struct launched *l)
{
    const uint64_t layers = launched_needed(l, MEGATRON_NUM_LAYERS, "num-layers");
    const uint64_t hidden = launched_needed(l, MEGATRON_HIDDEN_SIZE, "hidden-size");
    const uint64_t ffn = COUNT(FFN_HIDDEN_SIZE, usual_ffn(l, hidden));
    KEY(NUM_LAYERS, "layers: %" PRIu64, layers);
    KEY(HIDDEN_SIZE, "hidden: %" PRIu64, hidden);
    read_heads(l, hidden);
    read_latent(l);
    KEY(FFN_HIDDEN_SIZE, "ffn_hidden: %" PRIu64, ffn);
    read_vocabulary(l);
    read_blocks(l);
    read_experts(l, layers, ffn);
    if (HAS(MTP))
        KEY(MTP, "mtp_layers: %" PRIu64, COUNT(MTP, 1));
    read_facts(l);
}

/* Another model than pretrain_gpt.py trains, or no training. */
static void refuse_others(struct launched *l, const char *program)
{
    static const struct {
        const char *word, *what; /* of the file's name; with a slash of its path */
    } programs[] = {
        {"bert", "BERT, which has an encoder"},
        {"t5", "T5, which has an encoder"},
        {"tasks/", "a task behind the training, not the training of a GPT"},
        {"retro", "RETRO, which reads neighbours"},
        {"vision", "a vision model"},
        {"vlm", "a model of texts and pictures"},
        {"multimodal/", "a model of texts and pictures"},
        {"mimo/", "a model of several kinds of input"},
        {"mamba", "layers of several kinds"},
        {"hybrid", "layers of several kinds"},
        {"inference", "nothing: it generates text"},
        {"generat", "nothing: it generates text"},
        {"convert", "nothing: it converts a checkpoint"},
    };
    static const struct {
        enum megatron_option option;
        const char *why;
    } rows[] = {
        {MEGATRON_HYBRID, "layers of several kinds are not read: model.pattern says them"},
        {MEGATRON_IS_HYBRID, "layers of several kinds are not read: model.pattern says them"},
        {MEGATRON_RETRO, "RETRO's neighbours are not simulated"},
        {MEGATRON_VISION, "pictures are not simulated"},
        {MEGATRON_LANGUAGE, "models of several kinds of input are not simulated"},
        {MEGATRON_DECODER_SEQ, "encoders beside a decoder are not simulated"},
        {MEGATRON_DECODER_LAYERS, "encoders beside a decoder are not simulated"},
        {MEGATRON_TASK, "a task behind the training is not simulated"},
        {MEGATRON_GENERATES, "it generates text: nothing is trained"},
    };
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    const char *file = slash != NULL ? slash + 1 : program;
    for (unsigned i = 0; program != NULL && i < sizeof programs / sizeof programs[0]; i++) {
        const char *word = programs[i].word;
        if (strstr(strchr(word, '/') != NULL ? program : file, word) != NULL)
            launched_bad(l, LAUNCHED_NOTHING, "%s trains %s: GPTs alone are read",
                         source_quote(l->arena, file), programs[i].what);
    }
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (launched_has(l, rows[i].option) && strcmp(l->said[rows[i].option].value, "false") != 0)
            launched_bad(l, rows[i].option, "%s", rows[i].why);
    if (HAS(IMAGE) && !l->whole) /* a log has it in any case */
        launched_bad(l, MEGATRON_IMAGE, "pictures are not simulated");
    if (HAS(SPEC) && strstr(l->said[MEGATRON_SPEC].value, "mamba") != NULL)
        launched_bad(l, MEGATRON_SPEC, "layers of several kinds are not read");
    if (strncmp(launched_text(l, MEGATRON_TOKENIZER_TYPE, ""), "Bert", 4) == 0)
        launched_bad(l, MEGATRON_TOKENIZER_TYPE, "BERT has an encoder: GPTs alone are read");
}

static bool read_words(const struct import_file *file, const struct launched_hints *hints,
                       struct launched_words *words)
{
    if (launched_is_log(file))
        return launched_log(file, words);
    if (launched_is_yaml(file, "MODEL_ARGS"))
        return launched_yaml(file, hints, "MODEL_ARGS", words);
    return launched_script(file, hints, words);
}

bool launched_megatron(struct arena *arena, const struct import_file *file,
                       const struct launched_hints *given, uint64_t gpus, struct launched *l,
                       struct error *error)
{
    static const char *const marks[] = {"num-layers", "micro-batch-size", "hidden-size",
                                        "tensor-model-parallel-size", NULL};
    static const struct launched_hosts hosts = {MEGATRON_WORLD_SIZE, MEGATRON_NPROC,
                                                MEGATRON_NNODES,     MEGATRON_SLURM_NODES,
                                                MEGATRON_SLURM_GPUS, MEGATRON_SLURM_TASKS};
    struct launched_hints hints = *given;
    struct launched_words words = {.arena = arena, .path = file->path, .error = error};
    struct launched_ranks ranks;
    hints.marks = marks;
    if (!read_words(file, &hints, &words))
        return false;
    launched_take(&words, &launched_megatron_table, l);
    l->profile = "megatron";
    refuse_others(l, words.program);
    read_model(l);
    ranks = (struct launched_ranks){HAS(TP) ? COUNT(TP, 1) : COUNT(OLD_TP, 1), COUNT(PP, 1),
                                    COUNT(CP, 1), 0};
    launched_replicas(l, &hosts, gpus, &ranks);
    if (l->broken)
        return false;
    launched_megatron_layout(l, &ranks);
    launched_megatron_training(l, &ranks);
    return !l->broken;
}
