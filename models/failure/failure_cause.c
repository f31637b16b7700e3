/* failure_cause.c - how scenarios spell what fails, and what that does. */
#include "models/failure/failure_cause.h"

#include <stddef.h>

#include "sim/check.h"

const char *const failure_unit_names[] = {"gpu", "nic", "node", "domain", "job", NULL};
const char *const failure_effect_names[] = {"stop", "slow", "corrupt", NULL};

double failure_cause_rate(const struct failure_cause *cause, double units)
{
    CHECK(cause->mtbf_s > 0.0);
    return units / cause->mtbf_s;
}
