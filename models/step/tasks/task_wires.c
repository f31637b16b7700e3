#include "models/step/tasks/task_wires.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/collective/collective_measured.h"
#include "models/layout/layout.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"
#include "sim/table.h"

struct set_key {
    uint32_t group;
    enum comm_op op;
    const struct collective_kind *kind;
};
struct wire_set { /* of a group, an operation and an algorithm */
    struct set_key key;
    double wire_weight;
    uint32_t use_first, use_count;
};
struct plan_key {
    uint32_t group;
    enum comm_op op;
    double bytes;
};
struct wiring {
    struct arena *arena;
    const struct task_graph *e;
    const struct configuration *c;
    const struct topology *topology;
    struct task_wires *out;
    struct {
        struct table numbers;  /* by hash */
        struct plan_key *keys; /* [plan] */
        uint32_t room, key_room;
    } plans;
    struct {
        struct table numbers;  /* by hash */
        struct wire_set *rows; /* [set] */
        uint32_t count, room;
    } sets;
    struct group_shape *shapes; /* [group] */
    bool *measured;             /* [group]: its shape is known */
    struct {
        uint32_t group;                   /* TASK_NONE: none */
        uint32_t *gpus, *nodes;           /* of the group, node by node; a pair sender first */
        double *sum;                      /* [link]: weight of its set of wires */
        uint32_t *touched, touched_count; /* links of that set */
        double largest_weight;
    } present;
    struct {
        uint32_t *row_of; /* [link]: row + 1; 0: none */
        uint32_t room;
    } links;
    uint64_t flow_seed;
    uint32_t use_room;
};

static int compare_gpus(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void look_at_group(struct wiring *w, uint32_t index)
{
    const struct task_group *group = &w->e->groups[index];
    if (w->present.group == index)
        return;
    w->present.group = index;
    for (uint32_t i = 0; i < group->member_count; i++)
        w->present.gpus[i] = layout_gpu(w->c, w->e->members[group->member_first + i]);
    if (!group->pair)
        qsort(w->present.gpus, group->member_count, sizeof *w->present.gpus, compare_gpus);
    for (uint32_t i = 0; i < group->member_count; i++)
        w->present.nodes[i] = topology_node_of(w->topology, w->present.gpus[i]);
    if (!w->measured[index])
        collective_shape(w->topology, w->present.gpus, group->member_count, w->c->software.pxn,
                         &w->shapes[index]);
    w->measured[index] = true;
}

static void find_largest(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct wiring *w = context;
    (void)from_member;
    (void)to_member;
    w->present.largest_weight = fmax(w->present.largest_weight, weight);
}

static void add_wire(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct wiring *w = context;
    const double load = share_weight(weight / w->present.largest_weight);
    struct route route;
    topology_route(w->topology, w->present.gpus[from_member], w->present.gpus[to_member],
                   w->flow_seed, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        const uint32_t link = route.links[i].value;
        if (!w->topology->graph.types[route.types[i]].binding)
            continue;
        if (w->present.sum[link] == 0.0)
            w->present.touched[w->present.touched_count++] = link;
        w->present.sum[link] += load;
    }
}

static uint32_t link_row(struct wiring *w, uint32_t link)
{
    struct task_wires *out = w->out;
    if (w->links.row_of[link] == 0) {
        LIST_ROOM(w->arena, out->bytes_per_s, out->link_count, 1, w->links.room);
        out->bytes_per_s[out->link_count] =
            graph_link_type(&w->topology->graph, (struct link_id){link})->bytes_per_s;
        w->links.row_of[link] = ++out->link_count;
    }
    return w->links.row_of[link] - 1;
}

static struct wire_set keep_wires(struct wiring *w, const struct set_key *key)
{
    struct task_wires *out = w->out;
    const struct group_shape *shape = &w->shapes[w->present.group];
    struct wire_set set = {.key = *key, .use_first = out->use_count};
    w->present.largest_weight = 0.0;
    key->kind->wires(key->op, shape, w->present.nodes, find_largest, w);
    key->kind->wires(key->op, shape, w->present.nodes, add_wire, w);
    set.wire_weight = w->present.largest_weight;
    set.use_count = w->present.touched_count;
    LIST_ROOM(w->arena, out->uses, out->use_count, w->present.touched_count, w->use_room);
    for (uint32_t i = 0; i < w->present.touched_count; i++) {
        const uint32_t link = w->present.touched[i];
        out->uses[out->use_count++] =
            (struct share_use){.link = link_row(w, link), .weight = w->present.sum[link]};
        w->present.sum[link] = 0.0;
    }
    w->present.touched_count = 0;
    return set;
}

static bool same_set(const void *rows, uint32_t number, const void *key)
{
    const struct set_key *a = &((const struct wire_set *)rows)[number].key, *b = key;
    return a->group == b->group && a->op == b->op && a->kind == b->kind;
}

static struct wire_set wires_of(struct wiring *w, enum comm_op op,
                                const struct collective_kind *kind)
{
    const struct set_key key = {w->present.group, op, kind};
    uint64_t hash = random_hash(w->present.group, (uint64_t)op);
    for (const char *at = kind->head.name; *at != '\0'; at++)
        hash = random_hash(hash, (uint64_t)*at);
    const uint32_t row =
        table_number(&w->sets.numbers, w->arena, hash, same_set, w->sets.rows, &key);
    if (row == w->sets.count) {
        LIST_ROOM(w->arena, w->sets.rows, row, 1, w->sets.room);
        w->sets.rows[row] = keep_wires(w, &key);
        w->sets.count++;
    }
    return w->sets.rows[row];
}

static struct task_plan make_plan(struct wiring *w, const struct plan_key *key)
{
    struct task_plan plan = {.bytes = key->bytes, .cap_bytes_per_s = INFINITY, .wire_weight = 1.0};
    if (w->e->groups[key->group].member_count < 2 || key->bytes <= 0.0) {
        plan.bytes = 0.0;
        return plan;
    }
    look_at_group(w, key->group);
    collective_choose(&w->c->collectives, key->op, &w->shapes[key->group], key->bytes, &plan.tuned);
    const struct wire_set set = wires_of(w, key->op, plan.tuned.kind);
    plan.latency_s = plan.tuned.latency_s;
    plan.cap_bytes_per_s = plan.tuned.cap_bytes_per_s;
    plan.wire_weight = set.wire_weight;
    plan.use_first = set.use_first;
    plan.use_count = set.use_count;
    return plan;
}

static bool same_plan(const void *rows, uint32_t number, const void *key)
{
    const struct plan_key *a = (const struct plan_key *)rows + number, *b = key;
    return a->group == b->group && a->op == b->op && a->bytes == b->bytes;
}

static uint32_t plan_of(struct wiring *w, const struct task_meeting *meeting)
{
    const struct plan_key key = {meeting->group, meeting->op, meeting->bytes};
    uint64_t bits;
    memcpy(&bits, &key.bytes, sizeof bits);
    const uint64_t hash = random_hash(random_hash(key.group, (uint64_t)key.op), bits);
    const uint32_t row =
        table_number(&w->plans.numbers, w->arena, hash, same_plan, w->plans.keys, &key);
    struct task_wires *out = w->out;
    if (row == out->plan_count) {
        LIST_ROOM(w->arena, w->plans.keys, row, 1, w->plans.key_room);
        LIST_ROOM(w->arena, out->plans, row, 1, w->plans.room);
        w->plans.keys[row] = key;
        out->plans[row] = make_plan(w, &key);
        out->plan_count++;
    }
    return row;
}

void task_wires_build(struct arena *arena, const struct task_graph *e,
                      const struct configuration *c, const struct topology *topology,
                      struct task_wires *out)
{
    const uint32_t link_count = topology->graph.link_count;
    CHECK(e->rank_count <= topology->gpu_count);
    *out = (struct task_wires){.plan_of = ARENA_ARRAY(arena, uint32_t, e->meeting_count)};
    struct wiring w = {
        .arena = arena,
        .e = e,
        .c = c,
        .topology = topology,
        .out = out,
        .shapes = ARENA_ARRAY(arena, struct group_shape, e->group_count),
        .measured = ARENA_ARRAY(arena, bool, e->group_count),
        .present = {.group = TASK_NONE,
                    .gpus = ARENA_ARRAY(arena, uint32_t, e->rank_count),
                    .nodes = ARENA_ARRAY(arena, uint32_t, e->rank_count),
                    .sum = ARENA_ARRAY(arena, double, link_count),
                    .touched = ARENA_ARRAY(arena, uint32_t, link_count)},
        .links.row_of = ARENA_ARRAY(arena, uint32_t, link_count),
        .flow_seed = configuration_flow_seed(c, STREAM_DP),
    };
    for (uint32_t m = 0; m < e->meeting_count; m++)
        out->plan_of[m] = plan_of(&w, &e->meetings[m]);
}
