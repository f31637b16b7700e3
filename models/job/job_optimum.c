/* job_optimum.c - the interval between saves that makes the most of the time. */
#include <math.h>

#include "models/job/job.h"

enum {
    REPLICATIONS = 64, /* of each interval, with the same failures */
    ROUNDS = 24        /* of the golden section */
};
/* How far around the closed form for the mean save is searched. Far down: where only the seldom
 * level survives what fails, each of the others is a part of its interval. Not far up: the expected
 * time grows with the exponential of the interval. */
static const double REACH_DOWN = 64.0, REACH_UP = 4.0;

/* Failures, and saves that are played one by one, that all of the search may meet. */
static const double EVENTS_BUDGET = 2e6;

/* How each interval is tried, and who watches. */
struct trial {
    struct job_spec spec;
    uint64_t replications, seed;
    struct condition_table *conditions;
    struct arena *arena;
    const struct job_watch *watch;
    unsigned tried;
    bool stopped;
};

/* The share of the job that is played, and how often. */
static void stay_within_budget(struct trial *trial, double all_s, double low_s, double persist_s)
{
    const double most = EVENTS_BUDGET / (ROUNDS + 2);
    struct job_spec *spec = &trial->spec;
    double events = all_s / spec->checkpoint.job_mtbf_s;
    events += low_s < persist_s ? all_s / low_s : 0.0;
    trial->replications = (uint64_t)fmin(REPLICATIONS, fmax(most / events, 1.0));
    if (events > most) {
        double part = most / events;
        spec->duration_s *= part;
        spec->steps = spec->steps > 0 ? (uint64_t)fmax((double)spec->steps * part, 1.0) : 0;
    }
}

/* Wall time that a unit of kept work takes, over all replications; INFINITY: the job is hopeless.
 */
static double cost_of(struct trial *trial, double log_interval)
{
    struct job_spec *spec = &trial->spec;
    double wall_s = 0.0, steps = 0.0;
    spec->checkpoint.interval_s = exp(log_interval);
    for (uint64_t i = 0; i < trial->replications; i++) {
        struct job_result result;
        job_run_in(trial->arena, spec, trial->conditions, trial->seed + i, NULL, &result);
        if (spec->duration_s == 0.0 && !result.finished)
            return INFINITY;
        wall_s += result.wall_s;
        steps += result.steps_completed;
    }
    trial->tried++;
    trial->stopped =
        trial->watch != NULL &&
        !trial->watch->goes_on(trial->watch->context, (double)trial->tried / (double)(ROUNDS + 2));
    return steps > 0.0 ? wall_s / steps : INFINITY;
}

/* Golden section over the logarithm of the interval: the cost has one valley in it. */
static double search(struct trial *trial, double low_s, double high_s)
{
    const double golden = 0.6180339887498949;
    double low = log(low_s), high = log(high_s);
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = cost_of(trial, left), at_right = cost_of(trial, right);
    for (unsigned i = 0; i < ROUNDS && isfinite(fmin(at_left, at_right)) && !trial->stopped; i++) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - golden * (high - low);
            at_left = cost_of(trial, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + golden * (high - low);
            at_right = cost_of(trial, right);
        }
    }
    return exp(0.5 * (low + high));
}

/* The longest time until a copy is durable, and the shortest interval in which none waits for the
 * one before: a shorter one stands still for the storage and saves no more often. */
static void storage_paces(const struct checkpoint_plan *plan, double *longest_s, double *each_s)
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

/* What costs least, by trying; `middle_s` is the closed form for the mean save. */
static double searched_s(const struct job_spec *spec, double middle_s, double all_s, double step_s,
                         struct trial *trial)
{
    double persist_s, each_s;
    storage_paces(&spec->checkpoint.plan, &persist_s, &each_s);
    double high_s = fmin(middle_s * REACH_UP, all_s);
    double low_s = fmin(fmax(fmax(middle_s / REACH_DOWN, step_s), each_s), 0.5 * high_s);
    trial->spec = *spec;
    trial->arena = arena_create();
    stay_within_budget(trial, all_s, low_s, persist_s);
    double found_s = search(trial, low_s, high_s);
    arena_destroy(trial->arena);
    return found_s;
}

/* What costs least, whatever the drives say. */
static double best_interval_s(const struct job_spec *spec, struct trial *trial)
{
    const struct checkpoint_spec *checkpoint = &spec->checkpoint;
    const struct checkpoint_plan *plan = &checkpoint->plan;
    double step_s = condition_step_s(trial->conditions, &condition_ideal);
    double closed_s = checkpoint_optimum_s(save_cost_s(plan), checkpoint->job_mtbf_s);
    double all_s = spec->steps > 0 ? (double)spec->steps * step_s : spec->duration_s;
    if (isinf(closed_s) || all_s <= step_s)
        return fmax(all_s, step_s);
    double middle_s = fmin(fmax(closed_s, step_s), all_s);
    bool closed = checkpoint->kind->closed_optimum && all_each_time(plan);
    return closed ? middle_s : searched_s(spec, middle_s, all_s, step_s, trial);
}

void job_optimal_interval(struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
                          const struct job_watch *watch)
{
    struct checkpoint_spec *checkpoint = &spec->checkpoint;
    const struct checkpoint_plan *plan = &checkpoint->plan;
    if (checkpoint->interval_s > 0.0 || checkpoint->interval_steps > 0 || plan->every_step ||
        plan->level_count == 0)
        return;
    struct trial trial = {.conditions = conditions, .seed = seed, .watch = watch};
    checkpoint->interval_s = best_interval_s(spec, &trial);
    if (checkpoint->write_share_ratio > 0.0) {
        checkpoint->floor_s = checkpoint_floor_s(plan, checkpoint->write_share_ratio);
        checkpoint->interval_s = fmax(checkpoint->interval_s, checkpoint->floor_s);
    }
}
