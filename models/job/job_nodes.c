/* job_nodes.c - who stands in the job, who stands by, who is being repaired.
 *
 * Invariants
 * 1. A node is in one place: at a position of the job (node_at[position] == node), on the stack
 *    of spares (the one that was repaired last goes first), under repair, in the queue for a crew,
 * or retired.
 * 2. missing[r] counts the positions of replica r without a node; a replica with any is out of the
 *    job, and stays out until it comes back by a restart of the job or by its own chain.
 * 3. replicas_up + out_count == replicas. */
#include <math.h>
#include <string.h>

#include "models/job/job_state.h"
#include "sim/check.h"

uint32_t job_first_replica(const struct job_spec *spec, uint32_t position)
{
    return spec->replica_of_node != NULL
               ? spec->replica_of_node[position]
               : (uint32_t)((uint64_t)position * spec->replicas / spec->nodes);
}

uint32_t job_last_replica(const struct job_spec *spec, uint32_t position)
{
    return spec->replica_last_of_node != NULL
               ? spec->replica_last_of_node[position]
               : (uint32_t)((((uint64_t)position + 1) * spec->replicas - 1) / spec->nodes);
}

void job_nodes_create(struct job *job)
{
    const struct job_spec *spec = job->spec;
    uint32_t spares = spec->recovery.kind->has_spares ? (uint32_t)spec->recovery.spares : 0;
    uint32_t all = spec->nodes + (uint32_t)spec->recovery.spares;
    job->nodes = ARENA_ARRAY(job->arena, struct node, all);
    for (uint32_t i = 0; i < all; i++) {
        job->nodes[i].position = i < spec->nodes ? (int32_t)i : NO_NODE;
    }
    job->node_count = all;
    job->free_spares = ARENA_ARRAY(job->arena, uint32_t, all);
    for (job->free_count = 0; job->free_count < spares; job->free_count++) {
        job->free_spares[job->free_count] = spec->nodes + spares - 1 - job->free_count;
    }
    job->vacant = ARENA_ARRAY(job->arena, uint32_t, spec->nodes);
    job->struck = ARENA_ARRAY(job->arena, uint32_t, spec->nodes);
    job->replica = ARENA_ARRAY(job->arena, struct replica, spec->replicas);
    job->out_list = ARENA_ARRAY(job->arena, uint32_t, spec->replicas);
    job->replicas_up = spec->replicas;
    job->queue_first = job->queue_last = UINT32_MAX;
}

void job_replica_out(struct job *job, uint32_t replica, bool alone)
{
    struct replica *r = &job->replica[replica];
    r->version++;
    r->ready = false;
    r->alone = alone;
    if (!r->out) {
        r->out = true;
        job->out_list[job->out_count++] = replica;
        job->replicas_up--;
    }
}

/* A replica that is out has all its nodes again. While the job restarts it comes along. */
void job_replica_whole(struct job *job, uint32_t replica, double at_s)
{
    struct replica *r = &job->replica[replica];
    if (r->alone) {
        job_outside_push(&job->outside, at_s + job_replica_chain_s(job), OUTSIDE_REJOIN, replica,
                         r->version);
    } else if (job_clock_runs(&job->clock)) {
        job_plans_add(&job->plans, PLAN_REJOIN, at_s);
    }
}

/* All replicas that have their nodes are back, after a restart of the whole job. */
void job_replicas_return(struct job *job)
{
    uint32_t still = 0;
    for (uint32_t i = 0; i < job->out_count; i++) {
        struct replica *r = &job->replica[job->out_list[i]];
        if (r->missing > 0) {
            job->out_list[still++] = job->out_list[i];
            continue;
        }
        r->out = r->ready = false;
        r->version++;
    }
    job->out_count = still;
    job->replicas_up = job->spec->replicas - still;
}

/* Replicas whose own chain is over take part from the next step on. */
void job_replicas_join(struct job *job)
{
    for (uint32_t i = job->out_count; i-- > 0;) {
        struct replica *r = &job->replica[job->out_list[i]];
        if (r->ready && r->missing == 0) {
            job->out_list[i] = job->out_list[--job->out_count];
            r->out = r->ready = false;
            r->version++;
            job->replicas_up++;
        }
    }
}

static bool escalates(const struct job *job, const struct fleet_event *event)
{
    double ratio = job->spec->recovery.escalate_ratio;
    return ratio > 0.0 && fleet_uniform(job->fleet, event, "escalate") < ratio;
}

/* A failure's whole repair, by its law or the trace. */
double job_repair_s(const struct job *job, const struct fleet_event *event)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    const struct duration *own = &job->spec->causes[event->cause].repair;
    if (event->repair_s >= 0.0) {
        return event->repair_s;
    }
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

static void begin_repair(struct job *job, uint32_t node, double at_s)
{
    job->repairs_busy++;
    job_outside_push(&job->outside, at_s + job->nodes[node].repair_s, OUTSIDE_REPAIRED, node, 0);
}

static void queue_repair(struct job *job, uint32_t node)
{
    job->nodes[node].next = UINT32_MAX;
    if (job->queue_last == UINT32_MAX) {
        job->queue_first = node;
    } else {
        job->nodes[job->queue_last].next = node;
    }
    job->queue_last = node;
}

static void send_to_repair(struct job *job, uint32_t node, const struct fleet_event *event,
                           double at_s)
{
    const struct recovery_spec *recovery = &job->spec->recovery;
    struct node *of = &job->nodes[node];
    if (recovery->retire_after > 0 && of->failures >= recovery->retire_after) {
        return;
    }
    of->repair_s = job_repair_s(job, event);
    of->mended = repair_succeeds(job, event);
    if (recovery->crews > 0 && job->repairs_busy >= recovery->crews) {
        queue_repair(job, node);
    } else {
        begin_repair(job, node, at_s);
    }
}

/* A node leaves its position, for repair or for good. */
void job_node_leave(struct job *job, uint32_t node, const struct fleet_event *event, double at_s)
{
    struct node *of = &job->nodes[node];
    CHECK(of->position != NO_NODE);
    uint32_t position = (uint32_t)of->position;
    job_clock_leave(&job->clock, node, at_s);
    of->position = NO_NODE;
    of->failures++;
    job->vacant[job->nodes_short++] = position;
    uint32_t last = job_last_replica(job->spec, position);
    for (uint32_t r = job_first_replica(job->spec, position); r <= last; r++) {
        job->replica[r].missing++;
        job_replica_out(job, r, job->alone);
    }
    send_to_repair(job, node, event, at_s);
}

/* A node takes the vacant position that was left last. */
static void fill(struct job *job, uint32_t node, double at_s)
{
    uint32_t position = job->vacant[--job->nodes_short];
    job->nodes[node].position = (int32_t)position;
    job_clock_join(&job->clock, node, at_s);
    uint32_t last = job_last_replica(job->spec, position);
    for (uint32_t r = job_first_replica(job->spec, position); r <= last; r++) {
        if (--job->replica[r].missing == 0) {
            job_replica_whole(job, r, at_s);
        }
    }
}

void job_take_spares(struct job *job, uint32_t count, double at_s)
{
    for (uint32_t i = 0; i < count; i++) {
        CHECK(job->free_count > 0 && job->nodes_short > 0);
        uint32_t node = job->free_spares[--job->free_count];
        job->account.result->spares_taken++;
        fill(job, node, at_s);
    }
}

static void next_in_queue(struct job *job, double at_s)
{
    uint32_t node = job->queue_first;
    if (node == UINT32_MAX) {
        return;
    }
    job->queue_first = job->nodes[node].next;
    if (job->queue_first == UINT32_MAX) {
        job->queue_last = UINT32_MAX;
    }
    begin_repair(job, node, at_s);
}

void job_node_repaired(struct job *job, uint32_t node, double at_s)
{
    job->repairs_busy--;
    next_in_queue(job, at_s);
    if (job->nodes[node].mended) {
        fleet_mend(job->fleet, node);
    }
    if (job->nodes_short > 0) {
        fill(job, node, at_s);
    } else {
        job->free_spares[job->free_count++] = node;
    }
}

bool job_repairs_pending(const struct job *job)
{
    return job->repairs_busy > 0;
}
