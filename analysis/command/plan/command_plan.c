#include <string.h>
#include <unistd.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/outputs.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/command/plan/plan_arguments.h"
#include "analysis/command/plan/plan_run.h"
#include "analysis/command/plan/plan_weeks.h"
#include "analysis/command/shared/emit.h"
#include "analysis/command/shared/ranks_run.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search_terms.h"
#include "scenarios/language/file.h"
#include "scenarios/language/source.h"

static int wrong(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery plan: %s\n", text);
    return EXIT_USAGE;
}

/* What cannot go together; NULL: nothing. */
static const char *contradiction(const struct plan_arguments *a)
{
    const bool partly = a->share.shard != NULL || a->share.has_emit;
    if ((partly || a->output.database.resume || a->output.database.path != NULL) &&
        a->line.positional_count == 0 && a->stated.model == NULL)
        return "it takes a scenario, or --model and --gpu";
    if (a->share.has_emit && (a->share.shard != NULL || a->output.database.resume))
        return "--emit writes --shard and --resume into the job file: leave them to it";
    if (a->output.database.resume && a->output.database.path == NULL && a->share.shard == NULL)
        return "--resume goes on with a database: name it with --db";
    if (a->output.database.max_bytes > 0 && a->output.database.path == NULL &&
        a->share.shard == NULL && !a->share.has_emit)
        return "--max-db bounds a database: name it with --db";
    if (a->share.has_shards > 0 && !a->share.has_emit)
        return "--shards says how many a job file has: give --emit; --shard i/n searches one";
    if (a->share.shard != NULL &&
        (a->output.json || a->output.why != NULL || a->output.has_launch || a->output.pareto))
        return "--shard searches a part of the layouts: give --json, --why, --launch and --pareto "
               "to `orrery merge`";
    return NULL;
}

/* The line with the text of its file, read once, for it may be a pipe. */
static int with_text(struct arena *arena, const struct session *session, struct plan_arguments *a)
{
    struct file_text file = {NULL, 0};
    struct error error = {""};
    if (a->line.positional_count == 0 || a->text != NULL)
        return EXIT_OK;
    if (!file_read(arena, a->line.positional[0], SOURCE_BYTES_MAX, false, &file, &error)) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    a->text = file.text;
    a->text_bytes = file.bytes;
    return EXIT_OK;
}

/* Under mpirun. */
struct plan_ranks {
    const struct plan_arguments *given;
    struct arena *arena;
    bool finished; /* --resume of a whole plan: the first rank sees to it */
};

static const char *whole_database(struct arena *arena, const struct plan_arguments *a)
{
    return ranks_database(arena, &a->line, &a->output.database, a->stated.model);
}

/* The line of a rank: a shard, and nothing of what the first rank tells. */
static void set_rank(struct arena *arena, const struct ranks_place *place, struct plan_arguments *a)
{
    struct database_arguments *database = &a->output.database;
    ranks_part(place, whole_database(arena, a), &a->share.threads, database);
    a->output.json = a->output.has_launch = a->output.pareto = false;
    a->output.why = NULL;
}

static int search_rank(void *context, struct session *session, const struct ranks_place *place)
{
    struct plan_ranks *ranks = context;
    struct plan_arguments a = *ranks->given;
    struct plan_work work = {.shard = {place->index + 1, place->count}, .rank = true};
    const char *text = contradiction(&a);
    if (text == NULL && a.line.positional_count > 0 && strcmp(a.line.positional[0], "-") == 0)
        text = "every rank reads the scenario; name its file";
    if (text != NULL)
        return wrong(session, text);
    if (a.line.positional_count == 0 && a.stated.model == NULL)
        return plan_run(&a, session, &(struct plan_work){.rank = false}); /* says what is missing */
    ranks->finished = a.output.database.resume && access(a.output.database.path, F_OK) == 0;
    if (ranks->finished && place->index > 0)
        return EXIT_OK;
    if (ranks->finished)
        work = (struct plan_work){.rank = false};
    else
        set_rank(ranks->arena, place, &a);
    int code = outputs_check(&a.line, session);
    code = code == EXIT_OK ? with_text(ranks->arena, session, &a) : code;
    return code == EXIT_OK ? plan_run(&a, session, &work) : code;
}

static int join_ranks(void *context, struct session *session, unsigned count)
{
    const struct plan_ranks *ranks = context;
    struct plan_arguments a = *ranks->given;
    if (ranks->finished)
        return EXIT_OK;
    const char *whole = whole_database(ranks->arena, &a);
    const struct plan_work work = {.databases = ranks_databases(ranks->arena, whole, count),
                                   .database_count = count};
    int code = with_text(ranks->arena, session, &a);
    code = code == EXIT_OK ? plan_run(&a, session, &work) : code;
    if (code != EXIT_TROUBLE && code != EXIT_LIMIT && code != EXIT_INTERRUPTED)
        ranks_remove(work.databases, count);
    return code;
}

/* "llama3-70b.plan.db" -> "llama3-70b.plan.2of8.db", where none is named. */
static int take_shard(struct arena *arena, const struct session *session, struct plan_arguments *a,
                      struct shard *shard)
{
    struct error error = {""};
    if (!shard_read(a->share.shard, shard, &error)) {
        fprintf(session->notes, "orrery plan: --shard: %s\n", error.text);
        return EXIT_USAGE;
    }
    if (a->output.database.path != NULL)
        return EXIT_OK;
    const char *whole = whole_database(arena, a);
    a->output.database.path =
        arena_format(arena, "%.*s.%uof%u.db", (int)(strlen(whole) - strlen(".db")), whole,
                     shard->index, shard->count);
    return outputs_check(&a->line, session);
}

static int print_job(const struct plan_arguments *a, struct session *session, struct arena *arena)
{
    struct scenario *scenario = NULL;
    struct error error = {""};
    const int code = a->varies.count > 0 ? EXIT_OK : plan_run_read(a, session, &scenario);
    scenario_destroy(scenario);
    if (code != EXIT_OK ||
        emit_job(&a->line, &a->share, whole_database(arena, a), arena, session->out, &error))
        return code;
    return wrong(session, error.text);
}

static int run_in(struct plan_arguments *a, struct session *session, struct arena *arena)
{
    struct plan_work work = {.rank = false};
    const char *text = contradiction(a);
    if (text != NULL)
        return wrong(session, text);
    int code = a->share.has_emit ? plan_weeks_seeds(arena, a, session) : EXIT_OK;
    if (a->share.has_emit)
        return code == EXIT_OK ? print_job(a, session, arena) : code;
    code = a->share.shard != NULL ? take_shard(arena, session, a, &work.shard) : EXIT_OK;
    if (code == EXIT_OK && a->output.database.path != NULL)
        code = with_text(arena, session, a);
    return code == EXIT_OK ? plan_run(a, session, &work) : code;
}

/* This process searches all of it or a shard, the ranks of mpirun one shard each, or a job file is
 * printed. */
static int run(const void *line, struct session *session)
{
    const struct plan_arguments *given = line;
    struct arena *arena = arena_create();
    struct plan_arguments a = *given;
    struct plan_ranks ranks = {.given = given, .arena = arena};
    const int code = ranks_started() && a.share.shard == NULL && !a.share.has_emit
                         ? ranks_run(&given->line, session,
                                     &(struct ranks_work){search_rank, join_ranks, &ranks})
                         : run_in(&a, session, arena);
    arena_destroy(arena);
    return code;
}

/* The median error of peaks that were measured (docs/validation.md): so much is left free. */
#define HEADROOM_USUAL "5%"

#define ARGUMENTS struct plan_arguments
static const struct option options[] = {
    OPTION_STATED_ROWS(stated),
    {"--best", OPTION_CHOICE, FIELD_GIVEN(terms.best, terms.has_best), "WHAT", search_best_names,
     "order of the list: the shortest step, the most tokens per second, the cheapest token, the "
     "earliest end, the most tokens per day that failures leave, or the least energy a token "
     "at the wall (step; with failures goodput)"},
    {"--deadline", OPTION_TIME, FIELD(terms.deadline_s), "TIME", NULL,
     "longest time that the whole training run may take, as in 60d"},
    {"--budget", OPTION_MONEY, FIELD(terms.budget_usd), "MONEY", NULL,
     "most that the whole training run may cost, as in 5MUSD"},
    {"--power", OPTION_POWER, FIELD(terms.power_w), "POWER", NULL,
     "most that a step may draw at the wall in the mean, as in 10MW: cards, nodes, leaf switches "
     "and PUE; the list is then ordered by tokens per second"},
    {"--most-gpus", OPTION_SOME, FIELD(terms.gpus_max), "N", NULL,
     "most GPUs that a machine may have; with --model and without --gpus, every size up to it is "
     "searched"},
    {"--hold", OPTION_TEXT, FIELD(hold), "KEYS", NULL,
     "keys of the layout that keep their values in the scenario, as in tp,recompute; with --model "
     "also those of --set"},
    {"--headroom", OPTION_SHARE, FIELD_USUAL(headroom_ratio, HEADROOM_USUAL), "SHARE", NULL,
     "share of the memory that a layout must leave free, since predicted peaks are off by as much"},
    {"--top", OPTION_SOME, FIELD_USUAL(top, "10"), "N", NULL,
     "number of layouts to simulate op by op and list; the first is chosen among them"},
    {"--mtbf", OPTION_TEXT, FIELD(mtbf), "TIME", NULL,
     "mean time between failures of one GPU, as in 5.8y, or the name of a fleet; weeks of the "
     "leading layouts are simulated (always for a scenario with run:)"},
    {"--seeds", OPTION_SOME, FIELD_GIVEN_USUAL(seeds, has_seeds, "16"), "N", NULL,
     "replications of the weeks, each with other failures"},
    {"--pareto", OPTION_FLAG, FIELD(output.pareto), NULL, NULL,
     "list every layout that no other one beats in time, cost and free memory (to 2% of the card)"},
    {"--measured", OPTION_STEP, FIELD(measured), "STEP", NULL,
     "a measured step time, as for run: corrects the predictions and narrows their intervals"},
    {"--vary", OPTION_VARY, FIELD(varies), "K=VALUES", NULL,
     "find the best layout for each of several machines, as in cluster.gpus=256,512,1024; may be "
     "repeated"},
    {"--why", OPTION_TEXT, FIELD(output.why), "KEYS", NULL,
     "explain why a layout does not lead, as in tp=4,pp=4: a rule, a tensor, or its time"},
    {"--launch", OPTION_CHOICE, FIELD_GIVEN(output.launch, output.has_launch), "FRAMEWORK",
     launch_names, "print the script that starts the first layout, instead of the table"},
    OPTION_JSON_ROW(output.json),
    {"--db", OPTION_DATABASE, FIELD(output.database), "FILE", NULL,
     "write the outcome of each layout to a database"},
    OPTION_MAX_DB_ROW(output.database),
    {"--resume", OPTION_FLAG, FIELD(output.database.resume), NULL, NULL,
     "continue an interrupted search with its database"},
    {"--shard", OPTION_TEXT, FIELD(share.shard), "I/N", NULL,
     "search part I of N (from 1) into a database of its own, for `orrery merge`; auto and auto/N: "
     "as for a study"},
    {"--emit", OPTION_CHOICE, FIELD_GIVEN(share.emit, share.has_emit), "ENGINE", emit_engine_names,
     "do not search: print a job file that searches in shards and merges them"},
    OPTION_SHARDS_ROW(share),
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_THREADS_ROW(
        share.threads,
        "threads that share the search (all processors); results do not depend on their number"),
    OPTION_END};
static const struct option_conflict conflicts[] = {
    {"--gpus", "--most-gpus",
     "--gpus says how many there are, --most-gpus has sizes up to so many tried: give one of them"},
    {NULL, NULL, NULL}};

const struct command command_plan = {
    .head = {.name = "plan",
             .doc = "searches layouts: which fit, how fast they are, what they cost, and why "
                    "others do not lead"},
    .positional = "[SCENARIO]",
    .options = options,
    .bytes = sizeof(struct plan_arguments),
    .conflicts = conflicts,
    .details = "The search chooses every key of the layout anew; --hold keeps the scenario's "
               "value. The leading\n"
               "layouts are simulated op by op; the others were rejected by a rule, by memory, by "
               "a bound, or by\n"
               "a step at pass detail (docs/planning.md). Ctrl-C keeps what was found; with --db "
               "the same command\n"
               "and --resume continue. `mpirun -n 4 orrery plan ...` searches in four ranks and "
               "prints what one\n"
               "process prints.\n"
               "\n"
               "exit code: 0 found, 3 scenario rejected, 4 nothing fits or gets on, 5 --max-db was "
               "reached, 130 interrupted",
    .example = "orrery plan --model llama3-70b --gpu h100-80gb-sxm --gpus 512 --global-batch 2048",
    .run = run,
};
