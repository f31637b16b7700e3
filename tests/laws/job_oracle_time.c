/* job_oracle_time.c - the naive player: failures, repairs and copies on their way come while it
 * stands somewhere. */
#include <math.h>
#include <string.h>

#include "job_oracle_state.h"
#include "sim/check.h"

struct job_result *oracle_result(struct oracle *o)
{
    return &o->told->result;
}

static void commit(struct oracle *o, const struct copy *copy)
{
    o->copies[o->copy_count++] = *copy;
    oracle_result(o)->checkpoints++;
    CHECK(o->copy_count < ORACLE_COPIES && o->told->save_count < ORACLE_COPIES);
    o->told->saves[o->told->save_count++] =
        (struct saved){copy->durable_s, copy->stall_s, copy->steps, copy->level};
    uint32_t of_level = 0, oldest = 0;
    for (uint32_t i = o->copy_count; i-- > 0;) {
        if (o->copies[i].level == copy->level) {
            of_level++;
            oldest = i;
        }
    }
    if (of_level > o->spec->checkpoint.keep) {
        memmove(&o->copies[oldest], &o->copies[oldest + 1],
                (o->copy_count - oldest - 1) * sizeof *o->copies);
        o->copy_count--;
    }
}

static bool copy_before(const struct copy *a, const struct copy *b)
{
    return a->durable_s < b->durable_s || (a->durable_s == b->durable_s && a->level < b->level);
}

void oracle_settle(struct oracle *o)
{
    for (;;) {
        uint32_t first = o->write_count;
        for (uint32_t i = 0; i < o->write_count; i++) {
            double at_s = o->writes[i].copy.durable_s;
            if (at_s <= o->now_s && (first == o->write_count ||
                                     copy_before(&o->writes[i].copy, &o->writes[first].copy)))
                first = i;
        }
        if (first == o->write_count)
            return;
        commit(o, &o->writes[first].copy);
        memmove(&o->writes[first], &o->writes[first + 1],
                (o->write_count - first - 1) * sizeof *o->writes);
        o->write_count--;
    }
}

/* Of two repairs that are over at the same time. */
static bool back_before(const struct node *a, const struct node *b)
{
    if (a->back_s != b->back_s)
        return a->back_s < b->back_s;
    return a->begun_s < b->begun_s || (a->begun_s == b->begun_s && a->order < b->order);
}

void oracle_join(struct oracle *o, uint32_t index, double exposed_s)
{
    CHECK(o->missing > 0);
    o->nodes[index].place = INSIDE;
    o->nodes[index].joined_s = exposed_s;
    o->missing--;
}

void oracle_mend(struct oracle *o, double begin_s, double begin_exposed_s, bool exposed)
{
    for (;;) {
        uint32_t first = ORACLE_NODES;
        for (uint32_t i = 0; i < ORACLE_NODES; i++) {
            const struct node *node = &o->nodes[i];
            if (node->place == BROKEN && node->back_s <= o->now_s &&
                (first == ORACLE_NODES || back_before(node, &o->nodes[first])))
                first = i;
        }
        if (first == ORACLE_NODES)
            return;
        struct node *node = &o->nodes[first];
        if (o->missing > 0) {
            oracle_join(o, first, begin_exposed_s + (exposed ? node->back_s - begin_s : 0.0));
        } else {
            node->place = SPARE;
            node->order = o->orders++;
        }
    }
}

/* Until the next repair is over: a node that joins can be struck from then on. */
double oracle_next_repair_s(const struct oracle *o)
{
    double back_s = INFINITY;
    for (uint32_t i = 0; i < ORACLE_NODES; i++)
        if (o->nodes[i].place == BROKEN && o->nodes[i].back_s > o->now_s)
            back_s = fmin(back_s, o->nodes[i].back_s);
    return back_s;
}

uint32_t oracle_nodes_of(const struct oracle *o, const struct failure_cause *cause, uint32_t unit,
                         uint32_t *first)
{
    const struct job_spec *spec = o->spec;
    switch (cause->unit) {
    case UNIT_JOB:
        *first = 0;
        return 0;
    case UNIT_DOMAIN:
        *first = unit * (uint32_t)cause->domain_nodes;
        return (uint32_t)cause->domain_nodes;
    case UNIT_GPU:
        *first = unit / spec->gpus_per_node;
        return 1;
    case UNIT_NIC:
        *first = unit / spec->nics_per_node;
        return 1;
    default:
        *first = unit;
        return 1;
    }
}

static bool strikes(const struct oracle *o, uint32_t cause_index, const struct trace_event *event)
{
    const struct failure_cause *cause = &o->spec->causes[cause_index];
    uint32_t first, count = oracle_nodes_of(o, cause, event->unit, &first);
    if (cause->unit == UNIT_JOB)
        return true;
    for (uint32_t i = first; i < first + count && i < ORACLE_NODES; i++)
        if (o->nodes[i].place == INSIDE && o->nodes[i].joined_s <= event->at_s)
            return true;
    return false;
}

/* The next failure that would strike the job as it stands; INFINITY: none. */
static double next_failure(struct oracle *o)
{
    double at_s = INFINITY;
    for (uint32_t c = 0; c < o->spec->cause_count; c++) {
        const struct failure_cause *cause = &o->spec->causes[c];
        for (uint32_t i = 0; i < cause->trace_count; i++) {
            const struct trace_event *event = &cause->trace[i];
            if (i < o->passed[c] || event->at_s < o->exposed_s || event->at_s >= at_s ||
                !strikes(o, c, event))
                continue;
            at_s = event->at_s;
            o->struck.cause = c;
            o->struck.index = i;
        }
    }
    return at_s;
}

static enum outcome stay_until_repair(struct oracle *o, double until_s, bool exposed,
                                      double *passed_s)
{
    double begin_s = o->now_s, begin_exposed_s = o->exposed_s, end_s = o->spec->duration_s;
    enum outcome outcome = PASSED;
    double strike_s = exposed ? o->now_s + (next_failure(o) - o->exposed_s) : INFINITY;
    if (strike_s < until_s) {
        until_s = strike_s;
        outcome = STRUCK;
    }
    if (end_s > 0.0 && (outcome == STRUCK ? end_s <= until_s : end_s < until_s)) {
        until_s = end_s;
        outcome = OVER;
    }
    o->now_s = until_s;
    if (outcome == STRUCK)
        o->exposed_s = o->spec->causes[o->struck.cause].trace[o->struck.index].at_s;
    else if (exposed)
        o->exposed_s += until_s - begin_s;
    *passed_s += until_s - begin_s;
    oracle_settle(o);
    oracle_mend(o, begin_s, begin_exposed_s, exposed);
    return outcome;
}

enum outcome oracle_stay(struct oracle *o, double until_s, bool exposed, double *passed_s)
{
    enum outcome outcome = PASSED;
    bool there = false;
    *passed_s = 0.0;
    while (!there && outcome == PASSED) {
        double repair_s = oracle_next_repair_s(o);
        there = repair_s >= until_s;
        outcome = stay_until_repair(o, fmin(repair_s, until_s), exposed, passed_s);
    }
    return outcome;
}
