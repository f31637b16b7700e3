/* job_spec.c - how scenarios spell the choices of a job. */
#include "models/job/parts/job_spec.h"

#include <math.h>
#include <stddef.h>

#include "models/job/parts/job_ledger.h"
#include "sim/check.h"

const char *const strike_names[] = {"always", "running", "working", NULL};
const char *const save_rule_names[] = {
#define X(name, doc) #name,
    SAVE_RULES(X)
#undef X
};

enum save_rule job_save_rule(const struct checkpoint_spec *spec)
{
    if (spec->plan.level_count == 0)
        return SAVE_nothing;
    if (spec->plan.every_step)
        return SAVE_every_step;
    if (spec->interval_steps > 0)
        return SAVE_steps;
    if (spec->interval_s == 0.0)
        return SAVE_open;
    if (spec->found == INTERVAL_GIVEN)
        return SAVE_time;
    if (spec->interval_s <= spec->floor_s)
        return SAVE_floor;
    return spec->found == INTERVAL_BY_FORMULA ? SAVE_optimum : SAVE_played;
}

uint64_t job_between_saves(const struct checkpoint_spec *spec, double step_s)
{
    const double rounding = 1e-12;
    double steps;
    switch (job_save_rule(spec)) {
    case SAVE_nothing:
    case SAVE_open:
        return STEPS_NEVER;
    case SAVE_every_step:
        return 1;
    case SAVE_steps:
        return spec->interval_steps;
    case SAVE_time:
    case SAVE_floor:
    case SAVE_optimum:
    case SAVE_played:
        steps = ceil(spec->interval_s / step_s * (1.0 - rounding));
        return steps < (double)STEPS_NEVER ? (uint64_t)fmax(steps, 1.0) : STEPS_NEVER;
    }
    CHECK(false);
}

double job_between_saves_s(const struct checkpoint_spec *spec, double step_s)
{
    const uint64_t steps = job_between_saves(spec, step_s);
    return steps < STEPS_NEVER ? (double)steps * step_s : 0.0;
}

bool job_falls_back(const struct job_spec *spec)
{
    bool corrupts = spec->checkpoint.corrupt_ratio > 0.0;
    for (uint32_t i = 0; i < spec->cause_count; i++)
        corrupts |= spec->causes[i].effect == EFFECT_CORRUPT;
    return corrupts;
}

const struct duration *job_found_after(const struct job_spec *spec,
                                       const struct failure_cause *cause)
{
    return cause->detect.mean_s >= 0.0 ? &cause->detect
                                       : &spec->recovery.restart.links[LINK_DETECT];
}

double job_found_after_s(const struct job_spec *spec, const struct failure_cause *cause)
{
    return job_found_after(spec, cause)->mean_s;
}

double job_wall_limit_s(const struct job_spec *spec)
{
    return spec->duration_s > 0.0 ? spec->duration_s : JOB_WALL_MAX_S;
}

double job_work_s(const struct job_spec *spec, double step_s)
{
    return spec->steps > 0 ? (double)spec->steps * step_s : spec->duration_s;
}

double job_cause_mtbf_s(const struct job_spec *spec, const struct failure_cause *cause)
{
    struct fleet_spec alone = job_fleet(spec);
    alone.causes = cause;
    alone.cause_count = 1;
    return fleet_job_mtbf_s(alone);
}

struct fleet_spec job_fleet(const struct job_spec *spec)
{
    return (struct fleet_spec){
        .causes = spec->causes,
        .cause_count = spec->cause_count,
        .nodes = spec->nodes,
        .spares = (uint32_t)spec->recovery.spares,
        .gpus_per_node = spec->gpus_per_node,
        .nics_per_node = spec->nics_per_node,
        .duration_s = spec->duration_s,
    };
}

void job_one_failure(const struct job_spec *spec, struct recovery_decision *out)
{
    const struct recovery_spec *recovery = &spec->recovery;
    const uint32_t others = spec->replicas > 0 ? spec->replicas - 1 : 0;
    const struct recovery_situation one = {.hardware = true,
                                           .nodes_short = 1,
                                           .spares_free = (uint32_t)recovery->spares,
                                           .replicas_up = others,
                                           .replicas_untouched = others,
                                           .replicas = spec->replicas,
                                           .replicas_min = (uint32_t)recovery->replicas_min,
                                           .options = &recovery->options};
    *out = (struct recovery_decision){0};
    recovery->kind->decide(&one, out);
}
