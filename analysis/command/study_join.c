#include "analysis/command/study_join.h"

#include "analysis/command/study_tell.h"
#include "analysis/study/study_merge.h"
#include "analysis/study/study_store.h"

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

static int join(const struct arguments *a, struct session *session, struct study *study,
                const struct progress *clock)
{
    if (a->svg != NULL && study->vary_count == 0)
        return study_trouble(a, session, "--svg draws a curve over a varied key: there is none",
                             EXIT_USAGE);
    const int code = a->no_db ? EXIT_OK : write(a, session, study);
    return code == EXIT_OK ? study_tell(a, session, study, progress_seconds(clock)) : code;
}

int study_join(const struct arguments *a, struct session *session, const char *const *paths,
               unsigned count, const struct progress *clock)
{
    struct arena *arena = arena_create();
    struct study study;
    struct error error = {""};
    const int code = study_merge(arena, paths, count, &study, &error)
                         ? join(a, session, &study, clock)
                         : study_trouble(a, session, error.text, EXIT_TROUBLE);
    arena_destroy(arena);
    return code;
}
