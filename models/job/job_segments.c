/* job_segments.c - saves of an undisturbed stretch in closed form: T(j) is the time from the end of
 * the segment at hand to the end of the j-th save from here,
 *
 *     T(j) = (j - 1) interval step + stalls of saves 1..j + what the copies of saves 1..j-1 slowed
 *
 * where level l is part of floor((c + j) / every) - floor(c / every) of the saves c+1 .. c+j.
 * It holds where every copy is durable before the save after it begins. */
#include "models/job/job_state.h"

/* Of the next `saves`, those that this level is part of. */
uint64_t job_segments_saves(const struct leap *leap, unsigned level, uint64_t saves)
{
    uint64_t every = leap->job->spec->checkpoint.plan.levels[level].every;
    return every == 1 ? saves : (leap->saves + saves) / every - leap->saves / every;
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
        sum_s += (double)job_segments_saves(leap, level, saves) * each;
    }
    return sum_s;
}

/* Steps from the end of the segment at hand to the begin of that save. */
double job_segments_run_s(const struct leap *leap, uint64_t saves)
{
    return (double)(saves - 1) * leap->segment_s + sum_over(leap, saves - 1, false);
}

double job_segments_stall_s(const struct leap *leap, uint64_t saves)
{
    return sum_over(leap, saves, true);
}

/* So many saves end within both times from the end of the segment. */
bool job_segments_fit(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s)
{
    double run_s = job_segments_run_s(leap, saves), stall_s = sum_over(leap, saves, true);
    double exposed = job_saves_exposed(leap->job->spec) ? run_s + stall_s : run_s;
    return run_s + stall_s <= wall_s && exposed <= exposed_s;
}

/* Close below the number that fits, where all saves are alike. */
static double guess(const struct job *job, double wall_s, double exposed_s)
{
    double stall_s = job->all_stalls_s, cycle_s = job->segment_s + job->all_slowed_s;
    if (job_saves_exposed(job->spec)) {
        return (lesser(wall_s, exposed_s) - stall_s) / (cycle_s + stall_s);
    }
    return lesser((wall_s - stall_s) / (cycle_s + stall_s), exposed_s / cycle_s);
}

/* The most saves, at most `limit`, that end within both times from the end of the segment. */
uint64_t job_segments_by(const struct leap *leap, uint64_t limit, double wall_s, double exposed_s)
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
        if (job_segments_fit(leap, middle, wall_s, exposed_s)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* What no condition changes. */
void job_segments_create(struct job *job)
{
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    job->same_each_time = job->nested = true;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *at = &plan->levels[level];
        job->nested &= level == 0 || at->every % at[-1].every == 0;
        job->same_each_time &= at->every == 1;
        job->longest_persist_s = greater(job->longest_persist_s, at->persist_s);
        job->all_stalls_s += at->stall_s;
        job->all_slowed_s += slowed_s(job, level);
    }
}

double job_segments_begin_s(const struct leap *leap, uint64_t saves)
{
    return leap->first_s + job_segments_run_s(leap, saves) + sum_over(leap, saves - 1, true);
}

/* What was reached when save number `save` from here began, and when that was. */
static struct copy copy_of(const struct leap *leap, uint64_t save)
{
    const struct job *job = leap->job;
    double run_s = job_segments_run_s(leap, save);
    uint64_t steps = leap->first_steps + (save - 1) * job->interval;
    double share = (double)leap->replicas_up / (double)job->spec->replicas;
    double useful_s = (double)steps * job->ideal_step_s * share;
    double whole_s = leap->first_s - leap->at_s + run_s;
    useful_s = lesser(useful_s, whole_s);
    struct copy copy = {.reached = {leap->now.progress + steps * leap->replicas_up,
                                    leap->now.steps + steps, leap->now.useful_s + useful_s,
                                    leap->now.degraded_s + (whole_s - useful_s)}};
    copy.save = leap->saves + save;
    copy.began_s = job_segments_begin_s(leap, save);
    copy.stall_s = sum_over(leap, save, true) - sum_over(leap, save - 1, true);
    return copy;
}

/* The copy on this level of save number `save` from where the leap began. */
struct copy job_segments_copy(const struct leap *leap, unsigned level, uint64_t save)
{
    struct copy copy = copy_of(leap, save);
    copy.durable_s =
        copy.began_s + copy.stall_s + leap->job->spec->checkpoint.plan.levels[level].persist_s;
    return copy;
}
