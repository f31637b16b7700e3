/* Invariants
 * 1. A node is waiting, then ready (in the queue of its lane, or come to its meeting), then under
 *    way, then done; its times are written once each, in that order.
 * 2. When an instant has been settled no lane is free while its queue holds a node, and no group is
 *    idle while its queue holds a meeting. So the order of the events of an instant changes
 *    nothing.
 * 3. A group's meeting is in `share` from its start to the end of its bytes when it has links.
 * 4. The parts of a rank tile the time up to `since_s`.
 * 5. A node has come to its meeting when nothing is left that it waits for. All have at its start
 *    but the receiver of an eager message, who takes part from when it comes.
 *
 * State of a group                   leaves it by
 * IDLE    nothing under way          settle: the lowest meeting of the queue -> MOVING
 * MOVING  bytes on the wire          EVENT_FLOW_FINISH [handle_meeting] -> ENDING
 * ENDING  latency                    EVENT_FLOW_FINISH [handle_meeting] -> IDLE */
#include "models/step/tasks/task_play.h"

#include <math.h>
#include <string.h>

#include "models/layout/layout.h"
#include "models/step/simulate/event.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/list.h"
#include "sim/sim.h"
#include "sim/units.h"

#define PLAY_MAX_S (100.0 * YEAR) /* times are told in whole ns of 64 bits */

static inline bool row_before(const uint32_t *a, const uint32_t *b)
{
    return *a < *b;
}
HEAP_DEFINE(rows, uint32_t, row_before, 2)

enum task_group_state {
    IDLE,
    MOVING,
    ENDING
};
enum meeting_stage {
    TO_COME,
    UNDER_WAY,
    OVER
};
struct group_play {
    struct rows queue; /* meetings that all have come to */
    uint32_t meeting;  /* under way */
    uint32_t slot, activity;
    double begin_s;
    uint8_t state;
    bool dirty;
};
struct lane_play {
    struct rows queue; /* nodes that are ready */
    uint32_t node;     /* under way; TASK_NONE: it is free */
    uint32_t slot;
    bool dirty;
};
struct rank_play {
    struct lane_play lanes[TASK_LANES];
    uint32_t moving, waiting; /* meetings under way; come to, and not begun */
    double since_s, speed_ratio;
};
struct task_playing {
    struct sim *sim;
    struct arena *arena; /* the simulation's */
    const struct task_graph *e;
    struct task_links links;
    struct task_played *out;
    struct share *share;
    struct rank_play *ranks;
    struct group_play *groups;
    uint32_t *left, *missing; /* [node], [meeting]: as in the check */
    uint8_t *stage;           /* [meeting]: enum meeting_stage */
    uint32_t *rank_of;        /* [node] */
    uint32_t *owner_of_slot;  /* groups, then lanes: group count + rank x lanes + lane */
    uint32_t *group_of_activity;
    uint32_t *done, done_count;   /* nodes whose followers have not been told */
    uint32_t *dirty, dirty_count; /* owners */
    uint64_t finished;
    bool unsolved;
};

static enum task_part part_of(const struct rank_play *r)
{
    if (r->lanes[TASK_COMPUTE].node != TASK_NONE)
        return TASK_PART_COMPUTE;
    if (r->lanes[TASK_MEMORY].node != TASK_NONE)
        return TASK_PART_MEMORY;
    if (r->moving > 0)
        return TASK_PART_COMMUNICATION;
    if (r->lanes[TASK_HOST].node != TASK_NONE)
        return TASK_PART_HOST;
    return r->waiting > 0 ? TASK_PART_WAIT : TASK_PART_DONE;
}

/* Before anything about the rank changes: what it did until now. */
static struct rank_play *account(struct task_playing *p, uint32_t rank)
{
    struct rank_play *r = &p->ranks[rank];
    const double now_s = sim_now_s(p->sim), spent_s = now_s - r->since_s;
    p->out->parts_s[rank][part_of(r)] += spent_s;
    if (r->moving > 0)
        p->out->communicating_s[rank] += spent_s;
    r->since_s = now_s;
    return r;
}

static void soil_group(struct task_playing *p, uint32_t group)
{
    if (!p->groups[group].dirty)
        p->dirty[p->dirty_count++] = group;
    p->groups[group].dirty = true;
}

static void soil_lane(struct task_playing *p, uint32_t rank, unsigned lane)
{
    struct lane_play *l = &p->ranks[rank].lanes[lane];
    if (!l->dirty)
        p->dirty[p->dirty_count++] = p->e->group_count + rank * TASK_LANES + lane;
    l->dirty = true;
}

static void finish_node(struct task_playing *p, uint32_t node)
{
    p->out->times[node].finish_s = sim_now_s(p->sim);
    p->done[p->done_count++] = node;
    p->finished++;
}

/* One more has come to a meeting, or the one before it on its communicator is over. */
static void approach(struct task_playing *p, uint32_t meeting)
{
    DCHECK(p->missing[meeting] > 0);
    if (--p->missing[meeting] > 0)
        return;
    const uint32_t group = p->e->meetings[meeting].group;
    rows_push(&p->groups[group].queue, p->arena, meeting);
    soil_group(p, group);
}

/* The receiver of an eager message, which may be under way or there. */
static void receive(struct task_playing *p, uint32_t node)
{
    const uint32_t meeting = p->e->nodes[node].meeting;
    if (p->stage[meeting] == TO_COME) {
        account(p, p->rank_of[node])->waiting++;
        return;
    }
    p->out->times[node].begin_s = sim_now_s(p->sim);
    if (p->stage[meeting] == UNDER_WAY)
        account(p, p->rank_of[node])->moving++;
    else
        finish_node(p, node);
}

static void make_ready(struct task_playing *p, uint32_t node)
{
    const struct task_node *n = &p->e->nodes[node];
    const uint32_t rank = p->rank_of[node];
    p->out->times[node].ready_s = sim_now_s(p->sim);
    if (n->meeting != TASK_NONE && !task_awaits(p->e, n->meeting, rank)) {
        receive(p, node);
    } else if (n->meeting != TASK_NONE) {
        account(p, rank)->waiting++;
        approach(p, n->meeting);
    } else if (n->lane != TASK_NO_LANE) {
        rows_push(&p->ranks[rank].lanes[n->lane].queue, p->arena, node);
        soil_lane(p, rank, n->lane);
    } else {
        p->out->times[node].begin_s = sim_now_s(p->sim);
        finish_node(p, node);
    }
}

/* Tells the followers of what has finished; those that take no time finish at once. */
static void spread(struct task_playing *p)
{
    while (p->done_count > 0) {
        const uint32_t node = p->done[--p->done_count];
        const uint32_t end = p->links.after_first[node + 1];
        for (uint32_t i = p->links.after_first[node]; i < end; i++) {
            const uint32_t next = p->links.after[i];
            if (--p->left[next] == 0)
                make_ready(p, next);
        }
    }
}

static void start_lane(struct task_playing *p, uint32_t rank, struct lane_play *lane)
{
    if (lane->node != TASK_NONE || lane->queue.count == 0)
        return;
    struct rank_play *r = account(p, rank);
    const uint32_t node = lane->queue.items[0];
    const struct task_node *n = &p->e->nodes[node];
    const double speed_ratio = n->lane == TASK_COMPUTE ? r->speed_ratio : 1.0;
    const double now_s = sim_now_s(p->sim);
    rows_pop(&lane->queue);
    lane->node = node;
    p->out->times[node].begin_s = now_s;
    calendar_set(sim_calendar(p->sim), lane->slot, now_s + n->work_s / speed_ratio, EVENT_COMPUTE);
}

static void start_group(struct task_playing *p, uint32_t group)
{
    struct group_play *g = &p->groups[group];
    if (g->state != IDLE || g->queue.count == 0)
        return;
    const double now_s = sim_now_s(p->sim);
    g->meeting = g->queue.items[0];
    rows_pop(&g->queue);
    g->state = MOVING;
    g->begin_s = now_s;
    p->stage[g->meeting] = UNDER_WAY;
    const uint32_t end = p->links.attendee_first[g->meeting + 1];
    for (uint32_t i = p->links.attendee_first[g->meeting]; i < end; i++) {
        const uint32_t node = p->links.attendees[i];
        if (p->left[node] > 0)
            continue; /* invariant 5 */
        struct rank_play *r = account(p, p->rank_of[node]);
        r->waiting--;
        r->moving++;
        p->out->times[node].begin_s = now_s;
    }
    const struct task_wires *wires = &p->out->wires;
    const struct task_plan *plan = &wires->plans[wires->plan_of[g->meeting]];
    if (plan->use_count == 0 || plan->bytes <= 0.0) {
        calendar_set(sim_calendar(p->sim), g->slot, now_s + plan->bytes / plan->cap_bytes_per_s,
                     EVENT_FLOW_FINISH);
        return;
    }
    g->activity = share_start(p->share, now_s,
                              (struct share_demand){plan->bytes * plan->wire_weight,
                                                    plan->cap_bytes_per_s * plan->wire_weight, 1.0},
                              wires->uses + plan->use_first, plan->use_count);
    CHECK(g->activity < p->e->group_count); /* a group has one at a time */
    p->group_of_activity[g->activity] = group;
    p->unsolved = true;
}

static void end_meeting(struct task_playing *p, uint32_t group)
{
    struct group_play *g = &p->groups[group];
    struct task_tally *tally = &p->out->groups[group];
    const uint32_t end = p->links.attendee_first[g->meeting + 1];
    for (uint32_t i = p->links.attendee_first[g->meeting]; i < end; i++) {
        const uint32_t node = p->links.attendees[i];
        if (p->left[node] > 0)
            continue;
        account(p, p->rank_of[node])->moving--;
        finish_node(p, node);
    }
    p->stage[g->meeting] = OVER;
    tally->meetings++;
    tally->bytes += p->e->meetings[g->meeting].bytes;
    tally->moving_s += sim_now_s(p->sim) - g->begin_s;
    if (p->links.next_meeting[g->meeting] != TASK_NONE)
        approach(p, p->links.next_meeting[g->meeting]);
    g->state = IDLE;
    soil_group(p, group);
    spread(p);
}

static void handle_meeting(struct sim *sim, void *player, uint32_t slot)
{
    struct task_playing *p = player;
    const uint32_t group = p->owner_of_slot[slot];
    struct group_play *g = &p->groups[group];
    const struct task_plan *plan = &p->out->wires.plans[p->out->wires.plan_of[g->meeting]];
    const double now_s = sim_now_s(sim);
    CHECK(g->state == MOVING || g->state == ENDING);
    if (g->state == MOVING) {
        if (plan->use_count > 0 && plan->bytes > 0.0) {
            share_finish(p->share, now_s, g->activity);
            p->unsolved = true;
        }
        g->state = ENDING;
        if (plan->latency_s > 0.0) {
            calendar_set(sim_calendar(sim), slot, now_s + plan->latency_s, EVENT_FLOW_FINISH);
            return;
        }
    }
    end_meeting(p, group);
}

static void handle_lane(struct sim *sim, void *player, uint32_t slot)
{
    struct task_playing *p = player;
    const uint32_t owner = p->owner_of_slot[slot] - p->e->group_count;
    const uint32_t rank = owner / TASK_LANES, lane = owner % TASK_LANES;
    struct lane_play *l = &account(p, rank)->lanes[lane];
    (void)sim;
    CHECK(l->node != TASK_NONE);
    finish_node(p, l->node);
    l->node = TASK_NONE;
    soil_lane(p, rank, lane);
    spread(p);
}

static void solve(struct task_playing *p)
{
    const double now_s = sim_now_s(p->sim);
    const uint32_t *changed = NULL;
    const size_t count = share_solve(p->share, now_s, &changed);
    for (size_t i = 0; i < count; i++) {
        const struct group_play *g = &p->groups[p->group_of_activity[changed[i]]];
        const double finish_s = share_finish_s(p->share, changed[i]);
        CHECK(g->state == MOVING && finish_s >= now_s && isfinite(finish_s));
        calendar_set(sim_calendar(p->sim), g->slot, finish_s, EVENT_FLOW_FINISH);
    }
    p->unsolved = false;
}

/* All events of this instant are in: whoever is free takes what is ready (invariant 2). */
static void settle(struct sim *sim, void *player)
{
    struct task_playing *p = player;
    const uint32_t group_count = p->e->group_count;
    (void)sim;
    for (uint32_t i = 0; i < p->dirty_count; i++) {
        const uint32_t owner = p->dirty[i];
        if (owner < group_count) {
            p->groups[owner].dirty = false;
            start_group(p, owner);
        } else {
            const uint32_t rank = (owner - group_count) / TASK_LANES;
            struct lane_play *lane = &p->ranks[rank].lanes[(owner - group_count) % TASK_LANES];
            lane->dirty = false;
            start_lane(p, rank, lane);
        }
    }
    p->dirty_count = 0;
    if (p->unsolved)
        solve(p);
}

static uint32_t take_slot(struct task_playing *p, uint32_t owner)
{
    const uint32_t slot = calendar_slot(sim_calendar(p->sim));
    CHECK(slot < p->e->group_count + p->e->rank_count * TASK_LANES);
    p->owner_of_slot[slot] = owner;
    return slot;
}

static void create_ranks(struct task_playing *p, const struct configuration *c)
{
    const struct task_graph *e = p->e;
    p->ranks = ARENA_ARRAY(p->arena, struct rank_play, e->rank_count);
    p->rank_of = ARENA_ARRAY(p->arena, uint32_t, e->node_count);
    for (uint32_t rank = 0; rank < e->rank_count; rank++) {
        struct rank_play *r = &p->ranks[rank];
        r->speed_ratio = 1.0;
        for (uint32_t i = 0; i < c->perturbation_count; i++) {
            const struct perturbation *change = &c->perturbations[i];
            if (change->what == PERTURB_GPU_SPEED && change->gpu == layout_gpu(c, rank))
                r->speed_ratio *= change->ratio;
        }
        for (unsigned lane = 0; lane < TASK_LANES; lane++) {
            r->lanes[lane].node = TASK_NONE;
            r->lanes[lane].slot = take_slot(p, e->group_count + rank * TASK_LANES + lane);
        }
        for (uint32_t n = e->rank_first[rank]; n < e->rank_first[rank + 1]; n++) {
            p->rank_of[n] = rank;
            p->left[n] = e->nodes[n].wait_count;
        }
    }
}

static struct task_playing *play_create(struct sim *sim, const struct task_graph *e,
                                        const struct task_links *links,
                                        const struct configuration *c, struct task_played *out)
{
    struct arena *arena = sim_arena(sim);
    struct task_playing *p = ARENA_NEW(arena, struct task_playing);
    const size_t owners = (size_t)e->group_count + (size_t)e->rank_count * TASK_LANES;
    *p = (struct task_playing){.sim = sim, .arena = arena, .e = e, .links = *links, .out = out};
    p->share = share_create(arena, out->wires.link_count, out->wires.bytes_per_s);
    p->left = ARENA_ARRAY(arena, uint32_t, e->node_count);
    p->missing = ARENA_ARRAY(arena, uint32_t, e->meeting_count);
    p->stage = ARENA_ARRAY(arena, uint8_t, e->meeting_count);
    p->owner_of_slot = ARENA_ARRAY(arena, uint32_t, owners);
    p->dirty = ARENA_ARRAY(arena, uint32_t, owners);
    p->group_of_activity = ARENA_ARRAY(arena, uint32_t, e->group_count);
    p->done = ARENA_ARRAY(arena, uint32_t, e->node_count);
    p->groups = ARENA_ARRAY(arena, struct group_play, e->group_count);
    for (uint32_t g = 0; g < e->group_count; g++)
        p->groups[g].slot = take_slot(p, g);
    create_ranks(p, c);
    for (uint32_t m = 0; m < e->meeting_count; m++)
        p->missing[m] = task_awaited(e, m) + (links->previous_meeting[m] != TASK_NONE);
    sim_handle(sim, EVENT_COMPUTE, handle_lane, p);
    sim_handle(sim, EVENT_FLOW_FINISH, handle_meeting, p);
    sim_settle(sim, EVENT_SETTLE_NETWORK, settle, p);
    return p;
}

static uint64_t digest_of(const struct task_playing *p)
{
    const struct task_graph *e = p->e;
    uint64_t digest = 0;
    for (uint32_t rank = 0; rank < e->rank_count; rank++) {
        uint64_t track = digest_begin();
        for (uint32_t n = e->rank_first[rank]; n < e->rank_first[rank + 1]; n++) {
            track = digest_add_time(track, p->out->times[n].begin_s);
            track = digest_add_time(track, p->out->times[n].finish_s);
            track = digest_add(track, e->nodes[n].id);
        }
        digest = digest_join(digest, rank, track);
    }
    return digest;
}

static bool run(struct task_playing *p, struct error *error)
{
    for (uint32_t n = 0; n < p->e->node_count; n++)
        if (p->e->nodes[n].wait_count == 0)
            make_ready(p, n);
    spread(p);
    sim_run(p->sim);
    CHECK(p->finished == p->e->node_count); /* task_check promises it */
    p->out->step_s = sim_now_s(p->sim);
    if (!(p->out->step_s <= PLAY_MAX_S))
        return error_set(error, "the step takes %.3g years, more than can be recorded (%.0f)",
                         p->out->step_s / YEAR, PLAY_MAX_S / YEAR);
    for (uint32_t rank = 0; rank < p->e->rank_count; rank++)
        account(p, rank);
    p->out->event_count = sim_event_count(p->sim);
    p->out->digest = digest_of(p);
    return true;
}

static bool build_wires(struct arena *arena, const struct task_graph *e,
                        const struct configuration *c, struct task_wires *out, struct error *error)
{
    struct arena *scratch = arena_create();
    struct topology topology = {0};
    const bool good = topology_build(scratch, &c->cluster, &topology, error);
    for (uint32_t i = 0; good && i < c->perturbation_count; i++) {
        const struct perturbation *change = &c->perturbations[i];
        if (change->what == PERTURB_LINK)
            topology_degrade(&topology, (uint32_t)change->gpu, (enum link_kind)change->link,
                             change->ratio);
    }
    if (good)
        task_wires_build(arena, e, c, &topology, out);
    arena_destroy(scratch);
    return good;
}

bool task_play(struct arena *arena, const struct task_graph *e, const struct configuration *c,
               struct task_played *out, struct error *error)
{
    struct task_links links;
    *out = (struct task_played){0};
    if (e->rank_count > configuration_gpus(c))
        return error_set(error,
                         "the trace has %u ranks, the cluster %llu GPUs: give it more nodes "
                         "(cluster.nodes)",
                         e->rank_count, (unsigned long long)configuration_gpus(c));
    task_link(arena, e, &links);
    if (!task_check(e, &links, error) || !build_wires(arena, e, c, &out->wires, error))
        return false;
    out->times = ARENA_ARRAY(arena, struct task_times, e->node_count);
    out->parts_s = arena_array(arena, sizeof *out->parts_s, e->rank_count, _Alignof(double));
    out->communicating_s = ARENA_ARRAY(arena, double, e->rank_count);
    out->groups = ARENA_ARRAY(arena, struct task_tally, e->group_count);
    struct sim *sim = sim_create(c->seed);
    const bool good = run(play_create(sim, e, &links, c, out), error);
    sim_destroy(sim);
    return good;
}
