/* The rectangles of the pipeline: by hand, and their sums for any spans. */
#include <string.h>

#include "analysis/exchange/export/gantt_marks.h"
#include "tests/test.h"

enum {
    DRAWN_MAX = 64
};
struct drawn {
    struct gantt_mark marks[DRAWN_MAX];
    struct gantt_span holes[DRAWN_MAX];
    unsigned count, hole_count, hole_after[DRAWN_MAX];
};

static void keep_mark(void *context, const struct gantt_mark *mark)
{
    struct drawn *d = context;
    assert_true(d->count < DRAWN_MAX);
    d->marks[d->count++] = *mark;
}

static void keep_hole(void *context, const struct gantt_span *hole)
{
    struct drawn *d = context;
    assert_true(d->hole_count < DRAWN_MAX);
    d->hole_after[d->hole_count] = d->count;
    d->holes[d->hole_count++] = *hole;
}

static void draw(struct drawn *d, int64_t unit, const struct gantt_span *spans, unsigned count)
{
    struct gantt_marks marks = {.draw = keep_mark, .hole = keep_hole, .context = d};
    memset(d, 0, sizeof *d);
    gantt_marks_begin(&marks, unit);
    for (unsigned i = 0; i < count; i++)
        gantt_marks_add(&marks, &spans[i]);
    gantt_marks_end(&marks);
}

static void mark_is(const struct gantt_mark *m, int64_t row, int64_t begin, int64_t end,
                    enum gantt_kind kind)
{
    assert_int_equal(m->span.row, row);
    assert_int_equal(m->span.begin, begin);
    assert_int_equal(m->span.end, end);
    assert_int_equal(m->span.kind, kind);
}

/* Row 0 waits, then has a pass of microbatch 0 with two waits inside, one of them wide, a wait that
 * is outside, and a pass of microbatch 1; row 1 has the same microbatch, which is another pass. */
static const struct gantt_span spans[] = {
    {0, 0, 10, GANTT_bubble, -1, -1},     {0, 10, 20, GANTT_forward, 0, 0},
    {0, 20, 21, GANTT_host, -1, -1},      {0, 21, 29, GANTT_exposed_tp, -1, -1},
    {0, 29, 40, GANTT_forward, 0, 0},     {0, 40, 45, GANTT_straggler, -1, -1},
    {0, 45, 50, GANTT_forward, 1, 0},     {1, 0, 50, GANTT_forward, 1, 0},
    {1, 50, 51, GANTT_exposed_dp, -1, -1}};

static void waits_between_ops_are_inside_the_pass(void **state)
{
    struct drawn d;
    draw(&d, 4, spans, 9);
    assert_int_equal(d.count, 6);
    mark_is(&d.marks[0], 0, 0, 10, GANTT_bubble);
    mark_is(&d.marks[1], 0, 10, 40, GANTT_forward);
    assert_int_equal(d.marks[1].ns[GANTT_forward], 21);
    assert_int_equal(d.marks[1].ns[GANTT_host], 1);
    assert_int_equal(d.marks[1].ns[GANTT_exposed_tp], 8);
    assert_int_equal(d.marks[1].passes, 1);
    assert_int_equal(d.marks[1].waits, 0);
    assert_int_equal(d.marks[1].span.microbatch, 0);
    mark_is(&d.marks[2], 0, 40, 45, GANTT_straggler);
    assert_int_equal(d.marks[2].waits, 1);
    assert_int_equal(d.marks[2].passes, 0);
    mark_is(&d.marks[3], 0, 45, 50, GANTT_forward);
    mark_is(&d.marks[4], 1, 0, 50, GANTT_forward);
    mark_is(&d.marks[5], 1, 50, 51, GANTT_exposed_dp);
    assert_int_equal(d.hole_count, 1); /* of 8 ns: two units */
    assert_int_equal(d.holes[0].kind, GANTT_exposed_tp);
    assert_int_equal(d.hole_after[0], 2); /* upon its pass */
    draw(&d, 5, spans, 9);
    assert_int_equal(d.hole_count, 0);
}

/* 5 + 5 ns are a unit of 10: joined, and of the kind that has most; the first among equals. */
static void narrow_ones_join_to_a_unit(void **state)
{
    struct drawn d;
    draw(&d, 10, spans, 9);
    assert_int_equal(d.count, 5);
    mark_is(&d.marks[2], 0, 40, 50, GANTT_straggler);
    assert_int_equal(d.marks[2].passes, 1);
    assert_int_equal(d.marks[2].waits, 1);
    assert_int_equal(d.marks[2].ns[GANTT_forward], 5);
    assert_int_equal(d.marks[2].ns[GANTT_straggler], 5);
    assert_int_equal(d.marks[2].span.microbatch, -1);
    draw(&d, 40, spans, 9); /* 0 to 40 at once; not over the end of a row */
    assert_int_equal(d.count, 4);
    mark_is(&d.marks[0], 0, 0, 40, GANTT_forward);
    mark_is(&d.marks[1], 0, 40, 50, GANTT_straggler);
}

/* Whatever the unit: in order, without overlap, at most two a unit, and nothing is lost. */
static void sums_stay(void **state)
{
    for (int64_t unit = 0; unit <= 60; unit++) {
        struct drawn d;
        int64_t got[2][GANTT_KIND_COUNT] = {{0}}, want[2][GANTT_KIND_COUNT] = {{0}};
        unsigned of_row[2] = {0};
        draw(&d, unit, spans, 9);
        for (unsigned i = 0; i < 9; i++)
            want[spans[i].row][spans[i].kind] += spans[i].end - spans[i].begin;
        for (unsigned i = 0; i < d.count; i++) {
            const struct gantt_mark *m = &d.marks[i], *before = i > 0 ? &d.marks[i - 1] : m;
            int64_t sum = 0;
            of_row[m->span.row]++;
            for (unsigned k = 0; k < GANTT_KIND_COUNT; k++) {
                got[m->span.row][k] += m->ns[k];
                sum += m->ns[k];
            }
            assert_int_equal(sum, m->span.end - m->span.begin);
            if (i > 0 && before->span.row == m->span.row)
                assert_int_equal(m->span.begin, before->span.end);
        }
        assert_memory_equal(got, want, sizeof got);
        for (unsigned row = 0; unit > 0 && row < 2; row++)
            assert_true(of_row[row] <= 2 * (51 / unit + 1));
    }
}

/* More waits after a pass than are kept apart: the pass ends before them, and none is lost. */
static void many_waits_end_a_pass(void **state)
{
    struct drawn d;
    struct gantt_span many[GANTT_HOLES + 3];
    const unsigned count = sizeof many / sizeof many[0];
    for (unsigned i = 0; i < count; i++)
        many[i] =
            (struct gantt_span){0, i, i + 1, i % 2 == 0 ? GANTT_host : GANTT_exposed_tp, -1, -1};
    many[0].kind = many[count - 1].kind = GANTT_backward;
    many[0].microbatch = many[count - 1].microbatch = 7;
    draw(&d, 1000, many, count);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.marks[0].passes, 2);
    assert_int_equal(d.marks[0].waits, count - 2);
    assert_int_equal(d.marks[0].ns[GANTT_host] + d.marks[0].ns[GANTT_exposed_tp], count - 2);
    draw(&d, 1000, many, 3);
    assert_int_equal(d.marks[0].passes, 1);
    assert_int_equal(d.marks[0].ns[GANTT_backward], 1);
}

/* Another phase, another chunk, or no microbatch: another pass. Joined, they have no microbatch. */
static void what_differs_is_another_pass(void **state)
{
    struct drawn d;
    const struct gantt_span ops[] = {{0, 0, 10, GANTT_forward, 3, 0},
                                     {0, 10, 20, GANTT_backward, 3, 0},
                                     {0, 20, 30, GANTT_backward, 3, 1},
                                     {0, 30, 40, GANTT_optimizer, -1, -1},
                                     {0, 40, 50, GANTT_optimizer, -1, -1}};
    draw(&d, 1, ops, 5);
    assert_int_equal(d.count, 5);
    draw(&d, 20, ops, 5);
    assert_int_equal(d.count, 3);
    assert_int_equal(d.marks[0].passes, 2);
    assert_int_equal(d.marks[0].span.microbatch, -1);
    assert_int_equal(d.marks[0].span.kind, GANTT_forward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_between_ops_are_inside_the_pass),
        cmocka_unit_test(narrow_ones_join_to_a_unit),
        cmocka_unit_test(what_differs_is_another_pass),
        cmocka_unit_test(sums_stay),
        cmocka_unit_test(many_waits_end_a_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
