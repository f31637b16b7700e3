/* job_cluster.c - what a node that leaves or comes means for replicas, the fleet and the faults it
 * had, and when it is heard of again. */
#include <math.h>

#include "models/job/player/job_state.h"
#include "sim/check.h"

static bool escalates(const struct job *job, const struct fleet_event *event)
{
    double ratio = job->spec->recovery.escalate_ratio;
    return ratio > 0.0 && fleet_uniform(job->fleet, event, "escalate") < ratio;
}

double job_repair_s(const struct job *job, const struct fleet_event *event)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    const struct duration *own = &job->spec->causes[event->cause].repair;
    if (event->repair_s >= 0.0)
        return event->repair_s;
    const struct duration *law = own->mean_s >= 0.0 ? own : &recovery->repair;
    double s = duration_quantile_s(law, fleet_uniform(job->fleet, event, "repair"));
    if (escalates(job, event)) {
        s += duration_quantile_s(&recovery->manual_repair,
                                 fleet_uniform(job->fleet, event, "manual repair"));
    }
    return s;
}

static bool repair_succeeds(const struct job *job, const struct fleet_event *event)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    double fails =
        escalates(job, event) ? recovery->manual_repair_fails_ratio : recovery->repair_fails_ratio;
    return fails == 0.0 || fleet_uniform(job->fleet, event, "repair fails") >= fails;
}

static void repair_begins(struct job *job, uint32_t node, double at_s)
{
    job_outside_push(&job->outside, at_s + job->nodes.nodes[node].repair_s, OUTSIDE_REPAIRED, node,
                     0);
}

void job_node_leave(struct job *job, uint32_t node, const struct fleet_event *event, double at_s,
                    bool alone)
{
    uint32_t position = job_nodes_leave(&job->nodes, node);
    job_clock_leave(&job->clock, node, at_s);
    job_replicas_lose(&job->replicas, position, alone);
    if (!job_nodes_retire(&job->nodes, node) &&
        job_nodes_send(&job->nodes, node, job_repair_s(job, event), repair_succeeds(job, event)))
        repair_begins(job, node, at_s);
}

/* A replica's own chain: its state comes from a peer that has it, as fast as the best copy would.
 */
static double beside_s(struct job *job)
{
    double links_s[RESTART_LINK_COUNT], sum_s = job_chain_beside(&job->chain, links_s);
    const struct checkpoint_plan *plan = &job->spec->checkpoint.plan;
    double load_s = plan->level_count > 0 ? plan->levels[0].load_s : 0.0;
    job_account_beside(&job->account, links_s, load_s);
    return sum_s + load_s;
}

void job_replica_whole(struct job *job, uint32_t replica, double at_s)
{
    const struct replica *of = &job->replicas.replicas[replica];
    if (of->alone)
        job_outside_push(&job->outside, at_s + beside_s(job), OUTSIDE_REJOIN, replica, of->version);
    else if (job_clock_runs(&job->clock))
        job_plans_add(&job->plans, PLAN_REJOIN, at_s);
}

/* A node takes the vacant position that was left last. */
static void fill(struct job *job, uint32_t node, double at_s)
{
    uint32_t position = job_nodes_fill(&job->nodes, node);
    job_clock_join(&job->clock, node, at_s);
    uint32_t count = job_replicas_at(&job->replicas, position);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t replica = job_replicas_of(&job->replicas, position, i);
        if (job_replicas_gain(&job->replicas, replica))
            job_replica_whole(job, replica, at_s);
    }
}

void job_take_spares(struct job *job, uint32_t count, double at_s)
{
    for (uint32_t i = 0; i < count; i++)
        fill(job, job_nodes_take_spare(&job->nodes), at_s);
}

void job_node_repaired(struct job *job, uint32_t node, double at_s)
{
    int32_t next = job_nodes_repaired(&job->nodes, node);
    if (next != NO_NODE)
        repair_begins(job, (uint32_t)next, at_s);
    if (job->nodes.nodes[node].mended)
        fleet_mend(job->fleet, node);
    if (job->nodes.short_count > 0)
        fill(job, node, at_s);
    else
        job_nodes_stand_by(&job->nodes, node);
}

/* The stage of the GPU that a unit is or serves, by positions of the job; 0: not known. */
static uint32_t stage_of(const struct job *job, const struct fleet_event *event)
{
    const struct job_spec *spec = job->spec;
    if (spec->stage_of_gpu == NULL || event->node == UINT32_MAX ||
        !job_nodes_in_job(&job->nodes, event->node))
        return 0;
    uint32_t local = 0;
    switch ((enum failure_unit)spec->causes[event->cause].unit) {
    case UNIT_GPU:
        local = event->unit % spec->gpus_per_node;
        break;
    case UNIT_NIC:
        local = event->unit % spec->nics_per_node * spec->gpus_per_node / spec->nics_per_node;
        break;
    case UNIT_NODE:
    case UNIT_DOMAIN:
    case UNIT_JOB:
        break;
    }
    uint32_t position = job_nodes_position(&job->nodes, event->node);
    return spec->stage_of_gpu[position * spec->gpus_per_node + local];
}

static double time_of(const struct job *job, const struct duration *law,
                      const struct fleet_event *event, const char *purpose)
{
    return duration_quantile_s(law, fleet_uniform(job->fleet, event, purpose));
}

static void slow_begins(struct job *job, const struct fleet_event *event, double at_s,
                        double found_s)
{
    const struct failure_cause *cause = &job->spec->causes[event->cause];
    struct condition_slow slow = {stage_of(job, event), cause->slow_link, cause->slow_ratio};
    uint32_t id = job_faults_begin_slow(&job->faults, event, at_s, slow);
    uint64_t version = job->faults.faults[id].version;
    job_outside_push(&job->outside, found_s, OUTSIDE_SLOW_FOUND, id, version);
    if (cause->slow_time.mean_s > 0.0) {
        double well_s = at_s + time_of(job, &cause->slow_time, event, "slow time");
        job_outside_push(&job->outside, well_s, OUTSIDE_SLOW_END, id, version);
    }
    job_plans_turn_at(&job->plans, at_s);
}

void job_fault_begin(struct job *job, const struct fleet_event *event, double at_s)
{
    const struct failure_cause *cause = &job->spec->causes[event->cause];
    const struct duration *detect = cause->detect.mean_s >= 0.0
                                        ? &cause->detect
                                        : &job->spec->recovery.restart.links[LINK_DETECT];
    if (cause->effect == EFFECT_SLOW && job_faults_is_slow(&job->faults, event))
        return;
    double found_s = at_s + time_of(job, detect, event, "detect");
    if (cause->effect == EFFECT_CORRUPT) {
        uint32_t id = job_faults_begin_corrupt(&job->faults, event, at_s);
        job_outside_push(&job->outside, found_s, OUTSIDE_CORRUPT_FOUND, id,
                         job->faults.faults[id].version);
    } else {
        slow_begins(job, event, at_s, found_s);
    }
}

/* Some replica that the node serves is in the job. */
static bool takes_part(const struct job *job, uint32_t node)
{
    if (node == UINT32_MAX)
        return true;
    return job_nodes_in_job(&job->nodes, node) &&
           job_replicas_any_up(&job->replicas, job_nodes_position(&job->nodes, node));
}

double job_condition_step_s(const struct job *job)
{
    const struct job_faults *faults = &job->faults;
    if (job->replicas.out_count == 0 && faults->count == 0)
        return job->steps.ideal_step_s;
    struct condition condition = condition_ideal;
    condition.replicas_missing = job->replicas.out_count;
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct fault *fault = &faults->faults[i];
        if (fault->alive && !fault->corrupts && takes_part(job, fault->event.node))
            job_faults_add_slow(&condition, fault->slow);
    }
    bool ideal = condition.replicas_missing == 0 && condition.slow_count == 0;
    return ideal ? job->steps.ideal_step_s : condition_step_s(job->condition.table, &condition);
}
