#include "analysis/command/study/study_join.h"

#include "analysis/study/study_merge.h"
#include "analysis/study/study_store.h"

static int write(const struct arguments *line, const struct database_arguments *database,
                 struct session *session, struct study *study)
{
    struct error error = {""};
    struct store *store;
    session_hold(session);
    enum store_outcome outcome =
        store_share(database->path, database->max_bytes, false, &store, &error);
    session_guard(session, outcome == STORE_GOOD ? store_partial_path(store) : NULL);
    if (outcome != STORE_GOOD)
        return study_trouble(line, session, error.text, study_outcome_code(outcome));
    study_store_begin(store, study);
    for (size_t p = 0; p < study->point_count && store_good(store); p++)
        study_store_point(store, study, p);
    return study_keep(line, database->path, session, store);
}

static int join(const struct arguments *line, const struct study_output *to,
                struct session *session, struct study *study, const struct progress *clock)
{
    if (to->svg != NULL && study->vary_count == 0)
        return study_trouble(line, session, "--svg draws a curve over a varied key: there is none",
                             EXIT_USAGE);
    const int code = to->database.none ? EXIT_OK : write(line, &to->database, session, study);
    return code == EXIT_OK ? study_tell(line, to, session, study, progress_seconds(clock)) : code;
}

int study_join(const struct arguments *line, const struct study_output *to, struct session *session,
               const char *const *paths, unsigned count, const struct progress *clock)
{
    struct arena *arena = arena_create();
    struct study study;
    struct error error = {""};
    const int code = study_merge(arena, paths, count, &study, &error)
                         ? join(line, to, session, &study, clock)
                         : study_trouble(line, session, error.text, EXIT_TROUBLE);
    arena_destroy(arena);
    return code;
}
