/* Invariants
 * 1. Between calls each activity is unused, waiting (in `started`, level INFINITY, rate 0) or fixed
 *    (its level is the max-min fair one for what was there at the last solve).
 * 2. remaining is the work left at since_s, which is the last instant at which the rate changed;
 *    a rate that does not change leaves both alone, so that rounding does not pile up.
 * 3. weight_total and bound_weight are exact: sums of multiples of 2^-24 below WEIGHT_LARGEST.
 * 4. A link that binds nobody (level INFINITY) cannot begin to because a user leaves it: only links
 *    that bind (or are full but for rounding) become dirty.
 * 5. Edges and users stand in blocks of 2^class; a list of users that outgrows its block moves. */
#include "sim/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/share_parts.h"

static const double WEIGHT_UNIT = 0x1p-24;
static const double WEIGHT_LARGEST = 0x1p28;

enum {
    BLOCK_ALIGNMENT = 16
};

_Static_assert(sizeof(struct share_edge) == sizeof(struct share_user), "they share blocks");

/* Blocks of 2^class edges or users; one that is given back is taken again. */
static void *block_take(struct share *share, uint32_t class)
{
    void *block = share->free_blocks[class];
    if (block == NULL)
        return arena_array(share->arena, sizeof(struct share_edge), (size_t)1 << class,
                           BLOCK_ALIGNMENT);
    memcpy(&share->free_blocks[class], block, sizeof block);
    return block;
}

static void block_give(struct share *share, uint32_t class, void *block)
{
    memcpy(block, &share->free_blocks[class], sizeof block);
    share->free_blocks[class] = block;
}

struct share *share_create(struct arena *arena, uint32_t link_count, const double *capacity)
{
    struct share *share = ARENA_NEW(arena, struct share);
    share->arena = arena;
    share->link_count = link_count;
    share->links = arena_array(arena, sizeof *share->links, link_count, sizeof *share->links);
    share->users = arena_array(arena, sizeof *share->users, link_count, sizeof *share->users);
    for (uint32_t i = 0; i < link_count; i++) {
        CHECK(capacity[i] >= 0.0 && capacity[i] < INFINITY);
        share->links[i].capacity = capacity[i];
        share->links[i].level = INFINITY;
    }
    return share;
}

double share_weight(double weight)
{
    CHECK(weight > 0.0 && weight < WEIGHT_LARGEST);
    double units = nearbyint(weight / WEIGHT_UNIT);
    return units >= 1.0 ? units * WEIGHT_UNIT : WEIGHT_UNIT;
}

static void clock_advance(struct share *share, double now_s)
{
    CHECK(now_s >= share->now_s);
    share->now_s = now_s;
}

static void grow_activities(struct share *share)
{
    const uint32_t count = share->activity_count;
    uint32_t **lists[] = {&share->unused.ids, &share->started.ids, &share->opened.ids,
                          &share->changed.ids, &share->sorted};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t capacity = share->activity_capacity;
        LIST_ROOM(share->arena, *lists[i], count, 1, capacity);
    }
    uint32_t capacity = share->activity_capacity;
    LIST_ROOM(share->arena, share->levels, count, 1, capacity);
    LIST_ROOM(share->arena, share->activities, count, 1, share->activity_capacity);
}

static uint32_t activity_take(struct share *share)
{
    if (share->unused.count > 0)
        return share->unused.ids[--share->unused.count];
    if (share->activity_count == share->activity_capacity)
        grow_activities(share);
    return share->activity_count++;
}

static void link_dirty(struct share *share, uint32_t index)
{
    struct share_link *link = &share->links[index];
    if (link->dirty)
        return;
    LIST_ROOM(share->arena, share->dirty.ids, share->dirty.count, 1, share->dirty.capacity);
    link->dirty = true;
    share->dirty.ids[share->dirty.count++] = index;
}

static void users_reserve(struct share *share, struct share_users *users)
{
    if (users->list != NULL && users->count < 1u << users->class)
        return;
    uint32_t class = users->list != NULL ? users->class + 1 : 0;
    struct share_user *list = block_take(share, class);
    if (users->list != NULL) {
        memcpy(list, users->list, users->count * sizeof *list);
        block_give(share, users->class, users->list);
    }
    users->list = list;
    users->class = (uint8_t) class;
}

static void link_enter(struct share *share, uint32_t id, uint32_t place)
{
    struct share_edge *edge = &share->activities[id].edges[place];
    struct share_users *users = &share->users[edge->link];
    users_reserve(share, users);
    edge->place = users->count++;
    users->list[edge->place] =
        (struct share_user){.weight = edge->weight, .activity = id, .place = place};
    users->weight_total += edge->weight;
    CHECK(users->weight_total < WEIGHT_LARGEST);
}

static void link_leave(struct share *share, uint32_t id, const struct share_edge *edge)
{
    struct share_link *link = &share->links[edge->link];
    struct share_users *users = &share->users[edge->link];
    struct share_user last = users->list[--users->count];
    users->list[edge->place] = last;
    share->activities[last.activity].edges[last.place].place = edge->place;
    users->weight_total -= edge->weight;
    if (share->activities[id].standing == STANDING_FIXED) {
        link->load -= edge->weight * share->levels[id];
        if (share->levels[id] >= link->level)
            link->bound_weight -= edge->weight;
    }
    if (users->count == 0) {
        link->load = link->bound_weight = 0.0;
        link->level = INFINITY;
    } else if (link->level < INFINITY || link->load > (1.0 - SHARE_MARGIN) * link->capacity) {
        link_dirty(share, edge->link);
    }
}

static int compare_links(const void *a, const void *b)
{
    const struct share_edge *first = a, *second = b;
    return (first->link > second->link) - (first->link < second->link);
}

/* Copies the uses; several uses of one link become one edge with the summed weight. */
static void copy_edges(struct share *share, struct share_activity *activity,
                       const struct share_use *uses, size_t use_count)
{
    uint32_t class = 0, kept = 0;
    while ((size_t)1 << class < use_count)
        class ++;
    struct share_edge *edges = use_count > 0 ? block_take(share, class) : NULL;
    bool ascending = true;
    for (size_t i = 0; i < use_count; i++) {
        CHECK(uses[i].link < share->link_count);
        double weight = share_weight(activity->fairness * uses[i].weight);
        edges[i] = (struct share_edge){.weight = weight, .link = uses[i].link};
        ascending = ascending && (i == 0 || uses[i - 1].link < uses[i].link);
    }
    if (!ascending)
        qsort(edges, use_count, sizeof *edges, compare_links);
    for (size_t i = 0; i < use_count; i++)
        if (kept > 0 && edges[kept - 1].link == edges[i].link)
            edges[kept - 1].weight += edges[i].weight;
        else
            edges[kept++] = edges[i];
    activity->edges = edges;
    activity->edge_class = class;
    activity->edge_count = kept;
}

uint32_t share_start(struct share *share, double now_s, struct share_demand demand,
                     const struct share_use *uses, size_t use_count)
{
    CHECK(demand.work >= 0.0 && demand.work < INFINITY);
    CHECK(demand.cap > 0.0 && (use_count > 0 || demand.cap < INFINITY));
    CHECK(demand.fairness > 0.0 && demand.fairness < INFINITY);
    clock_advance(share, now_s);
    uint32_t id = activity_take(share);
    struct share_activity *activity = &share->activities[id];
    *activity = (struct share_activity){.standing = STANDING_WAITING,
                                        .is_new = true,
                                        .fairness = demand.fairness,
                                        .cap = demand.cap,
                                        .cap_level = demand.cap / demand.fairness,
                                        .remaining = demand.work,
                                        .since_s = now_s,
                                        .finish_s = INFINITY};
    share->levels[id] = INFINITY;
    copy_edges(share, activity, uses, use_count);
    for (uint32_t i = 0; i < activity->edge_count; i++)
        link_enter(share, id, i);
    share->started.ids[share->started.count++] = id;
    return id;
}

/* The work done since since_s; all that is left when the finish time has come. */
static double activity_done(const struct share_activity *activity, double now_s)
{
    if (now_s >= activity->finish_s)
        return activity->remaining;
    double done = activity->rate * (now_s - activity->since_s);
    return done < activity->remaining ? done : activity->remaining;
}

static void activity_advance(struct share *share, struct share_activity *activity)
{
    double done = activity_done(activity, share->now_s);
    double level_time = done / activity->fairness;
    for (uint32_t i = 0; done > 0.0 && i < activity->edge_count; i++)
        share->users[activity->edges[i].link].moved += level_time * activity->edges[i].weight;
    activity->remaining -= done;
    activity->since_s = share->now_s;
}

/* Counts the activity among those that move on its links, or no more. */
static void links_moving(struct share *share, const struct share_activity *activity, bool moving)
{
    for (uint32_t i = 0; i < activity->edge_count; i++) {
        struct share_users *users = &share->users[activity->edges[i].link];
        if (moving && users->moving_count++ == 0)
            users->busy_since_s = share->now_s;
        if (!moving && --users->moving_count == 0)
            users->busy_s += share->now_s - users->busy_since_s;
    }
}

static void started_remove(struct share *share, uint32_t id)
{
    for (uint32_t i = 0; i < share->started.count; i++) {
        if (share->started.ids[i] == id) {
            share->started.ids[i] = share->started.ids[--share->started.count];
            return;
        }
    }
    UNREACHABLE("a waiting activity stands in started");
}

void share_finish(struct share *share, double now_s, uint32_t id)
{
    CHECK(id < share->activity_count);
    struct share_activity *activity = &share->activities[id];
    CHECK(activity->standing != STANDING_UNUSED);
    clock_advance(share, now_s);
    activity_advance(share, activity);
    if (activity->rate > 0.0)
        links_moving(share, activity, false);
    for (uint32_t i = 0; i < activity->edge_count; i++)
        link_leave(share, id, &activity->edges[i]);
    if (activity->standing == STANDING_WAITING)
        started_remove(share, id);
    if (activity->edges != NULL)
        block_give(share, activity->edge_class, activity->edges);
    activity->standing = STANDING_UNUSED;
    share->unused.ids[share->unused.count++] = id;
}

/* Gives an activity the level that was found for it, and tells the links. */
static void activity_apply(struct share *share, uint32_t id)
{
    struct share_activity *activity = &share->activities[id];
    double level = share->levels[id], rise = level - activity->former_level;
    double rate = level == activity->cap_level ? activity->cap : level * activity->fairness;
    activity_advance(share, activity);
    for (uint32_t i = 0; i < activity->edge_count; i++)
        share->links[activity->edges[i].link].load += activity->edges[i].weight * rise;
    if ((rate > 0.0) != (activity->rate > 0.0))
        links_moving(share, activity, rate > 0.0);
    activity->is_new = false;
    activity->rate = rate;
    activity->finish_s = rate > 0.0 ? share->now_s + activity->remaining / rate : INFINITY;
    share->changed.ids[share->changed.count++] = id;
}

/* The common case: an activity that shares no link. False if it does share one. */
static bool solve_alone(struct share *share, uint32_t id)
{
    struct share_activity *activity = &share->activities[id];
    double level = activity->cap_level;
    for (uint32_t i = 0; i < activity->edge_count; i++) {
        const struct share_edge *edge = &activity->edges[i];
        if (share->users[edge->link].count > 1)
            return false;
        double own = share->links[edge->link].capacity / edge->weight;
        level = own < level ? own : level;
    }
    for (uint32_t i = 0; i < activity->edge_count; i++) {
        struct share_link *link = &share->links[activity->edges[i].link];
        bool binds = link->capacity / activity->edges[i].weight <= level * (1.0 + SHARE_TIE);
        link->level = binds ? level : INFINITY;
        link->bound_weight = binds ? activity->edges[i].weight : 0.0;
    }
    share->levels[id] = level;
    activity->standing = STANDING_FIXED;
    activity_apply(share, id);
    return true;
}

enum {
    DIGIT_BITS = 8,
    DIGIT_COUNT = 1 << DIGIT_BITS,
    INSERTION_LARGEST = 32
};

/* One pass of a radix sort from `ids` to `sorted`; exchanges the two. */
static void sort_digit(struct share *share, uint32_t **ids, uint32_t **sorted, uint32_t shift)
{
    uint32_t begin[DIGIT_COUNT + 1] = {0};
    for (uint32_t i = 0; i < share->changed.count; i++)
        begin[((*ids)[i] >> shift) % DIGIT_COUNT + 1]++;
    for (uint32_t digit = 1; digit < DIGIT_COUNT; digit++)
        begin[digit] += begin[digit - 1];
    for (uint32_t i = 0; i < share->changed.count; i++)
        (*sorted)[begin[((*ids)[i] >> shift) % DIGIT_COUNT]++] = (*ids)[i];
    uint32_t *former = *ids;
    *ids = *sorted;
    *sorted = former;
}

static void sort_changed(struct share *share)
{
    uint32_t *ids = share->changed.ids;
    if (share->changed.count > INSERTION_LARGEST) {
        for (uint32_t shift = 0; shift < 32 && share->activity_count >> shift > 0;
             shift += DIGIT_BITS)
            sort_digit(share, &share->changed.ids, &share->sorted, shift);
        return;
    }
    for (uint32_t i = 1; i < share->changed.count; i++) {
        uint32_t id = ids[i], place = i;
        for (; place > 0 && ids[place - 1] > id; place--)
            ids[place] = ids[place - 1];
        ids[place] = id;
    }
}

static void apply_opened(struct share *share)
{
    for (uint32_t i = 0; i < share->opened.count; i++) {
        uint32_t id = share->opened.ids[i];
        struct share_activity *activity = &share->activities[id];
        activity->standing = STANDING_FIXED;
        if (activity->is_new || share->levels[id] != activity->former_level)
            activity_apply(share, id);
    }
    share->opened.count = 0;
}

size_t share_solve(struct share *share, double now_s, const uint32_t **changed)
{
    clock_advance(share, now_s);
    share->changed.count = 0;
    uint32_t shared_count = 0;
    for (uint32_t i = 0; i < share->started.count; i++)
        if (!solve_alone(share, share->started.ids[i]))
            share->started.ids[shared_count++] = share->started.ids[i];
    share->started.count = shared_count;
    if (share->started.count > 0 || share->dirty.count > 0)
        share_solve_region(share);
    apply_opened(share);
    sort_changed(share);
    *changed = share->changed.ids;
    return share->changed.count;
}

double share_rate(const struct share *share, uint32_t activity)
{
    CHECK(activity < share->activity_count);
    return share->activities[activity].rate;
}

double share_finish_s(const struct share *share, uint32_t activity)
{
    CHECK(activity < share->activity_count);
    return share->activities[activity].finish_s;
}

bool share_at_cap(const struct share *share, uint32_t activity)
{
    CHECK(activity < share->activity_count);
    return share->levels[activity] == share->activities[activity].cap_level;
}

double share_moved(const struct share *share, uint32_t link, double now_s)
{
    CHECK(link < share->link_count);
    const struct share_users *users = &share->users[link];
    double moved = users->moved;
    for (uint32_t i = 0; i < users->count; i++) {
        const struct share_activity *activity = &share->activities[users->list[i].activity];
        moved += activity_done(activity, now_s) / activity->fairness * users->list[i].weight;
    }
    return moved;
}

double share_busy_s(const struct share *share, uint32_t link, double now_s)
{
    CHECK(link < share->link_count);
    const struct share_users *users = &share->users[link];
    return users->busy_s + (users->moving_count > 0 ? now_s - users->busy_since_s : 0.0);
}
