/* Whose fault a wait for another stage is. Timelines worked out on paper, in whole seconds. */
#include "tests/models/step/world_parts.h"
#include "tests/test.h"

static void plan(struct world *w, uint32_t group, uint32_t transfer, double seconds)
{
    world_plan(w, group, transfer, seconds, 0.0, 1.0, 1.0, NULL, 0);
}

/* Stage 0: 2 s forward, sends, receives, 4 s backward. Stage 1: receives, 6 s, sends. Messages take
 * 1 s; each stage reduces over its replicas in 2 s, and stage 0 then for more_s. */
static void play_pipelines(struct world *w, const double speed[4], double more_s)
{
    world_begin(w);
    struct program_writer *p = program_begin(w->arena, 0);
    world_transfers(p, 4);
    const uint32_t forward = program_op(p, world_compute(p, 2.0, OP_NONE));
    program_op(p, world_comm(p, OP_SEND, STREAM_SEND_NEXT, 0, forward));
    const uint32_t back = program_op(p, world_comm(p, OP_RECV, STREAM_RECV_NEXT, 1, OP_NONE));
    const uint32_t backward = program_op(p, world_compute(p, 4.0, back));
    const uint32_t reduced = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 2, backward));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 3, reduced));
    const uint32_t first = world_program(w, program_end(p));
    p = program_begin(w->arena, 1);
    world_transfers(p, 3);
    const uint32_t here = program_op(p, world_comm(p, OP_RECV, STREAM_RECV_PREV, 0, OP_NONE));
    const uint32_t both = program_op(p, world_compute(p, 6.0, here));
    program_op(p, world_comm(p, OP_SEND, STREAM_SEND_PREV, 1, both));
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 2, both));
    const uint32_t second = world_program(w, program_end(p));
    for (uint32_t i = 0; i < 4; i++)
        world_rank(w, i % 2 == 0 ? first : second, speed[i]);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t next[] = {2 * i, 2 * i + 1}, prev[] = {2 * i + 1, 2 * i}, dp[] = {i, i + 2};
        plan(w, world_group(w, STREAM_SEND_NEXT, 1, next, 2), 0, 1.0);
        plan(w, world_group(w, STREAM_SEND_PREV, 1, prev, 2), 1, 1.0);
        const uint32_t group = world_group(w, STREAM_DP, 1, dp, 2);
        plan(w, group, 2, 2.0);
        plan(w, group, 3, i == 0 ? more_s : 0.0);
    }
    world_play(w);
}

/* Waits for the pass of the other stage are bubble, for messages on the wire exposed_pp. At the end
 * stage 1 waits for 3 s of the backward pass of stage 0 and for its reduction; it has reduced for
 * as long itself, so that these 2 s are how much later the other began. */
static void a_bubble_is_the_passes_of_other_stages(void **state)
{
    struct world w;
    play_pipelines(&w, (const double[]){1.0, 1.0, 1.0, 1.0}, 0.0);
    const double first[PART_COUNT] = {[PART_COMPUTE] = 6.0,
                                      [PART_BUBBLE] = 6.0,
                                      [PART_EXPOSED_PP] = 2.0,
                                      [PART_EXPOSED_DP] = 2.0};
    const double second[PART_COUNT] = {[PART_COMPUTE] = 6.0,
                                       [PART_BUBBLE] = 2.0 + 3.0 + 2.0,
                                       [PART_EXPOSED_PP] = 1.0,
                                       [PART_EXPOSED_DP] = 2.0};
    for (uint32_t r = 0; r < 4; r++)
        world_parts_are(&w, r, r % 2 == 0 ? first : second);
    world_end(&w);
}

/* The reductions of stage 0 take 2 and 3 s, those of stage 1 take 2: the 3 s come last. */
static void the_longer_reduction_of_others_is_the_network(void **state)
{
    struct world w;
    play_pipelines(&w, (const double[]){1.0, 1.0, 1.0, 1.0}, 3.0);
    const double second[PART_COUNT] = {[PART_COMPUTE] = 6.0,
                                       [PART_BUBBLE] = 2.0 + 3.0 + 2.0,
                                       [PART_EXPOSED_PP] = 1.0,
                                       [PART_EXPOSED_DP] = 2.0 + 3.0};
    world_parts_are(&w, 1, second);
    world_idle_is(&w, 0,
                  (const struct worker_idle[]){{2.0, 3.0, PART_EXPOSED_PP},
                                               {3.0, 9.0, PART_BUBBLE},
                                               {9.0, 10.0, PART_EXPOSED_PP},
                                               {14.0, 16.0, PART_EXPOSED_DP},
                                               {16.0, 19.0, PART_EXPOSED_DP}},
                  5);
    world_idle_is(&w, 1,
                  (const struct worker_idle[]){{0.0, 2.0, PART_BUBBLE},
                                               {2.0, 3.0, PART_EXPOSED_PP},
                                               {9.0, 11.0, PART_EXPOSED_DP},
                                               {11.0, 14.0, PART_BUBBLE},
                                               {14.0, 16.0, PART_BUBBLE},
                                               {16.0, 19.0, PART_EXPOSED_DP}},
                  6);
    world_end(&w);
}

/* Rank 2, stage 0 of the second replica, at half the speed: 2 and 4 s later. Its own pipeline waits
 * for its passes; the other replica, whose stage 0 shows what they should take, for its card. */
static void a_slow_stage_is_seen_beside_its_replica(void **state)
{
    struct world w;
    play_pipelines(&w, (const double[]){1.0, 1.0, 0.5, 1.0}, 0.0);
    const double parts[4][PART_COUNT] = {
        {[PART_COMPUTE] = 6.0,
         [PART_BUBBLE] = 6.0,
         [PART_EXPOSED_PP] = 2.0,
         [PART_EXPOSED_DP] = 2.0,
         [PART_STRAGGLER] = 2.0 + 4.0},
        {[PART_COMPUTE] = 6.0, /* until 9, reduces from 11 to 13; rank 0 is there at 14 */
         [PART_BUBBLE] = 2.0 + 1.0 + 2.0,
         [PART_EXPOSED_PP] = 1.0,
         [PART_EXPOSED_DP] = 2.0,
         [PART_STRAGGLER] = 2.0 + 6.0},
        {[PART_COMPUTE] = 12.0,
         [PART_BUBBLE] = 6.0,
         [PART_EXPOSED_PP] = 2.0,
         [PART_EXPOSED_DP] = 2.0},
        {[PART_COMPUTE] = 6.0,
         [PART_BUBBLE] = 4.0 + 1.0 + 2.0,
         [PART_EXPOSED_PP] = 1.0,
         [PART_EXPOSED_DP] = 2.0,
         [PART_STRAGGLER] = 6.0}};
    for (uint32_t r = 0; r < 4; r++)
        world_parts_are(&w, r, parts[r]);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bubble_is_the_passes_of_other_stages),
        cmocka_unit_test(the_longer_reduction_of_others_is_the_network),
        cmocka_unit_test(a_slow_stage_is_seen_beside_its_replica),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
