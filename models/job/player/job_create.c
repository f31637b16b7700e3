/* job_create.c - the parts of a job at its beginning, and what they tell at its end. */
#include <limits.h>
#include <math.h>

#include "models/job/player/job_state.h"
#include "sim/check.h"
#include "sim/random.h"

/* The parts of steps and saves. */
static void set_up_progress(struct job *job)
{
    const struct job_spec *spec = job->spec;
    double ideal_step_s = condition_step_s(job->condition.table, &condition_ideal);
    uint64_t interval = job_between_saves(&spec->checkpoint, ideal_step_s);
    struct random_stream *noise =
        spec->step_noise_sigma > 0.0 ? random_create(job->arena, job->context.seed, 0, "step noise")
                                     : NULL;
    job_segments_create(&job->segments, &spec->checkpoint.plan, interval, spec->replicas,
                        ideal_step_s, spec->strike != STRIKE_WORKING);
    job_copies_create(&job->copies, job->arena, spec, &job->segments, job->observing.observer);
    job_steps_create(&job->steps, spec, ideal_step_s, interval, noise);
    job->observing.may_leap = !job->observing.observer->step_by_step && noise == NULL &&
                              job->observing.observer->saves == NULL;
}

/* Spares have numbers where the policy knows none, too. */
static void set_up_nodes(struct job *job)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    uint32_t spares = recovery->kind->has_spares ? (uint32_t)recovery->spares : 0;
    job_nodes_create(&job->nodes, job->arena,
                     (struct job_nodes_spec){.positions = job->spec->nodes,
                                             .spares = spares,
                                             .idle = (uint32_t)recovery->spares - spares,
                                             .crews = recovery->crews,
                                             .retire_after = recovery->retire_after});
    job_replicas_create(&job->replicas, job->arena, job->spec);
    job_faults_create(&job->faults, job->arena);
    job->struck.nodes = ARENA_ARRAY(job->arena, uint32_t, job->spec->nodes);
}

void job_create(struct job *job, struct job_result *out)
{
    const struct job_spec *spec = job->spec;
    job->fleet = fleet_create(job->arena, job_fleet(spec), job->context.seed);
    job_clock_create(&job->clock, job->fleet, job_wall_limit_s(spec));
    job_plans_create(&job->plans, spec->maintenance_every_s);
    job_outside_create(&job->outside, job->arena);
    job_account_create(&job->account, job->arena, job->observing.observer, out);
    set_up_progress(job);
    set_up_nodes(job);
    job_chain_create(&job->chain, spec, job->context.seed);
}

void job_wind_up(struct job *job)
{
    struct job_result *out = job->account.result;
    const double wall_s = job->clock.at_s;
    CHECK(job->clock.phase == PHASE_END);
    CHECK(wall_s <= job_wall_limit_s(job->spec));
    job_copies_settle(&job->copies, wall_s);
    for (unsigned level = 0; level < CHECKPOINT_LEVEL_MAX; level++) {
        out->copies[level] = job->copies.durable[level];
        out->checkpoints += job->copies.durable[level];
    }
    out->rollbacks_past_corrupt = job->copies.dropped;
    out->spares_taken = job->nodes.taken;
    if (job->account.interrupted)
        job_account_resumed(&job->account, -1.0, UINT_MAX, job->steps.now.steps);
    out->ettr_worst_hour = job_window_worst_hour(job->account.window, wall_s);
    fleet_skipped(job->fleet, job_greater(job->clock.exposed_s, job->clock.fleet_s), &out->skipped);
    job_account_end(&job->account, job->spec, &job->steps.now, job->steps.ideal_step_s, wall_s);
}
