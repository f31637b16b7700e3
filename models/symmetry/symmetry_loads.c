/* symmetry_loads.c - every real group measured once: its shape, its tuned plans, and the load of
 * their wires on real links.
 *
 * Groups of one shape whose members run the same programs are tuned once (a menu). Wires do not
 * depend on the size of a transfer, so groups keep one set of loads for each pair of algorithm and
 * operation that their menu uses. */
#include <math.h>
#include <stdlib.h>

#include "models/collective/collective_measured.h"
#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"

static void list_transfers(struct real *real)
{
    const struct lowered *lowered = real->lowered;
    real->lists = ARENA_ARRAY(real->arena, struct transfer_list,
                              (size_t)lowered->program_count * STREAM_COUNT);
    for (uint32_t p = 0; p < lowered->program_count; p++) {
        const struct program *program = lowered->programs[p];
        uint32_t *seen = ARENA_ARRAY(real->arena, uint32_t, program->transfer_count);
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            symmetry_list(real, p, s)->rows =
                ARENA_ARRAY(real->arena, uint32_t, program->transfer_count);
        }
        for (uint32_t i = 0; i < program->op_count; i++) {
            const struct op *op = &program->ops[i];
            if (op->kind == OP_COMPUTE || (seen[op->cost] >> op->stream & 1u) != 0)
                continue;
            seen[op->cost] |= 1u << op->stream;
            struct transfer_list *list = symmetry_list(real, p, op->stream);
            list->rows[list->count++] = op->cost;
        }
    }
}

static uint64_t shape_hash(const struct group_shape *s)
{
    const uint64_t words[] = {
        s->ranks,
        s->nodes,
        s->ranks_per_node,
        s->rails,
        (uint64_t)s->even | (uint64_t)s->nvls << 1 | (uint64_t)s->inside.nvlink << 2,
        s->nvls_channels,
        symmetry_bits(s->nvls_ratio),
        symmetry_bits(s->exchange_ratio),
        symmetry_bits(s->start_s),
        symmetry_bits(s->inside.bytes_per_s),
        s->inside.extra_links,
        symmetry_bits(s->inside.latency_s),
        symmetry_bits(s->inside.one_node_s),
        symmetry_bits(s->outside_bytes_per_s),
        symmetry_bits(s->paths.sending_ratio),
        (uint64_t)s->paths.tier_count << 32 | s->paths.flows,
        (uint64_t)s->paths.tiers[0].cables << 32 | s->paths.tiers[0].ports,
        (uint64_t)s->paths.tiers[1].cables << 32 | s->paths.tiers[1].ports,
        symmetry_bits(s->outside_latency_s),
        symmetry_bits(s->transport_latency_s),
        symmetry_bits(s->transport_bulk_s),
        /* One configuration has one dispatch and one routing. */
        s->dispatch != NULL,
    };
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = symmetry_mix(hash, words[i]);
    return hash;
}

struct measuring { /* scratch while groups are measured */
    struct real *real;
    struct table shapes, menus; /* by hash */
    uint32_t shape_capacity, menu_capacity;
    uint32_t *shape_of;     /* [group]: its shape + 1, once known; NULL: each is asked for once */
    uint32_t *gpus, *nodes; /* of the present group, node by node */
    uint64_t *order;
    bool by_ends;          /* all that binds belongs to the nodes at the ends of a route */
    bool *looked_at;       /* [node]: of a first turn; NULL: every node is */
    uint32_t *row_of_link; /* [link of a first turn] -> row of used.links + 1; 0: none yet */
    double *sum;           /* [link id]: weight of the present set */
    uint32_t *touched, touched_count;
    uint64_t flow_seed;
    double largest_weight;
    struct {
        uint64_t hash;        /* of the group and set whose loads are signed */
        uint64_t *low, *high; /* [turn]: see sign_load */
        struct ends *ends;    /* NULL: routes are asked for */
    } signing;                /* of turns */
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
        const uint32_t gpu = layout->gpu_of_rank[layout_member(layout, group, i)];
        const uint64_t node = topology_node_of(m->real->topology, gpu);
        m->order[i] = node << 32 | i;
        sorted = sorted && (i == 0 || m->order[i] > m->order[i - 1]);
    }
    if (!sorted && !symmetry_is_pair(group->kind))
        qsort(m->order, group->member_count, sizeof *m->order, compare_keys);
    for (uint32_t i = 0; i < group->member_count; i++) {
        const uint32_t member = (uint32_t)m->order[i];
        m->gpus[i] = layout->gpu_of_rank[layout_member(layout, group, member)];
        m->nodes[i] = (uint32_t)(m->order[i] >> 32);
    }
}

static uint32_t find_shape(struct measuring *m, uint32_t member_count, enum stream kind)
{
    struct real *real = m->real;
    struct group_shape shape;
    collective_shape(real->topology, m->gpus, member_count, real->c->software.pxn, &shape);
    if (kind == STREAM_EP) {
        shape.dispatch = configuration_dispatch(real->c);
        shape.routing = configuration_routing(real->c);
    }
    const uint32_t row = symmetry_number(real->arena, &m->shapes, shape_hash(&shape));
    if (row == real->shape_count) {
        LIST_ROOM(real->arena, real->shapes, row, 1, m->shape_capacity);
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
        collective_choose(&real->c->collectives, transfer->op, shape, transfer->bytes,
                          &entry->tuned);
        for (uint32_t j = 0; j < i && entry->set == ROW_NONE; j++) {
            const struct menu_entry *other = &menu->entries[j];
            if (other->tuned.kind == entry->tuned.kind && other->op == entry->op)
                entry->set = other->set;
        }
        entry->set = entry->set == ROW_NONE ? menu->set_count++ : entry->set;
    }
}

static uint32_t find_menu(struct measuring *m, uint32_t shape, uint32_t program, enum stream kind)
{
    struct real *real = m->real;
    const uint64_t key = random_hash(random_hash(shape, program), (uint64_t)kind);
    const uint32_t row = symmetry_number(real->arena, &m->menus, key);
    if (row == real->menu_count) {
        LIST_ROOM(real->arena, real->menus, row, 1, m->menu_capacity);
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
    if (m->looked_at != NULL && !m->looked_at[m->nodes[from_member]] &&
        !m->looked_at[m->nodes[to_member]])
        return; /* what binds on a route belongs to the nodes at its ends */
    topology_route(topology, m->gpus[from_member], m->gpus[to_member], m->flow_seed, &route);
    for (uint32_t i = 0; i < route.link_count; i++) {
        const uint32_t link = route.links[i].value;
        if (!topology->graph.types[route.types[i]].binding)
            continue;
        if (m->sum[link] == 0.0)
            m->touched[m->touched_count++] = link;
        m->sum[link] += rounded;
    }
}

/* Wires of one weight, which is the largest. */
static void add_exchange(void *context, uint32_t link, uint32_t wires)
{
    struct measuring *m = context;
    m->touched[m->touched_count++] = link;
    m->sum[link] = wires * share_weight(1.0);
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
    uint32_t *row = &m->row_of_link[link];
    if (*row == 0) {
        real->used.links[real->used.count++] = link;
        *row = real->used.count;
    }
    return *row - 1;
}

static void keep_load(struct measuring *m, uint32_t group_row, uint32_t set, uint32_t link)
{
    struct real *real = m->real;
    LIST_ROOM(real->arena, real->loads.rows, real->loads.count, 1, real->loads.capacity);
    real->loads.rows[real->loads.count++] = (struct wire_load){
        .link = used_row(m, link),
        .set = set,
        .weight = m->sum[link],
        .key = random_hash(set, symmetry_bits(m->sum[link])),
    };
    real->groups[group_row].load_count++;
}

/* Is this link of the first turn of its kind? It stands for its likes: turns of one kind are loaded
 * alike, or their signatures would differ. */
static bool is_looked_at(const struct real *real, uint32_t link)
{
    if (real->shift.turns == 1)
        return true;
    const uint32_t turn = symmetry_turn_of_link(real, link);
    return real->shift.first_like[turn] == turn;
}

/* Moves the sums of the present set into the group's loads. */
static void keep_loads(struct measuring *m, uint32_t group_row, uint32_t set)
{
    for (uint32_t i = 0; i < m->touched_count; i++)
        if (is_looked_at(m->real, m->touched[i]))
            keep_load(m, group_row, set, m->touched[i]);
}

static void forget_sums(struct measuring *m)
{
    for (uint32_t i = 0; i < m->touched_count; i++)
        m->sum[m->touched[i]] = 0.0;
    m->touched_count = 0;
}

/* Shape and menu of a group, which stands in m->gpus afterwards. */
static uint32_t look_at_group(struct measuring *m, uint32_t index)
{
    const struct real *real = m->real;
    const struct group group = layout_group(real->layout, index);
    place_members(m, &group);
    const bool known = m->shape_of != NULL && m->shape_of[index] > 0;
    const uint32_t shape =
        known ? m->shape_of[index] - 1 : find_shape(m, group.member_count, group.kind);
    const uint32_t program = real->lowered->program_of_rank[layout_member(real->layout, &group, 0)];
    if (m->shape_of != NULL)
        m->shape_of[index] = shape + 1;
    return find_menu(m, shape, program, group.kind);
}

/* Who is told of the wires of a group: of each, or where every member sends to every other and the
 * links are found without a look at each pair, of each link. */
struct listener {
    wire_fn *wire;
    exchange_fn *exchange;
};

/* The wires of one entry of a menu. The largest weight is known before. */
static void emit_wires(struct measuring *m, const struct menu *menu, const struct menu_entry *entry,
                       const struct listener *to)
{
    const struct collective_kind *kind = entry->tuned.kind;
    const struct group_shape *shape = &m->real->shapes[menu->shape];
    const struct topology *topology = m->real->topology;
    const bool fewer_routes = shape->ranks > 2 * topology->gpus_per_node;
    m->flow_seed = configuration_flow_seed(m->real->c, (uint64_t)menu->kind);
    if (kind->exchange_weight != NULL && m->by_ends && fewer_routes) {
        const struct exchange exchange = {m->gpus, m->nodes, shape->ranks, m->looked_at};
        m->largest_weight = kind->exchange_weight(entry->op, shape);
        symmetry_exchange(m->real->arena, topology, &exchange, to->exchange, m);
        return;
    }
    m->largest_weight = 0.0;
    kind->wires(entry->op, shape, m->nodes, find_largest, m);
    kind->wires(entry->op, shape, m->nodes, to->wire, m);
}

static void measure_group(struct measuring *m, uint32_t row)
{
    static const struct listener adding = {add_wire, add_exchange};
    struct real *real = m->real;
    struct real_group *out = &real->groups[row];
    out->menu = look_at_group(m, symmetry_group_at(real, row));
    const struct menu *menu = &real->menus[out->menu];
    out->shape = menu->shape;
    out->load_first = real->loads.count;
    out->set_first = real->wire_weight_count;
    real->wire_weight_count += menu->set_count;
    uint32_t set = 0;
    for (uint32_t i = 0; i < menu->entry_count; i++) {
        if (menu->entries[i].set != set)
            continue; /* nothing is sent, or its wires are kept already */
        emit_wires(m, menu, &menu->entries[i], &adding);
        real->wire_weights[out->set_first + set] = m->largest_weight;
        keep_loads(m, row, set++);
        forget_sums(m);
    }
}

/* Adds a load on a link to the signature of its turn: a hash of the link's place times the load as
 * a whole number (weights are multiples of 2^-24), so that wires need not be summed by link first.
 * Most loads end in 24 zero bits, which push the upper bits of a hash out: these are summed apart.
 */
static inline void sign_load(struct measuring *m, struct turned_link at, uint64_t load)
{
    const uint64_t place = symmetry_mix(m->signing.hash, at.link);
    m->signing.low[at.turn] += place * load;
    m->signing.high[at.turn] += (place >> 40) * load;
}

/* By the places of its ends. False: its route is to be asked for. */
static bool sign_ends(struct measuring *m, const struct end_pair *pair, uint64_t load)
{
    const struct end_links *row =
        m->signing.ends == NULL ? NULL : symmetry_ends(m->signing.ends, pair);
    for (uint32_t i = 0; row != NULL && i < row->count; i++) {
        const uint32_t node = row->links[i].of_receiver ? pair->to_node : pair->from_node;
        sign_load(m, symmetry_first_at(m->signing.ends, node, row->links[i].place), load);
    }
    return row != NULL;
}

static void sign_wire(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct measuring *m = context;
    const struct real *real = m->real;
    const uint64_t load = (uint64_t)(share_weight(weight / m->largest_weight) * 0x1p24);
    const struct end_pair pair = {m->gpus[from_member], m->nodes[from_member], m->gpus[to_member],
                                  m->nodes[to_member]};
    struct route route;
    if (sign_ends(m, &pair, load))
        return;
    topology_route(real->topology, pair.from, pair.to, m->flow_seed, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        if (real->topology->graph.types[route.types[i]].binding)
            sign_load(m, symmetry_first_link(real, route.links[i].value), load);
}

static void sign_exchange(void *context, uint32_t link, uint32_t wires)
{
    struct measuring *m = context;
    const uint64_t load = wires * (uint64_t)(share_weight(1.0) * 0x1p24);
    sign_load(m, symmetry_first_link(m->real, link), load);
}

/* What a group with members in all turns puts on each. */
static void sign_loads(struct measuring *m, uint32_t index)
{
    static const struct listener signing = {sign_wire, sign_exchange};
    const uint32_t row = look_at_group(m, index); /* may move the menus */
    const struct menu *menu = &m->real->menus[row];
    uint32_t set = 0;
    for (uint32_t i = 0; i < menu->entry_count; i++) {
        if (menu->entries[i].set == set) {
            m->signing.hash = symmetry_mix(index, set++);
            emit_wires(m, menu, &menu->entries[i], &signing);
        }
    }
}

/* Completes the signatures of the turns. The shape of a group in one turn can differ from that of
 * its like where it crosses the fabric. */
static void sign_turns(struct measuring *m)
{
    struct real *real = m->real;
    const uint32_t group_count = real->layout->group_count;
    uint32_t *shapes = m->shape_of = ARENA_ARRAY(real->arena, uint32_t, group_count);
    m->signing.low = ARENA_ARRAY(real->arena, uint64_t, real->shift.turns);
    m->signing.high = ARENA_ARRAY(real->arena, uint64_t, real->shift.turns);
    m->signing.ends = symmetry_ends_create(real->arena, real);
    for (uint32_t g = 0; g < group_count; g++) {
        const struct group group = layout_group(real->layout, g);
        if (!real->shift.one_turn[g]) {
            sign_loads(m, g);
            continue;
        }
        place_members(m, &group);
        if (m->nodes[0] == m->nodes[group.member_count - 1])
            continue;
        const uint32_t like = symmetry_turned_group(real, &group, 0);
        shapes[g] = find_shape(m, group.member_count, group.kind) + 1;
        if (shapes[g] != shapes[like]) {
            const uint32_t turn = symmetry_turn_of(real, layout_member(real->layout, &group, 0));
            symmetry_sign(real, turn, symmetry_mix(like, UINT64_MAX), shapes[g]);
        }
    }
    for (uint32_t turn = 0; turn < real->shift.turns; turn++)
        symmetry_sign(real, turn, m->signing.low[turn], m->signing.high[turn]);
}

/* The nodes of first turns. */
static void look_at_nodes(struct measuring *m)
{
    const struct real *real = m->real;
    const struct shift *s = &real->shift;
    m->looked_at = ARENA_ARRAY(real->arena, bool, real->topology->node_count);
    for (uint32_t node = 0; node < real->topology->node_count; node++) {
        if (s->node_rank[node] != ROW_NONE) {
            const uint32_t turn = symmetry_turn_of(real, s->node_rank[node]);
            m->looked_at[node] = s->first_like[turn] == turn;
        }
    }
}

static void reserve_rows(struct real *real)
{
    size_t set_bound = 0;
    for (uint32_t row = 0; row < real->shift.group_rows; row++) {
        const struct group group = layout_group(real->layout, symmetry_group_at(real, row));
        const uint32_t program =
            real->lowered->program_of_rank[layout_member(real->layout, &group, 0)];
        set_bound += symmetry_list(real, program, group.kind)->count;
    }
    real->wire_weights = ARENA_ARRAY(real->arena, double, set_bound);
    real->groups = ARENA_ARRAY(real->arena, struct real_group, real->shift.group_rows);
}

static void read_speeds(struct real *real)
{
    real->speed = ARENA_ARRAY(real->arena, double, real->topology->gpu_count);
    for (uint32_t gpu = 0; gpu < real->topology->gpu_count; gpu++)
        real->speed[gpu] = 1.0;
    for (uint32_t i = 0; i < real->c->perturbation_count; i++) {
        const struct perturbation *p = &real->c->perturbations[i];
        if (p->what == PERTURB_GPU_SPEED) {
            CHECK(p->gpu < real->topology->gpu_count);
            real->speed[p->gpu] *= p->ratio;
        }
    }
}

void symmetry_measure(struct arena *arena, const struct symmetry_input *step, bool fold,
                      struct real *out)
{
    const uint32_t link_count = step->topology->graph.link_count, ranks = step->layout->rank_count;
    *out = (struct real){
        .c = step->c,
        .topology = step->topology,
        .layout = step->layout,
        .lowered = step->lowered,
        .arena = arena,
    };
    list_transfers(out);
    read_speeds(out);
    struct measuring m = {
        .real = out,
        .gpus = ARENA_ARRAY(arena, uint32_t, ranks),
        .nodes = ARENA_ARRAY(arena, uint32_t, ranks),
        .order = ARENA_ARRAY(arena, uint64_t, ranks),
        .row_of_link = ARENA_ARRAY(arena, uint32_t, link_count),
        .sum = ARENA_ARRAY(arena, double, link_count),
        .touched = ARENA_ARRAY(arena, uint32_t, link_count),
        .by_ends = !symmetry_fabric_binds(step->topology),
    };
    out->used.links = ARENA_ARRAY(arena, uint32_t, link_count);
    symmetry_no_shift(out);
    if (fold)
        symmetry_find_shift(arena, out);
    if (out->shift.turns > 1) {
        sign_turns(&m);
        symmetry_number_rows(arena, out);
        look_at_nodes(&m);
    }
    reserve_rows(out);
    for (uint32_t row = 0; row < out->shift.group_rows; row++)
        measure_group(&m, row);
    if (out->shift.turns > 1)
        symmetry_count_copies(arena, out);
    symmetry_find_own(arena, out);
}
