#include "models/fleet/fleet_members.h"

#include "sim/check.h"

void fleet_members_create(struct arena *arena, uint32_t slot_count, uint32_t node_count,
                          struct members *out)
{
    CHECK(slot_count <= node_count);
    *out = (struct members){.slot_count = slot_count,
                            .node_count = node_count,
                            .inside_count = slot_count,
                            .slot_of_node = ARENA_ARRAY(arena, uint32_t, node_count),
                            .node_of_slot = ARENA_ARRAY(arena, uint32_t, slot_count),
                            .joined_s = ARENA_ARRAY(arena, double, node_count)};
    for (uint32_t i = 0; i < slot_count; i++)
        out->slot_of_node[i] = out->node_of_slot[i] = i;
    for (uint32_t i = slot_count; i < node_count; i++)
        out->slot_of_node[i] = SLOT_EMPTY;
}

void fleet_members_leave(struct members *members, struct arena *arena, uint32_t node)
{
    CHECK(node < members->node_count && members->slot_of_node[node] != SLOT_EMPTY);
    if (!members->empty)
        members->empty = ARENA_ARRAY(arena, uint32_t, members->slot_count);
    uint32_t slot = members->slot_of_node[node];
    members->slot_of_node[node] = SLOT_EMPTY;
    members->node_of_slot[slot] = SLOT_EMPTY;
    members->empty[members->empty_count++] = slot;
    members->inside_count--;
}

void fleet_members_join(struct members *members, uint32_t node, double exposed_s)
{
    CHECK(node < members->node_count && members->slot_of_node[node] == SLOT_EMPTY);
    CHECK(members->empty_count > 0); /* the job never has more nodes than slots */
    uint32_t slot = members->empty[--members->empty_count];
    members->slot_of_node[node] = slot;
    members->node_of_slot[slot] = node;
    members->joined_s[node] = exposed_s;
    members->inside_count++;
}

void fleet_members_mend(struct members *members, struct arena *arena, uint32_t node)
{
    if (!members->mended)
        members->mended = ARENA_ARRAY(arena, bool, members->node_count);
    members->mended[node] = true;
}
