#include "analysis/validate/validate_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "sim/check.h"
#include "sim/units.h"
#include "topology/topology_kind.h"

enum {
    TEXT_SIZE = 4096,
    PIPELINE_MAX = 65535, /* what the door lets in */
    CHUNKS_MAX = 255
};
struct growing_text {
    char s[TEXT_SIZE];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct growing_text *t, const char *format,
                                                      ...)
{
    va_list list;
    va_start(list, format);
    int written = vsnprintf(t->s + t->length, sizeof t->s - t->length, format, list);
    va_end(list);
    CHECK(written >= 0 && (size_t)written < sizeof t->s - t->length);
    t->length += (size_t)written;
}

/* ", key: value" unless it is not said. */
static void add_word(struct growing_text *t, const char *key, const char *word)
{
    if (*word != '\0')
        add(t, ", %s: %s", key, word);
}

static void add_count(struct growing_text *t, const char *key, uint64_t count)
{
    if (count > 0)
        add(t, ", %s: %llu", key, (unsigned long long)count);
}

static void read_model(struct cells *c, struct validate_run *r)
{
    r->layers = validate_cells_count(c, "layers", 0);
    r->hidden = validate_cells_count(c, "hidden", 0);
    r->heads = validate_cells_count(c, "heads", 0);
    r->kv_heads = validate_cells_count(c, "kv_heads", 0);
    r->head_size = validate_cells_count(c, "head_dim", 0);
    r->ffn_hidden = validate_cells_count(c, "ffn_hidden", 0);
    r->vocabulary = validate_cells_count(c, "vocab", 0);
    r->ffn = validate_cells_word(c, "ffn");
    r->positions = validate_cells_word(c, "positions");
    r->tied_embeddings = validate_cells_count(c, "tied_embeddings", 0) > 0;
    r->experts = validate_cells_count(c, "experts", 0);
    r->experts_per_token = validate_cells_count(c, "experts_per_token", 0);
    r->moe_ffn_hidden = validate_cells_count(c, "moe_ffn_hidden", 0);
    r->shared_experts = validate_cells_count(c, "shared_experts", 0);
    r->dense_layers = validate_cells_count(c, "dense_layers", 0);
}

void validate_run_read(struct cells *c, struct validate_run *r)
{
    *r = (struct validate_run){0};
    read_model(c, r);
    r->sequence = validate_cells_count(c, "seq_len", 0);
    r->global_batch = validate_cells_count(c, "global_batch", 0);
    r->gpu = validate_cells_word(c, "gpu");
    r->gpus = validate_cells_count(c, "gpus", 0);
    r->gpus_per_node = validate_cells_count(c, "gpus_per_node", 0);
    r->fabric = validate_cells_word(c, "fabric");
    r->tp = validate_cells_count(c, "tp", 1);
    r->pp = validate_cells_count(c, "pp", 1);
    r->dp = validate_cells_count(c, "dp", 0);
    r->cp = validate_cells_count(c, "cp", 1);
    r->ep = validate_cells_count(c, "ep", 1);
    r->vpp = validate_cells_count(c, "vpp", 0);
    r->zero = validate_cells_count(c, "zero", ZERO_UNKNOWN);
    r->sequence_parallel = validate_cells_count(c, "sequence_parallel", 0) > 0;
    r->microbatch = validate_cells_count(c, "microbatch", 1);
    r->recompute = validate_cells_word(c, "recompute");
    r->attention = validate_cells_word(c, "attention");
    r->precision = validate_cells_word(c, "precision");
    r->gradient_bytes = validate_cells_number(c, "grad_bytes", 0.0);
    r->schedule = validate_cells_word(c, "schedule");
    r->software = validate_cells_word(c, "software");
}

/* Families: gated blocks come with RMS norms, others with LayerNorm; linear layers have biases, and
 * models dropout where the software has it, with learned positions (GPT-2 and its heirs). */
static void add_model(struct growing_text *t, const struct validate_run *r,
                      const struct software_profile *software)
{
    bool gated = *r->ffn == '\0' || strcmp(r->ffn, ffn_names[FFN_SWIGLU]) == 0;
    bool learned = strcmp(r->positions, position_names[POSITION_LEARNED]) == 0;
    add(t, "model: {tied_embeddings: %s, norm: %s", r->tied_embeddings ? "true" : "false",
        norm_names[gated ? NORM_RMS : NORM_LAYERNORM]);
    if (learned)
        add(t, ", biases: true, dropout: %.17g", software->usual_dropout_ratio);
    add_count(t, "layers", r->layers);
    add_count(t, "hidden", r->hidden);
    add_count(t, "heads", r->heads);
    add_count(t, "kv_heads", r->kv_heads);
    add_count(t, "head_size", r->head_size);
    add_count(t, "ffn_hidden", r->ffn_hidden);
    add_count(t, "vocabulary", r->vocabulary);
    add_word(t, "ffn", r->ffn);
    add_word(t, "position", r->positions);
    add_count(t, "experts", r->experts);
    add_count(t, "experts_per_token", r->experts_per_token);
    add_count(t, "moe_ffn_hidden", r->moe_ffn_hidden);
    add_count(t, "shared_experts", r->shared_experts);
    add_count(t, "dense_layers", r->dense_layers);
    add(t, "}\n");
}

/* A row's flash3 is FlashAttention-3 or cuDNN, says its vocabulary; the software tells which. */
static const char *attention_of(const struct validate_run *r,
                                const struct software_profile *software)
{
    bool either = strcmp(r->attention, attention_kernel_names[ATTENTION_FLASH3]) == 0 &&
                  software->usual_attention == ATTENTION_CUDNN;
    bool said = *r->attention != '\0' && !either;
    return said ? r->attention : attention_kernel_names[software->usual_attention];
}

/* The cluster section is validate_cluster.c's. */
static void add_training(struct growing_text *t, const struct validate_run *r,
                         const struct software_profile *software)
{
    const char *attention = attention_of(r, software);
    add(t, "training: {sequence: %llu, global_batch: %llu, attention: %s",
        (unsigned long long)r->sequence, (unsigned long long)r->global_batch, attention);
    add_word(t, "precision", r->precision);
    if (r->gradient_bytes > 0.0)
        add(t, ", gradient_bytes: %.17g", r->gradient_bytes);
    add(t, "}\n");
}

/* A run that does not say how many chunks its stages had: the usual number of its software, or the
 * next one that divides the layers; one where the schedule would refuse it. */
static uint64_t usual_chunks(const struct validate_run *r, const struct software_profile *software)
{
    uint64_t chunks = software->usual_chunks;
    uint64_t share = r->dp * r->microbatch;
    if (r->pp <= 1 || r->pp > PIPELINE_MAX || share == 0)
        return 1;
    while (chunks > 1 && chunks < CHUNKS_MAX && r->layers % (r->pp * chunks) != 0)
        chunks++;
    struct schedule_shape shape = {(uint32_t)r->pp, (uint32_t)chunks,
                                   (uint32_t)(r->global_batch / share), NULL};
    bool whole = r->layers % (r->pp * chunks) == 0;
    return whole && schedule_interleaved.refuse(&shape) == NULL ? chunks : 1;
}

/* A run is the proof that its version could do it: whatever it asked of the layers was possible. */
static void add_software(struct growing_text *t, const struct software_profile *software)
{
    add(t, "software: {profile: %s, even_stages: false}\n", software->name);
}

/* One chunk of an interleaved schedule is 1f1b. */
static void add_layout(struct growing_text *t, const struct validate_run *r,
                       const struct software_profile *software)
{
    uint64_t chunks = r->vpp > 0 && r->pp > 1 ? r->vpp : usual_chunks(r, software);
    const char *usual =
        chunks > 1 ? schedule_interleaved.head.name : schedule_one_f_one_b.head.name;
    bool named = *r->schedule != '\0' && !(chunks == 1 && schedule_find(r->schedule)->interleaved);
    const char *schedule = named ? r->schedule : usual;
    const char *recompute =
        *r->recompute != '\0' ? r->recompute : recompute_names[software->usual_recompute];
    add(t, "layout: {schedule: %s, recompute: %s, sequence_parallel: %s", schedule, recompute,
        r->sequence_parallel ? "true" : "false");
    if (r->zero == ZERO_UNKNOWN)
        add_word(t, "sharding", software->usual_sharding);
    else if (r->zero >= 3)
        add_word(t, "sharding", software->full_sharding);
    else
        add(t, ", sharding: zero-%llu", (unsigned long long)r->zero);
    add_count(t, "tp", r->tp);
    add_count(t, "pp", r->pp);
    add_count(t, "dp", r->dp);
    add_count(t, "cp", r->cp);
    add_count(t, "vpp", chunks);
    add_count(t, "ep", r->ep > 1 ? r->ep : 0);
    add_count(t, "microbatch", r->microbatch);
    if (r->ends_count)
        add(t, ", ends_count: true");
    add(t, "}\n");
}

/* The word for a problem of the scenario: by the key that it stands at, else by the section. */
static enum refusal refusal_of(const struct problem *problem)
{
    static const struct {
        const char *key;
        enum refusal why;
    } known[] = {{"ep:", REFUSAL_EXPERTS},          {"experts", REFUSAL_EXPERTS},
                 {"moe_", REFUSAL_EXPERTS},         {"shared_experts", REFUSAL_EXPERTS},
                 {"dense_layers", REFUSAL_EXPERTS}, {"schedule", REFUSAL_SCHEDULE}};
    const char *line = problem->source != NULL ? problem->source : "";
    const char *at = problem->column <= strlen(line) ? line + problem->column - 1 : line;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(at, known[i].key, strlen(known[i].key)) == 0)
            return known[i].why;
    if (strncmp(line, "cluster", strlen("cluster")) == 0)
        return REFUSAL_HARDWARE;
    return strncmp(line, "software", strlen("software")) == 0 ? REFUSAL_SOFTWARE : REFUSAL_LAYOUT;
}

static const struct problem *first_error(const struct scenario *s)
{
    for (unsigned i = 0; i < s->problem_count; i++)
        if (!s->problems[i].warning)
            return &s->problems[i];
    return NULL;
}

struct scenario *validate_scenario(const struct validation *v, const char *text,
                                   struct validate_row *row)
{
    struct scenario_options how = {.catalogue = v->catalogue};
    struct error error = {""};
    struct scenario *s = scenario_read("the row", text, strlen(text), &how, &error);
    if (s == NULL) {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
        return NULL;
    }
    if (s->error_count > 0) {
        const struct problem *problem = first_error(s);
        validate_row_refuse(row, refusal_of(problem), "%.200s", problem->text);
        scenario_destroy(s);
        return NULL;
    }
    return s;
}

struct scenario *validate_run_scenario(const struct validation *v, const struct validate_run *run,
                                       struct validate_row *row)
{
    if (row->refused)
        return NULL;
    const struct software_profile *software = validate_version(v->versions, run);
    if (software == NULL) {
        validate_row_refuse(row, REFUSAL_SOFTWARE, "software %s is not in the catalogue",
                            run->software);
        return NULL;
    }
    if (*run->schedule != '\0' && schedule_find(run->schedule) == NULL) {
        validate_row_refuse(row, REFUSAL_SCHEDULE, "schedule %s is not in this version",
                            run->schedule);
        return NULL;
    }
    char cluster[VALIDATE_CLUSTER_SIZE];
    struct growing_text text = {.length = 0};
    if (!validate_cluster(v, run, cluster, row))
        return NULL;
    add(&text, "%s", cluster);
    add_model(&text, run, software);
    add_training(&text, run, software);
    add_layout(&text, run, software);
    add_software(&text, software);
    struct scenario *s = validate_scenario(v, text.s, row);
    if (s != NULL && s->counted_only) {
        validate_row_refuse(row, REFUSAL_EXPERTS,
                            "a mixture of experts is not simulated in this version");
        scenario_destroy(s);
        return NULL;
    }
    return s;
}
