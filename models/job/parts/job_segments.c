/* job_segments.c - saves of an undisturbed stretch in closed form: T(j) is the time from the end of
 * the segment at hand to the end of the j-th save from here,
 *
 *     T(j) = (j - 1) interval step + stalls of saves 1..j + what the copies of saves 1..j-1 slowed
 *
 * where level l is part of floor((c + j) / every) - floor(c / every) of the saves c+1 .. c+j.
 * It holds where every copy is durable before the save after it begins.
 *
 * Invariants
 * 1. What a save writes in the background ends with the last of its levels: all write_s sum to the
 *    longest persist_s.
 * 2. As many saves as are said to fit do, but for rounding.
 * 3. A save reaches what the leap began with and more; it begins after the leap. */
#include "models/job/parts/job_segments.h"

#include "sim/check.h"

/* What writing a level adds to the steps meanwhile. */
static double slowed_s(const struct job_segments *segments, unsigned level)
{
    return segments->paces[level].write_s * segments->paces[level].loss_ratio;
}

void job_segments_create(struct job_segments *segments, const struct checkpoint_plan *plan,
                         uint64_t interval, uint32_t replicas, double ideal_step_s,
                         bool saves_exposed)
{
    CHECK(interval > 0 && interval <= STEPS_NEVER && replicas > 0 && ideal_step_s > 0.0);
    *segments = (struct job_segments){.plan = plan,
                                      .interval = interval,
                                      .replicas = replicas,
                                      .ideal_step_s = ideal_step_s,
                                      .saves_exposed = saves_exposed,
                                      .same_each_time = true,
                                      .nested = true};
    double written_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *at = &plan->levels[level];
        struct level_pace *pace = &segments->paces[level];
        pace->write_s = job_greater(at->persist_s - written_s, 0.0);
        pace->loss_ratio = 1.0 - 1.0 / at->slowdown_ratio;
        written_s += pace->write_s;
        segments->slows |= pace->loss_ratio > 0.0 && pace->write_s > 0.0;
        segments->nested &= level == 0 || at->every % at[-1].every == 0;
        segments->same_each_time &= at->every == 1;
        segments->longest_persist_s = job_greater(segments->longest_persist_s, at->persist_s);
        segments->all_stalls_s += at->stall_s;
        segments->all_slowed_s += slowed_s(segments, level);
    }
    double longest_s = segments->longest_persist_s;
    CHECK(written_s >= longest_s * (1.0 - 1e-9) && written_s <= longest_s * (1.0 + 1e-9)); /* 1 */
}

void job_segments_condition(struct job_segments *segments, double step_s)
{
    double segment_s = (double)segments->interval * step_s;
    bool holds = segments->nested && segments->longest_persist_s <= segment_s;
    segments->segment_s = holds ? segment_s : 0.0;
}

bool job_segments_saves_level(const struct job_segments *segments, unsigned level, uint64_t save)
{
    return save % segments->plan->levels[level].every == 0;
}

uint64_t job_segments_saves(const struct leap *leap, unsigned level, uint64_t saves)
{
    uint64_t every = leap->segments->plan->levels[level].every;
    return every == 1 ? saves : (leap->saves + saves) / every - leap->saves / every;
}

/* Sum over the next `saves` saves of what they stall (or slow, in the background). */
static double sum_over(const struct leap *leap, uint64_t saves, bool stall)
{
    const struct job_segments *segments = leap->segments;
    if (segments->same_each_time)
        return (double)saves * (stall ? segments->all_stalls_s : segments->all_slowed_s);
    double sum_s = 0.0;
    for (unsigned level = 0; level < segments->plan->level_count; level++) {
        double each = stall ? segments->plan->levels[level].stall_s : slowed_s(segments, level);
        sum_s += (double)job_segments_saves(leap, level, saves) * each;
    }
    return sum_s;
}

double job_segments_run_s(const struct leap *leap, uint64_t saves)
{
    return (double)(saves - 1) * leap->segment_s + sum_over(leap, saves - 1, false);
}

double job_segments_stall_s(const struct leap *leap, uint64_t saves)
{
    return sum_over(leap, saves, true);
}

double job_segments_begin_s(const struct leap *leap, uint64_t save)
{
    return leap->first_s + job_segments_run_s(leap, save) + sum_over(leap, save - 1, true);
}

bool job_segments_fit(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s)
{
    double run_s = job_segments_run_s(leap, saves), stall_s = sum_over(leap, saves, true);
    double exposed = leap->segments->saves_exposed ? run_s + stall_s : run_s;
    return run_s + stall_s <= wall_s && exposed <= exposed_s;
}

/* Close below the number that fits, where all saves are alike. */
static double guess(const struct leap *leap, double wall_s, double exposed_s)
{
    const struct job_segments *segments = leap->segments;
    double stall_s = segments->all_stalls_s, cycle_s = leap->segment_s + segments->all_slowed_s;
    if (segments->saves_exposed)
        return (job_lesser(wall_s, exposed_s) - stall_s) / (cycle_s + stall_s);
    return job_lesser((wall_s - stall_s) / (cycle_s + stall_s), exposed_s / cycle_s);
}

uint64_t job_segments_by(const struct leap *leap, uint64_t limit, double wall_s, double exposed_s)
{
    double by_steps = job_lesser(wall_s, exposed_s) / leap->segment_s + 2.0;
    uint64_t low = 1, high = by_steps < (double)limit ? (uint64_t)by_steps : limit;
    if (leap->segments->same_each_time) {
        double near = guess(leap, wall_s, exposed_s);
        low = near < (double)high ? (uint64_t)job_greater(near, 1.0) : high > 1 ? high - 1 : 1;
        high = low + 2 < high ? low + 2 : high;
    }
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (job_segments_fit(leap, middle, wall_s, exposed_s))
            low = middle;
        else
            high = middle - 1;
    }
    const double rounding = 1.0 + 1e-12;
    CHECK(low <= limit && job_segments_fit(leap, low, wall_s * rounding, exposed_s * rounding));
    return low;
}

/* What was reached when save number `save` from here began, and when that was. */
static struct copy copy_of(const struct leap *leap, uint64_t save)
{
    const struct job_segments *segments = leap->segments;
    double run_s = job_segments_run_s(leap, save);
    uint64_t steps = leap->first_steps + (save - 1) * segments->interval;
    double share = (double)leap->replicas_up / (double)segments->replicas;
    double useful_s = (double)steps * segments->ideal_step_s * share;
    double whole_s = leap->first_s - leap->at_s + run_s;
    useful_s = job_lesser(useful_s, whole_s);
    struct copy copy = {.reached = {leap->now.progress + steps * leap->replicas_up,
                                    leap->now.steps + steps, leap->now.useful_s + useful_s,
                                    leap->now.degraded_s + (whole_s - useful_s)}};
    copy.save = leap->saves + save;
    copy.began_s = job_segments_begin_s(leap, save);
    copy.stall_s = sum_over(leap, save, true) - sum_over(leap, save - 1, true);
    return copy;
}

struct copy job_segments_copy(const struct leap *leap, unsigned level, uint64_t save)
{
    CHECK(save > 0);
    struct copy copy = copy_of(leap, save);
    CHECK(copy.reached.progress >= leap->now.progress && copy.began_s >= leap->at_s); /* 3 */
    copy.durable_s = copy.began_s + copy.stall_s + leap->segments->plan->levels[level].persist_s;
    return copy;
}
