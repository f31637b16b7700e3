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

static const struct duration *found_after(const struct job_spec *spec,
                                          const struct failure_cause *cause)
{
    return cause->detect.mean_s >= 0.0 ? &cause->detect
                                       : &spec->recovery.restart.links[LINK_DETECT];
}

double job_found_after_s(const struct job_spec *spec, const struct failure_cause *cause)
{
    return found_after(spec, cause)->mean_s;
}

/* The seldom levels reach furthest back. */
static double seldom(const struct checkpoint_plan *plan)
{
    uint64_t every = 1;
    for (unsigned i = 0; i < plan->level_count; i++)
        every = plan->levels[i].every > every ? plan->levels[i].every : every;
    return (double)every;
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

/* P(all kept copies are tainted when it is found): `keep` were begun since. The last one before it
 * began was so by any part of what lies between two: a mean over that. */
static double tainted_ratio(const struct duration *found, double keep, double apart_s)
{
    enum {
        PARTS = 64
    };
    double sum = 0.0;
    for (unsigned i = 0; i < PARTS; i++)
        sum += duration_survival(found, (keep - (i + 0.5) / PARTS) * apart_s);
    return sum / PARTS;
}

/* How often the causes of silent corruption take the job back to its start: one that is found later
 * than `keep` copies reach back has begun as long before the end of the run. */
static double taint(const struct job_spec *spec, double keep, double apart_s, double run_s,
                    struct job_anew *out)
{
    double worst = 0.0;
    *out = (struct job_anew){0};
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        const struct failure_cause *cause = &spec->causes[i];
        if (cause->effect != EFFECT_CORRUPT)
            continue;
        const double ratio = tainted_ratio(found_after(spec, cause), keep, apart_s);
        const double begun_s = fmax(run_s - (keep - 1.0) * apart_s, 0.0);
        const double times = ratio * begun_s / job_cause_mtbf_s(spec, cause);
        out->times += times;
        if (times <= worst)
            continue;
        worst = times;
        out->cause = cause;
        out->ratio = ratio;
    }
    return out->times;
}

bool job_tainted(const struct job_spec *spec, double each_s, double run_s, struct job_anew *out)
{
    const double apart_s = each_s * seldom(&spec->checkpoint.plan);
    struct job_anew with;
    double few = (double)spec->checkpoint.keep, enough = few;
    if (taint(spec, few, apart_s, run_s, out) <= JOB_ANEW_TIMES)
        return false;
    while (taint(spec, enough, apart_s, run_s, &with) > JOB_ANEW_TIMES)
        enough *= 2.0;
    while (enough - few > 1.0) {
        const double middle = floor((few + enough) / 2.0);
        *(taint(spec, middle, apart_s, run_s, &with) > JOB_ANEW_TIMES ? &few : &enough) = middle;
    }
    out->keep = enough;
    return true;
}

/* Failures that take the whole job back to a copy, a second. */
static double rollbacks_per_s(const struct job_spec *spec)
{
    struct recovery_decision decision;
    double rate = 0.0;
    job_one_failure(spec, &decision);
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        const struct failure_cause *cause = &spec->causes[i];
        if (!decision.others_go_on || cause->unit == UNIT_JOB || cause->effect == EFFECT_CORRUPT)
            rate += 1.0 / job_cause_mtbf_s(spec, cause);
    }
    return rate;
}

bool job_unreadable(const struct job_spec *spec, double each_s, double run_s, struct job_anew *out)
{
    const struct checkpoint_spec *c = &spec->checkpoint;
    const double bad = c->corrupt_ratio, copies = (double)c->plan.level_count;
    if (bad <= 0.0 || copies <= 0.0)
        return false;
    const double recoveries = run_s * rollbacks_per_s(spec);
    const double none = pow(bad, copies * (double)c->keep);
    const double lost_s = (0.5 + bad / (1.0 - bad)) * each_s; /* with all copies kept */
    *out = (struct job_anew){.ratio = none, .times = recoveries * none};
    if (out->times <= JOB_ANEW_TIMES || lost_s * recoveries >= run_s)
        return false;
    out->keep = ceil(log(JOB_ANEW_TIMES / recoveries) / (copies * log(bad)));
    return true;
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
