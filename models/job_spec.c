/* job_spec.c - how scenarios spell the choices of a job. */
#include "models/job_spec.h"

#include <stddef.h>

const char *const failure_unit_names[] = {"gpu", "nic", "node", "domain", "job", NULL};
const char *const failure_effect_names[] = {"stop", "slow", "corrupt", NULL};
const char *const strike_names[] = {"always", "running", "working", NULL};
