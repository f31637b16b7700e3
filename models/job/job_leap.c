/* job_leap.c - many whole segments of a failure-free stretch at once (job_segments.c). */
#include <math.h>

#include "models/job/job_state.h"

/* Saves until the one before which the work is done. */
static uint64_t saves_before_end(const struct job *job)
{
    if (job->target == STEPS_NEVER) {
        return STEPS_NEVER;
    }
    uint64_t left = job->target > job->now.progress ? job->target - job->now.progress : 0;
    uint64_t steps = (left + job->replicas_up - 1) / job->replicas_up;
    uint64_t first = job->interval - job->since;
    return steps <= first ? 0 : (steps - first - 1) / job->interval + 1;
}

/* In the present condition. A leap needs every copy durable before the next save begins, and a
 * level saved with those below it; segment_s 0: that is not so. */
static void prepare(struct job *job)
{
    double segment_s = (double)job->interval * job->step_s;
    job->segment_s = job->nested && job->longest_persist_s <= segment_s ? segment_s : 0.0;
}

/* Steps from here on last what they last in the condition of the moment. Where that cannot be
 * simulated no step is made any more: the run is given up at this moment (job.c). */
void job_condition(struct job *job)
{
    const double step_s = job_condition_step_s(job);
    job->unplayable = isnan(step_s);
    job->step_s = job->unplayable ? job->ideal_step_s : step_s;
    prepare(job);
    job_new_origin(job);
}

/* The copies that are still kept of one level; that of the last save is being written. */
static void keep_copies(struct job *job, const struct leap *leap, unsigned level, uint64_t saves,
                        const struct copy *last)
{
    const struct checkpoint_level *of = &job->spec->checkpoint.plan.levels[level];
    uint64_t every = of->every;
    uint64_t made = job_segments_saves(leap, level, saves);
    uint64_t newest = every == 1 ? last->save : last->save / every * every;
    if (made == 0) {
        return;
    }
    uint64_t pending = newest == last->save ? 1 : 0;
    if (made > pending) {
        job_shelf_push(job, level, leap, newest - pending * every - leap->saves, made - pending);
    }
    if (pending > 0) {
        struct copy copy = *last;
        copy.durable_s = copy.began_s + copy.stall_s + of->persist_s;
        job_shelf_write(job, level, &copy);
    }
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

static void go(struct job *job, const struct leap *leap, uint64_t saves)
{
    struct copy last = job_segments_copy(leap, 0, saves);
    double stall_s = job_segments_stall_s(leap, saves), run_s = job_segments_run_s(leap, saves);
    double exposed_s = leap->first_s - job->clock.at_s + run_s;
    job_settle(job, leap->first_s);
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        keep_copies(job, leap, level, saves, &last);
    }
    tell_window(job, leap, saves);
    job->now = last.reached;
    job_account_stalls(&job->account, stall_s);
    job_clock_leap(&job->clock, leap->first_s + run_s + stall_s,
                   job_saves_exposed(job->spec) ? exposed_s + stall_s : exposed_s);
    job->saves += saves;
    job->since = 0;
    job_new_origin(job);
}

static struct leap leap_from(const struct job *job, double first_s)
{
    return (struct leap){.job = job,
                         .now = job->now,
                         .at_s = job->clock.at_s,
                         .segment_s = job->segment_s,
                         .first_s = first_s,
                         .saves = job->saves,
                         .first_steps = job->interval - job->since,
                         .replicas_up = job->replicas_up};
}

/* As many segments as fit, with their saves: two or more. */
void job_leap(struct job *job, double wall_stop_s, double exposed_stop_s)
{
    if (job->since >= job->interval || job->segment_s == 0.0) {
        return;
    }
    uint64_t steps = job->origin_steps + job->interval - job->since;
    double first_s = job_after_work(job, job->origin_s, (double)steps * job->step_s);
    double wall_s = wall_stop_s - first_s;
    double exposed_s = exposed_stop_s - (first_s - job->clock.at_s);
    if (wall_s < job->segment_s || exposed_s < job->segment_s ||
        job_last_durable_s(job) > first_s) {
        return;
    }
    struct leap leap = leap_from(job, first_s);
    uint64_t limit = saves_before_end(job);
    if (limit > 1 && job_segments_fit(&leap, 2, wall_s, exposed_s)) {
        uint64_t saves = job_segments_by(&leap, limit, wall_s, exposed_s);
        /* What is due with a planned stop is left to it. */
        saves -= job_segments_begin_s(&leap, saves) >= job_plans_maintenance_s(&job->plans);
        go(job, &leap, saves);
    }
}
