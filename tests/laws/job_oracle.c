/* job_oracle.c - the naive player: steps, saves and the way back from a failure. */
#include "job_oracle.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job_oracle_state.h"
#include "sim/check.h"

static void undo_to(struct oracle *o, uint64_t steps)
{
    double lost_s = 0.0;
    CHECK(steps <= o->steps);
    for (uint64_t i = steps; i <= o->steps; i++) {
        lost_s += o->useful_s[i] + o->degraded_s[i];
        o->useful_s[i] = o->degraded_s[i] = 0.0;
    }
    oracle_result(o)->badput_s[BADPUT_lost_work] += lost_s;
    if (o->open) {
        o->open->lost_s += lost_s;
        o->open->lost_steps += (double)(o->steps - steps);
        o->open->loaded_step = steps;
    }
    o->steps = steps;
    o->since_save = 0;
}

static const struct copy *newest(const struct oracle *o)
{
    const struct copy *best = NULL;
    for (uint32_t i = 0; i < o->copy_count; i++) {
        const struct copy *copy = &o->copies[i];
        if (!best || copy->steps > best->steps ||
            (copy->steps == best->steps && copy->level < best->level))
            best = copy;
    }
    return best;
}

static void destroy(struct oracle *o, int scope)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->copy_count; i++)
        if (o->spec->checkpoint.plan.levels[o->copies[i].level].survival >= scope)
            o->copies[kept++] = o->copies[i];
    o->copy_count = kept;
    o->write_count = 0;
}

static double repair_of(const struct oracle *o, const struct failure_cause *cause,
                        const struct trace_event *event)
{
    if (event->repair_s >= 0.0)
        return event->repair_s;
    return cause->repair.mean_s >= 0.0 ? cause->repair.mean_s : o->spec->recovery.repair.mean_s;
}

/* A crew that is free first takes it; all of them at once where there are no crews to wait for. */
static void send_to_repair(struct oracle *o, uint32_t index, double repair_s)
{
    double begin_s = o->now_s;
    if (o->spec->recovery.crews > 0) {
        uint32_t crew = 0;
        for (uint32_t i = 1; i < o->spec->recovery.crews; i++)
            crew = o->crew_free_s[i] < o->crew_free_s[crew] ? i : crew;
        begin_s = fmax(begin_s, o->crew_free_s[crew]);
        o->crew_free_s[crew] = begin_s + repair_s;
    }
    o->nodes[index].place = BROKEN;
    o->nodes[index].begun_s = begin_s;
    o->nodes[index].back_s = begin_s + repair_s;
    o->nodes[index].order = o->orders++;
    o->missing++;
}

static uint32_t spares_free(const struct oracle *o)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ORACLE_NODES; i++)
        count += o->nodes[i].place == SPARE;
    return count;
}

/* The one that was repaired last. */
static void join_spare(struct oracle *o)
{
    uint32_t best = ORACLE_NODES;
    for (uint32_t i = 0; i < ORACLE_NODES; i++)
        if (o->nodes[i].place == SPARE &&
            (best == ORACLE_NODES || o->nodes[i].order > o->nodes[best].order))
            best = i;
    CHECK(best < ORACLE_NODES);
    oracle_join(o, best, o->exposed_s);
}

static void decide(struct oracle *o, bool hardware, const uint32_t *lost, uint32_t lost_count,
                   double repair_s)
{
    struct recovery_situation situation = {
        .hardware = hardware,
        .nodes_short = o->missing + lost_count,
        .spares_free = spares_free(o),
        .replicas_up = 0,
        .replicas = o->spec->replicas,
        .replicas_min = (uint32_t)o->spec->recovery.replicas_min,
    };
    struct recovery_decision decision = {0};
    o->spec->recovery.kind->decide(&situation, &decision);
    memcpy(o->links, decision.links, sizeof o->links);
    for (uint32_t i = 0; (decision.wait || decision.nodes_taken > 0) && i < lost_count; i++)
        send_to_repair(o, lost[i], repair_s);
    for (uint32_t i = 0; i < decision.nodes_taken; i++)
        join_spare(o);
    oracle_result(o)->spares_taken += decision.nodes_taken;
    o->open->spare_taken |= decision.nodes_taken > 0;
}

static void open_interruption(struct oracle *o, uint32_t cause, uint32_t unit, uint32_t node)
{
    o->open = &o->told->interruptions[o->told->interruption_count++];
    *o->open = (struct interruption){.at_s = o->now_s,
                                     .cause = cause,
                                     .node = node,
                                     .unit = unit,
                                     .step = o->steps,
                                     .resumed_at_s = -1.0,
                                     .level = UINT_MAX};
    oracle_result(o)->interruptions++;
}

static void fail(struct oracle *o)
{
    uint32_t c = o->struck.cause;
    const struct failure_cause *cause = &o->spec->causes[c];
    const struct trace_event *event = &cause->trace[o->struck.index];
    o->passed[c] = o->struck.index + 1;
    o->told->failed_s[o->told->failure_count++] = o->now_s;
    oracle_result(o)->failures++;
    o->told->by_cause[c]++;
    uint32_t first, count = oracle_nodes_of(o, cause, event->unit, &first), lost[ORACLE_NODES];
    uint32_t lost_count = 0;
    if (o->open)
        o->open->strikes++;
    else
        open_interruption(o, c, event->unit, cause->unit == UNIT_JOB ? UINT32_MAX : first);
    bool mended = event->repair_s == 0.0 || (event->repair_s < 0.0 && cause->in_place_ratio == 1.0);
    bool hardware = cause->unit != UNIT_JOB && !mended;
    for (uint32_t i = first; hardware && i < first + count && i < ORACLE_NODES; i++)
        if (o->nodes[i].place == INSIDE)
            lost[lost_count++] = i;
    destroy(o, !hardware ? SURVIVES_PROCESS : lost_count > 1 ? SURVIVES_DOMAIN : SURVIVES_NODE);
    const struct copy *back = newest(o);
    undo_to(o, back ? back->steps : 0);
    o->detect_s = cause->detect.mean_s >= 0.0 ? cause->detect.mean_s
                                              : o->spec->recovery.restart.links[LINK_DETECT].mean_s;
    decide(o, hardware, lost, lost_count, repair_of(o, cause, event));
    oracle_mend(o, o->now_s, o->exposed_s, false);
}

static enum outcome walk_link(struct oracle *o, unsigned link)
{
    const struct restart_spec *restart = &o->spec->recovery.restart;
    if (!o->links[link])
        return PASSED;
    double length_s = link == LINK_DETECT ? o->detect_s : restart->links[link].mean_s, passed_s;
    if (link == LINK_COMMUNICATORS)
        length_s += restart->communicators_per_rank_s * (double)o->spec->ranks;
    bool exposed = o->spec->strike == STRIKE_ALWAYS && !restart->sheltered[link];
    enum outcome outcome = oracle_stay(o, o->now_s + length_s, exposed, &passed_s);
    oracle_result(o)->badput_s[link == LINK_DETECT ? BADPUT_detect : BADPUT_restart] += passed_s;
    oracle_result(o)->restart_link_s[link] += passed_s;
    if (o->open)
        o->open->links_s[link] += passed_s;
    return outcome;
}

static enum outcome wait_for_nodes(struct oracle *o)
{
    while (o->missing > 0) {
        double back_s = oracle_next_repair_s(o), passed_s;
        CHECK(isfinite(back_s) && spares_free(o) == 0);
        enum outcome outcome = oracle_stay(o, back_s, o->spec->strike == STRIKE_ALWAYS, &passed_s);
        oracle_result(o)->badput_s[BADPUT_wait] += passed_s;
        if (o->open)
            o->open->wait_s += passed_s;
        if (outcome != PASSED)
            return outcome;
        if (o->now_s == o->spec->duration_s)
            return OVER; /* what comes from outside goes by its age: the end was known first */
    }
    return PASSED;
}

static enum outcome load(struct oracle *o)
{
    const struct copy *copy = newest(o);
    double passed_s = 0.0;
    if (!copy)
        return PASSED;
    const struct checkpoint_level *level = &o->spec->checkpoint.plan.levels[copy->level];
    enum outcome outcome =
        oracle_stay(o, o->now_s + level->load_s, o->spec->strike == STRIKE_ALWAYS, &passed_s);
    oracle_result(o)->badput_s[BADPUT_restart] += passed_s;
    oracle_result(o)->part.load_s += passed_s;
    if (o->open)
        o->open->load_s += passed_s;
    o->loaded_level = copy->level;
    return outcome;
}

static enum outcome walk_chain_once(struct oracle *o)
{
    enum outcome outcome = PASSED;
    o->loaded_level = UINT_MAX;
    for (unsigned link = 0; link < RESTART_LINK_COUNT && outcome == PASSED; link++) {
        if (link == LINK_ALLOCATE)
            outcome = wait_for_nodes(o);
        if (link == LINK_WARMUP && outcome == PASSED)
            outcome = load(o);
        if (outcome == PASSED)
            outcome = walk_link(o, link);
    }
    return outcome;
}

/* Until the job runs again. */
static enum outcome recover(struct oracle *o)
{
    enum outcome outcome;
    while ((outcome = walk_chain_once(o)) == STRUCK)
        fail(o);
    if (outcome == PASSED && o->open) {
        o->open->resumed_at_s = o->now_s;
        o->open->level = o->loaded_level;
        o->open = NULL;
    }
    return outcome;
}

static enum outcome struck(struct oracle *o, enum outcome outcome)
{
    if (outcome != STRUCK)
        return outcome;
    fail(o);
    return recover(o) == OVER ? OVER : STRUCK;
}

/* Share of the speed of steps that is left beside the writes of this moment, and until when. */
static double speed(const struct oracle *o, double *until_s)
{
    double loss = 0.0;
    *until_s = INFINITY;
    for (uint32_t i = 0; i < o->write_count; i++) {
        const struct write *write = &o->writes[i];
        const struct checkpoint_level *level = &o->spec->checkpoint.plan.levels[write->copy.level];
        if (write->begin_s > o->now_s) {
            *until_s = fmin(*until_s, write->begin_s);
        } else {
            loss += 1.0 - 1.0 / level->slowdown_ratio;
            *until_s = fmin(*until_s, write->copy.durable_s);
        }
    }
    return fmax(1.0 - loss, 0.0);
}

static enum outcome step(struct oracle *o)
{
    double left_s = o->step_s;
    CHECK(o->steps + 1 < ORACLE_STEPS);
    for (;;) {
        double until_s, passed_s, share = speed(o, &until_s);
        double end_s = o->now_s + left_s / share;
        bool ends = end_s <= until_s;
        enum outcome outcome = oracle_stay(o, ends ? end_s : until_s, true, &passed_s);
        o->useful_s[o->steps] += passed_s * share;
        o->degraded_s[o->steps] += passed_s * (1.0 - share);
        left_s -= passed_s * share;
        if (outcome != PASSED)
            return outcome;
        if (ends)
            break;
    }
    o->steps++;
    o->since_save++;
    return PASSED;
}

static enum outcome stand(struct oracle *o, double until_s)
{
    double passed_s;
    enum outcome outcome = oracle_stay(o, until_s, o->spec->strike != STRIKE_WORKING, &passed_s);
    oracle_result(o)->badput_s[BADPUT_checkpoint] += passed_s;
    return outcome;
}

/* Until nothing of these levels is on its way. */
static enum outcome drain(struct oracle *o, const bool levels[CHECKPOINT_LEVEL_MAX])
{
    double until_s = o->now_s;
    for (uint32_t i = 0; i < o->write_count; i++)
        if (levels[o->writes[i].copy.level])
            until_s = fmax(until_s, o->writes[i].copy.durable_s);
    return until_s > o->now_s ? stand(o, until_s) : PASSED;
}

static enum outcome save(struct oracle *o, bool all)
{
    const struct checkpoint_plan *plan = &o->spec->checkpoint.plan;
    bool levels[CHECKPOINT_LEVEL_MAX] = {false};
    uint64_t number = o->saves + 1, steps = o->steps;
    double stall_s = 0.0;
    for (unsigned i = 0; i < plan->level_count; i++) {
        levels[i] = all || number % plan->levels[i].every == 0;
        stall_s += levels[i] ? plan->levels[i].stall_s : 0.0;
    }
    enum outcome outcome = drain(o, levels);
    if (outcome != PASSED)
        return outcome;
    o->saves++;
    o->since_save = 0;
    outcome = stand(o, o->now_s + stall_s);
    if (outcome != PASSED)
        return outcome;
    double begin_s = o->now_s;
    for (unsigned i = 0; i < plan->level_count; i++) {
        if (!levels[i])
            continue;
        double durable_s = o->now_s + plan->levels[i].persist_s;
        CHECK(o->write_count < ORACLE_COPIES);
        o->writes[o->write_count++] = (struct write){{i, steps, durable_s, stall_s}, begin_s};
        begin_s = durable_s;
    }
    oracle_settle(o);
    return all ? drain(o, levels) : PASSED;
}

/* All that was done is durable on the safest level. */
static bool is_saved(const struct oracle *o)
{
    for (uint32_t i = 0; i < o->copy_count; i++)
        if (o->copies[i].steps == o->steps &&
            o->copies[i].level + 1 == o->spec->checkpoint.plan.level_count)
            return true;
    return false;
}

static bool save_due(const struct oracle *o)
{
    const struct checkpoint_spec *checkpoint = &o->spec->checkpoint;
    if (checkpoint->plan.level_count == 0)
        return false;
    if (checkpoint->plan.every_step)
        return o->since_save >= 1;
    if (checkpoint->interval_steps > 0)
        return o->since_save >= checkpoint->interval_steps;
    return o->since_save > 0 && (double)o->since_save * o->step_s >= checkpoint->interval_s;
}

static enum outcome maintain(struct oracle *o)
{
    double passed_s;
    enum outcome outcome = is_saved(o) ? PASSED : save(o, true);
    if (outcome != PASSED)
        return outcome;
    while (o->planned_s <= o->now_s)
        o->planned_s += o->spec->maintenance_every_s;
    undo_to(o, newest(o) ? newest(o)->steps : 0);
    outcome = oracle_stay(o, o->now_s + o->spec->maintenance_s, false, &passed_s);
    oracle_result(o)->badput_s[BADPUT_maintenance] += passed_s;
    if (outcome != PASSED)
        return outcome;
    memset(o->links, 0, sizeof o->links);
    o->links[LINK_SCHEDULE] = o->links[LINK_START] = o->links[LINK_COMMUNICATORS] =
        o->links[LINK_WARMUP] = true;
    return recover(o);
}

/* One turn of training; PASSED with *done: the work is done. */
static enum outcome turn(struct oracle *o, bool *done)
{
    bool worked = o->spec->steps > 0 && o->steps == o->spec->steps;
    bool planned = o->spec->maintenance_every_s > 0.0 && o->now_s >= o->planned_s;
    if (worked) {
        bool final = o->spec->checkpoint.final && o->spec->checkpoint.plan.level_count > 0;
        enum outcome outcome = final && !is_saved(o) ? save(o, true) : PASSED;
        *done = outcome == PASSED;
        return outcome;
    }
    if (planned)
        return maintain(o);
    return save_due(o) ? save(o, false) : step(o);
}

static void add_up(struct oracle *o)
{
    struct job_result *r = oracle_result(o);
    for (uint64_t i = 0; i <= o->steps; i++) {
        r->badput_s[BADPUT_useful] += o->useful_s[i];
        r->badput_s[BADPUT_degraded] += o->degraded_s[i];
    }
    r->wall_s = o->now_s;
    r->steps_completed = (double)o->steps + o->useful_s[o->steps] / o->step_s;
    r->tokens_completed = r->steps_completed * o->spec->tokens_per_step;
    r->goodput = r->steps_completed * o->step_s / r->wall_s;
    r->ettr = (r->badput_s[BADPUT_useful] + r->badput_s[BADPUT_degraded]) / r->wall_s;
}

void job_oracle(const struct job_spec *spec, double step_s, struct told *out)
{
    struct oracle *o = calloc(1, sizeof *o);
    CHECK(o && spec->nodes + spec->recovery.spares <= ORACLE_NODES);
    *out = (struct told){0};
    o->spec = spec;
    o->told = out;
    o->step_s = step_s;
    o->planned_s = spec->maintenance_every_s;
    for (uint32_t i = 0; i < ORACLE_NODES; i++) {
        uint64_t all = spec->nodes + spec->recovery.spares;
        o->nodes[i].place = i < spec->nodes ? INSIDE : i < all ? SPARE : BROKEN;
        o->nodes[i].back_s = INFINITY;
        o->nodes[i].order = -(int64_t)i;
    }
    bool done = false;
    enum outcome outcome = PASSED;
    while (!done && outcome != OVER)
        outcome = struck(o, turn(o, &done));
    out->result.finished = done;
    add_up(o);
    free(o);
}
