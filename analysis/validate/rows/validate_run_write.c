/* The scenario of a run, key by key, each with where its value comes from. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate_models.h"
#include "analysis/validate/rows/validate_run.h"
#include "models/layout/layout.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/language/reader.h"

struct writer {
    struct validate_text *text;
    const struct validate_run *run;
    const struct software_profile *software;
    const struct alike_model *alike; /* of the catalogue, of this shape; NULL */
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

/* `unsaid`: what stands for a cell that is empty. */
static void add_flag(const struct writer *w, const char *key, const char *column,
                     enum cell_flag flag, const char *unsaid)
{
    validate_text_key(w->text, key, column_origin(w, column).s, "%s",
                      flag == FLAG_UNSAID ? unsaid
                      : flag == FLAG_TRUE ? "true"
                                          : "false");
}

/* Families: gated blocks come with RMS norms, others with LayerNorm; linear layers have biases, and
 * models dropout where the software has it, with learned positions (GPT-2 and its heirs). */
static void add_family(const struct writer *w)
{
    const struct validate_run *r = w->run;
    bool gated = *r->model.ffn == '\0' || strcmp(r->model.ffn, ffn_names[FFN_SWIGLU]) == 0;
    bool learned = strcmp(r->model.positions, position_names[POSITION_LEARNED]) == 0;
    if (r->model.tied_embeddings != FLAG_UNSAID || w->alike == NULL)
        add_flag(w, "tied_embeddings", "tied_embeddings", r->model.tied_embeddings, "false");
    validate_text_key(w->text, "norm",
                      gated ? "chosen: gated blocks come with RMS norms"
                            : "chosen: blocks that are not gated come with LayerNorm",
                      "%s", norm_names[gated ? NORM_RMS : NORM_LAYERNORM]);
    if (!learned)
        return;
    validate_text_key(w->text, "biases", "chosen: learned positions come with biases", "true");
    validate_text_key(w->text, "dropout",
                      profile_origin(w, "its usual dropout, of models with learned positions").s,
                      "%.17g", w->software->usual.dropout_ratio);
}

static void add_model(const struct writer *w)
{
    const struct validate_run *r = w->run;
    /* Heads of latent attention have several sizes, which columns cannot say. */
    const bool latent = w->alike != NULL && w->alike->shape.latent.kv_rank > 0;
    validate_text_open(w->text, "model");
    if (w->alike != NULL)
        validate_text_key(w->text, "preset", "chosen: of this shape; it says what no column does",
                          "%s", w->alike->name);
    add_family(w);
    add_count(w, "layers", "layers", r->model.layers);
    add_count(w, "hidden", "hidden", r->model.hidden);
    add_count(w, "heads", "heads", r->model.heads);
    if (!latent) {
        add_count(w, "kv_heads", "kv_heads", r->model.kv_heads);
        add_count(w, "head_size", "head_dim", r->model.head_size);
    }
    add_count(w, "ffn_hidden", "ffn_hidden", r->model.ffn_hidden);
    add_count(w, "vocabulary", "vocab", r->model.vocabulary);
    add_word(w, "ffn", "ffn", r->model.ffn);
    add_word(w, "position", "positions", r->model.positions);
    add_count(w, "experts", "experts", r->model.experts);
    add_count(w, "experts_per_token", "experts_per_token", r->model.experts_per_token);
    add_count(w, "moe_ffn_hidden", "moe_ffn_hidden", r->model.moe_ffn_hidden);
    add_count(w, "shared_experts", "shared_experts", r->model.shared_experts);
    add_count(w, "dense_layers", "dense_layers", r->model.dense_layers);
    if (w->alike != NULL && w->alike->shape.mtp_layers > 0 &&
        r->model.layers < w->alike->shape.layers)
        validate_text_key(w->text, "mtp_layers",
                          "chosen: a model cut to fewer layers predicts one token", "0");
    validate_text_close(w->text);
}

/* What the row does not say the door chooses, as for any scenario (models/plan/choice.h). */
static void leave_open(const struct writer *w, const char *key, const char *column,
                       const char *word)
{
    validate_text_key(w->text, key, column_origin(w, column).s, "%s", word);
}

/* A row's flash3 is FlashAttention-3 or cuDNN, says its vocabulary; the software tells which. Where
 * the source only assumes it, so does its release: it may be neither. */
static void add_attention(const struct writer *w)
{
    const struct validate_run *r = w->run;
    const bool assumed = r->says.attention_assumed;
    const bool flash3 = strcmp(r->attention, attention_kernel_names[ATTENTION_FLASH3]) == 0;
    const bool either = flash3 && w->software->usual.attention == ATTENTION_CUDNN;
    if (flash3 && assumed && !w->software->offers.flash3)
        validate_text_key(w->text, "attention",
                          profile_origin(w, "it has no flash3, which the source assumes").s, "%s",
                          READER_AUTO);
    else if (either && assumed)
        leave_open(w, "attention", "attention", READER_AUTO);
    else if (either)
        validate_text_key(w->text, "attention",
                          profile_origin(w, "column attention's flash3 stands for cudnn too").s,
                          "%s", attention_kernel_names[ATTENTION_CUDNN]);
    else if (*r->attention != '\0')
        add_word(w, "attention", "attention", r->attention);
    else
        leave_open(w, "attention", "attention", READER_AUTO);
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

/* One chunk of an interleaved schedule is 1f1b. */
static void add_schedule(const struct writer *w)
{
    const struct validate_run *r = w->run;
    bool single = *r->schedule != '\0' && r->layout.pp > 1 && r->layout.vpp == 1 &&
                  schedule_find(r->schedule)->interleaved;
    if (single)
        validate_text_key(w->text, "schedule", "chosen: interleaved with one chunk is this", "%s",
                          schedule_one_f_one_b.head.name);
    else if (*r->schedule != '\0')
        add_word(w, "schedule", "schedule", r->schedule);
    else
        leave_open(w, "schedule", "schedule", READER_AUTO);
}

static void add_sharding(const struct writer *w)
{
    const struct validate_run *r = w->run;
    if (r->layout.zero == ZERO_UNKNOWN)
        leave_open(w, "sharding", "zero", READER_AUTO);
    else if (r->layout.zero != ZERO_UNKNOWN && r->layout.zero >= 3 &&
             *w->software->usual.full_sharding != '\0')
        validate_text_key(w->text, "sharding",
                          profile_origin(w, "what it calls stage 3 of column zero").s, "%s",
                          w->software->usual.full_sharding);
    else if (r->layout.zero < 3)
        validate_text_key(w->text, "sharding", column_origin(w, "zero").s, "zero-%llu",
                          (unsigned long long)r->layout.zero);
}

static void add_recompute(const struct writer *w)
{
    const struct software_profile *p = w->software;
    const bool selective = strcmp(w->run->recompute, recompute_names[RECOMPUTE_SELECTIVE]) == 0;
    if (selective && p->offers.operator_recompute && !p->offers.selective_recompute)
        validate_text_key(w->text, "recompute",
                          profile_origin(w, "what it calls selective in column recompute").s, "%s",
                          recompute_names[w->run->says.layer ? RECOMPUTE_EVERY_OTHER_LAYER
                                                             : RECOMPUTE_PER_OPERATOR]);
    else if (*w->run->recompute != '\0')
        add_word(w, "recompute", "recompute", w->run->recompute);
    else
        leave_open(w, "recompute", "recompute", READER_LEAST);
}

static void add_chunks(const struct writer *w)
{
    if (w->run->layout.pp == 1)
        validate_text_key(w->text, "vpp", "chosen: one stage has one chunk", "1");
    else if (w->run->layout.vpp > 0)
        add_count(w, "vpp", "vpp", w->run->layout.vpp);
    else
        leave_open(w, "vpp", "vpp", READER_AUTO);
}

static void add_layout(const struct writer *w)
{
    const struct validate_run *r = w->run;
    validate_text_open(w->text, "layout");
    add_schedule(w);
    add_recompute(w);
    add_flag(w, "sequence_parallel", "sequence_parallel", r->layout.sequence_parallel, READER_AUTO);
    add_sharding(w);
    add_count(w, "tp", "tp", r->layout.tp);
    add_count(w, "pp", "pp", r->layout.pp);
    add_count(w, "dp", "dp", r->layout.dp);
    add_count(w, "cp", "cp", r->layout.cp);
    add_chunks(w);
    if (r->model.experts > 0 && r->layout.ep == 0)
        leave_open(w, "ep", "ep", READER_BEST);
    else
        add_count(w, "ep", "ep", r->model.experts > 0 || r->layout.ep > 1 ? r->layout.ep : 0);
    if (r->layout.microbatch > 0)
        add_count(w, "microbatch", "microbatch", r->layout.microbatch);
    else
        leave_open(w, "microbatch", "microbatch", READER_BEST);
    if (r->layout.pp > 1)
        validate_text_key(w->text, "order", "chosen: how frameworks number ranks unless told",
                          LAYOUT_USUAL_ORDER);
    if (r->layout.ends_count)
        validate_text_key(w->text, "ends_count",
                          "chosen: with embedding and head the layers fill whole stages", "true");
    validate_text_close(w->text);
}

/* Do the layers fill the chunks of the pipeline evenly, if need be with embedding and head? Then
 * the rule of any scenario holds (models/layout/configuration_stages.c). */
static bool fills_stages(const struct validate_run *r)
{
    const uint64_t chunks = r->layout.pp * (r->layout.vpp > 0 ? r->layout.vpp : 1);
    return chunks > 0 && ((!r->layout.ends_count && r->model.layers % chunks == 0) ||
                          (r->model.layers + 2) % chunks == 0);
}

/* A run is the proof that its version could do it: whatever it asked of the layers was possible. */
static void add_software(const struct writer *w)
{
    validate_text_open(w->text, "software");
    validate_text_key(w->text, "profile",
                      *w->run->software != '\0'
                          ? "column software: the oldest version that can do what the run did"
                      : w->run->says.undated && w->run->says.native
                          ? "chosen: column software is empty; ddp and fsdp are PyTorch's words"
                      : w->run->says.undated
                          ? "chosen: column software is empty; the middle of what is run"
                          : "chosen: the paper ran Megatron-LM; its oldest version that can",
                      "%s", w->software->name);
    add_word(w, "release", "released", w->run->released != NULL ? w->run->released : "");
    if (w->run->says.async && w->run->layout.tp > 1)
        validate_text_key(w->text, "tp_pipelines",
                          "the row's name: asynchronous tensor parallelism", "true");
    if (w->software->pipeline.even_stages && !fills_stages(w->run))
        validate_text_key(w->text, "even_stages",
                          "chosen: the run proves that its stages were possible", "false");
    validate_text_close(w->text);
}

/* What the source states is in the scenario, or is told not to be: a fact without a key, and the
 * network of a run on one node. */
static bool all_told(const struct validate_run *run, struct validate_text *out,
                     struct validate_row *row)
{
    for (unsigned i = 0; i < run->stated.count && !row->refused; i++) {
        const struct stated_fact *fact = &run->stated.facts[i];
        const bool network = strcmp(fact->section, "cluster.fabric") == 0;
        if (fact->told)
            continue;
        if (!fact->known || network)
            validate_text_add(out, "# column stated, %s: %s.%s=%s\n",
                              network ? "of a network, which one node has none of"
                                      : "without a key here",
                              fact->section, fact->key, fact->value);
        else
            validate_row_refuse(row, REFUSAL_CELLS,
                                "column stated: %.60s.%.60s is of a section that rows do not have",
                                fact->section, fact->key);
    }
    return !row->refused;
}

bool validate_run_write(const struct validation *v, struct validate_run *run,
                        struct validate_text *out, struct validate_row *row)
{
    struct writer w = {out, run, validate_version(v->versions, run),
                       validate_models_alike(v->models, run)};
    if (w.software == NULL) {
        const char *near = validate_framework_near(v->versions, run->software);
        validate_row_refuse(row, REFUSAL_SOFTWARE, "software %.60s is not in the catalogue%s%s%s",
                            run->software, near ? "; did you mean '" : "", near ? near : "",
                            near ? "'?" : "");
        return false;
    }
    if (*run->schedule != '\0' && schedule_find(run->schedule) == NULL) {
        validate_row_refuse(row, REFUSAL_SCHEDULE, "schedule %s is not in this version",
                            run->schedule);
        return false;
    }
    out->stated = &run->stated;
    if (!validate_cluster(v, run, out, row))
        return false;
    add_model(&w);
    add_training(&w);
    add_layout(&w);
    add_software(&w);
    return all_told(run, out, row);
}
