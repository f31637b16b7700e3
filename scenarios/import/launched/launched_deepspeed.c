/* launched_deepspeed.c - DeepSpeed's configuration: the file, the model, batches and formats. */
#include "scenarios/import/launched/launched_deepspeed.h"

#include <inttypes.h>

#include "scenarios/language/source.h"

#define SAYS(option) launched_deepspeed_says(l, DEEPSPEED_##option)
#define ON(option) launched_on(l, DEEPSPEED_##option)
#define COUNT(option, usual) (SAYS(option) ? launched_count(l, DEEPSPEED_##option, usual) : (usual))
#define TRUTH(option, usual) (SAYS(option) ? launched_truth(l, DEEPSPEED_##option, usual) : (usual))
#define MODEL(option, ...) launched_key(l, LAUNCHED_MODEL, DEEPSPEED_##option, __VA_ARGS__)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, DEEPSPEED_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, DEEPSPEED_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name, dest, type) {name, dest, LAUNCHED_##type},
#include "scenarios/import/launched/launched_deepspeed_list.h"
#undef X
};
static const char prefetch[] = "what is gathered ahead is simulated by units of layers";
/* The first that fits counts. */
static const struct launched_other others[] = {
    {"zero_optimization.stage3_prefetch_bucket_size", prefetch},
    {"zero_optimization.stage3_max_reuse_distance", prefetch},
    {"zero_optimization.stage3_param_persistence_threshold",
     "small tensors are simulated as sharded, too"},
    {"zero_optimization.allgather_bucket_size", "gathers have the size of the profile's buckets"},
    {"zero_optimization.zero_hpz_partition_size", "weights are sharded over all data ranks"},
    {"zero_optimization.zero_quantized_*", "what is sent is simulated in 16 bits"},
    {"zero_optimization.reduce_scatter", NULL},
    {"zero_optimization.mics_*", "gathers are not taken in two steps"},
    {"zero_optimization.offload_optimizer.*", NULL},
    {"zero_optimization.offload_param.*", NULL},
    {"zero_optimization.allgather_partitions", NULL},
    {"zero_optimization.contiguous_gradients", NULL},
    {"zero_optimization.round_robin_gradients", NULL},
    {"zero_optimization.sub_group_size", NULL},
    {"zero_optimization.ignore_unused_parameters", NULL},
    {"zero_optimization.elastic_checkpoint", NULL},
    {"zero_optimization.load_from_fp32_weights", NULL},
    {"zero_optimization.legacy_stage1", NULL},
    {"zero_optimization.stage3_gather_*", NULL},
    {"zero_optimization.memory_efficient_linear", NULL},
    {"zero_optimization.pipeline_loading_checkpoint", NULL},
    {"zero_optimization.override_module_apply", NULL},
    {"zero_optimization.use_multi_rank_bucket_allreduce", NULL},
    {"zero_optimization.log_trace_cache_warnings", NULL},
    {"zero_optimization.param_persistence_threshold", NULL},
    {"activation_checkpointing.*", NULL},
    {"optimizer.*", NULL},
    {"scheduler.*", NULL},
    {"fp16.*", NULL},
    {"bf16.*", NULL},
    {"bfloat16.*", NULL},
    {"torch_autocast.*", NULL},
    {"amp.*", "NVIDIA Apex's amp is not read"},
    {"aio.*", "drives reach the node's rates"},
    {"pipeline.*", "stages are those of the command line"},
    {"compression_training.*", "weights and activations are not compressed"},
    {"sparse_attention.*", "attention is simulated as dense"},
    {"progressive_layer_drop.*", "no layers are dropped"},
    {"curriculum_learning.*", "sequences have their full length"},
    {"data_efficiency.*", "sequences have their full length"},
    {"hybrid_engine.*", "generation is not simulated"},
    {"compile.*", "kernels are simulated as the profile fuses them"},
    {"sparse_gradients", "gradients of embeddings are simulated as dense"},
    {"prescale_gradients", NULL},
    {"gradient_predivide_factor", NULL},
    {"steps_per_print", NULL},
    {"wall_clock_breakdown", NULL},
    {"memory_breakdown", NULL},
    {"dump_state", NULL},
    {"seed", NULL},
    {"zero_allow_untested_optimizer", NULL},
    {"zero_force_ds_cpu_optimizer", NULL},
    {"checkpoint.*", NULL},
    {"flops_profiler.*", NULL},
    {"comms_logger.*", NULL},
    {"tensorboard.*", NULL},
    {"wandb.*", NULL},
    {"csv_monitor.*", NULL},
    {"autotuning.*", NULL},
    {"elasticity.*", NULL},
    {"eigenvalue.*", NULL},
    {"no-pipeline-parallel", NULL},
    {"force-ds-sequence-parallel", NULL},
    {"deepspeed*", NULL},
    {"rotary-position-embeddings-theta", NULL},
    {"checkpoint-activations", "layers that are computed again are those of --recompute-*"},
    {"save*", NULL},
    {"load*", NULL},
    {"lr*", NULL},
    {"min-lr", NULL},
    {"weight-decay*", NULL},
    {"adam-*", NULL},
    {"clip-grad", NULL},
    {"data-*", NULL},
    {"tokenizer-*", NULL},
    {"vocab-file", NULL},
    {"merge-file", NULL},
    {"split", NULL},
    {"eval-*", NULL},
    {"log-*", NULL},
    {"tensorboard-*", NULL},
    {"init-method-std", NULL},
    {"num-workers", NULL},
    {"rdzv-*", NULL},
    {"job-name", NULL},
    {"exclusive", NULL},
    {"requeue", NULL},
    {"open-mode", NULL},
    {"segment", NULL},
    {"hostfile", NULL},
    {"master*", NULL},
};
static const struct launched_table table = {options, DEEPSPEED_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

/* The document that a script writes (cat >ds.json <<'END'), with blanks before it, so that its
 * lines keep their numbers; NULL: there is none. */
static char *document_in(struct arena *arena, const char *text)
{
    const char *mark = strstr(text, "<<");
    for (; mark != NULL; mark = strstr(mark + 2, "<<")) {
        const char *word = mark + 2 + strspn(mark + 2, "-'\" ");
        const size_t bytes = strcspn(word, "'\"\n ");
        const char *line = strchr(word, '\n');
        if (line == NULL || bytes == 0 || line[1 + strspn(line + 1, " \t\r\n")] != '{')
            continue;
        const char *end = strstr(line, arena_format(arena, "\n%.*s", (int)bytes, word));
        char *own = arena_text(arena, text);
        if (end != NULL)
            own[end - text] = '\0';
        for (char *c = own; c < own + (line - text); c++)
            *c = *c == '\n' ? '\n' : ' ';
        return own;
    }
    return NULL;
}

static bool read_words(const struct import_file *file, const struct launched_hints *hints,
                       struct launched_words *words)
{
    static const char *const marks[] = {"deepspeed-config", "deepspeed", "num-layers", NULL};
    struct launched_hints own = *hints;
    if (file->text[strspn(file->text, " \t\r\n")] == '{')
        return launched_document(file, "", words);
    char *text = document_in(words->arena, file->text);
    own.marks = marks;
    if (!launched_script(file, &own, words))
        return false;
    if (text == NULL)
        return error_set(words->error,
                         "%s: no configuration in it (cat >ds.json <<'END'): ds_config.json is "
                         "read, or a script that writes it",
                         file->path);
    return launched_document(&(struct import_file){file->path, text, strlen(text)}, "", words);
}

/* A shape that the command line has. */
static void read_shape(struct launched *l)
{
    static const char *const norms[] = {"layernorm", "rmsnorm", NULL};
    const int norm = launched_choice(l, DEEPSPEED_NORM, norms, 0);
    const uint64_t hidden = launched_needed(l, DEEPSPEED_HIDDEN, "hidden-size");
    const uint64_t heads = launched_needed(l, DEEPSPEED_HEADS, "num-attention-heads");
    const double dropout = launched_number(l, DEEPSPEED_DROPOUT, 0.1);
    MODEL(LAYERS, "layers: %" PRIu64, COUNT(LAYERS, 1));
    MODEL(HIDDEN, "hidden: %" PRIu64, hidden);
    MODEL(HEADS, "heads: %" PRIu64, heads);
    MODEL(KV_HEADS, "kv_heads: %" PRIu64, COUNT(KV_HEADS, heads));
    if (SAYS(HEAD_SIZE))
        MODEL(HEAD_SIZE, "head_size: %" PRIu64, COUNT(HEAD_SIZE, 1));
    MODEL(FFN, "ffn_hidden: %" PRIu64, COUNT(FFN, 4 * hidden));
    launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "# vocabulary: not said");
    launched_warn(l, LAUNCHED_NOTHING,
                  "the vocabulary is the tokenizer's: --set model.vocabulary=N says it to orrery "
                  "run");
    MODEL(SWIGLU, "ffn: %s", ON(SWIGLU) ? "swiglu" : ON(SQUARED_RELU) ? "squared_relu" : "gelu");
    MODEL(NORM, "norm: %s", norm == 0 ? "layernorm" : "rms");
    if (norm == 0 && ON(NO_BIASES))
        MODEL(NO_BIASES, "norm_biases: true");
    MODEL(ROTARY, "position: %s", ON(ROTARY) ? "rope" : "learned");
    if (!ON(ROTARY) && SAYS(POSITIONS))
        MODEL(POSITIONS, "positions_max: %" PRIu64, COUNT(POSITIONS, 1));
    MODEL(UNTIE, "tied_embeddings: %s", ON(UNTIE) ? "false" : "true");
    MODEL(NO_BIASES, "biases: %s", ON(NO_BIASES) ? "false" : "true");
    MODEL(DROPOUT, "dropout: %g", dropout);
    if ((launched_number(l, DEEPSPEED_ATTENTION_DROPOUT, 0.1) > 0.0) != (dropout > 0.0))
        launched_warn(l, DEEPSPEED_ATTENTION_DROPOUT, "one dropout is simulated, %g", dropout);
    if (SAYS(EXPERTS) && COUNT(EXPERTS, 1) > 1)
        launched_bad(l, DEEPSPEED_EXPERTS, "experts of DeepSpeed are not read");
}

static void read_model(struct launched *l, const char *name)
{
    const size_t bytes = name != NULL ? strlen(name) : 0;
    const bool file = bytes > 5 && strcmp(name + bytes - 5, ".json") == 0;
    if (name == NULL && SAYS(LAYERS)) {
        read_shape(l);
    } else if (name == NULL) {
        launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "# preset: not said: --model NAME");
        launched_warn(l, LAUNCHED_NOTHING, "the model is not said: --model NAME, or a config.json");
    } else if (bytes > 400 || strpbrk(name, "'\"\\\n\r\t#") != NULL) {
        launched_bad(l, LAUNCHED_NOTHING, "--model is no name and no path: %s",
                     source_quote(l->arena, name));
    } else {
        launched_key(l, LAUNCHED_MODEL, LAUNCHED_NOTHING, "%s: \"%s\"", file ? "hf" : "preset",
                     name);
    }
}

/* Of batch = microbatch x accumulation x dp, with what DeepSpeed makes of two or of one. */
static void read_batch(struct launched *l, struct launched_ranks *ranks)
{
    const bool whole = SAYS(BATCH), each = SAYS(MICRO), times = SAYS(ACCUMULATION);
    uint64_t batch = COUNT(BATCH, 1), micro = COUNT(MICRO, 1), count = COUNT(ACCUMULATION, 1);
    const uint64_t model = ranks->tp * ranks->pp * ranks->cp;
    if (l->broken)
        return;
    if (whole && each && batch % (times ? micro * count : micro) != 0) {
        launched_bad(l, DEEPSPEED_BATCH,
                     "%" PRIu64 " sequences are not microbatches of %" PRIu64 " x accumulation",
                     batch, micro);
        return;
    }
    if (ranks->dp == 0 && whole && each && times) {
        ranks->dp = batch / (micro * count);
        l->gpus = ranks->dp * model;
        launched_key(l, LAUNCHED_CLUSTER, DEEPSPEED_BATCH, "gpus: %" PRIu64, l->gpus);
    }
    if (!whole && (!each || ranks->dp == 0)) {
        launched_bad(l, LAUNCHED_NOTHING,
                     "it does not say train_batch_size, nor, with --gpus, "
                     "train_micro_batch_size_per_gpu");
        return;
    }
    const uint64_t dp = ranks->dp > 0 ? ranks->dp : 1;
    if (!whole)
        batch = micro * count * dp;
    if (!each && ranks->dp > 0)
        micro = batch / (count * dp);
    if (micro == 0 ||
        (ranks->dp > 0 && (times ? batch != micro * count * dp : batch % (micro * dp) != 0)))
        launched_bad(l, DEEPSPEED_BATCH,
                     "%" PRIu64 " sequences are not microbatches of %" PRIu64 " x accumulation x "
                     "dp %" PRIu64,
                     batch, micro, dp);
    TRAINING(BATCH, "global_batch: %" PRIu64, batch);
    if (each || ranks->dp > 0)
        launched_key(l, LAUNCHED_LAYOUT, DEEPSPEED_MICRO, "microbatch: %" PRIu64, micro);
}

static void read_precision(struct launched *l)
{
    static const char *const types[] = {"bfloat16", "bf16", "float16", "fp16", "float32", NULL};
    const int cast = launched_choice(l, DEEPSPEED_AUTOCAST_TYPE, types, 0);
    const bool casts = TRUTH(AUTOCAST, false), halves = TRUTH(FP16, false);
    const bool brain = TRUTH(BF16, false);
    if (brain && halves) /* as DeepSpeed's engine refuses it */
        launched_bad(l, DEEPSPEED_FP16, "bf16 is enabled too: one of them can be");
    if (brain || ON(BF16_FLAG))
        TRAINING(BF16, "precision: bf16");
    else if (halves || ON(FP16_FLAG))
        TRAINING(FP16, "precision: fp16");
    else if (casts && cast < 4)
        TRAINING(AUTOCAST_TYPE, "precision: %s", cast < 2 ? "bf16" : "fp16");
    else if (launched_has(l, DEEPSPEED_BF16) && !SAYS(BF16))
        launched_warn(l, DEEPSPEED_BF16, "the Trainer says it: simulated as by default");
    else
        TRAINING(FP16, "precision: fp32");
    if (SAYS(GRADIENT_TYPE)) {
        static const char *const kept[] = {"fp32", "bf16", "fp16", NULL};
        TRAINING(GRADIENT_TYPE, "gradient_bytes: %d",
                 launched_choice(l, DEEPSPEED_GRADIENT_TYPE, kept, 0) == 0 ? 4 : 2);
    }
    if (SAYS(REDUCE_TYPE)) {
        static const char *const sent[] = {"fp32", "bf16", "fp16", "bfp16", NULL};
        SOFTWARE(REDUCE_TYPE, "gradient_reduce_bytes: %d",
                 launched_choice(l, DEEPSPEED_REDUCE_TYPE, sent, 0) == 0 ? 4 : 2);
    }
}

static void read_optimizer(struct launched *l)
{
    static const char *const names[] = {"AdamW", "Adam", "adamw", "adam",    "FusedAdam", "SGD",
                                        "sgd",   "Lion", "Muon",  "Adagrad", "Lamb",      NULL};
    const int kind = SAYS(OPTIMIZER) ? launched_choice(l, DEEPSPEED_OPTIMIZER, names, 0) : 0;
    if (kind == 5 || kind == 6)
        TRAINING(OPTIMIZER, "optimizer: %s",
                 launched_number(l, DEEPSPEED_MOMENTUM, 0.0) > 0.0 ? "momentum" : "sgd");
    else if (kind == 8)
        TRAINING(OPTIMIZER, "optimizer: muon");
    else
        TRAINING(OPTIMIZER, "optimizer: adamw");
    if (kind == 7 || kind > 8)
        launched_warn(l, DEEPSPEED_OPTIMIZER, "simulated as adamw, with its two moments");
}

static void read_training(struct launched *l, struct launched_ranks *ranks)
{
    read_batch(l, ranks);
    if (SAYS(SEQUENCE)) {
        TRAINING(SEQUENCE, "sequence: %" PRIu64, COUNT(SEQUENCE, 1));
        TRAINING(FLASH2, "attention: %s", ON(FLASH2) ? "flash2" : ON(FLASH1) ? "flash1" : "math");
    } else {
        launched_key(l, LAUNCHED_TRAINING, LAUNCHED_NOTHING, "# sequence: not said");
        launched_warn(l, LAUNCHED_NOTHING,
                      "the length of sequences is not said: --set training.sequence=N says it to "
                      "orrery run");
    }
    read_precision(l);
    read_optimizer(l);
    if (SAYS(CLIP))
        SOFTWARE(CLIP, "clip_gradients: %s",
                 launched_number(l, DEEPSPEED_CLIP, 0.0) > 0.0 ? "true" : "false");
    if (SAYS(ITERATIONS) && SAYS(SEQUENCE) && SAYS(BATCH))
        TRAINING(ITERATIONS, "tokens: %.0f",
                 launched_number(l, DEEPSPEED_ITERATIONS, 0.0) *
                     (double)(COUNT(BATCH, 1) * COUNT(SEQUENCE, 1)));
}

bool launched_deepspeed(struct arena *arena, const struct import_file *file,
                        const struct launched_hints *hints, uint64_t gpus, struct launched *l,
                        struct error *error)
{
    static const struct launched_hosts hosts = {LAUNCHED_NOTHING,     DEEPSPEED_NPROC,
                                                DEEPSPEED_NNODES,     DEEPSPEED_SLURM_NODES,
                                                DEEPSPEED_SLURM_GPUS, DEEPSPEED_SLURM_TASKS};
    struct launched_words words = {.arena = arena, .path = file->path, .error = error};
    if (!read_words(file, hints, &words))
        return false;
    launched_take(&words, &table, l);
    l->profile = "deepspeed";
    struct launched_ranks ranks = {COUNT(AUTO_TP, 1), COUNT(PP, 1), COUNT(ULYSSES, 1), 0};
    read_model(l, hints->model);
    launched_replicas(l, &hosts, gpus, &ranks);
    if (l->broken)
        return false;
    read_training(l, &ranks);
    launched_deepspeed_layout(l, &ranks);
    return !l->broken;
}
