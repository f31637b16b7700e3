/* The scenario of a run, key by key, each with where its value comes from. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/validate_run.h"
#include "models/schedule/schedule_kind.h"

enum {
    PIPELINE_MAX = 65535, /* what the door lets in */
    CHUNKS_MAX = 255
};
struct writer {
    struct validate_text *text;
    const struct validate_run *run;
    const struct software_profile *software;
};

static struct validate_origin column_origin(const struct writer *w, const char *column)
{
    return validate_origin_of(&w->run->cells, &w->run->origins, column);
}

/* "software profile megatron: its usual attention". */
static struct validate_origin profile_origin(const struct writer *w, const char *what)
{
    struct validate_origin out;
    snprintf(out.s, sizeof out.s, "software profile %.60s: %s", w->software->name, what);
    return out;
}

/* Unless it is not said. */
static void add_word(const struct writer *w, const char *key, const char *column, const char *word)
{
    if (*word != '\0')
        validate_text_key(w->text, key, column_origin(w, column).s, "%s", word);
}

static void add_count(const struct writer *w, const char *key, const char *column, uint64_t count)
{
    if (count > 0)
        validate_text_key(w->text, key, column_origin(w, column).s, "%llu",
                          (unsigned long long)count);
}

static void add_flag(const struct writer *w, const char *key, const char *column, bool flag)
{
    validate_text_key(w->text, key, column_origin(w, column).s, "%s", flag ? "true" : "false");
}

/* Families: gated blocks come with RMS norms, others with LayerNorm; linear layers have biases, and
 * models dropout where the software has it, with learned positions (GPT-2 and its heirs). */
static void add_family(const struct writer *w)
{
    const struct validate_run *r = w->run;
    bool gated = *r->ffn == '\0' || strcmp(r->ffn, ffn_names[FFN_SWIGLU]) == 0;
    bool learned = strcmp(r->positions, position_names[POSITION_LEARNED]) == 0;
    add_flag(w, "tied_embeddings", "tied_embeddings", r->tied_embeddings);
    validate_text_key(w->text, "norm",
                      gated ? "chosen: gated blocks come with RMS norms"
                            : "chosen: blocks that are not gated come with LayerNorm",
                      "%s", norm_names[gated ? NORM_RMS : NORM_LAYERNORM]);
    if (!learned)
        return;
    validate_text_key(w->text, "biases", "chosen: learned positions come with biases", "true");
    validate_text_key(w->text, "dropout",
                      profile_origin(w, "its usual dropout, of models with learned positions").s,
                      "%.17g", w->software->usual_dropout_ratio);
}

static void add_model(const struct writer *w)
{
    const struct validate_run *r = w->run;
    validate_text_open(w->text, "model");
    add_family(w);
    add_count(w, "layers", "layers", r->layers);
    add_count(w, "hidden", "hidden", r->hidden);
    add_count(w, "heads", "heads", r->heads);
    add_count(w, "kv_heads", "kv_heads", r->kv_heads);
    add_count(w, "head_size", "head_dim", r->head_size);
    add_count(w, "ffn_hidden", "ffn_hidden", r->ffn_hidden);
    add_count(w, "vocabulary", "vocab", r->vocabulary);
    add_word(w, "ffn", "ffn", r->ffn);
    add_word(w, "position", "positions", r->positions);
    add_count(w, "experts", "experts", r->experts);
    add_count(w, "experts_per_token", "experts_per_token", r->experts_per_token);
    add_count(w, "moe_ffn_hidden", "moe_ffn_hidden", r->moe_ffn_hidden);
    add_count(w, "shared_experts", "shared_experts", r->shared_experts);
    add_count(w, "dense_layers", "dense_layers", r->dense_layers);
    validate_text_close(w->text);
}

/* A row's flash3 is FlashAttention-3 or cuDNN, says its vocabulary; the software tells which. */
static void add_attention(const struct writer *w)
{
    const struct validate_run *r = w->run;
    const char *usual = attention_kernel_names[w->software->usual_attention];
    bool either = strcmp(r->attention, attention_kernel_names[ATTENTION_FLASH3]) == 0 &&
                  w->software->usual_attention == ATTENTION_CUDNN;
    if (*r->attention != '\0' && !either)
        add_word(w, "attention", "attention", r->attention);
    else if (either)
        validate_text_key(w->text, "attention",
                          profile_origin(w, "column attention's flash3 stands for cudnn too").s,
                          "%s", usual);
    else
        validate_text_key(w->text, "attention", profile_origin(w, "its usual attention").s, "%s",
                          usual);
}

static void add_training(const struct writer *w)
{
    const struct validate_run *r = w->run;
    validate_text_open(w->text, "training");
    validate_text_key(w->text, "sequence", column_origin(w, "seq_len").s, "%llu",
                      (unsigned long long)r->sequence);
    validate_text_key(w->text, "global_batch", column_origin(w, "global_batch").s, "%llu",
                      (unsigned long long)r->global_batch);
    add_attention(w);
    add_word(w, "precision", "precision", r->precision);
    if (r->gradient_bytes > 0.0)
        validate_text_key(w->text, "gradient_bytes", column_origin(w, "grad_bytes").s, "%.17g",
                          r->gradient_bytes);
    validate_text_close(w->text);
}

/* A run that does not say how many chunks its stages had: the usual number of its software, or the
 * next one that divides the layers; one where the schedule would refuse it. */
static uint64_t usual_chunks(const struct writer *w)
{
    const struct validate_run *r = w->run;
    uint64_t chunks = w->software->usual_chunks;
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

/* One chunk of an interleaved schedule is 1f1b. */
static void add_schedule(const struct writer *w, uint64_t chunks)
{
    const struct validate_run *r = w->run;
    const char *usual =
        chunks > 1 ? schedule_interleaved.head.name : schedule_one_f_one_b.head.name;
    bool single = *r->schedule != '\0' && chunks == 1 && schedule_find(r->schedule)->interleaved;
    if (*r->schedule != '\0' && !single)
        add_word(w, "schedule", "schedule", r->schedule);
    else
        validate_text_key(w->text, "schedule",
                          single       ? "chosen: interleaved with one chunk is this"
                          : chunks > 1 ? "chosen: what several chunks need"
                                       : "chosen: column schedule is empty",
                          "%s", usual);
}

static void add_sharding(const struct writer *w)
{
    const struct validate_run *r = w->run;
    if (r->zero == ZERO_UNKNOWN && *w->software->usual_sharding != '\0')
        validate_text_key(w->text, "sharding", profile_origin(w, "its usual sharding").s, "%s",
                          w->software->usual_sharding);
    else if (r->zero != ZERO_UNKNOWN && r->zero >= 3 && *w->software->full_sharding != '\0')
        validate_text_key(w->text, "sharding",
                          profile_origin(w, "what it calls stage 3 of column zero").s, "%s",
                          w->software->full_sharding);
    else if (r->zero < 3)
        validate_text_key(w->text, "sharding", column_origin(w, "zero").s, "zero-%llu",
                          (unsigned long long)r->zero);
}

static void add_recompute(const struct writer *w)
{
    if (*w->run->recompute != '\0')
        add_word(w, "recompute", "recompute", w->run->recompute);
    else
        validate_text_key(w->text, "recompute", profile_origin(w, "its usual recomputation").s,
                          "%s", recompute_names[w->software->usual_recompute]);
}

static void add_chunks(const struct writer *w, bool said, uint64_t chunks)
{
    if (said)
        add_count(w, "vpp", "vpp", chunks);
    else
        validate_text_key(
            w->text, "vpp",
            w->run->pp > 1
                ? profile_origin(w, "its usual chunks, as far as layers and schedule let them").s
                : "chosen: one stage has one chunk",
            "%llu", (unsigned long long)chunks);
}

static void add_layout(const struct writer *w)
{
    const struct validate_run *r = w->run;
    bool said = r->vpp > 0 && r->pp > 1;
    uint64_t chunks = said ? r->vpp : usual_chunks(w);
    validate_text_open(w->text, "layout");
    add_schedule(w, chunks);
    add_recompute(w);
    add_flag(w, "sequence_parallel", "sequence_parallel", r->sequence_parallel);
    add_sharding(w);
    add_count(w, "tp", "tp", r->tp);
    add_count(w, "pp", "pp", r->pp);
    add_count(w, "dp", "dp", r->dp);
    add_count(w, "cp", "cp", r->cp);
    add_chunks(w, said, chunks);
    add_count(w, "ep", "ep", r->ep > 1 ? r->ep : 0);
    add_count(w, "microbatch", "microbatch", r->microbatch);
    if (r->ends_count)
        validate_text_key(w->text, "ends_count",
                          "chosen: with embedding and head the layers fill whole stages", "true");
    validate_text_close(w->text);
}

/* A run is the proof that its version could do it: whatever it asked of the layers was possible. */
static void add_software(const struct writer *w)
{
    validate_text_open(w->text, "software");
    validate_text_key(w->text, "profile",
                      *w->run->software != '\0'
                          ? "column software: the oldest version that can do what the run did"
                          : "chosen: column software is empty; the oldest usual one that can",
                      "%s", w->software->name);
    validate_text_key(w->text, "even_stages",
                      "chosen: the run proves that its stages were possible", "false");
    validate_text_close(w->text);
}

bool validate_run_write(const struct validation *v, const struct validate_run *run,
                        struct validate_text *out, struct validate_row *row)
{
    struct writer w = {out, run, validate_version(v->versions, run)};
    if (w.software == NULL) {
        validate_row_refuse(row, REFUSAL_SOFTWARE, "software %s is not in the catalogue",
                            run->software);
        return false;
    }
    if (*run->schedule != '\0' && schedule_find(run->schedule) == NULL) {
        validate_row_refuse(row, REFUSAL_SCHEDULE, "schedule %s is not in this version",
                            run->schedule);
        return false;
    }
    if (!validate_cluster(v, run, out, row))
        return false;
    add_model(&w);
    add_training(&w);
    add_layout(&w);
    add_software(&w);
    return true;
}
