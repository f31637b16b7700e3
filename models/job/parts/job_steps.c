/* job_steps.c - the progress of steps.
 *
 * Invariants
 * 1. Steps since the origin end at after(origin, i * step): a boundary does not depend on how many
 *    were taken at a time, which is why leaping equals playing step by step.
 * 2. The origin is set anew where the course of steps changes: a save, another condition, a start.
 * 3. A boundary at the very instant of a limit is passed: steps end and copies commit before a
 *    failure of the same instant.
 * 4. No more steps than an interval are made without a save, and none once the work is done: the
 *    last one may end beyond it, by less than all replicas.
 * 5. A rollback never gains anything, but for rounding. */
#include "models/job/parts/job_steps.h"

#include <math.h>

#include "models/job/parts/job_speed.h"
#include "sim/check.h"
#include "sim/random.h"

void job_steps_create(struct job_steps *steps, const struct job_spec *spec, double ideal_step_s,
                      uint64_t interval, struct random_stream *noise)
{
    *steps =
        (struct job_steps){.ideal_step_s = ideal_step_s,
                           .step_s = ideal_step_s,
                           .noisy_step_s = ideal_step_s,
                           .noise = noise,
                           .noise_sigma = spec->step_noise_sigma,
                           .interval = interval,
                           .target = spec->steps > 0 ? spec->steps * spec->replicas : STEPS_NEVER,
                           .replicas = spec->replicas};
}

void job_steps_origin(struct job_steps *steps, double at_s)
{
    steps->origin_s = at_s;
    steps->origin_steps = 0;
    steps->noisy_step_s = steps->step_s;
    if (steps->noise != NULL)
        steps->noisy_step_s *= random_lognormal_mean1(steps->noise, steps->noise_sigma);
}

void job_steps_condition(struct job_steps *steps, double step_s, double at_s)
{
    CHECK(step_s > 0.0 && step_s < INFINITY);
    steps->step_s = step_s;
    job_steps_origin(steps, at_s);
}

void job_steps_saved(struct job_steps *steps)
{
    steps->since = 0;
}

uint64_t job_steps_to_finish(const struct job_steps *steps, uint32_t replicas_up)
{
    if (steps->target == STEPS_NEVER)
        return STEPS_NEVER;
    CHECK(replicas_up > 0);
    uint64_t left = job_steps_done(steps) ? 0 : steps->target - steps->now.progress;
    return (left + replicas_up - 1) / replicas_up;
}

uint64_t job_steps_saves_to_finish(const struct job_steps *steps, uint32_t replicas_up)
{
    if (steps->target == STEPS_NEVER)
        return STEPS_NEVER;
    uint64_t left = job_steps_to_finish(steps, replicas_up), first = job_steps_to_save(steps);
    return left <= first ? 0 : (left - first - 1) / steps->interval + 1;
}

static double step_end_s(const struct job_steps *steps, const struct job_copies *copies,
                         uint64_t count)
{
    double work_s = (double)(steps->origin_steps + count) * steps->noisy_step_s;
    return job_speed_after(copies, steps->origin_s, work_s);
}

double job_steps_segment_end_s(const struct job_steps *steps, const struct job_copies *copies)
{
    uint64_t count = steps->origin_steps + job_steps_to_save(steps);
    return job_speed_after(copies, steps->origin_s, (double)count * steps->step_s);
}

uint64_t job_steps_by(const struct job_steps *steps, const struct job_copies *copies, uint64_t most,
                      double stop_s)
{
    if (step_end_s(steps, copies, most) <= stop_s)
        return most;
    double work_s = job_speed_work_s(copies, steps->origin_s, stop_s);
    uint64_t all = (uint64_t)(work_s / steps->noisy_step_s);
    uint64_t done =
        all > steps->origin_steps ? all - steps->origin_steps : 0; /* but for rounding */
    while (done > 0 && step_end_s(steps, copies, done) > stop_s)
        done--;
    while (step_end_s(steps, copies, done + 1) <= stop_s)
        done++;
    CHECK(done < most); /* 3 */
    return done;
}

/* With noise a step may be shorter than what it is worth: then all of it is useful. */
static void spend(struct job_steps *steps, double whole_s, double count, uint32_t replicas_up)
{
    double noise = steps->noisy_step_s / steps->step_s;
    double share = (double)replicas_up / (double)steps->replicas;
    double useful_s = job_lesser(count * steps->ideal_step_s * noise * share, whole_s);
    steps->now.useful_s += useful_s;
    steps->now.degraded_s += whole_s - useful_s;
}

double job_steps_take(struct job_steps *steps, const struct job_copies *copies, uint64_t count,
                      double at_s, uint32_t replicas_up)
{
    CHECK(count <= job_steps_to_save(steps) && !job_steps_done(steps)); /* 4 */
    double end_s = step_end_s(steps, copies, count);
    spend(steps, end_s - at_s, (double)count, replicas_up);
    steps->origin_steps += count;
    steps->since += count;
    steps->now.steps += count;
    steps->now.progress += count * replicas_up;
    CHECK(steps->target == STEPS_NEVER ||
          steps->now.progress < steps->target + replicas_up); /* 4 */
    if (steps->noise != NULL)
        job_steps_origin(steps, end_s);
    return end_s;
}

double job_steps_take_part(struct job_steps *steps, const struct job_copies *copies, double at_s,
                           double end_s, uint32_t replicas_up)
{
    double done_s = job_speed_work_s(copies, steps->origin_s, end_s);
    double part = done_s / steps->noisy_step_s - (double)steps->origin_steps;
    part = job_lesser(job_greater(part, 0.0), 1.0);
    spend(steps, end_s - at_s, part, replicas_up);
    return part;
}

void job_steps_leap(struct job_steps *steps, const struct ledger_mark *reached, double at_s)
{
    CHECK(reached->progress > steps->now.progress && at_s > steps->origin_s);
    CHECK(reached->progress < steps->target || steps->target == STEPS_NEVER); /* 4 */
    steps->now = *reached;
    steps->since = 0;
    job_steps_origin(steps, at_s);
}

struct steps_lost job_steps_go_back(struct job_steps *steps, const struct ledger_mark *to)
{
    struct ledger_mark *now = &steps->now;
    CHECK(to->progress <= now->progress && to->steps <= now->steps); /* 5 */
    struct steps_lost lost = {
        .lost_s = (now->useful_s - to->useful_s) + (now->degraded_s - to->degraded_s),
        .lost_steps = (double)(now->progress - to->progress) / (double)steps->replicas};
    *now = *to;
    return lost;
}
