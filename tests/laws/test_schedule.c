/* Laws that every pipeline schedule keeps, over every shape up to 8 stages, 4 chunks and 16
 * microbatches: each pass once, no deadlock, messages in the same order at both ends, and the
 * closed-form bubble to 1e-9. Planted faults show that each law can fail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/lower/stage/lower_passes.h"
#include "models/schedule/schedule_kind.h"
#include "schedule_player.h"
#include "tests/kind_defaults.h"
#include "tests/test.h"

enum {
    STAGES = 8,
    CHUNKS = 4,
    MICROBATCHES = 16,
    PASS_MAX = 2 * CHUNKS * MICROBATCHES
};
static const double forward_s = 1.0, backward_s = 2.25;

static void write_order(const struct schedule_kind *kind, const struct schedule_shape *shape,
                        struct pass room[STAGES][PASS_MAX], struct order *out)
{
    out->shape = *shape;
    for (uint32_t s = 0; s < shape->stages; s++) {
        out->passes[s] = room[s];
        out->count[s] = kind->write(shape, s, room[s]);
        assert_true(out->count[s] <= 2 * shape->chunks * shape->microbatches);
    }
}

/* Every stage runs each (chunk, microbatch) once forward, once backward, in this order. */
static bool complete(const struct order *order)
{
    for (uint32_t s = 0; s < order->shape.stages; s++) {
        uint8_t seen[CHUNKS][MICROBATCHES] = {{0}};
        for (uint32_t i = 0; i < order->count[s]; i++) {
            const struct pass *p = &order->passes[s][i];
            if (p->chunk >= order->shape.chunks || p->microbatch >= order->shape.microbatches ||
                seen[p->chunk][p->microbatch] != (p->kind == PASS_FORWARD ? 0 : 1))
                return false;
            seen[p->chunk][p->microbatch]++;
        }
        if (order->count[s] != 2 * order->shape.chunks * order->shape.microbatches)
            return false;
    }
    return true;
}

/* The k-th message that a stage sends forward is the k-th that its neighbour takes. */
static bool messages_agree(const struct order *order, uint8_t kind)
{
    uint32_t stages = order->shape.stages, chunks = stages * order->shape.chunks;
    for (uint32_t s = 0; s < stages && stages > 1; s++) {
        uint32_t to = kind == PASS_FORWARD ? (s + 1) % stages : (s + stages - 1) % stages, j = 0;
        for (uint32_t i = 0; i < order->count[s]; i++) {
            const struct pass *p = &order->passes[s][i];
            uint32_t global = s + p->chunk * stages;
            if (p->kind != kind || global == (kind == PASS_FORWARD ? chunks - 1 : 0))
                continue;
            uint32_t wanted = kind == PASS_FORWARD ? global + 1 : global - 1;
            const struct pass *q = NULL;
            for (; j < order->count[to] && q == NULL; j++) {
                const struct pass *r = &order->passes[to][j];
                uint32_t at = to + r->chunk * stages;
                bool takes = at != (kind == PASS_FORWARD ? 0 : chunks - 1);
                q = r->kind == kind && takes ? r : NULL;
            }
            if (q == NULL || q->microbatch != p->microbatch || to + q->chunk * stages != wanted)
                return false;
        }
    }
    return true;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmin(fabs(a), fabs(b));
}

static bool bubble_holds(const struct schedule_kind *kind, const struct schedule_shape *shape,
                         double makespan_s)
{
    double busy = shape->microbatches * (forward_s + backward_s);
    return close_to(makespan_s, busy + kind->bubble_s(shape, forward_s, backward_s));
}

static void check_shape(const struct schedule_kind *kind, const struct schedule_shape *shape)
{
    struct pass room[STAGES][PASS_MAX];
    struct order order;
    write_order(kind, shape, room, &order);
    assert_true(complete(&order));
    assert_true(messages_agree(&order, PASS_FORWARD));
    assert_true(messages_agree(&order, PASS_BACKWARD));
    double makespan = passes_play(&order, forward_s, backward_s);
    assert_true(makespan > 0.0);
    if (kind->bubble_s != NULL)
        assert_true(bubble_holds(kind, shape, makespan));
}

static void each_shape(void (*check)(const struct schedule_kind *, const struct schedule_shape *),
                       uint32_t stages, uint32_t chunks, uint32_t microbatches)
{
    for (unsigned k = 0; k < schedule_kind_count; k++) {
        const struct kind_options options = kind_defaults(&schedule_kinds[k]->head);
        unsigned checked = 0;
        if (schedule_kinds[k]->splits) /* theirs are in test_split_schedules.c */
            continue;
        for (uint32_t p = 1; p <= stages; p++) {
            for (uint32_t v = 1; v <= chunks; v++) {
                for (uint32_t m = 1; m <= microbatches; m++) {
                    struct schedule_shape shape = {p, v, m, &options};
                    if (schedule_kinds[k]->refuse(&shape) == NULL) {
                        check(schedule_kinds[k], &shape);
                        checked++;
                    }
                }
            }
        }
        assert_true(checked >= stages * microbatches);
    }
}

static void test_every_shape(void **state)
{
    each_shape(check_shape, STAGES, CHUNKS, MICROBATCHES);
}

/* The synthetic programs give the same time as the passes; free sends cost nothing when blocking
 * either, and cannot deadlock. */
static void check_programs(const struct schedule_kind *kind, const struct schedule_shape *shape)
{
    struct pass room[STAGES][PASS_MAX];
    struct order order;
    write_order(kind, shape, room, &order);
    double expected = passes_play(&order, forward_s, backward_s);
    double forward[STAGES * CHUNKS], backward[STAGES * CHUNKS];
    for (uint32_t i = 0; i < shape->stages * shape->chunks; i++) {
        forward[i] = forward_s / shape->chunks;
        backward[i] = backward_s / shape->chunks;
    }
    for (unsigned blocking = 0; blocking < 2; blocking++) {
        struct arena *arena = arena_create();
        struct pass_times times = {
            .forward_s = forward, .backward_s = backward, .blocking = blocking == 1};
        struct lowered lowered;
        lower_passes(arena, kind, shape, &times, &lowered);
        double makespan = programs_play(&lowered);
        assert_true(makespan > 0.0);
        assert_true(close_to(makespan, expected));
        arena_destroy(arena);
    }
}

static void test_programs(void **state)
{
    each_shape(check_programs, 6, 3, 12);
}

/* 1F1B holds min(p - i, m) microbatches; the interleaved schedule its warm-up and one more. */
static uint32_t peak_in_flight(const struct pass *passes, uint32_t count)
{
    uint32_t now = 0, peak = 0;
    for (uint32_t i = 0; i < count; i++) {
        now = passes[i].kind == PASS_FORWARD ? now + 1 : now - 1;
        peak = now > peak ? now : peak;
    }
    return peak;
}

static void test_in_flight(void **state)
{
    struct pass passes[PASS_MAX];
    for (uint32_t p = 1; p <= STAGES; p++) {
        for (uint32_t m = 1; m <= MICROBATCHES; m++) {
            for (uint32_t s = 0; s < p; s++) {
                struct schedule_shape shape = {p, 1, m, NULL};
                uint32_t count = schedule_one_f_one_b.write(&shape, s, passes);
                assert_int_equal(peak_in_flight(passes, count), p - s < m ? p - s : m);
                count = schedule_gpipe.write(&shape, s, passes);
                assert_int_equal(peak_in_flight(passes, count), m);
            }
        }
    }
    struct schedule_shape shape = {4, 2, 8, NULL};
    uint32_t count = schedule_interleaved.write(&shape, 0, passes);
    assert_int_equal(peak_in_flight(passes, count), 3 * 2 + 1 * 4 + 1);
}

static void test_refusals(void **state)
{
    struct schedule_shape chunks = {4, 2, 8, NULL}, odd = {4, 2, 6, NULL};
    assert_non_null(schedule_gpipe.refuse(&chunks));
    assert_non_null(schedule_one_f_one_b.refuse(&chunks));
    assert_null(schedule_interleaved.refuse(&chunks));
    assert_non_null(schedule_interleaved.refuse(&odd));
    assert_ptr_equal(schedule_find("1f1b"), &schedule_one_f_one_b);
    assert_null(schedule_find("one_f_one_b"));
}

/* A kind of pass that no schedule writes is a name without a meaning. */
static void test_kinds_of_pass(void **state)
{
    bool written[PASS_KIND_COUNT] = {false};
    for (unsigned k = 0; k < schedule_kind_count; k++) {
        struct pass passes[PASS_MAX];
        const struct kind_options options = kind_defaults(&schedule_kinds[k]->head);
        const uint32_t chunks = schedule_kinds[k]->chunks;
        struct schedule_shape shape = {2, chunks > 0 ? chunks : 1, 4, &options};
        uint32_t count = schedule_kinds[k]->write(&shape, 0, passes);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(passes[i].kind < PASS_KIND_COUNT);
            written[passes[i].kind] = true;
        }
    }
    for (unsigned kind = 0; kind < PASS_KIND_COUNT; kind++)
        assert_true(written[kind]);
}

/* Planted: a pass lost, a backward before its forward, two sends swapped, a stage that starts its
 * backwards one forward late. */
static void test_planted_faults(void **state)
{
    struct schedule_shape shape = {4, 1, 8, NULL};
    struct pass room[STAGES][PASS_MAX], swap;
    struct order order;
    write_order(&schedule_one_f_one_b, &shape, room, &order);
    order.count[2]--;
    assert_false(complete(&order));
    write_order(&schedule_one_f_one_b, &shape, room, &order);
    order.passes[3][0].kind = PASS_BACKWARD;
    order.passes[3][1].kind = PASS_FORWARD;
    assert_false(complete(&order));
    assert_true(passes_play(&order, forward_s, backward_s) < 0.0);
    write_order(&schedule_one_f_one_b, &shape, room, &order);
    swap = order.passes[0][0];
    order.passes[0][0] = order.passes[0][1];
    order.passes[0][1] = swap;
    assert_false(messages_agree(&order, PASS_FORWARD));
    write_order(&schedule_one_f_one_b, &shape, room, &order);
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape.microbatches + 2; i++) { /* stage 0 warms up with 2, not 3 */
        if (i < shape.microbatches)
            room[0][count++] = (struct pass){PASS_FORWARD, 0, (uint16_t)i};
        if (i >= 2)
            room[0][count++] = (struct pass){PASS_BACKWARD, 0, (uint16_t)(i - 2)};
    }
    double makespan = passes_play(&order, forward_s, backward_s);
    assert_true(makespan > 0.0);
    assert_false(bubble_holds(&schedule_one_f_one_b, &shape, makespan));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),   cmocka_unit_test(test_programs),
        cmocka_unit_test(test_in_flight),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_kinds_of_pass), cmocka_unit_test(test_planted_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
