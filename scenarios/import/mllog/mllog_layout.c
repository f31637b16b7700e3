/* mllog_layout.c - what a log and a configuration say, joined, completed and held against each
 * other. */
#include "scenarios/import/mllog/mllog_layout.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/source.h"

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

/* What is told beside the scenario. */
__attribute__((format(printf, 2, 3))) static void tell(struct mllog_joining *j, const char *format,
                                                       ...)
{
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (j->out->note_count < MLLOG_NOTES_MAX)
        j->out->notes[j->out->note_count++] = arena_text(j->arena, sentence);
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

/* Another benchmark's: SIZE may mean other things. */
static bool is_size(const char *text)
{
    for (unsigned i = 0; i < sizeof benchmarks / sizeof benchmarks[0]; i++)
        if (strcmp(benchmarks[i].size, text) == 0)
            return true;
    return false;
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
        if (v != NULL && v->value != NULL && strcmp(v->value, b->size) != 0 && is_size(v->value))
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

/* GPUs by nodes; replicas by GPUs. */
static bool complete_ranks(struct mllog_joining *j)
{
    struct mllog_layout *out = j->out;
    const double ranks = value(j, MLLOG_TP) * value(j, MLLOG_PP) * value(j, MLLOG_CP);
    const double nodes = value(j, MLLOG_NODES), node_gpus = value(j, MLLOG_NODE_GPUS);
    derive(&out->gpus, nodes * node_gpus, "nodes x GPUs of a node");
    if (ranks > 0.0 && out->gpus.value > 0.0 && !whole(out->gpus.value / ranks))
        return error_set(j->error,
                         "%s: tp x pp x cp are %.0f GPUs, and %.0f, %s, are no multiple of that",
                         said(j, MLLOG_TP)->place, ranks, out->gpus.value, out->gpus.place);
    if (ranks > 0.0)
        derive(&out->dp, out->gpus.value / ranks, "GPUs / (tp x pp x cp)");
    return true;
}

/* What a submitter logs as gradient_accumulation_steps is compared and told; it counts where
 * nothing else says how many microbatches there are. */
static bool complete_replica(struct mllog_joining *j)
{
    const double batch = value(j, MLLOG_GLOBAL_BATCH), microbatch = value(j, MLLOG_MICROBATCH);
    const double accumulation = value(j, MLLOG_ACCUMULATION), dp = j->out->dp.value;
    struct mllog_said *samples = said(j, MLLOG_REPLICA_SAMPLES);
    if (samples->value == 0.0 && dp > 0.0 && !whole(batch / dp))
        return error_set(j->error,
                         "%s: a global batch of %.0f is no multiple of the %.0f replicas that %.0f "
                         "GPUs make: give the configuration of this run",
                         said(j, MLLOG_GLOBAL_BATCH)->place, batch, dp, j->out->gpus.value);
    if (dp > 0.0)
        derive(samples, batch / dp, "global batch / dp");
    derive(samples, microbatch * accumulation, "microbatches of a step x microbatch");
    if (samples->value > 0.0 && microbatch > 0.0 && !whole(samples->value / microbatch))
        return error_set(
            j->error, "%s: a microbatch of %.0f does not divide the %.0f samples of a replica (%s)",
            said(j, MLLOG_MICROBATCH)->place, microbatch, samples->value, samples->place);
    if (samples->value > 0.0 && microbatch > 0.0 && accumulation > 0.0 &&
        samples->value != microbatch * accumulation)
        tell(j,
             "gradient_accumulation_steps is %.0f (%s), the configuration has %.0f microbatches "
             "of %.0f: the configuration's are taken",
             accumulation, said(j, MLLOG_ACCUMULATION)->place, samples->value / microbatch,
             microbatch);
    return true;
}

static bool check_batch(struct mllog_joining *j)
{
    const struct mllog_said *batch = said(j, MLLOG_GLOBAL_BATCH);
    const struct mllog_said *samples = said(j, MLLOG_REPLICA_SAMPLES);
    if (samples->value > 0.0 && !whole(batch->value / samples->value))
        return error_set(j->error,
                         "%s: a global batch of %.0f by %s is no multiple of %.0f samples of a "
                         "replica: give the configuration of this run, or a copy of it with the "
                         "value that ran",
                         samples->place, batch->value, batch->place, samples->value);
    const double configured = j->out->dp.value * samples->value;
    return configured == 0.0 || configured == batch->value ||
           contradiction(j, "global batch", (struct mllog_said){configured, samples->place},
                         *batch);
}

/* By the replicas of the batch: cp, or else the GPUs; and GPUs of a node. */
static bool complete_gpus(struct mllog_joining *j)
{
    struct mllog_layout *out = j->out;
    const double tp = value(j, MLLOG_TP), pp = value(j, MLLOG_PP), nodes = value(j, MLLOG_NODES);
    const double samples = value(j, MLLOG_REPLICA_SAMPLES);
    const double replicas = samples > 0.0 ? value(j, MLLOG_GLOBAL_BATCH) / samples : 0.0;
    if (out->gpus.value > 0.0 && tp > 0.0 && pp > 0.0 && replicas > 0.0)
        derive(said(j, MLLOG_CP), out->gpus.value / (tp * pp * replicas),
               "GPUs / (tp x pp x replicas of the batch)");
    derive(&out->gpus, tp * pp * value(j, MLLOG_CP) * replicas,
           "tp x pp x cp x replicas of the batch");
    if (nodes > 0.0 && out->gpus.value > 0.0 && !whole(out->gpus.value / nodes))
        return error_set(j->error,
                         "%s: %.0f GPUs, %s, do not fill %.0f nodes evenly: give the configuration "
                         "of this run",
                         said(j, MLLOG_NODES)->place, out->gpus.value, out->gpus.place, nodes);
    if (nodes > 0.0)
        derive(said(j, MLLOG_NODE_GPUS), out->gpus.value / nodes, "GPUs / nodes");
    return complete_ranks(j); /* dp by what was derived: the replicas of the batch */
}

/* NxNAME in submission_platform: so many nodes by most loggers, so many GPUs by some, racks by
 * others. */
static bool check_platform(struct mllog_joining *j)
{
    char *end;
    const char *name = j->log->words[MLLOG_PLATFORM].text;
    const double nodes = value(j, MLLOG_NODES), gpus = j->out->gpus.value;
    if (name == NULL || !isdigit((unsigned char)*name) || nodes == 0.0 || gpus == 0.0)
        return true;
    const double count = (double)strtoul(name, &end, 10);
    if (*end != 'x' || count == nodes || count == gpus)
        return true;
    if (count > 0.0 && fmod(gpus, count) == 0.0) {
        tell(j,
             "submission_platform is %.60s; by the configuration %.0f nodes and %.0f GPUs: racks, "
             "or another run?",
             source_clean(j->arena, name), nodes, gpus);
        return true;
    }
    return error_set(
        j->error,
        "%s: %.0f nodes and %.0f GPUs here, and submission_platform is %.60s in %s:%u: "
        "give the configuration of this run",
        said(j, MLLOG_NODES)->place, nodes, gpus, source_clean(j->arena, name), j->log->path,
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
           join_model(&j, config) && join_counts(&j) && join_precision(&j) && complete_ranks(&j) &&
           complete_replica(&j) && check_batch(&j) && complete_gpus(&j) && check_platform(&j);
}
