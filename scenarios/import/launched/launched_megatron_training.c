/* launched_megatron_training.c - number formats, memory, the course of the training. */
#include <inttypes.h>
#include <string.h>

#include "scenarios/import/launched/launched_megatron.h"

#define HAS(option) launched_has(l, MEGATRON_##option)
#define ON(option) launched_on(l, MEGATRON_##option)
#define COUNT(option, usual) launched_count(l, MEGATRON_##option, usual)
#define KEY(option, ...) launched_key(l, LAUNCHED_TRAINING, MEGATRON_##option, __VA_ARGS__)
#define LAYOUT(option, ...) launched_key(l, LAUNCHED_LAYOUT, MEGATRON_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, MEGATRON_##option, __VA_ARGS__)

static void read_narrow(struct launched *l)
{
    static const char *const recipes[] = {"delayed", "tensorwise", "mxfp8", "blockwise", NULL};
    static const char *const names[] = {"delayed", "current", "mxfp8", "blockwise"};
    if (HAS(FP8))
        SOFTWARE(FP8_RECIPE, "fp8_recipe: %s",
                 names[launched_choice(l, MEGATRON_FP8_RECIPE, recipes, 0)]);
    if (HAS(FP8) && !ON(FP8_GATHERS) && launched_megatron_stage(l) >= 1)
        launched_warn(l, MEGATRON_FP8,
                      "weights are simulated as gathered in 8 bits "
                      "(--fp8-param-gather)");
    if (ON(FP8_INPUTS))
        SOFTWARE(FP8_INPUTS, "fp8_activation_cache: true");
    if (ON(FP8_ATTENTION))
        SOFTWARE(FP8_ATTENTION, "fp8_attention: true");
    if (ON(ENDS_WIDE)) {
        KEY(WIDE_FIRST, "bf16_layers_first: %.0f", launched_number(l, MEGATRON_WIDE_FIRST, 1.0));
        KEY(WIDE_LAST, "bf16_layers_last: %.0f", launched_number(l, MEGATRON_WIDE_LAST, 1.0));
    }
}

static void read_precision(struct launched *l)
{
    const bool wide = !ON(BF16) && !ON(FP16);
    const char *main = launched_text(l, MEGATRON_GRADIENT_TYPE, "fp32");
    if (HAS(FP4))
        KEY(FP4, "precision: nvfp4");
    else if (HAS(FP8))
        KEY(FP8, "precision: fp8");
    else
        launched_key(l, LAUNCHED_TRAINING, ON(BF16) ? MEGATRON_BF16 : MEGATRON_FP16,
                     "precision: %s",
                     wide       ? "fp32"
                     : ON(BF16) ? "bf16"
                                : "fp16");
    if (HAS(FP8) || HAS(FP4))
        read_narrow(l);
    const bool half =
        ON(BF16) ? ON(GRADIENTS_BF16) || strcmp(main, "bf16") == 0 || strcmp(main, "bfloat16") == 0
                 : ON(FP16) && !ON(GRADIENTS_FP32);
    launched_key(l, LAUNCHED_TRAINING, ON(BF16) ? MEGATRON_GRADIENTS_BF16 : MEGATRON_GRADIENTS_FP32,
                 "gradient_bytes: %d", half ? 2 : 4);
}

static void read_attention(struct launched *l)
{
    static const char *const backends[] = {"auto", "flash", "fused", "unfused", "local", NULL};
    static const char *const kernels[] = {"auto", "flash2", "cudnn", "math", "math"};
    const int backend = launched_choice(l, MEGATRON_ATTENTION, backends, 0);
    const bool local =
        strcmp(launched_text(l, MEGATRON_IMPLEMENTATION, "transformer_engine"), "local") == 0;
    if (local)
        launched_warn(l, MEGATRON_IMPLEMENTATION,
                      "moves time: norms and products of layers are simulated as Transformer "
                      "Engine's");
    if (backend == 0 && ON(FLASH))
        KEY(FLASH, "attention: flash2");
    else if (backend == 0 && local)
        KEY(IMPLEMENTATION, "attention: math");
    else if (backend > 0)
        KEY(ATTENTION, "attention: %s", kernels[backend]);
    if (backend == 1)
        launched_comment(l, "attention: the FlashAttention that is installed runs; flash3 is the "
                            "other (training.attention)");
}

/* Modules of layers that are computed again. */
static void read_modules(struct launched *l)
{
    static const char *const simulated[] = {"layernorm", "mla_up_proj", "moe_act"};
    const char *words[32];
    const unsigned all = launched_list(l, MEGATRON_RECOMPUTE_MODULES, words, 32);
    const char *left = "";
    unsigned found = 0;
    bool core = all == 0;
    for (unsigned i = 0; i < all && i < 32; i++) {
        bool is = false;
        for (unsigned k = 0; k < sizeof simulated / sizeof simulated[0]; k++)
            is = is || strcmp(words[i], simulated[k]) == 0;
        core = core || strcmp(words[i], "core_attn") == 0;
        found += is;
        if (!is && strcmp(words[i], "core_attn") != 0)
            left = arena_format(l->arena, "%s %s", left, words[i]);
    }
    LAYOUT(RECOMPUTE_MODULES, "recompute: %s", found > 0 ? "modules" : core ? "selective" : "none");
    const unsigned wanted = ON(MLA) ? 3 : 2;
    if (found > 0 && (found < wanted || *left != '\0' || core))
        launched_warn(l, MEGATRON_RECOMPUTE_MODULES,
                      "norms, up-projections of latents and activations are simulated as computed "
                      "again, and nothing else");
    else if (*left != '\0')
        launched_warn(l, MEGATRON_RECOMPUTE_MODULES, "not simulated as computed again:%s", left);
}

static void read_whole_layers(struct launched *l, enum megatron_option method,
                              enum megatron_option count)
{
    static const char *const methods[] = {"uniform", "block", NULL};
    const int how = launched_choice(l, method, methods, 0);
    const uint64_t layers = launched_count(l, count, 1);
    if (how == 0 && layers == 1) {
        launched_key(l, LAUNCHED_LAYOUT, method, "recompute: full");
        return;
    }
    launched_key(l, LAUNCHED_LAYOUT, method, "recompute: %s", methods[how]);
    launched_key(l, LAUNCHED_LAYOUT, count, "recompute_layers: %" PRIu64, layers);
}

static void read_recompute(struct launched *l)
{
    static const char *const kinds[] = {"selective", "full", NULL};
    const int kind = launched_choice(l, MEGATRON_RECOMPUTE, kinds, -1);
    if (kind == 1 && !HAS(RECOMPUTE_METHOD))
        launched_bad(l, MEGATRON_RECOMPUTE, "full wants --recompute-method uniform or block");
    else if (kind == 1)
        read_whole_layers(l, MEGATRON_RECOMPUTE_METHOD, MEGATRON_RECOMPUTE_LAYERS);
    else if (kind == 0)
        read_modules(l);
    else if (ON(RECOMPUTE_ACTIVATIONS))
        LAYOUT(RECOMPUTE_ACTIVATIONS, "recompute: selective");
    else if (HAS(CHECKPOINT_METHOD) || ON(CHECKPOINT_ACTIVATIONS))
        read_whole_layers(l, MEGATRON_CHECKPOINT_METHOD, MEGATRON_CHECKPOINT_LAYERS);
    else
        LAYOUT(RECOMPUTE, "recompute: none");
}

static void read_offload(struct launched *l, const struct launched_ranks *ranks)
{
    const double layers = (double)COUNT(NUM_LAYERS, 1);
    const double kept = launched_number(l, MEGATRON_OFFLOAD_LAYERS, 0.0);
    if (kept > 0.0 && kept < layers && ranks->pp == 1)
        LAYOUT(OFFLOAD_LAYERS, "activation_offload: %.6f", kept / layers);
    else if (kept > 0.0)
        launched_bad(l, MEGATRON_OFFLOAD_LAYERS, "wants fewer than all layers, and no pipeline");
    if (ON(OPTIMIZER_OFFLOAD))
        LAYOUT(OFFLOAD_SHARE, "optimizer_offload: %g",
               launched_number(l, MEGATRON_OFFLOAD_SHARE, 1.0));
}

static void read_format(struct launched *l, enum megatron_option option, const char *key)
{
    static const char *const formats[] = {"fp32",    "float32", "bf16", "bfloat16", "fp16",
                                          "float16", "half",    "fp8",  "uint8",    NULL};
    static const char *const names[] = {"fp32", "fp32", "bf16", "bf16", "fp16",
                                        "fp16", "fp16", "fp8",  "fp8"};
    const int format = launched_choice(l, option, formats, 0);
    if (launched_has(l, option))
        launched_key(l, LAUNCHED_TRAINING, option, "%s: %s", key, names[format]);
}

static void read_optimizer(struct launched *l)
{
    static const char *const optimizers[] = {"adam", "sgd", "muon", "dist_muon", NULL};
    static const char *const names[] = {"adamw", "momentum", "muon", "muon"};
    const int kind = launched_choice(l, MEGATRON_OPTIMIZER, optimizers, 0);
    const bool plain = kind == 1 && launched_number(l, MEGATRON_MOMENTUM, 0.9) == 0.0;
    KEY(OPTIMIZER, "optimizer: %s", plain ? "sgd" : names[kind]);
    if (!ON(PRECISION_AWARE))
        return;
    read_format(l, MEGATRON_MASTER_TYPE, "master_weights");
    read_format(l, MEGATRON_FIRST_MOMENT, "first_moment");
    read_format(l, MEGATRON_SECOND_MOMENT, "second_moment");
}

static void read_graphs(struct launched *l)
{
    static const char *const impls[] = {"none", "local", "transformer_engine", NULL};
    static const char *const scopes[] = {"full", "full_iteration", "attn",          "mlp",
                                         "moe",  "moe_router",     "moe_preprocess"};
    const int impl = launched_choice(l, MEGATRON_GRAPHS, impls, 0);
    const char *words[8], *modules = "";
    if (impl == 0 && !ON(OLD_GRAPHS) && !ON(TE_GRAPHS)) {
        SOFTWARE(GRAPHS, "cuda_graphs: none");
        return;
    }
    const unsigned count = launched_list(l, MEGATRON_GRAPH_SCOPE, words, 8);
    for (unsigned i = 0; i < count && i < 8; i++) {
        bool is = false;
        for (unsigned k = 0; k < sizeof scopes / sizeof scopes[0]; k++)
            is = is || strcmp(scopes[k], words[i]) == 0;
        if (strcmp(words[i], "full_iteration") == 0)
            words[i] = "full";
        else if (strcmp(words[i], "full") == 0)
            words[i] = "layer";
        if (!is)
            launched_warn(l, MEGATRON_GRAPH_SCOPE, "this scope is simulated as none");
        else
            modules =
                arena_format(l->arena, "%s%s%s", modules, *modules != '\0' ? "+" : "", words[i]);
    }
    SOFTWARE(GRAPHS, "cuda_graphs: %s", *modules != '\0' ? modules : "layer");
}

static void read_tokens(struct launched *l, uint64_t sequence)
{
    const uint64_t batch = COUNT(GLOBAL_BATCH, 0);
    if (HAS(SAMPLES))
        KEY(SAMPLES, "tokens: %.0f", launched_number(l, MEGATRON_SAMPLES, 0.0) * (double)sequence);
    else if (HAS(ITERATIONS) && batch > 0)
        KEY(ITERATIONS, "tokens: %.0f",
            launched_number(l, MEGATRON_ITERATIONS, 0.0) * (double)(batch * sequence));
}

void launched_megatron_training(struct launched *l, const struct launched_ranks *ranks)
{
    if (!HAS(SEQ_LENGTH))
        launched_bad(l, LAUNCHED_NOTHING,
                     "it has no --seq-length, without which there is no scenario");
    const uint64_t sequence = COUNT(SEQ_LENGTH, 1);
    KEY(SEQ_LENGTH, "sequence: %" PRIu64, sequence);
    read_precision(l);
    read_attention(l);
    read_optimizer(l);
    read_tokens(l, sequence);
    read_recompute(l);
    read_offload(l, ranks);
    read_graphs(l);
}
