#include <math.h>

#include "models/fleet/fleet.h"
#include "models/fleet/fleet_stream.h"

/* Blows to domains that strike at least one node, a second. The last domain may be smaller. */
static double domains_rate(const struct fleet_spec *spec, const struct failure_cause *cause)
{
    double hit = cause->kind->hit_ratio ? cause->kind->hit_ratio(&cause->options) : 1.0;
    double whole = (double)(spec->nodes / cause->domain_nodes);
    double rest = (double)(spec->nodes % cause->domain_nodes);
    double missed_whole = pow(1.0 - hit, (double)cause->domain_nodes);
    return failure_cause_rate(cause, whole * (1.0 - missed_whole) + (1.0 - pow(1.0 - hit, rest)));
}

static double trace_rate(const struct fleet_spec *spec, const struct failure_cause *cause)
{
    double span_s = spec->duration_s;
    uint32_t count = 0;
    if (span_s == 0.0 && cause->trace_count > 0)
        span_s = cause->trace[cause->trace_count - 1].at_s;
    while (count < cause->trace_count && cause->trace[count].at_s <= span_s)
        count++;
    return count > 0 ? (double)count / span_s : 0.0;
}

static double units_rate(const struct fleet_spec *spec, const struct failure_cause *cause)
{
    double share = 0.0, factor = 1.0;
    if (cause->kind->lemons)
        cause->kind->lemons(&cause->options, &share, &factor);
    double units = (double)spec->nodes * (double)fleet_units_each(spec, cause->unit);
    double followed = cause->domain_nodes > 1 ? 1.0 / (1.0 - cause->cascade_ratio) : 1.0;
    return failure_cause_rate(cause, units * (1.0 + share * (factor - 1.0)) * followed);
}

static double cause_rate(const struct fleet_spec *spec, const struct failure_cause *cause)
{
    if (cause->kind->replays)
        return trace_rate(spec, cause);
    if (cause->unit == UNIT_DOMAIN)
        return domains_rate(spec, cause);
    return cause->unit == UNIT_JOB ? failure_cause_rate(cause, 1.0) : units_rate(spec, cause);
}

double fleet_job_mtbf_s(struct fleet_spec spec)
{
    double rate = 0.0;
    for (uint32_t i = 0; i < spec.cause_count; i++)
        if (spec.causes[i].effect != EFFECT_SLOW)
            rate += cause_rate(&spec, &spec.causes[i]);
    return rate > 0.0 ? 1.0 / rate : INFINITY;
}
