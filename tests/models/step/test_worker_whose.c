/* Whose fault a wait is: slow cards, slow wires, other stages. Timelines worked out on paper, in
 * whole seconds: the parts of each rank are exact. */
#include "tests/models/step/world_parts.h"
#include "tests/test.h"

static void plan(struct world *w, uint32_t group, uint32_t transfer, double seconds)
{
    world_plan(w, group, transfer, seconds, 0.0, 1.0, 1.0, NULL, 0);
}

/* Compute 2 s, transfer 0 on tp, compute 3 s, transfer 1 on dp. */
static uint32_t grid_program(struct world *w)
{
    struct program_writer *p = program_begin(w->arena, 0);
    world_transfers(p, 2);
    const uint32_t first = program_op(p, world_compute(p, 2.0, OP_NONE));
    const uint32_t met = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, first));
    const uint32_t second = program_op(p, world_compute(p, 3.0, met));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 1, second));
    return world_program(w, program_end(p));
}

/* Ranks 0 and 1, 2 and 3 are tp groups, with transfers of tp_s; 0 and 2, 1 and 3 are replicas. */
static void play_grid(struct world *w, const double speed[4], const double tp_s[2])
{
    world_begin(w);
    const uint32_t program = grid_program(w);
    for (unsigned i = 0; i < 4; i++)
        world_rank(w, program, speed[i]);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t tp[] = {2 * i, 2 * i + 1}, dp[] = {i, i + 2};
        plan(w, world_group(w, STREAM_TP, 1, tp, 2), 0, tp_s[i]);
        plan(w, world_group(w, STREAM_DP, 1, dp, 2), 1, 1.0);
    }
    world_play(w);
}

/* The replica whose wire is slow comes 4 s later, and then computes as fast as the other: what it
 * computes while it is waited for is no straggling. */
static void a_slow_wire_is_no_straggler(void **state)
{
    struct world w;
    play_grid(&w, (const double[]){1.0, 1.0, 1.0, 1.0}, (const double[]){1.0, 5.0});
    const double parts[PART_COUNT] = {
        [PART_COMPUTE] = 5.0, [PART_EXPOSED_TP] = 1.0 + 4.0, [PART_EXPOSED_DP] = 1.0};
    for (uint32_t r = 0; r < 4; r++)
        world_parts_are(&w, r, parts);
    world_end(&w);
}

/* Rank 3 at half the speed: 2 and 3 s more. */
static void a_slow_card_is_a_straggler(void **state)
{
    struct world w;
    play_grid(&w, (const double[]){1.0, 1.0, 1.0, 0.5}, (const double[]){1.0, 1.0});
    const double slow[PART_COUNT] = {
        [PART_COMPUTE] = 10.0, [PART_EXPOSED_TP] = 1.0, [PART_EXPOSED_DP] = 1.0};
    const double others[PART_COUNT] = {[PART_COMPUTE] = 5.0,
                                       [PART_EXPOSED_TP] = 1.0,
                                       [PART_EXPOSED_DP] = 1.0,
                                       [PART_STRAGGLER] = 2.0 + 3.0};
    for (uint32_t r = 0; r < 4; r++)
        world_parts_are(&w, r, r == 3 ? slow : others);
    world_end(&w);
}

/* Both: each has its own seconds, in ranks that never meet rank 3 too (0 meets 2, and waits for
 * the end of the step). */
static void card_and_wire_are_told_apart(void **state)
{
    struct world w;
    play_grid(&w, (const double[]){1.0, 1.0, 1.0, 0.5}, (const double[]){1.0, 5.0});
    const double slow[PART_COUNT] = {
        [PART_COMPUTE] = 10.0, [PART_EXPOSED_TP] = 5.0, [PART_EXPOSED_DP] = 1.0};
    const double others[PART_COUNT] = {[PART_COMPUTE] = 5.0,
                                       [PART_EXPOSED_TP] = 5.0,
                                       [PART_EXPOSED_DP] = 1.0,
                                       [PART_STRAGGLER] = 5.0};
    for (uint32_t r = 0; r < 4; r++)
        world_parts_are(&w, r, r == 3 ? slow : others);
    /* Rank 2 is there at 12, behind rank 0 by 6: by 2 at its tp, which took 4 longer. */
    world_idle_is(&w, 0,
                  (const struct worker_idle[]){{2.0, 3.0, PART_EXPOSED_TP},
                                               {6.0, 8.0, PART_STRAGGLER},
                                               {8.0, 12.0, PART_EXPOSED_TP},
                                               {12.0, 13.0, PART_EXPOSED_DP},
                                               {13.0, 16.0, PART_STRAGGLER}},
                  5);
    world_end(&w);
}

/* Slow cards behind a wire that is 2 s faster: 5 s late by their cards, 3 s in the end. */
static void what_was_made_up_for_is_not_counted(void **state)
{
    struct world w;
    play_grid(&w, (const double[]){1.0, 1.0, 0.5, 0.5}, (const double[]){3.0, 1.0});
    const double fast[PART_COUNT] = {[PART_COMPUTE] = 5.0,
                                     [PART_EXPOSED_TP] = 3.0,
                                     [PART_EXPOSED_DP] = 1.0,
                                     [PART_STRAGGLER] = 3.0};
    const double slow[PART_COUNT] = {
        [PART_COMPUTE] = 10.0, [PART_EXPOSED_TP] = 1.0, [PART_EXPOSED_DP] = 1.0};
    world_parts_are(&w, 0, fast);
    world_parts_are(&w, 2, slow);
    world_end(&w);
}

/* Three replicas on alike cards; the tp messages of two share a wire and take 4 s, not 2. All
 * compute a quarter longer than the mean card: of 4 s 1 each for the pace, and nothing else. */
static void congestion_is_no_straggler(void **state)
{
    for (unsigned paced = 0; paced < 2; paced++) {
        struct world w;
        world_begin(&w);
        w.options.excess_ratio = paced ? 0.25 : 0.0;
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 2);
        const uint32_t first = program_op(p, world_compute(p, 4.0, OP_NONE));
        const uint32_t met = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, first));
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 1, met));
        const uint32_t program = world_program(&w, program_end(p));
        const uint32_t links[] = {world_link(&w, 1.0), world_link(&w, 1.0)};
        uint32_t ranks[3];
        for (unsigned i = 0; i < 3; i++) {
            const struct wire wire = {links[i > 0], 1.0};
            ranks[i] = world_rank(&w, program, 1.0);
            world_plan(&w, world_group(&w, STREAM_TP, 1, &ranks[i], 1), 0, 2.0, 0.0, 8.0, 1.0,
                       &wire, 1);
        }
        plan(&w, world_group(&w, STREAM_DP, 1, ranks, 3), 1, 1.0);
        world_play(&w);
        const double parts[PART_COUNT] = {[PART_COMPUTE] = 4.0,
                                          [PART_EXPOSED_TP] = 4.0,
                                          [PART_EXPOSED_DP] = 1.0,
                                          [PART_STRAGGLER] = paced ? 1.0 : 0.0};
        for (uint32_t r = 0; r < 3; r++)
            world_parts_are(&w, r, parts);
        world_end(&w);
    }
}

/* 4 s of compute at half speed beside gathers of 2 and 8 s: 5 and 8 s. A card of half the speed has
 * 8 s of work, 4 of them beside the gather: 12 s, 4 more than the wire alone explains. */
static void a_disturbed_peer_waits_for_its_wire(void **state)
{
    for (unsigned slow = 0; slow < 2; slow++) {
        struct world w;
        world_begin(&w);
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 2);
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 0, OP_NONE));
        struct op compute = world_compute(p, 4.0, OP_NONE);
        compute.flags = OP_SENSITIVE;
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 1, program_op(p, compute)));
        struct program *program = program_end(p);
        program->interference.streams = 1u << STREAM_GATHER | 1u << STREAM_CP;
        program->interference.ratio = 0.5;
        const uint32_t index = world_program(&w, program);
        const uint32_t ranks[] = {world_rank(&w, index, 1.0),
                                  world_rank(&w, index, slow ? 0.5 : 1.0)};
        plan(&w, world_group(&w, STREAM_GATHER, 1, &ranks[0], 1), 0, 2.0);
        plan(&w, world_group(&w, STREAM_GATHER, 1, &ranks[1], 1), 0, 8.0);
        plan(&w, world_group(&w, STREAM_TP, 1, ranks, 2), 1, 1.0);
        world_play(&w);
        const double parts[PART_COUNT] = {[PART_COMPUTE] = 5.0,
                                          [PART_EXPOSED_DP] = 3.0,
                                          [PART_EXPOSED_TP] = 1.0,
                                          [PART_STRAGGLER] = slow ? 4.0 : 0.0};
        world_parts_are(&w, 0, parts);
        world_end(&w);
    }
}

/* A transfer beside 4 s of compute from 1 s on, then 2 s of compute that pay for half of what ran
 * beside: nothing for 1 s on the wire, 1 s for 3. The pace is of the compute alone: at 5/4 the 3 s
 * are 3.5, half a second of it for the wire's 2.5. */
static void what_joins_waits_for_its_wire(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool slow = i % 2 == 1, paced = i / 2 == 1;
        struct world w;
        world_begin(&w);
        w.options.excess_ratio = paced ? 0.25 : 0.0;
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 2);
        const uint32_t sent = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_CP, 0, OP_NONE));
        struct op beside = world_compute(p, 4.0, OP_NONE);
        beside.host = program_host(p, 1.0);
        program_op(p, beside);
        struct op join = world_compute(p, 2.0, sent);
        join.flags = OP_JOIN;
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 1, program_op(p, join)));
        struct program *program = program_end(p);
        program->interference.join_ratio[JOIN_CONTEXT] = 0.5;
        const uint32_t index = world_program(&w, program);
        const uint32_t ranks[] = {world_rank(&w, index, 1.0),
                                  world_rank(&w, index, slow ? 0.5 : 1.0)};
        plan(&w, world_group(&w, STREAM_CP, 1, &ranks[0], 1), 0, 1.0);
        plan(&w, world_group(&w, STREAM_CP, 1, &ranks[1], 1), 0, 3.0);
        plan(&w, world_group(&w, STREAM_DP, 1, ranks, 2), 1, 1.0);
        world_play(&w);
        const double pace = paced ? 1.25 : 1.0;
        const double fast[PART_COUNT] = {[PART_COMPUTE] = 6.0,
                                         [PART_HOST] = 1.0,
                                         [PART_EXPOSED_CP] = 1.0,
                                         [PART_EXPOSED_DP] = 1.0,
                                         [PART_STRAGGLER] =
                                             6.0 * (pace - 1.0) + (slow ? 6.0 * pace : 0.0)};
        world_parts_are(&w, 0, fast);
        double parts[PART_COUNT];
        worker_breakdown(w.worker, 1, parts);
        assert_true(parts[PART_STRAGGLER] == 6.0 * (pace - 1.0) * (slow ? 2.0 : 1.0));
        assert_true(parts[PART_COMPUTE] == 6.0 * (slow ? 2.0 : 1.0) + 1.0);
        world_end(&w);
    }
}

/* A norm over two stages of two replicas: 2 s on stage 0, 5 s on stage 1, one of its cards at half
 * the speed. Stage 0 waits 3 s for the other stage's work, then 5 s for a card. */
static void a_wide_meeting_waits_for_stage_then_card(void **state)
{
    for (uint32_t slow = 2; slow < 4; slow++) {
        struct world w;
        world_begin(&w);
        for (uint32_t stage = 0; stage < 2; stage++) {
            struct program_writer *p = program_begin(w.arena, stage);
            world_transfers(p, 1);
            const uint32_t pass = program_op(p, world_compute(p, stage ? 5.0 : 2.0, OP_NONE));
            program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_WORLD, 0, pass));
            const uint32_t program = world_program(&w, program_end(p));
            for (uint32_t r = 2 * stage; r < 2 * stage + 2; r++)
                world_rank(&w, program, r == slow ? 0.5 : 1.0);
        }
        const uint32_t ranks[] = {0, 1, 2, 3};
        plan(&w, world_group(&w, STREAM_WORLD, 1, ranks, 4), 0, 1.0);
        world_play(&w);
        const double first[PART_COUNT] = {[PART_COMPUTE] = 2.0,
                                          [PART_BUBBLE] = 3.0,
                                          [PART_EXPOSED_DP] = 1.0,
                                          [PART_STRAGGLER] = 5.0};
        const double second[PART_COUNT] = {
            [PART_COMPUTE] = 5.0, [PART_EXPOSED_DP] = 1.0, [PART_STRAGGLER] = 5.0};
        const double slowest[PART_COUNT] = {[PART_COMPUTE] = 10.0, [PART_EXPOSED_DP] = 1.0};
        for (uint32_t r = 0; r < 4; r++)
            world_parts_are(&w, r, r < 2 ? first : r == slow ? slowest : second);
        world_end(&w);
    }
}

/* Stage 1 is done after 1 s, or reduces for 1 s more. Stage 0: the host needs 3 s to launch 2 s of
 * compute, 1 s of tensor parallelism, a second of host again: the pass, 7 s. Then 2 s of reduction,
 * at most 1 s of which is like the other's own, and 4 s of update, which stage 1 waits for without
 * work: it updates nothing itself. */
static void a_tail_goes_to_what_the_last_stage_does(void **state)
{
    for (unsigned reduces = 0; reduces < 2; reduces++) {
        struct world w;
        world_begin(&w);
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 2);
        struct op pass = world_compute(p, 2.0, OP_NONE);
        pass.host = program_host(p, 3.0);
        const uint32_t met =
            program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, program_op(p, pass)));
        struct op reduce = world_comm(p, OP_COLLECTIVE, STREAM_DP, 1, met);
        reduce.host = program_host(p, 4.0); /* at 7, a second after the pass */
        struct op update = world_compute(p, 4.0, program_op(p, reduce));
        update.phase = PHASE_OPTIMIZER;
        program_op(p, update);
        const uint32_t first = world_rank(&w, world_program(&w, program_end(p)), 1.0);
        p = program_begin(w.arena, 1);
        world_transfers(p, 2);
        const uint32_t early = program_op(p, world_compute(p, 1.0, OP_NONE));
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, reduces ? 0 : 1, early));
        const uint32_t second = world_rank(&w, world_program(&w, program_end(p)), 1.0);
        plan(&w, world_group(&w, STREAM_TP, 1, &first, 1), 0, 1.0);
        plan(&w, world_group(&w, STREAM_DP, 1, &first, 1), 1, 2.0);
        const uint32_t own = world_group(&w, STREAM_DP, 1, &second, 1);
        plan(&w, own, 0, 1.0);
        plan(&w, own, 1, 0.0);
        world_play(&w);
        const double done[PART_COUNT] = {
            [PART_COMPUTE] = 1.0, [PART_BUBBLE] = 6.0 + 4.0, [PART_EXPOSED_DP] = 2.0};
        world_parts_are(&w, second, done);
        const double last[PART_COUNT] = {[PART_COMPUTE] = 2.0,
                                         [PART_HOST] = 3.0 + 2.0, /* tp ends under it */
                                         [PART_EXPOSED_DP] = 2.0,
                                         [PART_OPTIMIZER] = 4.0};
        world_parts_are(&w, first, last);
        world_end(&w);
    }
}

/* Stage 0 gathers for 3 s before its pass of 2 s, a message of 1 s follows, stage 1 gathers for 1 s
 * before its pass of 4 s: to whom waits, at the start and at the end, the other's gather is a part
 * of its pass. */
static void gathers_of_another_pass_are_bubble(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 3);
    const uint32_t held = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 0, OP_NONE));
    const uint32_t pass = program_op(p, world_compute(p, 2.0, held));
    program_op(p, world_comm(p, OP_SEND, STREAM_SEND_NEXT, 1, pass));
    const uint32_t first = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    p = program_begin(w.arena, 1);
    world_transfers(p, 3);
    const uint32_t come = program_op(p, world_comm(p, OP_RECV, STREAM_RECV_PREV, 1, OP_NONE));
    const uint32_t also = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 2, come));
    program_op(p, world_compute(p, 4.0, also));
    const uint32_t second = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    const uint32_t pair[] = {first, second};
    plan(&w, world_group(&w, STREAM_GATHER, 1, &first, 1), 0, 3.0);
    plan(&w, world_group(&w, STREAM_GATHER, 1, &second, 1), 2, 1.0);
    plan(&w, world_group(&w, STREAM_SEND_NEXT, 1, pair, 2), 1, 1.0);
    world_play(&w);
    const double late[PART_COUNT] = {[PART_COMPUTE] = 4.0,
                                     [PART_BUBBLE] = 5.0,
                                     [PART_EXPOSED_PP] = 1.0,
                                     [PART_EXPOSED_DP] = 1.0};
    world_parts_are(&w, second, late);
    const double early[PART_COUNT] = {[PART_COMPUTE] = 2.0,
                                      [PART_EXPOSED_DP] = 3.0,
                                      [PART_EXPOSED_PP] = 1.0,
                                      [PART_BUBBLE] = 5.0};
    world_parts_are(&w, first, early);
    world_end(&w);
}

/* Stage 0 computes 1 s, reduces for 8 s beside 5 s of its last pass, then updates for 1 s. Stage 1,
 * done at 1, waits for 5 s of passes, for the 3 s of reduction that nothing hides, and for the
 * update. */
static void what_a_pass_hides_is_bubble(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t made = program_op(p, world_compute(p, 1.0, OP_NONE));
    const uint32_t sum = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, made));
    struct op last = world_compute(p, 5.0, OP_NONE);
    last.phase = PHASE_BACKWARD;
    program_op(p, last);
    struct op update = world_compute(p, 1.0, sum);
    update.phase = PHASE_OPTIMIZER;
    program_op(p, update);
    const uint32_t first = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    p = program_begin(w.arena, 1);
    program_op(p, world_compute(p, 1.0, OP_NONE));
    const uint32_t second = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    plan(&w, world_group(&w, STREAM_DP, 1, &first, 1), 0, 8.0);
    world_play(&w);
    const double busy[PART_COUNT] = {
        [PART_COMPUTE] = 6.0, [PART_EXPOSED_DP] = 3.0, [PART_OPTIMIZER] = 1.0};
    const double idle[PART_COUNT] = {
        [PART_COMPUTE] = 1.0, [PART_BUBBLE] = 5.0 + 1.0, [PART_EXPOSED_DP] = 3.0};
    world_parts_are(&w, first, busy);
    world_parts_are(&w, second, idle);
    world_end(&w);
}

/* Stage 1 gathers for 1 s before its pass of 1 s, and reduces nothing; stage 0 has a pass of 4 s
 * and reduces for 3 s behind it. That the other has gathered is no reduction of its own: it waits
 * 2 s for the pass and 3 s for the network. */
static void a_gather_is_no_reduction(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t passed = program_op(p, world_compute(p, 4.0, OP_NONE));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, passed));
    const uint32_t first = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    p = program_begin(w.arena, 1);
    world_transfers(p, 1);
    const uint32_t held = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 0, OP_NONE));
    program_op(p, world_compute(p, 1.0, held));
    const uint32_t second = world_rank(&w, world_program(&w, program_end(p)), 1.0);
    plan(&w, world_group(&w, STREAM_DP, 1, &first, 1), 0, 3.0);
    plan(&w, world_group(&w, STREAM_GATHER, 1, &second, 1), 0, 1.0);
    world_play(&w);
    const double late[PART_COUNT] = {[PART_COMPUTE] = 4.0, [PART_EXPOSED_DP] = 3.0};
    const double early[PART_COUNT] = {
        [PART_COMPUTE] = 1.0, [PART_BUBBLE] = 2.0, [PART_EXPOSED_DP] = 1.0 + 3.0};
    world_parts_are(&w, first, late);
    world_parts_are(&w, second, early);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_wire_is_no_straggler),
        cmocka_unit_test(a_slow_card_is_a_straggler),
        cmocka_unit_test(card_and_wire_are_told_apart),
        cmocka_unit_test(what_was_made_up_for_is_not_counted),
        cmocka_unit_test(congestion_is_no_straggler),
        cmocka_unit_test(a_disturbed_peer_waits_for_its_wire),
        cmocka_unit_test(what_joins_waits_for_its_wire),
        cmocka_unit_test(a_wide_meeting_waits_for_stage_then_card),
        cmocka_unit_test(a_tail_goes_to_what_the_last_stage_does),
        cmocka_unit_test(gathers_of_another_pass_are_bubble),
        cmocka_unit_test(what_a_pass_hides_is_bubble),
        cmocka_unit_test(a_gather_is_no_reduction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
