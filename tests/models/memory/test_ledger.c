/* The ledger on small hand-made programs: order, steps, tenants, failures. */
#include <math.h>
#include <string.h>

#include "models/memory/ledger.h"
#include "models/memory/ledger_passes.h"
#include "models/program/program.h"
#include "sim/units.h"
#include "tests/test.h"

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
    for (uint32_t i = 0; i < 6; i++)
        step[i].op = i + 1;
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

/* Without expandable segments each large block has its own, of whole 2 MiB. Step 1: the gradients
 * (2) are cut from the cached segment of the temporary (20), so in step 2 the temporary needs
 * another: reserved 10 + 100 + 40 + 20 + 60 + 20 there, 18 of it free. */
static void test_the_peak_is_where_it_is_first_reached(void **state)
{
    static const double tenants[TENANT_COUNT] = {
        [TENANT_CONTEXT] = 10,      [TENANT_WEIGHTS] = 100, [TENANT_ACTIVATIONS] = 40,
        [TENANT_TEMPORARY] = 20,    [TENANT_MOMENTS] = 60,  [TENANT_GRADIENTS] = 2,
        [TENANT_FRAGMENTATION] = 18};
    static const struct ledger_point points[] = {
        {0, TENANT_ACTIVATIONS, 212, 230},
        {1, TENANT_TEMPORARY, 232, 250},
        {2, TENANT_TEMPORARY, 212, 250},
        {3, TENANT_ACTIVATIONS, 172, 250},
    };
    struct arena *arena = arena_create();
    struct program program = example();
    struct ledger_limits limits = {.usable_bytes = INFINITY};
    for (int with_points = 0; with_points < 2; with_points++) {
        struct ledger_result r;
        ledger_play(arena, &program, &limits, with_points == 1, &r);
        assert_true(r.peak_reserved_bytes == 250 * MIB);
        assert_true(r.peak_allocated_bytes == 232 * MIB);
        assert_int_equal(r.peak_step, 2);
        assert_int_equal(r.peak_op, 2);
        assert_true(r.outside_bytes == 10 * MIB);
        for (int t = 0; t < TENANT_COUNT; t++)
            assert_true(r.tenants[t] == tenants[t] * MIB);
        assert_int_equal(r.point_count, with_points == 1 ? 4 : 0);
        for (int t = 0; t < TENANT_COUNT; t++) /* between two steps: what is not of a step */
            assert_true(r.before[t] == (t == TENANT_ACTIVATIONS || t == TENANT_TEMPORARY ||
                                                t == TENANT_FRAGMENTATION
                                            ? 0
                                            : tenants[t] * MIB));
        for (uint32_t i = 0; i < r.point_count; i++) {
            assert_int_equal(r.points[i].entry, points[i].entry);
            assert_int_equal(r.points[i].tenant, points[i].tenant);
            assert_true(r.points[i].allocated_bytes == points[i].allocated_bytes * MIB);
            assert_true(r.points[i].reserved_bytes == points[i].reserved_bytes * MIB);
        }
    }
    arena_destroy(arena);
}

/* One segment of 20 from the first block on; the tenants are those of its fullest moment, and of
 * two equally full ones the first. */
static void test_tenants_are_of_the_fullest_moment(void **state)
{
    struct ledger_entry entries[] = {take(1, TENANT_GRADIENTS, 2 * MIB, 0),
                                     take(2, TENANT_ACTIVATIONS, 9 * MIB, 0),
                                     take(3, TENANT_TEMPORARY, 4 * MIB, 0),
                                     give(3),
                                     take(3, TENANT_MOMENTS, 3 * MIB, 0),
                                     give(3),
                                     take(3, TENANT_COMMUNICATION, 4 * MIB, 0),
                                     give(3),
                                     take(4, TENANT_MASTER, 8 * MIB, LEDGER_OUTSIDE),
                                     give(4),
                                     give(2),
                                     give(1)};
    uint32_t count = sizeof entries / sizeof entries[0];
    for (uint32_t i = 0; i < count; i++)
        entries[i].op = i + 1;
    struct arena *arena = arena_create();
    struct program program = {.ledger = entries, .ledger_count = 8};
    struct ledger_limits limits = {.usable_bytes = INFINITY};
    struct ledger_result r;
    program.ledger_count = count;
    ledger_play(arena, &program, &limits, false, &r);
    assert_int_equal(r.peak_op, 9); /* 20 and 8 outside */
    assert_true(r.peak_reserved_bytes == 28 * MIB);
    assert_true(r.tenants[TENANT_MASTER] == 8 * MIB);
    assert_true(r.tenants[TENANT_FRAGMENTATION] == 9 * MIB);
    assert_true(r.outside_bytes == 0.0);
    memmove(entries + 8, entries + 10, 2 * sizeof entries[0]); /* nothing outside */
    program.ledger_count = count - 2;
    ledger_play(arena, &program, &limits, false, &r);
    assert_int_equal(r.peak_op, 1);
    assert_int_equal(r.peak_step, 1);
    assert_true(r.peak_reserved_bytes == 20 * MIB);
    assert_true(r.tenants[TENANT_TEMPORARY] == 4 * MIB);
    assert_true(r.tenants[TENANT_COMMUNICATION] == 0.0);
    assert_true(r.tenants[TENANT_FRAGMENTATION] == 5 * MIB);
    arena_destroy(arena);
}

/* What was held when it failed, in MiB; expandable pages are 20 MiB wide. */
static void test_failures_tell_what_was_held(void **state)
{
    static const struct {
        double usable, allocated, reserved, lacking, activations;
    } rows[] = {
        {5, 0, 0, 5, 0}, {90, 10, 10, 20, 0}, {130, 110, 110, 20, 0}, {160, 150, 150, 10, 40}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create();
        struct program program = example();
        struct ledger_result r = play(arena, &program, rows[i].usable * MIB, false);
        assert_true(r.failure.allocated_bytes == rows[i].allocated * MIB);
        assert_true(r.failure.reserved_bytes == rows[i].reserved * MIB);
        assert_true(r.failure.short_bytes == rows[i].lacking * MIB);
        assert_true(r.tenants[TENANT_ACTIVATIONS] == rows[i].activations * MIB);
        assert_true(r.tenants[TENANT_FRAGMENTATION] == 0.0);
        arena_destroy(arena);
    }
}

/* Microbatches that all do the same but for a few; one number draws which and how. */
static uint32_t write_passes(struct ledger_entry *entries, uint32_t seed)
{
    uint32_t count = 0, odd = seed % 13, how = seed / 13 % 5;
    for (uint16_t m = 0; m < 12; m++) {
        uint32_t first = 1 + (m % (1 + seed / 65 % 3)) * 4;
        struct ledger_entry a = take(first, TENANT_ACTIVATIONS, (30 + first) * MIB, 0);
        struct ledger_entry b = take(first + 1, TENANT_TEMPORARY, 12 * MIB, 0);
        if (m == odd) {
            b.bytes = how == 0 ? 48 * MIB : how == 1 ? 6 * MIB : b.bytes;
            b.tenant = how == 2 ? TENANT_COMMUNICATION : b.tenant;
            b.flags = how == 3 ? LEDGER_OUTSIDE : b.flags;
            b.tensor += how == 4 ? 1 : 0;
        }
        const struct ledger_entry pass[] = {a, b, give(a.tensor), give(b.tensor)};
        for (unsigned i = 0; i < 4; i++) {
            entries[count] = pass[i];
            entries[count].microbatch = m;
            entries[count].op = count + 1;
            count++;
        }
    }
    return count;
}

/* Passes that repeat are left out when no points are asked for; that changes nothing. */
static void test_repeated_passes_change_nothing(void **state)
{
    for (uint32_t seed = 0; seed < 13 * 5 * 3; seed++) {
        struct ledger_entry entries[48];
        struct program program = {.ledger = entries};
        program.ledger_count = write_passes(entries, seed);
        for (unsigned expandable = 0; expandable < 2; expandable++) {
            for (unsigned usable = 0; usable < 4; usable++) {
                static const double most[] = {INFINITY, 30 * MIB, 60 * MIB, 84 * MIB};
                struct arena *arena = arena_create();
                struct ledger_limits limits = {most[usable], expandable == 1};
                struct ledger_result whole, brief;
                ledger_play(arena, &program, &limits, true, &whole);
                ledger_play(arena, &program, &limits, false, &brief);
                assert_memory_equal(whole.tenants, brief.tenants, sizeof whole.tenants);
                assert_true(whole.peak_allocated_bytes == brief.peak_allocated_bytes);
                assert_true(whole.peak_reserved_bytes == brief.peak_reserved_bytes);
                assert_int_equal(whole.peak_step, brief.peak_step);
                assert_int_equal(whole.peak_op, brief.peak_op);
                assert_int_equal(whole.failure.failed, brief.failure.failed);
                assert_int_equal(whole.failure.step, brief.failure.step);
                assert_int_equal(whole.failure.entry.op, brief.failure.entry.op);
                assert_true(whole.failure.short_bytes == brief.failure.short_bytes);
                arena_destroy(arena);
            }
        }
    }
}

static void test_passes_are_cut_where_microbatches_change(void **state)
{
    struct arena *arena = arena_create();
    struct ledger_entry e[9];
    static const uint16_t microbatch[9] = {0, 0, 1, 1, 2, 2, 2, 0, 0};
    for (unsigned i = 0; i < 9; i++) {
        e[i] = i % 2 == 0 ? take(1, TENANT_ACTIVATIONS, MIB, 0) : give(1);
        e[i].microbatch = microbatch[i];
    }
    e[2].name = "another name"; /* labels do nothing to memory */
    struct ledger_passes p = ledger_passes_cut(arena, e, 9);
    static const uint32_t ends[] = {2, 4, 7, 9};
    assert_int_equal(p.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(p.passes[i].begin, i == 0 ? 0 : ends[i - 1]);
        assert_int_equal(p.passes[i].end, ends[i]);
    }
    assert_true(p.passes[0].content == p.passes[1].content);
    assert_true(p.passes[0].content != p.passes[2].content); /* one entry more */
    assert_true(p.passes[0].content != p.passes[3].content); /* the same two, turned round */
    uint64_t content = p.passes[0].content;
    for (unsigned field = 0; field < 5; field++) {
        struct ledger_entry other[] = {e[0], e[1]};
        other[0].tensor += field == 0;
        other[0].bytes += field == 1 ? 1.0 : 0.0;
        other[0].tenant = (uint8_t)(other[0].tenant + (field == 2));
        other[0].flags = (uint8_t)(other[0].flags + (field == 3));
        other[0].action = (uint8_t)(other[0].action + (field == 4));
        assert_true(ledger_passes_cut(arena, other, 2).passes[0].content != content);
    }
    assert_int_equal(ledger_passes_cut(arena, e, 0).count, 0);
    arena_destroy(arena);
}

/* Passes with these contents and all the same moment before; asks at `at`. */
static uint32_t repeats(struct ledger_pass *passes, uint32_t count, uint32_t cycle, uint32_t at)
{
    for (uint32_t i = 0; i < count; i++)
        passes[i] = (struct ledger_pass){.content = i % cycle, .before = {i % cycle, 7}};
    struct ledger_passes all = {passes, count};
    return ledger_passes_repeat(&all, at);
}

static void test_repeats_are_whole_cycles(void **state)
{
    struct ledger_pass p[200];
    assert_int_equal(repeats(p, 6, 1, 0), 0);
    assert_int_equal(repeats(p, 6, 1, 1), 1);
    assert_int_equal(repeats(p, 6, 2, 1), 0); /* nothing to repeat yet */
    assert_int_equal(repeats(p, 6, 2, 2), 2);
    assert_int_equal(repeats(p, 6, 2, 4), 2);
    assert_int_equal(repeats(p, 5, 2, 4), 0); /* half a cycle is left */
    assert_int_equal(repeats(p, 4, 2, 2), 2); /* just one */
    assert_int_equal(repeats(p, 200, 64, 64), 64);
    assert_int_equal(repeats(p, 200, 65, 65), 0); /* longer cycles are not looked for */
    struct ledger_passes all = {p, 6};
    repeats(p, 6, 2, 2);
    p[2].before.blocks++;
    assert_int_equal(ledger_passes_repeat(&all, 2), 0);
    p[2].before = (struct ledger_moment){0, 8};
    assert_int_equal(ledger_passes_repeat(&all, 2), 0);
    p[2].before = p[0].before;
    p[3].before = p[4].before = (struct ledger_moment){99, 99}; /* not played, so not known */
    assert_int_equal(ledger_passes_repeat(&all, 2), 2);
    assert_true(p[3].before.blocks == 1 && p[3].before.segments == 7);
    assert_true(p[4].before.blocks == 0 && p[4].before.segments == 7);
    p[3].content = 5;
    assert_int_equal(ledger_passes_repeat(&all, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_second_step_peaks_with_the_moments),
        cmocka_unit_test(test_tenants_add_up_to_the_reserved_peak),
        cmocka_unit_test(test_failures_name_the_first_that_does_not_fit),
        cmocka_unit_test(test_shortfall_is_what_was_missing),
        cmocka_unit_test(test_the_peak_is_where_it_is_first_reached),
        cmocka_unit_test(test_tenants_are_of_the_fullest_moment),
        cmocka_unit_test(test_failures_tell_what_was_held),
        cmocka_unit_test(test_repeated_passes_change_nothing),
        cmocka_unit_test(test_passes_are_cut_where_microbatches_change),
        cmocka_unit_test(test_repeats_are_whole_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
