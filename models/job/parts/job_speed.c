/* job_speed.c - how fast steps go while copies are written.
 *
 * Invariants
 * 1. The speed is in [0, 1] and holds up to a later moment, or for ever.
 * 2. Work is done no sooner than at full speed. */
#include "models/job/parts/job_speed.h"

#include <math.h>

#include "sim/check.h"

/* The level is being written at `t_s`: the lower levels of its save are done. */
static bool is_written(const struct job_copies *copies, unsigned level, double t_s)
{
    const struct shelf *shelf = &copies->shelves[level];
    if (!shelf->is_pending || shelf->pending.durable_s <= t_s)
        return false;
    for (unsigned below = 0; below < level; below++) {
        const struct shelf *other = &copies->shelves[below];
        if (other->is_pending && other->pending.save == shelf->pending.save &&
            other->pending.durable_s > t_s)
            return false;
    }
    return true;
}

/* Speed of steps at `t_s`, and until when it holds. */
static double speed_at(const struct job_copies *copies, double t_s, double *until_s)
{
    double speed = 1.0;
    *until_s = INFINITY;
    for (unsigned level = 0; level < copies->level_count; level++) {
        if (is_written(copies, level, t_s)) {
            speed -= copies->segments->paces[level].loss_ratio;
            *until_s = job_lesser(*until_s, copies->shelves[level].pending.durable_s);
        }
    }
    CHECK(speed <= 1.0 && *until_s > t_s); /* 1 */
    return job_greater(speed, 0.0);
}

double job_speed_slowed_after(const struct job_copies *copies, double from_s, double work_s)
{
    for (;;) {
        double until_s, speed = speed_at(copies, from_s, &until_s);
        if (isinf(until_s))
            return from_s + work_s;
        if (speed > 0.0 && from_s + work_s / speed <= until_s)
            return from_s + work_s / speed;
        work_s -= (until_s - from_s) * speed;
        from_s = until_s;
    }
}

double job_speed_slowed_work_s(const struct job_copies *copies, double from_s, double to_s)
{
    double work_s = 0.0, begin_s = from_s;
    while (from_s < to_s) {
        double until_s, speed = speed_at(copies, from_s, &until_s);
        double end_s = job_lesser(until_s, to_s);
        work_s += (end_s - from_s) * speed;
        from_s = end_s;
    }
    CHECK(work_s <= job_greater(to_s - begin_s, 0.0) * (1.0 + 1e-9)); /* 2 */
    return work_s;
}
