#include "analysis/command/export_picture.h"

#include "analysis/database/record_file.h"
#include "analysis/database/restore.h"
#include "analysis/explain/explanation.h"
#include "analysis/explain/roofline.h"
#include "analysis/explain/tornado.h"
#include "analysis/explain/waterfall_svg.h"
#include "analysis/study/study_report.h"
#include "analysis/study/study_store.h"
#include "sim/pool.h"
#include "sim/units.h"

/* What the pictures are drawn from. */
struct picture_source {
    const struct arguments *arguments;
    struct query *query;
    struct arena *arena;
    FILE *out;
};
typedef bool picture_fn(const struct picture_source *s, struct error *error);

static bool draw_gantt(const struct picture_source *s, struct error *error)
{
    return picture_gantt(s->query, s->out, error);
}

static bool draw_memory(const struct picture_source *s, struct error *error)
{
    struct record record;
    return record_read(s->query, s->arena, &record, error) &&
           picture_memory(&record, s->out, error);
}

static bool draw_map(const struct picture_source *s, struct error *error)
{
    struct record record;
    return record_read(s->query, s->arena, &record, error) &&
           picture_map(s->query, &record, s->out, error);
}

static bool draw_waterfall(const struct picture_source *s, struct error *error)
{
    struct record record;
    struct waterfall waterfall;
    if (!record_read(s->query, s->arena, &record, error) ||
        !waterfall_of(&record, &waterfall, error))
        return false;
    waterfall_svg(record_run(&record)->scenario, &waterfall, s->out);
    return true;
}

static bool draw_tornado(const struct picture_source *s, struct error *error)
{
    struct explanation *e = ARENA_NEW(s->arena, struct explanation);
    const unsigned threads = pool_threads_available();
    if (!explanation_of(s->query, s->arguments->positional[0], s->arena, threads, e, error))
        return false;
    if (!e->has_elasticities)
        return error_set(error, "nothing to draw: %.200s", e->no_elasticities.text);
    tornado_svg(record_run(&e->record)->scenario, &e->elasticities, s->out);
    return true;
}

static bool draw_roofline(const struct picture_source *s, struct error *error)
{
    const struct walls_assumed assumed = {WALLS_MFU, WALLS_BANDWIDTH_GB * GIGA};
    struct walls walls;
    struct scenario *scenario =
        restore_scenario(s->query, s->arguments->positional[0], s->arguments->catalogue, error);
    const bool good = scenario != NULL &&
                      walls_gather(s->arena, scenario, &assumed, &walls, error) &&
                      roofline_svg(scenario->name, &walls, s->out, error);
    scenario_destroy(scenario);
    return good;
}

static bool draw_ucurve(const struct picture_source *s, struct error *error)
{
    struct study study;
    struct study_optimum optimum;
    if (!study_store_recall(s->query, s->arena, &study, error))
        return false;
    if (study.vary_count == 0)
        return error_set(error, "a curve needs a varied key: orrery study SCENARIO --vary "
                                "checkpoint.interval=1min..4h:log:25 --db FILE");
    study_optimum(&study, &optimum);
    study_svg(&study, &optimum, s->out);
    return true;
}

static bool draw_pareto(const struct picture_source *s, struct error *error)
{
    struct study study;
    return study_store_recall(s->query, s->arena, &study, error) &&
           study_pareto_svg(&study, s->out, error);
}

static bool take_count(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

/* A picture of many runs needs a study, one of a run a run. */
static bool right_kind(struct query *query, enum picture picture, struct error *error)
{
    const bool many = picture == PICTURE_pareto || picture == PICTURE_ucurve;
    int64_t studies = 0;
    if (!query_run(query, "select count(*) from study", NULL, take_count, &studies, error))
        return false;
    if (many && studies == 0)
        return error_set(error,
                         "%s shows many runs, and this database holds one: orrery study "
                         "SCENARIO --vary KEY=VALUES --db FILE",
                         picture_names[picture]);
    if (!many && studies > 0)
        return error_set(error,
                         "%s shows one run, and this database holds a study: orrery run "
                         "SCENARIO --set KEY=VALUE --db FILE for one of its points",
                         picture_names[picture]);
    return true;
}

bool export_picture(const struct arguments *arguments, struct query *query, enum picture picture,
                    FILE *out, struct error *error)
{
    static picture_fn *const drawers[] = {
#define X(name) draw_##name,
        PICTURES(X)
#undef X
    };
    if (!right_kind(query, picture, error))
        return false;
    struct arena *arena = arena_create();
    const struct picture_source source = {arguments, query, arena, out};
    const bool good = drawers[picture](&source, error);
    arena_destroy(arena);
    return good;
}
