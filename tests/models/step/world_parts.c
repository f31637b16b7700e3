#include "tests/models/step/world_parts.h"

#include "tests/test.h"

/* Spans of waiting and ops of compute tile the step; by part, spans are what the breakdown says,
 * but for the pace, which is inside the ops. */
static void spans_are(const struct world *w, uint32_t rank, const double expected[PART_COUNT])
{
    static const enum breakdown_part worked[] = {PART_COMPUTE, PART_RECOMPUTE, PART_OPTIMIZER};
    const struct program *program = w->lowered.programs[w->symmetry.ranks[rank].program];
    uint32_t count, next = 0;
    const struct worker_idle *spans = worker_idle(w->worker, rank, w->arena, &count);
    double idle[PART_COUNT] = {0.0}, until_s = 0.0, busy_s = 0.0;
    for (uint32_t i = 0; i <= program->op_count; i++) {
        const bool last = i == program->op_count;
        if (!last && program->ops[i].stream != STREAM_COMPUTE)
            continue;
        const struct op_times at =
            last ? (struct op_times){.begin_s = world_step_s(w)} : worker_times(w->worker, rank, i);
        for (; next < count && spans[next].from_s < at.begin_s; next++) {
            assert_true(spans[next].from_s == until_s);
            until_s = spans[next].until_s;
            idle[spans[next].part] += until_s - spans[next].from_s;
        }
        assert_true(until_s == at.begin_s);
        until_s = last ? until_s : at.finish_s;
        busy_s += last ? 0.0 : at.finish_s - at.begin_s;
    }
    assert_int_equal(next, count);
    for (unsigned i = 0; i < 3; i++) {
        busy_s -= expected[worked[i]];
        idle[worked[i]] += expected[worked[i]];
    }
    idle[PART_STRAGGLER] += busy_s; /* the pace */
    for (unsigned p = 0; p < PART_COUNT; p++)
        assert_true(idle[p] == expected[p]);
}

/* Spans with those of ops tile the step, and are what the breakdown says by part. */
static void all_spans_are(const struct world *w, uint32_t rank, const double expected[PART_COUNT])
{
    uint32_t count;
    double until_s = 0.0, parts[PART_COUNT] = {0.0};
    const struct worker_idle *spans = worker_spans(w->worker, rank, w->arena, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(spans[i].from_s == until_s && spans[i].until_s > until_s);
        until_s = spans[i].until_s;
        parts[spans[i].part] += until_s - spans[i].from_s;
    }
    assert_true(until_s == world_step_s(w));
    for (unsigned p = 0; p < PART_COUNT; p++)
        assert_true(parts[p] == expected[p]);
}

void world_parts_are(const struct world *w, uint32_t rank, const double expected[PART_COUNT])
{
    double parts[PART_COUNT], sum = 0.0;
    worker_breakdown(w->worker, rank, parts);
    for (unsigned p = 0; p < PART_COUNT; p++) {
        if (parts[p] != expected[p]) {
            print_message("rank %u %s: %.17g instead of %.17g\n", rank, breakdown_names[p],
                          parts[p], expected[p]);
            fail();
        }
        sum += parts[p];
    }
    assert_true(sum == world_step_s(w));
    spans_are(w, rank, expected);
    all_spans_are(w, rank, expected);
}

void world_idle_is(const struct world *w, uint32_t rank, const struct worker_idle *expected,
                   uint32_t expected_count)
{
    uint32_t count;
    const struct worker_idle *spans = worker_idle(w->worker, rank, w->arena, &count);
    assert_int_equal(count, expected_count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(spans[i].from_s == expected[i].from_s);
        assert_true(spans[i].until_s == expected[i].until_s);
        assert_int_equal(spans[i].part, expected[i].part);
    }
}
