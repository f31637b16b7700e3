/* A study read back: to go on with it, or to report it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/database/query.h"
#include "analysis/study/study_store.h"

enum {
    STUDY_SETS_MAX = 4096 /* of a command line */
};

/* What is read back, and how much of each point has come. */
struct study_reading {
    struct study *study;
    size_t *cells; /* values met so far, by point */
    bool same;
};

static bool has_fingerprint(const struct query_row *row, const struct study *study)
{
    char expected[24];
    unsigned bytes;
    const char *text = query_text(row, 0, &bytes);
    snprintf(expected, sizeof expected, "%016" PRIx64, study->fingerprint);
    return bytes == strlen(expected) && memcmp(text, expected, bytes) == 0;
}

/* Columns: fingerprint, seeds, confidence_ratio. */
static bool check_study(void *context, const struct query_row *row, struct error *error)
{
    struct study_reading *reading = context;
    (void)error;
    reading->study->stored = true;
    reading->study->as_stored = (uint64_t)query_integer(row, 1) == reading->study->options->seeds &&
                                query_real(row, 2) == reading->study->options->confidence_ratio;
    reading->same = has_fingerprint(row, reading->study);
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
    struct study *study = ((struct study_reading *)context)->study;
    int64_t number = query_integer(row, 0), replications = query_integer(row, 1);
    if (!in_study(study, number, error))
        return false;
    if (study->points[number].refusal != NULL)
        return error_set(error, "the unfinished study holds a point that cannot be played");
    struct study_point *p = &study->points[number];
    if (replications < 1 || (uint64_t)replications > p->share.count)
        return error_set(error, "the unfinished study has more seeds than are asked for");
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
    p->announced = text_of(study->arena, row, 14);
    p->values = arena_array(study->arena, sizeof *p->values, p->share.count, _Alignof(double));
    for (size_t r = 0; r < p->replications; r++)
        for (unsigned m = 0; m < METRIC_COUNT; m++)
            p->values[r][m] = NAN;
    return true;
}

/* Columns: point, reason. */
static bool take_refused(void *context, const struct query_row *row, struct error *error)
{
    struct study *study = ((struct study_reading *)context)->study;
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
    struct study_reading *reading = context;
    struct study *study = reading->study;
    int64_t number = query_integer(row, 0);
    char name[64];
    unsigned bytes;
    const char *text = query_text(row, 2, &bytes);
    if (!in_study(study, number, error))
        return false;
    struct study_point *p = &study->points[number];
    uint64_t replication = (uint64_t)query_integer(row, 1) - study->base_seed - p->share.first;
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), text);
    int metric = metric_find(name);
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
static void mark_done(struct study_reading *reading)
{
    for (size_t p = 0; p < reading->study->point_count; p++) {
        struct study_point *point = &reading->study->points[p];
        size_t whole = point->replications * metrics_of(reading->study);
        if (reading->cells[p] != whole)
            *point = (struct study_point){.refusal = point->refusal,
                                          .share = point->share,
                                          .stored = point->stored > 0 ? SIZE_MAX : 0};
    }
}

static bool read_all(struct query *query, struct study_reading *reading, struct error *error)
{
    if (!query_run(query, "select fingerprint, seeds, confidence_ratio from study", NULL,
                   check_study, reading, error))
        return false;
    if (!reading->study->stored) /* stopped before its first commit */
        return true;
    if (!reading->same)
        return error_set(error, "it holds another study: the scenario, --set, --vary, the seed or "
                                "the version of orrery differ");
    return query_run(query,
                     "select point, replications, fits, interval_s, young_s, daly_s, exact_s, "
                     "job_mtbf_s, stall_s, usable_hbm_bytes, short_bytes, tensor, tenant, "
                     "stage, announced_words from study_point order by point",
                     NULL, take_point, reading, error) &&
           query_run(query, "select point, reason from study_refused", NULL, take_refused, reading,
                     error) &&
           query_run(query,
                     "select r.point, r.seed, n.text, r.value from study_raw r join string n on "
                     "n.id = r.metric",
                     NULL, take_value, reading, error);
}

struct held_shard {
    bool stored; /* there is a study */
    struct shard shard;
};

/* Columns: value, null where the study has no shards. */
static bool take_shard(void *context, const struct query_row *row, struct error *error)
{
    struct held_shard *held = context;
    unsigned bytes;
    char text[32];
    held->stored = true;
    if (query_type(row, 0) == QUERY_NULL)
        return true;
    const char *value = query_text(row, 0, &bytes);
    snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1),
             value != NULL ? value : "");
    return shard_read_stated(text, &held->shard, error);
}

static const char *shard_text(struct arena *arena, struct shard shard)
{
    return shard.count == 0 ? "the whole study"
                            : arena_format(arena, "shard %u/%u", shard.index, shard.count);
}

static bool same_shard(struct query *query, const struct study *study, struct error *error)
{
    struct held_shard held = {false, {0, 0}};
    struct shard asked = study->options->shard;
    if (!query_run(query,
                   "select o.value from study s left join study_option o on o.study = s.id and "
                   "o.name = '--shard'",
                   NULL, take_shard, &held, error))
        return false;
    return !held.stored || (held.shard.index == asked.index && held.shard.count == asked.count) ||
           error_set(error, "it holds %s, and %s is asked for; name another --db",
                     shard_text(study->arena, held.shard), shard_text(study->arena, asked));
}

struct holding {
    const struct study *study;
    bool other;
};

/* Columns: fingerprint. */
static bool check_held(void *context, const struct query_row *row, struct error *error)
{
    struct holding *holding = context;
    (void)error;
    holding->other = !has_fingerprint(row, holding->study);
    return true;
}

bool study_store_holds(const struct study *study, const char *path)
{
    struct holding holding = {study, false};
    struct query *query;
    struct error ignored = {""};
    if (!query_open(path, &query, &ignored))
        return false;
    const bool good =
        same_shard(query, study, &ignored) &&
        query_run(query, "select fingerprint from study", NULL, check_held, &holding, &ignored);
    query_close(query);
    return good && !holding.other;
}

bool study_store_resume(struct study *study, const char *path, struct error *error)
{
    struct study_reading reading = {.study = study,
                                    .cells = ARENA_ARRAY(study->arena, size_t, study->point_count)};
    struct query *query;
    struct error inner = {""};
    if (!query_open(path, &query, error))
        return false;
    bool good = same_shard(query, study, &inner) && read_all(query, &reading, &inner);
    query_close(query);
    if (!good)
        return error_set(error, "%s cannot be resumed: %.800s", path, inner.text);
    mark_done(&reading);
    return true;
}

/* A study that is only reported: what the command line asked for comes from the file too. */
struct recalling {
    struct study *study;
    struct study_options *options;
    struct scenario_options *scenario;
    const char **sets, **varies;
    bool found;
};

/* Columns: name, objective, base_seed, seeds, confidence_ratio, fingerprint, weeks. */
static bool recall_study(void *context, const struct query_row *row, struct error *error)
{
    struct recalling *r = context;
    struct study *study = r->study;
    const char *objective = text_of(study->arena, row, 1);
    const char *fingerprint = text_of(study->arena, row, 5);
    study->name = text_of(study->arena, row, 0);
    if (study->name == NULL || objective == NULL || fingerprint == NULL)
        return error_set(error, "the table study is damaged");
    int metric = metric_find(objective);
    study->weeks = query_integer(row, 6) == 1;
    if (metric < 0 || !study_measures(study, (unsigned)metric))
        return error_set(error, "the study has an objective that it cannot have");
    study->objective = (enum study_metric)metric;
    study->base_seed = (uint64_t)query_integer(row, 2);
    study->fingerprint = strtoull(fingerprint, NULL, 16);
    if (query_integer(row, 3) < 1)
        return error_set(error, "the study has no seeds");
    r->options->seeds = (uint64_t)query_integer(row, 3);
    r->options->confidence_ratio = query_real(row, 4);
    r->found = true;
    return true;
}

static bool recall_vary(struct recalling *r, const char *value, struct error *error)
{
    struct study *study = r->study;
    if (study->vary_count == VARY_MAX)
        return error_set(error, "the study varies more keys than it can");
    r->varies[r->options->vary_count++] = value;
    return study_vary_read(study->arena, value, &study->varies[study->vary_count++], error);
}

/* Columns: name, value. */
static bool recall_option(void *context, const struct query_row *row, struct error *error)
{
    struct recalling *r = context;
    const char *name = text_of(r->study->arena, row, 0), *value = text_of(r->study->arena, row, 1);
    if (name == NULL || value == NULL || r->scenario->set_count == STUDY_SETS_MAX)
        return error_set(error, "the table study_option is damaged");
    if (strcmp(name, "--vary") == 0)
        return recall_vary(r, value, error);
    if (strcmp(name, "--shard") == 0)
        return shard_read_stated(value, &r->options->shard, error);
    if (strcmp(name, "--set") == 0)
        r->sets[r->scenario->set_count++] = value;
    else if (strcmp(name, "--catalogue") == 0)
        r->scenario->catalogue = value;
    else if (strcmp(name, "--top") == 0)
        r->options->top = strtoull(value, NULL, 10);
    else if (strcmp(name, "--seed") == 0) {
        r->scenario->has_seed = true;
        r->scenario->seed = strtoull(value, NULL, 10);
    }
    return true;
}

/* Columns: path. */
static bool recall_path(void *context, const struct query_row *row, struct error *error)
{
    struct recalling *r = context;
    (void)error;
    r->options->path = text_of(r->study->arena, row, 0);
    return true;
}

static bool recall_question(struct query *query, struct recalling *r, struct error *error)
{
    return query_run(query,
                     "select name, objective, base_seed, seeds, confidence_ratio, fingerprint, "
                     "weeks from study",
                     NULL, recall_study, r, error) &&
           (r->found || error_set(error, "the file holds no study")) &&
           query_run(query, "select value from meta where key = 'path'", NULL, recall_path, r,
                     error) &&
           (r->options->path != NULL || error_set(error, "the table meta is damaged")) &&
           query_run(query, "select name, value from study_option order by place", NULL,
                     recall_option, r, error) &&
           study_size(r->study, error);
}

/* What a study that was stopped has not come to. */
static void refuse_unplayed(struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++) {
        struct study_point *point = &study->points[p];
        if (point->refusal != NULL || point->replications > 0)
            continue;
        point->refusal = point->share.count == 0 ? "not played: another shard has it"
                                                 : "not played: the study was stopped before";
    }
}

bool study_store_recall(struct query *query, struct arena *arena, struct study *out,
                        struct error *error)
{
    struct study_options *options = ARENA_NEW(arena, struct study_options);
    struct scenario_options *scenario = ARENA_NEW(arena, struct scenario_options);
    *out = (struct study){.arena = arena, .options = options};
    struct recalling recalling = {out,
                                  options,
                                  scenario,
                                  ARENA_ARRAY(arena, const char *, STUDY_SETS_MAX),
                                  ARENA_ARRAY(arena, const char *, VARY_MAX),
                                  false};
    options->scenario = scenario;
    options->varies = recalling.varies;
    scenario->sets = recalling.sets;
    if (!recall_question(query, &recalling, error))
        return false;
    out->points = ARENA_ARRAY(arena, struct study_point, out->point_count);
    study_deal(out);
    struct study_reading reading = {.study = out,
                                    .cells = ARENA_ARRAY(arena, size_t, out->point_count)};
    if (!read_all(query, &reading, error))
        return false;
    mark_done(&reading);
    refuse_unplayed(out);
    return true;
}
