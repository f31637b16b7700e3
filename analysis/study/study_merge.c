#include "analysis/study/study_merge.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/version.h"
#include "analysis/record/database/query.h"
#include "analysis/study/study_store.h"
#include "sim/check.h"

/* One database that was given. */
struct merge_shard {
    const char *path;
    struct study study;
};
struct merging {
    struct arena *arena;
    struct merge_shard *of;        /* in the order of the command line */
    const struct merge_shard **at; /* by index - 1; NULL: not given */
    unsigned count;                /* of shards that the study was cut into */
    struct study *out;
};

/* Columns: value. */
static bool take_version(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    const char *text = query_text(row, 0, &bytes);
    (void)error;
    *(bool *)context =
        text != NULL && bytes == strlen(ORRERY_VERSION) && memcmp(text, ORRERY_VERSION, bytes) == 0;
    return true;
}

static bool read_study(struct query *query, struct merging *m, struct merge_shard *shard,
                       struct error *error)
{
    bool ours = false;
    if (!query_run(query, "select value from meta where key = 'version'", NULL, take_version, &ours,
                   error))
        return false;
    if (!ours)
        return error_set(error, "another version of orrery wrote it (this is " ORRERY_VERSION
                                "); merge with the one that played the shards");
    if (!study_store_recall(query, m->arena, &shard->study, error))
        return false;
    const struct shard s = shard->study.options->shard;
    if (s.count == 0)
        return error_set(error, "it holds a whole study, not a shard: there is nothing to merge; "
                                "'orrery report' prints it");
    return query_complete(query) ||
           error_set(error,
                     "shard %u/%u is not complete; go on with it: the same 'orrery study' "
                     "line with --shard %u/%u --resume",
                     s.index, s.count, s.index, s.count);
}

static bool read_shard(struct merging *m, struct merge_shard *shard, struct error *error)
{
    struct query *query;
    struct error inner = {""};
    if (!query_open(shard->path, &query, error))
        return false;
    const bool good = read_study(query, m, shard, &inner);
    query_close(query);
    return good || error_set(error, "%s: %.800s", format_shown(shard->path).s, inner.text);
}

static bool same_text(const char *const *a, unsigned a_count, const char *const *b,
                      unsigned b_count)
{
    for (unsigned i = 0; a_count == b_count && i < a_count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return a_count == b_count;
}

/* In what two studies differ; NULL: they are one. */
static const char *difference(const struct study *a, const struct study *b)
{
    const struct study_options *x = a->options, *y = b->options;
    if (!same_text(x->varies, x->vary_count, y->varies, y->vary_count))
        return "--vary";
    if (!same_text(x->scenario->sets, x->scenario->set_count, y->scenario->sets,
                   y->scenario->set_count))
        return "--set";
    if (x->seeds != y->seeds)
        return "--seeds";
    if (x->confidence_ratio != y->confidence_ratio)
        return "--confidence";
    if (a->objective != b->objective)
        return "--objective";
    if (a->base_seed != b->base_seed)
        return "the seed";
    if (a->fingerprint != b->fingerprint || a->weeks != b->weeks || strcmp(a->name, b->name) != 0)
        return "the scenario";
    return NULL;
}

/* Puts a shard to its place. */
static bool place(struct merging *m, const struct merge_shard *shard, struct error *error)
{
    const struct merge_shard *first = &m->of[0];
    const struct shard s = shard->study.options->shard, f = first->study.options->shard;
    const struct shown path = format_shown(shard->path);
    if (s.count != f.count)
        return error_set(error, "%s is shard %u/%u and %s shard %u/%u: give the shards of one cut",
                         format_shown(first->path).s, f.index, f.count, path.s, s.index, s.count);
    const char *what = difference(&first->study, &shard->study);
    if (what != NULL)
        return error_set(error, "%s and %s are not shards of one study: %s differs; leave one out",
                         format_shown(first->path).s, path.s, what);
    if (m->at[s.index - 1] != NULL)
        return error_set(error, "%s and %s both hold shard %u/%u; give each shard once",
                         format_shown(m->at[s.index - 1]->path).s, path.s, s.index, s.count);
    m->at[s.index - 1] = shard;
    return true;
}

static bool none_missing(const struct merging *m, struct error *error)
{
    const char *list = "";
    unsigned missing = 0, first = 0;
    for (unsigned i = m->count; i > 0; i--) {
        if (m->at[i - 1] != NULL)
            continue;
        first = i;
        missing++;
    }
    for (unsigned i = first, shown = 0; missing > 0 && i <= m->count && shown < 16; i++)
        if (m->at[i - 1] == NULL)
            list = arena_format(m->arena, "%s%s%u", list, shown++ > 0 ? ", " : "", i);
    return missing == 0 ||
           error_set(error,
                     "%u of %u shards %s missing (%s%s): name their databases too, or play "
                     "them with the same 'orrery study' line and --shard %u/%u",
                     missing, m->count, missing == 1 ? "is" : "are", list,
                     missing > 16 ? ", ..." : "", first, m->count);
}

/* What a shard holds of a point: after study_store_recall. */
static bool refused(const struct study_point *point)
{
    return point->refusal != NULL && point->stored == 1 && point->replications == 0;
}

static bool played(const struct study_point *point)
{
    return point->refusal == NULL && point->replications > 0;
}

static bool lacks(const struct merging *m, unsigned index, size_t point, struct error *error)
{
    const struct merge_shard *shard = m->at[index];
    return error_set(error,
                     "%s: shard %u/%u is damaged: rows of %s are missing; remove the file and play "
                     "the shard again",
                     format_shown(shard->path).s, index + 1, m->count,
                     study_label(m->arena, &shard->study, point));
}

/* The parts of a point, put together; the shard at `owner` has its first replication. */
static bool join_parts(struct merging *m, size_t p, unsigned owner, struct error *error)
{
    struct study_point *out = &m->out->points[p];
    const struct study_point *first = &m->at[owner]->study.points[p];
    const bool one = first->replications == 1; /* perhaps all that there is */
    size_t parts = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const struct study_point *part = &m->at[i]->study.points[p];
        const bool whole = played(part) && part->replications == part->share.count;
        if (i == owner || part->share.count == 0 || (one && !played(part)))
            continue;
        if (!whole || part->fits != first->fits)
            return lacks(m, i, p, error);
        memcpy(out->values[part->share.first], part->values,
               part->share.count * sizeof *part->values);
        parts += part->share.count;
    }
    if (parts > 0 && parts + first->share.count != out->share.count)
        return lacks(m, owner, p, error);
    out->replications = parts > 0 ? out->share.count : first->replications;
    return (first->replications == first->share.count || one) || lacks(m, owner, p, error);
}

static bool join_point(struct merging *m, size_t p, struct error *error)
{
    const unsigned owner = (unsigned)(p % m->count);
    const struct study_point *first = &m->at[owner]->study.points[p];
    struct study_point *out = &m->out->points[p];
    CHECK(first->share.first == 0 && first->share.count > 0);
    if (refused(first)) {
        out->refusal = first->refusal;
        return true;
    }
    if (!played(first))
        return lacks(m, owner, p, error);
    const struct study_share share = out->share;
    *out = *first;
    out->share = share;
    out->stored = 0;
    out->done = true;
    if (first->share.count == share.count)
        return first->replications == share.count || first->replications == 1 ||
               m->out->options->confidence_ratio > 0.0 || lacks(m, owner, p, error);
    out->values = arena_array(m->arena, sizeof *out->values, share.count, _Alignof(double));
    memcpy(out->values, first->values, first->replications * sizeof *first->values);
    return join_parts(m, p, owner, error);
}

/* The question of the study, as the first shard has it: nothing depends on the order of files. */
static void begin_whole(struct merging *m)
{
    const struct study *first = &m->at[0]->study;
    struct study_options *options = ARENA_NEW(m->arena, struct study_options);
    *options = *first->options;
    options->shard = (struct shard){0, 0};
    *m->out = *first;
    m->out->options = options;
    m->out->stored = m->out->as_stored = false;
    m->out->points = ARENA_ARRAY(m->arena, struct study_point, first->point_count);
    study_deal(m->out);
}

bool study_merge(struct arena *arena, const char *const *paths, unsigned count, struct study *out,
                 struct error *error)
{
    struct merging m = {.arena = arena, .out = out};
    CHECK(count > 0);
    m.of = ARENA_ARRAY(arena, struct merge_shard, count);
    for (unsigned i = 0; i < count; i++) {
        m.of[i].path = paths[i];
        if (!read_shard(&m, &m.of[i], error))
            return false;
    }
    m.count = m.of[0].study.options->shard.count;
    m.at = arena_array(arena, sizeof *m.at, m.count, _Alignof(const struct merge_shard *));
    for (unsigned i = 0; i < m.count; i++)
        m.at[i] = NULL;
    for (unsigned i = 0; i < count; i++)
        if (!place(&m, &m.of[i], error))
            return false;
    if (!none_missing(&m, error))
        return false;
    begin_whole(&m);
    for (size_t p = 0; p < out->point_count; p++)
        if (!join_point(&m, p, error))
            return false;
    return true;
}
