#include "analysis/study/study_store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/database/query.h"
#include "analysis/text/version.h"

enum {
    STUDY = 1, /* of a file: studies are not merged yet */
    FINGERPRINT_SIZE = 24
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

static void print_fingerprint(const struct study *study, char text[FINGERPRINT_SIZE])
{
    snprintf(text, FINGERPRINT_SIZE, "%016" PRIx64, study->fingerprint);
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

void study_store_begin(struct store *store, const struct study *study)
{
    const struct study_metric_info *objective = &study_metrics[study->objective];
    char fingerprint[FINGERPRINT_SIZE];
    print_fingerprint(study, fingerprint);
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
    };
    store_row(store, STORE_study, row, COUNT(row));
}

static void write_values(struct store *store, const struct study *study, size_t point)
{
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t index = vary_index(study->varies, study->vary_count, k, point);
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
                                    store_integer((int64_t)(study->base_seed + r)),
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
                                lacks ? store_integer(p->shortage.stage) : store_null()};
    store_row(store, STORE_study_point, row, COUNT(row));
    write_values(store, study, point);
    for (unsigned metric = 0; metric < METRIC_COUNT; metric++) {
        if (study_measures(study, metric))
            write_metric(store, study, point, (enum study_metric)metric);
    }
    store_commit(store);
    arena_rewind(study->arena, mark);
}

/* What is read back, and how much of each point has come. */
struct reading {
    struct study *study;
    size_t *cells; /* values met so far, by point */
    bool same;
};

/* Columns: fingerprint, seeds, confidence_ratio. */
static bool check_study(void *context, const struct query_row *row, struct error *error)
{
    struct reading *reading = context;
    char expected[FINGERPRINT_SIZE];
    unsigned bytes;
    const char *text = query_text(row, 0, &bytes);
    (void)error;
    print_fingerprint(reading->study, expected);
    reading->study->stored = true;
    reading->study->as_stored = (uint64_t)query_integer(row, 1) == reading->study->options->seeds &&
                                query_real(row, 2) == reading->study->options->confidence_ratio;
    reading->same = bytes == strlen(expected) && memcmp(text, expected, bytes) == 0;
    return true;
}

static double number_or_nan(const struct query_row *row, unsigned column)
{
    return query_type(row, column) == QUERY_NULL ? NAN : query_real(row, column);
}

static bool in_study(const struct study *study, int64_t point, struct error *error)
{
    return (point >= 0 && (size_t)point < study->point_count) ||
           error_set(error, "the unfinished study holds a point that it cannot have");
}

static const char *text_of(struct arena *arena, const struct query_row *row, unsigned column)
{
    unsigned bytes;
    const char *text = query_text(row, column, &bytes);
    return query_type(row, column) == QUERY_NULL ? NULL
                                                 : arena_format(arena, "%.*s", (int)bytes, text);
}

/* Columns: point, replications, fits, the marks, and what is missing. */
static bool take_point(void *context, const struct query_row *row, struct error *error)
{
    struct study *study = ((struct reading *)context)->study;
    int64_t number = query_integer(row, 0), replications = query_integer(row, 1);
    if (!in_study(study, number, error))
        return false;
    if (study->points[number].refusal != NULL)
        return error_set(error, "the unfinished study holds a point that cannot be played");
    if (replications < 1 || (uint64_t)replications > study->options->seeds)
        return error_set(error, "the unfinished study has more seeds than are asked for");
    struct study_point *p = &study->points[number];
    p->replications = p->stored = (size_t)replications;
    p->fits = query_integer(row, 2) != 0;
    p->marks =
        (struct study_marks){number_or_nan(row, 3), number_or_nan(row, 4), number_or_nan(row, 5),
                             number_or_nan(row, 6), number_or_nan(row, 7), number_or_nan(row, 8)};
    p->usable_bytes = number_or_nan(row, 9);
    p->shortage = (struct study_shortage){.short_bytes = number_or_nan(row, 10),
                                          .tensor = text_of(study->arena, row, 11),
                                          .tenant = text_of(study->arena, row, 12),
                                          .stage = (uint32_t)query_integer(row, 13)};
    p->values =
        arena_array(study->arena, sizeof *p->values, study->options->seeds, _Alignof(double));
    for (size_t r = 0; r < p->replications; r++) {
        for (unsigned m = 0; m < METRIC_COUNT; m++)
            p->values[r][m] = NAN;
    }
    return true;
}

/* Columns: point, reason. */
static bool take_refused(void *context, const struct query_row *row, struct error *error)
{
    struct study *study = ((struct reading *)context)->study;
    int64_t number = query_integer(row, 0);
    if (!in_study(study, number, error))
        return false;
    struct study_point *p = &study->points[number];
    if (p->refusal == NULL) /* that was found when it was played */
        p->refusal = text_of(study->arena, row, 1);
    p->stored = 1;
    return true;
}

/* Columns: point, seed, metric, value. */
static bool take_value(void *context, const struct query_row *row, struct error *error)
{
    struct reading *reading = context;
    struct study *study = reading->study;
    int64_t number = query_integer(row, 0);
    char name[64];
    unsigned bytes;
    const char *text = query_text(row, 2, &bytes);
    if (!in_study(study, number, error))
        return false;
    struct study_point *p = &study->points[number];
    uint64_t replication = (uint64_t)query_integer(row, 1) - study->base_seed;
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), text);
    int metric = study_metric_find(name);
    if (replication >= p->replications || metric < 0)
        return error_set(error, "the unfinished study holds a result that it cannot have");
    p->values[replication][metric] = number_or_nan(row, 3);
    reading->cells[number]++;
    return true;
}

static size_t metrics_of(const struct study *study)
{
    size_t count = 0;
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        count += study_measures(study, m);
    return count;
}

/* A point counts as done when every value of every replication came back. */
static void mark_done(struct reading *reading)
{
    for (size_t p = 0; p < reading->study->point_count; p++) {
        struct study_point *point = &reading->study->points[p];
        size_t whole = point->replications * metrics_of(reading->study);
        if (reading->cells[p] != whole)
            *point = (struct study_point){.refusal = point->refusal,
                                          .stored = point->stored > 0 ? SIZE_MAX : 0};
    }
}

static bool read_all(struct query *query, struct reading *reading, struct error *error)
{
    if (!query_run(query, "select fingerprint, seeds, confidence_ratio from study", NULL, 0,
                   check_study, reading, error))
        return false;
    if (!reading->study->stored) /* stopped before its first commit */
        return true;
    if (!reading->same)
        return error_set(error, "it holds another study: the scenario, --set, --vary, the seed or "
                                "the version of orrery differ");
    return query_run(query,
                     "select point, replications, fits, interval_s, young_s, daly_s, exact_s, "
                     "job_mtbf_s, stall_s, usable_hbm_bytes, short_bytes, tensor, tenant, stage "
                     "from study_point order by point",
                     NULL, 0, take_point, reading, error) &&
           query_run(query, "select point, reason from study_refused", NULL, 0, take_refused,
                     reading, error) &&
           query_run(query,
                     "select r.point, r.seed, n.text, r.value from study_raw r join string n on "
                     "n.id = r.metric",
                     NULL, 0, take_value, reading, error);
}

bool study_store_resume(struct study *study, const char *path, struct error *error)
{
    struct reading reading = {.study = study,
                              .cells = ARENA_ARRAY(study->arena, size_t, study->point_count)};
    struct query *query;
    struct error inner = {""};
    if (!query_open(path, &query, error))
        return false;
    bool good = read_all(query, &reading, &inner);
    query_close(query);
    if (!good)
        return error_set(error, "%s cannot be resumed: %.800s", path, inner.text);
    mark_done(&reading);
    return true;
}
