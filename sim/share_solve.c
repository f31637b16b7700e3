/* What is solved. For a link, let its users' levels be y1 < y2 < ..., and let w1, w2, ... be the
 * summed weights of the users at each. Filling the link from below:
 *     left = capacity, weight = weight_total, level = left / weight;
 *     while the next y < level: left -= w y, weight -= w, level = left / weight
 * gives where the link binds (INFINITY when no weight is left). Where a y lies below level by less
 * than SHARE_TIE, they are equal but for rounding, and the link binds at y. The rates are the
 * solution when each activity's level is the least of its cap and of its links' levels. By
 * induction from the lowest level upward there is one such assignment, in floating point too,
 * because the filling of a link is one fixed sequence of operations on exact weights and on levels
 * (and levels are either ties or further apart than SHARE_TIE). So it does not matter in which
 * order, and starting from what, it is found: the region around a change gives bit for bit what
 * solving everything gives.
 *
 * How. Levels are decided in ascending order, as in progressive filling (Bertsekas & Gallager, Data
 * Networks, 6.5.2), but only where something can have changed. The region begins with the dirty
 * links and the links of waiting activities. A heap holds, for each link of the region, a level
 * below which it cannot bind. When the filling arrives there, the link is filled as above, and
 * either
 *   - it binds now: all users that are higher or open get this level;
 *   - or it binds above its former level: those who were held there are opened;
 *   - or it binds later: it goes back into the heap.
 * The links of whoever is opened or lowered join the region.
 *
 * Invariants
 * 1. All decided levels are <= region.level, and nobody with a level below it is touched.
 * 2. settled_load + open_weight x t, in exact arithmetic, is at least the load of the link with all
 *    its users at level t or what they have: open_weight is that of open users and of those held by
 *    this link.
 * 3. A link's key is at most where it binds; the heap has an item with it (INFINITY: none) and may
 *    have stale ones. With `exact` the link binds exactly there; without, the key leaves
 *    SHARE_MARGIN for the rounding of settled_load: how often links are looked at, no result.
 * 4. A link is live while it may still bind; all is done when none is and nobody is open.
 * 5. A link that is tied to the level of a fixed user waits in `ties` until the heap has nothing
 *    left at that level, because the user may still be opened there. If it binds higher by then,
 *    because that user went lower, it has not waited for that level yet. */
#include "sim/share_parts.h"

#include <math.h>
#include <stdlib.h>

#include "sim/check.h"

/* What open users may certainly have. The load is from before: a capacity may have fallen. */
static inline double link_slack(const struct share_link *link)
{
    if (link->capacity == 0.0)
        return 0.0;
    double rounding = SHARE_MARGIN * (link->capacity + fabs(link->load));
    return link->capacity - rounding - link->settled_load;
}

/* A level below which the link needs no look (invariant 3). */
static double link_bound(const struct share *share, const struct share_link *link)
{
    double slack = link_slack(link);
    double bound = INFINITY;
    if (slack <= 0.0)
        bound = 0.0;
    else if (link->open_weight > 0.0)
        bound = slack / link->open_weight;
    bound = bound < link->level ? bound : link->level;
    return bound > share->region.level ? bound : share->region.level;
}

/* Is link_bound finite? */
static bool link_is_pending(const struct share_link *link)
{
    double slack = link_slack(link);
    return slack <= 0.0 || link->open_weight > 0.0 || link->level < INFINITY;
}

static void link_live(struct share *share, struct share_link *link, bool live)
{
    share->region.live_count += (uint32_t)live - (uint32_t)link->live;
    link->live = live;
}

/* Has the heap look at the link at `key` or before. What stood higher in the heap is stale then; a
 * key that is too low is corrected when its turn comes. */
static void link_key(struct share *share, struct share_link *link, double key)
{
    if (key < link->key) {
        link->key = key;
        share_heap_push(&share->region.heap, share->arena,
                        (struct share_item){key, (uint32_t)(link - share->links)});
    }
}

/* The heap knows when the activity reaches its cap, if it has one. */
static void cap_wait(struct share *share, uint32_t id)
{
    double level = share->activities[id].cap_level;
    if (level < INFINITY)
        share_heap_push(&share->region.heap, share->arena,
                        (struct share_item){level, share->link_count + id});
}

static void link_refresh(struct share *share, struct share_link *link)
{
    double bound = link_bound(share, link);
    link->exact = false;
    link_live(share, link, bound < INFINITY);
    link_key(share, link, bound);
}

/* Takes the link into the region, with all its users as they are. */
static void link_join(struct share *share, struct share_link *link)
{
    if (link->region == share->region.number)
        return;
    link->region = share->region.number;
    link->exact = link->live = false;
    link->key = INFINITY;
    link->open_weight = link->bound_weight;
    link->settled_load = link->load;
    if (link->level < INFINITY)
        link->settled_load -= link->bound_weight * link->level;
}

/* Does this link hold an activity of this level? Then its weight is part of open_weight. */
static bool link_holds(const struct share_link *link, double level)
{
    return level >= link->level;
}

/* Puts the level of a waiting or fixed activity in question. */
static void activity_open(struct share *share, uint32_t id)
{
    struct share_activity *activity = &share->activities[id];
    bool fixed = activity->standing == STANDING_FIXED;
    double former = fixed ? share->levels[id] : 0.0;
    activity->former_level = former;
    activity->standing = STANDING_OPEN;
    share->levels[id] = INFINITY;
    share->opened.ids[share->opened.count++] = id;
    share->region.open_count++;
    for (uint32_t i = 0; i < activity->edge_count; i++) {
        const struct share_edge *edge = &activity->edges[i];
        struct share_link *link = &share->links[edge->link];
        bool joined = link->region != share->region.number;
        link_join(share, link);
        bool held = fixed && link_holds(link, former);
        if (!held) {
            link->settled_load -= edge->weight * former;
            link->open_weight += edge->weight;
        }
        if (joined || !held || !link->live) /* not live: settled already, at this very level */
            link_refresh(share, link);
    }
    cap_wait(share, id);
}

/* Decides the level of an open activity, or lowers a fixed one. */
static void activity_decide(struct share *share, uint32_t id, double level)
{
    struct share_activity *activity = &share->activities[id];
    bool fixed = activity->standing == STANDING_FIXED;
    double former = share->levels[id];
    if (fixed) {
        activity->former_level = former;
        share->opened.ids[share->opened.count++] = id;
    } else {
        share->region.open_count--;
    }
    activity->standing = STANDING_DECIDED;
    share->levels[id] = level;
    for (uint32_t i = 0; i < activity->edge_count; i++) {
        const struct share_edge *edge = &activity->edges[i];
        struct share_link *link = &share->links[edge->link];
        bool joined = link->region != share->region.number;
        link_join(share, link);
        if (fixed && !link_holds(link, former))
            link->settled_load -= edge->weight * former;
        else
            link->open_weight -= edge->weight;
        link->settled_load += edge->weight * level;
        if (joined || link->exact)
            link_refresh(share, link);
        else
            link_live(share, link, link_is_pending(link));
    }
}

static int compare_groups(const void *a, const void *b)
{
    const struct share_group *first = a, *second = b;
    return (first->level > second->level) - (first->level < second->level);
}

enum {
    INSERTION_LARGEST = 48
};

static void sort_groups(struct share_group *groups, uint32_t count)
{
    if (count > INSERTION_LARGEST) {
        qsort(groups, count, sizeof *groups, compare_groups);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        struct share_group group = groups[i];
        uint32_t place = i;
        for (; place > 0 && groups[place - 1].level > group.level; place--)
            groups[place] = groups[place - 1];
        groups[place] = group;
    }
}

/* The users with a level below the one where the link bound before, as (level, weight), ascending;
 * neighbours alike are one. The others will be held again or rise: they fill nothing. */
static uint32_t link_groups(struct share *share, const struct share_link *link,
                            const struct share_users *users)
{
    LIST_ROOM(share->arena, share->filled.groups, 0, users->count, share->filled.group_capacity);
    struct share_group *groups = share->filled.groups;
    uint32_t count = 0;
    share->filled.above_weight = 0.0;
    for (uint32_t i = 0; i < users->count; i++) {
        double level = share->levels[users->list[i].activity];
        if (link_holds(link, level))
            share->filled.above_weight += users->list[i].weight;
        else if (count > 0 && groups[count - 1].level == level)
            groups[count - 1].weight += users->list[i].weight;
        else
            groups[count++] = (struct share_group){level, users->list[i].weight};
    }
    sort_groups(groups, count);
    return count;
}

/* Fills the link from below (see above). Returns where it binds; held_weight is of those held;
 * tied: it binds there because of another's level that is the same but for rounding. */
static double link_fill(struct share *share, const struct share_link *link)
{
    struct share_users *users = &share->users[link - share->links];
    uint32_t count = link_groups(share, link, users);
    const struct share_group *groups = share->filled.groups;
    double left = link->capacity, weight = users->weight_total, level = left / weight;
    uint32_t i = 0;
    while (i < count && groups[i].level * (1.0 + SHARE_TIE) < level) {
        double reached = groups[i].level, group_weight = 0.0;
        for (; i < count && groups[i].level == reached; i++)
            group_weight += groups[i].weight;
        left -= group_weight * reached;
        weight -= group_weight;
        level = weight > 0.0 ? left / weight : INFINITY;
        level = level > reached ? level : reached;
    }
    users->held_weight = weight;
    users->tied = i < count && groups[i].level < level;
    return users->tied ? groups[i].level : level;
}

static void link_bind(struct share *share, struct share_link *link, double level)
{
    const struct share_users *users = &share->users[link - share->links];
    double held_weight = users->held_weight;
    link->exact = false;
    for (uint32_t i = 0; i < users->count; i++) {
        uint32_t id = users->list[i].activity;
        if (share->levels[id] > level && share->activities[id].standing != STANDING_DECIDED)
            activity_decide(share, id, level);
    }
    link->level = level;
    link->bound_weight = link->open_weight = held_weight;
    link->settled_load = link->capacity - held_weight * level;
    link->exact = true;
    link_live(share, link, false);
}

/* The link binds above its former level: those it held may rise. They were open to it already. */
static void link_release(struct share *share, struct share_link *link)
{
    const struct share_users *users = &share->users[link - share->links];
    for (uint32_t i = 0; i < users->count; i++) {
        uint32_t id = users->list[i].activity;
        if (share->activities[id].standing == STANDING_FIXED && link_holds(link, share->levels[id]))
            activity_open(share, id);
    }
    link->level = INFINITY;
    link->bound_weight = 0.0;
}

/* Is the level to which the link is tied decided? That of a fixed user may change until all that
 * happens at that level has happened. */
static bool tie_is_decided(const struct share *share, const struct share_link *link, double level)
{
    const struct share_users *users = &share->users[link - share->links];
    if (level < share->region.level)
        return true;
    for (uint32_t i = 0; i < users->count; i++) {
        uint32_t id = users->list[i].activity;
        if (share->levels[id] == level && share->activities[id].standing == STANDING_DECIDED)
            return true;
    }
    return false;
}

static void tie_wait(struct share *share, struct share_link *link, double level)
{
    LIST_ROOM(share->arena, share->region.ties.items, share->region.ties.count, 1,
              share->region.ties.capacity);
    share->region.ties.items[share->region.ties.count++] =
        (struct share_item){.key = level, .thing = (uint32_t)(link - share->links)};
    link_live(share, link, true);
}

/* The link binds at `level`, now or, if others may come in between, when its turn comes. */
static void link_settle(struct share *share, struct share_link *link, double level, bool last)
{
    bool tied = share->users[link - share->links].tied;
    bool waited = last && level <= share->region.level;
    if (tied && !waited && !tie_is_decided(share, link, level)) {
        tie_wait(share, link, level);
        return;
    }
    const struct share_heap *heap = &share->region.heap;
    bool first = share->region.ties.count == 0 && (heap->count == 0 || level <= heap->items[0].key);
    link->exact = true;
    if (level < INFINITY && (tied || first)) {
        if (level > share->region.level)
            share->region.level = level;
        link_bind(share, link, level);
    } else {
        link_live(share, link, level < INFINITY);
        link_key(share, link, level);
    }
}

/* Fills the link that was taken from the heap, and acts on it; `last`: all else has happened at
 * this level. False where rounding defeats the region: the link should have bound below
 * region.level. */
static bool link_examine(struct share *share, struct share_link *link, bool last)
{
    double level = link_fill(share, link);
    if (level < share->region.level * (1.0 - SHARE_TIE))
        return false;
    if (level > link->level) {
        bool some_decided = share->filled.above_weight != link->open_weight;
        link_release(share, link);
        if (some_decided) /* just where the link bound: they fill it now */
            level = link_fill(share, link);
    }
    link_settle(share, link, level, last);
    return true;
}

/* Takes the link at the top of the heap in hand, or puts it back where it belongs by now. */
static bool link_arrive(struct share *share, struct share_link *link)
{
    if (!link->exact) {
        double bound = link_bound(share, link);
        if (bound > share->region.level) {
            link->key = bound;
            share_heap_replace(&share->region.heap,
                               (struct share_item){bound, share->region.heap.items[0].thing});
            return true;
        }
    }
    share_heap_pop(&share->region.heap);
    link->key = INFINITY;
    if (!link->exact)
        return link_examine(share, link, false);
    link_bind(share, link, share->region.level);
    return true;
}

static void cap_reached(struct share *share, uint32_t id)
{
    share_heap_pop(&share->region.heap);
    if (share->activities[id].standing == STANDING_OPEN)
        activity_decide(share, id, share->region.level);
}

/* The tied link that comes first, if it comes before all in the heap; NULL otherwise. */
static struct share_link *tie_take(struct share *share)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < share->region.ties.count; i++)
        if (share->region.ties.items[i].key < share->region.ties.items[first].key)
            first = i;
    struct share_item tie = share->region.ties.items[first];
    if (share->region.heap.count > 0 && share->region.heap.items[0].key <= tie.key)
        return NULL;
    share->region.ties.items[first] = share->region.ties.items[--share->region.ties.count];
    if (tie.key > share->region.level)
        share->region.level = tie.key;
    return &share->links[tie.thing];
}

static bool tie_arrive(struct share *share, struct share_link *link)
{
    if (!link->live)
        return true;
    link->key = INFINITY;
    return link_examine(share, link, true);
}

static bool top_arrive(struct share *share)
{
    CHECK(share->region.heap.count > 0 && share->region.heap.items[0].key >= share->region.level);
    struct share_item top = share->region.heap.items[0];
    share->region.level = top.key;
    if (top.thing >= share->link_count) {
        cap_reached(share, top.thing - share->link_count);
        return true;
    }
    struct share_link *link = &share->links[top.thing];
    if (link->key == top.key)
        return link_arrive(share, link);
    share_heap_pop(&share->region.heap);
    return true;
}

static bool fill(struct share *share)
{
    while (share->region.live_count > 0 || share->region.open_count > 0) {
        struct share_link *tied = share->region.ties.count > 0 ? tie_take(share) : NULL;
        if (!(tied != NULL ? tie_arrive(share, tied) : top_arrive(share)))
            return false;
    }
    return true;
}

static void region_begin(struct share *share)
{
    share->region.number++;
    CHECK(share->region.number != 0);
    share->region.heap.count = share->region.ties.count = 0;
    share->region.level = 0.0;
    share->region.open_count = share->region.live_count = 0;
}

static void dirty_forget(struct share *share)
{
    for (uint32_t i = 0; i < share->dirty.count; i++)
        share->links[share->dirty.ids[i]].dirty = false;
    share->dirty.count = 0;
    share->started.count = 0;
}

static void open_all_activities(struct share *share)
{
    for (uint32_t id = 0; id < share->activity_count; id++) {
        struct share_activity *activity = &share->activities[id];
        if (activity->standing == STANDING_UNUSED)
            continue;
        if (activity->standing == STANDING_FIXED || activity->standing == STANDING_WAITING) {
            activity->former_level = activity->standing == STANDING_FIXED ? share->levels[id] : 0.0;
            share->opened.ids[share->opened.count++] = id;
        }
        activity->standing = STANDING_OPEN;
        share->levels[id] = INFINITY;
        share->region.open_count++;
        cap_wait(share, id);
    }
}

void share_solve_all(struct share *share)
{
    region_begin(share);
    open_all_activities(share);
    for (uint32_t index = 0; index < share->link_count; index++) {
        struct share_link *link = &share->links[index];
        if (share->users[index].count == 0)
            continue;
        link->level = INFINITY;
        link_join(share, link);
        link->bound_weight = link->settled_load = 0.0;
        link->open_weight = share->users[index].weight_total;
        link_refresh(share, link);
    }
    CHECK(fill(share));
    dirty_forget(share);
}

void share_solve_region(struct share *share)
{
    region_begin(share);
    for (uint32_t i = 0; i < share->started.count; i++)
        activity_open(share, share->started.ids[i]);
    for (uint32_t i = 0; i < share->dirty.count; i++) {
        struct share_link *link = &share->links[share->dirty.ids[i]];
        if (share->users[share->dirty.ids[i]].count == 0)
            continue;
        link_join(share, link);
        link_refresh(share, link);
    }
    if (!fill(share))
        share_solve_all(share);
    else
        dirty_forget(share);
}

bool share_held_by(struct share *share, uint32_t activity, uint32_t index)
{
    const double level = share->levels[activity];
    return link_holds(&share->links[index], level) &&
           link_fill(share, &share->links[index]) == level && !share->users[index].tied;
}
