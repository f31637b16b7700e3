/* job_recover.c - from a failure to the policy's decision, and what it means for nodes, replicas
 * and copies. The chain that follows is job_chain.c's. */
#include <limits.h>
#include <math.h>

#include "models/job/job_state.h"
#include "sim/check.h"

/* Nodes of the job that a failure takes down, into job->struck. */
static void find_struck(struct job *job, const struct fleet_event *event)
{
    job->struck_count = 0;
    for (uint32_t i = 0; i < event->node_count; i++) { /* 0 of a failure of the job */
        uint32_t node = event->node + i;
        if (job->nodes[node].position != NO_NODE &&
            (event->node_count == 1 || fleet_hit(job->fleet, event, node))) {
            job->struck[job->struck_count++] = node;
        }
    }
}

/* A node must be replaced or repaired: the restart alone does not mend it. */
static bool is_hardware(const struct job *job, const struct fleet_event *event)
{
    double in_place = job->spec->causes[event->cause].in_place_ratio;
    if (event->node == UINT32_MAX || event->repair_s >= 0.0) {
        return event->node != UINT32_MAX && event->repair_s > 0.0;
    }
    return in_place == 0.0 || fleet_uniform(job->fleet, event, "in place") >= in_place;
}

/* Replicas that the struck nodes serve, each once. */
struct touched {
    uint32_t running, whole; /* in the job; with all their nodes */
};

static struct touched replicas_touched(struct job *job)
{
    struct touched count = {0};
    job->stamps++;
    for (uint32_t i = 0; i < job->struck_count; i++) {
        uint32_t position = (uint32_t)job->nodes[job->struck[i]].position;
        uint32_t last = job_last_replica(job->spec, position);
        for (uint32_t r = job_first_replica(job->spec, position); r <= last; r++) {
            struct replica *replica = &job->replica[r];
            bool seen = replica->stamp == job->stamps;
            count.running += !seen && !replica->out ? 1 : 0;
            count.whole += !seen && replica->missing == 0 ? 1 : 0;
            replica->stamp = job->stamps;
        }
    }
    return count;
}

/* Replicas that will be in the job once it has restarted, if nothing is replaced. */
static uint32_t replicas_whole(const struct job *job)
{
    uint32_t whole = job->replicas_up;
    for (uint32_t i = 0; i < job->out_count; i++) {
        whole += job->replica[job->out_list[i]].missing == 0 ? 1 : 0;
    }
    return whole;
}

static void decide(struct job *job, bool hardware, bool whole_job, struct recovery_decision *out)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    struct touched touched = replicas_touched(job);
    uint32_t lost = hardware ? job->struck_count : 0;
    whole_job |= job->struck_count == 0 || !job_clock_runs(&job->clock);
    struct recovery_situation situation = {
        .hardware = hardware,
        .nodes_lost = lost,
        .nodes_short = job->nodes_short + lost,
        .spares_free = job->free_count,
        .replicas_up = replicas_whole(job) - (hardware ? touched.whole : 0),
        .replicas_untouched = whole_job ? 0 : job->replicas_up - touched.running,
        .replicas = job->spec->replicas,
        .replicas_min = (uint32_t)recovery->replicas_min,
        .options = &recovery->options,
    };
    *out = (struct recovery_decision){0};
    recovery->kind->decide(&situation, out);
}

static bool replaces(const struct job *job, const struct recovery_decision *decision)
{
    return decision->nodes_taken >= job->nodes_short + job->struck_count || decision->wait ||
           decision->shrink || decision->others_go_on;
}

/* The wrong one of two nodes may be blamed: it is replaced, and the fault stays. */
static void blame(struct job *job, const struct fleet_event *event)
{
    double ratio = job->spec->recovery.wrong_blame_ratio;
    if (ratio == 0.0 || job->struck_count != 1 || job->spec->nodes < 2 ||
        job_uniform(job, DRAW_BLAME, job->chains) >= ratio) {
        return;
    }
    double u = job_uniform(job, DRAW_BLAMED, job->chains);
    uint32_t position = (uint32_t)(u * (job->spec->nodes - 1));
    position += (int64_t)position >= job->nodes[job->struck[0]].position ? 1 : 0;
    for (uint32_t node = 0; node < job->node_count; node++) {
        if (job->nodes[node].position == (int32_t)position) {
            job->struck[0] = node;
            job->strikes_again = true;
            job->again = *event;
            return;
        }
    }
}

static void replica_alone(struct job *job, uint32_t node, double at_s)
{
    uint32_t position = (uint32_t)job->nodes[node].position;
    uint32_t last = job_last_replica(job->spec, position);
    for (uint32_t r = job_first_replica(job->spec, position); r <= last; r++) {
        job_replica_out(job, r, true);
        if (job->replica[r].missing == 0) {
            job_replica_whole(job, r, at_s);
        }
    }
}

/* The nodes that leave, those that come, and what is walked then. */
static void carry_out(struct job *job, const struct fleet_event *event, bool hardware,
                      const struct recovery_decision *decision, double at_s)
{
    job->alone = decision->others_go_on;
    job->waits = decision->wait;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        job->links[link] = decision->links[link];
    }
    bool replaced = hardware && replaces(job, decision);
    for (uint32_t i = 0; i < job->struck_count; i++) {
        job_faults_of_node_end(job, job->struck[i]);
        if (replaced) {
            job_node_leave(job, job->struck[i], event, at_s);
        } else if (job->alone) {
            replica_alone(job, job->struck[i], at_s);
        }
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
    job->cause = event->cause;
    if (job->account.interrupted) {
        job_account_strike(&job->account);
        return;
    }
    if (!job_clock_runs(&job->clock)) {
        break_off(job, at_s); /* a planned restart: what it took so far is not of this failure */
    }
    job_account_interrupt(&job->account, event, at_s, job->steps.now.steps);
}

static void stop(struct job *job, int scope, double taint_s)
{
    job->last_save = job->stopping = false;
    job->place = 0;
    job_enter(job, PHASE_LINK, INFINITY);
    job_roll_back(job, job->clock.at_s, scope, taint_s);
}

static int scope_of(const struct job *job, bool hardware)
{
    return !hardware ? SURVIVES_PROCESS : job->struck_count > 1 ? SURVIVES_DOMAIN : SURVIVES_NODE;
}

/* The others go on; what they had begun of a step is lost with the one that left. */
static void go_on(struct job *job, const struct fleet_event *event, bool hardware,
                  const struct recovery_decision *decision, double at_s)
{
    if (job->clock.phase == PHASE_STEPS) {
        break_off(job, at_s);
    }
    carry_out(job, event, hardware, decision, at_s);
    job_account_decided(&job->account, decision->nodes_taken > 0, true);
    job_account_resumed(&job->account, at_s, UINT_MAX);
    if (job->clock.phase == PHASE_STEPS) {
        job_condition(job);
    } else {
        job_plans_turn_at(&job->plans, job->clock.at_s);
    }
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
    job->strikes_again = false;
    if (hardware && replaces(job, &decision)) {
        blame(job, event);
    }
    carry_out(job, event, hardware, &decision, at_s);
    job_account_decided(&job->account, decision.nodes_taken > 0, false);
    if (!isinf(taint_s)) {
        job->links[LINK_DETECT] = false;
    }
    job_chain_begin(job);
}

/* The fault that was blamed on another node shows itself again as soon as the job runs. */
void job_strike_again(struct job *job)
{
    struct fleet_event event = job->again;
    job->strikes_again = false;
    job_stop_for(job, &event, job->clock.at_s, INFINITY);
}

static void tell_failure(struct job *job, const struct fleet_event *event, double at_s)
{
    double repair_s = 0.0;
    if (job_account_tells_failures(&job->account) && is_hardware(job, event)) {
        repair_s = job_repair_s(job, event);
    }
    job_account_failure(&job->account, event, at_s, repair_s);
}

/* The next failure of the fleet happens now. */
void job_strike(struct job *job, double at_s)
{
    struct fleet_event event;
    job_clock_strike(&job->clock, &event);
    tell_failure(job, &event, at_s);
    if (job->spec->causes[event.cause].effect != EFFECT_STOP) {
        job_fault_begin(job, &event, at_s);
    } else {
        job_stop_for(job, &event, at_s, INFINITY);
    }
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
    job->links[LINK_DETECT] = false;
    return !decision.others_go_on;
}

/* The job stands saved: slow parts that were found are replaced. True where it has to restart. */
bool job_mitigate(struct job *job)
{
    bool restart = false;
    for (uint32_t i = 0; i < job->fault_count; i++) {
        if (job->faults[i].alive && job->faults[i].found) {
            struct fleet_event event = job->faults[i].event;
            restart |= replace(job, &event);
            job->faults[i].alive = false;
        }
    }
    return restart;
}
