/* Compute that takes longer than its cost: beside transfers that it is joined with, and at the pace
 * of the slowest card. Timelines worked out on paper. */
#include <math.h>

#include "tests/models/step/world.h"
#include "tests/test.h"

/* An all-reduce of `bytes` s beside 4 s of compute that begins 1 s after it; the op that waits for
 * it takes 2 s and half of what they spent beside each other. */
static double joined(double bytes, bool flagged, enum stream stream)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t sent = program_op(p, world_comm(p, OP_COLLECTIVE, stream, 0, OP_NONE));
    struct op beside = world_compute(p, 4.0, OP_NONE);
    beside.host = program_host(p, 1.0);
    program_op(p, beside);
    struct op join = world_compute(p, 2.0, sent);
    join.flags = flagged ? OP_JOIN : 0;
    join.host = program_host(p, 0.0);
    program_op(p, join);
    struct program *program = program_end(p);
    program->interference.join_ratio[JOIN_TENSOR] = 0.5;
    program->interference.join_ratio[JOIN_CONTEXT] = 0.25;
    world_rank(&w, world_program(&w, program), 1.0);
    const uint32_t ranks[] = {0};
    world_plan(&w, world_group(&w, stream, 1, ranks, 1), 0, bytes, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    const double finish_s = worker_times(w.worker, 0, 2).finish_s;
    world_end(&w);
    return finish_s;
}

static void what_ran_beside_is_paid_for_where_it_joins(void **state)
{
    assert_true(joined(1.0, true, STREAM_TP) == 7.0);  /* over before the compute begins */
    assert_true(joined(3.0, true, STREAM_TP) == 8.0);  /* 2 s beside it */
    assert_true(joined(9.0, true, STREAM_TP) == 13.0); /* 4 s, all of it; joins at 9 */
    assert_true(joined(9.0, true, STREAM_CP) == 12.0); /* at its own price */
    assert_true(joined(9.0, true, STREAM_DP) == 11.0);
    assert_true(joined(9.0, false, STREAM_TP) == 11.0);
}

/* All compute at the pace of the slowest card: a quarter longer, a fifth of it waiting. */
static void the_slowest_card_sets_the_pace(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    program_op(p, world_compute(p, 4.0, OP_NONE));
    world_rank(&w, world_program(&w, program_end(p)), 1.0);
    w.options.excess_ratio = 0.25;
    world_play(&w);
    assert_true(worker_finish_s(w.worker, 0) == 5.0);
    const double parts[PART_COUNT] = {[PART_COMPUTE] = 4.0, [PART_STRAGGLER] = 1.0};
    double found[PART_COUNT];
    worker_breakdown(w.worker, 0, found);
    for (unsigned part = 0; part < PART_COUNT; part++)
        assert_true(fabs(found[part] - parts[part]) < 1e-12);
    world_end(&w);
}

/* Alike are ranks of one program whose finishes and begins are all the same: not those that differ
 * in the last compute op only, or in when a transfer began only. */
static void alike_ranks_have_the_same_times(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    program_op(p, world_compute(p, 2.0, OP_NONE));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, 1));
    const uint32_t program = world_program(&w, program_end(p));
    for (uint32_t g = 0; g < 4; g++) { /* the third waits for a slow card, the fourth moves more */
        const uint32_t ranks[] = {world_rank(&w, program, 1.0),
                                  world_rank(&w, program, g == 2 ? 0.5 : 1.0)};
        world_group(&w, STREAM_DP, 1, ranks, 2);
        world_plan(&w, g, 0, g == 3 ? 24.0 : 8.0, 0.0, 8.0, 1.0, NULL, 0);
    }
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 1).finish_s == 3.0);
    assert_true(worker_times(w.worker, 4, 1).finish_s == 5.0);
    assert_true(worker_times(w.worker, 6, 1).finish_s == 5.0);
    const bool same[] = {true, true, true, true, false, false, false, false};
    for (uint32_t r = 0; r < 8; r++) {
        assert_int_equal(worker_alike(w.worker, 0, r), same[r]);
        assert_true(worker_alike(w.worker, r, r));
    }
    assert_false(worker_alike(w.worker, 4, 6)); /* all finishes are the same */
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_ranks_have_the_same_times),
        cmocka_unit_test(what_ran_beside_is_paid_for_where_it_joins),
        cmocka_unit_test(the_slowest_card_sets_the_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
