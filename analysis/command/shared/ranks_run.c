#include "analysis/command/shared/ranks_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command/line/outputs.h"
#include "sim/pool.h"

/* So long a rank that failed waits whether the others fail too, before it ends them. */
static const double patience_s = 2.0;

/* A rank, and what it has to say, which is kept until it is known whether it must be told. */
struct ranks_mine {
    const struct ranks_engine *engine;
    struct ranks_place place;
    struct session session; /* the first rank's own; of the others, words in memory */
    char *words;
    size_t bytes;
};

static bool begin(struct ranks_mine *mine, struct session *session)
{
    *mine = (struct ranks_mine){.engine = session->ranks};
    mine->engine->begin(&mine->place);
    mine->session = *session;
    if (mine->place.index == 0)
        return true;
    session_hush(session);
    mine->session.notes = mine->session.out = open_memstream(&mine->words, &mine->bytes);
    return mine->session.notes != NULL;
}

/* What the others say is told by one of them, or by nobody. */
static void end_words(struct ranks_mine *mine, const struct session *session, bool tell)
{
    if (mine->place.index == 0)
        return;
    fclose(mine->session.notes);
    if (tell && mine->bytes > 0)
        fprintf(session->notes, "rank %u: %.*s", mine->place.index, (int)mine->bytes, mine->words);
    free(mine->words);
}

/* The exit code of all, when all have come here. */
static int agree(struct ranks_mine *mine, const struct session *session, int code)
{
    const int place = (int)(mine->place.count - mine->place.index); /* the first: the greatest */
    const int said[RANKS_WORDS] = {code, code != 0 ? place : 0};
    int most[RANKS_WORDS] = {0};
    const bool all = mine->engine->agree(said, most, code != 0 ? patience_s : INFINITY);
    end_words(mine, session, !all || (most[0] != 0 && most[1] == place));
    if (!all)
        mine->engine->leave(code);
    return most[0];
}

static int finish(struct ranks_mine *mine, const struct ranks_work *work, int code)
{
    const int said[RANKS_WORDS] = {
        mine->place.index == 0 ? work->join(work->context, &mine->session, mine->place.count)
                               : code};
    int most[RANKS_WORDS] = {0};
    mine->engine->agree(said, most, INFINITY);
    return most[0];
}

int ranks_run(const struct arguments *line, struct session *session, const struct ranks_work *work)
{
    struct ranks_mine mine;
    if (session->ranks == NULL) {
        fprintf(session->notes,
                "orrery %s: mpirun started several of this, and this build knows no MPI: build it "
                "where MPI is installed (Debian: libopenmpi-dev), or give --shard auto\n",
                line->rules.command);
        return EXIT_USAGE;
    }
    int code = begin(&mine, session) ? EXIT_OK : EXIT_TROUBLE;
    if (code == EXIT_OK)
        code = work->play(work->context, &mine.session, &mine.place);
    code = agree(&mine, session, code);
    if (code == EXIT_OK)
        code = finish(&mine, work, code);
    fflush(session->out);
    mine.engine->end();
    return code;
}

const char *ranks_database(struct arena *arena, const struct arguments *line,
                           const struct database_arguments *given, const char *model)
{
    if (given->path != NULL)
        return given->path;
    struct database_arguments *named = ARENA_NEW(arena, struct database_arguments);
    const char *scenario =
        line->positional_count > 0 ? line->positional[0] : arena_format(arena, "%s.yaml", model);
    outputs_name_database(named, scenario, arena_format(arena, ".%s.db", line->rules.command));
    return named->path;
}

static void name_part(const char *whole, unsigned index, unsigned count,
                      char out[ARGUMENT_PATH_MAX])
{
    const size_t bytes = strlen(whole);
    const bool named = bytes > 3 && strcmp(whole + bytes - 3, ".db") == 0;
    snprintf(out, ARGUMENT_PATH_MAX, "%.*s.rank%uof%u.db", (int)(named ? bytes - 3 : bytes), whole,
             index, count);
}

void ranks_part(const struct ranks_place *place, const char *whole, uint64_t *threads,
                struct database_arguments *database)
{
    const unsigned share = pool_threads_available() / place->beside;
    *threads = *threads > 0 ? *threads : share > 0 ? share : 1;
    name_part(whole, place->index + 1, place->count, database->usual);
    database->path = database->usual;
    database->none = false;
    database->resume = true;
}

const char *const *ranks_databases(struct arena *arena, const char *whole, unsigned count)
{
    const char **names = ARENA_ARRAY(arena, const char *, count);
    char name[ARGUMENT_PATH_MAX];
    for (unsigned i = 0; i < count; i++) {
        name_part(whole, i + 1, count, name);
        names[i] = arena_text(arena, name);
    }
    return names;
}

void ranks_remove(const char *const *databases, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        unlink(databases[i]);
}
