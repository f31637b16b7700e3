/* job_recover.c - from a failure to the policy's decision, and what it means for nodes, replicas
 * and copies. The chain that follows is job_chain.c's. */
#include <limits.h>
#include <math.h>

#include "models/job/player/job_state.h"
#include "sim/check.h"

/* Nodes of the job that a failure takes down, into job->struck. */
static void find_struck(struct job *job, const struct fleet_event *event)
{
    job->struck.count = 0;
    for (uint32_t i = 0; i < event->node_count; i++) { /* 0 of a failure of the job */
        uint32_t node = event->node + i;
        if (job_nodes_in_job(&job->nodes, node) &&
            (event->node_count == 1 || fleet_hit(job->fleet, event, node)))
            job->struck.nodes[job->struck.count++] = node;
    }
}

/* A node must be replaced or repaired: the restart alone does not mend it. */
static bool is_hardware(const struct job *job, const struct fleet_event *event)
{
    double in_place = job->spec->causes[event->cause].in_place_ratio;
    if (event->node == UINT32_MAX || event->repair_s >= 0.0)
        return event->node != UINT32_MAX && event->repair_s > 0.0;
    return in_place == 0.0 || fleet_uniform(job->fleet, event, "in place") >= in_place;
}

/* Replicas that the struck nodes serve, each once. */
static struct replicas_touched replicas_touched(struct job *job)
{
    struct replicas_touched count;
    job_replicas_count(&job->replicas, &count);
    for (uint32_t i = 0; i < job->struck.count; i++)
        job_replicas_touch(&job->replicas, job_nodes_position(&job->nodes, job->struck.nodes[i]),
                           &count);
    return count;
}

static void decide(struct job *job, bool hardware, bool whole_job, struct recovery_decision *out)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    struct replicas_touched touched = replicas_touched(job);
    uint32_t lost = hardware ? job->struck.count : 0;
    whole_job |= job->struck.count == 0 || !job_clock_runs(&job->clock);
    struct recovery_situation situation = {
        .hardware = hardware,
        .nodes_short = job->nodes.short_count + lost,
        .spares_free = job->nodes.free_count,
        .replicas_up = job_replicas_whole(&job->replicas) - (hardware ? touched.whole : 0),
        .replicas_untouched = whole_job ? 0 : job->replicas.up - touched.running,
        .replicas = job->spec->replicas,
        .replicas_min = (uint32_t)recovery->replicas_min,
        .options = &recovery->options,
    };
    *out = (struct recovery_decision){0};
    recovery->kind->decide(&situation, out);
    CHECK(out->nodes_taken <= situation.spares_free && out->nodes_taken <= situation.nodes_short);
    CHECK(!out->others_go_on || situation.replicas_untouched > 0);
}

static bool replaces(const struct job *job, const struct recovery_decision *decision)
{
    return decision->nodes_taken >= job->nodes.short_count + job->struck.count || decision->wait ||
           decision->shrink || decision->others_go_on;
}

/* The wrong one of two nodes may be blamed: it is replaced, and the fault stays. */
static void blame(struct job *job, const struct fleet_event *event)
{
    uint32_t other;
    if (job->struck.count != 1 ||
        !job_chain_blames_other(&job->chain, job->spec->nodes,
                                job_nodes_position(&job->nodes, job->struck.nodes[0]), &other))
        return;
    int32_t node = job_nodes_at(&job->nodes, other);
    if (node != NO_NODE) {
        job->struck.nodes[0] = (uint32_t)node;
        job->struck.strikes_again = true;
        job->struck.again = *event;
    }
}

static void replica_alone(struct job *job, uint32_t node, double at_s)
{
    uint32_t position = job_nodes_position(&job->nodes, node);
    uint32_t count = job_replicas_at(&job->replicas, position);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t replica = job_replicas_of(&job->replicas, position, i);
        job_replicas_leave(&job->replicas, replica, true);
        if (job->replicas.replicas[replica].missing == 0)
            job_replica_whole(job, replica, at_s);
    }
}

/* The nodes that leave, those that come, and what is walked then. */
static void carry_out(struct job *job, const struct fleet_event *event, bool hardware,
                      const struct recovery_decision *decision, double at_s)
{
    job_chain_choose(&job->chain, decision->links, decision->wait);
    bool replaced = hardware && replaces(job, decision);
    for (uint32_t i = 0; i < job->struck.count; i++) {
        job_faults_node_gone(&job->faults, job->struck.nodes[i]);
        if (replaced)
            job_node_leave(job, job->struck.nodes[i], event, at_s, decision->others_go_on);
        else if (decision->others_go_on)
            replica_alone(job, job->struck.nodes[i], at_s);
    }
    job_take_spares(job, decision->nodes_taken, at_s);
}

/* The phase at hand ends where the failure struck. */
static void break_off(struct job *job, double at_s)
{
    if (job->clock.phase == PHASE_STEPS) {
        job_account_broken(&job->account, job->clock.at_s, at_s);
        job_clock_spend(&job->clock, at_s);
    } else {
        job_pass(job, at_s);
    }
    job_clock_struck(&job->clock);
}

static void begin_telling(struct job *job, const struct fleet_event *event, double at_s)
{
    job_chain_struck(&job->chain, event->cause);
    if (job->account.interrupted) {
        job_account_strike(&job->account);
        return;
    }
    if (!job_clock_runs(&job->clock))
        break_off(job, at_s); /* a planned restart: what it took so far is not of this failure */
    job_account_interrupt(&job->account, event, at_s, job->steps.now.steps);
}

static void stop(struct job *job, int scope, double taint_s)
{
    job->save.is_for = SAVE_IS_DUE;
    job_chain_stop(&job->chain);
    job_enter(job, PHASE_LINK, INFINITY);
    job_roll_back(job, job->clock.at_s, scope, taint_s);
}

static int scope_of(const struct job *job, bool hardware)
{
    return !hardware ? SURVIVES_PROCESS : job->struck.count > 1 ? SURVIVES_DOMAIN : SURVIVES_NODE;
}

/* The others go on; what they had begun of a step is lost with the one that left. */
static void go_on(struct job *job, const struct fleet_event *event, bool hardware,
                  const struct recovery_decision *decision, double at_s)
{
    if (job->clock.phase == PHASE_STEPS)
        break_off(job, at_s);
    carry_out(job, event, hardware, decision, at_s);
    job_account_decided(&job->account, decision->nodes_taken > 0, true);
    job_account_resumed(&job->account, at_s, UINT_MAX, job->steps.now.steps);
    if (job->clock.phase == PHASE_STEPS)
        job_condition(job);
    else
        job_plans_turn_at(&job->plans, job->clock.at_s);
}

/* Stops the job, or the replicas that it strikes. `taint_s`: copies begun later are worthless. */
void job_stop_for(struct job *job, const struct fleet_event *event, double at_s, double taint_s)
{
    struct recovery_decision decision;
    bool hardware = is_hardware(job, event);
    find_struck(job, event);
    begin_telling(job, event, at_s);
    decide(job, hardware, !isinf(taint_s), &decision);
    if (decision.others_go_on) {
        go_on(job, event, hardware, &decision, at_s);
        return;
    }
    int scope = scope_of(job, hardware);
    break_off(job, at_s);
    stop(job, scope, taint_s);
    job->struck.strikes_again = false;
    if (hardware && replaces(job, &decision))
        blame(job, event);
    carry_out(job, event, hardware, &decision, at_s);
    job_account_decided(&job->account, decision.nodes_taken > 0, false);
    if (!isinf(taint_s))
        job_chain_noticed(&job->chain);
    job_restart(job);
}

/* The fault that was blamed on another node shows itself again as soon as the job runs. */
void job_strike_again(struct job *job)
{
    struct fleet_event event = job->struck.again;
    job->struck.strikes_again = false;
    job_stop_for(job, &event, job->clock.at_s, INFINITY);
}

static void tell_failure(struct job *job, const struct fleet_event *event, double at_s)
{
    double repair_s = 0.0;
    if (job_account_tells_failures(&job->account) && is_hardware(job, event))
        repair_s = job_repair_s(job, event);
    job_account_failure(&job->account, event, at_s, repair_s);
}

/* The next failure of the fleet happens now. */
void job_strike(struct job *job, double at_s)
{
    struct fleet_event event;
    job_clock_strike(&job->clock, &event);
    tell_failure(job, &event, at_s);
    if (job->spec->causes[event.cause].effect != EFFECT_STOP)
        job_fault_begin(job, &event, at_s);
    else
        job_stop_for(job, &event, at_s, INFINITY);
    job_clock_spared(&job->clock);
}

/* Slow parts that were found are replaced, the job being saved: true where it has to restart. */
static bool replace(struct job *job, const struct fleet_event *event)
{
    struct recovery_decision decision;
    bool hardware = is_hardware(job, event);
    find_struck(job, event);
    decide(job, hardware, false, &decision);
    carry_out(job, event, hardware, &decision, job->clock.at_s);
    job_chain_noticed(&job->chain);
    return !decision.others_go_on;
}

/* The job stands saved: slow parts that were found are replaced. True where it has to restart. */
bool job_mitigate(struct job *job)
{
    bool restart = false;
    const struct fault *fault;
    for (uint32_t at = 0; (fault = job_faults_replace(&job->faults, &at)) != NULL;) {
        struct fleet_event event = fault->event;
        restart |= replace(job, &event);
    }
    return restart;
}
