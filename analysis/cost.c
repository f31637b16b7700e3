#include "analysis/cost.h"

#include <math.h>

#include "models/layout.h"
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
}
