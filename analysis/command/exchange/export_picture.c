#include "analysis/command/exchange/export_picture.h"

#include <string.h>

#include "analysis/explain/explanation.h"
#include "analysis/explain/roofline.h"
#include "analysis/explain/tornado.h"
#include "analysis/explain/waterfall_svg.h"
#include "analysis/record/database/record_file.h"
#include "analysis/record/database/restore.h"
#include "analysis/study/study_pareto.h"
#include "analysis/study/study_report.h"
#include "analysis/study/study_store.h"
#include "models/layout/announced.h"
#include "sim/pool.h"
#include "sim/units.h"

/* What the pictures are drawn from. */
struct picture_source {
    const struct export_arguments *arguments;
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
    const struct run_row *run = record_run(&record);
    waterfall_svg(run->title, run->announced_words, &waterfall, s->out);
    return true;
}

static bool draw_tornado(const struct picture_source *s, struct error *error)
{
    struct explanation *e = ARENA_NEW(s->arena, struct explanation);
    const unsigned threads = pool_threads_available();
    if (!explanation_of(s->query, s->arguments->line.positional[0], s->arena, threads, e, error))
        return false;
    if (!e->has_elasticities)
        return error_set(error, "nothing to draw: %.200s", e->no_elasticities.text);
    const struct run_row *run = record_run(&e->record);
    tornado_svg(run->title, run->announced_words, &e->elasticities, s->out);
    return true;
}

static bool draw_roofline(const struct picture_source *s, struct error *error)
{
    const struct walls_assumed assumed = {WALLS_MFU, WALLS_BANDWIDTH_GB * GIGA};
    struct walls walls;
    char words[ANNOUNCED_WORDS_MAX];
    struct scenario *scenario = restore_scenario(s->query, s->arguments->line.positional[0],
                                                 s->arguments->scenario.catalogue, error);
    const bool good = scenario != NULL &&
                      walls_gather(s->arena, scenario, &assumed, &walls, error) &&
                      roofline_svg(scenario->title,
                                   announced_words(&scenario->configuration, words, sizeof words),
                                   &walls, s->out, error);
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

static bool take_count(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

static const char plays[] =
    "select p.label, l.tp, l.pp, l.dp, l.cp, l.vpp, l.microbatch, l.schedule, l.sharding, "
    "l.recompute, l.tokens_per_s, l.peak_reserved_bytes, p.model, p.software, p.gpus, p.gpu "
    "from plan_candidate l join plan p on p.id = l.machine where l.fate = 'played' "
    "order by l.machine, l.step_s";

struct played_layouts {
    struct arena *arena;
    struct pareto_points all;
    size_t room;
};

static const char *word(const struct query_row *row, unsigned column)
{
    unsigned bytes;
    return query_text(row, column, &bytes);
}

/* " NAME NUMBER" of a degree that is more than one. */
static const char *degree(struct arena *arena, const char *name, int64_t number)
{
    return number > 1 ? arena_format(arena, " %s %lld", name, (long long)number) : "";
}

/* Columns: those of `plays`. */
static const char *label_played(struct arena *arena, const struct query_row *row)
{
    const char *machine = word(row, 0), *recompute = word(row, 9);
    const bool pipelined = query_integer(row, 2) > 1, computed = strcmp(recompute, "none") != 0;
    return arena_format(
        arena, "%s%stp %lld%s%s%s%s, microbatch %lld%s%s, %s%s%s", machine,
        machine[0] != '\0' ? ": " : "", (long long)query_integer(row, 1),
        degree(arena, "pp", query_integer(row, 2)), degree(arena, "dp", query_integer(row, 3)),
        degree(arena, "cp", query_integer(row, 4)), degree(arena, "chunks", query_integer(row, 5)),
        (long long)query_integer(row, 6), pipelined ? ", " : "", pipelined ? word(row, 7) : "",
        word(row, 8), computed ? ", recompute " : "", computed ? recompute : "");
}

static bool take_played(void *context, const struct query_row *row, struct error *error)
{
    struct played_layouts *played = context;
    if (played->all.count == played->room)
        return error_set(error, "the layouts of the search changed meanwhile");
    if (played->all.count == 0)
        played->all.title = arena_format(played->arena, "%s on %lld %s", word(row, 12),
                                         (long long)query_integer(row, 14), word(row, 15));
    played->all.points[played->all.count++] =
        (struct pareto_point){.label = label_played(played->arena, row),
                              .tokens_per_s = query_real(row, 10),
                              .bytes = query_real(row, 11),
                              .fits = true};
    return true;
}

/* One row for each machine that is; some are alike. */
static bool take_announced(void *context, const struct query_row *row, struct error *error)
{
    struct played_layouts *played = context;
    const char *before = played->all.announced;
    (void)error;
    played->all.announced =
        arena_format(played->arena, "%s%s%s", before, *before ? "; " : "", word(row, 0));
    return true;
}

/* The layouts of a search that were played to the last op. */
static bool draw_front_of_plan(const struct picture_source *s, struct error *error)
{
    int64_t count = 0;
    struct played_layouts played = {
        .arena = s->arena,
        .all = {.title = "a search", .what = "layout of this search", .announced = ""}};
    if (!query_run(s->query, "select count(*) from plan_play where fits = 1", NULL, take_count,
                   &count, error))
        return false;
    played.room = (size_t)count;
    played.all.points = ARENA_ARRAY(s->arena, struct pareto_point, played.room + 1);
    return query_run(s->query, plays, NULL, take_played, &played, error) &&
           query_run(s->query,
                     "select value from meta where key like 'announced.%' group by value "
                     "order by min(key)",
                     NULL, take_announced, &played, error) &&
           study_pareto_draw(s->arena, &played.all, s->out, error);
}

static bool draw_pareto(const struct picture_source *s, struct error *error)
{
    struct study study;
    int64_t plans = 0;
    if (!query_run(s->query, "select count(*) from plan", NULL, take_count, &plans, error))
        return false;
    if (plans > 0)
        return draw_front_of_plan(s, error);
    return study_store_recall(s->query, s->arena, &study, error) &&
           study_pareto_svg(&study, s->out, error);
}

/* A picture of many runs needs a study, one of a run a run; the front of a search is one, too. */
static bool right_kind(struct query *query, enum picture picture, struct error *error)
{
    const bool many = picture == PICTURE_pareto || picture == PICTURE_ucurve;
    int64_t studies = 0, plans = 0;
    if (!query_run(query, "select count(*) from study", NULL, take_count, &studies, error) ||
        !query_run(query, "select count(*) from plan", NULL, take_count, &plans, error))
        return false;
    if (plans > 0 && picture != PICTURE_pareto)
        return error_set(error,
                         "%s shows no search, and this database holds one: --svg pareto draws its "
                         "layouts; orrery run SCENARIO --db FILE with one of them has all pictures "
                         "of a run",
                         picture_names[picture]);
    if (many && studies == 0 && plans == 0)
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

bool export_picture(const struct export_arguments *arguments, struct query *query,
                    enum picture picture, FILE *out, struct error *error)
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
