/* The worker: hand-computed timelines, in sums of powers of two unless said, and a swarm of random
 * programs against a reference that plays the same ops one by one in the order of their making. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/lower/stage/lower_passes.h"
#include "models/schedule/schedule_kind.h"
#include "sim/random.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1.0, fabs(expected)))) {
        print_message("%.17g instead of %.17g\n", value, expected);
        fail();
    }
}

/* The parts of a class add up to the step, and each part is what the caller says. */
static void parts_are(const struct world *w, uint32_t rank, double step_s,
                      const double expected[PART_COUNT])
{
    double parts[PART_COUNT], sum = 0.0;
    worker_breakdown(w->worker, rank, parts);
    for (unsigned p = 0; p < PART_COUNT; p++) {
        near(parts[p], expected[p]);
        sum += parts[p];
    }
    near(sum, step_s);
}

static void compute_follows_compute(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    program_op(p, world_compute(p, 2.0, OP_NONE));
    program_op(p, world_compute(p, 1.0, OP_NONE));
    const uint32_t program = world_program(&w, program_end(p));
    world_rank(&w, program, 1.0);
    world_rank(&w, program, 0.5); /* half the speed, twice the time */
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 1).begin_s == 2.0);
    assert_true(worker_finish_s(w.worker, 0) == 3.0);
    assert_true(worker_finish_s(w.worker, 1) == 6.0);
    assert_int_equal(worker_op_count(w.worker), 4);
    const double slow[PART_COUNT] = {[PART_COMPUTE] = 6.0};
    parts_are(&w, 1, 6.0, slow);
    const double fast[PART_COUNT] = {[PART_COMPUTE] = 3.0, [PART_STRAGGLER] = 3.0};
    parts_are(&w, 0, 6.0, fast);
    world_end(&w);
}

static struct op hosted(struct program_writer *p, struct op op, double host_s)
{
    op.host = program_host(p, host_s);
    return op;
}

/* Three kernels of 1 s that cost the host 2 s each: the host is the bottleneck, launches at 2,
 * 4, 6. With kernels of 4 s the GPU is: begins at 2, 6, 10. */
static void the_host_is_a_queue(void **state)
{
    const double gpu_s[] = {1.0, 4.0}, finish_s[] = {7.0, 14.0}, host_part_s[] = {4.0, 2.0};
    for (unsigned i = 0; i < 2; i++) {
        struct world w;
        world_begin(&w);
        struct program_writer *p = program_begin(w.arena, 0);
        for (unsigned k = 0; k < 3; k++)
            program_op(p, hosted(p, world_compute(p, gpu_s[i], OP_NONE), 2.0));
        world_rank(&w, world_program(&w, program_end(p)), 1.0);
        world_play(&w);
        assert_true(worker_finish_s(w.worker, 0) == finish_s[i]);
        const double parts[PART_COUNT] = {
            [PART_COMPUTE] = 3.0 * gpu_s[i], [PART_HOST] = host_part_s[i]};
        parts_are(&w, 0, finish_s[i], parts);
        world_end(&w);
    }
}

/* The host waits for op 0 (1 + 8 = 9), then launches op 1 two seconds later; op 2 right after. */
static void a_sync_holds_the_host(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    struct op first = hosted(p, world_compute(p, 8.0, OP_NONE), 1.0);
    first.flags = OP_HOST_SYNC;
    program_op(p, first);
    program_op(p, hosted(p, world_compute(p, 1.0, OP_NONE), 2.0));
    program_op(p, hosted(p, world_compute(p, 1.0, OP_NONE), 0.5));
    world_rank(&w, world_program(&w, program_end(p)), 1.0);
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 0).finish_s == 9.0);
    assert_true(worker_times(w.worker, 0, 1).post_s == 11.0);
    assert_true(worker_times(w.worker, 0, 2).post_s == 12.0);
    const double parts[PART_COUNT] = {[PART_COMPUTE] = 10.0, [PART_HOST] = 3.0};
    parts_are(&w, 0, 13.0, parts);
    world_end(&w);
}

/* compute 2, all-reduce 4 beside compute 3, then compute 1 that waits for it: 1 s is exposed. */
static void communication_overlaps(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t first = program_op(p, world_compute(p, 2.0, OP_NONE));
    const uint32_t reduce = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, first));
    program_op(p, world_compute(p, 3.0, OP_NONE));
    program_op(p, world_compute(p, 1.0, reduce));
    const uint32_t program = world_program(&w, program_end(p));
    const uint32_t ranks[] = {world_rank(&w, program, 1.0), world_rank(&w, program, 1.0)};
    const uint32_t group = world_group(&w, STREAM_DP, 1, ranks, 2);
    world_plan(&w, group, 0, 3.0, 1.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 2).begin_s == 2.0);
    assert_true(worker_times(w.worker, 0, 3).begin_s == 6.0);
    assert_true(worker_finish_s(w.worker, 1) == 7.0);
    const double parts[PART_COUNT] = {[PART_COMPUTE] = 6.0, [PART_EXPOSED_DP] = 1.0};
    parts_are(&w, 0, 7.0, parts);
    world_end(&w);
}

/* A rank at a quarter of the speed: its peer waits 6 s of straggling, then both pay 1 s, and the
 * peer waits another 3 s for the end of the step. */
static void a_straggler_holds_its_group(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t first = program_op(p, world_compute(p, 2.0, OP_NONE));
    program_op(
        p, world_compute(p, 1.0, program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, first))));
    const uint32_t program = world_program(&w, program_end(p));
    const uint32_t ranks[] = {world_rank(&w, program, 1.0), world_rank(&w, program, 0.25)};
    world_plan(&w, world_group(&w, STREAM_TP, 1, ranks, 2), 0, 1.0, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 1).begin_s == 8.0);
    const double fast[PART_COUNT] = {
        [PART_COMPUTE] = 3.0, [PART_STRAGGLER] = 9.0, [PART_EXPOSED_TP] = 1.0};
    parts_are(&w, 0, 13.0, fast);
    const double slow[PART_COUNT] = {[PART_COMPUTE] = 12.0, [PART_EXPOSED_TP] = 1.0};
    parts_are(&w, 1, 13.0, slow);
    world_end(&w);
}

/* The tail: parameters gathered after the last compute are exposed. */
static void the_tail_is_explained(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    struct op update = world_compute(p, 2.0, OP_NONE);
    update.phase = PHASE_OPTIMIZER;
    program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, program_op(p, update)));
    world_rank(&w, world_program(&w, program_end(p)), 1.0);
    const uint32_t ranks[] = {0};
    world_plan(&w, world_group(&w, STREAM_DP, 1, ranks, 1), 0, 4.0, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    assert_true(worker_finish_s(w.worker, 0) == 6.0);
    const double parts[PART_COUNT] = {[PART_OPTIMIZER] = 2.0, [PART_EXPOSED_DP] = 4.0};
    parts_are(&w, 0, 6.0, parts);
    world_end(&w);
}

/* Sensitive compute of 4 s at ratio 1/4 beside an all-reduce on the wire from a to b. */
static double interfered(double from_s, double bytes, bool sensitive, uint32_t watched_stream)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    program_op(p, hosted(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, OP_NONE), from_s));
    struct op compute = world_compute(p, 4.0, OP_NONE);
    compute.flags = sensitive ? OP_SENSITIVE : 0;
    compute.host = program_host(p, 0.0);
    program_op(p, compute);
    struct program *program = program_end(p);
    program->interference.streams = 1u << watched_stream;
    program->interference.ratio = 0.25;
    world_rank(&w, world_program(&w, program), 1.0);
    const uint32_t ranks[] = {0};
    world_plan(&w, world_group(&w, STREAM_DP, 1, ranks, 1), 0, bytes, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 1).begin_s == from_s &&
                worker_times(w.worker, 0, 0).begin_s == from_s);
    const double lasted_s =
        worker_times(w.worker, 0, 1).finish_s - worker_times(w.worker, 0, 1).begin_s;
    world_end(&w);
    return lasted_s;
}

static void interference_slows_compute(void **state)
{
    assert_true(interfered(0.0, 2.0, true, STREAM_DP) == 4.5); /* 2 s give 1.5; 2.5 remain */
    assert_true(interfered(1.0, 2.0, true, STREAM_DP) == 4.5);
    near(interfered(0.0, 64.0, true, STREAM_DP), 4.0 / 0.75); /* disturbed all along */
    assert_true(interfered(0.0, 2.0, false, STREAM_DP) == 4.0);
    assert_true(interfered(0.0, 2.0, true, STREAM_TP) == 4.0); /* another stream */
}

/* Compute 1 + 6 (sensitive); an all-reduce begins at 3 when the other rank comes, lasts 4 s (3 on
 * the wire, 1 of latency) and slows rank 0 by half: 2 s alone, 4 s for 2, 2 s for the last 2: ends
 * at 9. */
static void interference_starts_and_ends_inside(void **state)
{
    struct world w;
    world_begin(&w);
    struct program *programs[2];
    for (unsigned i = 0; i < 2; i++) {
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 1);
        const uint32_t first = program_op(p, world_compute(p, i == 0 ? 1.0 : 3.0, OP_NONE));
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_GATHER, 0, first));
        struct op compute = world_compute(p, 6.0, OP_NONE);
        compute.flags = i == 0 ? OP_SENSITIVE : 0;
        program_op(p, compute);
        programs[i] = program_end(p);
        programs[i]->interference.streams = 1u << STREAM_GATHER;
        programs[i]->interference.ratio = 0.5;
    }
    const uint32_t ranks[] = {world_rank(&w, world_program(&w, programs[0]), 1.0),
                              world_rank(&w, world_program(&w, programs[1]), 1.0)};
    world_plan(&w, world_group(&w, STREAM_GATHER, 1, ranks, 2), 0, 3.0, 1.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
    assert_true(worker_times(w.worker, 0, 2).finish_s == 9.0);
    assert_true(worker_times(w.worker, 1, 2).finish_s == 9.0); /* not sensitive: 3 + 6 */
    assert_true(worker_times(w.worker, 0, 1).finish_s == 7.0);
    world_end(&w);
}

/* Sensitive compute that nothing can meet costs no event; what may meet it costs two (and the
 * transfer that is watched two more). */
static void only_what_may_meet_costs_events(void **state)
{
    for (unsigned beside = 0; beside < 2; beside++) {
        struct world w;
        world_begin(&w);
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 1);
        uint32_t wait = OP_NONE;
        for (unsigned i = 0; i < 8; i++) {
            struct op compute = world_compute(p, 1.0, OP_NONE);
            compute.flags = OP_SENSITIVE;
            wait = program_op(p, compute);
            if (i == 3)
                program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, wait));
        }
        const uint32_t last = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, wait));
        program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, beside ? OP_NONE : last));
        struct program *program = program_end(p);
        program->interference.streams = 1u << STREAM_DP;
        program->interference.ratio = 0.5;
        const uint32_t rank = world_rank(&w, world_program(&w, program), 1.0);
        world_plan(&w, world_group(&w, STREAM_DP, 1, &rank, 1), 0, 1.0, 0.0, 1.0, 1.0, NULL, 0);
        world_plan(&w, world_group(&w, STREAM_TP, 1, &rank, 1), 0, 0.0, 0.0, 1.0, 1.0, NULL, 0);
        world_play(&w);
        /* Beside: the transfer meets the first op, 1 s for half a second's work; at its end all
         * that follows is free of it. */
        assert_true(worker_finish_s(w.worker, 0) == (beside ? 8.5 : 9.0));
        assert_int_equal(sim_event_count(w.sim), beside ? 4 : 2);
        world_end(&w);
    }
}

/* Traffic of two ranks shares a wire; compute that waits for it sees the shared rate. */
static void contention_reaches_compute(void **state)
{
    struct world w;
    world_begin(&w);
    struct program_writer *p = program_begin(w.arena, 0);
    world_transfers(p, 1);
    const uint32_t reduce = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, OP_NONE));
    program_op(p, world_compute(p, 1.0, reduce));
    const uint32_t program = world_program(&w, program_end(p));
    const struct wire wire = {world_link(&w, 1.0), 1.0};
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t rank = world_rank(&w, program, 1.0);
        world_plan(&w, world_group(&w, STREAM_DP, 1, &rank, 1), 0, 4.0, 0.0, INFINITY, 1.0, &wire,
                   1);
    }
    world_play(&w);
    assert_true(world_step_s(&w) == 9.0);
    const double parts[PART_COUNT] = {[PART_COMPUTE] = 1.0, [PART_EXPOSED_DP] = 8.0};
    parts_are(&w, 1, 9.0, parts);
    assert_true(network_moved_bytes(worker_network(w.worker)) == 8.0);
    world_end(&w);
}

/* A pipeline from lower_passes on hand-made pairs with free messages. */
static void play_schedule(struct world *w, const char *name, uint32_t stages, uint32_t chunks,
                          uint32_t microbatches, double forward_s, double backward_s)
{
    double forward[WORLD_MAX], backward[WORLD_MAX];
    for (uint32_t i = 0; i < stages * chunks; i++) {
        forward[i] = forward_s / chunks;
        backward[i] = backward_s / chunks;
    }
    const struct schedule_shape shape = {stages, chunks, microbatches, NULL};
    const struct pass_times times = {.forward_s = forward, .backward_s = backward};
    struct lowered lowered;
    lower_passes(w->arena, schedule_find(name), &shape, &times, &lowered);
    for (uint32_t s = 0; s < stages; s++)
        world_rank(w, world_program(w, lowered.programs[lowered.program_of_rank[s]]), 1.0);
    for (uint32_t s = 0; stages > 1 && s < stages; s++) {
        const uint32_t next[] = {s, (s + 1) % stages}, previous[] = {s, (s + stages - 1) % stages};
        world_plan(w, world_group(w, STREAM_SEND_NEXT, 1, next, 2), 0, 0.0, 0.0, INFINITY, 1.0,
                   NULL, 0);
        world_plan(w, world_group(w, STREAM_SEND_PREV, 1, previous, 2), 0, 0.0, 0.0, INFINITY, 1.0,
                   NULL, 0);
    }
    world_play(w);
}

/* (m + p - 1)(tF + tB) for GPipe and 1F1B; the bubble of every stage is (p - 1)(tF + tB). */
static void pipelines_have_their_bubble(void **state)
{
    const char *const names[] = {"gpipe", "1f1b"};
    for (uint32_t stages = 1; stages <= 6; stages++) {
        for (uint32_t m = 1; m <= 9; m += 2) {
            for (unsigned k = 0; k < 2; k++) {
                struct world w;
                world_begin(&w);
                play_schedule(&w, names[k], stages, 1, m, 1.0, 2.0);
                const double step_s = 3.0 * (m + stages - 1);
                near(world_step_s(&w), step_s);
                const double parts[PART_COUNT] = {
                    [PART_COMPUTE] = 3.0 * m, [PART_BUBBLE] = 3.0 * (stages - 1)};
                for (uint32_t r = 0; r < stages; r++)
                    parts_are(&w, r, step_s, parts);
                assert_true(stages == 1 || network_activity_count(worker_network(w.worker)) ==
                                               2 * (stages - 1) * m);
                world_end(&w);
            }
        }
    }
}

static void interleaving_divides_the_bubble(void **state)
{
    for (uint32_t chunks = 2; chunks <= 4; chunks++) {
        struct world w;
        world_begin(&w);
        play_schedule(&w, "interleaved", 4, chunks, 8, 1.0, 2.0);
        near(world_step_s(&w), 3.0 * 8 + 3.0 * 3 / chunks);
        world_end(&w);
    }
}

struct stuck {
    bool sync; /* the host never launches what the other waits for */
    bool late; /* after a transfer that goes well */
};

static void play_stuck(void *context)
{
    const struct stuck *how = context;
    struct world w;
    world_begin(&w);
    struct program *programs[2];
    for (unsigned i = 0; i < 2; i++) {
        struct program_writer *p = program_begin(w.arena, i);
        world_transfers(p, 1);
        if (how->late)
            program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_DP, 0, OP_NONE));
        /* Both receive before they send, and the send waits for the receive. */
        struct op receive =
            world_comm(p, OP_RECV, i == 0 ? STREAM_RECV_NEXT : STREAM_RECV_PREV, 0, OP_NONE);
        receive.flags = how->sync ? OP_HOST_SYNC : 0;
        const uint32_t wait = program_op(p, receive);
        program_op(p, world_comm(p, OP_SEND, i == 0 ? STREAM_SEND_NEXT : STREAM_SEND_PREV, 0,
                                 how->sync ? OP_NONE : wait));
        programs[i] = program_end(p);
    }
    const uint32_t ranks[] = {world_rank(&w, world_program(&w, programs[0]), 1.0),
                              world_rank(&w, world_program(&w, programs[1]), 1.0)};
    const uint32_t back[] = {ranks[1], ranks[0]};
    world_plan(&w, world_group(&w, STREAM_SEND_NEXT, 1, ranks, 2), 0, 1.0, 0.0, 1.0, 1.0, NULL, 0);
    world_plan(&w, world_group(&w, STREAM_SEND_PREV, 1, back, 2), 0, 1.0, 0.0, 1.0, 1.0, NULL, 0);
    world_plan(&w, world_group(&w, STREAM_DP, 1, ranks, 2), 0, 1.0, 0.0, 1.0, 1.0, NULL, 0);
    world_play(&w);
}

static void deadlock_is_named(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct stuck how = {.sync = i % 2 == 1, .late = i >= 2};
        char text[4096], first[64], second[64], waits[64];
        snprintf(first, sizeof first, "rank 0 (stage 0), stream recv_next: op %d", how.late);
        snprintf(second, sizeof second, "rank 1 (stage 1), stream send_prev: op %d", 1 + how.late);
        snprintf(waits, sizeof waits, "%s op %d",
                 how.sync ? "is not launched: the host waits for" : "waits for", how.late);
        assert_true(world_aborts(play_stuck, &how, text, sizeof text));
        assert_non_null(strstr(text, "deadlock"));
        assert_non_null(strstr(text, first));
        assert_non_null(strstr(text, second));
        assert_non_null(strstr(text, waits));
    }
}

static void play_jitter(struct world *w, uint32_t rank_count, uint64_t seed, double sigma)
{
    world_begin(w);
    struct program_writer *p = program_begin(w->arena, 0);
    for (unsigned i = 0; i < 2000; i++)
        program_op(p, world_compute(p, 1.0, OP_NONE));
    const uint32_t program = world_program(w, program_end(p));
    for (uint32_t r = 0; r < rank_count; r++)
        world_rank(w, program, 1.0);
    w->options = (struct worker_options){.jitter_sigma = sigma, .seed = seed};
    world_play(w);
}

static void jitter_belongs_to_the_rank(void **state)
{
    struct world few, many, other;
    play_jitter(&few, 1, 5, 0.25);
    play_jitter(&many, 3, 5, 0.25);
    play_jitter(&other, 1, 6, 0.25);
    const double alone_s = worker_finish_s(few.worker, 0);
    assert_true(alone_s == worker_finish_s(many.worker, 0)); /* others change nobody's draws */
    assert_true(alone_s != worker_finish_s(many.worker, 1));
    assert_true(alone_s != worker_finish_s(other.worker, 0));
    /* The mean of 2,000 log-normal draws of mean 1 and deviation 0.254: five standard errors. */
    assert_true(fabs(alone_s / 2000.0 - 1.0) < 5.0 * 0.254 / sqrt(2000.0));
    world_end(&few);
    world_end(&many);
    world_end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compute_follows_compute),
        cmocka_unit_test(the_host_is_a_queue),
        cmocka_unit_test(a_sync_holds_the_host),
        cmocka_unit_test(communication_overlaps),
        cmocka_unit_test(a_straggler_holds_its_group),
        cmocka_unit_test(the_tail_is_explained),
        cmocka_unit_test(interference_slows_compute),
        cmocka_unit_test(interference_starts_and_ends_inside),
        cmocka_unit_test(only_what_may_meet_costs_events),
        cmocka_unit_test(contention_reaches_compute),
        cmocka_unit_test(pipelines_have_their_bubble),
        cmocka_unit_test(interleaving_divides_the_bubble),
        cmocka_unit_test(deadlock_is_named),
        cmocka_unit_test(jitter_belongs_to_the_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
