/* import_mllog_row.c - a measured run as a row of a table that `orrery validate` reads: the columns
 * of tests/validation/steps.csv. What is not said is an empty cell; the shape is the catalogue's,
 * and `assumed` says so. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "analysis/command/import/import_mllog.h"
#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/file.h"
#include "scenarios/language/source.h"

enum {
    CELLS_MAX = 64
};
struct mllog_row {
    const struct importing *i;
    const struct mllog_measured *m;
    const char *names[CELLS_MAX], *cells[CELLS_MAX];
    unsigned count;
};

static void add(struct mllog_row *r, const char *name, const char *cell)
{
    r->names[r->count] = name;
    r->cells[r->count++] = cell;
}

static void add_number(struct mllog_row *r, const char *name, double value)
{
    add(r, name, value > 0.0 ? arena_format(r->i->arena, "%.10g", value) : "");
}

static void add_count(struct mllog_row *r, const char *name, uint64_t value)
{
    add(r, name, arena_format(r->i->arena, "%llu", (unsigned long long)value));
}

/* Letters, digits, dashes, dots and underscores, as names of a table have them. */
static const char *word_of(const struct mllog_row *r, const char *text)
{
    char *word = arena_text(r->i->arena, text);
    for (char *c = word; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && strchr("-._", *c) == NULL)
            *c = '_';
    return *word != '\0' ? word : "mllog";
}

/* A text without what separates cells. */
static const char *cell_of(const struct mllog_row *r, const char *text)
{
    char *cell = arena_text(r->i->arena, source_clean(r->i->arena, text));
    for (char *c = cell; *c != '\0'; c++)
        if (*c == ',' || *c == '"')
            *c = ' ';
    return cell;
}

/* Steps of a run that did not end well are steps, with something against them. */
static const char *quality_of(const struct importing *i, const struct mllog *log)
{
    const char *status = log->run.status;
    if (!isnan(log->run.run_stop_s) && status != NULL && strcmp(status, "success") == 0)
        return "clean";
    fprintf(i->session->notes,
            "orrery import: %s: quality noisy, as %s%s: MLPerf's status of a run that counts is "
            "success\n",
            format_shown(log->path).s,
            isnan(log->run.run_stop_s) ? "there is no run_stop"
            : status != NULL           ? "the status of its run_stop is "
                                       : "its run_stop has no status",
            isnan(log->run.run_stop_s) || status == NULL ? "" : format_shown(status).s);
    return "noisy";
}

static void add_head(struct mllog_row *r)
{
    const struct mllog_measured *m = r->m;
    const double tokens =
        m->layout.counts[MLLOG_GLOBAL_BATCH].value * m->layout.counts[MLLOG_SEQUENCE].value;
    add(r, "row_id", word_of(r, file_stem(r->i->arena, m->log.path)));
    add(r, "source", "mllog");
    add(r, "cite", cell_of(r, m->log.path));
    add(r, "outcome", "ok");
    add(r, "quality", quality_of(r->i, &m->log));
    add_number(r, "step_time_s", m->step_s);
    add_number(r, "tokens_per_s_per_gpu", tokens / m->step_s / m->layout.gpus.value);
    add(r, "peak_alloc_gib", "");
    add(r, "peak_reserved_gib", "");
}

static void add_shape(struct mllog_row *r, const struct model_shape *shape)
{
    add(r, "model", r->m->layout.preset.text);
    add_count(r, "layers", shape->layers);
    add_count(r, "hidden", shape->hidden);
    add_count(r, "heads", shape->attention.heads);
    add_count(r, "kv_heads", shape->attention.kv_heads);
    add_count(r, "head_dim", shape->attention.head_size);
    add_count(r, "ffn_hidden", shape->ffn_hidden);
    add(r, "ffn", ffn_names[shape->ffn]);
    add_count(r, "vocab", shape->vocabulary);
    add_count(r, "tied_embeddings", shape->tied_embeddings);
    add(r, "positions", position_names[shape->position]);
    add_count(r, "experts", shape->moe.experts);
    add_count(r, "experts_per_token", shape->moe.experts_per_token);
    add_count(r, "moe_ffn_hidden", shape->moe.ffn_hidden);
    add_count(r, "shared_experts", shape->moe.shared_experts);
    add_count(r, "dense_layers", shape->moe.dense_layers);
}

static const char *flag(const struct mllog_layout *l, enum mllog_flag which)
{
    return l->flags[which].value < 0 ? "" : l->flags[which].value == 1 ? "1" : "0";
}

static void add_layout(struct mllog_row *r)
{
    const struct mllog_layout *l = &r->m->layout;
    add_number(r, "seq_len", l->counts[MLLOG_SEQUENCE].value);
    add(r, "gpu", r->i->a->card.gpu);
    add_number(r, "gpus", l->gpus.value);
    add_number(r, "gpus_per_node", l->counts[MLLOG_NODE_GPUS].value);
    add(r, "fabric", l->counts[MLLOG_NODES].value == 1.0 ? "none" : "unknown");
    add_number(r, "tp", l->counts[MLLOG_TP].value);
    add_number(r, "pp", l->counts[MLLOG_PP].value);
    add_number(r, "dp", l->dp.value);
    add_number(r, "cp", l->counts[MLLOG_CP].value);
    add_number(r, "ep", l->counts[MLLOG_EP].value);
    add_number(r, "vpp", l->counts[MLLOG_VPP].value);
    add(r, "zero", flag(l, MLLOG_DISTRIBUTED_OPTIMIZER));
    add(r, "sequence_parallel", flag(l, MLLOG_SEQUENCE_PARALLEL));
    add_number(r, "microbatch", l->counts[MLLOG_MICROBATCH].value);
    add_number(r, "global_batch", l->counts[MLLOG_GLOBAL_BATCH].value);
    add(r, "recompute", "");
    add(r, "attention", "");
    add(r, "precision", l->precision.text != NULL ? l->precision.text : "");
    add(r, "grad_bytes", "");
    add(r, "schedule", "");
    add(r, "software", "");
}

/* Facts that no column has, as `stated` holds them. */
static const char *stated(const struct mllog_row *r)
{
    const struct mllog_layout *l = &r->m->layout;
    struct arena *arena = r->i->arena;
    const char *text = "";
#define STATE(condition, ...)                                                                      \
    text = (condition) ? arena_format(arena, "%s%s%s", text, *text == '\0' ? "" : ";",             \
                                      arena_format(arena, __VA_ARGS__))                            \
                       : text
    STATE(l->fp8_recipe.text != NULL, "software.fp8_recipe=%s", l->fp8_recipe.text);
    STATE(l->flags[MLLOG_GRAPH_FULL].value == 1, "software.cuda_graphs=full");
    STATE(l->flags[MLLOG_GRAPH_FULL].value != 1 && l->flags[MLLOG_GRAPH_LAYER].value == 1,
          "software.cuda_graphs=layer");
    STATE(l->flags[MLLOG_FP8_ATTENTION].value == 1, "software.fp8_attention=true");
    STATE(l->flags[MLLOG_EMBEDDING_COUNTS].value == 1 && l->flags[MLLOG_HEAD_COUNTS].value == 1,
          "layout.ends_count=true");
    STATE(l->lora, "training.adapter=lora");
    STATE(l->lora && l->counts[MLLOG_LORA_RANK].value > 0.0, "training.adapter_rank=%.0f",
          l->counts[MLLOG_LORA_RANK].value);
    return text;
}

/* What a row cannot do without; NULL: it is there. */
static const char *lacking(const struct importing *i, const struct mllog_layout *l)
{
    if (i->a->card.gpu == NULL)
        return "the card (--gpu NAME)";
    if (l->counts[MLLOG_SEQUENCE].value == 0.0)
        return "the sequence length";
    if (l->dp.value == 0.0)
        return "the number of GPUs, tp, pp or cp (--config FILE)";
    return l->counts[MLLOG_NODE_GPUS].value == 0.0 ? "the number of nodes (--config FILE)" : NULL;
}

static struct scenario *read_shape(const struct importing *i, const struct mllog_layout *l,
                                   struct error *error)
{
    const struct scenario_options how = {.catalogue = i->a->card.catalogue};
    const char *layers =
        l->counts[MLLOG_LAYERS].value > 0.0
            ? arena_format(i->arena, ", layers: %.0f", l->counts[MLLOG_LAYERS].value)
            : "";
    const char *text = arena_format(i->arena, "model: {preset: %s%s}\n", l->preset.text, layers);
    return scenario_read("model", text, strlen(text), &how, error);
}

int import_mllog_row(const struct importing *i, const struct mllog_measured *m)
{
    struct error error = {""};
    struct mllog_row r = {.i = i, .m = m};
    const char *lacks = lacking(i, &m->layout);
    if (lacks != NULL) {
        error_set(&error, "%s: --row needs what is not said: %s", m->log.path, lacks);
        return importing_trouble(i, &error, EXIT_REJECTED);
    }
    struct scenario *s = read_shape(i, &m->layout, &error);
    if (s == NULL)
        return importing_trouble(i, &error, EXIT_REJECTED);
    add_head(&r);
    add_shape(&r, &s->configuration.model);
    add_layout(&r);
    add(&r, "assumed",
        "layers hidden heads kv_heads head_dim ffn_hidden ffn vocab tied_embeddings positions "
        "fabric");
    add(&r, "released", "");
    add(&r, "stated", stated(&r));
    for (unsigned c = 0; c < r.count; c++)
        fprintf(i->session->out, "%s%c", r.names[c], c + 1 < r.count ? ',' : '\n');
    for (unsigned c = 0; c < r.count; c++)
        fprintf(i->session->out, "%s%c", r.cells[c], c + 1 < r.count ? ',' : '\n');
    scenario_destroy(s);
    return EXIT_OK;
}
