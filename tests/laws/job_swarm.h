/* job_swarm.h - random jobs of weeks by seed: every policy, law, effect and awkward length. */
#ifndef ORRERY_TESTS_JOB_SWARM_H
#define ORRERY_TESTS_JOB_SWARM_H

#include "tests/models/job/job_case.h"

/* Given back by job_case_free. */
void job_swarm_make(struct job_case *job, uint64_t seed);

#endif
