#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/json/json.h"
#include "analysis/line/command.h"
#include "analysis/line/outputs.h"
#include "analysis/study/study_report.h"
#include "analysis/study/study_store.h"
#include "analysis/terminal/output.h"
#include "analysis/terminal/progress.h"
#include "analysis/text/format.h"
#include "analysis/text/shell.h"
#include "scenarios/language/file.h"
#include "scenarios/language/source.h"
#include "sim/pool.h"

enum {
    SEEDS_DEFAULT = 100,
    PATH_MAX_BYTES = 4096,
    REPLACED_BYTES = 256
};

static const struct option options[] = {
    {"--vary", OPTION_VARY, 0, OPTION_NO_OFFSET, "K=VALUES", NULL,
     "a key and its values: K=a,b,c or K=A..B:N or K=A..B:log:N (N: 25); may be repeated"},
    {"--seeds", OPTION_SOME, FIELD(seeds), "N", NULL,
     "replications of each point, the same failures at every point (100)"},
    {"--confidence", OPTION_RATIO, FIELD(confidence_ratio), "SHARE", NULL,
     "stop a point when the 95 % interval of the objective is within this share of it; --seeds is "
     "then the most"},
    {"--objective", OPTION_TEXT, FIELD(objective), "METRIC", NULL,
     "what the best point is best in (goodput; tokens_per_s without weeks)"},
    {"--top", OPTION_SOME, FIELD(top), "N", NULL,
     "list the best N points only, best first (all, in the order of the grid)"},
    {"--svg", OPTION_FILE, FIELD(svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW,
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL,
     "the database to write (NAME.study.db in this folder, NAME from the scenario's file)"},
    {"--no-db", OPTION_FLAG, FIELD(no_db), NULL, NULL, "write no database"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL,
     "stop with exit code 5 when the database would grow past this"},
    {"--resume", OPTION_FLAG, FIELD(resume), NULL, NULL,
     "go on with the points of an interrupted study"},
    OPTION_THREADS_ROW("threads that share the replications (all processors)"),
    OPTION_SCENARIO_ROWS,
    OPTION_END};

struct command_run {
    const struct arguments *arguments;
    struct session *session;
    struct study study;
    struct store *store; /* NULL: --no-db, or `finished` */
    bool recalled;       /* from a finished study */
    bool finished;       /* which left nothing to play */
};

static int trouble(const struct command_run *run, const char *text, int code)
{
    fprintf(run->session->notes, "orrery study: %s\n", text);
    return code;
}

static int outcome_code(enum store_outcome outcome)
{
    return outcome == STORE_GOOD ? EXIT_OK : outcome == STORE_LIMITED ? EXIT_LIMIT : EXIT_TROUBLE;
}

/* --resume of a study that has finished: its points are there. With more seeds it goes on from
 * them, in a new file. */
static int read_finished(struct command_run *run)
{
    const struct arguments *a = run->arguments;
    struct study *study = &run->study;
    struct error error = {""};
    if (!study_store_resume(study, a->db, &error))
        return trouble(run, error.text, EXIT_REJECTED);
    run->recalled = true;
    run->finished = study->as_stored;
    study->stored = false;
    for (size_t p = 0; p < study->point_count; p++)
        study->points[p].stored = 0;
    if (run->finished)
        fprintf(run->session->notes, "%s is complete: no point is left to play\n", a->db);
    return EXIT_OK;
}

static int resume(struct command_run *run)
{
    struct error error = {""};
    FILE *notes = run->session->notes;
    const char *partial = store_partial_path(run->store);
    if (!store_resumed(run->store)) {
        fprintf(notes, "%s: nothing to resume; the study begins at its first point\n", partial);
        return EXIT_OK;
    }
    if (study_store_resume(&run->study, partial, &error))
        return EXIT_OK;
    store_discard(run->store);
    run->store = NULL;
    return trouble(run, error.text, EXIT_REJECTED);
}

static int begin_database(struct command_run *run)
{
    const struct arguments *a = run->arguments;
    struct error error = {""};
    session_hold(run->session);
    enum store_outcome outcome =
        store_share(a->db, a->max_db_bytes, a->resume, &run->store, &error);
    session_keep(run->session, outcome == STORE_GOOD ? store_partial_path(run->store) : NULL);
    if (outcome != STORE_GOOD)
        return trouble(run, error.text, outcome_code(outcome));
    if (store_dropped(run->store) > 0)
        fprintf(run->session->notes,
                "%s held %lld points of an unfinished study: it begins anew (--resume goes on)\n",
                store_partial_path(run->store), (long long)store_dropped(run->store));
    int code = a->resume && !run->recalled ? resume(run) : EXIT_OK;
    if (code == EXIT_OK) {
        study_store_begin(run->store, &run->study);
        store_commit(run->store);
    }
    return code;
}

static int open_database(struct command_run *run)
{
    const struct arguments *a = run->arguments;
    char partial[PATH_MAX_BYTES + 16];
    snprintf(partial, sizeof partial, "%s.partial", a->db);
    if (a->resume && access(partial, F_OK) != 0 && access(a->db, F_OK) == 0) {
        int code = read_finished(run);
        if (code != EXIT_OK || run->finished)
            return code;
    }
    return begin_database(run);
}

static void print_option(struct command_run *run, const char *name, const char *value)
{
    if (value != NULL)
        fprintf(run->session->notes, " %s %s", name, shell_word(run->study.arena, value));
}

/* How to go on: the command as it was given, and --resume. */
static void print_resume_line(struct command_run *run)
{
    const struct arguments *a = run->arguments;
    FILE *notes = run->session->notes;
    fprintf(notes, "to go on: orrery study %s", shell_word(run->study.arena, a->positional[0]));
    for (unsigned i = 0; i < a->vary_count; i++)
        print_option(run, "--vary", a->varies[i]);
    for (unsigned i = 0; i < a->set_count; i++)
        print_option(run, "--set", a->sets[i]);
    print_option(run, "--catalogue", a->catalogue);
    print_option(run, "--objective", a->objective);
    print_option(run, "--svg", a->svg);
    if (a->has_seed)
        fprintf(notes, " --seed %llu", (unsigned long long)a->seed);
    fprintf(notes, " --seeds %llu", (unsigned long long)run->study.options->seeds);
    if (a->confidence_ratio > 0.0)
        fprintf(notes, " --confidence %.17g", a->confidence_ratio);
    if (a->top > 0)
        fprintf(notes, " --top %llu", (unsigned long long)a->top);
    print_option(run, "--db", run->arguments->db);
    fprintf(notes, "%s%s --resume\n", a->json ? " --json" : "", a->csv ? " --csv" : "");
}

static int stop_early(struct command_run *run)
{
    struct error error = {""};
    if (run->store != NULL) {
        enum store_outcome outcome = store_leave(run->store, &error);
        run->store = NULL;
        if (outcome != STORE_GOOD)
            return trouble(run, error.text, outcome_code(outcome));
        print_resume_line(run);
    }
    return EXIT_INTERRUPTED;
}

static int play_points(struct command_run *run, struct study_player *player)
{
    struct study *study = &run->study;
    struct progress progress;
    progress_begin(&progress, run->session->notes);
    int code = EXIT_OK;
    for (size_t p = 0; p < study->point_count && code == EXIT_OK; p++) {
        struct error error = {""};
        if (study->points[p].refusal == NULL && !study_play(player, p, &error))
            code = trouble(run, error.text, EXIT_TROUBLE);
        else if (run->store != NULL)
            study_store_point(run->store, study, p);
        if (code == EXIT_OK && run->store != NULL && !store_good(run->store))
            break; /* told when the store is finished */
        if (code == EXIT_OK && session_interrupted(run->session) && p + 1 < study->point_count) {
            progress_end(&progress);
            return stop_early(run);
        }
        progress_tell(&progress, (double)(p + 1) / (double)study->point_count, "study");
    }
    progress_end(&progress);
    return code;
}

static int draw(const struct command_run *run, const struct study_optimum *optimum)
{
    struct output output;
    struct error error = {""};
    if (!output_begin(&output, run->session, run->arguments->svg, &error))
        return trouble(run, error.text, EXIT_TROUBLE);
    study_svg(&run->study, optimum, output.out);
    if (!output_end(&output, run->session, true, &error))
        return trouble(run, error.text, EXIT_TROUBLE);
    return EXIT_OK;
}

static bool nothing_fits(const struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++)
        if (study->points[p].fits)
            return false;
    return true;
}

/* What stdout does not tell: refused points beside CSV and JSON, seeds that change nothing. */
static void print_notes(const struct command_run *run)
{
    const struct study *study = &run->study;
    const struct arguments *a = run->arguments;
    if (a->csv || a->json)
        study_report_refused(study, run->session->notes);
    if (a->seeds > 1 && !study->weeks && study_single(study))
        fputs("a step without jitter is the same for every seed: each point was played once\n",
              run->session->notes);
}

static void print_time(const struct command_run *run, double seconds)
{
    const struct study *study = &run->study;
    size_t replications = 0, played = study->point_count - study_refused(study);
    for (size_t p = 0; p < study->point_count; p++)
        replications += study->points[p].replications;
    fprintf(run->session->notes, "%zu %s, %zu %s in %s\n", played, played == 1 ? "point" : "points",
            replications, replications == 1 ? "replication" : "replications",
            format_time(seconds).s);
}

static int tell(const struct command_run *run, double seconds)
{
    const struct arguments *a = run->arguments;
    const struct study *study = &run->study;
    struct study_list list = {0};
    study_optimum(study, &list.optimum);
    list.count = study_order(study, a->top, &list.points);
    if (a->csv)
        study_csv(study, &list, run->session->out);
    else if (a->json)
        json_study(study, &list, seconds, run->session->out);
    else
        study_report(run->session, study, &list);
    fflush(run->session->out);
    if (!a->csv && !a->json)
        print_time(run, seconds);
    print_notes(run);
    int code = a->svg != NULL ? draw(run, &list.optimum) : EXIT_OK;
    if (code == EXIT_OK && study_refused(study) == study->point_count)
        return EXIT_TROUBLE;
    return code == EXIT_OK && nothing_fits(study) ? EXIT_NOTHING_FITS : code;
}

static int close_database(struct command_run *run)
{
    struct error error = {""};
    if (run->store == NULL)
        return EXIT_OK;
    char replaced[REPLACED_BYTES];
    snprintf(replaced, sizeof replaced, "%s", store_replaced(run->store));
    enum store_outcome outcome = store_finish(run->store, &error);
    run->store = NULL;
    session_keep(run->session, NULL);
    if (outcome != STORE_GOOD)
        return trouble(run, error.text, outcome_code(outcome));
    if (replaced[0] != '\0')
        fprintf(run->session->notes, "replaced %s, which held %s\n", run->arguments->db,
                format_shown(replaced).s);
    fprintf(run->session->notes, "%s: try: sqlite3 -box %s \"select * from study_curve\"\n",
            run->arguments->db, run->arguments->db);
    return EXIT_OK;
}

static int play(struct command_run *run)
{
    struct progress clock;
    progress_begin(&clock, run->session->notes);
    int code = run->arguments->no_db ? EXIT_OK : open_database(run);
    if (code != EXIT_OK)
        return code;
    session_soften(run->session);
    struct study_player *player = study_player_create(&run->study);
    code = play_points(run, player);
    study_player_destroy(player);
    if (code == EXIT_OK)
        code = close_database(run);
    if (run->store != NULL) { /* it could not go on: keep what is there */
        struct error error = {""};
        store_leave(run->store, &error);
    }
    return code == EXIT_OK ? tell(run, progress_seconds(&clock)) : code;
}

static bool read_text(struct arena *arena, struct study_options *how, struct error *error)
{
    struct file_text file = {NULL, 0};
    bool good = file_read(arena, how->path, SOURCE_BYTES_MAX, false, &file, error);
    how->text = file.text;
    how->text_bytes = file.bytes;
    return good;
}

static int run_in(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct scenario_options scenario = {.catalogue = a->catalogue,
                                        .sets = a->sets,
                                        .set_count = a->set_count,
                                        .has_seed = a->has_seed,
                                        .seed = a->seed};
    struct study_options how = {
        .path = a->positional[0],
        .scenario = &scenario,
        .varies = a->varies,
        .vary_count = a->vary_count,
        .seeds = a->seeds > 0 ? a->seeds : SEEDS_DEFAULT,
        .confidence_ratio = a->confidence_ratio,
        .objective = a->objective,
        .threads = arguments_threads(a, pool_threads_available()),
        .top = a->top,
    };
    struct command_run run = {.arguments = a, .session = session};
    struct error error = {""};
    if (a->svg != NULL && a->vary_count == 0)
        return trouble(&run, "--svg draws a curve over a varied key: give --vary", EXIT_USAGE);
    if (a->csv && a->json)
        return trouble(&run, "--csv or --json, not both: they go to the same place", EXIT_USAGE);
    if (a->resume && a->no_db)
        return trouble(&run, "--resume needs the database that --no-db leaves out", EXIT_USAGE);
    if (!read_text(arena, &how, &error))
        return trouble(&run, error.text, EXIT_TROUBLE); /* as the other commands tell it */
    if (!study_plan(arena, &how, &run.study, session->notes, session->notes_colour, &error))
        return trouble(&run, error.text, EXIT_REJECTED);
    int code = outputs_spare(a, run.study.inputs, session->notes);
    return code == EXIT_OK ? play(&run) : code;
}

static int run(const struct arguments *a, struct session *session)
{
    struct arena *arena = arena_create();
    int code = run_in(a, session, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_study = {
    .head =
        {.name = "study",
         .doc =
             "sweeps keys of a scenario over many seeds: what comes out, and where the best lies"},
    .positional = "SCENARIO",
    .database = ".study.db",
    .options = options,
    .details = "Every point meets the same failures (common random numbers), so differences are\n"
               "sharper than each mean. Points that break a rule are counted by it and left out.\n"
               "Ctrl-C finishes the present point, keeps what is done and prints the line that "
               "goes on;\na study that was killed goes on with --resume too. While it runs, its "
               "points can be\nread: sqlite3 NAME.study.db.partial.\n\n"
               "exit code: 0 done, 3 scenario or --vary rejected, 4 no point fits in memory, 5\n"
               "--max-db was reached, 130 interrupted",
    .example = "orrery study scenarios/llama3-405b-54-days.yaml "
               "--vary checkpoint.interval=1min..4h:log:25 --seeds 1000 --svg u.svg",
    .run = run,
};
