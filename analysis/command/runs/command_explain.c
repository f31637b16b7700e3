#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/explain/tornado.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/restore.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_compare.h"
#include "analysis/tell/report/report_explain.h"
#include "analysis/tell/report/report_walls.h"
#include "scenarios/language/quantity.h"
#include "sim/pool.h"
#include "sim/units.h"

struct explain_arguments {
    struct arguments line;
    struct stated_arguments stated;
    struct scenario_arguments scenario;
    double mfu_ratio;      /* 0: not said */
    const char *bandwidth; /* NULL likewise */
    const char *svg;
    uint64_t threads;
    bool walls, json;
};
#define ARGUMENTS struct explain_arguments
static const struct option options[] = {
    {"--walls", OPTION_FLAG, FIELD(walls), NULL, NULL,
     "back-of-the-envelope estimates next to the simulated figures; FILE is a scenario or a "
     "database that holds one, or --model and --gpu replace it"},
    OPTION_STATED_ROWS(stated),
    {"--mfu", OPTION_RATIO, FIELD(mfu_ratio), "SHARE", NULL,
     "with --walls: the MFU that the estimates assume (40%)"},
    {"--bandwidth", OPTION_TEXT, FIELD(bandwidth), "RATE", NULL,
     "with --walls: bandwidth of a GPU at which the estimates reduce gradients (100GB/s)"},
    {"--svg", OPTION_PICTURE, FIELD(svg), "FILE", NULL,
     "for a database: draw the effect of 10 % more or less of each hardware figure"},
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_THREADS_ROW(threads, "threads that share the simulations (all processors); results do "
                                "not depend on their number"),
    OPTION_JSON_ROW(json),
    OPTION_END};

static int wrong(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery explain: %s\n", text);
    return EXIT_USAGE;
}

static int read_assumed(const struct explain_arguments *a, const struct session *session,
                        struct walls_assumed *out)
{
    char why[QUANTITY_TEXT_MAX];
    struct quantity rate = {.number = WALLS_BANDWIDTH_GB * GIGA};
    if (a->bandwidth != NULL &&
        (!quantity_read(PARAM_BANDWIDTH, a->bandwidth, format_shown(a->bandwidth).s, &rate, why) ||
         rate.number <= 0.0))
        return wrong(session, "--bandwidth: expected a rate above 0, as in 100GB/s or 400Gb/s");
    *out = (struct walls_assumed){.mfu_ratio = a->mfu_ratio > 0.0 ? a->mfu_ratio : WALLS_MFU,
                                  .bandwidth_bytes_per_s = rate.number};
    return EXIT_OK;
}

static int tell_walls(const struct explain_arguments *a, struct session *session,
                      const struct scenario *scenario, const struct walls_assumed *assumed)
{
    struct arena *arena = arena_create();
    struct error error = {""};
    struct walls walls;
    const bool good = walls_gather(arena, scenario, assumed, &walls, &error);
    if (!good)
        fprintf(session->notes, "orrery: %s\n", error.text);
    else
        document_print(report_walls(arena, scenario, &walls), report_walls_lines, a->json, session);
    arena_destroy(arena);
    return good ? EXIT_OK : EXIT_REJECTED;
}

/* The scenario of a run, as it was. */
static int restore(const struct explain_arguments *a, const struct session *session,
                   struct scenario **scenario)
{
    const char *path = a->line.positional[0];
    struct query *query;
    struct error error = {""};
    *scenario = NULL;
    if (a->scenario.sets.count > 0 || a->scenario.has_seed)
        return wrong(session, "--set and --seed change a scenario; a database is what was run");
    if (query_open(path, &query, &error)) {
        *scenario = restore_scenario(query, path, a->scenario.catalogue, &error);
        query_close(query);
    }
    if (*scenario == NULL)
        fprintf(session->notes, "orrery explain: %s\n", error.text);
    return *scenario != NULL ? EXIT_OK : EXIT_TROUBLE;
}

/* Of the words of the line, a database or a file. */
static int find_scenario(const struct explain_arguments *a, struct session *session,
                         struct scenario **scenario)
{
    const char *path = a->line.positional[0];
    if (stated_scenario_given(&a->stated))
        return stated_scenario(&a->line, &a->stated, &a->scenario, session, scenario);
    return query_is_database(path)
               ? restore(a, session, scenario)
               : load_scenario(&a->line, path, &a->scenario, session, false, scenario);
}

static int run_walls(const struct explain_arguments *a, struct session *session)
{
    struct walls_assumed assumed;
    struct scenario *scenario;
    struct error error = {""};
    int code = read_assumed(a, session, &assumed);
    if (code != EXIT_OK)
        return code;
    if (!stated_scenario_sole(&a->line, &a->stated, &error))
        return wrong(session, error.text);
    code = find_scenario(a, session, &scenario);
    if (code != EXIT_OK)
        return code;
    code = tell_walls(a, session, scenario, &assumed);
    scenario_destroy(scenario);
    return code;
}

static int trouble(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery explain: %s\n", text);
    return EXIT_TROUBLE;
}

static int draw(const struct explain_arguments *a, struct session *session,
                const struct explanation *e)
{
    struct output output;
    struct error error = {""};
    if (a->svg == NULL)
        return EXIT_OK;
    if (!e->has_elasticities) {
        fprintf(session->notes, "orrery explain: nothing to draw: %s\n", e->no_elasticities.text);
        return EXIT_REJECTED;
    }
    if (!output_begin(&output, session, a->svg, OUTPUT_PICTURE, &error))
        return trouble(session, error.text);
    const struct run_row *run = record_run(&e->record);
    tornado_svg(run->scenario, run->announced_words, &e->elasticities, output.out);
    return output_end(&output, session, true, &error) ? EXIT_OK : trouble(session, error.text);
}

static int tell(const struct explain_arguments *a, struct session *session, struct query *query)
{
    struct arena *arena = arena_create();
    struct explanation *e = ARENA_NEW(arena, struct explanation);
    struct error error = {""};
    int code = EXIT_OK;
    const unsigned threads = arguments_threads(a->threads, pool_threads_available());
    if (!explanation_of(query, a->line.positional[0], arena, threads, e, &error)) {
        code = trouble(session, error.text);
        if (e->unfit) {
            fputs(report_unfit_text("this layout", "no step was timed", &e->record),
                  session->notes);
            code = EXIT_NOTHING_FITS;
        }
    } else {
        document_print(report_explain(e), report_explain_lines, a->json, session);
        code = draw(a, session, e);
        if (code == EXIT_OK && e->unfit)
            code = EXIT_NOTHING_FITS;
    }
    arena_destroy(arena);
    return code;
}

static int run_database(const struct explain_arguments *a, struct session *session)
{
    const char *path = a->line.positional[0];
    struct query *query;
    struct error error = {""};
    if (a->scenario.sets.count > 0 || a->scenario.catalogue != NULL || a->scenario.has_seed)
        return wrong(session, "--set, --catalogue and --seed go with --walls: a database holds its "
                              "own; run it again to change them");
    if (strcmp(path, "-") == 0)
        return trouble(session, "a database cannot be read from a stream; name its file");
    if (!query_open(path, &query, &error)) {
        trouble(session, error.text);
        fputs("explain reads the database of 'orrery run'; of a scenario it tells --walls\n",
              session->notes);
        return EXIT_TROUBLE;
    }
    if (!query_complete(query))
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
    const int code = tell(a, session, query);
    query_close(query);
    return code;
}

static int run(const void *line, struct session *session)
{
    const struct explain_arguments *a = line;
    const bool stated = stated_scenario_given(&a->stated);
    if (a->walls && a->svg != NULL)
        return wrong(session, "--svg draws elasticities, of a database");
    if (a->walls)
        return run_walls(a, session);
    if (stated || a->mfu_ratio > 0.0 || a->bandwidth != NULL)
        return wrong(session, "--walls is missing: it alone takes --model, --gpu, --gpus, "
                              "--sequence, --tokens, --mfu and --bandwidth");
    if (a->line.positional_count == 0)
        return wrong(session, "which database? (or --walls with a scenario, or with --model and "
                              "--gpu)");
    return run_database(a, session);
}

const struct command command_explain = {
    .head = {.name = "explain",
             .doc = "explains why a step takes as long as it does and what would shorten it; with "
                    "--walls, what limits a job"},
    .positional = "[FILE]",
    .options = options,
    .bytes = sizeof(struct explain_arguments),
    .details =
        "FILE is a database of `run`: the waterfall from the peak to tokens a day, idle time by\n"
        "cause, the critical path, elasticities to the hardware. With --walls it may be a "
        "scenario.\n"
        "exit code: 0 done, 1 no such database or a damaged one, 3 scenario rejected, 4 the run of "
        "the\n"
        "database does not fit in memory",
    .example = "orrery explain llama3-70b-64xh100.db --svg tornado.svg",
    .run = run,
};
