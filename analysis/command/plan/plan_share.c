#include "analysis/command/plan/plan_share.h"

#include <string.h>
#include <unistd.h>

#include "analysis/command/line/outputs.h"
#include "analysis/command/plan/plan_run.h"
#include "analysis/command/shared/emit.h"
#include "analysis/command/shared/ranks_run.h"
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
    if (a->share.has_emit)
        return print_job(a, session, arena);
    int code = a->share.shard != NULL ? take_shard(arena, session, a, &work.shard) : EXIT_OK;
    if (code == EXIT_OK && a->output.database.path != NULL)
        code = with_text(arena, session, a);
    return code == EXIT_OK ? plan_run(a, session, &work) : code;
}

int plan_share(const struct plan_arguments *given, struct session *session)
{
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
