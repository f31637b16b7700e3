/* The ledger on small hand-made programs: order, steps, tenants, failures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/ledger.h"
#include "models/program.h"
#include "sim/units.h"

static struct ledger_entry take(uint32_t tensor, enum tenant tenant, double bytes, uint8_t flags)
{
    return (struct ledger_entry){.action = LEDGER_ALLOCATE,
                                 .tenant = (uint8_t)tenant,
                                 .flags = flags,
                                 .tensor = tensor,
                                 .bytes = bytes,
                                 .name = "tensor",
                                 .call_site = "test"};
}

static struct ledger_entry give(uint32_t tensor)
{
    return (struct ledger_entry){.action = LEDGER_FREE, .tensor = tensor};
}

/* Weights 100, context 10 outside; a step keeps 40 of activations and 20 of a temporary; moments of
 * 60 appear at the end of the first step. All in MiB. */
static struct ledger_entry setup[] = {
    {0},
    {0},
};
static struct ledger_entry step[6];

static struct program example(void)
{
    setup[0] = take(0, TENANT_CONTEXT, 10 * MIB, LEDGER_OUTSIDE);
    setup[1] = take(1, TENANT_WEIGHTS, 100 * MIB, 0);
    step[0] = take(2, TENANT_ACTIVATIONS, 40 * MIB, 0);
    step[1] = take(3, TENANT_TEMPORARY, 20 * MIB, 0);
    step[2] = give(3);
    step[3] = give(2);
    step[4] = take(4, TENANT_MOMENTS, 60 * MIB, LEDGER_FIRST_STEP | LEDGER_STAYS);
    step[5] = take(5, TENANT_GRADIENTS, 2 * MIB, LEDGER_FIRST_STEP | LEDGER_STAYS);
    for (uint32_t i = 0; i < 6; i++) {
        step[i].op = i + 1;
    }
    return (struct program){.setup = setup, .setup_count = 2, .ledger = step, .ledger_count = 6};
}

static struct ledger_result play(struct arena *arena, const struct program *program,
                                 double usable_bytes, bool points)
{
    struct ledger_limits limits = {.usable_bytes = usable_bytes, .expandable_segments = true};
    struct ledger_result result;
    ledger_play(arena, program, &limits, points, &result);
    return result;
}

static void test_the_second_step_peaks_with_the_moments(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct program program = example();
    struct ledger_result r = play(arena, &program, INFINITY, true);
    assert_false(r.failure.failed);
    assert_true(r.peak_allocated_bytes == (10 + 100 + 40 + 20 + 60 + 2) * MIB);
    assert_true(r.allocated_after_setup_bytes == 110 * MIB);
    assert_int_equal(r.peak_step, 2);
    assert_true(r.tenants[TENANT_MOMENTS] == 60 * MIB);
    assert_true(r.tenants[TENANT_ACTIVATIONS] == 40 * MIB);
    assert_int_equal(r.point_count, 4); /* what belongs to the first step only is not repeated */
    assert_true(r.points[3].allocated_bytes == 172 * MIB);
    arena_destroy(arena);
}

static void test_tenants_add_up_to_the_reserved_peak(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct program program = example();
    struct ledger_result r = play(arena, &program, INFINITY, false);
    double sum = 0;
    for (int t = 0; t < TENANT_COUNT; t++) {
        assert_true(r.tenants[t] >= 0);
        sum += r.tenants[t];
    }
    assert_true(sum == r.peak_reserved_bytes);
    arena_destroy(arena);
}

static void test_failures_name_the_first_that_does_not_fit(void **state)
{
    (void)state;
    /* usable MiB, expected step, tensor */
    struct {
        double usable;
        uint32_t step, tensor;
    } rows[] = {{5, 0, 0}, {90, 0, 1}, {130, 1, 2}, {160, 1, 3}, {190, 2, 2}, {235, 2, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create();
        struct program program = example();
        struct ledger_result r = play(arena, &program, rows[i].usable * MIB, false);
        assert_true(r.failure.failed);
        assert_int_equal(r.failure.step, rows[i].step);
        assert_int_equal(r.failure.entry.tensor, rows[i].tensor);
        assert_true(r.failure.short_bytes > 0);
        assert_true(r.failure.reserved_bytes <= rows[i].usable * MIB);
        arena_destroy(arena);
    }
}

/* The shortfall is exact: with that much more, the same allocation fits. */
static void test_shortfall_is_what_was_missing(void **state)
{
    (void)state;
    for (double usable = 4; usable < 240; usable += 7) {
        struct arena *arena = arena_create();
        struct program program = example();
        struct ledger_result r = play(arena, &program, usable * MIB, false);
        if (r.failure.failed) {
            double more = usable * MIB + r.failure.short_bytes;
            struct ledger_result again = play(arena, &program, more, false);
            bool later = !again.failure.failed || again.failure.step > r.failure.step ||
                         again.failure.entry.op > r.failure.entry.op ||
                         again.failure.entry.tensor > r.failure.entry.tensor;
            assert_true(later);
            struct ledger_result less = play(arena, &program, more - 1.0, false);
            assert_true(less.failure.failed);
            assert_int_equal(less.failure.step, r.failure.step);
            assert_int_equal(less.failure.entry.tensor, r.failure.entry.tensor);
        }
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_second_step_peaks_with_the_moments),
        cmocka_unit_test(test_tenants_add_up_to_the_reserved_peak),
        cmocka_unit_test(test_failures_name_the_first_that_does_not_fit),
        cmocka_unit_test(test_shortfall_is_what_was_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
