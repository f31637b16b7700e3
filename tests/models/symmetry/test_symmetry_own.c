/* Links that never carry two activities at once: programs, groups and loads written by hand, each
 * with the reason why two communicators can or cannot meet. */
#include "models/symmetry/symmetry_state.h"
#include "tests/models/program/lower_case.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    OP_MAX = 8,
    LOAD_MAX = 64,
    STAGE_MAX = 3
};
struct line { /* an op; waits are numbered from 1 */
    enum stream stream;
    uint32_t wait[2];
    bool sync;
};
struct script {
    struct line ops[OP_MAX];
    unsigned count;
};
struct scene {
    struct arena *arena;
    struct configuration c;
    struct layout layout;
    struct lowered lowered;
    struct program *programs[STAGE_MAX];
    struct real real;
};

static struct program *written(struct arena *arena, const struct script *script, uint32_t stage)
{
    struct program_writer *p = program_begin(arena, stage);
    world_transfers(p, 1);
    for (unsigned i = 0; i < script->count; i++) {
        const struct line *line = &script->ops[i];
        const enum stream s = line->stream;
        const bool computes = s == STREAM_COMPUTE || s == STREAM_COPY;
        const bool sends = s == STREAM_SEND_NEXT || s == STREAM_SEND_PREV;
        const bool receives = s == STREAM_RECV_PREV || s == STREAM_RECV_NEXT;
        const enum op_kind kind = sends ? OP_SEND : receives ? OP_RECV : OP_COLLECTIVE;
        struct op op = computes ? world_compute(p, 1.0, OP_NONE) : world_comm(p, kind, s, 0, 0);
        op.stream = (uint8_t)s;
        op.wait[0] = line->wait[0];
        op.wait[1] = line->wait[1];
        op.flags = line->sync ? OP_HOST_SYNC : 0;
        program_op(p, op);
    }
    return program_end(p);
}

/* One script for each stage. */
static void begin(struct scene *s, uint64_t tp, uint64_t dp, uint64_t pp,
                  const struct script *scripts)
{
    *s = (struct scene){.arena = arena_create(), .c = lower_case()};
    lower_case_size(&s->c, tp, 1, dp, pp, 1);
    uint32_t streams = 0;
    for (uint32_t stage = 0; stage < pp; stage++) {
        s->programs[stage] = written(s->arena, &scripts[stage], stage);
        for (unsigned i = 0; i < scripts[stage].count; i++)
            streams |= 1u << scripts[stage].ops[i].stream;
    }
    layout_build(s->arena, &s->c, streams & ~(1u << STREAM_COMPUTE) & ~(1u << STREAM_COPY),
                 &s->layout);
    s->lowered = (struct lowered){
        .programs = s->programs, .program_count = (uint32_t)pp, .rank_count = s->layout.rank_count};
    s->lowered.program_of_rank = ARENA_ARRAY(s->arena, uint32_t, s->layout.rank_count);
    for (uint32_t rank = 0; rank < s->layout.rank_count; rank++)
        s->lowered.program_of_rank[rank] = layout_coordinates(&s->c, rank).pp;
    s->real = (struct real){.layout = &s->layout, .lowered = &s->lowered, .arena = s->arena};
    s->real.shift.turns = 1;
    s->real.shift.group_rows = s->layout.group_count;
    s->real.groups = ARENA_ARRAY(s->arena, struct real_group, s->layout.group_count);
    s->real.loads.rows = ARENA_ARRAY(s->arena, struct wire_load, LOAD_MAX);
}

static void end(struct scene *s)
{
    arena_destroy(s->arena);
}

static uint32_t group_of(const struct scene *s, uint32_t rank, enum stream stream)
{
    const uint32_t group = layout_group_of(&s->layout, rank, stream);
    assert_true(group != GROUP_NONE);
    return group;
}

/* Group after group: each gets `count` loads on `link`. */
static void load(struct scene *s, uint32_t group, uint32_t link, unsigned count)
{
    struct real *real = &s->real;
    if (real->groups[group].load_count == 0)
        real->groups[group].load_first = real->loads.count;
    for (uint32_t set = 0; set < count; set++) {
        assert_true(real->loads.count < LOAD_MAX);
        real->loads.rows[real->loads.count++] = (struct wire_load){.link = link, .set = set};
        real->groups[group].load_count++;
    }
    real->used.count = link >= real->used.count ? link + 1 : real->used.count;
}

/* Two groups on one link. */
static bool meet_never(struct scene *s, uint32_t a, uint32_t b)
{
    s->real.loads.count = s->real.used.count = 0;
    for (uint32_t g = 0; g < s->layout.group_count; g++)
        s->real.groups[g].load_count = 0;
    load(s, a, 0, 1);
    load(s, b, 0, 1);
    symmetry_find_own(s->arena, &s->real);
    return s->real.used.own[0];
}

/* Does a rank with this program keep its tensor-parallel group and its data-parallel one apart? */
static const struct {
    struct script script;
    bool apart;
} programs[] = {
    {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}}, 2}, true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {0}, 0}}, 2}, false},
    {{{{STREAM_DP, {0}, 0}, {STREAM_TP, {1}, 0}}, 2}, true},
    {{{{STREAM_DP, {0}, 0}, {STREAM_TP, {0}, 0}}, 2}, false},
    {{{{STREAM_COMPUTE, {0}, 0}, {STREAM_TP, {1}, 0}, {STREAM_DP, {1}, 0}}, 3}, false},
    /* the second wait */
    {{{{STREAM_COMPUTE, {0}, 0}, {STREAM_TP, {0}, 0}, {STREAM_DP, {1, 2}, 0}}, 3}, true},
    /* through compute that waits, and what follows it in its stream; not what goes before it */
    {{{{STREAM_TP, {0}, 0}, {STREAM_COMPUTE, {1}, 0}, {STREAM_DP, {2}, 0}}, 3}, true},
    {{{{STREAM_TP, {0}, 0},
       {STREAM_COMPUTE, {1}, 0},
       {STREAM_COMPUTE, {0}, 0},
       {STREAM_DP, {3}, 0}},
      4},
     true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_COMPUTE, {0}, 0}, {STREAM_DP, {2}, 0}}, 3}, false},
    {{{{STREAM_COMPUTE, {0}, 0},
       {STREAM_TP, {0}, 0},
       {STREAM_COMPUTE, {2}, 0},
       {STREAM_DP, {1}, 0}},
      4},
     false},
    /* through a copy that waits */
    {{{{STREAM_TP, {0}, 0}, {STREAM_COPY, {1}, 0}, {STREAM_DP, {2}, 0}}, 3}, true},
    /* the host waits for what came before, itself and through others; not for what comes */
    {{{{STREAM_TP, {0}, 1}, {STREAM_DP, {0}, 0}}, 2}, true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_COMPUTE, {1}, 1}, {STREAM_DP, {0}, 0}}, 3}, true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_COMPUTE, {0}, 1}, {STREAM_DP, {0}, 0}}, 3}, false},
    {{{{STREAM_COMPUTE, {0}, 1}, {STREAM_TP, {0}, 0}, {STREAM_DP, {0}, 0}}, 3}, false},
    {{{{STREAM_TP, {0}, 1},
       {STREAM_COMPUTE, {0}, 0},
       {STREAM_COMPUTE, {0}, 0},
       {STREAM_DP, {0}, 0}},
      4},
     true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {0}, 1}}, 2}, false},
    /* the later of two on a stream counts: the earlier has finished before it */
    {{{{STREAM_TP, {0}, 0}, {STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}}, 3}, false},
    {{{{STREAM_TP, {0}, 0}, {STREAM_TP, {0}, 0}, {STREAM_DP, {2}, 0}}, 3}, true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}, {STREAM_TP, {0}, 0}}, 3}, false},
    {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}, {STREAM_TP, {2}, 0}}, 3}, true},
    /* what is known from two sides is the later of both, in either order */
    {{{{STREAM_TP, {0}, 0},
       {STREAM_COPY, {1}, 0},
       {STREAM_TP, {0}, 0},
       {STREAM_COMPUTE, {3}, 0},
       {STREAM_DP, {4, 2}, 0}},
      5},
     true},
    {{{{STREAM_TP, {0}, 0},
       {STREAM_COPY, {1}, 0},
       {STREAM_TP, {0}, 0},
       {STREAM_COMPUTE, {3}, 0},
       {STREAM_DP, {2, 4}, 0}},
      5},
     true},
    {{{{STREAM_TP, {0}, 0}, {STREAM_TP, {0}, 0}, {STREAM_COMPUTE, {2}, 0}, {STREAM_DP, {3, 1}, 0}},
      4},
     true},
    /* the last op of a program may be the one that meets another */
    {{{{STREAM_DP, {0}, 0}, {STREAM_TP, {1}, 0}, {STREAM_DP, {0}, 0}}, 3}, false},
};

/* tp 2 x dp 2: rank 0 is in the first tensor-parallel and the first data-parallel group. */
static void what_a_program_keeps_apart(void **state)
{
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct scene s;
        begin(&s, 2, 2, 1, &programs[i].script);
        const uint32_t tp = group_of(&s, 0, STREAM_TP), dp = group_of(&s, 0, STREAM_DP);
        if (meet_never(&s, tp, dp) != programs[i].apart) {
            print_message("case %u\n", i);
            fail();
        }
        /* Groups without a rank in common: nobody keeps them apart. */
        assert_false(meet_never(&s, tp, group_of(&s, 2, STREAM_TP)));
        assert_false(meet_never(&s, dp, group_of(&s, 1, STREAM_DP)));
        end(&s);
    }
}

static const struct script sender_apart[] = {
    {{{STREAM_TP, {0}, 0}, {STREAM_SEND_NEXT, {1}, 0}}, 2},
    {{{STREAM_RECV_PREV, {0}, 0}, {STREAM_TP, {0}, 0}}, 2},
};
static const struct script receiver_apart[] = {
    {{{STREAM_TP, {0}, 0}, {STREAM_SEND_NEXT, {0}, 0}}, 2},
    {{{STREAM_RECV_PREV, {0}, 0}, {STREAM_TP, {1}, 0}}, 2},
};

/* A pair beside the tensor-parallel group of its sender and that of its receiver: the rank in both
 * decides, whichever group is larger. */
static void either_end_of_a_pair_keeps_apart(void **state)
{
    for (uint64_t tp = 2; tp <= 4; tp += 2) {
        for (uint32_t lane = 0; lane < tp; lane++) {
            for (unsigned receiver = 0; receiver < 2; receiver++) {
                struct scene s;
                begin(&s, tp, 1, 2, receiver ? receiver_apart : sender_apart);
                const uint32_t pair = group_of(&s, lane, STREAM_SEND_NEXT);
                const uint32_t to = (uint32_t)tp + lane;
                assert_int_equal(pair, group_of(&s, to, STREAM_RECV_PREV));
                const uint32_t first = group_of(&s, 0, STREAM_TP);
                const uint32_t second = group_of(&s, to, STREAM_TP);
                assert_int_equal(meet_never(&s, first, pair), receiver == 0);
                assert_int_equal(meet_never(&s, second, pair), receiver == 1);
                end(&s);
            }
        }
    }
}

/* Two stages that send to each other: one of the two ranks is enough, either way. */
static void pairs_that_share_ranks(void **state)
{
    static const struct line first[] = {{STREAM_SEND_NEXT, {0}, 0}, {STREAM_RECV_NEXT, {0}, 0}};
    static const struct line second[] = {{STREAM_RECV_PREV, {0}, 0}, {STREAM_SEND_PREV, {0}, 0}};
    for (unsigned kept = 0; kept < 4; kept++) {
        struct script scripts[] = {{{first[0], first[1]}, 2}, {{second[0], second[1]}, 2}};
        scripts[0].ops[1].wait[0] = kept & 1;
        scripts[1].ops[1].wait[0] = kept >> 1;
        struct scene s;
        begin(&s, 1, 1, 2, scripts);
        const uint32_t there = group_of(&s, 0, STREAM_SEND_NEXT);
        const uint32_t back = group_of(&s, 0, STREAM_RECV_NEXT);
        assert_int_equal(meet_never(&s, there, back), kept != 0);
        end(&s);
    }
}

/* The second of three stages receives, then sends on. */
static void pairs_in_a_chain(void **state)
{
    for (unsigned waits = 0; waits < 2; waits++) {
        const struct script scripts[] = {
            {{{STREAM_SEND_NEXT, {0}, 0}}, 1},
            {{{STREAM_RECV_PREV, {0}, 0}, {STREAM_SEND_NEXT, {waits}, 0}}, 2},
            {{{STREAM_RECV_PREV, {0}, 0}}, 1},
        };
        struct scene s;
        begin(&s, 1, 1, 3, scripts);
        const uint32_t first = group_of(&s, 0, STREAM_SEND_NEXT);
        const uint32_t second = group_of(&s, 1, STREAM_SEND_NEXT);
        assert_int_not_equal(first, second);
        assert_int_equal(meet_never(&s, first, second), waits == 1);
        end(&s);
    }
}

/* Three groups of rank 0: own only if no two of them meet, whichever they are. */
static void every_two_count(void **state)
{
    static const struct {
        struct script script;
        bool own;
    } cases[] = {
        {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}, {STREAM_WORLD, {2}, 0}}, 3}, true},
        {{{{STREAM_TP, {0}, 0}, {STREAM_DP, {1}, 0}, {STREAM_WORLD, {1}, 0}}, 3},
         false}, /* dp and world */
        {{{{STREAM_DP, {0}, 0}, {STREAM_TP, {1}, 0}, {STREAM_WORLD, {1}, 0}}, 3},
         false}, /* tp and world */
        {{{{STREAM_WORLD, {0}, 0}, {STREAM_TP, {1}, 0}, {STREAM_DP, {1}, 0}}, 3},
         false}, /* tp and dp */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scene s;
        begin(&s, 2, 2, 1, &cases[i].script);
        load(&s, group_of(&s, 0, STREAM_TP), 0, 1);
        load(&s, group_of(&s, 0, STREAM_DP), 0, 1);
        load(&s, group_of(&s, 0, STREAM_WORLD), 0, 1);
        symmetry_find_own(s.arena, &s.real);
        assert_int_equal(s.real.used.own[0], cases[i].own);
        end(&s);
    }
}

/* Eight links; tp and dp meet, tp and world do not. A group counts once on a link, with whatever
 * many sets of wires, and its other links count too. */
static void links_are_judged_one_by_one(void **state)
{
    const struct script script = {
        {{STREAM_TP, {0}, 0}, {STREAM_DP, {0}, 0}, {STREAM_WORLD, {1, 2}, 0}}, 3};
    static const bool own[] = {true, false, true, false, true, false, true, true};
    struct scene s;
    begin(&s, 2, 2, 1, &script);
    const uint32_t tp = group_of(&s, 0, STREAM_TP), dp = group_of(&s, 0, STREAM_DP);
    const uint32_t world = group_of(&s, 0, STREAM_WORLD);
    const uint32_t second = group_of(&s, 2, STREAM_TP);
    assert_true(tp == 0 && second == 1);
    load(&s, tp, 0, 20); /* alone */
    load(&s, tp, 1, 2);
    load(&s, tp, 3, 1);
    load(&s, tp, 4, 10);
    load(&s, tp, 5, 1);
    load(&s, second, 7, 1);
    load(&s, dp, 1, 1);
    load(&s, dp, 2, 1); /* alone */
    load(&s, dp, 3, 1);
    load(&s, dp, 5, 1);
    load(&s, dp, 6, 1); /* alone */
    load(&s, world, 4, 10);
    load(&s, group_of(&s, 2, STREAM_WORLD), 7, 1);
    symmetry_find_own(s.arena, &s.real);
    for (unsigned l = 0; l < 8; l++)
        assert_int_equal(s.real.used.own[l], own[l]);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_program_keeps_apart),
        cmocka_unit_test(either_end_of_a_pair_keeps_apart),
        cmocka_unit_test(pairs_that_share_ranks),
        cmocka_unit_test(pairs_in_a_chain),
        cmocka_unit_test(every_two_count),
        cmocka_unit_test(links_are_judged_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
