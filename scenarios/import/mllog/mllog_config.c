/* mllog_config.c - which variables of a configuration mean what. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scenarios/import/mllog/mllog_layout.h"

enum {
    NAMES = 3
};
static const struct count_role {
    enum mllog_count count;
    const char *names[NAMES];
} count_roles[] = {
    {MLLOG_TP, {"TENSOR_MODEL_PARALLEL", "TP", NULL}},
    {MLLOG_PP, {"PIPELINE_MODEL_PARALLEL", "PP", NULL}},
    {MLLOG_CP, {"CONTEXT_PARALLEL", "CP", NULL}},
    {MLLOG_EP, {"EXPERT_PARALLEL", "EP", NULL}},
    {MLLOG_VPP, {"INTERLEAVED_PIPELINE", "VP", NULL}},
    {MLLOG_MICROBATCH, {"MICRO_BATCH_SIZE", "MBS", NULL}},
    {MLLOG_GLOBAL_BATCH, {"GLOBAL_BATCH_SIZE", "GBS", NULL}},
    {MLLOG_SEQUENCE, {"MAX_SEQLEN", "SEQ_LENGTH", NULL}},
    {MLLOG_REPLICA_SAMPLES, {"MINIBS", NULL, NULL}},
    {MLLOG_NODES, {"DGXNNODES", "NNODES", NULL}},
    {MLLOG_NODE_GPUS, {"DGXNGPU", "GPUS_PER_NODE", NULL}},
    {MLLOG_LORA_RANK, {"LORA_DIM", NULL, NULL}},
    {MLLOG_LAYERS, {"OVERWRITTEN_NUM_LAYERS", NULL, NULL}},
};
static const struct flag_role {
    enum mllog_flag flag;
    const char *names[NAMES];
} flag_roles[] = {
    {MLLOG_SEQUENCE_PARALLEL, {"SEQ_PARALLEL", "SP", NULL}},
    {MLLOG_DISTRIBUTED_OPTIMIZER, {"USE_DIST_OPTIMIZER", NULL, NULL}},
    {MLLOG_EMBEDDING_COUNTS, {"ASYM_PP_EMBED", NULL, NULL}},
    {MLLOG_HEAD_COUNTS, {"ASYM_PP_LOSS", NULL, NULL}},
    {MLLOG_FP8, {"FP8", NULL, NULL}},
    {MLLOG_FP4, {"FP4", NULL, NULL}},
    {MLLOG_FP8_ATTENTION, {"FP8_DPA", NULL, NULL}},
    {MLLOG_GRAPH_FULL, {"FULL_CUDA_GRAPH", NULL, NULL}},
    {MLLOG_GRAPH_LAYER, {"LAYER_CUDA_GRAPH", "MCORE_CUDA_GRAPH", NULL}},
};
/* FP8_RECIPE, as Transformer Engine names them and as software.fp8_recipe does. */
static const struct {
    const char *theirs, *ours;
} recipes[] = {{"tensorwise", "current"},
               {"delayed", "delayed"},
               {"mxfp8", "mxfp8"},
               {"blockwise", "blockwise"}};

struct roles {
    struct arena *arena;
    const struct shell *config;
    struct mllog_layout *out;
    struct error *error;
    unsigned said;
};

static const char *place_of(const struct roles *r, const struct shell_variable *v)
{
    return arena_format(r->arena, "%s:%u, %s", v->path, v->line, v->name);
}

/* The variable of a role, of which there may be two names with one value; NULL in `out`: none. */
static bool find(const struct roles *r, const char *const names[NAMES],
                 const struct shell_variable **out)
{
    *out = NULL;
    for (unsigned i = 0; i < NAMES && names[i] != NULL; i++) {
        const struct shell_variable *v = shell_find(r->config, names[i]);
        if (v != NULL && v->value == NULL)
            return error_set(r->error,
                             "%s:%u: %s is not known without running the script (%s): write its "
                             "value there",
                             v->path, v->line, v->name, v->why);
        if (v == NULL || *v->value == '\0')
            continue;
        if (*out != NULL && strcmp((*out)->value, v->value) != 0)
            return error_set(r->error,
                             "%s:%u: %s is %.40s, and %s is %.40s in %s:%u; both name the same "
                             "size: correct one",
                             v->path, v->line, v->name, v->value, (*out)->name, (*out)->value,
                             (*out)->path, (*out)->line);
        if (*out == NULL)
            *out = v;
    }
    return true;
}

/* NeMo takes `null` for "no interleaving": one chunk for each stage. */
static double count_of(const char *text, enum mllog_count count)
{
    double value;
    if (count == MLLOG_VPP &&
        (strcmp(text, "null") == 0 || strcmp(text, "0") == 0 || strcmp(text, "None") == 0))
        return 1.0;
    return import_text_number(text, &value) && value >= 1.0 && value <= MLLOG_COUNT_MAX &&
                   value == floor(value)
               ? value
               : 0.0;
}

static bool read_count(struct roles *r, const struct count_role *role)
{
    const struct shell_variable *v;
    struct mllog_said *said = &r->out->counts[role->count];
    if (!find(r, role->names, &v))
        return false;
    if (v == NULL)
        return true;
    said->value = count_of(v->value, role->count);
    if (said->value == 0.0)
        return error_set(r->error, "%s:%u: %s is no whole number from 1 to %d", v->path, v->line,
                         v->name, MLLOG_COUNT_MAX);
    said->place = place_of(r, v);
    r->said++;
    return true;
}

/* 1, 0, or -1: neither. */
static int truth_of(const char *text)
{
    if (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0)
        return 1;
    return strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0 ? 0 : -1;
}

static bool read_flag(struct roles *r, const struct flag_role *role)
{
    const struct shell_variable *v;
    if (!find(r, role->names, &v))
        return false;
    if (v == NULL)
        return true;
    const int truth = truth_of(v->value);
    if (truth < 0)
        return error_set(r->error, "%s:%u: %s is neither True nor False", v->path, v->line,
                         v->name);
    r->out->flags[role->flag].value = truth;
    r->out->flags[role->flag].place = place_of(r, v);
    r->said++;
    return true;
}

static bool read_recipe(struct roles *r)
{
    static const char *const names[NAMES] = {"FP8_RECIPE", NULL, NULL};
    const struct shell_variable *v;
    if (!find(r, names, &v))
        return false;
    if (v == NULL)
        return true;
    for (unsigned i = 0; i < sizeof recipes / sizeof recipes[0]; i++)
        if (strcmp(v->value, recipes[i].theirs) == 0) {
            r->out->fp8_recipe = (struct mllog_text){recipes[i].ours, place_of(r, v)};
            return true;
        }
    r->out->notes[r->out->note_count++] =
        arena_format(r->arena, "%s is %.40s, which no scenario has: fp8_recipe is not said",
                     place_of(r, v), v->value);
    return true;
}

/* FP4 before FP8, as pretrain.py takes them; bf16 where FP8 is said to be off. */
static void read_precision(struct roles *r)
{
    struct mllog_layout *out = r->out;
    if (out->flags[MLLOG_FP4].value == 1)
        out->precision = (struct mllog_text){"nvfp4", out->flags[MLLOG_FP4].place};
    else if (out->flags[MLLOG_FP8].value == 1)
        out->precision = (struct mllog_text){"fp8", out->flags[MLLOG_FP8].place};
    else if (out->flags[MLLOG_FP8].value == 0)
        out->precision = (struct mllog_text){"bf16", out->flags[MLLOG_FP8].place};
}

/* SYSTEM_NODESxGPUSxMINIBS..., as submissions name their configurations: GPUs of a node, if the
 * other two are those that the file sets. */
static void read_name(struct roles *r, const char *path)
{
    const char *base = strrchr(path, '/');
    struct mllog_said *gpus = &r->out->counts[MLLOG_NODE_GPUS];
    unsigned nodes, node_gpus, samples;
    for (base = base != NULL ? base + 1 : path; gpus->value == 0.0 && base != NULL;
         base = strchr(base, '_')) {
        base += *base == '_';
        if (sscanf(base, "%5ux%5ux%5u", &nodes, &node_gpus, &samples) == 3 && node_gpus > 0 &&
            r->out->counts[MLLOG_NODES].value == nodes &&
            r->out->counts[MLLOG_REPLICA_SAMPLES].value == samples)
            *gpus = (struct mllog_said){node_gpus, "the configuration's name"};
    }
}

bool mllog_config(struct arena *arena, const struct shell *config, const char *path,
                  struct mllog_layout *out, struct error *error)
{
    struct roles r = {arena, config, out, error, 0};
    for (unsigned i = 0; i < MLLOG_FLAGS; i++)
        out->flags[i].value = -1;
    for (unsigned i = 0; i < sizeof count_roles / sizeof count_roles[0]; i++)
        if (!read_count(&r, &count_roles[i]))
            return false;
    for (unsigned i = 0; i < sizeof flag_roles / sizeof flag_roles[0]; i++)
        if (!read_flag(&r, &flag_roles[i]))
            return false;
    if (!read_recipe(&r))
        return false;
    read_precision(&r);
    read_name(&r, path);
    return r.said > 0 ||
           error_set(error,
                     "%s: it sets nothing of a layout, such as TENSOR_MODEL_PARALLEL, MINIBS, "
                     "DGXNNODES or FP8: give the configuration of the system, config_SYSTEM_*.sh",
                     path);
}
