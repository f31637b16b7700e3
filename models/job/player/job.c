/* job.c - the player of weeks: its states, and what leads from one to the other.
 *
 *   state        leaves when                      to
 *   STEPS        a save is due                    SAVE, or DURABLE first      [job_begin_save]
 *                the work is done                 SAVE, or END                [end_of_work]
 *                a planned stop is due            SAVE of all levels          [turn]
 *                a failure strikes                chain; STEPS (replica-level) [job_strike]
 *   SAVE         the stall is over                STEPS, or DURABLE           [saved]
 *                a failure strikes                chain                       [job_strike]
 *   DURABLE      the copies waited for are kept   SAVE, chain, MAINTENANCE, END [durable]
 *                a failure strikes                chain                       [job_strike]
 *   MAINTENANCE  its time is over                 chain                       [job_restart]
 *   LINK         its time is over                 the next place of the chain [job_restart_go_on]
 *   WAIT         the last node came back          the next place of the chain [repaired]
 *   LOAD         the copy was read                LINK (warm-up), or LOAD of an older one
 *   LINK, WAIT, LOAD   a failure strikes          LINK, anew                  [job_strike]
 *   the end of the chain                          STEPS, or LINK anew         [resume]
 *   any          the time is up                   END                         [out_of_time]
 *
 * Invariants
 * 1. All wall time up to at_s is spent on exactly one class; exposed_s is the part of it in which
 *    failures could strike.
 * 2. What ends at the instant of a failure has ended before it; so has what comes from outside.
 * 3. Between at_s and the next event of the outside nothing changes what a step takes: what does is
 *    taken up at the first boundary from turn_s on.
 * 4. A planned stop begins when all that was reached stands on the safest level, unless the job
 *    saves nothing.
 * 5. Steps have a replica that makes them; a chain that waits for nodes ends when none is short. */
#include "models/job/player/job.h"

#include <limits.h>
#include <math.h>

#include "models/job/player/job_state.h"
#include "sim/check.h"

/* What a run meets before it is given up (JOB_ENDS tells them): in all, and since progress was kept
 * last, where it restarts for ever. One that saves nothing and whose work is 11.5 times its mean
 * time between failures gets through once in 100,000 attempts. */
enum {
    FAILURES_MAX = 10000000,
    STOPS_MAX = 1000000,
    VAIN_MAX = 100000
};

static void enter_steps(struct job *job)
{
    CHECK(job->replicas.up > 0); /* 5 */
    job_enter(job, PHASE_STEPS, INFINITY);
    job_steps_saved(&job->steps);
    job_plans_steps_begin(&job->plans, job->clock.at_s);
    job_condition(job);
}

/* The chain was walked to its end: the job runs again, or what stopped it does so anew. */
static void resume(struct job *job)
{
    CHECK(!job->chain.waits || job->nodes.short_count == 0); /* 5 */
    job_chain_resume(&job->chain);
    if (job->struck.strikes_again) {
        job_strike_again(job);
        return;
    }
    job_replicas_return(&job->replicas);
    job_faults_forget(&job->faults, job->copies.loaded_began_s);
    job_account_resumed(&job->account, job->clock.at_s, job->copies.load_level,
                        job->steps.now.steps);
    enter_steps(job);
}

/* The steps after a save go on as they were. */
static void steps_go_on(struct job *job)
{
    job_enter(job, PHASE_STEPS, INFINITY);
    job_steps_origin(&job->steps, job->clock.at_s);
}

/* The job was stopped: did it get any further than at the stops before? Only what stands after the
 * rollback counts: steps that are undone each time are no progress. */
static void count_vain(struct job *job)
{
    job->vain.stops = job->steps.now.progress > job->vain.kept_most ? 0 : job->vain.stops + 1;
    if (job->vain.stops == 0)
        job->vain.kept_most = job->steps.now.progress;
}

static void end_of_work(struct job *job)
{
    bool saves = job->spec->checkpoint.final && job->spec->checkpoint.plan.level_count > 0;
    if (!saves || job_is_saved(job)) {
        job_end(job, JOB_END_done);
        return;
    }
    job->save.is_for = SAVE_AT_END;
    job_begin_save(job, true);
}

/* The job stands, and its state is saved (or it saves nothing): what the stop was planned for. */
static void stop_as_planned(struct job *job)
{
    CHECK(job->copies.level_count == 0 || job_is_saved(job)); /* 4 */
    unsigned due = job_plans_take(&job->plans);
    bool maintain = (due & PLAN_MAINTENANCE) != 0, restart = maintain;
    job->save.is_for = SAVE_IS_DUE;
    job_account_planned(&job->account);
    job_chain_planned(&job->chain);
    restart |= (due & PLAN_REJOIN) != 0;
    restart |= (due & PLAN_MITIGATE) != 0 && job_mitigate(job);
    job_plans_take(&job->plans); /* what that asked for too */
    if (!restart) {
        job_enter(job, PHASE_STEPS, INFINITY);
        job_condition(job);
        return;
    }
    job_chain_stop(&job->chain);
    job_enter(job, PHASE_LINK, INFINITY);
    job_roll_back(job, job->clock.at_s, SURVIVES_PROCESS, INFINITY);
    count_vain(job);
    if (maintain) {
        job_enter(job, PHASE_MAINTENANCE, job->clock.at_s + job->spec->maintenance_s);
        return;
    }
    job_restart(job);
}

/* Another condition, or a planned stop: the job saves first. One that saves nothing is stopped for
 * maintenance alone. */
static void turn(struct job *job)
{
    bool saves = job->spec->checkpoint.plan.level_count > 0;
    unsigned due = job_plans_turn(&job->plans, saves ? UINT_MAX : PLAN_MAINTENANCE);
    job_replicas_join(&job->replicas);
    job_condition(job);
    if (due == 0 || job_steps_done(&job->steps))
        return; /* also where only the last save is left to do */
    if (!saves || job_is_saved(job)) {
        stop_as_planned(job);
    } else {
        job->save.is_for = SAVE_BEFORE_STOP;
        job_begin_save(job, true);
    }
}

static void durable(struct job *job)
{
    job_copies_settle(&job->copies, job->clock.at_s);
    if (job->save.durable_for == FOR_NEXT_SAVE)
        job_begin_save(job, false);
    else if (job->save.durable_for == FOR_LAST_SAVE)
        job_begin_save(job, true);
    else if (job->save.is_for == SAVE_AT_END)
        job_end(job, JOB_END_done);
    else
        stop_as_planned(job);
}

/* The stall is over. */
static void saved(struct job *job)
{
    if (job->save.is_for == SAVE_IS_DUE) {
        steps_go_on(job);
        return;
    }
    job->save.durable_for = FOR_REST;
    job_enter(job, PHASE_DURABLE,
              job_greater(job_copies_last_durable_s(&job->copies), job->clock.at_s));
}

static void leave(struct job *job)
{
    CHECK(job->clock.until_s <= job_outside_next_s(&job->outside)); /* 2 */
    job_pass(job, job->clock.until_s);
    switch (job->clock.phase) {
    case PHASE_SAVE:
        saved(job);
        break;
    case PHASE_DURABLE:
        durable(job);
        break;
    case PHASE_MAINTENANCE:
        job_restart(job);
        break;
    case PHASE_LINK:
    case PHASE_WAIT:
    case PHASE_LOAD:
        job_restart_go_on(job);
        break;
    case PHASE_STEPS:
    case PHASE_END:
        UNREACHABLE("the phase has an end that is known");
    }
}

static void next_maintenance(struct job *job)
{
    job_plans_next_maintenance(&job->plans);
    job_outside_push(&job->outside, job_plans_maintenance_s(&job->plans), OUTSIDE_MAINTENANCE, 0,
                     0);
}

static void repaired(struct job *job, uint32_t node, double at_s)
{
    job_node_repaired(job, node, at_s);
    if (job->clock.phase == PHASE_WAIT && job->nodes.short_count == 0) {
        job_pass(job, at_s);
        job_restart_go_on(job);
    }
}

/* What was begun when the time was up is spent; the part of a step counts as such. */
static void out_of_time(struct job *job, double at_s)
{
    if (job->clock.phase == PHASE_STEPS) {
        double share = (double)job->replicas.up / (double)job->spec->replicas;
        double part =
            job_steps_take_part(&job->steps, &job->copies, job->clock.at_s, at_s, job->replicas.up);
        job_account_part_of_step(&job->account, part * share);
        job_clock_leap(&job->clock, at_s, 0.0);
    } else {
        job_pass(job, at_s);
    }
    job_end(job, job->spec->duration_s > 0.0 ? JOB_END_time_up : JOB_END_wall_clock);
}

/* Of a slow unit or a corrupt one: all that was saved since the onset of that is worthless. */
static void fault_learned(struct job *job, const struct outside_event *event)
{
    const struct fault *fault = job_faults_learn(&job->faults, event);
    if (fault == NULL)
        return;
    if (event->kind == OUTSIDE_CORRUPT_FOUND) {
        struct fleet_event found = fault->event;
        job_stop_for(job, &found, event->at_s, fault->onset_s);
    } else if (event->kind == OUTSIDE_SLOW_FOUND) {
        job_plans_add(&job->plans, PLAN_MITIGATE, event->at_s);
    } else {
        job_plans_turn_at(&job->plans, event->at_s);
    }
}

static void outside(struct job *job)
{
    struct outside_event event;
    job_outside_pop(&job->outside, &event);
    switch (event.kind) {
    case OUTSIDE_REPAIRED:
        repaired(job, event.id, event.at_s);
        break;
    case OUTSIDE_REJOIN:
        if (job_replicas_ready(&job->replicas, event.id, event.version))
            job_plans_turn_at(&job->plans, event.at_s);
        break;
    case OUTSIDE_MAINTENANCE:
        next_maintenance(job);
        if (job->clock.phase == PHASE_MAINTENANCE && job->clock.at_s == event.at_s)
            break; /* this is it */
        job_plans_add(&job->plans, PLAN_MAINTENANCE, event.at_s);
        break;
    case OUTSIDE_END:
        out_of_time(job, event.at_s);
        break;
    case OUTSIDE_SLOW_END:
    case OUTSIDE_SLOW_FOUND:
    case OUTSIDE_CORRUPT_FOUND:
        fault_learned(job, &event);
        break;
    }
}

/* Steps until something is to be decided. False: a step is under way at `outside_s`, or at the
 * moment of the next failure. */
static bool run_on(struct job *job, double outside_s)
{
    if (job->observing.may_leap && isinf(job->plans.turn_s) && job->steps.interval < STEPS_NEVER)
        job_leap(job, outside_s);
    switch (job_run_on(job, outside_s)) {
    case BOUNDARY_AHEAD:
        return false;
    case BOUNDARY_PASSED:
        break;
    case BOUNDARY_SAVE:
        job_begin_save(job, false);
        break;
    case BOUNDARY_END_OF_WORK:
        end_of_work(job);
        break;
    }
    return true;
}

/* A node that comes back to stand by is nothing to the steps under way, where no stop is planned
 * and no failure comes before it: they need not be broken off there. */
static bool stands_by_next(const struct job *job)
{
    const struct outside_event *next = job_outside_next(&job->outside);
    return job->clock.phase == PHASE_STEPS && isinf(job->plans.turn_s) &&
           job->nodes.short_count == 0 && next != NULL && next->kind == OUTSIDE_REPAIRED &&
           next->at_s <= job_clock_failure_s(&job->clock);
}

/* What comes first of all that can come. */
static void advance(struct job *job)
{
    if (job->clock.phase == PHASE_STEPS && job->clock.at_s >= job->plans.turn_s) {
        turn(job);
        return;
    }
    job_clock_learn(&job->clock);
    if (stands_by_next(job)) {
        outside(job);
        return;
    }
    double outside_s = job_outside_next_s(&job->outside);
    if (job->clock.phase == PHASE_STEPS) {
        if (run_on(job, outside_s))
            return;
    } else if (job->clock.until_s <= job_lesser(outside_s, job_clock_failure_s(&job->clock))) {
        leave(job);
        return;
    }
    double failure_s = job_clock_failure_s(&job->clock);
    if (failure_s < outside_s) {
        job_strike(job, failure_s);
        count_vain(job);
    } else {
        CHECK(outside_s < INFINITY);
        outside(job);
    }
}

static void give_up_at_limits(struct job *job)
{
    if (job->clock.phase == PHASE_END)
        return;
    if (job->condition.unplayable)
        job_end(job, JOB_END_condition);
    else if (job->account.result->failures >= FAILURES_MAX)
        job_end(job, JOB_END_failures);
    else if (job->plans.maintenances >= STOPS_MAX)
        job_end(job, JOB_END_stops);
    else if (job->vain.stops >= VAIN_MAX)
        job_end(job, JOB_END_in_vain);
}

static double done_ratio(const struct job *job)
{
    double duration_s = job->spec->duration_s, done = 0.0;
    if (duration_s > 0.0)
        done = job->clock.at_s / duration_s;
    if (job->steps.target < STEPS_NEVER)
        done = job_greater(done, (double)job->steps.now.progress / (double)job->steps.target);
    return job_lesser(done, 1.0);
}

/* Asks every 16 turns: below a microsecond as a rule, a second where nearly every unit is down and
 * hardly a failure meets one that is not. */
static void ask_watch(struct job *job)
{
    const uint64_t turns = 16;
    const struct job_watch *watch = job->observing.observer->watch;
    if (watch != NULL && ++job->observing.turns % turns == 0 && job->clock.phase != PHASE_END &&
        !watch->goes_on(watch->context, done_ratio(job)))
        job_end(job, JOB_END_stopped);
}

static void play(struct job *job)
{
    while (job->clock.phase != PHASE_END) {
        advance(job);
        while (job->chain.over)
            resume(job);
        give_up_at_limits(job);
        ask_watch(job);
        job->context = (struct check_context){job->clock.at_s, job->context.event_count + 1,
                                              job->context.seed};
    }
}

static const struct job_observer nobody;

static void begin(struct job *job)
{
    job_outside_push(&job->outside, job_wall_limit_s(job->spec), OUTSIDE_END, 0, 0);
    next_maintenance(job);
    enter_steps(job);
}

void job_run_in(struct arena *arena, const struct job_spec *spec,
                struct condition_table *conditions, uint64_t seed,
                const struct job_observer *observer, struct job_result *out)
{
    struct arena_mark mark = arena_mark(arena);
    struct job *job = ARENA_NEW(arena, struct job);
    *out = (struct job_result){0};
    *job = (struct job){
        .context.seed = seed,
        .spec = spec,
        .condition.table = conditions,
        .arena = arena,
        .observing.observer = observer != NULL ? observer : &nobody,
    };
    CHECK((spec->duration_s > 0.0 || spec->steps > 0) && spec->replicas > 0 && spec->nodes > 0);
    const struct check_context *former = check_enter(&job->context);
    job_create(job, out);
    begin(job);
    play(job);
    job_wind_up(job);
    check_enter(former);
    arena_rewind(arena, mark);
}

void job_run(const struct job_spec *spec, struct condition_table *conditions, uint64_t seed,
             const struct job_observer *observer, struct job_result *out)
{
    struct arena *arena = arena_create();
    job_run_in(arena, spec, conditions, seed, observer, out);
    arena_destroy(arena);
}
