/* Invariants
 * 1. A slot is set (time_bits != EMPTY), empty (time_bits == EMPTY, order == 0) or given back
 *    (time_bits == EMPTY, order == GIVEN_BACK + next such slot).
 * 2. A key compares as one 128-bit number: the bits of a time that is not negative grow with the
 *    time; order is rank, then the sequence number of the set, which is never used twice. So two
 *    set slots never compare equal.
 * 3. Slots lie in groups of GROUP (two cache lines). node[group_count + g] is the least of group g,
 *    node[i] the lesser of node[2i] and node[2i + 1], node[1] the least of all; where all are
 *    empty, which empty one stands there does not matter.
 * 4. Invariant 3 may be behind for one slot, `vacated` (NONE if none): the one last popped. It is
 *    nearly always set again at once, and then its path is played once instead of twice. */
#include "sim/calendar.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

enum {
    GROUP = 8,
    RANK_SHIFT = 60
};
static const uint32_t NONE = UINT32_MAX;
static const uint64_t EMPTY = UINT64_MAX;
static const uint64_t GIVEN_BACK = UINT64_C(1) << 63;

__extension__ typedef unsigned __int128 wide_key;

struct key {
    uint64_t order, time_bits; /* in this order, so that a load of both is one wide_key */
};

struct node {
    struct key key;
    uint32_t slot, unused[3]; /* two siblings fill one cache line */
};

struct calendar {
    struct key *keys;   /* slot_capacity */
    struct node *nodes; /* 2 * group_count; nodes[0] is not used */
    uint64_t sequence;
    uint32_t slot_count, slot_capacity, group_count;
    uint32_t vacated, given_back;
    struct arena *arena;
};

static inline wide_key key_wide(struct key key)
{
    return (wide_key)key.time_bits << 64 | key.order;
}

static inline struct node node_lesser(struct node a, struct node b)
{
    bool second = key_wide(b.key) < key_wide(a.key);
    struct node lesser;
    lesser.key.order = second ? b.key.order : a.key.order;
    lesser.key.time_bits = second ? b.key.time_bits : a.key.time_bits;
    lesser.slot = second ? b.slot : a.slot;
    return lesser;
}

static inline struct node leaf(const struct key *keys, uint32_t slot)
{
    return (struct node){.key = keys[slot], .slot = slot};
}

static inline struct node group_least(const struct key *keys, uint32_t group)
{
    uint32_t first = group * GROUP;
    struct node a = node_lesser(leaf(keys, first), leaf(keys, first + 1));
    struct node b = node_lesser(leaf(keys, first + 2), leaf(keys, first + 3));
    struct node c = node_lesser(leaf(keys, first + 4), leaf(keys, first + 5));
    struct node d = node_lesser(leaf(keys, first + 6), leaf(keys, first + 7));
    return node_lesser(node_lesser(a, b), node_lesser(c, d));
}

static inline void node_store(struct node *node, struct node value)
{
    node->key = value.key;
    node->slot = value.slot;
}

/* Restores invariant 3 above one slot whose key changed. It stops where nothing changes. */
static void replay(struct calendar *calendar, uint32_t slot)
{
    struct node *nodes = calendar->nodes;
    uint32_t group = slot / GROUP, place = calendar->group_count + group;
    struct node least = group_least(calendar->keys, group);
    while (key_wide(nodes[place].key) != key_wide(least.key) || nodes[place].slot != least.slot) {
        node_store(&nodes[place], least);
        if (place == 1)
            return;
        least = node_lesser(least, nodes[place ^ 1]);
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
    struct node *nodes = calendar->nodes;
    for (uint32_t group = 0; group < calendar->group_count; group++)
        node_store(&nodes[calendar->group_count + group], group_least(calendar->keys, group));
    for (uint32_t place = calendar->group_count - 1; place >= 1; place--)
        node_store(&nodes[place], node_lesser(nodes[2 * place], nodes[2 * place + 1]));
}

static void calendar_grow(struct calendar *calendar, uint32_t slot_capacity)
{
    struct key *keys = arena_array(calendar->arena, sizeof *keys, slot_capacity, 64);
    if (calendar->slot_count > 0)
        memcpy(keys, calendar->keys, calendar->slot_count * sizeof *keys);
    for (uint32_t slot = calendar->slot_count; slot < slot_capacity; slot++)
        keys[slot].time_bits = EMPTY;
    calendar->keys = keys;
    calendar->slot_capacity = slot_capacity;
    calendar->group_count = slot_capacity / GROUP;
    calendar->nodes = arena_array(calendar->arena, sizeof *calendar->nodes,
                                  2 * (size_t)calendar->group_count, 64);
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
    calendar->given_back = NONE;
    calendar_grow(calendar, slot_capacity);
    return calendar;
}

uint32_t calendar_slot(struct calendar *calendar)
{
    uint32_t slot = calendar->given_back;
    if (slot != NONE) {
        calendar->given_back = (uint32_t)calendar->keys[slot].order;
        calendar->keys[slot].order = 0;
        return slot;
    }
    if (calendar->slot_count == calendar->slot_capacity) {
        CHECK(calendar->slot_capacity < UINT32_C(1) << 31);
        calendar_grow(calendar, 2 * calendar->slot_capacity);
    }
    return calendar->slot_count++;
}

static inline bool slot_is_given_back(const struct calendar *calendar, uint32_t slot)
{
    struct key key = calendar->keys[slot];
    return key.time_bits == EMPTY && key.order != 0;
}

void calendar_set(struct calendar *calendar, uint32_t slot, double time_s, uint32_t rank)
{
    CHECK(time_s >= 0.0 && time_s < INFINITY);
    CHECK(rank < CALENDAR_RANK_MAX);
    CHECK(slot < calendar->slot_count && !slot_is_given_back(calendar, slot));
    if (slot == calendar->vacated)
        calendar->vacated = NONE;
    else
        replay_vacated(calendar);
    double positive_s = time_s + 0.0; /* -0.0 has the sign bit, 0.0 has not */
    struct key *key = &calendar->keys[slot];
    memcpy(&key->time_bits, &positive_s, sizeof key->time_bits);
    key->order = (uint64_t)rank << RANK_SHIFT | calendar->sequence++;
    replay(calendar, slot);
}

void calendar_clear(struct calendar *calendar, uint32_t slot)
{
    CHECK(slot < calendar->slot_count && !slot_is_given_back(calendar, slot));
    struct key *key = &calendar->keys[slot];
    if (key->time_bits == EMPTY)
        return;
    replay_vacated(calendar);
    *key = (struct key){.time_bits = EMPTY};
    replay(calendar, slot);
}

void calendar_slot_free(struct calendar *calendar, uint32_t slot)
{
    calendar_clear(calendar, slot);
    calendar->keys[slot].order = GIVEN_BACK | calendar->given_back;
    calendar->given_back = slot;
}

bool calendar_peek(struct calendar *calendar, struct calendar_event *event)
{
    replay_vacated(calendar);
    struct node least = calendar->nodes[1];
    if (least.key.time_bits == EMPTY)
        return false;
    memcpy(&event->time_s, &least.key.time_bits, sizeof event->time_s);
    event->slot = least.slot;
    event->rank = (uint32_t)(least.key.order >> RANK_SHIFT);
    return true;
}

bool calendar_pop(struct calendar *calendar, struct calendar_event *event)
{
    if (!calendar_peek(calendar, event))
        return false;
    calendar->keys[event->slot] = (struct key){.time_bits = EMPTY};
    calendar->vacated = event->slot;
    return true;
}
