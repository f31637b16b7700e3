/* job_progress.c - steps and saves between two events of the outside, one by one or many segments
 * at once; and back to a copy. */
#include <math.h>

#include "models/job/player/job_state.h"

/* Phase SAVE, or DURABLE first where a copy on the same level is still being written. */
void job_begin_save(struct job *job, bool all_levels)
{
    double at_s = job->clock.at_s;
    job_copies_settle(&job->copies, at_s);
    double free_s = job_copies_free_s(&job->copies, all_levels);
    if (free_s > at_s) {
        job->save.durable_for = all_levels ? FOR_LAST_SAVE : FOR_NEXT_SAVE;
        job_enter(job, PHASE_DURABLE, free_s);
        return;
    }
    double stall_s = job_copies_begin(&job->copies, &job->steps.now, at_s, all_levels);
    job_steps_saved(&job->steps);
    job_enter(job, PHASE_SAVE, at_s + stall_s);
}

bool job_is_saved(struct job *job)
{
    return job_copies_is_saved(&job->copies, job->clock.at_s, job->steps.now.progress);
}

/* Where a step cannot be simulated none is made any more: the run is given up at this moment
 * (job.c). */
void job_condition(struct job *job)
{
    double step_s = job_condition_step_s(job);
    job->condition.unplayable = isnan(step_s);
    step_s = job->condition.unplayable ? job->steps.ideal_step_s : step_s;
    job_segments_condition(&job->segments, step_s);
    job_steps_condition(&job->steps, step_s, job->clock.at_s);
}

/* A planned stop that is due at the boundary saves all levels, so the save that is due there too is
 * left to it. */
enum boundary job_run_on(struct job *job, double wall_stop_s)
{
    struct job_steps *steps = &job->steps;
    uint64_t finish = job_steps_to_finish(steps, job->replicas.up);
    uint64_t save = job_steps_to_save(steps), most = finish < save ? finish : save;
    if (job->observing.observer->step_by_step || steps->noise != NULL ||
        job->plans.turn_s < INFINITY)
        most = most < 1 ? most : 1;
    double stop_s = job_lesser(wall_stop_s, job_clock_steps_failure_s(&job->clock));
    uint64_t count = most == 0 ? 0 : job_steps_by(steps, &job->copies, most, stop_s);
    if (count > 0) {
        double at_s = job->clock.at_s;
        job_clock_spend(&job->clock,
                        job_steps_take(steps, &job->copies, count, at_s, job->replicas.up));
    }
    if (count < most)
        return BOUNDARY_AHEAD;
    if (count == finish)
        return BOUNDARY_END_OF_WORK;
    if (count == save && job->clock.at_s >= job_plans_maintenance_s(&job->plans))
        return BOUNDARY_AHEAD;
    return count == save && job->clock.at_s < job->plans.turn_s ? BOUNDARY_SAVE : BOUNDARY_PASSED;
}

static void tell_window(struct job *job, const struct leap *leap, uint64_t saves)
{
    struct job_window *window = job->account.window;
    for (uint64_t save = 1; save <= saves && job_window_is_open(window); save++) {
        double before_s = job_segments_stall_s(leap, save - 1);
        double begin_s = job_segments_begin_s(leap, save);
        job_window_idle(window, begin_s, begin_s + job_segments_stall_s(leap, save) - before_s);
    }
}

static void leap_over(struct job *job, const struct leap *leap, uint64_t saves)
{
    double stall_s = job_segments_stall_s(leap, saves), run_s = job_segments_run_s(leap, saves);
    double exposed_s = leap->first_s - job->clock.at_s + run_s;
    struct ledger_mark reached = job_copies_leap(&job->copies, leap, saves);
    tell_window(job, leap, saves);
    job_account_stalls(&job->account, stall_s);
    job_clock_leap(&job->clock, leap->first_s + run_s + stall_s,
                   job->segments.saves_exposed ? exposed_s + stall_s : exposed_s);
    job_steps_leap(&job->steps, &reached, job->clock.at_s);
}

static struct leap leap_from(const struct job *job, double first_s)
{
    return (struct leap){.segments = &job->segments,
                         .now = job->steps.now,
                         .at_s = job->clock.at_s,
                         .segment_s = job->segments.segment_s,
                         .first_s = first_s,
                         .saves = job->copies.saves,
                         .first_steps = job_steps_to_save(&job->steps),
                         .replicas_up = job->replicas.up};
}

/* As many segments as fit, with their saves: two or more. */
void job_leap(struct job *job, double wall_stop_s)
{
    double segment_s = job->segments.segment_s;
    if (job_steps_to_save(&job->steps) == 0 || segment_s == 0.0)
        return;
    double first_s = job_steps_segment_end_s(&job->steps, &job->copies);
    double wall_s = wall_stop_s - first_s;
    double exposed_s = job_clock_left_s(&job->clock) - (first_s - job->clock.at_s);
    if (wall_s < segment_s || exposed_s < segment_s ||
        job_copies_last_durable_s(&job->copies) > first_s)
        return;
    struct leap leap = leap_from(job, first_s);
    uint64_t limit = job_steps_saves_to_finish(&job->steps, job->replicas.up);
    if (limit > 1 && job_segments_fit(&leap, 2, wall_s, exposed_s)) {
        uint64_t saves = job_segments_by(&leap, limit, wall_s, exposed_s);
        /* What is due with a planned stop is left to it. */
        saves -= job_segments_begin_s(&leap, saves) >= job_plans_maintenance_s(&job->plans);
        leap_over(job, &leap, saves);
    }
}

/* To what the copy that was come back to holds. */
static void go_back(struct job *job, double now_s)
{
    struct steps_lost lost = job_steps_go_back(&job->steps, job_copies_loaded(&job->copies));
    job_account_lost(&job->account, lost.lost_s, lost.lost_steps, job->copies.loaded_began_s,
                     now_s);
}

void job_roll_back(struct job *job, double now_s, int scope, double taint_s)
{
    job_copies_lose(&job->copies, now_s, scope, taint_s);
    go_back(job, now_s);
}

void job_drop_loaded(struct job *job)
{
    job_copies_drop_loaded(&job->copies);
    go_back(job, job->clock.at_s);
}
