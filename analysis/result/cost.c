#include "analysis/result/cost.h"

#include <math.h>

#include "analysis/result/job_record.h"
#include "models/layout/layout.h"
#include "sim/units.h"

void cost_of_step(const struct configuration *c, double step_s, struct cost *out)
{
    double price = c->gpu.price_per_hour_usd > 0.0 ? c->gpu.price_per_hour_usd : NAN;
    double tokens = configuration_tokens(c), budget = c->training.tokens;
    out->gpu_hour_usd = price;
    out->gpus = (double)layout_nodes(c) * (double)c->cluster.node.gpus;
    out->step_usd = price * out->gpus * step_s / HOUR;
    out->usd_per_1e9_tokens = out->step_usd / tokens * GIGA;
    out->budget_usd = budget > 0.0 ? out->step_usd / tokens * budget : NAN;
    out->storage_usd = NAN;
}

void cost_of_run(const struct result *result, struct cost *out)
{
    const struct configuration *c = &result->scenario->configuration;
    cost_of_step(c, result->timed ? result->step->step_s : NAN, out);
    if (result->job == NULL)
        return;
    const struct job_result *weeks = &result->job->result;
    out->usd_per_1e9_tokens = weeks->cost_usd / weeks->tokens_completed * GIGA;
    if (isfinite(weeks->cost_usd))
        out->storage_usd = result->job->spec.storage_hour_usd * weeks->wall_s / HOUR;
}
