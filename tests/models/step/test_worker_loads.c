/* What a wire carries when: worked out on paper, in whole seconds and bytes. */
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    PIECES_MAX = 16
};
struct pieces {
    struct worker_load rows[PIECES_MAX];
    unsigned count;
};

static void keep(void *context, const struct worker_load *load)
{
    struct pieces *all = context;
    assert_true(all->count < PIECES_MAX);
    all->rows[all->count++] = *load;
}

/* These pieces and no others. */
static void pieces_are(const struct world *w, const struct worker_load *expected, unsigned count)
{
    struct pieces all = {.count = 0};
    worker_loads(w->worker, keep, &all);
    assert_int_equal(all.count, count);
    for (unsigned e = 0; e < count; e++) {
        unsigned found = 0;
        for (unsigned i = 0; i < count; i++)
            found += all.rows[i].link == expected[e].link &&
                     all.rows[i].rank_class == expected[e].rank_class &&
                     all.rows[i].from_s == expected[e].from_s &&
                     all.rows[i].until_s == expected[e].until_s &&
                     all.rows[i].bytes == expected[e].bytes;
        assert_int_equal(found, 1);
    }
}

/* A rank that computes for so long and then has one transfer on tp. */
static uint32_t sender(struct world *w, double compute_s)
{
    struct program_writer *p = program_begin(w->arena, 0);
    world_transfers(p, 1);
    uint32_t wait = OP_NONE;
    if (compute_s > 0.0)
        wait = program_op(p, world_compute(p, compute_s, OP_NONE));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, wait));
    return world_rank(w, world_program(w, program_end(p)), 1.0);
}

static uint32_t alone(struct world *w, uint32_t rank)
{
    return world_group(w, STREAM_TP, 1, &rank, 1);
}

/* 6 bytes from 0 s and 2 from 2 s over a wire of 1 byte/s: the first alone until 2, both at half
 * of it until the second is through at 6, the first alone until 8. Its latency of 3 s comes after
 * that, when nothing is on the wire. The second also loads a wire of its own, half as much. */
static void two_share_a_wire(void **state)
{
    struct world w;
    world_begin(&w);
    const uint32_t a = sender(&w, 0.0), b = sender(&w, 2.0);
    const uint32_t link = world_link(&w, 1.0), other = world_link(&w, 8.0);
    const struct wire shared = {link, 1.0}, both[] = {{link, 1.0}, {other, 0.5}};
    world_plan(&w, alone(&w, a), 0, 6.0, 3.0, 8.0, 1.0, &shared, 1);
    world_plan(&w, alone(&w, b), 0, 2.0, 0.0, 8.0, 1.0, both, 2);
    world_play(&w);
    assert_true(world_step_s(&w) == 11.0);
    pieces_are(&w,
               (const struct worker_load[]){{link, a, 0.0, 2.0, 2.0},
                                            {link, a, 2.0, 6.0, 2.0},
                                            {link, a, 6.0, 8.0, 2.0},
                                            {link, b, 2.0, 6.0, 2.0},
                                            {other, b, 2.0, 6.0, 1.0}},
               5);
    world_end(&w);
}

/* The same, but each payload byte is two on the wire and the first may not go faster than 1/4: it
 * has 12 bytes to carry at 1/2 of the wire, alone or not, and the second its 4 at the other half.
 */
static void a_ceiling_leaves_room(void **state)
{
    struct world w;
    world_begin(&w);
    const uint32_t a = sender(&w, 0.0), b = sender(&w, 2.0);
    const struct wire wire = {world_link(&w, 1.0), 1.0};
    world_plan(&w, alone(&w, a), 0, 6.0, 0.0, 0.25, 2.0, &wire, 1);
    world_plan(&w, alone(&w, b), 0, 2.0, 1.0, 8.0, 2.0, &wire, 1);
    world_play(&w);
    assert_true(world_step_s(&w) == 24.0);
    pieces_are(&w,
               (const struct worker_load[]){{wire.link, a, 0.0, 24.0, 12.0},
                                            {wire.link, b, 2.0, 10.0, 4.0}},
               2);
    world_end(&w);
}

/* Wires that are never shared: 6 bytes at 2 bytes/s for 3 s from the moment at which both are
 * there, told once for both, on the wire until the latency begins; a transfer of nothing puts
 * nothing there. */
static void a_wire_of_its_own(void **state)
{
    struct world w;
    world_begin(&w);
    const uint32_t ranks[] = {sender(&w, 0.0), sender(&w, 4.0)}, c = sender(&w, 1.0);
    const uint32_t link = world_link(&w, 8.0);
    struct symmetry *y = &w.symmetry;
    world_plan(&w, world_group(&w, STREAM_TP, 1, ranks, 2), 0, 6.0, 5.0, 2.0, 3.0, NULL, 0);
    y->plans[0].own_first = y->use_count;
    y->plans[0].own_count = 1;
    y->uses[y->use_count++] = (struct share_use){.link = link, .weight = 1.0};
    world_plan(&w, alone(&w, c), 0, 0.0, 1.0, 2.0, 1.0, NULL, 0);
    y->plans[1].own_first = y->plans[0].own_first;
    y->plans[1].own_count = 1;
    world_play(&w);
    assert_true(world_step_s(&w) == 4.0 + 3.0 + 5.0);
    pieces_are(&w, (const struct worker_load[]){{link, ranks[0], 4.0, 7.0, 18.0}}, 1);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_share_a_wire),
        cmocka_unit_test(a_ceiling_leaves_room),
        cmocka_unit_test(a_wire_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
