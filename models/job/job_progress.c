/* job_progress.c - steps and saves between two events of the outside.
 *
 * Invariants
 * 1. Steps since the origin end at after_work(origin, i * step): a boundary does not depend on how
 *    many were taken at a time, which is why leaping equals playing step by step.
 * 2. The origin is set anew where the course of steps changes: a save, another condition, a start.
 * 3. A boundary at the very instant of a limit is passed: steps end and copies commit before a
 *    failure of the same instant.
 *
 * While a save is written in the background, steps run at the speed 1 - loss of the level that is
 * being written; of two saves at a time the losses add up, being shares of the same bandwidth. */
#include <math.h>

#include "models/job/job_state.h"
#include "sim/check.h"
#include "sim/random.h"

/* The level is being written at `t_s`: the lower levels of its save are done. */
static bool is_written(const struct job *job, unsigned level, double t_s)
{
    const struct shelf *shelf = &job->shelves[level];
    if (!shelf->is_pending || shelf->pending.durable_s <= t_s) {
        return false;
    }
    for (unsigned below = 0; below < level; below++) {
        const struct shelf *other = &job->shelves[below];
        if (other->is_pending && other->pending.save == shelf->pending.save &&
            other->pending.durable_s > t_s) {
            return false;
        }
    }
    return true;
}

/* Speed of steps at `t_s`, and until when it holds. */
static double speed_at(const struct job *job, double t_s, double *until_s)
{
    double speed = 1.0;
    *until_s = INFINITY;
    for (unsigned level = 0; job->slows && level < job->spec->checkpoint.plan.level_count;
         level++) {
        if (is_written(job, level, t_s)) {
            speed -= job->shelves[level].loss_ratio;
            *until_s = lesser(*until_s, job->shelves[level].pending.durable_s);
        }
    }
    return greater(speed, 0.0);
}

/* When `work_s` of work at full speed, begun at `from_s`, is done. */
double job_after_work(const struct job *job, double from_s, double work_s)
{
    while (job->slows) {
        double until_s, speed = speed_at(job, from_s, &until_s);
        if (isinf(until_s)) {
            return from_s + work_s;
        }
        if (speed > 0.0 && from_s + work_s / speed <= until_s) {
            return from_s + work_s / speed;
        }
        work_s -= (until_s - from_s) * speed;
        from_s = until_s;
    }
    return from_s + work_s;
}

/* Work at full speed that is done from `from_s` to `to_s`. */
static double work_until(const struct job *job, double from_s, double to_s)
{
    double work_s = 0.0;
    while (from_s < to_s) {
        double until_s, speed = speed_at(job, from_s, &until_s);
        double end_s = lesser(until_s, to_s);
        work_s += (end_s - from_s) * speed;
        from_s = end_s;
    }
    return work_s;
}

double job_share(const struct job *job)
{
    return (double)job->replicas_up / (double)job->spec->replicas;
}

static void draw_noise(struct job *job)
{
    job->noisy_step_s = job->step_s;
    if (job->noise != NULL) {
        job->noisy_step_s *= random_lognormal_mean1(job->noise, job->spec->step_noise_sigma);
    }
}

void job_new_origin(struct job *job)
{
    job->origin_s = job->clock.at_s;
    job->origin_steps = 0;
    draw_noise(job);
}

/* With noise the origin follows the steps, and origin_steps stays 0. */
static double step_end_s(const struct job *job, uint64_t steps)
{
    double work_s = (double)(job->origin_steps + steps) * job->noisy_step_s;
    return job_after_work(job, job->origin_s, work_s);
}

/* With noise a step may be shorter than what it is worth: then all of it is useful. */
void job_spend_steps(struct job *job, double begin_s, double end_s, double steps)
{
    double whole = end_s - begin_s, noise = job->noisy_step_s / job->step_s;
    double useful = lesser(steps * job->ideal_step_s * noise * job_share(job), whole);
    job->now.useful_s += useful;
    job->now.degraded_s += whole - useful;
}

/* How many whole steps, at most `most`, have ended by `stop_s`. */
static uint64_t steps_by(const struct job *job, uint64_t most, double stop_s)
{
    if (step_end_s(job, most) <= stop_s) {
        return most;
    }
    uint64_t all = (uint64_t)(work_until(job, job->origin_s, stop_s) / job->noisy_step_s);
    uint64_t done = all > job->origin_steps ? all - job->origin_steps : 0; /* but for rounding */
    while (done > 0 && step_end_s(job, done) > stop_s) {
        done--;
    }
    while (step_end_s(job, done + 1) <= stop_s) {
        done++;
    }
    return done;
}

static void take_steps(struct job *job, uint64_t steps)
{
    double end_s = step_end_s(job, steps);
    job_spend_steps(job, job->clock.at_s, end_s, (double)steps);
    job_clock_spend(&job->clock, end_s);
    job->origin_steps += steps;
    job->since += steps;
    job->now.steps += steps;
    job->now.progress += steps * job->replicas_up;
    if (job->noise != NULL) {
        job_new_origin(job);
    }
}

static uint64_t steps_to_finish(const struct job *job)
{
    if (job->target == STEPS_NEVER) {
        return STEPS_NEVER;
    }
    uint64_t left = job->target > job->now.progress ? job->target - job->now.progress : 0;
    return (left + job->replicas_up - 1) / job->replicas_up;
}

static uint64_t steps_to_save(const struct job *job)
{
    return job->since < job->interval ? job->interval - job->since : 0;
}

/* When the levels of the next save will be free; -INFINITY: they are. */
static double levels_free_s(const struct job *job, bool all_levels)
{
    double free_s = -INFINITY;
    for (unsigned level = 0; level < job->spec->checkpoint.plan.level_count; level++) {
        if (job->shelves[level].is_pending &&
            (all_levels || job_saves_level(job, level, job->saves + 1))) {
            free_s = greater(free_s, job->shelves[level].pending.durable_s);
        }
    }
    return free_s;
}

static bool saves_level(const struct job *job, unsigned level, bool all_levels)
{
    return all_levels || job_saves_level(job, level, job->saves);
}

/* Training stands still for the sum of the stalls; what goes on in the background begins then. */
static void begin_copies(struct job *job, bool all_levels)
{
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    double stall_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        stall_s += saves_level(job, level, all_levels) ? plan->levels[level].stall_s : 0.0;
    }
    for (unsigned level = 0; level < plan->level_count; level++) {
        if (saves_level(job, level, all_levels)) {
            double durable_s = job->clock.at_s + stall_s + plan->levels[level].persist_s;
            struct copy copy = {job->now, job->saves, job->clock.at_s, durable_s, stall_s};
            job_shelf_write(job, level, &copy);
        }
    }
    job->stall_s = stall_s;
}

/* Phase SAVE, or DURABLE first where a copy on the same level is still being written. */
void job_begin_save(struct job *job, bool all_levels)
{
    job_settle(job, job->clock.at_s);
    double free_s = levels_free_s(job, all_levels);
    if (free_s > job->clock.at_s) {
        job->durable_for = all_levels ? FOR_LAST_SAVE : FOR_NEXT_SAVE;
        job_enter(job, PHASE_DURABLE, free_s);
        return;
    }
    job->saves++;
    begin_copies(job, all_levels);
    job->since = 0;
    job_enter(job, PHASE_SAVE, job->clock.at_s + job->stall_s);
}

/* A planned stop that is due at the boundary saves all levels, so the save that is due there too is
 * left to it. */
enum boundary job_run_on(struct job *job, double wall_stop_s)
{
    uint64_t finish = steps_to_finish(job), save = steps_to_save(job);
    uint64_t most = finish < save ? finish : save;
    if (job->step_by_step || job->noise != NULL || job->plans.turn_s < INFINITY) {
        most = most < 1 ? most : 1;
    }
    double stop_s = lesser(wall_stop_s, job_clock_steps_failure_s(&job->clock));
    uint64_t steps = most == 0 ? 0 : steps_by(job, most, stop_s);
    if (steps > 0) {
        take_steps(job, steps);
    }
    if (steps < most) {
        return BOUNDARY_AHEAD;
    }
    if (steps == finish) {
        return BOUNDARY_END_OF_WORK;
    }
    if (steps == save && job->clock.at_s >= job_plans_maintenance_s(&job->plans)) {
        return BOUNDARY_AHEAD;
    }
    return steps == save && job->clock.at_s < job->plans.turn_s ? BOUNDARY_SAVE : BOUNDARY_PASSED;
}

/* Share of the step under way that is done at `at_s`. */
double job_part_of_step(const struct job *job, double at_s)
{
    double done_s = work_until(job, job->origin_s, at_s);
    return lesser(greater(done_s / job->noisy_step_s - (double)job->origin_steps, 0.0), 1.0);
}
