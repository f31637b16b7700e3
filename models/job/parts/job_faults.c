/* job_faults.c - slow units and silent corruption.
 *
 * Invariants
 * 1. Each row is one fault at a time; its version is another for each, so that what was to come of
 *    one does not come to the next.
 * 2. Slow units are found while they are alive, corrupt ones end when they are found: none is both
 *    corrupt and found.
 * 3. The slow parts of a condition are the worst of all, the worst first. */
#include "models/job/parts/job_faults.h"

#include "sim/check.h"
#include "sim/list.h"

void job_faults_create(struct job_faults *faults, struct arena *arena)
{
    *faults = (struct job_faults){.arena = arena};
}

static uint32_t new_fault(struct job_faults *faults)
{
    for (uint32_t i = 0; i < faults->count; i++)
        if (!faults->faults[i].alive)
            return i;
    LIST_ROOM(faults->arena, faults->faults, faults->count, 1, faults->capacity);
    return faults->count++;
}

bool job_faults_is_slow(const struct job_faults *faults, const struct fleet_event *event)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct fault *fault = &faults->faults[i];
        if (fault->alive && !fault->corrupts && fault->event.cause == event->cause &&
            fault->event.unit == event->unit)
            return true;
    }
    return false;
}

static uint32_t begin(struct job_faults *faults, struct fault fault)
{
    uint32_t id = new_fault(faults);
    CHECK(!faults->faults[id].alive); /* 1 */
    fault.version = faults->faults[id].version + 1;
    fault.alive = true;
    faults->faults[id] = fault;
    return id;
}

uint32_t job_faults_begin_slow(struct job_faults *faults, const struct fleet_event *event,
                               double at_s, struct condition_slow slow)
{
    CHECK(slow.ratio > 0.0);
    return begin(faults, (struct fault){.event = *event, .onset_s = at_s, .slow = slow});
}

uint32_t job_faults_begin_corrupt(struct job_faults *faults, const struct fleet_event *event,
                                  double at_s)
{
    return begin(faults, (struct fault){.event = *event, .onset_s = at_s, .corrupts = true});
}

const struct fault *job_faults_learn(struct job_faults *faults, const struct outside_event *event)
{
    CHECK(event->id < faults->count);
    struct fault *fault = &faults->faults[event->id];
    if (!fault->alive || fault->version != event->version)
        return NULL;
    CHECK(fault->corrupts == (event->kind == OUTSIDE_CORRUPT_FOUND)); /* 1 */
    CHECK(event->at_s >= fault->onset_s);
    if (event->kind == OUTSIDE_SLOW_FOUND)
        fault->found = true;
    else
        fault->alive = false; /* 2 */
    return fault;
}

void job_faults_node_gone(struct job_faults *faults, uint32_t node)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->faults[i];
        if (fault->alive && fault->event.node == node) {
            fault->gone = true;
            fault->alive = fault->corrupts;
        }
    }
}

void job_faults_forget(struct job_faults *faults, double copy_s)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->faults[i];
        fault->alive &= !(fault->gone && fault->onset_s >= copy_s);
    }
}

const struct fault *job_faults_replace(struct job_faults *faults, uint32_t *at)
{
    while (*at < faults->count) {
        struct fault *fault = &faults->faults[(*at)++];
        if (fault->alive && fault->found) {
            CHECK(!fault->corrupts); /* 2 */
            fault->alive = false;
            return fault;
        }
    }
    return NULL;
}

/* The worst first, equal ones by stage, so that the condition does not depend on their order. */
static bool worse(const struct condition_slow *a, const struct condition_slow *b)
{
    if (a->ratio != b->ratio)
        return a->ratio < b->ratio;
    return a->stage != b->stage ? a->stage < b->stage : a->link > b->link;
}

void job_faults_add_slow(struct condition *condition, struct condition_slow slow)
{
    for (uint32_t i = 0; i < condition->slow_count; i++) {
        if (worse(&slow, &condition->slow[i])) {
            struct condition_slow other = condition->slow[i];
            condition->slow[i] = slow;
            slow = other;
        }
    }
    if (condition->slow_count < CONDITION_SLOW_MAX)
        condition->slow[condition->slow_count++] = slow;
    CHECK(condition->slow_count <= CONDITION_SLOW_MAX); /* 3 */
}
