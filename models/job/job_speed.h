/* job_speed.h - a part of the player `job`: how fast steps go while copies are written.
 *
 * While a save is written in the background, steps run at the speed 1 - loss of the level that is
 * being written; of two saves at a time the losses add up, being shares of the same bandwidth. Pure
 * functions of the copies that are being written. */
#ifndef ORRERY_MODELS_JOB_JOB_SPEED_H
#define ORRERY_MODELS_JOB_JOB_SPEED_H

#include "models/job/job_copies.h"

/* When `work_s` of work at full speed, begun at `from_s`, is done. */
double job_speed_after(const struct job_copies *copies, double from_s, double work_s);
/* Work at full speed that is done from one moment to the other. */
double job_speed_work_s(const struct job_copies *copies, double from_s, double to_s);

#endif
