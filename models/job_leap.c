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
    double first_s;           /* end of the segment at hand */
    double segment_s;         /* steps of a segment, undisturbed */
    bool same_each_time;      /* every save is on every level */
    double stall_s, slowed_s; /* of each save, then */
};

static double saves_of_level(const struct job *job, unsigned level, uint64_t saves)
{
    uint64_t every = job->spec->checkpoint.plan.levels[level].every;
    return (double)((job->saves + saves) / every - job->saves / every);
}

/* What writing a level adds to the steps meanwhile. */
static double slowed_s(const struct job *job, unsigned level)
{
    return job->shelves[level].write_s * job->shelves[level].loss_ratio;
}

/* Sum over the next `saves` saves of what they stall (or slow, in the background). */
static double sum_over(const struct leap *leap, uint64_t saves, bool stall)
{
    if (leap->same_each_time) {
        return (double)saves * (stall ? leap->stall_s : leap->slowed_s);
    }
    const struct checkpoint_plan *plan = &leap->job->spec->checkpoint.plan;
    double sum_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        double each = stall ? plan->levels[level].stall_s : slowed_s(leap->job, level);
        sum_s += saves_of_level(leap->job, level, saves) * each;
    }
    return sum_s;
}

static double running_s(const struct leap *leap, uint64_t saves)
{
    return (double)(saves - 1) * leap->segment_s + sum_over(leap, saves - 1, false);
}

static bool fits(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s)
{
    double run_s = running_s(leap, saves), stall_s = sum_over(leap, saves, true);
    double exposed = job_save_exposed(leap->job) ? run_s + stall_s : run_s;
    return run_s + stall_s <= wall_s && exposed <= exposed_s;
}

/* The most saves, at most `most`, that end within both limits from the end of the segment. */
static uint64_t saves_by(const struct leap *leap, uint64_t most, double wall_s, double exposed_s)
{
    if (most == 0 || !fits(leap, 1, wall_s, exposed_s)) {
        return 0;
    }
    double limit = fmin(wall_s, exposed_s) / leap->segment_s + 2.0;
    uint64_t low = 1, high = limit < (double)most ? (uint64_t)limit : most;
    if (leap->same_each_time) {
        double cycle_s = leap->segment_s + leap->slowed_s;
        double by_wall = (wall_s - leap->stall_s) / (cycle_s + leap->stall_s);
        double by_exposed = job_save_exposed(leap->job)
                                ? (exposed_s - leap->stall_s) / (cycle_s + leap->stall_s)
                                : exposed_s / cycle_s;
        double guess = fmin(by_wall, by_exposed);
        low = guess < (double)high ? (uint64_t)fmax(guess, 1.0) : high > 1 ? high - 1 : 1;
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

/* Every copy is durable before the next save begins, and a level is saved with those below it. */
static bool regular(const struct job *job, struct leap *leap)
{
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    leap->same_each_time = true;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *at = &plan->levels[level];
        if (at->persist_s > leap->segment_s || (level > 0 && at->every % at[-1].every != 0)) {
            return false;
        }
        leap->same_each_time &= at->every == 1;
        leap->stall_s += at->stall_s;
        leap->slowed_s += slowed_s(job, level);
    }
    return true;
}

/* What was reached when save number `save` from here began, and when that was. */
static struct copy copy_of(const struct leap *leap, uint64_t save, double first_work_s)
{
    const struct job *job = leap->job;
    double run_s = running_s(leap, save);
    uint64_t steps = job->interval - job->since + (save - 1) * job->interval;
    double useful_s = (double)steps * job->ideal_step_s * job_share(job);
    double whole_s = first_work_s + run_s;
    useful_s = fmin(useful_s, whole_s);
    struct copy copy = {.reached = {job->now.progress + steps * job->replicas_up,
                                    job->now.steps + steps, job->now.useful_s + useful_s,
                                    job->now.degraded_s + (whole_s - useful_s)}};
    copy.save = job->saves + save;
    copy.began_s = leap->first_s + run_s + sum_over(leap, save - 1, true);
    copy.stall_s = sum_over(leap, save, true) - sum_over(leap, save - 1, true);
    return copy;
}

/* The copies that are still kept of one level; that of the last save is being written. */
static void keep_copies(struct job *job, const struct leap *leap, unsigned level, uint64_t saves)
{
    uint64_t every = job->spec->checkpoint.plan.levels[level].every;
    uint64_t last = (job->saves + saves) / every * every, keep = job->spec->checkpoint.keep;
    double first_work_s = leap->first_s - job->at_s;
    if (last <= job->saves) {
        return;
    }
    uint64_t made = (uint64_t)saves_of_level(job, level, saves);
    bool pending = last == job->saves + saves;
    uint64_t durable = pending ? made - 1 : made, kept = durable < keep ? durable : keep;
    job->result->checkpoints += durable - kept;
    for (uint64_t back = kept + (pending ? 1 : 0); back-- > 0;) {
        uint64_t save = last - back * every - job->saves;
        struct copy copy = copy_of(leap, save, first_work_s);
        copy.durable_s =
            copy.began_s + copy.stall_s + job->spec->checkpoint.plan.levels[level].persist_s;
        job->shelves[level].pending = copy;
        job->shelves[level].is_pending = true;
        if (back > 0 || !pending) {
            job_settle(job, copy.durable_s);
        }
    }
}

static void go(struct job *job, const struct leap *leap, uint64_t saves)
{
    struct copy last = copy_of(leap, saves, leap->first_s - job->at_s);
    double stall_s = sum_over(leap, saves, true);
    double run_s = leap->first_s - job->at_s + running_s(leap, saves);
    job_settle(job, leap->first_s);
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        keep_copies(job, leap, level, saves);
    }
    job->now = last.reached;
    job->result->badput_s[BADPUT_checkpoint] += stall_s;
    job->exposed_s += job_save_exposed(job) ? run_s + stall_s : run_s;
    job->at_s = leap->first_s + running_s(leap, saves) + stall_s;
    job->saves += saves;
    job->since = 0;
    job_new_origin(job);
}

/* As many segments as fit, with their saves. */
void job_leap(struct job *job, double wall_stop_s, double exposed_stop_s)
{
    struct leap leap = {.job = job, .segment_s = (double)job->interval * job->step_s};
    if (job->since >= job->interval || !regular(job, &leap)) {
        return;
    }
    uint64_t steps = job->origin_steps + job->interval - job->since;
    leap.first_s = job_after_work(job, job->origin_s, (double)steps * job->step_s);
    double exposed_s = exposed_stop_s - (leap.first_s - job->at_s);
    if (job_last_durable_s(job) > leap.first_s || exposed_s < 0.0 || leap.first_s > wall_stop_s) {
        return;
    }
    uint64_t saves = saves_by(&leap, saves_before_end(job), wall_stop_s - leap.first_s, exposed_s);
    if (saves > 1) {
        go(job, &leap, saves);
    }
}
