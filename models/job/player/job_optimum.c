/* job_optimum.c - the interval between saves that makes the most of the time.
 *
 * Where its assumptions hold the closed form of Daly gives it (checkpoint_optimum_s): failures that
 * all roll back, and to the newest copy, which was durable before the next save and outlives them.
 * Anything else is played: the weeks of the scenario itself, with the same failures for each
 * interval (common random numbers), in three steps.
 *
 * Steps are played without their noise: it has the mean 1 and averages out between two saves, but
 * each step would have to be drawn.
 *
 * 1. The closed form for the mean save; then each interval twice the one before, up to the whole
 *    work; then each half of it, down to the shortest that the storage can follow. The search does
 *    not stop early: the cost may have steps, since copies that do not reach back to before a
 *    corruption are worth nothing.
 * 2. A golden section around the best, between the intervals beside it.
 * 3. The best interval that was played is taken, never one between two that were. */
#include <math.h>

#include "models/job/player/job.h"

enum {
    REPLICATIONS = 256, /* of each interval, with the same failures */
    ROUNDS = 12         /* of the golden section: two octaves become .4 % */
};
static const double OCTAVE = 2.0;

/* How far below the closed form the search goes: where only the seldom level survives what fails,
 * each of the others is a part of its interval. */
static const double REACH_DOWN = 64.0;

/* Failures, and saves that are played one by one, that all of the search may meet. */
static const double EVENTS_BUDGET = 2e6;

/* A replication that met so many times what an interval may cost is given up, while none has come
 * to the end of its work. */
static const double HOPELESS = 4.0;

/* How each interval is tried, and who watches. */
struct trial {
    struct job_spec spec;
    uint64_t replications, seed;
    struct condition_table *conditions;
    struct arena *arena;
    const struct job_watch *watch;
    double low_s, middle_s, high_s;
    double most_events;       /* that one interval may meet */
    double best_s, best_cost; /* cost INFINITY: none has kept a step yet */
    double best_wall_s;       /* of all replications; INFINITY: not played to the end of the work */
    unsigned tried, points;
    bool stopped;
};

/* Wall time of one replication. INFINITY: `most_s` are not enough for its work. */
static double wall_of(struct trial *trial, uint64_t seed, double most_s, double *steps)
{
    struct job_spec spec = trial->spec;
    struct job_result result;
    const bool by_work = spec.duration_s == 0.0;
    spec.duration_s = by_work ? most_s : spec.duration_s;
    job_run_in(trial->arena, &spec, trial->conditions, seed, NULL, &result);
    *steps += result.steps_completed;
    if (result.finished)
        return result.wall_s;
    return by_work ? INFINITY : spec.duration_s; /* a limit may have ended it before */
}

/* Wall time that a unit of kept work takes, over all replications; INFINITY: the job is hopeless,
 * or, being played to the end of its work, takes longer than with the best. */
static double cost_of(struct trial *trial, double interval_s)
{
    const double hopeless_s = HOPELESS * trial->most_events * trial->spec.checkpoint.job_mtbf_s;
    double wall_s = 0.0, steps = 0.0;
    trial->spec.checkpoint.interval_s = interval_s;
    for (uint64_t i = 0; i < trial->replications && isfinite(wall_s); i++) {
        const double most_s = fmin(hopeless_s, trial->best_wall_s - wall_s);
        wall_s += most_s > 0.0 ? wall_of(trial, trial->seed + i, most_s, &steps) : INFINITY;
    }
    trial->tried++;
    trial->stopped =
        trial->watch != NULL &&
        !trial->watch->goes_on(trial->watch->context, (double)trial->tried / (double)trial->points);
    return steps > 0.0 ? wall_s / steps : INFINITY;
}

/* True where it is the best so far. */
static bool try(struct trial *trial, double interval_s)
{
    const double cost = cost_of(trial, interval_s);
    if (!(cost < trial->best_cost))
        return false;
    trial->best_cost = cost;
    trial->best_s = interval_s;
    if (trial->spec.duration_s == 0.0)
        trial->best_wall_s = cost * (double)trial->spec.steps * (double)trial->replications;
    return true;
}

/* From the middle, which was tried, to `end_s`, which is tried last. */
static void walk(struct trial *trial, double end_s)
{
    for (double at_s = trial->middle_s; at_s != end_s && !trial->stopped;) {
        at_s = end_s > at_s ? fmin(at_s * OCTAVE, end_s) : fmax(at_s / OCTAVE, end_s);
        try(trial, at_s);
    }
}

static unsigned steps_of_walk(double from_s, double to_s)
{
    return (unsigned)ceil(fabs(log(to_s / from_s) / log(OCTAVE)) * (1.0 - 1e-12));
}

/* Golden section over the logarithm of the interval; the best is the inner one of three. */
static void refine(struct trial *trial)
{
    const double section = 0.3819660112501051;
    double low = log(fmax(trial->best_s / OCTAVE, trial->low_s)), best = log(trial->best_s),
           high = log(fmin(trial->best_s * OCTAVE, trial->high_s));
    for (unsigned i = 0; i < ROUNDS && !trial->stopped; i++) {
        const bool above = high - best > best - low;
        const double at = best + section * (above ? high - best : low - best);
        const bool better = try(trial, exp(at));
        *(above == better ? &low : &high) = better ? best : at;
        best = better ? at : best;
    }
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

/* A failure may lose all, whatever was saved: how much that is depends on how long the run is. */
static bool may_start_anew(const struct job_spec *spec)
{
    const struct checkpoint_plan *plan = &spec->checkpoint.plan;
    return job_falls_back(spec) || plan->levels[plan->level_count - 1].survival < SURVIVES_DOMAIN;
}

/* One node fails, and the others of the job lose no more than a step. */
static bool others_go_on(const struct job_spec *spec)
{
    struct recovery_decision decision;
    job_one_failure(spec, &decision);
    return decision.others_go_on;
}

static double closed_form_s(const struct job_spec *spec)
{
    return checkpoint_optimum_s(save_cost_s(&spec->checkpoint.plan), spec->checkpoint.job_mtbf_s);
}

bool job_closed_form_holds(const struct job_spec *spec)
{
    const struct checkpoint_spec *checkpoint = &spec->checkpoint;
    double persist_s, each_s;
    if (checkpoint->plan.level_count == 0 || !(checkpoint->job_mtbf_s > 0.0))
        return false;
    storage_paces(&checkpoint->plan, &persist_s, &each_s);
    return checkpoint->kind->closed_optimum && all_each_time(&checkpoint->plan) &&
           closed_form_s(spec) >= each_s && !may_start_anew(spec) && !others_go_on(spec);
}

/* What one replication with this interval costs to play, in failures. Saves that end before the
 * next are played many at once, the others one by one. */
static double events_of(const struct trial *trial, double interval_s, double persist_s)
{
    const double each_save = 0.1; /* as long as a failure takes: measured .05 to .1 */
    const double failures = trial->high_s / trial->spec.checkpoint.job_mtbf_s;
    return failures + (interval_s < persist_s ? each_save * trial->high_s / interval_s : 0.0);
}

/* How often the job is played, and how much of it: all of it where it may start anew. The golden
 * section is reckoned as around the shortest interval, where it costs most. */
static void stay_within_budget(struct trial *trial, double persist_s)
{
    struct job_spec *spec = &trial->spec;
    const unsigned up = steps_of_walk(trial->middle_s, trial->high_s),
                   down = steps_of_walk(trial->middle_s, trial->low_s);
    double events = (up + 1) * events_of(trial, trial->middle_s, persist_s) +
                    ROUNDS * events_of(trial, trial->low_s, persist_s);
    for (unsigned i = 1; i <= down; i++)
        events += events_of(trial, fmax(trial->middle_s * pow(OCTAVE, -(double)i), trial->low_s),
                            persist_s);
    trial->points = 1 + up + down + ROUNDS;
    trial->most_events = EVENTS_BUDGET / (double)trial->points;
    trial->replications = (uint64_t)fmin(REPLICATIONS, fmax(EVENTS_BUDGET / events, 1.0));
    if (events > EVENTS_BUDGET && !may_start_anew(spec)) {
        const double part = EVENTS_BUDGET / events;
        spec->duration_s *= part;
        spec->steps = spec->steps > 0 ? (uint64_t)fmax((double)spec->steps * part, 1.0) : 0;
    }
}

/* What costs least, by trying; `closed_s` is the closed form for the mean save. */
static double searched_s(const struct job_spec *spec, double closed_s, double all_s, double step_s,
                         struct trial *trial)
{
    double persist_s, each_s;
    storage_paces(&spec->checkpoint.plan, &persist_s, &each_s);
    trial->spec = *spec;
    trial->spec.step_noise_sigma = 0.0; /* of mean 1, and as long at any interval */
    trial->high_s = all_s;
    trial->low_s = fmax(fmin(closed_s, all_s) / REACH_DOWN, step_s);
    trial->low_s = fmin(fmax(trial->low_s, fmax(each_s, spec->checkpoint.floor_s)), all_s);
    if (may_start_anew(spec)) { /* one by one no more saves than the budget allows */
        const double few_s = all_s * (double)REPLICATIONS / EVENTS_BUDGET;
        trial->low_s = fmax(trial->low_s, fmin(persist_s, few_s));
    }
    trial->middle_s = fmin(fmax(closed_s, trial->low_s), trial->high_s);
    trial->best_s = trial->middle_s;
    trial->best_cost = trial->best_wall_s = INFINITY;
    stay_within_budget(trial, persist_s);
    trial->arena = arena_create();
    try(trial, trial->middle_s);
    walk(trial, trial->high_s);
    walk(trial, trial->low_s);
    refine(trial);
    arena_destroy(trial->arena);
    return trial->best_s;
}

void job_optimal_interval(struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
                          const struct job_watch *watch)
{
    struct checkpoint_spec *checkpoint = &spec->checkpoint;
    const struct checkpoint_plan *plan = &checkpoint->plan;
    if (job_save_rule(checkpoint) != SAVE_open)
        return;
    if (checkpoint->write_share_ratio > 0.0)
        checkpoint->floor_s = checkpoint_floor_s(plan, checkpoint->write_share_ratio);
    const double step_s = condition_step_s(conditions, &condition_ideal);
    const double all_s = job_work_s(spec, step_s);
    const double closed_s = closed_form_s(spec);
    checkpoint->found = INTERVAL_BY_FORMULA;
    if (isinf(closed_s) || all_s <= step_s) {
        checkpoint->interval_s = fmax(all_s, step_s);
    } else if (job_closed_form_holds(spec)) {
        checkpoint->interval_s = fmin(fmax(closed_s, step_s), all_s);
    } else {
        struct trial trial = {.conditions = conditions, .seed = seed, .watch = watch};
        checkpoint->interval_s = searched_s(spec, closed_s, all_s, step_s, &trial);
        checkpoint->found = INTERVAL_BY_PLAYING;
    }
    checkpoint->interval_s = fmax(checkpoint->interval_s, checkpoint->floor_s);
}
