/* The heap of what comes from outside, against a plain list that is searched for the first. */
#include <math.h>

#include "models/job/parts/job_outside.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    MOVES = 2000,
    SEEDS = 50
};

/* The earliest, of one moment the one that was pushed first: the list is in the order of pushing.
 */
static uint32_t first_of(const struct outside_event *list, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        first = list[i].at_s < list[first].at_s ? i : first;
    return first;
}

static void pop_both(struct job_outside *outside, struct outside_event *list, uint32_t *count)
{
    struct outside_event event, expected = list[first_of(list, *count)];
    assert_true(job_outside_next_s(outside) == expected.at_s);
    assert_int_equal(job_outside_next(outside)->id, expected.id);
    job_outside_pop(outside, &event);
    assert_true(event.at_s == expected.at_s);
    assert_int_equal(event.kind, expected.kind);
    assert_int_equal(event.id, expected.id);
    assert_int_equal(event.version, expected.version);
    for (uint32_t i = first_of(list, *count) + 1; i < *count; i++)
        list[i - 1] = list[i];
    --*count;
}

/* Moments are small whole numbers, so that many are equal; none lies before the last that came. */
static void play(struct arena *arena, uint64_t seed)
{
    struct job_outside outside;
    struct outside_event list[MOVES];
    uint32_t count = 0, most = 0;
    double now_s = 0.0;
    job_outside_create(&outside, arena);
    for (uint32_t i = 0; i < MOVES; i++) {
        if (count > 0 && random_at(seed, 2 * i) < (i < MOVES / 2 ? 0.4 : 0.6)) {
            now_s = list[first_of(list, count)].at_s;
            pop_both(&outside, list, &count);
            continue;
        }
        double at_s = now_s + floor(8.0 * random_at(seed, 2 * i + 1));
        enum outside_kind kind = (enum outside_kind)(i % (OUTSIDE_END + 1));
        list[count++] =
            (struct outside_event){.at_s = at_s, .kind = kind, .id = i, .version = 3 * i};
        job_outside_push(&outside, at_s, kind, i, 3 * i);
        most = count > most ? count : most;
    }
    while (count > 0)
        pop_both(&outside, list, &count);
    assert_true(most > 100);
    assert_true(isinf(job_outside_next_s(&outside)));
    assert_null(job_outside_next(&outside));
}

static void test_order(void **state)
{
    struct arena *arena = arena_create();
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        play(arena, seed);
    arena_destroy(arena);
}

static void test_equal_moments_come_as_pushed(void **state)
{
    struct arena *arena = arena_create();
    struct job_outside outside;
    job_outside_create(&outside, arena);
    for (uint32_t i = 0; i < 40; i++)
        job_outside_push(&outside, 7.0, OUTSIDE_REPAIRED, i, 0);
    for (uint32_t i = 0; i < 40; i++) {
        struct outside_event event;
        job_outside_pop(&outside, &event);
        assert_int_equal(event.id, i);
    }
    arena_destroy(arena);
}

static void test_never_is_not_kept(void **state)
{
    struct arena *arena = arena_create();
    struct job_outside outside;
    job_outside_create(&outside, arena);
    job_outside_push(&outside, INFINITY, OUTSIDE_MAINTENANCE, 0, 0);
    assert_null(job_outside_next(&outside));
    job_outside_push(&outside, 1.0, OUTSIDE_END, 0, 0);
    assert_int_equal(job_outside_next(&outside)->kind, OUTSIDE_END);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_equal_moments_come_as_pushed),
                                       cmocka_unit_test(test_never_is_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
