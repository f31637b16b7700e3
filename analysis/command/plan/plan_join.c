#include "analysis/command/plan/plan_join.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/command/plan/plan_run.h"
#include "analysis/command/shared/study_tell.h"
#include "analysis/output/text/format.h"
#include "analysis/output/text/version.h"

struct plan_shards {
    struct arena *arena;
    const char *const *paths;
    struct plan_held *of; /* in the order of the command line */
    const char **at;      /* path by index - 1; NULL: not given */
    unsigned count;       /* of shards that the plan was cut into */
};

bool plan_join_holds(const char *path)
{
    struct arena *arena = arena_create();
    struct plan_held held;
    struct error ignored = {""};
    const bool holds = plan_diary_read(path, arena, &held, &ignored);
    arena_destroy(arena);
    return holds;
}

static bool fit_to_join(const char *path, const struct plan_held *held, struct error *error)
{
    const struct shown shown = format_shown(path);
    if (!held->ours)
        return error_set(error,
                         "%s: another version of orrery wrote it (this is " ORRERY_VERSION
                         "); merge with the one that searched the shards",
                         shown.s);
    if (held->shard.count == 0)
        return error_set(error,
                         "%s: it holds a whole plan, not a shard: there is nothing to merge; "
                         "'orrery report' prints it",
                         shown.s);
    return held->complete || error_set(error,
                                       "%s: shard %u/%u is not complete; go on with it: the same "
                                       "'orrery plan' line with --shard %u/%u --resume",
                                       shown.s, held->shard.index, held->shard.count,
                                       held->shard.index, held->shard.count);
}

static bool place(struct plan_shards *s, unsigned i, struct error *error)
{
    const struct plan_held *first = &s->of[0], *held = &s->of[i];
    const struct shown path = format_shown(s->paths[i]), other = format_shown(s->paths[0]);
    const char *what = plan_diary_differs(first, held);
    if (held->shard.count != first->shard.count)
        return error_set(error, "%s is shard %u/%u and %s shard %u/%u: give the shards of one cut",
                         other.s, first->shard.index, first->shard.count, path.s, held->shard.index,
                         held->shard.count);
    if (what != NULL)
        return error_set(error, "%s and %s are not shards of one plan: %s differs; leave one out",
                         other.s, path.s, what);
    const char **at = &s->at[held->shard.index - 1];
    if (*at != NULL)
        return error_set(error, "%s and %s both hold shard %u/%u; give each shard once",
                         format_shown(*at).s, path.s, held->shard.index, held->shard.count);
    *at = s->paths[i];
    return true;
}

static bool none_missing(const struct plan_shards *s, struct error *error)
{
    unsigned missing = 0, first = 0;
    for (unsigned i = s->count; i > 0; i--) {
        if (s->at[i - 1] != NULL)
            continue;
        first = i;
        missing++;
    }
    return missing == 0 ||
           error_set(error,
                     "%u of %u shards %s missing (the first is %u): name their databases too, or "
                     "search them with the same 'orrery plan' line and --shard %u/%u",
                     missing, s->count, missing == 1 ? "is" : "are", first, first, s->count);
}

static bool gather(struct plan_shards *s, unsigned count, struct error *error)
{
    s->of = ARENA_ARRAY(s->arena, struct plan_held, count);
    for (unsigned i = 0; i < count; i++)
        if (!plan_diary_read(s->paths[i], s->arena, &s->of[i], error) ||
            !fit_to_join(s->paths[i], &s->of[i], error))
            return false;
    s->count = s->of[0].shard.count;
    s->at = ARENA_ARRAY(s->arena, const char *, s->count);
    for (unsigned i = 0; i < s->count; i++)
        s->at[i] = NULL;
    for (unsigned i = 0; i < count; i++)
        if (!place(s, i, error))
            return false;
    return none_missing(s, error);
}

/* The line of `plan` that a file holds. False: the words are none. */
static bool read_line(const struct plan_held *held, struct plan_arguments *out)
{
    struct argument_rules rules = command_rules(&command_plan);
    struct arena *arena = held->arena;
    char **words = ARENA_ARRAY(arena, char *, held->word_count);
    for (unsigned i = 0; i < held->word_count; i++)
        words[i] = arena_text(arena, held->words[i]);
    char *problems = NULL;
    size_t bytes = 0;
    FILE *nowhere = open_memstream(&problems, &bytes);
    rules.conflicts = NULL;
    const bool good = nowhere != NULL &&
                      arguments_read(&rules, (int)held->word_count, words, out, nowhere) &&
                      !out->line.help && out->output.database.path == NULL &&
                      out->share.shard == NULL && !out->share.has_emit;
    if (nowhere != NULL)
        fclose(nowhere);
    free(problems);
    out->text = held->text_bytes > 0 ? held->text : NULL;
    out->text_bytes = held->text_bytes;
    return good && (out->line.positional_count == 0) == (out->text == NULL);
}

static int tell_whole(const struct arguments *line, const struct plan_output *to,
                      struct session *session, const struct plan_held *held,
                      const struct plan_work *work)
{
    struct plan_arguments *plan = ARENA_NEW(held->arena, struct plan_arguments);
    if (!read_line(held, plan))
        return study_trouble(line, session, "the table plan_option is damaged", EXIT_TROUBLE);
    plan->output = *to;
    return plan_run(plan, session, work);
}

int plan_join(const struct arguments *line, const struct plan_output *to, struct session *session)
{
    struct arena *arena = arena_create();
    struct plan_shards shards = {.arena = arena, .paths = line->positional};
    struct error error = {""};
    int code = EXIT_OK;
    if (!gather(&shards, line->positional_count, &error)) {
        code = study_trouble(line, session, error.text, EXIT_TROUBLE);
    } else {
        const struct plan_work work = {.databases = shards.at, .database_count = shards.count};
        code = tell_whole(line, to, session, &shards.of[0], &work);
    }
    arena_destroy(arena);
    return code;
}

/* Why the whole cannot be told; NULL: it can. */
static const char *why_not_whole(const struct plan_held *held)
{
    if (!held->ours)
        return "another version of orrery wrote this plan: search again";
    if (held->shard.count > 0)
        return "it holds a shard of a plan: 'orrery merge' joins the shards";
    return held->complete ? NULL : "this plan was stopped: go on with 'orrery plan --resume'";
}

static int tell_file(const struct arguments *line, const char *path, bool json,
                     const struct plan_sight *sight, struct session *session)
{
    struct arena *arena = arena_create();
    const struct plan_work work = {.databases = &path, .database_count = 1, .sight = *sight};
    const struct plan_output to = {.json = json};
    struct plan_held held;
    struct error error = {""};
    const char *why =
        plan_diary_read(path, arena, &held, &error) ? why_not_whole(&held) : error.text;
    const int code = why != NULL ? study_trouble(line, session, why, EXIT_TROUBLE)
                                 : tell_whole(line, &to, session, &held, &work);
    arena_destroy(arena);
    return code;
}

int plan_join_report(const struct arguments *line, const char *path, bool json,
                     struct session *session)
{
    return tell_file(line, path, json, &(struct plan_sight){NULL, NULL}, session);
}

int plan_join_look(const struct arguments *line, const char *path, const struct plan_sight *sight,
                   struct session *session)
{
    const int code = tell_file(line, path, true, sight, session);
    return code == EXIT_OK || code == EXIT_NOTHING_FITS ? EXIT_OK : EXIT_TROUBLE;
}
