/* job_closed_form.c - where the optimal interval has a closed form, and which.
 *
 * tau is the work between two saves, d what a save costs, M the mean time between failures, R the
 * mean restart. Failures at one constant rate, each back to the last save, make the expected time
 * of a segment (docs/models/jobs.md; Daly, Future Generation Computer Systems 22, 2006)
 *     a factor without tau x (e^((tau + d)/M) - 1)   where failures strike saves
 *     d + (M + R)(e^(tau/M) - 1)                     where they strike work alone
 * and the least of it for each second of work lies at (1 - x) e^(x + d/M) = 1, or at
 * e^x (x - 1) + 1 = d/(M + R), of x = tau/M. */
#include <math.h>

#include "models/job/player/job.h"

/* A unit of a law with age that has just been renewed fails within an interval by so much more or
 * less often than one of constant rate: then failures are as good as Poisson. */
static const double RENEWED_MAX = 0.01;

/* A run that is shorter, in intervals, feels how the last of them ends. */
static const double INTERVALS_MIN = 10.0;

void job_storage_paces(const struct checkpoint_plan *plan, double *longest_s, double *each_s)
{
    *longest_s = *each_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *of = &plan->levels[level];
        *longest_s = fmax(*longest_s, of->persist_s);
        *each_s = fmax(*each_s, of->persist_s / (double)of->every);
    }
}

/* What a save costs on average: stalls, and steps that are slowed while it is written. */
static double save_cost_s(const struct checkpoint_plan *plan)
{
    double cost_s = 0.0, written_s = 0.0;
    for (unsigned level = 0; level < plan->level_count; level++) {
        const struct checkpoint_level *of = &plan->levels[level];
        double write_s = fmax(of->persist_s - written_s, 0.0);
        cost_s += (of->stall_s + write_s * (1.0 - 1.0 / of->slowdown_ratio)) / (double)of->every;
        written_s += write_s;
    }
    return cost_s;
}

/* Then every failure costs what it struck of a segment and something that does not depend on the
 * interval, whichever level it comes back from: the optimum is that of one level. */
static bool all_each_time(const struct checkpoint_plan *plan)
{
    for (unsigned level = 0; level < plan->level_count; level++)
        if (plan->levels[level].every > 1)
            return false;
    return true;
}

bool job_may_start_anew(const struct job_spec *spec)
{
    const struct checkpoint_plan *plan = &spec->checkpoint.plan;
    return job_falls_back(spec) || plan->levels[plan->level_count - 1].survival < SURVIVES_DOMAIN;
}

static bool is_lemon(const struct failure_cause *cause)
{
    double share = 0.0, factor = 1.0;
    if (cause->kind->lemons && cause->unit != UNIT_JOB)
        cause->kind->lemons(&cause->options, &share, &factor);
    return share > 0.0 && factor > 1.0;
}

bool job_rate_is_steady(const struct job_spec *spec)
{
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        const struct failure_cause *cause = &spec->causes[i];
        const bool early = cause->early_s > 0.0 && cause->early_factor != 1.0;
        if (early || cause->new_units || cause->kind->replays || is_lemon(cause))
            return false;
    }
    return true;
}

/* Failures that do not know of each other, over an interval: by a law without age, or of so many
 * units that one which was renewed hardly counts (Palm and Khintchine); and no cascades. */
static bool is_poisson(const struct failure_cause *cause, double interval_s)
{
    if (cause->cascade_ratio > 0.0 && cause->domain_nodes > 1)
        return false;
    if (cause->kind->memoryless)
        return true;
    const struct duration life = cause->kind->life(&cause->options, cause->mtbf_s);
    const double fails = 1.0 - duration_survival(&life, interval_s);
    return fabs(fails - interval_s / cause->mtbf_s) <= RENEWED_MAX;
}

/* At one constant rate, each a stop: parts that are slow change what a step takes. */
static bool failures_are_poisson(const struct job_spec *spec, double interval_s)
{
    if (!job_rate_is_steady(spec))
        return false;
    for (uint32_t i = 0; i < spec->cause_count; i++)
        if (spec->causes[i].effect == EFFECT_SLOW || !is_poisson(&spec->causes[i], interval_s))
            return false;
    return true;
}

/* Segments of one kind: all of the job goes back, runs on with all replicas, and saves for the
 * interval alone. */
static bool segments_are_alike(const struct job_spec *spec)
{
    struct recovery_decision spared, short_of_nodes;
    struct job_spec without = *spec;
    without.recovery.spares = 0;
    job_one_failure(spec, &spared);
    job_one_failure(&without, &short_of_nodes);
    return !spared.others_go_on && !short_of_nodes.shrink && spec->maintenance_every_s == 0.0;
}

/* The mean time from a failure to the first step, loading included, weighed by the rates. NAN: it
 * depends on spares and repairs, or on which copy is loaded. */
static double restart_s(const struct job_spec *spec)
{
    const struct recovery_spec *recovery = &spec->recovery;
    struct recovery_decision decision;
    struct job_spec without = *spec;
    without.recovery.spares = 0;
    job_one_failure(&without, &decision);
    double sum_s = recovery->restart.communicators_per_rank_s * (double)spec->ranks, rates = 0.0,
           detect_s = 0.0;
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        const struct failure_cause *cause = &spec->causes[i];
        const double rate = 1.0 / job_cause_mtbf_s(spec, cause);
        if (decision.wait && cause->unit != UNIT_JOB && cause->in_place_ratio < 1.0)
            return NAN;
        rates += rate;
        detect_s += rate * job_found_after_s(spec, cause);
    }
    const struct recovery_situation software = {.replicas_up = spec->replicas,
                                                .replicas = spec->replicas,
                                                .replicas_min = (uint32_t)recovery->replicas_min,
                                                .options = &recovery->options};
    decision = (struct recovery_decision){0};
    recovery->kind->decide(&software, &decision);
    for (unsigned link = LINK_DETECT + 1; link < RESTART_LINK_COUNT; link++)
        sum_s += decision.links[link] ? recovery->restart.links[link].mean_s : 0.0;
    return sum_s + detect_s / rates + spec->checkpoint.plan.levels[0].load_s;
}

/* Failures strike work alone: what is saved beside steps would be struck, and is not in R. */
static bool restarts_are_known(const struct job_spec *spec)
{
    const struct checkpoint_plan *plan = &spec->checkpoint.plan;
    return plan->level_count == 1 && plan->levels[0].persist_s == 0.0 && isfinite(restart_s(spec));
}

/* Many intervals, or less than one: two segments of L/2 lose L^2/4M less than one of L, which is a
 * save's worth from L = sqrt(2) sqrt(2 d M) on. */
static bool suits_the_run(double closed_s, double run_s)
{
    return closed_s * INTERVALS_MIN <= run_s || closed_s >= M_SQRT2 * run_s;
}

double job_closed_form_s(const struct job_spec *spec)
{
    const double cost_s = save_cost_s(&spec->checkpoint.plan), mtbf_s = spec->checkpoint.job_mtbf_s;
    if (spec->strike == STRIKE_WORKING && isfinite(mtbf_s) && restarts_are_known(spec))
        return checkpoint_sheltered_optimum_s(cost_s, mtbf_s, restart_s(spec));
    return checkpoint_optimum_s(cost_s, mtbf_s);
}

bool job_closed_form_holds(const struct job_spec *spec)
{
    const struct checkpoint_spec *checkpoint = &spec->checkpoint;
    double persist_s, each_s;
    if (checkpoint->plan.level_count == 0 || !(checkpoint->job_mtbf_s > 0.0) ||
        isinf(checkpoint->job_mtbf_s))
        return false;
    const double closed_s = job_closed_form_s(spec);
    job_storage_paces(&checkpoint->plan, &persist_s, &each_s);
    return checkpoint->kind->closed_optimum && all_each_time(&checkpoint->plan) &&
           closed_s >= each_s && !job_may_start_anew(spec) && segments_are_alike(spec) &&
           failures_are_poisson(spec, closed_s) && suits_the_run(closed_s, checkpoint->run_s) &&
           (spec->strike != STRIKE_WORKING || restarts_are_known(spec));
}

double job_exact_interval_s(const struct job_spec *spec, double stall_s)
{
    const double mtbf_s = spec->checkpoint.job_mtbf_s;
    if (!job_closed_form_holds(spec))
        return NAN;
    return spec->strike == STRIKE_WORKING
               ? checkpoint_sheltered_optimum_s(stall_s, mtbf_s, restart_s(spec))
               : checkpoint_optimum_s(stall_s, mtbf_s);
}
