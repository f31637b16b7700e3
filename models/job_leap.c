/* job_leap.c - many whole segments of a failure-free stretch at once: T(j) is the time from the
 * end of the segment at hand to the end of the j-th save from here,
 *
 *     T(j) = (j - 1) interval step + stalls of saves 1..j + what the copies of saves 1..j-1 slowed
 *
 * where level l is part of floor((c + j) / every) - floor(c / every) of the saves c+1 .. c+j.
 * It holds where every copy is durable before the save after it begins. */
#include <math.h>

#include "models/job_state.h"

struct leap {
    const struct job *job;
    double first_s; /* end of the segment at hand */
};

static double saves_of_level(const struct job *job, unsigned level, uint64_t saves)
{
    uint64_t every = job->spec->checkpoint.plan.levels[level].every;
    return (double)(every == 1 ? saves : (job->saves + saves) / every - job->saves / every);
}

/* What writing a level adds to the steps meanwhile. */
static double slowed_s(const struct job *job, unsigned level)
{
    return job->shelves[level].write_s * job->shelves[level].loss_ratio;
}

/* Sum over the next `saves` saves of what they stall (or slow, in the background). */
static double sum_over(const struct leap *leap, uint64_t saves, bool stall)
{
    const struct job *job = leap->job;
    if (job->same_each_time) {
        return (double)saves * (stall ? job->all_stalls_s : job->all_slowed_s);
    }
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    double sum_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        double each = stall ? plan->levels[level].stall_s : slowed_s(job, level);
        sum_s += saves_of_level(job, level, saves) * each;
    }
    return sum_s;
}

static double running_s(const struct leap *leap, uint64_t saves)
{
    return (double)(saves - 1) * leap->job->segment_s + sum_over(leap, saves - 1, false);
}

static bool fits(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s)
{
    double run_s = running_s(leap, saves), stall_s = sum_over(leap, saves, true);
    double exposed = job_save_exposed(leap->job) ? run_s + stall_s : run_s;
    return run_s + stall_s <= wall_s && exposed <= exposed_s;
}

/* Close below the number that fits, where all saves are alike. */
static double guess(const struct job *job, double wall_s, double exposed_s)
{
    double stall_s = job->all_stalls_s, cycle_s = job->segment_s + job->all_slowed_s;
    if (job_save_exposed(job)) {
        return (lesser(wall_s, exposed_s) - stall_s) / (cycle_s + stall_s);
    }
    return lesser((wall_s - stall_s) / (cycle_s + stall_s), exposed_s / cycle_s);
}

/* The most saves, at most `limit`, that end within both times from the end of the segment. */
static uint64_t saves_by(const struct leap *leap, uint64_t limit, double wall_s, double exposed_s)
{
    const struct job *job = leap->job;
    double by_steps = lesser(wall_s, exposed_s) / job->segment_s + 2.0;
    uint64_t low = 1, high = by_steps < (double)limit ? (uint64_t)by_steps : limit;
    if (job->same_each_time) {
        double near = guess(job, wall_s, exposed_s);
        low = near < (double)high ? (uint64_t)greater(near, 1.0) : high > 1 ? high - 1 : 1;
        high = low + 2 < high ? low + 2 : high;
    }
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (fits(leap, middle, wall_s, exposed_s)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

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
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    job->segment_s = (double)job->interval * job->step_s;
    job->same_each_time = true;
    job->all_stalls_s = job->all_slowed_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *at = &plan->levels[level];
        if (at->persist_s > job->segment_s || (level > 0 && at->every % at[-1].every != 0)) {
            job->segment_s = 0.0;
            return;
        }
        job->same_each_time &= at->every == 1;
        job->all_stalls_s += at->stall_s;
        job->all_slowed_s += slowed_s(job, level);
    }
}

/* Steps from here on last what they last in the condition of the moment. */
void job_condition(struct job *job)
{
    job->step_s = job_condition_step_s(job);
    prepare(job);
    job_new_origin(job);
}

static double begins_s(const struct leap *leap, uint64_t saves)
{
    return leap->first_s + running_s(leap, saves) + sum_over(leap, saves - 1, true);
}

/* What was reached when save number `save` from here began, and when that was. */
static struct copy copy_of(const struct leap *leap, uint64_t save)
{
    const struct job *job = leap->job;
    double run_s = running_s(leap, save);
    uint64_t steps = job->interval - job->since + (save - 1) * job->interval;
    double useful_s = (double)steps * job->ideal_step_s * job_share(job);
    double whole_s = leap->first_s - job->at_s + run_s;
    useful_s = lesser(useful_s, whole_s);
    struct copy copy = {.reached = {job->now.progress + steps * job->replicas_up,
                                    job->now.steps + steps, job->now.useful_s + useful_s,
                                    job->now.degraded_s + (whole_s - useful_s)}};
    copy.save = job->saves + save;
    copy.began_s = begins_s(leap, save);
    copy.stall_s = sum_over(leap, save, true) - sum_over(leap, save - 1, true);
    return copy;
}

/* The copies that are still kept of one level; that of the last save is being written. */
static void keep_copies(struct job *job, const struct leap *leap, unsigned level, uint64_t saves,
                        const struct copy *last)
{
    const struct checkpoint_level *of = &job->spec->checkpoint.plan.levels[level];
    uint64_t keep = job->keep, made = (uint64_t)saves_of_level(job, level, saves);
    uint64_t newest = of->every == 1 ? last->save : last->save / of->every * of->every;
    if (made == 0) {
        return;
    }
    uint64_t pending = newest == last->save ? 1 : 0, durable = made - pending;
    uint64_t kept = durable < keep ? durable : keep;
    job->result->checkpoints += durable - kept;
    for (uint64_t back = kept + pending; back-- > 0;) {
        uint64_t save = newest - back * of->every - job->saves;
        struct copy copy = save == saves ? *last : copy_of(leap, save);
        copy.durable_s = copy.began_s + copy.stall_s + of->persist_s;
        if (save < saves) {
            job_shelf_push(job, level, &copy);
        } else {
            job_shelf_write(job, level, &copy);
        }
    }
}

static void go(struct job *job, const struct leap *leap, uint64_t saves)
{
    struct copy last = copy_of(leap, saves);
    double stall_s = sum_over(leap, saves, true), run_s = running_s(leap, saves);
    double exposed_s = leap->first_s - job->at_s + run_s;
    job_settle(job, leap->first_s);
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        keep_copies(job, leap, level, saves, &last);
    }
    job->now = last.reached;
    job->result->badput_s[BADPUT_checkpoint] += stall_s;
    job->exposed_s += job_save_exposed(job) ? exposed_s + stall_s : exposed_s;
    job->at_s = leap->first_s + run_s + stall_s;
    job->saves += saves;
    job->since = 0;
    job_new_origin(job);
}

/* As many segments as fit, with their saves: two or more. */
void job_leap(struct job *job, double wall_stop_s, double exposed_stop_s)
{
    struct leap leap = {.job = job};
    if (job->since >= job->interval || job->segment_s == 0.0) {
        return;
    }
    uint64_t steps = job->origin_steps + job->interval - job->since;
    leap.first_s = job_after_work(job, job->origin_s, (double)steps * job->step_s);
    double wall_s = wall_stop_s - leap.first_s;
    double exposed_s = exposed_stop_s - (leap.first_s - job->at_s);
    if (wall_s < job->segment_s || exposed_s < job->segment_s ||
        job_last_durable_s(job) > leap.first_s || !fits(&leap, 2, wall_s, exposed_s)) {
        return;
    }
    uint64_t limit = saves_before_end(job);
    if (limit > 1) {
        uint64_t saves = saves_by(&leap, limit, wall_s, exposed_s);
        saves -= begins_s(&leap, saves) >= job_maintenance_s(job); /* left to the planned stop */
        go(job, &leap, saves);
    }
}
