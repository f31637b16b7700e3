/* symmetry_loads.c - every real group measured once: its shape, its tuned plans, and the load of
 * their wires on real links.
 *
 * Groups of one shape whose members run the same programs are tuned once (a menu). Wires do not
 * depend on the size of a transfer, so groups keep one set of loads for each pair of algorithm and
 * operation that their menu uses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/symmetry_state.h"
#include "sim/check.h"
#include "sim/random.h"

struct numbering numbering_create(struct arena *arena, size_t key_count)
{
    uint64_t size = 16;
    while (size < 2 * key_count) {
        size *= 2;
    }
    return (struct numbering){.keys = ARENA_ARRAY(arena, uint64_t, size),
                              .values = ARENA_ARRAY(arena, uint32_t, size),
                              .mask = size - 1};
}

void numbering_clear(struct numbering *n)
{
    memset(n->values, 0, (size_t)(n->mask + 1) * sizeof *n->values);
    n->count = 0;
}

uint32_t numbering_of(struct numbering *n, uint64_t key)
{
    uint64_t at = key & n->mask;
    while (n->values[at] != 0) {
        if (n->keys[at] == key) {
            return n->values[at] - 1;
        }
        at = (at + 1) & n->mask;
    }
    CHECK(n->count <= n->mask / 2);
    n->keys[at] = key;
    n->values[at] = ++n->count;
    return n->count - 1;
}

static void list_transfers(struct real *real)
{
    const struct lowered *lowered = real->lowered;
    real->lists = ARENA_ARRAY(real->arena, struct transfer_list,
                              (size_t)lowered->program_count * STREAM_COUNT);
    for (uint32_t p = 0; p < lowered->program_count; p++) {
        const struct program *program = lowered->programs[p];
        uint32_t *seen = ARENA_ARRAY(real->arena, uint32_t, program->transfer_count + (size_t)1);
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            symmetry_list(real, p, s)->rows =
                ARENA_ARRAY(real->arena, uint32_t, program->transfer_count);
        }
        for (uint32_t i = 0; i < program->op_count; i++) {
            const struct op *op = &program->ops[i];
            if (op->kind == OP_COMPUTE || (seen[op->cost] >> op->stream & 1u) != 0) {
                continue;
            }
            seen[op->cost] |= 1u << op->stream;
            struct transfer_list *list = symmetry_list(real, p, op->stream);
            list->rows[list->count++] = op->cost;
        }
    }
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t shape_hash(const struct group_shape *s)
{
    const uint64_t words[] = {
        s->ranks,
        s->nodes,
        s->ranks_per_node,
        s->rails,
        (uint64_t)s->even | (uint64_t)s->nvls << 1 | (uint64_t)s->inside_switch << 2,
        bits_of(s->inside_bytes_per_s),
        bits_of(s->inside_latency_s),
        bits_of(s->outside_bytes_per_s),
        bits_of(s->outside_latency_s),
        bits_of(s->transport_latency_s),
        bits_of(s->transport_bulk_s),
    };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = random_hash(hash, words[i]);
    }
    return hash;
}

struct measuring { /* scratch while groups are measured */
    struct real *real;
    struct numbering shapes, menus;
    uint32_t shape_capacity, menu_capacity;
    uint32_t *gpus, *nodes; /* of the present group, node by node */
    uint64_t *order;
    uint32_t *row_of_link; /* [link id] -> row of used_links */
    double *sum;           /* [link id]: weight of the present set */
    uint32_t *touched, touched_count;
    uint64_t flow_seed;
    double largest_weight;
};

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The GPUs of a group, node by node; a pair stays sender first. */
static void place_members(struct measuring *m, const struct group *group)
{
    const struct layout *layout = m->real->layout;
    bool sorted = true;
    for (uint32_t i = 0; i < group->member_count; i++) {
        const uint32_t gpu = layout->gpu_of_rank[layout->members[group->first + i]];
        const uint64_t node = topology_node_of(m->real->topology, gpu);
        m->order[i] = node << 32 | i;
        sorted = sorted && (i == 0 || m->order[i] > m->order[i - 1]);
    }
    if (!sorted && !symmetry_is_pair(group->kind)) {
        qsort(m->order, group->member_count, sizeof *m->order, compare_keys);
    }
    for (uint32_t i = 0; i < group->member_count; i++) {
        const uint32_t member = (uint32_t)m->order[i];
        m->gpus[i] = layout->gpu_of_rank[layout->members[group->first + member]];
        m->nodes[i] = (uint32_t)(m->order[i] >> 32);
    }
}

static void *grow(struct arena *arena, void *old, size_t size, uint32_t count, uint32_t *capacity)
{
    const uint32_t wider = *capacity < 16 ? 16 : 2 * *capacity;
    void *grown = arena_array(arena, size, wider, _Alignof(max_align_t));
    if (count > 0) {
        memcpy(grown, old, size * count);
    }
    *capacity = wider;
    return grown;
}

static uint32_t find_shape(struct measuring *m, uint32_t member_count)
{
    struct real *real = m->real;
    struct group_shape shape;
    collective_shape(real->topology, m->gpus, member_count, real->c->software.pxn, &shape);
    const uint32_t row = numbering_of(&m->shapes, shape_hash(&shape));
    if (row == real->shape_count) {
        if (row == m->shape_capacity) {
            real->shapes = grow(real->arena, real->shapes, sizeof shape, row, &m->shape_capacity);
        }
        real->shapes[real->shape_count++] = shape;
    }
    return row;
}

/* Tunes every transfer of the list for this shape; equal (algorithm, operation) share a set. */
static void write_menu(struct real *real, struct menu *menu)
{
    const struct program *program = real->lowered->programs[menu->program];
    const struct transfer_list *list = symmetry_list(real, menu->program, menu->kind);
    const struct group_shape *shape = &real->shapes[menu->shape];
    menu->entries = ARENA_ARRAY(real->arena, struct menu_entry, list->count);
    menu->entry_count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct transfer *transfer = &program->transfers[list->rows[i]];
        struct menu_entry *entry = &menu->entries[i];
        *entry = (struct menu_entry){.op = transfer->op, .bytes = transfer->bytes, .set = ROW_NONE};
        if (shape->ranks <= 1 || transfer->bytes <= 0.0) {
            entry->tuned.cap_bytes_per_s = INFINITY;
            continue;
        }
        collective_tune(transfer->op, shape, transfer->bytes, &entry->tuned);
        for (uint32_t j = 0; j < i && entry->set == ROW_NONE; j++) {
            const struct menu_entry *other = &menu->entries[j];
            if (other->tuned.kind == entry->tuned.kind && other->op == entry->op) {
                entry->set = other->set;
            }
        }
        entry->set = entry->set == ROW_NONE ? menu->set_count++ : entry->set;
    }
}

static uint32_t find_menu(struct measuring *m, uint32_t shape, uint32_t program, enum stream kind)
{
    struct real *real = m->real;
    const uint64_t key = random_hash(random_hash(shape, program), (uint64_t)kind);
    const uint32_t row = numbering_of(&m->menus, key);
    if (row == real->menu_count) {
        if (row == m->menu_capacity) {
            real->menus =
                grow(real->arena, real->menus, sizeof(struct menu), row, &m->menu_capacity);
        }
        real->menus[row] = (struct menu){.shape = shape, .program = program, .kind = kind};
        real->menu_count++;
        write_menu(real, &real->menus[row]);
    }
    CHECK(real->menus[row].shape == shape && real->menus[row].program == program);
    return row;
}

static void add_wire(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct measuring *m = context;
    const struct topology *topology = m->real->topology;
    const double rounded = share_weight(weight / m->largest_weight);
    struct route route;
    topology_route(topology, m->gpus[from_member], m->gpus[to_member], m->flow_seed, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        const uint32_t link = route.links[i].value;
        if (!graph_link_type(&topology->graph, route.links[i])->binding) {
            continue;
        }
        if (m->sum[link] == 0.0) {
            m->touched[m->touched_count++] = link;
        }
        m->sum[link] += rounded;
    }
}

static void find_largest(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct measuring *m = context;
    (void)from_member;
    (void)to_member;
    m->largest_weight = fmax(m->largest_weight, weight);
}

static uint32_t used_row(struct measuring *m, uint32_t link)
{
    struct real *real = m->real;
    uint32_t row = m->row_of_link[link];
    if (row == ROW_NONE) {
        row = m->row_of_link[link] = real->used_count++;
        real->used_links[row] = link;
    }
    return row;
}

/* Moves the sums of the present set into the group's loads. */
static void keep_loads(struct measuring *m, uint32_t group, uint32_t set)
{
    struct real *real = m->real;
    for (uint32_t i = 0; i < m->touched_count; i++) {
        const uint32_t link = m->touched[i];
        if (real->load_count == real->load_capacity) {
            real->loads = grow(real->arena, real->loads, sizeof(struct wire_load), real->load_count,
                               &real->load_capacity);
        }
        real->loads[real->load_count++] = (struct wire_load){
            .link = used_row(m, link),
            .set = set,
            .weight = m->sum[link],
            .key = random_hash(set, bits_of(m->sum[link])),
        };
        m->sum[link] = 0.0;
    }
    real->groups[group].load_count += m->touched_count;
    m->touched_count = 0;
}

static void measure_group(struct measuring *m, uint32_t index)
{
    struct real *real = m->real;
    const struct group *group = &real->layout->groups[index];
    struct real_group *out = &real->groups[index];
    place_members(m, group);
    out->shape = find_shape(m, group->member_count);
    const uint32_t program = real->lowered->program_of_rank[real->layout->members[group->first]];
    out->menu = find_menu(m, out->shape, program, group->kind);
    out->load_first = real->load_count;
    out->set_first = real->wire_weight_count;
    const struct menu *menu = &real->menus[out->menu];
    real->wire_weight_count += menu->set_count;
    uint32_t set = 0;
    for (uint32_t i = 0; i < menu->entry_count; i++) {
        const struct menu_entry *entry = &menu->entries[i];
        if (entry->set != set) {
            continue; /* nothing is sent, or its wires are kept already */
        }
        m->flow_seed = (uint64_t)group->kind;
        m->largest_weight = 0.0;
        const struct group_shape *shape = &real->shapes[out->shape];
        entry->tuned.kind->wires(entry->op, shape, m->nodes, find_largest, m);
        entry->tuned.kind->wires(entry->op, shape, m->nodes, add_wire, m);
        real->wire_weights[out->set_first + set] = m->largest_weight;
        keep_loads(m, index, set++);
    }
}

static void read_speeds(struct real *real)
{
    real->speed = ARENA_ARRAY(real->arena, double, real->topology->gpu_count);
    for (uint32_t gpu = 0; gpu < real->topology->gpu_count; gpu++) {
        real->speed[gpu] = 1.0;
    }
    for (uint32_t i = 0; i < real->c->perturbation_count; i++) {
        const struct perturbation *p = &real->c->perturbations[i];
        if (p->what == PERTURB_GPU_SPEED) {
            CHECK(p->gpu < real->topology->gpu_count);
            real->speed[p->gpu] *= p->ratio;
        }
    }
}

void symmetry_measure(struct arena *arena, const struct configuration *c,
                      const struct topology *topology, const struct layout *layout,
                      const struct lowered *lowered, struct real *out)
{
    const uint32_t link_count = topology->graph.link_count;
    const size_t group_count = layout->group_count;
    *out = (struct real){
        .c = c, .topology = topology, .layout = layout, .lowered = lowered, .arena = arena};
    list_transfers(out);
    read_speeds(out);
    struct measuring m = {
        .real = out,
        .shapes = numbering_create(arena, group_count),
        .menus = numbering_create(arena, group_count),
        .gpus = ARENA_ARRAY(arena, uint32_t, layout->rank_count),
        .nodes = ARENA_ARRAY(arena, uint32_t, layout->rank_count),
        .order = ARENA_ARRAY(arena, uint64_t, layout->rank_count),
        .row_of_link = ARENA_ARRAY(arena, uint32_t, link_count),
        .sum = ARENA_ARRAY(arena, double, link_count),
        .touched = ARENA_ARRAY(arena, uint32_t, link_count),
    };
    memset(m.row_of_link, 0xff, sizeof(uint32_t) * link_count);
    out->used_links = ARENA_ARRAY(arena, uint32_t, link_count);
    out->groups = ARENA_ARRAY(arena, struct real_group, group_count);
    size_t set_bound = 0;
    for (uint32_t g = 0; g < group_count; g++) {
        const struct group *group = &layout->groups[g];
        const uint32_t program = lowered->program_of_rank[layout->members[group->first]];
        set_bound += symmetry_list(out, program, group->kind)->count;
    }
    out->wire_weights = ARENA_ARRAY(arena, double, set_bound);
    for (uint32_t g = 0; g < group_count; g++) {
        measure_group(&m, g);
    }
    symmetry_find_own(arena, out);
}
