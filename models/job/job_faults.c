/* job_faults.c - slow units and silent corruption: faults that do not stop the job when they begin.
 *
 * A slow unit is found after its time of detection, and then replaced at a planned stop, or gets
 * well by itself before. A corrupt one is found after its own; all that was saved since is dropped.
 * They are few: a list, searched in order. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "models/job/job_state.h"

static uint32_t new_fault(struct job *job)
{
    for (uint32_t i = 0; i < job->fault_count; i++) {
        if (!job->faults[i].alive) {
            return i;
        }
    }
    if (job->fault_count == job->fault_size) {
        uint32_t size = job->fault_size == 0 ? 8 : 2 * job->fault_size;
        struct fault *faults = ARENA_ARRAY(job->arena, struct fault, size);
        if (job->fault_count > 0) {
            memcpy(faults, job->faults, job->fault_count * sizeof *faults);
        }
        job->faults = faults;
        job->fault_size = size;
    }
    return job->fault_count++;
}

/* The stage of the GPU that a unit is or serves, by positions of the job; 0: not known. */
static uint32_t stage_of(const struct job *job, const struct fleet_event *event)
{
    const struct job_spec *spec = job->spec;
    if (spec->stage_of_gpu == NULL || event->node == UINT32_MAX ||
        job->nodes[event->node].position == NO_NODE) {
        return 0;
    }
    uint32_t local = 0;
    switch (spec->causes[event->cause].unit) {
    case UNIT_GPU:
        local = event->unit % spec->gpus_per_node;
        break;
    case UNIT_NIC:
        local = event->unit % spec->nics_per_node * spec->gpus_per_node / spec->nics_per_node;
        break;
    default:
        break;
    }
    uint32_t position = (uint32_t)job->nodes[event->node].position;
    return spec->stage_of_gpu[position * spec->gpus_per_node + local];
}

static double time_of(const struct job *job, const struct duration *law,
                      const struct fleet_event *event, const char *purpose)
{
    return duration_quantile_s(law, fleet_uniform(job->fleet, event, purpose));
}

/* A unit that is slow already does not become slow twice. */
static bool is_slow(const struct job *job, const struct fleet_event *event)
{
    for (uint32_t i = 0; i < job->fault_count; i++) {
        const struct fault *fault = &job->faults[i];
        if (fault->alive && !fault->corrupts && fault->event.cause == event->cause &&
            fault->event.unit == event->unit) {
            return true;
        }
    }
    return false;
}

void job_fault_begin(struct job *job, const struct fleet_event *event, double at_s)
{
    const struct failure_cause *cause = &job->spec->causes[event->cause];
    const struct duration *detect = cause->detect.mean_s >= 0.0
                                        ? &cause->detect
                                        : &job->spec->recovery.restart.links[LINK_DETECT];
    if (cause->effect == EFFECT_SLOW && is_slow(job, event)) {
        return;
    }
    uint32_t id = new_fault(job);
    struct fault *fault = &job->faults[id];
    *fault = (struct fault){.event = *event,
                            .onset_s = at_s,
                            .version = fault->version + 1,
                            .alive = true,
                            .corrupts = cause->effect == EFFECT_CORRUPT};
    double found_s = at_s + time_of(job, detect, event, "detect");
    if (fault->corrupts) {
        job_outside_push(&job->outside, found_s, OUTSIDE_CORRUPT_FOUND, id, fault->version);
        return;
    }
    fault->slow =
        (struct condition_slow){stage_of(job, event), cause->slow_link, cause->slow_ratio};
    job_outside_push(&job->outside, found_s, OUTSIDE_SLOW_FOUND, id, fault->version);
    if (cause->slow_time.mean_s > 0.0) {
        job_outside_push(&job->outside, at_s + time_of(job, &cause->slow_time, event, "slow time"),
                         OUTSIDE_SLOW_END, id, fault->version);
    }
    job_plans_turn_at(&job->plans, at_s);
}

/* Its node left the job, or was mended: a slow part is gone; what a corrupt one did is not. */
void job_faults_of_node_end(struct job *job, uint32_t node)
{
    for (uint32_t i = 0; i < job->fault_count; i++) {
        struct fault *fault = &job->faults[i];
        if (fault->alive && fault->event.node == node) {
            fault->gone = true;
            fault->alive = fault->corrupts;
        }
    }
}

/* A corruption whose unit is gone is cured where the copy that was loaded is older than it. */
void job_faults_forgotten(struct job *job)
{
    for (uint32_t i = 0; i < job->fault_count; i++) {
        struct fault *fault = &job->faults[i];
        fault->alive &= !(fault->gone && fault->onset_s >= job->copies.loaded_began_s);
    }
}

const struct fault *job_fault_event(struct job *job, const struct outside_event *event)
{
    struct fault *fault = &job->faults[event->id];
    if (!fault->alive || fault->version != event->version) {
        return NULL;
    }
    if (event->kind == OUTSIDE_SLOW_FOUND) {
        fault->found = true;
        job_plans_add(&job->plans, PLAN_MITIGATE, event->at_s);
    } else {
        fault->alive = false;
    }
    if (event->kind == OUTSIDE_CORRUPT_FOUND) {
        return fault;
    }
    job_plans_turn_at(&job->plans, event->at_s);
    return NULL;
}

/* The worst first, equal ones by stage, so that the condition does not depend on their order. */
static bool worse(const struct condition_slow *a, const struct condition_slow *b)
{
    if (a->ratio != b->ratio) {
        return a->ratio < b->ratio;
    }
    return a->stage != b->stage ? a->stage < b->stage : a->link > b->link;
}

static void add_slow(struct condition *condition, struct condition_slow slow)
{
    for (uint32_t i = 0; i < condition->slow_count; i++) {
        if (worse(&slow, &condition->slow[i])) {
            struct condition_slow other = condition->slow[i];
            condition->slow[i] = slow;
            slow = other;
        }
    }
    if (condition->slow_count < CONDITION_SLOW_MAX) {
        condition->slow[condition->slow_count++] = slow;
    }
}

/* Some replica that the node serves is in the job. */
static bool takes_part(const struct job *job, uint32_t node)
{
    if (node == UINT32_MAX) {
        return true;
    }
    int32_t position = job->nodes[node].position;
    if (position == NO_NODE) {
        return false;
    }
    uint32_t last = job_last_replica(job->spec, (uint32_t)position);
    for (uint32_t r = job_first_replica(job->spec, (uint32_t)position); r <= last; r++) {
        if (!job->replica[r].out) {
            return true;
        }
    }
    return false;
}

/* What a step lasts in the condition of the moment. */
double job_condition_step_s(const struct job *job)
{
    if (job->out_count == 0 && job->fault_count == 0) {
        return job->steps.ideal_step_s;
    }
    struct condition condition = condition_ideal;
    condition.replicas_missing = job->out_count;
    for (uint32_t i = 0; i < job->fault_count; i++) {
        const struct fault *fault = &job->faults[i];
        if (fault->alive && !fault->corrupts && takes_part(job, fault->event.node)) {
            add_slow(&condition, fault->slow);
        }
    }
    bool ideal = condition.replicas_missing == 0 && condition.slow_count == 0;
    return ideal ? job->steps.ideal_step_s : condition_step_s(job->conditions, &condition);
}
