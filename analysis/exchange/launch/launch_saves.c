#include "analysis/exchange/launch/launch_saves.h"

#include <inttypes.h>

#include "analysis/output/text/format.h"

enum {
    EVERY_USUAL = 50 /* steps, where nothing says how many */
};

bool launch_saves_any(const struct launch_job *job)
{
    return job->course.saves.how != LAUNCH_SAVES_NOTHING;
}

bool launch_saves_behind(const struct launch_job *job)
{
    return job->course.saves.how == LAUNCH_SAVES_UNKNOWN ||
           job->course.saves.how == LAUNCH_SAVES_BEHIND;
}

static uint64_t every_of(const struct launch_saves *saves)
{
    return saves->every_steps > 0 ? saves->every_steps : EVERY_USUAL;
}

void launch_saves_variables(const struct launch_job *job, struct launch_text *text)
{
    if (!launch_saves_any(job))
        return;
    launch_variable(text, "CHECKPOINTS", "checkpoints", "folder that all hosts see");
    launch_variable(text, "SAVE_EVERY",
                    arena_format(text->arena, "%" PRIu64, every_of(&job->course.saves)),
                    "steps between checkpoints");
}

static void note_interval(const struct launch_saves *saves, struct launch_text *text)
{
    const struct text work = format_time((double)saves->every_steps * saves->step_s);
    const struct text step = format_time(saves->step_s);
    if (saves->how == LAUNCH_SAVES_UNKNOWN)
        launch_say(
            text, LAUNCH_YOURS,
            "SAVE_EVERY=%d was not simulated: the scenario has no weeks (a section run, with "
            "checkpoint), of which `orrery run` finds the optimal interval",
            EVERY_USUAL);
    else if (saves->how == LAUNCH_SAVES_NOTHING)
        launch_say(text, LAUNCH_YOURS,
                   "nothing is saved, as was simulated (checkpoint.policy=none): a failure loses "
                   "all work since the start");
    else if (saves->every_steps == 0)
        launch_say(text, LAUNCH_YOURS,
                   "SAVE_EVERY=%d was not simulated: this layout has no step time that would turn "
                   "an interval into steps",
                   EVERY_USUAL);
    else
        launch_say(text, LAUNCH_YOURS,
                   "SAVE_EVERY=%" PRIu64 " is %s of work in simulated steps of %s: %s",
                   saves->every_steps, work.s, step.s,
                   saves->optimal ? "the optimal interval, as `orrery run` finds it"
                                  : "the interval of the scenario");
}

void launch_saves_note(const struct launch_job *job, bool behind, struct launch_text *text)
{
    const struct launch_saves *saves = &job->course.saves;
    note_interval(saves, text);
    if (saves->how == LAUNCH_SAVES_BEHIND && !behind)
        launch_say(text, LAUNCH_DIFFERS,
                   "training waits for each save: it is not written in the background, as was "
                   "simulated (checkpoint.policy=sync with one storage simulates that)");
    if (saves->copies)
        launch_say(text, LAUNCH_DIFFERS,
                   "copies in memory are not written (checkpoint.policy=%s): every failure goes "
                   "back to a save in CHECKPOINTS",
                   saves->policy);
}
