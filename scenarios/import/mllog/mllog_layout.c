/* mllog_layout.c - what a log and a configuration say, joined, completed and held against each
 * other. */
#include "scenarios/import/mllog/mllog_layout.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The benchmarks of language models (training_rules.adoc, section 2, by edition), as the
 * catalogue's models. `size`: as MODEL_SIZE and SIZE of a configuration call it. */
static const struct benchmark {
    const char *name, *preset, *size;
    bool lora;
} benchmarks[] = {
    {"gpt3", "gpt3-175b", "175b", false},
    {"llama2_70b_lora", "llama2-70b", "70b", true},
    {"llama31_405b", "llama3-405b", "405b", false},
    {"llama31_8b", "llama3-8b", "8b", false},
    {"deepseek_v3_671b", "deepseek-v3-671b", "671b", false},
    {"deepseekv3_671b", "deepseek-v3-671b", "671b", false},
    {"gpt_oss_20b", "gpt-oss-20b", "20b", false},
};
static const struct {
    const char *logged, *precision;
} precisions[] = {{"fp8", "fp8"},    {"mxfp8", "fp8"},     {"nvfp4", "nvfp4"}, {"fp4", "nvfp4"},
                  {"bf16", "bf16"},  {"bfloat16", "bf16"}, {"fp16", "fp16"},   {"float16", "fp16"},
                  {"float8", "fp8"}, {"float4", "nvfp4"}};
static const char *const count_names[MLLOG_COUNTS] = {
    "tensor parallel size", "pipeline parallel size", "context parallel size",
    "expert parallel size", "chunks of a stage",      "microbatch",
    "global batch",         "sequence length",        "microbatches of a step",
    "samples of a replica", "number of nodes",        "GPUs of a node",
    "rank of the adapters", "number of layers"};

struct mllog_joining {
    struct arena *arena;
    const struct mllog *log;
    struct mllog_layout *out;
    struct error *error;
};

static const char *log_place(const struct mllog_joining *j, unsigned line)
{
    return arena_format(j->arena, "%s:%u", j->log->path, line);
}

static bool contradiction(const struct mllog_joining *j, const char *what, struct mllog_said config,
                          struct mllog_said log)
{
    return error_set(
        j->error,
        "%s: the %s is %.0f here and %.0f by %s: give the configuration of this run, or "
        "a copy of it with the value that ran",
        config.place, what, config.value, log.value, log.place);
}

static const struct benchmark *benchmark_of(const char *name)
{
    for (unsigned i = 0; i < sizeof benchmarks / sizeof benchmarks[0]; i++)
        if (strcmp(benchmarks[i].name, name) == 0)
            return &benchmarks[i];
    return NULL;
}

static bool join_model(struct mllog_joining *j, const struct shell *config)
{
    static const char *const names[] = {"MODEL_SIZE", "SIZE"};
    const char *name = j->log->words[MLLOG_BENCHMARK].text;
    const unsigned line = j->log->words[MLLOG_BENCHMARK].line;
    const struct benchmark *b = benchmark_of(name);
    if (b == NULL)
        return error_set(j->error,
                         "%s:%u: the benchmark %.40s trains no language model that a scenario can "
                         "state: those are gpt3, llama2_70b_lora, llama31_8b, llama31_405b, "
                         "deepseek_v3_671b and gpt_oss_20b",
                         j->log->path, line, name);
    for (unsigned i = 0; config != NULL && i < sizeof names / sizeof names[0]; i++) {
        const struct shell_variable *v = shell_find(config, names[i]);
        if (v != NULL && v->value != NULL && strcmp(v->value, b->size) != 0)
            return error_set(j->error,
                             "%s:%u: %s is %.40s, and the benchmark is %s by %s:%u: give the "
                             "configuration of this run",
                             v->path, v->line, v->name, v->value, name, j->log->path, line);
    }
    j->out->preset = (struct mllog_text){b->preset, log_place(j, line)};
    j->out->lora = b->lora;
    return true;
}

/* What both say must be the same; gradient_accumulation_steps is what a submitter calls it, and a
 * disagreement is told. */
static bool join_counts(struct mllog_joining *j)
{
    for (unsigned i = 0; i < MLLOG_COUNTS; i++) {
        struct mllog_said *said = &j->out->counts[i];
        const struct mllog_said log = {j->log->counts[i].value,
                                       log_place(j, j->log->counts[i].line)};
        if (log.value == 0.0)
            continue;
        if (said->value > 0.0 && said->value != log.value)
            return contradiction(j, count_names[i], *said, log);
        if (said->value == 0.0)
            *said = log;
    }
    return true;
}

static bool join_precision(struct mllog_joining *j)
{
    const char *logged = j->log->words[MLLOG_PRECISION].text;
    struct mllog_text *said = &j->out->precision;
    for (unsigned i = 0; logged != NULL && i < sizeof precisions / sizeof precisions[0]; i++) {
        if (strcmp(precisions[i].logged, logged) != 0)
            continue;
        const char *place = log_place(j, j->log->words[MLLOG_PRECISION].line);
        if (said->text != NULL && strcmp(said->text, precisions[i].precision) != 0)
            return error_set(j->error,
                             "%s: the precision of linear layers is %s here and %s by %s: give the "
                             "configuration of this run",
                             said->place, said->text, precisions[i].precision, place);
        if (said->text == NULL)
            *said = (struct mllog_text){precisions[i].precision, place};
    }
    return true;
}

static bool whole(double value)
{
    return value >= 1.0 && value == floor(value);
}

static struct mllog_said *said(struct mllog_joining *j, enum mllog_count count)
{
    return &j->out->counts[count];
}

static double value(struct mllog_joining *j, enum mllog_count count)
{
    return j->out->counts[count].value;
}

/* A term that follows from others. */
static void derive(struct mllog_said *term, double value, const char *place)
{
    if (term->value == 0.0 && whole(value))
        *term = (struct mllog_said){value, place};
}

/* Samples of a replica, microbatches and microbatch. */
static bool complete_replica(struct mllog_joining *j)
{
    const double samples = value(j, MLLOG_REPLICA_SAMPLES), microbatch = value(j, MLLOG_MICROBATCH);
    const double accumulation = value(j, MLLOG_ACCUMULATION);
    if (samples > 0.0 && microbatch > 0.0 && !whole(samples / microbatch))
        return error_set(
            j->error, "%s: %.0f samples of a replica are no multiple of the microbatch %.0f by %s",
            said(j, MLLOG_REPLICA_SAMPLES)->place, samples, microbatch,
            said(j, MLLOG_MICROBATCH)->place);
    if (samples > 0.0 && microbatch > 0.0 && accumulation > 0.0 &&
        samples != microbatch * accumulation)
        j->out->note = arena_format(
            j->arena,
            "gradient_accumulation_steps is %.0f (%s), the configuration has %.0f microbatches of "
            "%.0f: the configuration's are taken",
            accumulation, said(j, MLLOG_ACCUMULATION)->place, samples / microbatch, microbatch);
    if (microbatch > 0.0 && accumulation > 0.0)
        derive(said(j, MLLOG_REPLICA_SAMPLES), microbatch * accumulation,
               "microbatches of a step x microbatch");
    return true;
}

/* Replicas by the batch, GPUs by nodes and by replicas; and what is missing of them. */
static bool complete_gpus(struct mllog_joining *j)
{
    struct mllog_layout *out = j->out;
    const double tp = value(j, MLLOG_TP), pp = value(j, MLLOG_PP);
    const double batch = value(j, MLLOG_GLOBAL_BATCH), samples = value(j, MLLOG_REPLICA_SAMPLES);
    const double nodes = value(j, MLLOG_NODES), node_gpus = value(j, MLLOG_NODE_GPUS);
    if (samples > 0.0 && !whole(batch / samples))
        return error_set(j->error,
                         "%s: a global batch of %.0f by %s is no multiple of %.0f samples of a "
                         "replica: give the configuration of this run, or a copy of it with the "
                         "value that ran",
                         said(j, MLLOG_REPLICA_SAMPLES)->place, batch,
                         said(j, MLLOG_GLOBAL_BATCH)->place, samples);
    if (nodes > 0.0 && node_gpus > 0.0)
        derive(&out->gpus, nodes * node_gpus, "nodes x GPUs of a node");
    const double replicas = samples > 0.0 ? batch / samples : 0.0;
    if (out->gpus.value > 0.0 && tp > 0.0 && pp > 0.0 && replicas > 0.0)
        derive(said(j, MLLOG_CP), out->gpus.value / (tp * pp * replicas),
               "GPUs / (tp x pp x replicas of the batch)");
    const double ranks = tp * pp * value(j, MLLOG_CP);
    if (ranks > 0.0 && replicas > 0.0)
        derive(&out->gpus, ranks * replicas, "tp x pp x cp x replicas of the batch");
    if (ranks > 0.0 && out->gpus.value > 0.0 && !whole(out->gpus.value / ranks))
        return error_set(j->error,
                         "%s: tp x pp x cp are %.0f GPUs, and %.0f, %s, are no multiple of that",
                         said(j, MLLOG_TP)->place, ranks, out->gpus.value, out->gpus.place);
    if (ranks > 0.0)
        derive(&out->dp, out->gpus.value / ranks, "GPUs / (tp x pp x cp)");
    if (out->dp.value > 0.0 && samples > 0.0 && out->dp.value * samples != batch)
        return contradiction(
            j, "global batch",
            (struct mllog_said){out->dp.value * samples, said(j, MLLOG_REPLICA_SAMPLES)->place},
            *said(j, MLLOG_GLOBAL_BATCH));
    if (nodes > 0.0 && node_gpus == 0.0 && out->gpus.value > 0.0 && !whole(out->gpus.value / nodes))
        return error_set(j->error,
                         "%s: %.0f GPUs, %s, do not fill %.0f nodes evenly: give the configuration "
                         "of this run",
                         said(j, MLLOG_NODES)->place, out->gpus.value, out->gpus.place, nodes);
    if (nodes > 0.0)
        derive(said(j, MLLOG_NODE_GPUS), out->gpus.value / nodes, "GPUs / nodes");
    return true;
}

/* NxNAME in submission_platform: so many nodes by most loggers, so many GPUs by some. */
static bool check_platform(struct mllog_joining *j)
{
    char *end;
    const char *name = j->log->words[MLLOG_PLATFORM].text;
    const double nodes = value(j, MLLOG_NODES), gpus = j->out->gpus.value;
    if (name == NULL || !isdigit((unsigned char)*name) || nodes == 0.0 || gpus == 0.0)
        return true;
    const unsigned long count = strtoul(name, &end, 10);
    if (*end != 'x' || (double)count == nodes || (double)count == gpus)
        return true;
    return error_set(
        j->error,
        "%s: %.0f nodes and %.0f GPUs here, and submission_platform is %.60s in %s:%u: "
        "give the configuration of this run",
        said(j, MLLOG_NODES)->place, nodes, gpus, name, j->log->path,
        j->log->words[MLLOG_PLATFORM].line);
}

bool mllog_layout(struct arena *arena, const struct mllog *log, const struct shell *config,
                  const char *config_path, struct mllog_layout *out, struct error *error)
{
    struct mllog_joining j = {arena, log, out, error};
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < MLLOG_FLAGS; i++)
        out->flags[i].value = -1;
    return (config == NULL || mllog_config(arena, config, config_path, out, error)) &&
           join_model(&j, config) && join_counts(&j) && join_precision(&j) &&
           complete_replica(&j) && complete_gpus(&j) && check_platform(&j);
}
