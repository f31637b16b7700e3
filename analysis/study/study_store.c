#include "analysis/study/study_store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/output/text/version.h"

enum {
    STUDY = 1 /* of a file: there is one */
};
#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static struct store_value real(double value)
{
    return isfinite(value) ? store_real(value) : store_null();
}

static struct store_value real_if(bool known, double value)
{
    return known ? real(value) : store_null();
}

static struct store_value text_or_null(const char *text)
{
    return text != NULL ? store_text(text) : store_null();
}

static void write_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, COUNT(row));
}

static void write_refused(struct store *store, const struct study *study, size_t point)
{
    struct arena_mark mark = arena_mark(study->arena);
    struct store_value row[] = {store_integer(STUDY), store_integer((int64_t)point),
                                store_text(study_label(study->arena, study, point)),
                                store_text(study->points[point].refusal)};
    store_row(store, STORE_study_refused, row, COUNT(row));
    arena_rewind(study->arena, mark);
}

static void write_metas(struct store *store, const struct study *study)
{
    write_meta(store, "schema", "orrery.db/2");
    write_meta(store, "version", ORRERY_VERSION);
    write_meta(store, "scenario", study->name);
    write_meta(store, "path", study->options->path);
}

struct option_rows {
    struct store *store;
    int64_t count;
};

static void write_option(struct option_rows *rows, const char *name, const char *value)
{
    struct store_value row[] = {store_integer(STUDY), store_integer(rows->count++),
                                store_text(name), store_text(value)};
    store_row(rows->store, STORE_study_option, row, COUNT(row));
}

/* What the command line asked for, so that a report can repeat it. */
static void write_options(struct store *store, const struct study *study)
{
    const struct study_options *o = study->options;
    struct option_rows rows = {store, 0};
    char number[32];
    store_delete(store, STORE_study_option, "study", STUDY);
    for (unsigned k = 0; k < o->vary_count; k++)
        write_option(&rows, "--vary", o->varies[k]);
    for (unsigned i = 0; i < o->scenario->set_count; i++)
        write_option(&rows, "--set", o->scenario->sets[i]);
    if (o->scenario->catalogue != NULL)
        write_option(&rows, "--catalogue", o->scenario->catalogue);
    snprintf(number, sizeof number, "%" PRIu64, o->scenario->seed);
    if (o->scenario->has_seed)
        write_option(&rows, "--seed", number);
    snprintf(number, sizeof number, "%" PRIu64, o->top);
    if (o->top > 0)
        write_option(&rows, "--top", number);
    snprintf(number, sizeof number, "%u/%u", o->shard.index, o->shard.count);
    if (o->shard.count > 0)
        write_option(&rows, "--shard", number);
}

void study_store_begin(struct store *store, const struct study *study)
{
    const struct study_metric_info *objective = &study_metrics[study->objective];
    char fingerprint[24];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, study->fingerprint);
    if (study->stored) /* the seeds or the objective may be others now */
        store_delete(store, STORE_study, "id", STUDY);
    else
        write_metas(store, study);
    struct store_value row[] = {
        store_integer(STUDY),
        store_text(study->name),
        store_text(objective->name),
        store_integer(objective->larger_is_better),
        store_integer((int64_t)study->base_seed),
        store_integer((int64_t)study->options->seeds),
        store_real(study->options->confidence_ratio),
        store_text(fingerprint),
        store_integer(study->weeks),
    };
    store_row(store, STORE_study, row, COUNT(row));
    write_options(store, study);
}

static void write_values(struct store *store, const struct study *study, size_t point)
{
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t index = study_vary_index(study->varies, study->vary_count, k, point);
        const struct vary_value *value = &study->varies[k].values[index];
        struct store_value row[] = {store_integer(STUDY), store_integer((int64_t)point),
                                    store_text(study->varies[k].key), store_text(value->text),
                                    real(value->number)};
        store_row(store, STORE_study_value, row, COUNT(row));
    }
}

static void write_metric(struct store *store, const struct study *study, size_t point,
                         enum study_metric metric)
{
    const struct study_point *p = &study->points[point];
    int64_t name = store_string(store, study_metrics[metric].name);
    struct summary s;
    for (size_t r = 0; r < p->replications; r++) {
        struct store_value row[] = {store_integer(STUDY), store_integer((int64_t)point),
                                    store_integer((int64_t)(study->base_seed + p->share.first + r)),
                                    store_integer(name), real(p->values[r][metric])};
        store_row(store, STORE_study_raw, row, COUNT(row));
    }
    study_summarise(study->arena, p, metric, &s);
    bool spread = s.count > 1; /* one replication tells of none */
    struct store_value row[] = {store_integer(STUDY),
                                store_integer((int64_t)point),
                                store_text(study_metrics[metric].name),
                                real(s.mean),
                                real_if(spread, s.low95),
                                real_if(spread, s.high95),
                                real_if(spread, s.p10),
                                real_if(spread, s.p50),
                                real_if(spread, s.p90)};
    store_row(store, STORE_study_summary, row, COUNT(row));
}

/* A point that was resumed for more seeds takes the place of what it was. */
static void forget_point(struct store *store, size_t point)
{
    static const enum store_table tables[] = {STORE_study_point, STORE_study_value, STORE_study_raw,
                                              STORE_study_summary};
    for (unsigned i = 0; i < COUNT(tables); i++)
        store_delete(store, tables[i], "point", (int64_t)point);
}

void study_store_point(struct store *store, struct study *study, size_t point)
{
    struct study_point *p = &study->points[point];
    const struct study_marks *m = &p->marks;
    bool lacks = p->shortage.tensor != NULL, refused = p->refusal != NULL;
    if (p->share.count == 0 || (refused && p->share.first > 0)) /* of other shards */
        return;
    if (p->stored == (refused ? 1 : p->replications))
        return;
    if (p->stored > 0)
        forget_point(store, point);
    p->stored = refused ? 1 : p->replications;
    if (refused) {
        write_refused(store, study, point);
        return;
    }
    struct arena_mark mark = arena_mark(study->arena);
    struct store_value row[] = {store_integer(STUDY),
                                store_integer((int64_t)point),
                                store_text(study_label(study->arena, study, point)),
                                store_integer((int64_t)p->replications),
                                store_integer(p->fits),
                                real(m->interval_s),
                                real(m->young_s),
                                real(m->daly_s),
                                real(m->exact_s),
                                real(m->job_mtbf_s),
                                real(m->stall_s),
                                real(p->usable_bytes),
                                real_if(lacks, p->shortage.short_bytes),
                                text_or_null(p->shortage.tensor),
                                text_or_null(p->shortage.tenant),
                                lacks ? store_integer(p->shortage.stage) : store_null(),
                                text_or_null(p->announced)};
    store_row(store, STORE_study_point, row, COUNT(row));
    write_values(store, study, point);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++)
        if (study_measures(study, metric))
            write_metric(store, study, point, (enum study_metric)metric);
    store_commit(store);
    arena_rewind(study->arena, mark);
}
