#include "analysis/command/ranks_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/line/outputs.h"
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

int ranks_run(const struct arguments *arguments, struct session *session,
              const struct ranks_work *work)
{
    struct ranks_mine mine;
    if (session->ranks == NULL) {
        fprintf(session->notes,
                "orrery %s: mpirun started several of this, and this build knows no MPI: build it "
                "where MPI is installed (Debian: libopenmpi-dev), or give --shard auto\n",
                arguments->rules.command);
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

const char *ranks_database(struct arena *arena, const struct arguments *given)
{
    if (given->db != NULL)
        return given->db;
    struct arguments *named = ARENA_NEW(arena, struct arguments);
    const struct command like = {.database = arena_format(arena, ".%s.db", given->rules.command)};
    *named = *given;
    named->no_db = false;
    if (named->positional_count == 0)
        named->positional[named->positional_count++] = arena_format(arena, "%s.yaml", named->model);
    outputs_name_database(&like, named);
    return named->db;
}

static const char *name_of(struct arena *arena, const struct arguments *given, unsigned index,
                           unsigned count)
{
    const char *db = ranks_database(arena, given);
    const size_t bytes = strlen(db);
    const bool named = bytes > 3 && strcmp(db + bytes - 3, ".db") == 0;
    return arena_format(arena, "%.*s.rank%uof%u.db", (int)(named ? bytes - 3 : bytes), db, index,
                        count);
}

void ranks_line(const struct arguments *given, const struct ranks_place *place,
                struct arguments *out)
{
    struct arena *arena = arena_create();
    const unsigned share = pool_threads_available() / place->beside;
    *out = *given;
    out->threads = given->threads > 0 ? given->threads : share > 0 ? share : 1;
    snprintf(out->default_db, sizeof out->default_db, "%s",
             name_of(arena, given, place->index + 1, place->count));
    out->db = out->default_db;
    out->no_db = out->csv = out->json = false;
    out->svg = NULL;
    out->resume = true;
    arena_destroy(arena);
}

const char *const *ranks_databases(struct arena *arena, const struct arguments *given,
                                   unsigned count)
{
    const char **names = ARENA_ARRAY(arena, const char *, count);
    for (unsigned i = 0; i < count; i++)
        names[i] = name_of(arena, given, i + 1, count);
    return names;
}

void ranks_remove(const char *const *databases, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        unlink(databases[i]);
}
