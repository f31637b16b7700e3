#include "analysis/command/plan_share.h"

#include <string.h>
#include <unistd.h>

#include "analysis/command/emit.h"
#include "analysis/command/plan_run.h"
#include "analysis/command/ranks_run.h"
#include "analysis/line/outputs.h"
#include "scenarios/language/file.h"
#include "scenarios/language/source.h"

static int wrong(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery plan: %s\n", text);
    return EXIT_USAGE;
}

/* What cannot go together; NULL: nothing. */
static const char *contradiction(const struct arguments *a)
{
    const bool partly = a->shard != NULL || a->has_emit;
    if ((partly || a->resume || a->db != NULL) && a->positional_count == 0 && a->model == NULL)
        return "it takes a scenario, or --model and --gpu";
    if (a->has_emit && (a->shard != NULL || a->resume))
        return "--emit writes --shard and --resume into the job file: leave them to it";
    if (a->resume && a->db == NULL && a->shard == NULL)
        return "--resume goes on with a database: name it with --db";
    if (a->shards > 0 && !a->has_emit)
        return "--shards says how many a job file has: give --emit; --shard i/n searches one";
    if (a->shard != NULL && (a->json || a->why != NULL || a->has_launch || a->pareto))
        return "--shard searches a part of the layouts: give --json, --why, --launch and --pareto "
               "to `orrery merge`";
    return NULL;
}

/* The line with the text of its file, read once, for it may be a pipe. */
static int with_text(struct arena *arena, const struct session *session, struct arguments *a)
{
    struct file_text file = {NULL, 0};
    struct error error = {""};
    if (a->positional_count == 0 || a->text != NULL)
        return EXIT_OK;
    if (!file_read(arena, a->positional[0], SOURCE_BYTES_MAX, false, &file, &error)) {
        fprintf(session->notes, "orrery: %s\n", error.text);
        return EXIT_TROUBLE;
    }
    a->text = file.text;
    a->text_bytes = file.bytes;
    return EXIT_OK;
}

/* Under mpirun. */
struct plan_ranks {
    const struct arguments *given;
    struct arena *arena;
    bool finished; /* --resume of a whole plan: the first rank sees to it */
};

static int search_rank(void *context, struct session *session, const struct ranks_place *place)
{
    struct plan_ranks *ranks = context;
    struct arguments a = *ranks->given;
    struct plan_work work = {.shard = {place->index + 1, place->count}, .rank = true};
    const char *text = contradiction(&a);
    if (text == NULL && a.positional_count > 0 && strcmp(a.positional[0], "-") == 0)
        text = "every rank reads the scenario; name its file";
    if (text != NULL)
        return wrong(session, text);
    if (a.positional_count == 0 && a.model == NULL)
        return plan_run(&a, session, &(struct plan_work){.rank = false}); /* says what is missing */
    ranks->finished = a.resume && access(a.db, F_OK) == 0;
    if (ranks->finished && place->index > 0)
        return EXIT_OK;
    if (ranks->finished) {
        work = (struct plan_work){.rank = false};
    } else {
        ranks_line(ranks->given, place, &a);
        a.why = NULL;
        a.has_launch = a.pareto = false;
    }
    int code = outputs_check(&a, session->notes);
    code = code == EXIT_OK ? with_text(ranks->arena, session, &a) : code;
    return code == EXIT_OK ? plan_run(&a, session, &work) : code;
}

static int join_ranks(void *context, struct session *session, unsigned count)
{
    const struct plan_ranks *ranks = context;
    struct arguments a = *ranks->given;
    if (ranks->finished)
        return EXIT_OK;
    const struct plan_work work = {.databases = ranks_databases(ranks->arena, &a, count),
                                   .database_count = count};
    int code = with_text(ranks->arena, session, &a);
    code = code == EXIT_OK ? plan_run(&a, session, &work) : code;
    if (code != EXIT_TROUBLE && code != EXIT_LIMIT && code != EXIT_INTERRUPTED)
        ranks_remove(work.databases, count);
    return code;
}

/* "llama3-70b.plan.db" -> "llama3-70b.plan.2of8.db", where none is named. */
static int take_shard(struct arena *arena, const struct session *session, struct arguments *a,
                      struct shard *shard)
{
    struct error error = {""};
    if (!shard_read(a->shard, shard, &error)) {
        fprintf(session->notes, "orrery plan: --shard: %s\n", error.text);
        return EXIT_USAGE;
    }
    if (a->db != NULL)
        return EXIT_OK;
    const char *whole = ranks_database(arena, a);
    a->db = arena_format(arena, "%.*s.%uof%u.db", (int)(strlen(whole) - strlen(".db")), whole,
                         shard->index, shard->count);
    return outputs_check(a, session->notes);
}

static int print_job(const struct arguments *a, struct session *session, plan_read_fn *read,
                     struct arena *arena)
{
    struct scenario *scenario = NULL;
    struct error error = {""};
    const int code = a->vary_count > 0 ? EXIT_OK : read(a, session, &scenario);
    scenario_destroy(scenario);
    if (code != EXIT_OK || emit_job(a, ranks_database(arena, a), arena, session->out, &error))
        return code;
    return wrong(session, error.text);
}

static int run_in(struct arguments *a, struct session *session, plan_read_fn *read,
                  struct arena *arena)
{
    struct plan_work work = {.rank = false};
    const char *text = contradiction(a);
    if (text != NULL)
        return wrong(session, text);
    if (a->has_emit)
        return print_job(a, session, read, arena);
    int code = a->shard != NULL ? take_shard(arena, session, a, &work.shard) : EXIT_OK;
    if (code == EXIT_OK && a->db != NULL)
        code = with_text(arena, session, a);
    return code == EXIT_OK ? plan_run(a, session, &work) : code;
}

int plan_share(const struct arguments *given, struct session *session, plan_read_fn *read)
{
    struct arena *arena = arena_create();
    struct arguments a = *given;
    struct plan_ranks ranks = {.given = given, .arena = arena};
    const int code =
        ranks_started() && a.shard == NULL && !a.has_emit
            ? ranks_run(given, session, &(struct ranks_work){search_rank, join_ranks, &ranks})
            : run_in(&a, session, read, arena);
    arena_destroy(arena);
    return code;
}
