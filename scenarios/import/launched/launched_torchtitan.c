/* launched_torchtitan.c - a launch of torchtitan: the file, the model, the training. */
#include "scenarios/import/launched/launched_torchtitan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/source.h"

#define HAS(option) launched_has(l, TORCHTITAN_##option)
#define ON(option) launched_on(l, TORCHTITAN_##option)
#define COUNT(option, usual) launched_count(l, TORCHTITAN_##option, usual)
#define TEXT(option, usual) launched_text(l, TORCHTITAN_##option, usual)
#define TRAINING(option, ...) launched_key(l, LAUNCHED_TRAINING, TORCHTITAN_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, TORCHTITAN_##option, __VA_ARGS__)

static const struct launched_option options[] = {
#define X(id, name, dest, type) {name, dest, LAUNCHED_##type},
#include "scenarios/import/launched/launched_torchtitan_list.h"
#undef X
};
static const struct launched_other others[] = {
    {"training.enable-cpu-offload", "parameters, gradients and state stay on the cards"},
    {"training.deterministic", "deterministic kernels are slower than those that are simulated"},
    {"parallelism.disable-loss-parallel", "the loss is split over tensor ranks"},
    {"parallelism.module-fqns-per-model-part", "layers are spread over stages by their number"},
    {"parallelism.pipeline-parallel-schedule-csv", "an order of passes from a file is not read"},
    {"parallelism.enable-compiled-autograd", "autograd is simulated uncompiled"},
    {"parallelism.expert-parallel-a2a-*", "rows come to their experts by all-to-all"},
    {"quantize.grouped-mm.*", "experts are simulated in 16 bits"},
    {"quantize.linear.float8.force-recompute-fp8-weight-in-bwd", "weights are cast once"},
    {"quantize.linear.float8.precompute-float8-dynamic-scale-for-fsdp", NULL},
    {"quantize.linear.float8.emulate", "8-bit products are simulated as the card's own"},
    {"quantize.linear.mx.recipe-name", NULL},
    {"quantize.linear.mx.*", NULL},
    {"float8.*", NULL},
    {"mx.*", NULL},
    {"compile.*", NULL},
    {"activation-checkpoint.*", NULL},
    {"experimental.*", "what is experimental is not read"},
    {"fault-tolerance.*", "semi-synchronous training is not read"},
    {"primus-turbo.*", "its kernels are simulated as torchtitan's"},
    {"lr-scheduler.*", NULL},
    {"optimizer.*", NULL},
    {"training.*", NULL},
    {"model.*", NULL},
    {"job.*", NULL},
    {"metrics.*", NULL},
    {"profiling.*", NULL},
    {"checkpoint.*", NULL},
    {"comm.*", NULL},
    {"memory-estimation.*", NULL},
    {"validation.*", NULL},
    {"debug.*", NULL},
    {"sink-level", NULL},
    {"file-sink-level", NULL},
    {"stderr-sink-level", NULL},
    {"rdzv-*", NULL},
    {"local-ranks-filter", NULL},
    {"role", NULL},
    {"tee", NULL},
    {"master-*", NULL},
    {"node-rank", NULL},
    {"job-name", NULL},
    {"exclusive", NULL},
    {"requeue", NULL},
    {"open-mode", NULL},
    {"segment", NULL},
    {"partition", NULL},
    {"ntasks", NULL},
    {"cpus-per-task", NULL},
    {"nodelist", NULL},
    {"output*", NULL},
};
static const struct launched_table table = {options, TORCHTITAN_OPTIONS, others,
                                            sizeof others / sizeof others[0]};

/* torchtitan/models at v0.2.2, each model's __init__.py. */
const struct launched_flavor launched_flavors[] = {
    {"llama3", "8B", "llama3-8b", 32, false},
    {"llama3", "70B", "llama3-70b", 80, false},
    {"llama3", "405B", "llama3-405b", 126, false},
    {"llama4", "17bx16e", "llama4-scout", 48, true},
    {"llama4", "17bx128e", "llama4-maverick", 48, true},
    {"deepseek_v3", "236B", "deepseek-v2-236b", 60, true},
    {"deepseek_v3", "671B", "deepseek-v3-671b", 61, true},
    {"qwen3", "0.6B", "qwen3-0.6b", 28, false},
    {"qwen3", "1.7B", "qwen3-1.7b", 28, false},
    {"qwen3", "4B", "qwen3-4b", 36, false},
    {"qwen3", "8B", "qwen3-8b", 36, false},
    {"qwen3", "14B", "qwen3-14b", 40, false},
    {"qwen3", "32B", "qwen3-32b", 64, false},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b", 48, true},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b", 94, true},
    {"gpt_oss", "20b", "gpt-oss-20b", 24, true},
    {"gpt_oss", "120b", "gpt-oss-120b", 36, true},
    {NULL, NULL, NULL, 0, false},
};

static const struct launched_flavor *read_model(struct launched *l)
{
    const char *model = TEXT(MODEL, "llama3"), *flavor = TEXT(FLAVOR, NULL);
    const struct launched_flavor *f = launched_flavors;
    for (; flavor != NULL && f->model != NULL; f++)
        if (strcmp(f->model, model) == 0 && strcmp(f->flavor, flavor) == 0) {
            launched_key(l, LAUNCHED_MODEL, TORCHTITAN_FLAVOR, "preset: %s", f->preset);
            return f;
        }
    launched_key(l, LAUNCHED_MODEL, TORCHTITAN_FLAVOR, "# preset: not said");
    launched_warn(l,
                  HAS(FLAVOR)       ? TORCHTITAN_FLAVOR
                  : HAS(MODEL_FILE) ? TORCHTITAN_MODEL_FILE
                                    : LAUNCHED_NOTHING,
                  "the shape of the model is not known: --set model.preset=NAME says it to orrery "
                  "run");
    while (f->model != NULL)
        f++;
    return f;
}

/* Layers that stay in 16 bits: "output,layers.0.,layers.31.attention,layers.31.feed_forward". */
static void read_filter(struct launched *l, enum torchtitan_option option, uint64_t layers)
{
    const char *filter = launched_raw(l, (int)option);
    uint64_t first = 0, all = 0;
    bool named = false, *kept = ARENA_ARRAY(l->arena, bool, layers + 1);
    for (const char *at = filter; at != NULL && (at = strstr(at, "layers.")) != NULL;) {
        char *end;
        at += strlen("layers.");
        const uint64_t layer = strtoull(at, &end, 10);
        if (end == at)
            continue;
        named = true;
        if (layer >= layers) /* there is no such layer, or nobody knows */
            continue;
        all += !kept[layer];
        kept[layer] = true;
    }
    while (kept[first])
        first++;
    if (named && layers == 0)
        launched_warn(l, (int)option, "layers in 16 bits are simulated of a known flavor alone");
    else if (all > 0) {
        TRAINING(FLOAT8_FILTER, "bf16_layers_first: %" PRIu64, first);
        TRAINING(FLOAT8_FILTER, "bf16_layers_last: %" PRIu64, all - first);
    }
    if (filter == NULL ? option == TORCHTITAN_FLOAT8_FILTER : strstr(filter, "output") == NULL)
        launched_warn(l, TORCHTITAN_CONVERTERS, "the head is simulated in 16 bits");
}

static void read_precision(struct launched *l, uint64_t layers)
{
    static const char *const formats[] = {"bfloat16", "float32", NULL};
    const char *converters = launched_raw(l, TORCHTITAN_CONVERTERS);
    const bool mx = converters != NULL && strstr(converters, "mx") != NULL;
    const bool float8 = converters != NULL && strstr(converters, "float8") != NULL;
    const bool half = launched_choice(l, TORCHTITAN_DTYPE, formats, 1) == 0;
    const int param = launched_choice(l, TORCHTITAN_PARAM, formats, 0);
    const int reduce = launched_choice(l, TORCHTITAN_REDUCE, formats, 1);
    if (mx || float8) {
        const char *recipe = TEXT(RECIPE, "tensorwise");
        TRAINING(CONVERTERS, "precision: fp8");
        SOFTWARE(CONVERTERS, "fp8_recipe: %s", mx ? "mxfp8" : "current");
        read_filter(l, mx ? TORCHTITAN_MX_FILTER : TORCHTITAN_FLOAT8_FILTER, layers);
        if (float8 && !ON(FLOAT8_GATHER) && strcmp(recipe, "tensorwise") == 0)
            launched_warn(l, TORCHTITAN_CONVERTERS,
                          "weights are simulated as gathered in 8 bits "
                          "(enable_fsdp_float8_all_gather)");
        if (float8 && strcmp(recipe, "tensorwise") != 0)
            launched_warn(l, TORCHTITAN_RECIPE,
                          "scales are simulated as one of the tensor (tensorwise)");
    } else {
        TRAINING(PARAM, "precision: %s", param == 0 ? "bf16" : "fp32");
        if (converters != NULL && strpbrk(converters, "abcdefghijklmnopqrstuvwxyz") != NULL)
            launched_warn(l, TORCHTITAN_CONVERTERS, "%s: not simulated",
                          source_quote(l->arena, converters + strspn(converters, " ")));
    }
    TRAINING(REDUCE, "gradient_bytes: %d", reduce == 0 ? 2 : 4);
    if (half && (param == 0 || mx || float8))
        SOFTWARE(DTYPE, "states_as_weights: true");
    else if (half)
        launched_warn(l, TORCHTITAN_DTYPE,
                      "weights, gradients and states are simulated in 32 bits, as FSDP computes "
                      "(training.mixed_precision_param)");
}

static void read_batch(struct launched *l, const struct launched_ranks *ranks)
{
    const uint64_t local = COUNT(LOCAL_BATCH, 8), usual = local * ranks->dp;
    const bool given = HAS(GLOBAL_BATCH) && strcmp(TEXT(GLOBAL_BATCH, ""), "-1") != 0;
    if (!given && usual == 0)
        launched_bad(l, LAUNCHED_NOTHING,
                     "training.global_batch_size is not said, which is then the local batch of "
                     "each replica: --gpus N says how many there are");
    const uint64_t batch = given ? COUNT(GLOBAL_BATCH, 1) : usual;
    const uint64_t micro = ranks->pp > 1 ? COUNT(MICROBATCH, 1) : local;
    if (!l->broken && usual > 0 && batch % usual != 0)
        launched_bad(l, TORCHTITAN_GLOBAL_BATCH,
                     "%" PRIu64 " sequences do not divide by local batch %" PRIu64 " x dp %" PRIu64,
                     batch, local, ranks->dp);
    if (!l->broken && local % micro != 0)
        launched_bad(l, TORCHTITAN_MICROBATCH,
                     "microbatches of %" PRIu64 " do not divide a local batch of %" PRIu64, micro,
                     local);
    if (ranks->pp > 1 && usual > 0 && batch > usual)
        launched_warn(l, TORCHTITAN_GLOBAL_BATCH,
                      "the pipeline is simulated as filled once a step, not for each local batch");
    launched_key(l, LAUNCHED_LAYOUT, ranks->pp > 1 ? TORCHTITAN_MICROBATCH : TORCHTITAN_LOCAL_BATCH,
                 "microbatch: %" PRIu64, micro);
    TRAINING(GLOBAL_BATCH, "global_batch: %" PRIu64, batch);
    TRAINING(SEQUENCE, "sequence: %" PRIu64, COUNT(SEQUENCE, 2048));
    if (HAS(STEPS))
        TRAINING(STEPS, "tokens: %.0f",
                 (double)COUNT(STEPS, 1) * (double)(batch * COUNT(SEQUENCE, 2048)));
}

static void read_optimizer(struct launched *l)
{
    static const char *const ways[] = {"fused", "foreach", "for-loop", NULL};
    if (launched_choice(l, TORCHTITAN_IMPLEMENTATION, ways, 0) != 0)
        launched_warn(l, TORCHTITAN_IMPLEMENTATION,
                      "moves time: the optimizer is simulated as one fused kernel");
    if (ON(EARLY_STEP))
        launched_warn(l, TORCHTITAN_EARLY_STEP,
                      "moves time and memory: the optimizer is simulated behind the backward pass, "
                      "which keeps all gradients");
}

/* compile.components: model and loss where nothing is said. */
static void read_compiled(struct launched *l)
{
    enum {
        COMPONENTS_MOST = 8
    };
    const char *components[COMPONENTS_MOST];
    bool model = !HAS(COMPONENTS), loss = model;
    unsigned count = launched_list(l, TORCHTITAN_COMPONENTS, components, COMPONENTS_MOST);
    for (unsigned i = 0; i < count && i < COMPONENTS_MOST; i++) {
        model = model || strcmp(components[i], "model") == 0;
        loss = loss || strcmp(components[i], "loss") == 0;
    }
    l->profile = ON(COMPILE) && model ? "torchtitan" : "torchtitan-eager";
    if (ON(COMPILE) && model != loss)
        launched_warn(l, TORCHTITAN_COMPONENTS, "the loss is simulated as the model: %s",
                      model ? "compiled" : "not compiled");
}

static void read_training(struct launched *l, const struct launched_ranks *ranks, uint64_t layers)
{
    static const char *const optimizers[] = {"AdamW", "Adam", NULL};
    static const char *const names[] = {"adamw", "adam"};
    read_batch(l, ranks);
    read_precision(l, layers);
    TRAINING(OPTIMIZER, "optimizer: %s",
             names[launched_choice(l, TORCHTITAN_OPTIMIZER, optimizers, 0)]);
    read_optimizer(l);
    read_compiled(l);
}

/* Does torchtitan alone have the key, among those that make keys? */
static bool is_own(const char *name)
{
    for (int i = 0; i < TORCHTITAN_OPTIONS; i++)
        if (i != TORCHTITAN_MODEL && i != TORCHTITAN_OPTIMIZER && strchr(name, '.') != NULL &&
            (strcmp(options[i].name, name) == 0 ||
             (options[i].dest != NULL && strcmp(options[i].dest, name) == 0)))
            return true;
    return false;
}

/* Is it a key that torchtitan may have? */
static bool is_known(const char *name)
{
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        const size_t bytes = strcspn(others[i].name, "*");
        if (strncmp(others[i].name, name, bytes) == 0 &&
            (others[i].name[bytes] == '*' || name[bytes] == '\0'))
            return true;
    }
    return is_own(name) || strcmp(name, "model.name") == 0 || strcmp(name, "model") == 0;
}

/* What a file with such a key is, and what to do with it. */
static const char *looks_like(const struct launched_words *words)
{
    static const struct {
        const char *key, *what;
    } looks[] = {
        {"step-scheduler.", "a recipe of NeMo Automodel, which has no importer: write the scenario "
                            "(orrery list models, docs/reference.md)"},
        {"tensor-model-parallel-size", "options of Megatron-LM: give the log of the run, which "
                                       "lists them, to orrery import megatron"},
        {"micro-batch-size", "options of Megatron-LM: give the log of the run, which lists them, "
                             "to orrery import megatron"},
        {"exp-manager.", "a configuration of NeMo: orrery import nemo"},
        {"tokens.", "a configuration of Nanotron: orrery import nanotron"},
        {"zero-optimization.", "a configuration of DeepSpeed: orrery import deepspeed"},
        {"max-seq-len", "a configuration of LLM Foundry, which has no importer: write the scenario "
                        "(orrery list models, docs/reference.md)"},
    };
    for (unsigned k = 0; k < sizeof looks / sizeof looks[0]; k++)
        for (uint32_t i = 0; i < words->count; i++)
            if (strncmp(words->rows[i].name, looks[k].key, strlen(looks[k].key)) == 0)
                return looks[k].what;
    return "a file of another program: orrery import --help lists those that are read";
}

/* A document without a key of torchtitan's own, or of which most keys are none of its, is of
 * another program, and would be taken as one of defaults. */
static bool check_own(const struct launched_words *words)
{
    const struct launched_word *stranger = NULL;
    uint32_t own = 0, strange = 0;
    for (uint32_t i = 0; i < words->count; i++) {
        own += is_own(words->rows[i].name);
        if (is_known(words->rows[i].name))
            continue;
        strange++;
        stranger = stranger != NULL ? stranger : &words->rows[i];
    }
    if (own > 0 && 2 * strange <= words->count)
        return true;
    return stranger == NULL
               ? error_set(
                     words->error,
                     "%s: no key that torchtitan alone has, as training.seq_len, model.flavor "
                     "or parallelism.tensor_parallel_degree: is it the file of the run?",
                     words->path)
               : error_set(words->error,
                           "%s:%u: not of torchtitan: %u of its %u keys, as %s, are none of its; "
                           "it looks "
                           "like %s",
                           words->path, stranger->line, strange, words->count,
                           source_quote(words->arena, stranger->name), looks_like(words));
}

/* Primus names the framework of its module. */
static bool check_framework(const struct import_file *file, const struct launched_hints *hints,
                            const struct launched_words *words)
{
    struct launched_words module = {
        .arena = words->arena, .path = words->path, .error = words->error};
    if (!launched_yaml_tables(file, hints, "modules.pre_trainer", &module))
        return false;
    for (uint32_t i = 0; i < module.count; i++)
        if (strcmp(module.rows[i].name, "framework") == 0 &&
            strcmp(module.rows[i].value, "torchtitan") != 0)
            return error_set(words->error,
                             "%s:%u: its framework is %s, not torchtitan: a launch of Megatron-LM "
                             "lists its options in its log, which orrery import megatron reads",
                             words->path, module.rows[i].line,
                             source_quote(words->arena, module.rows[i].value));
    return true;
}

static bool read_words(const struct import_file *file, const struct launched_hints *hints,
                       struct launched_words *words)
{
    if (launched_is_yaml(file, "modules"))
        return launched_yaml_tables(file, hints, "modules.pre_trainer.overrides", words) &&
               check_framework(file, hints, words) && check_own(words);
    if (launched_is_yaml(file, "training") || launched_is_yaml(file, "model"))
        return launched_yaml_tables(file, hints, "", words) && check_own(words);
    return launched_is_toml(file) ? launched_toml(file, words) && check_own(words)
                                  : launched_script(file, hints, words);
}

bool launched_torchtitan(struct arena *arena, const struct import_file *file,
                         const struct launched_hints *given, uint64_t gpus, struct launched *l,
                         struct error *error)
{
    static const char *const marks[] = {"training.seq-len",
                                        "training.local-batch-size",
                                        "parallelism.tensor-parallel-degree",
                                        "parallelism.data-parallel-shard-degree",
                                        "model.flavor",
                                        "model.name",
                                        "job.config-file",
                                        NULL};
    static const struct launched_hosts hosts = {LAUNCHED_NOTHING,      TORCHTITAN_NPROC,
                                                TORCHTITAN_NNODES,     TORCHTITAN_SLURM_NODES,
                                                TORCHTITAN_SLURM_GPUS, TORCHTITAN_SLURM_TASKS};
    struct launched_hints hints = *given;
    struct launched_words words = {.arena = arena, .path = file->path, .error = error};
    hints.marks = marks;
    if (!read_words(file, &hints, &words))
        return false;
    launched_take(&words, &table, l);
    if (HAS(CONFIG_FILE))
        launched_warn(l, TORCHTITAN_CONFIG_FILE,
                      "the options of that file are not read with this one: import it");
    const struct launched_flavor *flavor = read_model(l);
    struct launched_ranks ranks = {COUNT(TP, 1), COUNT(PP, 1), COUNT(CP, 1), 0};
    launched_replicas(l, &hosts, gpus, &ranks);
    if (l->broken)
        return false;
    launched_torchtitan_layout(l, &ranks, flavor);
    read_training(l, &ranks, flavor->layers);
    return !l->broken;
}
