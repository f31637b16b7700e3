/* Invariants
 * 1. A slot is set (its time_bits are those of a time) or empty (time_bits == EMPTY + slot, order
 *    == 0).
 * 2. The bits of a time that is not negative grow with the time, and lie below EMPTY; order is
 *    rank, then the sequence number of the set, which is never used twice. So no two set slots
 *    compare equal, and two that are not both set never have the same time_bits.
 * 3. Slots lie in groups of GROUP (the times of one fill a cache line). nodes[group_count + g] is
 *    the least of group g, nodes[i] the lesser of nodes[2i] and nodes[2i + 1], nodes[1] the least
 *    of all.
 * 4. Invariant 3 may be behind for one slot, `vacated` (NONE if none): the one last popped. It
 *    is nearly always set again at once, and then its path is played once instead of twice. */
#include "sim/calendar.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

enum {
    GROUP = 8,
    LINE = 64,
    RANK_SHIFT = 60,
    CACHED_NODES = 2048,
    SOON = 64
};
static const uint32_t NONE = UINT32_MAX;
static const uint64_t EMPTY = UINT64_C(0x7ff8) << 48; /* above the bits of infinity */

struct calendar_node {
    uint64_t time_bits;
    uint32_t slot;
};

struct calendar {
    uint64_t *times;             /* time_bits by slot */
    uint64_t *orders;            /* by slot; read where times are equal only */
    struct calendar_node *nodes; /* 2 * group_count; nodes[0] is not used */
    uint64_t sequence;
    uint32_t slot_count, slot_capacity, group_count;
    uint32_t vacated;
    struct arena *arena;
};

/* Which of two is the lesser is as good as random, so it must not be a branch: the difference of
 * the time_bits, both below 2^63, has the sign that tells, and its sign bit makes the mask that
 * selects. Equal times are a branch, which is foreseen well: they come in crowds or hardly ever. */
static inline struct calendar_node node_lesser(const uint64_t *orders, struct calendar_node a,
                                               struct calendar_node b)
{
    uint64_t difference = b.time_bits - a.time_bits;
    uint64_t second = 0 - (difference >> 63);
    if (difference == 0)
        second = 0 - (uint64_t)(orders[b.slot] < orders[a.slot]);
    a.time_bits += difference & second;
    a.slot ^= (a.slot ^ b.slot) & (uint32_t)second;
    return a;
}

static inline struct calendar_node leaf_lesser(const struct calendar *calendar, uint32_t slot)
{
    struct calendar_node a = {calendar->times[slot], slot},
                         b = {calendar->times[slot + 1], slot + 1};
    return node_lesser(calendar->orders, a, b);
}

static inline struct calendar_node group_least(const struct calendar *calendar, uint32_t group)
{
    uint32_t first = group * GROUP;
    const uint64_t *orders = calendar->orders;
    struct calendar_node a = leaf_lesser(calendar, first), b = leaf_lesser(calendar, first + 2);
    struct calendar_node c = leaf_lesser(calendar, first + 4), d = leaf_lesser(calendar, first + 6);
    return node_lesser(orders, node_lesser(orders, a, b), node_lesser(orders, c, d));
}

/* Asks for the memory that setting a slot touches, where it is more than the cache holds. It is
 * asked for when the slot becomes the least of one of the SOON parts of the tree: a few pops before
 * it is popped itself, which is time enough for main memory. */
static inline void fetch_path(const struct calendar *calendar, uint32_t slot)
{
    uint32_t place = calendar->group_count + slot / GROUP;
    if (place < 2 * CACHED_NODES)
        return;
    __builtin_prefetch(&calendar->times[slot], 1);
    __builtin_prefetch(&calendar->orders[slot], 1);
    for (; place > CACHED_NODES; place /= 2)
        __builtin_prefetch(&calendar->nodes[place], 1);
}

/* Restores invariant 3 above one slot that changed. Where it neither was nor is the least, nothing
 * changes further up. */
static void replay(struct calendar *calendar, uint32_t slot)
{
    struct calendar_node *nodes = calendar->nodes;
    uint32_t group = slot / GROUP, place = calendar->group_count + group;
    struct calendar_node least = group_least(calendar, group);
    while (nodes[place].slot == slot || least.slot == slot) {
        nodes[place] = least;
        if (place / SOON == 1)
            fetch_path(calendar, least.slot);
        if (place == 1)
            return;
        least = node_lesser(calendar->orders, least, nodes[place ^ 1]);
        place /= 2;
    }
}

static inline void replay_vacated(struct calendar *calendar)
{
    if (calendar->vacated != NONE) {
        uint32_t slot = calendar->vacated;
        calendar->vacated = NONE;
        replay(calendar, slot);
    }
}

static void rebuild(struct calendar *calendar)
{
    struct calendar_node *nodes = calendar->nodes;
    for (uint32_t group = 0; group < calendar->group_count; group++)
        nodes[calendar->group_count + group] = group_least(calendar, group);
    for (uint32_t place = calendar->group_count - 1; place >= 1; place--)
        nodes[place] = node_lesser(calendar->orders, nodes[2 * place], nodes[2 * place + 1]);
}

static uint64_t *grow_array(struct calendar *calendar, const uint64_t *former, uint32_t capacity)
{
    uint64_t *grown = arena_array(calendar->arena, sizeof *grown, capacity, LINE);
    if (calendar->slot_count > 0)
        memcpy(grown, former, calendar->slot_count * sizeof *grown);
    return grown;
}

static void calendar_grow(struct calendar *calendar, uint32_t capacity)
{
    calendar->times = grow_array(calendar, calendar->times, capacity);
    calendar->orders = grow_array(calendar, calendar->orders, capacity);
    for (uint32_t slot = calendar->slot_count; slot < capacity; slot++)
        calendar->times[slot] = EMPTY + slot;
    calendar->slot_capacity = capacity;
    calendar->group_count = capacity / GROUP;
    calendar->nodes = arena_array(calendar->arena, sizeof *calendar->nodes,
                                  2 * (size_t)calendar->group_count, LINE);
    calendar->vacated = NONE;
    rebuild(calendar);
}

struct calendar *calendar_create(struct arena *arena, uint32_t slot_hint)
{
    struct calendar *calendar = ARENA_NEW(arena, struct calendar);
    uint32_t slot_capacity = GROUP;
    CHECK(slot_hint <= UINT32_C(1) << 31);
    while (slot_capacity < slot_hint)
        slot_capacity *= 2;
    calendar->arena = arena;
    calendar_grow(calendar, slot_capacity);
    return calendar;
}

uint32_t calendar_slot(struct calendar *calendar)
{
    if (calendar->slot_count == calendar->slot_capacity) {
        CHECK(calendar->slot_capacity < UINT32_C(1) << 31);
        calendar_grow(calendar, 2 * calendar->slot_capacity);
    }
    return calendar->slot_count++;
}

static inline void slot_empty(struct calendar *calendar, uint32_t slot)
{
    calendar->times[slot] = EMPTY + slot;
    calendar->orders[slot] = 0;
}

void calendar_set(struct calendar *calendar, uint32_t slot, double time_s, uint32_t rank)
{
    CHECK(time_s >= 0.0 && time_s < INFINITY);
    CHECK(rank < CALENDAR_RANK_MAX);
    CHECK(slot < calendar->slot_count);
    if (slot == calendar->vacated)
        calendar->vacated = NONE;
    else
        replay_vacated(calendar);
    double positive_s = time_s + 0.0; /* -0.0 has the sign bit, 0.0 has not */
    memcpy(&calendar->times[slot], &positive_s, sizeof positive_s);
    calendar->orders[slot] = (uint64_t)rank << RANK_SHIFT | calendar->sequence++;
    replay(calendar, slot);
}

bool calendar_peek(struct calendar *calendar, struct calendar_event *event)
{
    replay_vacated(calendar);
    struct calendar_node least = calendar->nodes[1];
    if (least.time_bits >= EMPTY)
        return false;
    memcpy(&event->time_s, &least.time_bits, sizeof event->time_s);
    event->slot = least.slot;
    event->rank = (uint32_t)(calendar->orders[least.slot] >> RANK_SHIFT);
    return true;
}

bool calendar_pop(struct calendar *calendar, struct calendar_event *event)
{
    if (!calendar_peek(calendar, event))
        return false;
    slot_empty(calendar, event->slot);
    calendar->vacated = event->slot;
    return true;
}
