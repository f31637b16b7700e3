#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/shared/run_measured.h"
#include "analysis/output/terminal/progress.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/store_step.h"
#include "analysis/record/evidence/expectation.h"
#include "analysis/record/evidence/late_warnings.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/record/evidence/uncertainty_record.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "analysis/tell/report/report_compare.h"
#include "sim/pool.h"

enum {
    DRAWS_USUAL = 128,
    DRAWS_MAX = 100000,
    REPLACED_BYTES = 256
};

struct run_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    struct database_arguments database;
    uint64_t draws;      /* of --uncertainty; 0: not said */
    const char *against; /* another scenario; NULL */
    struct option_list measured;
    uint64_t threads;
    enum detail detail;
    bool uncertain, has_detail, unfold, json, verbose;
};
#define ARGUMENTS struct run_arguments
static const struct option options[] = {
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_ALONE_ROW(scenario),
    {"--unfold", OPTION_FLAG, FIELD(unfold), NULL, NULL,
     "simulate every rank, instead of one for each class of equivalent ranks"},
    {"--detail", OPTION_CHOICE, FIELD_GIVEN(detail, has_detail), "LEVEL", detail_names,
     "how much of the timeline to record (op; with --unfold step)"},
    {"--db", OPTION_DATABASE, FIELD(database), "FILE", NULL,
     "the database to write (NAME.db in this folder, NAME from the scenario's file)"},
    OPTION_NO_DB_ROW(database),
    OPTION_MAX_DB_ROW(database),
    OPTION_UNCERTAINTY_ROW(draws, uncertain,
                           "uncertainty of the step time: draw the uncertain figures of the "
                           "catalogue N times (128) and simulate each draw"),
    {"--against", OPTION_INPUT, FIELD(against), "SCENARIO", NULL,
     "with --uncertainty: probability that this step is faster than that of another scenario, to "
     "which --set does not apply"},
    {"--measured", OPTION_STEP, FIELD(measured), "STEP", NULL,
     "a measured step time: step=3.1s for this scenario, mine.yaml:step=3.1s for another one with "
     "the same software and card; corrects the prediction and narrows its interval (implies "
     "--uncertainty); may be repeated"},
    OPTION_THREADS_ROW(
        threads, "threads that read the timeline of the step and share the draws of --uncertainty "
                 "(all processors; one for a small step); results do not depend on their number"),
    OPTION_JSON_ROW(json),
    OPTION_VERBOSE_ROW(verbose),
    OPTION_END};
static const struct option_conflict conflicts[] = {CONFLICT_NO_DB_ROWS, {NULL, NULL, NULL}};

static enum detail detail_of(const struct run_arguments *arguments)
{
    if (arguments->has_detail)
        return arguments->detail;
    return arguments->unfold ? DETAIL_STEP : DETAIL_OP;
}

static int outcome_code(enum store_outcome outcome)
{
    return outcome == STORE_GOOD ? EXIT_OK : outcome == STORE_LIMITED ? EXIT_LIMIT : EXIT_TROUBLE;
}

/* A view worth looking at first. */
static const char *view_of(const struct result *result)
{
    if (result->job != NULL)
        return "goodput";
    return result->timed ? "breakdown" : "memory_peak";
}

/* Before the simulation: what cannot be written is better known now. NULL with --no-db. */
static int open_database(const struct run_arguments *arguments, struct session *session,
                         struct store **store)
{
    struct error error = {""};
    *store = NULL;
    if (arguments->database.none)
        return EXIT_OK;
    session_hold(session);
    enum store_outcome outcome =
        store_open(arguments->database.path, arguments->database.max_bytes, store, &error);
    session_keep(session, outcome == STORE_GOOD ? store_partial_path(*store) : NULL);
    if (outcome != STORE_GOOD) {
        *store = NULL;
        fprintf(session->notes, "orrery: %s\n", error.text);
    }
    return outcome_code(outcome);
}

static int write_database(const struct run_arguments *arguments, struct session *session,
                          const struct result *result, const struct record *record,
                          struct store *store)
{
    const char *path = arguments->database.path;
    struct error error = {""};
    char replaced[REPLACED_BYTES];
    snprintf(replaced, sizeof replaced, "%s", store_replaced(store));
    store_step(store, result, record, detail_of(arguments));
    uint64_t rows = store_row_count(store);
    enum store_outcome outcome = store_finish(store, &error);
    session_keep(session, NULL);
    if (outcome != STORE_GOOD) {
        fprintf(session->notes,
                "orrery: %s\norrery: the database is incomplete and stays under its partial name\n",
                error.text);
    } else {
        if (replaced[0] != '\0')
            fprintf(session->notes, "replaced %s, which held %s\n", path, format_shown(replaced).s);
        fprintf(session->notes, "%s: %s rows; try: sqlite3 -box %s \"select * from %s\"\n", path,
                format_count(rows).s, path, view_of(result));
    }
    return outcome_code(outcome);
}

static void tell_limit(const struct session *session, const struct job_result *job)
{
    fprintf(session->notes,
            "orrery: the run was given up after %s of wall clock: %s; what stands above is of that "
            "time: look at the units of failures and checkpoint.interval, or give run.duration\n",
            format_time(job->wall_s).s, job_end_docs[job->end]);
}

static int finish_in(struct arena *arena, const struct run_arguments *arguments,
                     struct session *session, const struct result *result,
                     const struct uncertainty *uncertainty, struct store **store)
{
    struct record record;
    record_of_run(arena, result, *store != NULL, &record);
    if (uncertainty != NULL)
        uncertainty_record(uncertainty, &record);
    const struct run_told told = {result, uncertainty, arguments->verbose};
    document_print(report_run(&record, &told), report_run_lines, arguments->json, session);
    fflush(session->out);
    int code = EXIT_OK;
    if (*store != NULL) {
        code = write_database(arguments, session, result, &record, *store);
        *store = NULL;
    }
    if (code == EXIT_OK && result->job != NULL && job_end_is_limit(result->job->result.end)) {
        tell_limit(session, &result->job->result);
        code = EXIT_LIMIT;
    }
    const unsigned failed = expectation_tell(result->scenario, record_run(&record), session->notes,
                                             session->notes_colour);
    if (code != EXIT_OK)
        return code;
    if (failed > 0)
        return EXIT_UNEXPECTED;
    const bool unfit_is_told = expectation_is_of(result->scenario, "fits");
    return result->step->fits || unfit_is_told ? EXIT_OK : EXIT_NOTHING_FITS;
}

static int finish(const struct run_arguments *arguments, struct session *session,
                  const struct result *result, const struct uncertainty *uncertainty,
                  struct store **store)
{
    struct arena *arena = arena_create();
    int code = finish_in(arena, arguments, session, result, uncertainty, store);
    arena_destroy(arena);
    return code;
}

static struct measured_arguments measured_of(const struct run_arguments *arguments)
{
    return (struct measured_arguments){&arguments->line, &arguments->measured,
                                       &arguments->scenario};
}

/* Draws the scenario, and the one that it is compared with, which the caller has loaded. The exit
 * code, the reason having been told. */
static int find_uncertainty(const struct run_arguments *arguments, struct session *session,
                            struct arena *arena, const struct scenario *scenario,
                            const struct scenario *against, struct uncertainty *out)
{
    struct uncertainty_options how = {
        .seed = scenario->configuration.seed,
        .draw_count = arguments->draws > 0 ? (uint32_t)arguments->draws : DRAWS_USUAL,
        .threads = arguments_threads(arguments->threads, pool_threads_available()),
    };
    const struct measured_arguments measured = measured_of(arguments);
    struct error error = {""};
    struct uncertain_step *other = against != NULL ? ARENA_NEW(arena, struct uncertain_step) : NULL;
    *out = (struct uncertainty){.against = other};
    bool drawn = uncertainty_draw(arena, scenario, &how, &out->step, &error);
    int code = drawn ? run_measured_apply(&measured, session, arena, &how, &out->step, &out->shift)
                     : EXIT_REJECTED;
    if (code == EXIT_OK && !out->shift.itself) /* else no figure moves it */
        drawn = uncertainty_influences(arena, &out->step, how.threads, &out->influences,
                                       &out->influence_count, &error);
    if (code == EXIT_OK && drawn && other != NULL)
        drawn = uncertainty_draw(arena, against, &how, other, &error);
    if (!drawn)
        fprintf(session->notes, "orrery: %s\n", error.text);
    else if (other != NULL)
        uncertainty_compare(&out->step, other, &out->comparison);
    return code == EXIT_OK && !drawn ? EXIT_REJECTED : code;
}

static int load_against(const struct run_arguments *arguments, struct session *session,
                        struct scenario **out)
{
    const struct scenario_arguments unset = load_unset(&arguments->scenario);
    *out = NULL;
    if (arguments->against == NULL)
        return EXIT_OK;
    return load_scenario(&arguments->line, arguments->against, &unset, session, false, out);
}

/* What does not fit has no time to compare: told as `compare` does, and false. */
static bool tell_unfit(const struct session *session, struct arena *arena, const char *path,
                       const struct result *result)
{
    struct record record;
    if (result->step->fits)
        return false;
    record_of_run(arena, result, false, &record);
    fputs(report_unfit_text(path, "there is no time to compare", &record), session->notes);
    return true;
}

/* Both sides: EXIT_OK where both fit. */
static int check_against(const struct run_arguments *arguments, struct session *session,
                         struct arena *arena, const struct result *result, struct scenario *against)
{
    const struct step_options how = {.threads = 1};
    struct error error = {""};
    struct result other;
    struct step *step;
    if (!step_run(&against->configuration, &how, &step, &error)) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_REJECTED;
    }
    result_gather(against, step, &other);
    const bool first = tell_unfit(session, arena, arguments->line.positional[0], result);
    const bool second = tell_unfit(session, arena, arguments->against, &other);
    step_destroy(step);
    return first || second ? EXIT_NOTHING_FITS : EXIT_OK;
}

/* --measured is asked for what it does to the forecast. */
static bool asks_how_sure(const struct run_arguments *arguments)
{
    return arguments->uncertain || arguments->measured.count > 0;
}

static int finish_surely(const struct run_arguments *arguments, struct session *session,
                         const struct result *result, struct store **store)
{
    struct uncertainty uncertainty;
    struct scenario *against;
    int code = load_against(arguments, session, &against);
    if (code != EXIT_OK)
        return code;
    struct arena *arena = arena_create();
    const int compared =
        against != NULL ? check_against(arguments, session, arena, result, against) : EXIT_OK;
    if (compared == EXIT_REJECTED)
        code = compared;
    if (code == EXIT_OK)
        code = find_uncertainty(arguments, session, arena, result->scenario,
                                compared == EXIT_OK ? against : NULL, &uncertainty);
    if (code == EXIT_OK)
        code = finish(arguments, session, result, &uncertainty, store);
    if (code == EXIT_OK)
        code = compared;
    arena_destroy(arena);
    scenario_destroy(against);
    return code;
}

struct told_progress {
    struct progress progress;
    const char *what;
    FILE *notes;
    bool begun;
};

/* An interrupt ends the process by itself: nobody stops the run here. */
static bool tell_progress(void *context, double done_ratio)
{
    struct told_progress *told = context;
    if (!told->begun) {
        progress_begin(&told->progress, told->notes);
        told->begun = true;
    }
    progress_tell(&told->progress, done_ratio, told->what);
    return true;
}

static int play_weeks(const struct run_arguments *arguments, struct session *session,
                      const struct scenario *scenario, struct job_record **job)
{
    bool keep_saves = !arguments->database.none && detail_of(arguments) > DETAIL_SUMMARY;
    struct error error = {""};
    struct told_progress search = {.what = "optimal interval", .notes = session->notes};
    struct told_progress run = {.what = "weeks", .notes = session->notes};
    struct job_watch of_search = {&search, tell_progress}, of_run = {&run, tell_progress};
    bool played = job_record_play(scenario, keep_saves, (struct job_watches){&of_search, &of_run},
                                  job, &error);
    progress_end(&search.progress);
    progress_end(&run.progress);
    if (played)
        return EXIT_OK;
    fprintf(session->notes, "orrery: %s\n", error.text);
    return EXIT_REJECTED;
}

static int simulate(const struct run_arguments *arguments, struct session *session,
                    struct scenario *scenario, struct store **store)
{
    struct step_options step_options = {
        .unfold = arguments->unfold,
        .ledger_points = !arguments->database.none && detail_of(arguments) >= DETAIL_OP,
        .threads = arguments_threads(arguments->threads, 0),
    };
    struct step *step;
    struct error error = {""};
    if (!step_run(&scenario->configuration, &step_options, &step, &error)) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_REJECTED;
    }
    struct result result;
    result_gather(scenario, step, &result);
    unsigned told = scenario->diagnostics.problem_count;
    late_warnings_of_step(scenario, step, LATE_OF_RUN, &result.stagger);
    scenario_print_since(scenario, told, session->notes, session->notes_colour);
    result_advise(&result);
    if (asks_how_sure(arguments) && !result.timed) {
        fputs("orrery: memory ends before the first step: there is no time to be unsure of\n",
              session->notes);
    }
    struct job_record *job = NULL;
    int code = EXIT_OK;
    if (scenario->has_run && step->fits)
        code = play_weeks(arguments, session, scenario, &job);
    told = scenario->diagnostics.problem_count;
    if (job != NULL)
        late_warnings_of_weeks(scenario, &job->spec,
                               condition_step_s(job->conditions, &condition_ideal));
    scenario_print_since(scenario, told, session->notes, session->notes_colour);
    result.job = job;
    if (code == EXIT_OK) {
        code = asks_how_sure(arguments) && result.timed
                   ? finish_surely(arguments, session, &result, store)
                   : finish(arguments, session, &result, NULL, store);
    }
    job_record_destroy(job);
    step_destroy(step);
    return code;
}

static bool arguments_agree(const struct run_arguments *arguments, const struct session *session)
{
    bool alone = arguments->against != NULL && !arguments->uncertain;
    bool many = arguments->draws > DRAWS_MAX;
    bool both = arguments->against != NULL && arguments->measured.count > 0;
    const struct measured_arguments measured = measured_of(arguments);
    if (alone)
        fputs("orrery run: --against needs --uncertainty\n", session->notes);
    if (many)
        fprintf(session->notes, "orrery run: --uncertainty: at most %d draws\n", DRAWS_MAX);
    const bool formed = run_measured_agree(&measured, session);
    if (both)
        fputs("orrery run: --measured shifts both steps that --against compares: give one of the "
              "two\n",
              session->notes);
    return formed && !alone && !many && !both;
}

static int run(const void *line, struct session *session)
{
    const struct run_arguments *arguments = line;
    struct scenario *scenario;
    if (!arguments_agree(arguments, session))
        return EXIT_USAGE;
    int code = load_scenario(&arguments->line, arguments->line.positional[0], &arguments->scenario,
                             session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    struct store *store;
    code = open_database(arguments, session, &store);
    if (code == EXIT_OK)
        code = simulate(arguments, session, scenario, &store);
    store_discard(store); /* when there was nothing to write */
    scenario_destroy(scenario);
    return code;
}

const struct command command_run = {
    .head = {.name = "run",
             .doc =
                 "simulates a training step, or weeks with failures when the scenario has `run:`"},
    .positional = "SCENARIO",
    .database = ".db",
    .options = options,
    .bytes = sizeof(struct run_arguments),
    .conflicts = conflicts,
    .details =
        "exit code: 0 done, 3 scenario rejected, 4 out of memory (the database then holds the\n"
        "ledger up to there; or --against is: then the two are not compared), 5 a limit: --max-db, "
        "or endless failures and stops,\n"
        "6 something under `expect:` does not hold, whether the job fits or not (where `expect:` "
        "says\n"
        "`fits: false`, and all of it holds, a job that does not fit ends with 0 in place of 4)",
    .example = "orrery run scenarios/llama3-70b-64xh100.yaml",
    .run = run,
};
