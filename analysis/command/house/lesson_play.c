#include "analysis/command/house/lesson_play.h"

#include "analysis/record/evidence/lesson_record.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/record/numbers/job_record.h"

/* A step, and weeks of it where the scenario asks for them. */
static bool play(const struct scenario *scenario, struct lesson_play *out, struct error *error)
{
    const struct step_options how = {.ledger_points = true, .threads = 1};
    if (!step_run(&scenario->configuration, &how, &out->step, error))
        return false;
    result_gather(scenario, out->step, &out->result);
    result_advise(&out->result);
    const struct job_watches unwatched = {NULL, NULL};
    const bool weeks = scenario->has_run && out->step->fits;
    if (weeks && !job_record_play(scenario, true, unwatched, &out->job, error))
        return false;
    out->result.job = out->job;
    return true;
}

static void drop(struct lesson_play *play)
{
    job_record_destroy(play->job);
    if (play->step != NULL)
        step_destroy(play->step);
    play->job = NULL;
    play->step = NULL;
}

/* Numbers stay; the texts of a record go with its scenario, and no formula asks for one but the
 * first column of a table, which is a name of the house. */
static bool play_other(struct arena *arena, const struct scenario *scenario, unsigned index,
                       struct record *record, struct error *error)
{
    struct scenario *other = lesson_record_read(scenario, index, error);
    struct lesson_play played = {.arena = arena};
    if (other == NULL)
        return false;
    const bool good = play(other, &played, error);
    if (good) {
        record_of_run(arena, &played.result, false, record);
        record_keep_texts(record);
    }
    drop(&played);
    scenario_destroy(other);
    return good;
}

bool lesson_play_begin(const struct scenario *scenario, bool every_link, struct lesson_play *out,
                       struct error *error)
{
    const struct lesson *lesson = scenario->lesson;
    struct formula_run runs[LESSON_RUN_MAX + 1] = {{"", &out->record}};
    *out = (struct lesson_play){.arena = arena_create()};
    struct record *others = ARENA_ARRAY(out->arena, struct record, lesson->run_count + 1);
    if (!play(scenario, out, error))
        return false;
    record_of_run(out->arena, &out->result, every_link, &out->record);
    for (unsigned i = 0; i < lesson->run_count; i++) {
        if (!play_other(out->arena, scenario, i, &others[i], error))
            return false;
        runs[1 + i] = (struct formula_run){lesson->runs[i].name, &others[i]};
    }
    return lesson_record_answer(lesson, runs, &out->record, error);
}

bool lesson_play_other(const struct scenario *scenario, unsigned index, struct scenario **other,
                       struct lesson_play *out, struct error *error)
{
    *out = (struct lesson_play){.arena = arena_create()};
    *other = lesson_record_read(scenario, index, error);
    if (*other == NULL || !play(*other, out, error))
        return false;
    record_of_run(out->arena, &out->result, true, &out->record);
    return true;
}

void lesson_play_end(struct lesson_play *play)
{
    drop(play);
    arena_destroy(play->arena);
}
