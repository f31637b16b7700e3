#include "analysis/command/study_tell.h"
#include "analysis/study/study_merge.h"
#include "analysis/study/study_store.h"
#include "analysis/terminal/progress.h"

static const struct option options[] = {
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL, "the database to write; must be given"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL,
     "stop with exit code 5 when the database would grow past this"},
    {"--svg", OPTION_FILE, FIELD(svg), "FILE", NULL, "draw the curve"},
    {"--csv", OPTION_FLAG, FIELD(csv), NULL, NULL, "print a line for each point as CSV"},
    OPTION_JSON_ROW,
    OPTION_END};

static int write(const struct arguments *a, struct session *session, struct study *study)
{
    struct error error = {""};
    struct store *store;
    session_hold(session);
    enum store_outcome outcome = store_share(a->db, a->max_db_bytes, false, &store, &error);
    session_guard(session, outcome == STORE_GOOD ? store_partial_path(store) : NULL);
    if (outcome != STORE_GOOD)
        return study_trouble(a, session, error.text, study_outcome_code(outcome));
    study_store_begin(store, study);
    for (size_t p = 0; p < study->point_count && store_good(store); p++)
        study_store_point(store, study, p);
    return study_keep(a, session, store);
}

static int merge(const struct arguments *a, struct session *session, struct arena *arena)
{
    struct study study;
    struct progress clock;
    struct error error = {""};
    progress_begin(&clock, session->notes);
    if (!study_merge(arena, a->positional, a->positional_count, &study, &error))
        return study_trouble(a, session, error.text, EXIT_TROUBLE);
    if (a->svg != NULL && study.vary_count == 0)
        return study_trouble(a, session, "--svg draws a curve over a varied key: there is none",
                             EXIT_USAGE);
    const int code = write(a, session, &study);
    return code == EXIT_OK ? study_tell(a, session, &study, progress_seconds(&clock)) : code;
}

static int run(const struct arguments *a, struct session *session)
{
    if (a->db == NULL)
        return study_trouble(a, session, "name the database to write: --db FILE", EXIT_USAGE);
    if (a->csv && a->json)
        return study_trouble(a, session, "--csv or --json, not both: they go to the same place",
                             EXIT_USAGE);
    struct arena *arena = arena_create();
    const int code = merge(a, session, arena);
    arena_destroy(arena);
    return code;
}

const struct command command_merge = {
    .head = {.name = "merge",
             .doc = "joins the shards of a study into the database of a single process"},
    .positional = "DB...",
    .options = options,
    .details = "Shards are what `orrery study --shard i/n` wrote, in any order. The rows are those "
               "that one\nprocess would have written, and so is what it prints. Missing, "
               "duplicate, incomplete or\nforeign shards are refused.\n\n"
               "exit code: 0 done, 1 the shards do not make a whole study, 4 no point fits in "
               "memory, 5\n--max-db was reached",
    .example = "orrery merge weeks.study.*of8.db --db weeks.study.db",
    .run = run,
};
