/* job_account.c - the classes of time, which tile the wall clock: each second is spent once, and
 * lost work is moved when it is lost (job_copies.c). */
#include <math.h>

#include "models/job/job_state.h"
#include "sim/units.h"

void job_spend(struct job *job, double begin_s, double end_s, enum badput_class of)
{
    job->result->badput_s[of] += end_s - begin_s;
    job_window_idle(job, begin_s, end_s);
}

/* Up to the end of the stall, or where it is broken off. */
void job_spend_save(struct job *job, double end_s)
{
    job_spend(job, job->at_s, end_s, BADPUT_checkpoint);
    job->exposed_s += job_save_exposed(job) ? end_s - job->at_s : 0.0;
    job->at_s = end_s;
}

double job_share(const struct job *job)
{
    return (double)job->replicas_up / (double)job->spec->replicas;
}

/* With noise a step may be shorter than what it is worth: then all of it is useful. */
void job_spend_steps(struct job *job, double begin_s, double end_s, double steps)
{
    double whole = end_s - begin_s, noise = job->noisy_step_s / job->step_s;
    double useful = lesser(steps * job->ideal_step_s * noise * job_share(job), whole);
    job->now.useful_s += useful;
    job->now.degraded_s += whole - useful;
}

void job_tell_interruption(struct job *job, double resumed_at_s)
{
    job->told.resumed_at_s = resumed_at_s;
    if (job->interrupted && job->observer->interruption != NULL) {
        job->observer->interruption(job->observer->context, &job->told);
    }
    job->interrupted = false;
}

/* All nodes and the room for checkpoints are paid while the run lasts, spares where they stand by
 * under power; power is that of the load while steps are made, and idle otherwise. */
static void account_cost(struct job *job)
{
    const struct job_spec *spec = job->spec;
    struct job_result *out = job->result;
    double spares = spec->recovery.kind->spares_idle ? (double)spec->recovery.spares : 0.0;
    double nodes = spec->nodes, busy = out->badput_s[BADPUT_useful] +
                                       out->badput_s[BADPUT_degraded] +
                                       out->badput_s[BADPUT_lost_work];
    out->cost_usd =
        (spec->gpu_hour_usd * (nodes + spares) * spec->gpus_per_node + spec->storage_hour_usd) *
        out->wall_s / HOUR;
    double idle = (nodes + spares) * out->wall_s - nodes * busy;
    out->energy_j = spec->node_power_w * (nodes * busy + spec->idle_power_ratio * idle);
}

void job_account_end(struct job *job)
{
    struct job_result *out = job->result;
    out->badput_s[BADPUT_useful] = job->now.useful_s;
    out->badput_s[BADPUT_degraded] = job->now.degraded_s;
    out->steps_completed += (double)job->now.progress / (double)job->spec->replicas;
    out->tokens_completed = out->steps_completed * job->spec->tokens_per_step;
    double wall = out->wall_s;
    out->goodput = wall > 0.0 ? out->steps_completed * job->ideal_step_s / wall : 1.0;
    out->ettr = wall > 0.0 ? (job->now.useful_s + job->now.degraded_s) / wall : 1.0;
    account_cost(job);
}
