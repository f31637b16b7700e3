/* Thinning: whatever the room, sums over a track are those of what came, ends and order hold. */
#include <stdlib.h>

#include "analysis/page/thin.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    SPANS = 3000,
    TRACKS = 3,
    ROOM = 64
};

static struct thin_span made(uint64_t number, int64_t track, int64_t *now)
{
    const uint64_t key = random_key(7, "spans");
    const int64_t begin = *now + (int64_t)(random_at(key, 2 * number) * 50.0);
    const int64_t dur = (int64_t)(random_at(key, 2 * number + 1) * 400.0);
    *now = begin + dur;
    return (struct thin_span){.track = track,
                              .begin = begin,
                              .end = begin + dur,
                              .busy = dur,
                              .wait = dur / 3,
                              .count = 1,
                              .longest = dur,
                              .name = begin % 7};
}

static void test_sums_stay(void **state)
{
    struct thin_span *spans = calloc(ROOM, sizeof *spans);
    struct thin thin;
    int64_t busy[TRACKS] = {0}, wait[TRACKS] = {0}, count[TRACKS] = {0}, longest[TRACKS] = {0};
    int64_t first[TRACKS], last[TRACKS] = {0};
    thin_begin(&thin, spans, ROOM);
    for (int64_t track = 0; track < TRACKS; track++) {
        int64_t now = 0;
        for (int i = 0; i < SPANS; i++) {
            const struct thin_span s = made((uint64_t)(track * SPANS + i), track, &now);
            first[track] = i == 0 ? s.begin : first[track];
            last[track] = s.end;
            busy[track] += s.busy;
            wait[track] += s.wait;
            count[track]++;
            longest[track] = s.longest > longest[track] ? s.longest : longest[track];
            assert_true(thin_add(&thin, &s));
        }
    }
    assert_true(thin.count <= ROOM);
    assert_true(thin.resolution > 1);
    for (int64_t track = 0; track < TRACKS; track++) {
        int64_t before = -1, high = 0;
        for (uint64_t i = 0; i < thin.count; i++) {
            if (spans[i].track != track)
                continue;
            if (before < 0)
                assert_int_equal(spans[i].begin, first[track]);
            assert_true(spans[i].begin >= before);
            before = spans[i].end;
            busy[track] -= spans[i].busy;
            wait[track] -= spans[i].wait;
            count[track] -= spans[i].count;
            high = spans[i].longest > high ? spans[i].longest : high;
        }
        assert_int_equal(before, last[track]);
        assert_int_equal(busy[track], 0);
        assert_int_equal(wait[track], 0);
        assert_int_equal(count[track], 0);
        assert_int_equal(high, longest[track]);
    }
    free(spans);
}

static void test_few_spans_stay_as_they_are(void **state)
{
    struct thin_span spans[4];
    struct thin thin;
    thin_begin(&thin, spans, 4);
    for (int64_t i = 0; i < 4; i++) {
        const struct thin_span s = {.begin = i, .end = i + 1, .busy = 1, .count = 1, .name = i};
        assert_true(thin_add(&thin, &s));
    }
    assert_int_equal(thin.count, 4);
    assert_int_equal(thin.resolution, 1);
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(spans[i].name, i);
}

/* While there is room nothing is merged, not even what has no length and stands at one moment. */
static void test_a_moment_holds_many(void **state)
{
    struct thin_span spans[8];
    struct thin thin;
    thin_begin(&thin, spans, 8);
    for (int64_t i = 0; i < 8; i++) {
        const struct thin_span s = {.begin = 7, .end = i < 4 ? 7 : 8, .count = 1, .name = i};
        assert_true(thin_add(&thin, &s));
    }
    assert_int_equal(thin.count, 8);
    assert_int_equal(thin.resolution, 1);
    for (int64_t i = 0; i < 8; i++) {
        assert_int_equal(spans[i].name, i);
        assert_int_equal(spans[i].count, 1);
    }
    const struct thin_span one_more = {.begin = 7, .end = 8, .count = 1, .name = 8};
    assert_true(thin_add(&thin, &one_more)); /* now there is none */
    assert_int_equal(thin.count, 1);
    assert_int_equal(spans[0].count, 9);
}

static void test_a_label_is_that_of_the_longest(void **state)
{
    struct thin_span spans[1];
    struct thin thin;
    thin_begin(&thin, spans, 1);
    for (int64_t i = 0; i < 5; i++) {
        const int64_t dur = i == 3 ? 10 : 1;
        const struct thin_span s = {
            .begin = 20 * i, .end = 20 * i + dur, .count = 1, .longest = dur, .name = i};
        assert_true(thin_add(&thin, &s));
    }
    assert_int_equal(thin.count, 1);
    assert_int_equal(spans[0].name, 3);
    assert_int_equal(spans[0].count, 5);
}

static void test_more_tracks_than_room_is_refused(void **state)
{
    struct thin_span spans[2];
    struct thin thin;
    thin_begin(&thin, spans, 2);
    for (int64_t track = 0; track < 3; track++) {
        const struct thin_span s = {.track = track, .end = 1, .count = 1};
        assert_int_equal(thin_add(&thin, &s), track < 2);
    }
}

/* Two passes in turns: they stay apart while merging each in itself makes room. */
static void test_passes_merge_in_themselves_first(void **state)
{
    struct thin_span spans[8];
    struct thin thin;
    thin_begin(&thin, spans, 8);
    for (int64_t i = 0; i < 40; i++) {
        const struct thin_span s = {.begin = i,
                                    .end = i + 1,
                                    .busy = 1,
                                    .count = 1,
                                    .longest = 1,
                                    .microbatch = i < 20 ? 0 : 1};
        assert_true(thin_add(&thin, &s));
    }
    int64_t counts[2] = {0};
    for (uint64_t i = 0; i < thin.count; i++)
        counts[spans[i].microbatch] += spans[i].count;
    assert_int_equal(counts[0], 20);
    assert_int_equal(counts[1], 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_stay),
        cmocka_unit_test(test_few_spans_stay_as_they_are),
        cmocka_unit_test(test_a_moment_holds_many),
        cmocka_unit_test(test_a_label_is_that_of_the_longest),
        cmocka_unit_test(test_passes_merge_in_themselves_first),
        cmocka_unit_test(test_more_tracks_than_room_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
