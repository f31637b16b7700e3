/* job_speed.h - a part of the player `job`: how fast steps go while copies are written.
 *
 * While a save is written in the background, steps run at the speed 1 - loss of the level that is
 * being written; of two saves at a time the losses add up, being shares of the same bandwidth. Pure
 * functions of the copies that are being written. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_SPEED_H
#define ORRERY_MODELS_JOB_PARTS_JOB_SPEED_H

#include "models/job/parts/job_copies.h"

/* The two below where some level slows steps. */
double job_speed_slowed_after(const struct job_copies *copies, double from_s, double work_s);
double job_speed_slowed_work_s(const struct job_copies *copies, double from_s, double to_s);

/* When `work_s` of work at full speed, begun at `from_s`, is done. */
static inline double job_speed_after(const struct job_copies *copies, double from_s, double work_s)
{
    return copies->segments->slows ? job_speed_slowed_after(copies, from_s, work_s)
                                   : from_s + work_s;
}

/* Work at full speed that is done from one moment to the other. */
static inline double job_speed_work_s(const struct job_copies *copies, double from_s, double to_s)
{
    return copies->segments->slows ? job_speed_slowed_work_s(copies, from_s, to_s)
                                   : job_greater(to_s - from_s, 0.0);
}

#endif
