/* NVLink bridges of a pcie node: what is refused, whom NVLink joins, what a bad card slows. */
#include <string.h>

#include "tests/test.h"
#include "tests/topology/shapes.h"

/* The sentence with which a spec is refused; "" when it is not. */
static const char *refusal(const struct topology_spec *spec)
{
    static _Thread_local struct error error;
    error.text[0] = '\0';
    topology_check(spec, &error);
    return error.text;
}

static void assert_refused(const struct topology_spec *spec, const char *words)
{
    const char *text = refusal(spec);
    if (strstr(text, words) == NULL)
        fail_msg("expected a sentence with '%s', got '%s'", words, text);
}

static void bad_bridges_are_refused(void **state)
{
    struct topology_spec spec = shape_spec(&topology_pcie, &topology_none, 1, 4, 0);
    double *bridged = &spec.node.options.value[1];
    assert_true(*bridged == 1);
    *bridged = 2;
    assert_string_equal(refusal(&spec), "");
    *bridged = 3;
    assert_refused(&spec, "4 GPUs of a node cannot be bridged by 3: bridged must divide gpus");
    *bridged = 0;
    assert_refused(&spec, "bridged must be a whole number from 1 to 8");
    *bridged = 9;
    assert_refused(&spec, "bridged must be a whole number from 1 to 8");
    *bridged = 4;
    spec.node.nvlink.bytes_per_s = 0;
    assert_refused(&spec, "bridged: 4 needs nvlink_bandwidth above 0");
    *bridged = 1;
    assert_string_equal(refusal(&spec), "");
    /* A job on three of four cards: the whole node is what bridges join. */
    spec.node.nvlink.bytes_per_s = 64;
    spec.node.gpus = 3;
    *bridged = 2;
    assert_refused(&spec, "3 GPUs of a node cannot be bridged by 2");
    spec.node.installed_gpus = 4;
    assert_string_equal(refusal(&spec), "");
}

/* Groups of neighbours that NVLink alone joins: any in an &topology_nvlink_island, whole parts of a
 * bridged group.
 */
static void nvlink_joins_what_it_reaches(void **state)
{
    static const struct {
        uint64_t gpus;
        double bridged;  /* 0: an island */
        unsigned joined; /* bit n: spans of n + 1 */
    } rows[] = {{8, 0, 0xff}, {8, 1, 0x01}, {8, 2, 0x03}, {8, 4, 0x0b}, {6, 3, 0x05}, {4, 4, 0x0f}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topology_spec spec =
            shape_spec(rows[i].bridged > 0 ? &topology_pcie : &topology_nvlink_island,
                       &topology_none, 1, rows[i].gpus, 0);
        if (rows[i].bridged > 0)
            spec.node.options.value[1] = rows[i].bridged;
        assert_string_equal(refusal(&spec), "");
        for (uint64_t span = 1; span <= 9; span++)
            assert_int_equal(topology_wire(&spec, span).kind == WIRE_NVLINK,
                             rows[i].joined >> (span - 1) & 1U);
    }
}

static bool is_wire(const struct topology_spec *spec, uint64_t span, enum topology_wire_kind kind,
                    double bytes_per_s, double gpu_bytes_per_s)
{
    const struct topology_wire wire = topology_wire(spec, span);
    return wire.kind == kind && wire.bytes_per_s == bytes_per_s &&
           wire.gpu_bytes_per_s == gpu_bytes_per_s;
}

/* Line rates by hand: NVLink 64 and PCIe 16 of a GPU, four NICs of 8 for eight GPUs. */
static void wires_are_those_of_the_machine(void **state)
{
    struct topology_spec spec = shape_spec(&topology_nvlink_island, &topology_rail, 2, 8, 4);
    spec.node.nic.efficiency_ratio = spec.fabric.efficiency_ratio = 0.5; /* no part of a line */
    assert_true(is_wire(&spec, 1, WIRE_NVLINK, 64, 64) && is_wire(&spec, 8, WIRE_NVLINK, 64, 64));
    assert_true(is_wire(&spec, 9, WIRE_NIC, 8, 4) && is_wire(&spec, 16, WIRE_NIC, 8, 4));
    spec.fabric.nic_bytes_per_s = 32; /* the fabric's NIC goes before the node's, */
    assert_true(is_wire(&spec, 9, WIRE_NIC, 32, 16));
    spec.fabric.nics = 8; /* and so does its number */
    assert_true(is_wire(&spec, 9, WIRE_NIC, 32, 32) && is_wire(&spec, 8, WIRE_NVLINK, 64, 64));
    spec.node.nvlink.bytes_per_s = 0;
    assert_true(is_wire(&spec, 2, WIRE_PCIE, 16, 16) && is_wire(&spec, 9, WIRE_NIC, 32, 32));
    spec = shape_spec(&topology_pcie, &topology_rail, 2, 8, 8);
    assert_true(is_wire(&spec, 2, WIRE_PCIE, 16, 16)); /* no bridges, whatever NVLink there is */
}

/* All bridges of a bad card are slow, those between others are not. */
static void a_bad_card_slows_its_bridges(void **state)
{
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct route r;
    struct topology_spec spec = shape_spec(&topology_pcie, &topology_none, 1, 8, 0);
    spec.node.options.value[1] = 4;
    assert_true(topology_build(arena, &spec, &t, &error));
    assert_int_equal(topology_degrade(&t, 5, LINK_NVLINK, 0.5), 6); /* to three others and back */
    topology_route(&t, 7, 5, 0, &r);
    assert_true(r.bytes_per_s == 32.0 / 3);
    topology_route(&t, 7, 6, 0, &r);
    assert_true(r.bytes_per_s == 64.0 / 3);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_bridges_are_refused),
        cmocka_unit_test(nvlink_joins_what_it_reaches),
        cmocka_unit_test(wires_are_those_of_the_machine),
        cmocka_unit_test(a_bad_card_slows_its_bridges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
