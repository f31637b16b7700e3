/* Messages that do not wait for their receivers: who is done when, whose time is whose, and a naive
 * player of random chains of messages, which also says what waits for ever. */
#include <math.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "sim/random.h"
#include "tests/models/step/task_case.h"
#include "tests/test.h"

#define BYTES 0x1p20

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static double message_s(const struct task_case *t, double bytes)
{
    struct collective_result alone;
    struct error error;
    assert_true(collective_run(&t->c, COMM_SEND, 2, bytes, &alone, &error));
    return alone.time_s;
}

/* Rank 0 sends at 0; rank 1 comes after `work_s` of compute. */
static void pair_begin(struct task_case *t, double work_s, bool eager)
{
    static const uint32_t ranks[] = {0, 1};
    task_case_begin(t, 2);
    const uint32_t meeting =
        task_case_meeting(t, task_case_group(t, ranks, 2, true), COMM_SEND, BYTES);
    t->graph.meetings[meeting].eager = eager;
    task_case_rank(t);
    task_case_attend(t, meeting);
    task_case_rank(t);
    const uint32_t work = task_case_node(t, TASK_COMPUTE, work_s);
    task_case_attend(t, meeting);
    task_case_wait(t, work);
}

static void test_the_receiver_comes_before_meanwhile_or_after(void **state)
{
    struct task_case t;
    pair_begin(&t, 1.0, false);
    const double m_s = message_s(&t, BYTES);
    const struct task_played *played = task_case_play(&t);
    expect_near(played->times[0].finish_s, 1.0 + m_s, 1e-12); /* the sender waited */
    expect_near(played->parts_s[0][TASK_PART_WAIT], 1.0, 1e-12);
    task_case_end(&t);

    pair_begin(&t, 1.0, true); /* after */
    played = task_case_play(&t);
    expect_near(played->times[0].begin_s, 0.0, 0.0);
    expect_near(played->times[0].finish_s, m_s, 1e-12);
    expect_near(played->times[2].begin_s, 1.0, 0.0);
    expect_near(played->times[2].finish_s, 1.0, 0.0);
    expect_near(played->step_s, 1.0, 0.0);
    expect_near(played->parts_s[0][TASK_PART_COMMUNICATION], m_s, 1e-12);
    expect_near(played->parts_s[0][TASK_PART_DONE], 1.0 - m_s, 1e-12);
    expect_near(played->communicating_s[1], 0.0, 0.0);
    task_case_end(&t);

    pair_begin(&t, 0.25 * m_s, true); /* meanwhile */
    played = task_case_play(&t);
    expect_near(played->times[2].begin_s, 0.25 * m_s, 1e-15);
    expect_near(played->times[2].finish_s, m_s, 1e-12);
    expect_near(played->parts_s[1][TASK_PART_COMMUNICATION], 0.75 * m_s, 1e-12);
    expect_near(played->parts_s[1][TASK_PART_COMPUTE], 0.25 * m_s, 1e-15);
    assert_int_equal(played->groups[0].meetings, 1);
    expect_near(played->groups[0].moving_s, m_s, 1e-12);
    task_case_end(&t);
}

/* Before: it waits for the sender, and then communicates. */
static void test_the_receiver_waits_for_the_sender(void **state)
{
    static const uint32_t ranks[] = {1, 0}; /* the sender is the higher rank */
    struct task_case t;
    task_case_begin(&t, 2);
    const uint32_t meeting =
        task_case_meeting(&t, task_case_group(&t, ranks, 2, true), COMM_SEND, BYTES);
    t.graph.meetings[meeting].eager = true;
    task_case_rank(&t);
    task_case_attend(&t, meeting);
    task_case_rank(&t);
    const uint32_t work = task_case_node(&t, TASK_COMPUTE, 2.0);
    task_case_attend(&t, meeting);
    task_case_wait(&t, work);
    const double m_s = message_s(&t, BYTES);
    const struct task_played *played = task_case_play(&t);
    expect_near(played->times[0].begin_s, 2.0, 0.0);
    expect_near(played->times[0].finish_s, 2.0 + m_s, 1e-12);
    expect_near(played->parts_s[0][TASK_PART_WAIT], 2.0, 0.0);
    expect_near(played->parts_s[0][TASK_PART_COMMUNICATION], m_s, 1e-12);
    task_case_end(&t);
}

static void test_the_limit_is_of_messages_alone(void **state)
{
    static const uint32_t ranks[] = {0, 1};
    struct task_case t;
    task_case_begin(&t, 2);
    const uint32_t pair = task_case_group(&t, ranks, 2, true);
    const uint32_t both = task_case_group(&t, ranks, 2, false);
    task_case_meeting(&t, pair, COMM_SEND, 100.0);
    task_case_meeting(&t, pair, COMM_SEND, 101.0);
    task_case_meeting(&t, both, COMM_ALL_REDUCE, 10.0);
    task_case_meeting(&t, pair, COMM_SEND, 0.0);
    task_set_eager(&t.graph, 100.0);
    assert_true(t.graph.meetings[0].eager && t.graph.meetings[3].eager);
    assert_false(t.graph.meetings[1].eager || t.graph.meetings[2].eager);
    assert_int_equal(task_awaited(&t.graph, 0), 1);
    assert_int_equal(task_awaited(&t.graph, 1), 2);
    assert_true(task_awaits(&t.graph, 0, 0) && task_awaits(&t.graph, 1, 1));
    assert_false(task_awaits(&t.graph, 0, 1));
    task_set_eager(&t.graph, 0.0);
    assert_false(t.graph.meetings[0].eager || t.graph.meetings[3].eager);
    task_case_end(&t);
}

enum {
    RANKS = 4,
    MESSAGES = 7,
    CHAIN = 40
};
/* Each rank carries out its chain one after the other; messages have no bytes. */
struct chains {
    int nodes[RANKS][CHAIN]; /* below 0: compute of so many seconds; else message, of either side */
    unsigned count[RANKS];
    uint32_t source[MESSAGES], target[MESSAGES];
    bool eager[MESSAGES];
};

static void put(struct chains *c, uint32_t rank, unsigned at, int what)
{
    at %= c->count[rank] + 1;
    memmove(&c->nodes[rank][at + 1], &c->nodes[rank][at], sizeof(int) * (c->count[rank] - at));
    c->nodes[rank][at] = what;
    c->count[rank]++;
}

static void draw(struct chains *c, uint64_t seed)
{
    uint64_t drawn = seed;
    memset(c, 0, sizeof *c);
    for (int i = 0; i < 10; i++) {
        drawn = random_hash(drawn, (uint64_t)i);
        put(c, (uint32_t)(drawn % RANKS), (unsigned)(drawn >> 20 & 63),
            -1 - (int)(drawn >> 40 & 7));
    }
    for (int m = 0; m < MESSAGES; m++) {
        drawn = random_hash(drawn, (uint64_t)m);
        c->source[m] = (uint32_t)(drawn % RANKS);
        c->target[m] = (c->source[m] + 1 + (uint32_t)(drawn >> 8 & 63) % (RANKS - 1)) % RANKS;
        c->eager[m] = (drawn >> 16 & 3) != 0;
        put(c, c->source[m], (unsigned)(drawn >> 20 & 63), m);
        put(c, c->target[m], (unsigned)(drawn >> 30 & 63), m);
    }
}

static void build(struct task_case *t, const struct chains *c)
{
    task_case_begin(t, RANKS);
    for (uint32_t m = 0; m < MESSAGES; m++) {
        const uint32_t ranks[] = {c->source[m], c->target[m]};
        task_case_meeting(t, task_case_group(t, ranks, 2, true), COMM_SEND, 0.0);
        t->graph.meetings[m].eager = c->eager[m];
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        task_case_rank(t);
        for (unsigned i = 0; i < c->count[r]; i++) {
            const int what = c->nodes[r][i];
            const uint32_t node = what < 0 ? task_case_node(t, TASK_COMPUTE, -what)
                                           : task_case_attend(t, (uint32_t)what);
            if (i > 0)
                task_case_wait(t, node - 1);
        }
    }
}

/* When each node is over, from one rank's chain to the other's until nothing changes; INFINITY:
 * never. An eager send is over when it comes; its receive when both have come. */
static bool naive(const struct chains *c, double over_s[RANKS][CHAIN])
{
    double come_s[MESSAGES][2];
    bool changed = true, ends = true;
    for (unsigned m = 0; m < MESSAGES; m++)
        come_s[m][0] = come_s[m][1] = INFINITY;
    while (changed) {
        changed = false;
        for (uint32_t r = 0; r < RANKS; r++) {
            double at_s = 0.0;
            for (unsigned i = 0; i < c->count[r]; i++) {
                const int what = c->nodes[r][i];
                const bool receives = what >= 0 && c->target[what] == r;
                if (what >= 0 && come_s[what][receives] != at_s) {
                    come_s[what][receives] = at_s;
                    changed = true;
                }
                if (what < 0)
                    at_s -= what;
                else if (receives || !c->eager[what])
                    at_s = fmax(come_s[what][0], come_s[what][1]);
                over_s[r][i] = at_s;
            }
            ends = r == 0 ? at_s < INFINITY : ends && at_s < INFINITY;
        }
    }
    return ends;
}

static void test_a_naive_player_agrees(void **state)
{
    static double over_s[RANKS][CHAIN];
    unsigned played_count = 0, refused_count = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct chains c;
        struct task_case t;
        draw(&c, seed);
        build(&t, &c);
        if (!naive(&c, over_s)) {
            assert_non_null(strstr(task_case_refused(&t), "never end: rank "));
            refused_count++;
        } else {
            const struct task_played *played = task_case_play(&t);
            uint32_t node = 0;
            for (uint32_t r = 0; r < RANKS; r++)
                for (unsigned i = 0; i < c.count[r]; i++, node++)
                    if (played->times[node].finish_s != over_s[r][i])
                        fail_msg("seed %u rank %u node %u: %g, naive %g", (unsigned)seed, r, i,
                                 played->times[node].finish_s, over_s[r][i]);
            played_count++;
        }
        task_case_end(&t);
    }
    assert_true(played_count > 100 && refused_count > 100);
}

/* All have come to B, which its communicator keeps behind A, to which rank 1 comes after B. What
 * waits for B in turn has no part in it. */
static void test_a_meeting_behind_another_is_named(void **state)
{
    struct task_case t;
    task_case_begin(&t, 2);
    const uint32_t ranks[] = {0, 1}, group = task_case_group(&t, ranks, 2, false);
    const uint32_t a = task_case_meeting(&t, group, COMM_ALL_REDUCE, 8.0);
    const uint32_t b = task_case_meeting(&t, group, COMM_ALL_REDUCE, 8.0);
    const uint32_t behind =
        task_case_meeting(&t, task_case_group(&t, ranks, 2, false), COMM_ALL_REDUCE, 8.0);
    task_case_rank(&t);
    task_case_attend(&t, a);
    task_case_attend(&t, b);
    task_case_attend(&t, behind);
    task_case_wait(&t, 1);
    task_case_rank(&t);
    task_case_attend(&t, b);
    task_case_attend(&t, a);
    task_case_wait(&t, 3);
    task_case_attend(&t, behind);
    task_case_wait(&t, 3);
    assert_non_null(strstr(task_case_refused(&t),
                           "rank 0 node 100 (node), for rank 1 node 101 (node), for rank 1 node "
                           "100 (node), for the first again"));
    task_case_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_receiver_comes_before_meanwhile_or_after),
        cmocka_unit_test(test_the_receiver_waits_for_the_sender),
        cmocka_unit_test(test_the_limit_is_of_messages_alone),
        cmocka_unit_test(test_a_naive_player_agrees),
        cmocka_unit_test(test_a_meeting_behind_another_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
