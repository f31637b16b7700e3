#include "analysis/record/numbers/cost.h"

#include <math.h>

#include "models/layout/rental.h"
#include "sim/units.h"

void cost_of_step(const struct configuration *c, double step_s, struct cost *out)
{
    struct rental rental;
    rental_of(c, &rental);
    double tokens = configuration_tokens(c);
    out->gpu_hour_usd = rental.gpu_hour_usd;
    out->gpus = (double)rental.paid_gpus;
    out->step_usd = rental.job_hour_usd * step_s / HOUR;
    out->usd_per_1e9_tokens = out->step_usd / tokens * GIGA;
    out->budget_usd = out->step_usd / tokens * configuration_trained_tokens(c);
    out->storage_usd = NAN;
}

void cost_of_weeks(const struct job_spec *job, const struct job_result *weeks, struct cost *inout)
{
    inout->usd_per_1e9_tokens = weeks->cost_usd / weeks->tokens_completed * GIGA;
    if (isfinite(weeks->cost_usd))
        inout->storage_usd = job_storage_usd(job, weeks);
}
