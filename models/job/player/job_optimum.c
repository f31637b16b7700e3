/* job_optimum.c - the interval between saves that makes the most of the time.
 *
 * Where its assumptions hold the closed form gives it (job_closed_form.c). Anything else is played:
 * the weeks of the scenario itself, with the same failures for each interval (common random
 * numbers), in three steps.
 *
 * Steps are played without their noise: it has the mean 1 and averages out between two saves, but
 * each step would have to be drawn.
 *
 * 1. The closed form for the mean save; then each interval twice the one before (eight steps to
 *    the octave where failures or stops have a rhythm), up to the whole work; then each half of it,
 *    down to the shortest that the storage can follow. The search does not stop early: the cost may
 *    have steps, since copies that do not reach back to before a
 *    corruption are worth nothing.
 * 2. A golden section around the best, between the intervals beside it.
 * 3. The best interval that was played is taken, never one between two that were. */
#include <math.h>

#include "models/job/player/job.h"

enum {
    REPLICATIONS = 256,       /* of each interval, with the same failures */
    REPLICATIONS_MOST = 1024, /* where few of them meet a failure */
    PILOTS = 16,              /* replications that count the failures, where rates change */
    ROUNDS = 12               /* of the golden section: two octaves become .4 % */
};
static const double FAILURES_ENOUGH = 1000.0; /* over all replications of one interval */
/* From one interval of the walk to the next; and where failures or stops come in a rhythm, with
 * which intervals may chime: as many peaks as there are parts of it, of which the best is not next
 * to the second. */
static const double OCTAVE = 2.0, EIGHTH_OF_OCTAVE = 1.0905077326652577;

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
    double stride;            /* of the walk up */
    double failures;          /* of one replication, in the mean; those slow to draw count more */
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
        at_s = end_s > at_s ? fmin(at_s * trial->stride, end_s) : fmax(at_s / OCTAVE, end_s);
        try(trial, at_s);
    }
}

static unsigned steps_of_walk(double from_s, double to_s, double stride)
{
    return (unsigned)ceil(log(to_s / from_s) / log(stride) * (1.0 - 1e-12));
}

/* Golden section over the logarithm of the interval; the best is the inner one of three. */
static void refine(struct trial *trial)
{
    const double section = 0.3819660112501051;
    const double below = trial->best_s > trial->middle_s ? trial->stride : OCTAVE,
                 above = trial->best_s >= trial->middle_s ? trial->stride : OCTAVE;
    double low = log(fmax(trial->best_s / below, trial->low_s)), best = log(trial->best_s),
           high = log(fmin(trial->best_s * above, trial->high_s));
    for (unsigned i = 0; i < ROUNDS && !trial->stopped; i++) {
        const bool upper = high - best > best - low;
        const double at = best + section * (upper ? high - best : low - best);
        const bool better = try(trial, exp(at));
        *(upper == better ? &low : &high) = better ? best : at;
        best = better ? at : best;
    }
}

/* What one replication with this interval costs to play, in failures. Saves that end before the
 * next are played many at once, the others one by one. */
static double events_of(const struct trial *trial, double interval_s, double persist_s)
{
    const double each_save = 0.1; /* as long as a failure takes: measured .05 to .1 */
    return trial->failures +
           (interval_s < persist_s ? each_save * trial->high_s / interval_s : 0.0);
}

/* A life of a law with age is drawn by the inverse of its distribution: gamma, the slowest, takes
 * four times as long as all else that a failure asks for. */
static double draw_cost(const struct job_spec *spec)
{
    double cost = 1.0;
    for (uint32_t i = 0; i < spec->cause_count; i++)
        if (!spec->causes[i].kind->memoryless && !spec->causes[i].kind->replays)
            cost = 4.0;
    return cost;
}

/* Failures of one replication: by the rates, or, where those change, counted in a few. */
static double failures_each(const struct trial *trial)
{
    const double by_rates = trial->high_s / trial->spec.checkpoint.job_mtbf_s;
    struct job_spec spec = trial->spec;
    struct job_result result;
    double sum = 0.0;
    if (job_rate_is_steady(&spec))
        return by_rates * draw_cost(&spec);
    spec.checkpoint.interval_s = trial->middle_s;
    if (spec.duration_s == 0.0)
        spec.duration_s = HOPELESS * fmax(trial->high_s, spec.checkpoint.job_mtbf_s);
    for (uint64_t i = 0; i < PILOTS; i++) {
        job_run_in(trial->arena, &spec, trial->conditions, trial->seed + i, NULL, &result);
        sum += (double)result.failures;
    }
    return fmax(sum, 1.0) / PILOTS * draw_cost(&spec);
}

/* How often the job is played, and how much of it: all of it where it may start anew, or where its
 * beginning is not like the rest. The golden section is reckoned as around the shortest interval,
 * where it costs most. */
static void stay_within_budget(struct trial *trial, double persist_s)
{
    struct job_spec *spec = &trial->spec;
    const unsigned up = steps_of_walk(trial->middle_s, trial->high_s, trial->stride),
                   down = steps_of_walk(trial->low_s, trial->middle_s, OCTAVE);
    double events = (up + 1) * events_of(trial, trial->middle_s, persist_s) +
                    ROUNDS * events_of(trial, trial->low_s, persist_s);
    for (unsigned i = 1; i <= down; i++)
        events += events_of(trial, fmax(trial->middle_s * pow(OCTAVE, -(double)i), trial->low_s),
                            persist_s);
    trial->points = 1 + up + down + ROUNDS;
    trial->most_events = EVENTS_BUDGET / (double)trial->points;
    const double wanted =
        fmin(fmax(REPLICATIONS, FAILURES_ENOUGH / fmax(trial->failures, 1e-9)), REPLICATIONS_MOST);
    trial->replications = (uint64_t)fmin(wanted, fmax(EVENTS_BUDGET / events, 1.0));
    if (events > EVENTS_BUDGET && !job_may_start_anew(spec) && job_rate_is_steady(spec)) {
        const double part = EVENTS_BUDGET / events;
        spec->duration_s *= part;
        spec->steps = spec->steps > 0 ? (uint64_t)fmax((double)spec->steps * part, 1.0) : 0;
    }
}

/* Planned stops, a log, or few units of a law with age: of many the gaps are as good as those of
 * constant rate. */
static bool has_rhythm(const struct job_spec *spec)
{
    const double few_units = 10.0;
    bool rhythm = spec->maintenance_every_s > 0.0;
    for (uint32_t i = 0; i < spec->cause_count; i++) {
        const struct failure_cause *cause = &spec->causes[i];
        rhythm |=
            !cause->kind->memoryless && job_cause_mtbf_s(spec, cause) * few_units >= cause->mtbf_s;
    }
    return rhythm;
}

/* What costs least, by trying; `closed_s` is the closed form for the mean save. */
static double searched_s(const struct job_spec *spec, double closed_s, double all_s, double step_s,
                         struct trial *trial)
{
    double persist_s, each_s;
    job_storage_paces(&spec->checkpoint.plan, &persist_s, &each_s);
    trial->spec = *spec;
    trial->spec.step_noise_sigma = 0.0; /* of mean 1, and as long at any interval */
    trial->high_s = all_s;
    trial->low_s = fmax(fmin(closed_s, all_s) / REACH_DOWN, step_s);
    trial->low_s = fmin(fmax(trial->low_s, fmax(each_s, spec->checkpoint.floor_s)), all_s);
    if (job_may_start_anew(spec)) { /* one by one no more saves than the budget allows */
        const double few_s = all_s * (double)REPLICATIONS / EVENTS_BUDGET;
        trial->low_s = fmax(trial->low_s, fmin(persist_s, few_s));
    }
    trial->middle_s = fmin(fmax(closed_s, trial->low_s), trial->high_s);
    trial->stride = has_rhythm(spec) ? EIGHTH_OF_OCTAVE : OCTAVE;
    trial->best_s = trial->middle_s;
    trial->best_cost = trial->best_wall_s = INFINITY;
    trial->arena = arena_create();
    trial->failures = failures_each(trial);
    stay_within_budget(trial, persist_s);
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
    const double step_s = condition_step_s(conditions, &condition_ideal);
    const double all_s = job_work_s(spec, step_s);
    checkpoint->run_s = all_s;
    if (job_save_rule(checkpoint) != SAVE_open)
        return;
    if (checkpoint->write_share_ratio > 0.0)
        checkpoint->floor_s = checkpoint_floor_s(plan, checkpoint->write_share_ratio);
    const double closed_s = job_closed_form_s(spec);
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
