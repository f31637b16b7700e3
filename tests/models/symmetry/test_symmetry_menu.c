/* The menu of a group: what each of its transfers is played as, and which of them keep their wires
 * in one set. */
#include <math.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

struct order {
    enum comm_op op;
    double bytes;
};
/* Of one operation the small ones go by a ring and the large ones by the switch; two send nothing.
 */
static const struct order orders[] = {
    {COMM_ALL_REDUCE, 1.0},          {COMM_ALL_REDUCE, 0.0},
    {COMM_ALL_GATHER, 1.0 * MEGA},   {COMM_ALL_REDUCE, 1.0 * GIGA},
    {COMM_ALL_GATHER, 0.0},          {COMM_REDUCE_SCATTER, 1.0 * MEGA},
    {COMM_ALL_REDUCE, 1.0 * KILO},   {COMM_ALL_GATHER, 2.0 * GIGA},
    {COMM_ALL_REDUCE, 2.0 * GIGA},   {COMM_REDUCE_SCATTER, 3.0 * GIGA},
    {COMM_ALL_TO_ALL, 300.0 * MEGA}, {COMM_ALL_REDUCE, 3.0},
    {COMM_ALL_TO_ALL, 100.0 * MEGA},
};
enum {
    ORDERS = sizeof orders / sizeof orders[0]
};
struct scene {
    struct arena *arena;
    struct configuration c;
    struct topology topology;
    struct layout layout;
    struct lowered lowered;
    struct program *program;
    struct real real;
};

/* Two nodes of four; each transfer once, in the order above, on the tensor-parallel stream. */
static void begin(struct scene *s, uint64_t tp)
{
    struct error error;
    *s = (struct scene){.arena = arena_create(), .c = lower_case()};
    lower_case_size(&s->c, tp, 1, 8 / tp, 1, 1);
    struct topology_spec *cluster = &s->c.cluster;
    cluster->nodes = 2;
    cluster->node.gpus = cluster->node.nic.count = 4;
    cluster->node.kind = &topology_nvlink_island;
    cluster->node.nvlink.nvls = true;
    cluster->node.nvlink.nvls_ratio = 0.75;
    cluster->node.nvlink.nvls_channels = 16;
    cluster->node.nvlink.exchange_ratio = 0.77;
    cluster->node.collective_start_s = 16 * MICROSECOND;
    cluster->node.pcie.bytes_per_s = 25 * GIGA;
    cluster->node.nic.efficiency_ratio = 1.0;
    cluster->fabric.kind = &topology_rail;
    cluster->fabric.options = (struct kind_options){{32, 1}};
    cluster->fabric.efficiency_ratio = 1.0;
    assert_true(topology_build(s->arena, cluster, &s->topology, &error));
    struct program_writer *w = program_begin(s->arena, 0);
    program_name(w, "op");
    program_host(w, 0.0);
    for (unsigned i = 0; i < ORDERS; i++)
        program_op(w, (struct op){.kind = OP_COLLECTIVE,
                                  .stream = STREAM_TP,
                                  .cost = program_transfer(w, orders[i].op, orders[i].bytes)});
    s->program = program_end(w);
    layout_build(s->arena, &s->c, 1u << STREAM_TP, &s->layout);
    s->lowered = (struct lowered){
        .programs = &s->program, .program_count = 1, .rank_count = s->layout.rank_count};
    s->lowered.program_of_rank = ARENA_ARRAY(s->arena, uint32_t, s->layout.rank_count);
    symmetry_measure(s->arena,
                     &(struct symmetry_input){&s->c, &s->topology, &s->layout, &s->lowered}, false,
                     &s->real);
}

static void find_largest(void *context, uint32_t from, uint32_t to, double weight)
{
    double *largest = context;
    (void)from;
    (void)to;
    *largest = fmax(*largest, weight);
}

static double largest_wire(const struct menu_entry *entry, const struct group_shape *shape)
{
    static const uint32_t node_of[] = {0, 0, 0, 0, 1, 1, 1, 1};
    double largest = 0.0;
    entry->tuned.kind->wires(entry->op, shape, node_of, find_largest, &largest);
    return largest;
}

/* Every transfer is tuned by itself. Those of one algorithm and operation have one set of wires,
 * all others sets of their own, numbered as they come; the set remembers its busiest wire. */
static void check_menu(const struct real *real, const struct real_group *group)
{
    const struct menu *menu = &real->menus[group->menu];
    const struct group_shape *shape = &real->shapes[menu->shape];
    uint32_t sets = 0;
    assert_int_equal(menu->entry_count, ORDERS);
    for (unsigned i = 0; i < ORDERS; i++) {
        const struct menu_entry *entry = &menu->entries[i];
        assert_true(entry->op == orders[i].op && entry->bytes == orders[i].bytes);
        if (orders[i].bytes == 0.0 || shape->ranks == 1) {
            assert_true(entry->set == ROW_NONE && isinf(entry->tuned.cap_bytes_per_s));
            assert_true(entry->tuned.latency_s == 0.0 && entry->tuned.time_s == 0.0);
            continue;
        }
        struct collective_plan alone;
        collective_tune(orders[i].op, shape, orders[i].bytes, &alone);
        assert_true(entry->tuned.kind == alone.kind && entry->tuned.time_s == alone.time_s);
        uint32_t set = sets;
        for (unsigned j = 0; j < i; j++) {
            const struct menu_entry *other = &menu->entries[j];
            if (other->tuned.kind == alone.kind && other->op == orders[i].op)
                set = other->set;
        }
        assert_int_equal(entry->set, set);
        sets += set == sets;
        assert_true(real->wire_weights[group->set_first + set] == largest_wire(entry, shape));
    }
    assert_int_equal(menu->set_count, sets);
}

static void test_menus(void **state)
{
    static const struct {
        uint64_t tp;
        uint32_t sets_at_least;
    } rows[] = {{8, 5}, {4, 5}, {2, 4}, {1, 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scene s;
        begin(&s, rows[i].tp);
        assert_int_equal(s.layout.group_count, 8 / rows[i].tp);
        for (uint32_t g = 0; g < s.layout.group_count; g++)
            check_menu(&s.real, &s.real.groups[g]);
        assert_int_equal(s.real.menu_count, 1); /* all groups are alike */
        assert_true(s.real.menus[0].set_count >= rows[i].sets_at_least);
        assert_true(s.real.menus[0].set_count <= 5); /* many share theirs */
        arena_destroy(s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_menus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
