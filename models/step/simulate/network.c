/* network.c
 *
 * Invariants
 * 1. A group has one activity at a time: a party posts again only after it was told the finish.
 * 2. All parties of an activity name the same plan.
 * 3. No arrival and no start lies before the clock.
 * 4. An activity is in `share` from its COMM_START to its FLOW_FINISH when its plan has links to
 *    share with others, and never otherwise.
 * 5. Until it is parted, all groups of a bundle have its rates and name the same party as last.
 *
 * State of a group                     leaves it by
 * GATHERING  some have not posted      network_post of the last: certain -> told, GATHERING;
 *                                      else -> DUE
 * DUE        all have, start to come   COMM_START [handle_start] -> MOVING
 * MOVING     bytes on the wire         FLOW_FINISH [handle_finish] -> told, GATHERING;
 *                                      watched -> ENDING
 * ENDING     latency, on the GPU still FLOW_FINISH [handle_finish] -> told, GATHERING
 *
 * An activity is certain when nobody can change it after its start: it has no link to share and
 * nobody watches it. Its finish is told at once, ahead of the clock, and costs no event. */
#include "models/step/simulate/network.h"

#include <math.h>

#include "models/step/simulate/event.h"
#include "sim/check.h"
#include "sim/list.h"

enum meeting_state {
    GATHERING,
    DUE,
    MOVING,
    ENDING
};
struct meeting {     /* of one group class */
    double latest_s; /* arrival so far */
    double begin_s;
    uint32_t arrived, party_first, party_count;
    uint32_t last; /* row of the party whose arrival is latest_s */
    uint32_t plan;
    uint32_t slot;     /* of the calendar, taken when first needed */
    uint32_t activity; /* of share, while MOVING with links */
    uint32_t place;    /* among those that move by several ways */
    uint8_t state;
    bool watched;
    bool tied; /* of parties that arrived at latest_s different groups would name different ones */
};
struct seat { /* of a rank class on a stream: where its posts go */
    uint32_t group, row, plan_first;
};
struct plan_time {
    double wire_s; /* alone: bytes / ceiling; meaningless with links to share */
    double latency_s;
    bool shares;
};
struct tally { /* of a plan: activities of its class, and time on the wire when it shares */
    uint64_t posted, finished;
    double moving_s;
};
struct own_links { /* [link class] */
    double *bytes, *busy_s;
    uint64_t activity_count; /* when they were summed */
};
struct network {
    struct sim *sim;
    const struct symmetry *symmetry;
    struct share *share;
    network_done_fn *done;
    network_active_fn *active;
    void *worker;
    struct meeting *meetings;
    struct seat *seats;         /* [rank class x streams] */
    struct attendee *attendees; /* [party] */
    uint32_t *name_order;       /* [party]: symmetry_named_before as a number, lowest first */
    bool *party_watched;        /* [party] */
    struct plan_time *times;    /* [plan] */
    struct tally *tallies;      /* [plan] */
    struct own_links *own;
    uint32_t *meeting_of_slot, slot_capacity;
    uint32_t *meeting_of_activity;
    bool unsolved; /* share has changed in this instant */
    uint64_t activity_count;
    struct {
        uint32_t *groups, count; /* that move by several ways */
        bool parted;             /* they are no longer what their classes are */
    } bundles;
};
#define SLOT_NONE UINT32_MAX
#define CONTENDED_RATIO 1e-6 /* longer than alone: above what sums of times lose */

static void handle_start(struct sim *sim, void *player, uint32_t slot);
static void handle_finish(struct sim *sim, void *player, uint32_t slot);
static void settle(struct sim *sim, void *player);

static void fill_plans(struct network *network)
{
    const struct symmetry *y = network->symmetry;
    for (uint32_t i = 0; i < y->plan_count; i++) {
        const struct played_plan *plan = &y->plans[i];
        CHECK(plan->bytes >= 0.0 && plan->latency_s >= 0.0 && plan->cap_bytes_per_s > 0.0);
        network->times[i] = (struct plan_time){
            .wire_s = plan->bytes / plan->cap_bytes_per_s,
            .latency_s = plan->latency_s,
            .shares = plan->use_count > 0 && plan->bytes > 0.0,
        };
    }
    for (uint32_t g = 0; g < y->group_class_count; g++) {
        const struct group_class *group = &y->groups[g];
        network->meetings[g] = (struct meeting){
            .party_first = group->party_first,
            .party_count = group->party_count,
            .slot = SLOT_NONE,
            .plan = PLAN_NONE,
        };
    }
}

static void fill_seats(struct network *network)
{
    const struct symmetry *y = network->symmetry;
    for (uint32_t i = 0; i < y->rank_class_count * STREAM_COUNT; i++)
        network->seats[i].group = GROUP_NONE;
    for (uint32_t g = 0; g < y->group_class_count; g++) {
        const struct group_class *group = &y->groups[g];
        for (uint32_t row = group->party_first; row < group->party_first + group->party_count;
             row++) {
            const struct party *party = &y->parties[row];
            network->attendees[row].rank_class = party->rank_class;
            network->seats[party->rank_class * STREAM_COUNT + party->stream] =
                (struct seat){.group = g, .row = row, .plan_first = party->plan_first};
        }
    }
}

static void fill_name_order(struct arena *arena, struct network *network)
{
    const struct symmetry *y = network->symmetry;
    const uint32_t *place = symmetry_places(arena, y);
    for (uint32_t row = 0; row < y->party_count; row++)
        network->name_order[row] = place[y->parties[row].rank_class];
}

static struct share *create_share(struct arena *arena, const struct symmetry *symmetry)
{
    double *capacity = ARENA_ARRAY(arena, double, symmetry->link_class_count);
    for (uint32_t i = 0; i < symmetry->link_class_count; i++)
        capacity[i] = symmetry->links[i].bytes_per_s;
    return share_create(arena, symmetry->link_class_count, capacity);
}

struct network *network_create(struct sim *sim, const struct symmetry *symmetry,
                               network_done_fn *done, network_active_fn *active, void *worker)
{
    struct arena *arena = sim_arena(sim);
    struct network *network = ARENA_NEW(arena, struct network);
    network->sim = sim;
    network->symmetry = symmetry;
    network->share = create_share(arena, symmetry);
    network->done = done;
    network->active = active;
    network->worker = worker;
    network->meetings = ARENA_ARRAY(arena, struct meeting, symmetry->group_class_count);
    network->attendees = ARENA_ARRAY(arena, struct attendee, symmetry->party_count);
    network->seats =
        ARENA_ARRAY(arena, struct seat, (size_t)symmetry->rank_class_count * STREAM_COUNT);
    network->party_watched = ARENA_ARRAY(arena, bool, symmetry->party_count);
    network->times = ARENA_ARRAY(arena, struct plan_time, symmetry->plan_count);
    network->tallies = ARENA_ARRAY(arena, struct tally, symmetry->plan_count);
    network->own = ARENA_NEW(arena, struct own_links);
    network->own->bytes = ARENA_ARRAY(arena, double, symmetry->link_class_count);
    network->own->busy_s = ARENA_ARRAY(arena, double, symmetry->link_class_count);
    network->meeting_of_activity = ARENA_ARRAY(arena, uint32_t, symmetry->group_class_count);
    network->name_order = ARENA_ARRAY(arena, uint32_t, symmetry->party_count);
    network->bundles.groups = ARENA_ARRAY(arena, uint32_t, symmetry->group_class_count);
    fill_plans(network);
    fill_seats(network);
    fill_name_order(arena, network);
    sim_handle(sim, EVENT_COMM_START, handle_start, network);
    sim_handle(sim, EVENT_FLOW_FINISH, handle_finish, network);
    sim_settle(sim, EVENT_SETTLE_NETWORK, settle, network);
    return network;
}

void network_watch(struct network *network, uint32_t rank_class, enum stream stream)
{
    const struct seat *seat = &network->seats[rank_class * STREAM_COUNT + stream];
    if (seat->group == GROUP_NONE)
        return;
    network->meetings[seat->group].watched = true;
    network->party_watched[seat->row] = true;
}

static void tell_active(struct network *network, const struct meeting *meeting, bool active)
{
    for (uint32_t i = 0; meeting->watched && i < meeting->party_count; i++) {
        const uint32_t row = meeting->party_first + i;
        const struct party *party = &network->symmetry->parties[row];
        if (network->party_watched[row])
            network->active(network->worker, party->rank_class, party->stream, active);
    }
}

/* Tells the worker; the parties may post their next at once, so the meeting is ready for it before.
 */
static void tell_done(struct network *network, struct meeting *meeting, double begin_s,
                      double finish_s)
{
    const struct attendance attendance = {.begin_s = begin_s,
                                          .finish_s = finish_s,
                                          .attendees = network->attendees + meeting->party_first,
                                          .count = meeting->party_count,
                                          .last = meeting->last};
    meeting->state = GATHERING;
    meeting->arrived = 0;
    network->tallies[meeting->plan].finished++;
    network->activity_count++;
    network->done(network->worker, &attendance);
}

/* A slot of the calendar that leads back to this meeting. */
static void take_slot(struct network *network, uint32_t group)
{
    struct calendar *calendar = sim_calendar(network->sim);
    const uint32_t slot = calendar_slot(calendar);
    if (slot >= network->slot_capacity) {
        const uint32_t count = network->slot_capacity;
        LIST_ROOM(sim_arena(network->sim), network->meeting_of_slot, count, slot + 1 - count,
                  network->slot_capacity);
    }
    network->meeting_of_slot[slot] = group;
    network->meetings[group].slot = slot;
}

/* Everybody is there. */
static void gathered(struct network *network, uint32_t group)
{
    struct meeting *meeting = &network->meetings[group];
    const struct plan_time *time = &network->times[meeting->plan];
    network->tallies[meeting->plan].posted++;
    network->bundles.parted = network->bundles.parted || meeting->tied;
    if (!time->shares && !meeting->watched) {
        const double wire_end_s = meeting->latest_s + time->wire_s;
        tell_done(network, meeting, meeting->latest_s, wire_end_s + time->latency_s);
        return;
    }
    if (meeting->slot == SLOT_NONE)
        take_slot(network, group);
    meeting->state = DUE;
    calendar_set(sim_calendar(network->sim), meeting->slot, meeting->latest_s, EVENT_COMM_START);
}

/* A party has come: is it the last so far? */
static void arrive(const struct network *network, uint32_t group, uint32_t row, double arrival_s)
{
    struct meeting *meeting = &network->meetings[group];
    const bool same = meeting->arrived > 0 && arrival_s == meeting->latest_s;
    if (same)
        meeting->tied = meeting->tied || network->symmetry->groups[group].unnamed;
    else if (meeting->arrived == 0 || arrival_s > meeting->latest_s)
        meeting->tied = false;
    if (meeting->arrived++ == 0 || arrival_s > meeting->latest_s ||
        (arrival_s == meeting->latest_s &&
         network->name_order[row] < network->name_order[meeting->last])) {
        meeting->latest_s = arrival_s;
        meeting->last = row;
    }
}

void network_post(struct network *network, uint32_t rank_class, enum stream stream,
                  uint32_t transfer, uint32_t op, double arrival_s)
{
    const struct seat *seat = &network->seats[rank_class * STREAM_COUNT + stream];
    CHECK(seat->group != GROUP_NONE);
    struct meeting *meeting = &network->meetings[seat->group];
    const uint32_t plan = network->symmetry->plan_of[seat->plan_first + transfer];
    CHECK(plan != PLAN_NONE);
    DCHECK(meeting->state == GATHERING);
    CHECK(arrival_s >= sim_now_s(network->sim)); /* invariant 3 */
    if (meeting->arrived == 0)
        meeting->plan = plan;
    CHECK(meeting->plan == plan); /* invariant 2 */
    arrive(network, seat->group, seat->row, arrival_s);
    network->attendees[seat->row].op = op;
    if (meeting->arrived == meeting->party_count)
        gathered(network, seat->group);
}

/* Groups whose bundle has several ways are looked at whenever rates change. */
static void enter_ways(struct network *network, uint32_t group)
{
    struct meeting *meeting = &network->meetings[group];
    if (network->symmetry->plans[meeting->plan].way_count < 2)
        return;
    meeting->place = network->bundles.count;
    network->bundles.groups[network->bundles.count++] = group;
}

static void leave_ways(struct network *network, const struct meeting *meeting)
{
    if (network->symmetry->plans[meeting->plan].way_count < 2)
        return;
    const uint32_t last = network->bundles.groups[--network->bundles.count];
    network->bundles.groups[meeting->place] = last;
    network->meetings[last].place = meeting->place;
}

static void handle_start(struct sim *sim, void *player, uint32_t slot)
{
    struct network *network = player;
    const uint32_t group = network->meeting_of_slot[slot];
    struct meeting *meeting = &network->meetings[group];
    const struct symmetry *symmetry = network->symmetry;
    const struct played_plan *plan = &symmetry->plans[meeting->plan];
    const double now_s = sim_now_s(sim);
    CHECK(meeting->state == DUE);
    meeting->state = MOVING;
    meeting->begin_s = now_s;
    if (network->times[meeting->plan].shares) {
        const uint32_t activity =
            share_start(network->share, now_s,
                        (struct share_demand){plan->bytes * plan->wire_weight,
                                              plan->cap_bytes_per_s * plan->wire_weight, 1.0},
                        symmetry->uses + plan->use_first, plan->use_count);
        CHECK(activity < symmetry->group_class_count);
        meeting->activity = activity;
        network->meeting_of_activity[activity] = group;
        network->unsolved = true;
        enter_ways(network, group);
    } else {
        calendar_set(sim_calendar(sim), slot, now_s + network->times[meeting->plan].wire_s,
                     EVENT_FLOW_FINISH);
    }
    tell_active(network, meeting, true);
}

static void handle_finish(struct sim *sim, void *player, uint32_t slot)
{
    struct network *network = player;
    struct meeting *meeting = &network->meetings[network->meeting_of_slot[slot]];
    const struct plan_time *time = &network->times[meeting->plan];
    const double now_s = sim_now_s(sim);
    CHECK(meeting->state == MOVING || meeting->state == ENDING);
    const bool moving = meeting->state == MOVING;
    if (moving && time->shares) {
        share_finish(network->share, now_s, meeting->activity);
        network->tallies[meeting->plan].moving_s += now_s - meeting->begin_s;
        network->unsolved = true;
        leave_ways(network, meeting);
    }
    const double left_s = moving ? time->latency_s : 0.0;
    if (meeting->watched && left_s > 0.0) {
        meeting->state = ENDING;
        calendar_set(sim_calendar(sim), slot, now_s + left_s, EVENT_FLOW_FINISH);
        return;
    }
    tell_active(network, meeting, false);
    tell_done(network, meeting, meeting->begin_s, now_s + left_s);
}

/* Would each group of this bundle have the rate of all? */
static bool ways_agree(const struct network *network, const struct meeting *meeting)
{
    const struct symmetry *y = network->symmetry;
    const struct played_plan *plan = &y->plans[meeting->plan];
    bool agree = true;
    if (share_at_cap(network->share, meeting->activity))
        return true;
    for (uint32_t i = 0; agree && i < plan->way_count; i++) {
        const struct way *way = &y->ways.rows[plan->way_first + i];
        agree = false;
        for (uint32_t k = 0; !agree && k < way->link_count; k++)
            agree = share_held_by(network->share, meeting->activity,
                                  y->ways.links[way->link_first + k]);
    }
    return agree;
}

/* All starts and ends of this instant are in: solve once, move the events that changed. */
static void settle(struct sim *sim, void *player)
{
    struct network *network = player;
    if (!network->unsolved)
        return;
    network->unsolved = false;
    const double now_s = sim_now_s(sim);
    const uint32_t *changed = NULL;
    const size_t count = share_solve(network->share, now_s, &changed);
    for (size_t i = 0; i < count; i++) {
        const struct meeting *meeting =
            &network->meetings[network->meeting_of_activity[changed[i]]];
        const double finish_s = share_finish_s(network->share, changed[i]);
        CHECK(meeting->state == MOVING && finish_s >= now_s && isfinite(finish_s));
        calendar_set(sim_calendar(sim), meeting->slot, finish_s, EVENT_FLOW_FINISH);
    }
    for (uint32_t i = 0; i < network->bundles.count && !network->bundles.parted; i++)
        network->bundles.parted =
            !ways_agree(network, &network->meetings[network->bundles.groups[i]]);
}

/* Payload of one activity of the class, over all its real groups. */
static double class_bytes(const struct symmetry *symmetry, uint32_t plan)
{
    const struct played_plan *played = &symmetry->plans[plan];
    return (double)symmetry->groups[played->group].group_count * played->bytes;
}

double network_posted_bytes(const struct network *network)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < network->symmetry->plan_count; i++)
        bytes += (double)network->tallies[i].posted * class_bytes(network->symmetry, i);
    return bytes;
}

double network_moved_bytes(const struct network *network)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < network->symmetry->plan_count; i++)
        bytes += (double)network->tallies[i].finished * class_bytes(network->symmetry, i);
    return bytes;
}

/* Loads on links that are not in `share`, from the tallies, once for all queries after a run. A
 * link of one group alone carries one activity at a time, so its busy times add. */
static void sum_own_links(const struct network *network)
{
    const struct symmetry *y = network->symmetry;
    struct own_links *own = network->own;
    if (own->activity_count == network->activity_count)
        return;
    for (uint32_t i = 0; i < y->link_class_count; i++)
        own->bytes[i] = own->busy_s[i] = 0.0;
    for (uint32_t i = 0; i < y->plan_count; i++) {
        const struct played_plan *plan = &y->plans[i];
        const double times = (double)network->tallies[i].finished;
        const double busy_s = network->times[i].shares ? network->tallies[i].moving_s
                                                       : times * network->times[i].wire_s;
        for (uint32_t u = plan->own_first; u < plan->own_first + plan->own_count; u++) {
            own->bytes[y->uses[u].link] +=
                times * plan->bytes * plan->wire_weight * y->uses[u].weight;
            own->busy_s[y->uses[u].link] += busy_s;
        }
    }
    own->activity_count = network->activity_count;
}

double network_link_bytes(const struct network *network, uint32_t link_class)
{
    CHECK(link_class < network->symmetry->link_class_count);
    sum_own_links(network);
    return network->own->bytes[link_class] +
           share_moved(network->share, link_class, sim_now_s(network->sim));
}

double network_link_busy_s(const struct network *network, uint32_t link_class)
{
    CHECK(link_class < network->symmetry->link_class_count);
    sum_own_links(network);
    return network->own->busy_s[link_class] +
           share_busy_s(network->share, link_class, sim_now_s(network->sim));
}

struct network_contention network_contention(const struct network *network)
{
    const struct symmetry *symmetry = network->symmetry;
    struct network_contention out = {0.0, 0.0};
    double group_s = 0.0, moving_s = 0.0, weighted_s = 0.0;
    for (uint32_t i = 0; i < symmetry->plan_count; i++) {
        const struct tally *tally = &network->tallies[i];
        const double alone_s = (double)tally->finished * network->times[i].wire_s;
        if (i == 0 || symmetry->plans[i].group != symmetry->plans[i - 1].group)
            group_s = 0.0;
        if (!network->times[i].shares || tally->moving_s <= alone_s * (1.0 + CONTENDED_RATIO))
            continue;
        group_s += tally->moving_s - alone_s;
        out.lost_s = group_s > out.lost_s ? group_s : out.lost_s;
        moving_s += tally->moving_s;
        weighted_s += tally->moving_s * (tally->moving_s / (double)tally->finished);
    }
    out.transfer_s = moving_s > 0.0 ? weighted_s / moving_s : 0.0;
    return out;
}

uint64_t network_activity_count(const struct network *network)
{
    return network->activity_count;
}

bool network_parted(const struct network *network)
{
    return network->bundles.parted;
}
