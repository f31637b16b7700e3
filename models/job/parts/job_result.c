/* job_result.c - the names of the classes of time, and of the ends of a run; what follows from it.
 */
#include "models/job/parts/job_result.h"

#include "models/job/parts/job_spec.h"
#include "sim/units.h"

#define X(name, doc) [BADPUT_##name] = #name,
const char *const badput_names[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
#define X(name, doc) [BADPUT_##name] = doc,
const char *const badput_docs[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
#define X(name, doc) [JOB_END_##name] = #name,
const char *const job_end_names[JOB_END_COUNT] = {JOB_ENDS(X)};
#undef X
#define X(name, doc) [JOB_END_##name] = doc,
const char *const job_end_docs[JOB_END_COUNT] = {JOB_ENDS(X)};
#undef X

/* The i-th of n comes at (i - 1/2)/n of the run and goes with the (i + keep)-th, or stays: the mean
 * is the sum of min(keep, n - i + 1/2)/n over all i. */
double job_copies_held(uint64_t copies, uint64_t keep)
{
    const double n = (double)copies, most = (double)keep;
    return n <= most ? n / 2.0 : most * (1.0 - most / (2.0 * n));
}

double job_storage_usd(const struct job_spec *spec, const struct job_result *result)
{
    double hour_usd = 0.0;
    for (unsigned level = 0; level < CHECKPOINT_LEVEL_MAX; level++)
        if (spec->cost.copy_hour_usd[level] > 0.0)
            hour_usd += spec->cost.copy_hour_usd[level] *
                        job_copies_held(result->copies[level], spec->checkpoint.keep);
    return hour_usd * result->wall_s / HOUR;
}
