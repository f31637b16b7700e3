#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command/line/load.h"
#include "analysis/command/line/outputs.h"
#include "analysis/command/shared/emit.h"
#include "analysis/command/shared/ranks_run.h"
#include "analysis/command/shared/study_tell.h"
#include "analysis/command/study/study_join.h"
#include "analysis/output/terminal/progress.h"
#include "analysis/output/text/format.h"
#include "analysis/output/text/shell.h"
#include "analysis/study/study_store.h"
#include "scenarios/language/file.h"
#include "scenarios/language/source.h"
#include "sim/plural.h"
#include "sim/pool.h"

enum {
    PATH_MAX_BYTES = 4096
};

struct study_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    struct option_list varies;
    struct study_output output;
    struct share_arguments share;
    uint64_t seeds;
    bool has_seeds;
    double confidence_ratio;
    const char *objective; /* NULL: not said */
    uint64_t top;          /* 0: all */
};
#define ARGUMENTS struct study_arguments
static const struct option options[] = {
    {"--vary", OPTION_VARY, FIELD(varies), "K=VALUES", NULL,
     "a key and its values: K=a,b,c or K=A..B:N or K=A..B:log:N (N: 25); may be repeated"},
    {"--seeds", OPTION_SOME, FIELD_GIVEN_USUAL(seeds, has_seeds, "100"), "N", NULL,
     "replications of each point, with the same failures at every point"},
    {"--confidence", OPTION_RATIO, FIELD(confidence_ratio), "SHARE", NULL,
     "stop a point when the 95 % interval of the objective is within this share of it; --seeds is "
     "then the most"},
    {"--objective", OPTION_TEXT, FIELD(objective), "METRIC", NULL,
     "metric of the best (weeks: goodput, tokens_per_day where steps differ; step: tokens_per_s)"},
    {"--top", OPTION_SOME, FIELD(top), "N", NULL,
     "list only the best N points, best first (all, in the order of the grid)"},
    {"--svg", OPTION_PICTURE, FIELD(output.svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(output.csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW(output.json),
    {"--db", OPTION_DATABASE, FIELD(output.database), "FILE", NULL,
     "the database to write (NAME.study.db in this folder, NAME from the scenario's file)"},
    OPTION_NO_DB_ROW(output.database),
    OPTION_MAX_DB_ROW(output.database),
    {"--resume", OPTION_FLAG, FIELD(output.database.resume), NULL, NULL,
     "continue an interrupted study"},
    {"--shard", OPTION_TEXT, FIELD(share.shard), "I/N", NULL,
     "simulate part I of N (from 1) into a database of its own, for `orrery merge`; auto: the part "
     "that the Slurm array or mpirun assigns; auto/N: the part that the Kubernetes Job assigns"},
    {"--emit", OPTION_CHOICE, FIELD_GIVEN(share.emit, share.has_emit), "ENGINE", emit_engine_names,
     "do not simulate: print a job file that simulates the study in shards and merges them"},
    OPTION_SHARDS_ROW(share),
    OPTION_THREADS_ROW(share.threads, "threads that share the replications (all processors)"),
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_END};
#define EMIT_WRITES "--emit writes --shard, --db and --resume into the job file: leave them to it"
#define MERGE_TELLS                                                                                \
    "--shard plays a part of the study: give --csv, --json and --svg to `orrery merge`"
static const struct option_conflict conflicts[] = {
    CONFLICT_NO_DB_ROWS,
    {"--csv", "--json", "--csv or --json, not both: they go to the same place"},
    {"--resume", "--no-db", "--resume needs the database that --no-db leaves out"},
    {"--emit", "--shard", EMIT_WRITES},
    {"--emit", "--no-db", "--emit gives each task a database, which --no-db leaves out"},
    {"--emit", "--resume", EMIT_WRITES},
    {"--shard", "--no-db",
     "--shard needs the database that --no-db leaves out: it is what `orrery merge` reads"},
    {"--shard", "--csv", MERGE_TELLS},
    {"--shard", "--json", MERGE_TELLS},
    {"--shard", "--svg", MERGE_TELLS},
    {NULL, NULL, NULL}};

struct command_run {
    const struct study_arguments *arguments;
    struct session *session;
    struct study study;
    struct store *store; /* NULL: --no-db, or `finished` */
    bool recalled;       /* from a finished study */
    bool finished;       /* which left nothing to play */
    bool rank;           /* one of mpirun's: goes on where it was unasked, and says no more of it */
};

static int trouble(const struct command_run *run, const char *text, int code)
{
    return study_trouble(&run->arguments->line, run->session, text, code);
}

/* --resume of a study that has finished: its points are there. With more seeds it goes on from
 * them, in a new file. */
static int read_finished(struct command_run *run)
{
    const struct study_arguments *a = run->arguments;
    struct study *study = &run->study;
    struct error error = {""};
    if (!study_store_resume(study, a->output.database.path, &error))
        return trouble(run, error.text, EXIT_REJECTED);
    run->recalled = true;
    run->finished = study->as_stored;
    study->stored = false;
    for (size_t p = 0; p < study->point_count; p++)
        study->points[p].stored = 0;
    if (run->finished && !run->rank)
        fprintf(run->session->notes, "%s is complete: no point is left to play\n",
                a->output.database.path);
    return EXIT_OK;
}

static int resume(struct command_run *run)
{
    struct error error = {""};
    FILE *notes = run->session->notes;
    const char *partial = store_partial_path(run->store);
    if (!store_resumed(run->store)) {
        if (!run->rank)
            fprintf(notes, "%s: nothing to resume; the study begins at its first point\n", partial);
        return EXIT_OK;
    }
    if (study_store_resume(&run->study, partial, &error))
        return EXIT_OK;
    store_discard(run->store);
    run->store = NULL;
    return trouble(run, error.text, EXIT_REJECTED);
}

static int begin_database(struct command_run *run, bool go_on)
{
    const struct study_arguments *a = run->arguments;
    struct error error = {""};
    session_hold(run->session);
    enum store_outcome outcome = store_share(a->output.database.path, a->output.database.max_bytes,
                                             go_on, &run->store, &error);
    session_keep(run->session, outcome == STORE_GOOD ? store_partial_path(run->store) : NULL);
    if (outcome != STORE_GOOD)
        return trouble(run, error.text, study_outcome_code(outcome));
    if (store_dropped(run->store) > 0)
        fprintf(run->session->notes,
                "%s held %lld points of an unfinished study: it begins anew (--resume goes on)\n",
                store_partial_path(run->store), (long long)store_dropped(run->store));
    int code = go_on && !run->recalled ? resume(run) : EXIT_OK;
    if (code == EXIT_OK) {
        study_store_begin(run->store, &run->study);
        store_commit(run->store);
    }
    return code;
}

static int open_database(struct command_run *run)
{
    const struct study_arguments *a = run->arguments;
    char partial[PATH_MAX_BYTES + 16];
    snprintf(partial, sizeof partial, "%s.partial", a->output.database.path);
    const bool unfinished = access(partial, F_OK) == 0;
    const bool there = unfinished || access(a->output.database.path, F_OK) == 0;
    /* Nobody asked a rank to go on: what another study left is no mistake. */
    const bool ours =
        !run->rank ||
        (there && study_store_holds(&run->study, unfinished ? partial : a->output.database.path));
    if (a->output.database.resume && ours && there && !unfinished) {
        int code = read_finished(run);
        if (code != EXIT_OK || run->finished)
            return code;
    }
    return begin_database(run, a->output.database.resume && ours);
}

static void print_option(struct command_run *run, const char *name, const char *value)
{
    if (value != NULL)
        fprintf(run->session->notes, " %s %s", name, shell_word(run->study.arena, value));
}

/* How to go on: the command as it was given, and --resume. */
static void print_resume_line(struct command_run *run)
{
    const struct study_arguments *a = run->arguments;
    FILE *notes = run->session->notes;
    fprintf(notes, "to go on: orrery study %s",
            shell_word(run->study.arena, a->line.positional[0]));
    for (unsigned i = 0; i < a->varies.count; i++)
        print_option(run, "--vary", a->varies.words[i]);
    for (unsigned i = 0; i < a->scenario.sets.count; i++)
        print_option(run, "--set", a->scenario.sets.words[i]);
    print_option(run, "--catalogue", a->scenario.catalogue);
    print_option(run, "--objective", a->objective);
    print_option(run, "--svg", a->output.svg);
    if (a->scenario.has_seed)
        fprintf(notes, " --seed %llu", (unsigned long long)a->scenario.seed);
    fprintf(notes, " --seeds %llu", (unsigned long long)run->study.options->seeds);
    if (a->confidence_ratio > 0.0)
        fprintf(notes, " --confidence %.17g", a->confidence_ratio);
    if (a->top > 0)
        fprintf(notes, " --top %llu", (unsigned long long)a->top);
    if (a->share.shard != NULL)
        fprintf(notes, " --shard %u/%u", run->study.options->shard.index,
                run->study.options->shard.count);
    print_option(run, "--db", run->arguments->output.database.path);
    fprintf(notes, "%s%s --resume\n", a->output.json ? " --json" : "",
            a->output.csv ? " --csv" : "");
}

static int stop_early(struct command_run *run)
{
    struct error error = {""};
    if (run->store != NULL) {
        enum store_outcome outcome = store_leave(run->store, &error);
        run->store = NULL;
        if (outcome != STORE_GOOD)
            return trouble(run, error.text, study_outcome_code(outcome));
        if (run->rank)
            fputs("to go on: the same line under mpirun, with as many ranks\n",
                  run->session->notes);
        else
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
        if (study->points[p].share.count == 0)
            continue;
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

/* Of a shard only what it played: whether a point fits is a question about the whole study. */
static int tell_shard(const struct command_run *run, double seconds)
{
    const struct study *study = &run->study;
    const struct shard s = study->options->shard;
    size_t points = 0, replications = 0, all = study->point_count;
    for (size_t p = 0; p < all; p++) {
        points += study->points[p].replications > 0;
        replications += study->points[p].replications;
    }
    fprintf(run->session->out, "shard %u/%u: %zu of %zu point%s, %zu replication%s\n", s.index,
            s.count, points, all, plural_s(all), replications, plural_s(replications));
    shard_tell_merge(run->session->out, &s);
    fprintf(run->session->notes, "%s\n", format_time(seconds).s);
    return EXIT_OK;
}

static int tell(const struct command_run *run, double seconds)
{
    if (run->rank || run->study.options->shard.count > 0)
        return run->rank ? EXIT_OK : tell_shard(run, seconds);
    study_tell_step(&run->study, run->session->notes, run->session->notes_colour);
    return study_tell(&run->arguments->line, &run->arguments->output, run->session, &run->study,
                      seconds);
}

/* A rank's own database is nobody's business. */
static int keep(struct command_run *run)
{
    struct error error = {""};
    struct store *store = run->store;
    run->store = NULL;
    if (!run->rank)
        return study_keep(&run->arguments->line, run->arguments->output.database.path, run->session,
                          store);
    const enum store_outcome outcome = store != NULL ? store_finish(store, &error) : STORE_GOOD;
    session_keep(run->session, NULL);
    return outcome == STORE_GOOD ? EXIT_OK : trouble(run, error.text, study_outcome_code(outcome));
}

static int play(struct command_run *run)
{
    struct progress clock;
    progress_begin(&clock, run->session->notes);
    int code = run->arguments->output.database.none ? EXIT_OK : open_database(run);
    if (code != EXIT_OK)
        return code;
    session_soften(run->session);
    struct study_player *player = study_player_create(&run->study);
    code = play_points(run, player);
    study_player_tell(player, run->session->notes, run->session->notes_colour);
    study_player_destroy(player);
    if (code == EXIT_OK)
        code = keep(run);
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

/* What needs another option; NULL: nothing. */
static const char *contradiction(const struct study_arguments *a)
{
    if (a->output.svg != NULL && a->varies.count == 0)
        return "--svg draws a curve over a varied key: give --vary";
    if (a->share.has_shards && !a->share.has_emit)
        return "--shards says how many a job file has: give --emit; --shard i/n plays one";
    return NULL;
}

struct command_part { /* which the process has of the study */
    struct shard shard;
    bool rank;
};

static int run_in(const struct study_arguments *a, struct command_part part,
                  struct session *session, struct arena *arena)
{
    const struct scenario_options scenario = load_options(&a->scenario);
    struct study_options how = {
        .path = a->line.positional[0],
        .scenario = &scenario,
        .varies = a->varies.words,
        .vary_count = a->varies.count,
        .seeds = a->seeds,
        .confidence_ratio = a->confidence_ratio,
        .objective = a->objective,
        .threads = arguments_threads(a->share.threads, pool_threads_available()),
        .top = a->top,
        .shard = part.shard,
    };
    struct command_run run = {.arguments = a, .session = session, .rank = part.rank};
    struct error error = {""};
    if (!read_text(arena, &how, &error))
        return trouble(&run, error.text, EXIT_TROUBLE); /* as the other commands tell it */
    if (!study_plan(arena, &how, &run.study, session->notes, session->notes_colour, &error))
        return trouble(&run, error.text, EXIT_REJECTED);
    if (a->share.has_emit)
        return emit_job(&a->line, &a->share, a->output.database.path, arena, session->out, &error)
                   ? EXIT_OK
                   : trouble(&run, error.text, EXIT_USAGE);
    int code = outputs_spare(&a->line, run.study.inputs, session);
    return code == EXIT_OK ? play(&run) : code;
}

/* "hello.study.db" -> "hello.study.2of8.db": shards that lie in one folder. */
static void name_database(struct database_arguments *database,
                          const struct database_arguments *given, struct shard shard)
{
    if (given->path != given->usual)
        return;
    const int stem = (int)(strlen(given->path) - strlen(".db"));
    snprintf(database->usual, sizeof database->usual, "%.*s.%uof%u.db", stem, given->path,
             shard.index, shard.count);
    database->path = database->usual;
}

/* Under mpirun. */
struct command_ranks {
    const struct study_arguments *given;
    struct progress clock;
    bool finished; /* --resume of a whole study: the first rank sees to it */
};

/* The line of a rank: a shard, and nothing of what the first rank writes. */
static void set_rank(struct study_arguments *a, const struct ranks_place *place)
{
    const struct database_arguments given = a->output.database;
    struct arena *arena = arena_create();
    ranks_part(place, ranks_database(arena, &a->line, &given, NULL), &a->share.threads,
               &a->output.database);
    a->output.csv = a->output.json = false;
    a->output.svg = NULL;
    arena_destroy(arena);
}

static int play_rank(void *context, struct session *session, const struct ranks_place *place)
{
    struct command_ranks *ranks = context;
    const struct study_arguments *given = ranks->given;
    const struct database_arguments *database = &given->output.database;
    struct command_part part = {{place->index + 1, place->count}, true};
    struct study_arguments a = *given;
    const char *wrong = contradiction(given);
    if (wrong == NULL && strcmp(given->line.positional[0], "-") == 0)
        wrong = "every rank reads the scenario; name its file";
    if (wrong != NULL)
        return study_trouble(&given->line, session, wrong, EXIT_USAGE);
    ranks->finished = database->resume && !database->none && access(database->path, F_OK) == 0;
    if (!ranks->finished)
        set_rank(&a, place);
    else if (place->index > 0)
        return EXIT_OK;
    else
        part = (struct command_part){{0, 0}, false};
    int code = outputs_check(&a.line, session);
    struct arena *arena = arena_create();
    code = code == EXIT_OK ? run_in(&a, part, session, arena) : code;
    arena_destroy(arena);
    return code;
}

static int join_ranks(void *context, struct session *session, unsigned count)
{
    const struct command_ranks *ranks = context;
    const struct study_arguments *given = ranks->given;
    if (ranks->finished)
        return EXIT_OK;
    struct arena *arena = arena_create();
    const char *whole = ranks_database(arena, &given->line, &given->output.database, NULL);
    const char *const *paths = ranks_databases(arena, whole, count);
    const int code = study_join(&given->line, &given->output, session, paths, count, &ranks->clock);
    if (code == EXIT_OK || code == EXIT_NOTHING_FITS)
        ranks_remove(paths, count);
    arena_destroy(arena);
    return code;
}

static int run(const void *line, struct session *session)
{
    const struct study_arguments *given = line;
    struct study_arguments a = *given;
    struct shard shard = {0, 0};
    struct error error = {""};
    struct command_ranks ranks = {.given = &a};
    a.output.seeded = a.has_seeds && a.seeds > 1;
    progress_begin(&ranks.clock, session->notes);
    if (ranks_started() && given->share.shard == NULL && !given->share.has_emit)
        return ranks_run(line, session, &(struct ranks_work){play_rank, join_ranks, &ranks});
    const char *wrong = contradiction(given);
    if (wrong != NULL)
        return study_trouble(line, session, wrong, EXIT_USAGE);
    if (given->share.shard != NULL) {
        if (!shard_read(given->share.shard, &shard, &error)) {
            fprintf(session->notes, "orrery study: --shard: %s\n", error.text);
            return EXIT_USAGE;
        }
        name_database(&a.output.database, &given->output.database, shard);
        const int code = outputs_check(&a.line, session);
        if (code != EXIT_OK)
            return code;
    }
    struct arena *arena = arena_create();
    const int code = run_in(&a, (struct command_part){shard, false}, session, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_study = {
    .head =
        {.name = "study",
         .doc =
             "varies keys of a scenario over many seeds: the results, and where the optimum lies"},
    .positional = "SCENARIO",
    .database = ".study.db",
    .options = options,
    .bytes = sizeof(struct study_arguments),
    .conflicts = conflicts,
    .details = "Every point meets the same failures (common random numbers), so differences are\n"
               "known more precisely than each mean. Points that break a rule are left out and "
               "counted by rule.\n"
               "Ctrl-C finishes the current point, keeps what is done and prints the command that "
               "continues; a\n"
               "study that was killed also continues with --resume. While it runs, its points can "
               "be read:\n"
               "sqlite3 NAME.study.db.partial. A shard writes NAME.study.IofN.db.\n\n"
               "`mpirun -n 4 orrery study ...` simulates it in four ranks and writes what one "
               "process writes; the\n"
               "same command continues where it was stopped. 'orrery doctor' says whether this "
               "build has MPI.\n\n"
               "exit code: 0 done, 3 scenario or --vary rejected, 4 no point fits in memory, 5\n"
               "--max-db was reached, 130 interrupted",
    .example = "orrery study scenarios/weeks/llama3-405b-54-days.yaml "
               "--vary checkpoint.interval=1min..4h:log:25 --seeds 1000 --svg u.svg",
    .run = run,
};
