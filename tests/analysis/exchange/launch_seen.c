#include "tests/analysis/exchange/launch_seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/software.h"
#include "sim/check.h"

void seen_run(const char *folder, unsigned count)
{
    char command[2048];
    snprintf(
        command, sizeof command,
        "cd '%s' && bash -c 'torchrun() { printf \"%%s\\n\" \"$@\"; }; srun() { \"$@\"; }; "
        "scontrol() { echo first; echo second; }; export DATA=d TOKENIZER=t FLAVOR=f RECIPE=r; "
        "for ((i = 0; i < %u; i++)); do (export CONFIG=$i.json SLURM_JOB_ID=$((i %% 2 ? 7 : 0)) "
        "SLURM_JOB_NODELIST=n; ((i %% 2)) || unset SLURM_JOB_ID; . ./$i.sh >$i.args) || exit 1; "
        "done'",
        folder, count);
    CHECK(system(command) == 0);
}

static void read_file(const char *folder, unsigned script, const char *end, char *out, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%u.%s", folder, script, end);
    FILE *file = fopen(path, "r");
    const size_t got = file != NULL ? fread(out, 1, bytes - 1, file) : 0;
    CHECK(got < bytes - 1);
    out[got] = '\0';
    if (file != NULL)
        fclose(file);
}

void seen_words(const char *folder, unsigned script, struct seen_words *out)
{
    out->count = 0;
    read_file(folder, script, "args", out->text, sizeof out->text);
    read_file(folder, script, "json", out->json, sizeof out->json);
    for (char *word = strtok(out->text, "\n"); word != NULL; word = strtok(NULL, "\n")) {
        CHECK(out->count < SEEN_WORDS);
        out->words[out->count++] = word;
    }
}

bool seen_has(const struct seen_words *w, const char *word)
{
    for (unsigned i = 0; i < w->count; i++)
        if (strcmp(w->words[i], word) == 0)
            return true;
    return false;
}

const char *seen_value(const struct seen_words *w, const char *name)
{
    const size_t bytes = strlen(name);
    for (unsigned i = 0; i < w->count; i++) {
        if (name[bytes - 1] == '=' && strncmp(w->words[i], name, bytes) == 0)
            return w->words[i] + bytes;
        if (strcmp(w->words[i], name) == 0 && i + 1 < w->count)
            return w->words[i + 1];
    }
    return NULL;
}

static uint64_t number(const struct seen_words *w, const char *name, uint64_t usual)
{
    const char *value = seen_value(w, name);
    char *end = NULL;
    if (value == NULL)
        return usual;
    const uint64_t out = strtoull(value, &end, 10);
    CHECK(end != value && *end == '\0');
    return out;
}

static bool is(const struct seen_words *w, const char *name, const char *value)
{
    const char *got = seen_value(w, name);
    return got != NULL && strcmp(got, value) == 0;
}

/* Each `t` of a stage, `x*n` and `(..)*n` written out, as Megatron's parser does. */
static void expand(const char *at, const char *end, struct seen *out, unsigned *stage)
{
    while (at < end) {
        const char *letter = at, *closed = strchr(at, ')');
        at = *letter == '(' && closed != NULL ? closed + 1 : letter + 1;
        char *behind = (char *)at;
        const unsigned long times = *at == '*' ? strtoul(at + 1, &behind, 10) : 1;
        at = behind;
        for (unsigned long n = 0; n < times; n++) {
            CHECK(*stage < SEEN_CHUNKS);
            if (*letter == '(')
                expand(letter + 1, closed, out, stage);
            else if (*letter == '|')
                ++*stage;
            else if (*letter == 't')
                out->chunks[*stage]++;
            else
                CHECK(*letter == 'E' || *letter == 'L');
        }
    }
}

static void read_list(const char *text, struct seen *out)
{
    unsigned stage = 0;
    char plain[512];
    size_t bytes = 0;
    for (; *text != '\0'; text++) /* the quotes are for Hydra */
        if (*text != '"' && bytes + 1 < sizeof plain)
            plain[bytes++] = *text;
    plain[bytes] = '\0';
    CHECK(plain[0] == 'E' && bytes > 0 && plain[bytes - 1] == 'L');
    expand(plain, plain + bytes, out, &stage);
    CHECK((stage + 1) % out->pp == 0);
    out->vpp = (stage + 1) / out->pp;
    out->chunks_given = true;
}

static void read_ranks(const struct seen_words *w, struct seen *out)
{
    const uint64_t hosts = number(w, "--nnodes=", 0), each = number(w, "--nproc-per-node=", 0);
    CHECK(hosts > 0 && each > 0);
    CHECK(seen_value(w, "--rdzv-endpoint=") != NULL);
    out->ranks = hosts * each;
}

static void core_recompute(struct seen *out, const char *granularity, const char *method,
                           uint64_t layers)
{
    out->recompute_layers = 0;
    if (granularity == NULL || strcmp(granularity, "null") == 0) {
        out->recompute = RECOMPUTE_NONE;
    } else if (strcmp(granularity, "selective") == 0) {
        CHECK(method == NULL || strcmp(method, "null") == 0);
        out->recompute = RECOMPUTE_SELECTIVE;
    } else {
        CHECK(strcmp(granularity, "full") == 0 && method != NULL && layers > 0);
        CHECK(strcmp(method, "uniform") == 0 || strcmp(method, "block") == 0);
        out->recompute = method[0] == 'u' ? RECOMPUTE_UNIFORM : RECOMPUTE_BLOCK;
        out->recompute_layers = layers;
    }
}

static void read_megatron(const struct seen_words *w, struct seen *out)
{
    const char *list = seen_value(w, "--pipeline-model-parallel-layout");
    out->tp = number(w, "--tensor-model-parallel-size", 1);
    out->pp = number(w, "--pipeline-model-parallel-size", 1);
    out->cp = number(w, "--context-parallel-size", 1);
    out->dp = out->ranks / (out->tp * out->pp * out->cp);
    out->layers = number(w, "--num-layers", 0);
    out->sequence = number(w, "--seq-length", 0);
    out->microbatch = number(w, "--micro-batch-size", 0);
    out->global_batch = number(w, "--global-batch-size", 0);
    out->sequence_parallel = seen_has(w, "--sequence-parallel");
    const uint64_t ends = (seen_has(w, "--account-for-embedding-in-pipeline-split") ? 1u : 0u) +
                          (seen_has(w, "--account-for-loss-in-pipeline-split") ? 1u : 0u);
    const uint64_t each = number(w, "--num-layers-per-virtual-pipeline-stage", 0);
    out->vpp = 1;
    if (list != NULL)
        read_list(list, out);
    else if (each > 0)
        out->vpp = (out->layers + ends) / out->pp / each;
    if (seen_has(w, "--use-megatron-fsdp"))
        out->stage = is(w, "--data-parallel-sharding-strategy", "optim_grads") ? 2 : 3;
    else
        out->stage = seen_has(w, "--use-distributed-optimizer") ? 1 : 0;
    out->copies = number(w, "--num-distributed-optimizer-instances", 1);
    core_recompute(out, seen_value(w, "--recompute-granularity"),
                   seen_value(w, "--recompute-method"), number(w, "--recompute-num-layers", 0));
    out->narrow.gathers = seen_has(w, "--fp8-param-gather");
    if (seen_has(w, "--first-last-layers-bf16"))
        out->narrow.wide_layers = number(w, "--num-layers-at-start-in-bf16", 1) +
                                  number(w, "--num-layers-at-end-in-bf16", 1);
    snprintf(out->precision, sizeof out->precision, "%s",
             seen_value(w, "--fp8-format") != NULL
                 ? "fp8"
                 : (seen_has(w, "--bf16") ? "bf16" : (seen_has(w, "--fp16") ? "fp16" : "fp32")));
}

static void read_nemo(const struct seen_words *w, struct seen *out)
{
    const char *list = seen_value(w, "model.pipeline_model_parallel_layout=");
    CHECK(list != NULL);
    list = strcmp(list, "null") != 0 ? list : NULL;
    out->tp = number(w, "-tp", 0);
    out->pp = number(w, "-pp", 0);
    out->cp = number(w, "-cp", 0);
    out->dp = out->ranks / (out->tp * out->pp * out->cp);
    out->vpp = number(w, "-vp", 1);
    CHECK(seen_has(w, "-vp") != is(w, "model.virtual_pipeline_model_parallel_size=", "null"));
    out->layers = number(w, "model.num_layers=", 0);
    out->sequence = number(w, "-sl", 0);
    out->microbatch = number(w, "-mb", 0);
    out->global_batch = number(w, "-gb", 0);
    out->sequence_parallel = is(w, "model.sequence_parallel=", "true");
    if (list != NULL)
        read_list(list, out);
    if (is(w, "ddp.use_megatron_fsdp=", "true"))
        out->stage = is(w, "ddp.data_parallel_sharding_strategy=", "optim_grads") ? 2 : 3;
    else
        out->stage = is(w, "ddp.use_distributed_optimizer=", "true") ? 1 : 0;
    out->copies = number(w, "ddp.num_distributed_optimizer_instances=", 1);
    const bool full = is(w, "model.recompute_granularity=", "full");
    core_recompute(out, seen_value(w, "model.recompute_granularity="),
                   seen_value(w, "model.recompute_method="),
                   full ? number(w, "model.recompute_num_layers=", 0) : 0);
    const char *precision = seen_value(w, "mixed_precision=");
    CHECK(precision != NULL);
    snprintf(out->precision, sizeof out->precision, "%s",
             strstr(precision, "fp8") != NULL
                 ? "fp8"
                 : (strcmp(precision, "null") == 0 ? "fp32" : precision));
    out->precision[4] = '\0'; /* bf16_mixed */
    out->narrow.gathers = strstr(precision, "fp8") != NULL && out->stage >= 1;
}

/* utils.py module_filter_fn: a module is left out whose name holds one of the words. */
static bool filtered(const char *words, const char *module)
{
    char list[SEEN_BYTES / 8];
    snprintf(list, sizeof list, "%s", words != NULL ? words : "");
    for (char *rest = list, *word; (word = strsep(&rest, ",")) != NULL;)
        if (word[0] != '\0' && strstr(module, word) != NULL)
            return true;
    return false;
}

/* What the converters make of linear layers. */
static void read_converters(const struct seen_words *w, uint64_t shard, struct seen *out)
{
    const char *converters = seen_value(w, "--model.converters");
    const bool mx = converters != NULL && strcmp(converters, "quantize.linear.mx") == 0;
    if (converters == NULL)
        return;
    CHECK(mx || strcmp(converters, "quantize.linear.float8") == 0);
    const char *words = seen_value(w, mx ? "--quantize.linear.mx.filter_fqns"
                                         : "--quantize.linear.float8.filter_fqns");
    out->narrow.head = !filtered(words != NULL || !mx ? words : "output", "output");
    out->narrow.gathers =
        !mx && shard > 1 && seen_has(w, "--quantize.linear.float8.enable_fsdp_float8_all_gather");
    for (uint64_t i = 0; i < out->layers; i++) {
        char module[48];
        snprintf(module, sizeof module, "layers.%d.attention.wq", (int)i);
        out->narrow.wide_layers += filtered(words, module) ? 1 : 0;
    }
}

static void read_torchtitan(const struct seen_words *w, struct seen *out)
{
#define PARALLEL(key) "--parallelism." key
    const uint64_t less = number(w, PARALLEL("pipeline_parallel_first_stage_less_layers"), 1) +
                          number(w, PARALLEL("pipeline_parallel_last_stage_less_layers"), 1);
    const uint64_t each = number(w, PARALLEL("pipeline_parallel_layers_per_stage"), 0);
    const uint64_t shard = number(w, PARALLEL("data_parallel_shard_degree"), 0);
    const uint64_t local = number(w, "--training.local_batch_size", 8);
    const char *mode = seen_value(w, "--activation_checkpoint.mode");
    out->tp = number(w, PARALLEL("tensor_parallel_degree"), 1);
    out->pp = number(w, PARALLEL("pipeline_parallel_degree"), 1);
    out->cp = number(w, PARALLEL("context_parallel_degree"), 1);
    out->copies = number(w, PARALLEL("data_parallel_replicate_degree"), 1);
    out->dp = shard * out->copies;
    CHECK(out->dp * out->cp * out->tp * out->pp == out->ranks);
    out->sequence = number(w, "--training.seq_len", 2048);
    out->global_batch = number(w, "--training.global_batch_size", 0);
    out->microbatch =
        out->pp > 1 ? number(w, PARALLEL("pipeline_parallel_microbatch_size"), 1) : local;
    CHECK(out->pp == 1 || local * out->dp == out->global_batch);
    const bool looped = is(w, PARALLEL("pipeline_parallel_schedule"), "Interleaved1F1B");
    out->vpp = out->pp == 1 ? 1 : (looped ? 2 : 1);
    if (out->pp > 1 && each > 0)
        out->vpp = (out->layers + less + each - 1) / each / out->pp;
    out->sequence_parallel = out->tp > 1;
    out->stage = shard * out->cp == 1 && out->copies > 1 ? 0 : 3;
    if (out->stage == 3 && is(w, PARALLEL("fsdp_reshard_after_forward"), "never"))
        out->stage = 2;
    CHECK(mode != NULL);
    const char *option = seen_value(w, "--activation_checkpoint.selective_ac_option");
    out->recompute = RECOMPUTE_NONE;
    if (strcmp(mode, "full") == 0) {
        out->recompute = RECOMPUTE_UNIFORM;
        out->recompute_layers = 1;
    } else if (strcmp(mode, "selective") == 0) {
        CHECK(option != NULL);
        const bool op = strcmp(option, "op") == 0;
        out->recompute = op ? RECOMPUTE_PER_OPERATOR : RECOMPUTE_EVERY_OTHER_LAYER;
        out->recompute_layers = op ? 0 : strtoull(option, NULL, 10);
    }
    read_converters(w, shard, out);
    const bool wide = is(w, "--training.mixed_precision_param", "float32");
    snprintf(out->precision, sizeof out->precision, "%s",
             seen_value(w, "--model.converters") != NULL ? "fp8" : (wide ? "fp32" : "bf16"));
#undef PARALLEL
}

static uint64_t json_number(const char *json, const char *key)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\": ", key);
    const char *at = strstr(json, wanted);
    return at != NULL ? strtoull(at + strlen(wanted), NULL, 10) : 0;
}

static void read_deepspeed(const struct seen_words *w, struct seen *out)
{
    read_megatron(w, out); /* Megatron-DeepSpeed took its flags */
    out->cp = number(w, "--ds-sequence-parallel-size", 1);
    out->dp = out->ranks / (out->tp * out->pp * out->cp);
    out->stage = (unsigned)number(w, "--zero-stage", 0);
    CHECK(seen_has(w, "--deepspeed"));
    CHECK(seen_has(w, "--no-pipeline-parallel") == (out->pp == 1));
    CHECK(json_number(w->json, "stage") == out->stage);
    CHECK(json_number(w->json, "train_batch_size") == out->global_batch);
    CHECK(json_number(w->json, "train_micro_batch_size_per_gpu") == out->microbatch);
    CHECK(json_number(w->json, "gradient_accumulation_steps") * out->microbatch * out->dp ==
          out->global_batch);
    CHECK((strstr(w->json, "\"bf16\": {\"enabled\": true}") != NULL) == seen_has(w, "--bf16"));
    CHECK((strstr(w->json, "\"fp16\": {\"enabled\": true}") != NULL) == seen_has(w, "--fp16"));
    const uint64_t group = json_number(w->json, "mics_shard_size");
    out->copies = group > 0 ? out->dp * out->cp / group : 1;
}

void seen_read(const struct launch_kind *kind, const struct seen_words *w, struct seen *out)
{
    const uint64_t layers = out->layers; /* torchtitan's flavor says it */
    *out = (struct seen){.layers = layers, .copies = 1};
    read_ranks(w, out);
    if (kind == &launch_megatron)
        read_megatron(w, out);
    else if (kind == &launch_nemo)
        read_nemo(w, out);
    else if (kind == &launch_torchtitan)
        read_torchtitan(w, out);
    else
        read_deepspeed(w, out);
}
