/* The player of task graphs: closed forms, the collectives of collective_run, a naive player of
 * random graphs that was written from task.h alone, and what waits for ever. */
#include <math.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "models/step/tasks/task_wires.h"
#include "sim/sim.h"
#include "tests/laws/law_cluster.h"
#include "tests/models/step/task_case.h"
#include "tests/test.h"

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* Every rank's parts tile the step. */
static void expect_tiled(const struct task_case *t, const struct task_played *played)
{
    for (uint32_t rank = 0; rank < t->graph.rank_count; rank++) {
        double sum_s = 0.0;
        for (unsigned part = 0; part < TASK_PART_COUNT; part++) {
            assert_true(played->parts_s[rank][part] >= 0.0);
            sum_s += played->parts_s[rank][part];
        }
        expect_near(sum_s, played->step_s, 1e-9 * played->step_s);
        assert_true(played->communicating_s[rank] <= played->step_s * (1.0 + 1e-12));
    }
}

static void test_a_lane_takes_the_sum(void **state)
{
    for (unsigned chained = 0; chained < 2; chained++) {
        struct task_case t;
        task_case_begin(&t, 1);
        task_case_rank(&t);
        for (unsigned i = 1; i <= 10; i++) {
            const uint32_t node = task_case_node(&t, TASK_COMPUTE, i);
            if (chained && i > 1)
                task_case_wait(&t, node - 1);
        }
        const struct task_played *played = task_case_play(&t);
        expect_near(played->step_s, 55.0, 0.0);
        expect_near(played->parts_s[0][TASK_PART_COMPUTE], 55.0, 0.0);
        expect_tiled(&t, played);
        task_case_end(&t);
    }
}

static void test_lanes_run_beside_each_other(void **state)
{
    struct task_case t;
    task_case_begin(&t, 1);
    task_case_rank(&t);
    const uint32_t launch = task_case_node(&t, TASK_HOST, 2.0);
    task_case_node(&t, TASK_COMPUTE, 5.0);
    task_case_wait(&t, launch);
    task_case_node(&t, TASK_HOST, 9.0);
    task_case_wait(&t, launch);
    task_case_node(&t, TASK_MEMORY, 6.0);
    task_case_wait(&t, launch);
    const struct task_played *played = task_case_play(&t);
    expect_near(played->step_s, 11.0, 0.0);
    expect_near(played->parts_s[0][TASK_PART_HOST], 2.0 + 3.0, 0.0);
    expect_near(played->parts_s[0][TASK_PART_COMPUTE], 5.0, 0.0);
    expect_near(played->parts_s[0][TASK_PART_MEMORY], 1.0, 0.0); /* what compute does not hide */
    expect_tiled(&t, played);
    task_case_end(&t);
}

/* A free lane takes the lowest row of those that are ready, not the first that became so. */
static void test_the_lowest_row_goes_first(void **state)
{
    struct task_case t;
    task_case_begin(&t, 1);
    task_case_rank(&t);
    const uint32_t host = task_case_node(&t, TASK_HOST, 1.0);
    const uint32_t late = task_case_node(&t, TASK_COMPUTE, 4.0);
    task_case_wait(&t, host);
    const uint32_t first = task_case_node(&t, TASK_COMPUTE, 2.0);
    const uint32_t last = task_case_node(&t, TASK_COMPUTE, 8.0);
    const struct task_played *played = task_case_play(&t);
    expect_near(played->times[first].begin_s, 0.0, 0.0);
    expect_near(played->times[late].begin_s, 2.0, 0.0);
    expect_near(played->times[last].begin_s, 6.0, 0.0);
    task_case_end(&t);
}

/* Group, operation and bytes make a plan; what differs in one of them has its own. */
static void test_like_meetings_share_a_plan(void **state)
{
    struct task_case t;
    struct topology topology;
    struct task_wires wires;
    struct error error;
    static const uint32_t ranks[] = {0, 1, 2, 3};
    static const double bytes[] = {1e6, 2e6, 1e6, 2e6, 1e6};
    task_case_begin(&t, 4);
    const uint32_t group = task_case_group(&t, ranks, 4, false);
    for (unsigned i = 0; i < 5; i++)
        task_case_meeting(&t, group, COMM_ALL_REDUCE, bytes[i]);
    task_case_meeting(&t, group, COMM_ALL_GATHER, 1e6);
    for (unsigned r = 0; r < 4; r++) {
        task_case_rank(&t);
        for (uint32_t i = 0; i < 6; i++)
            task_case_attend(&t, i);
    }
    assert_true(topology_build(t.arena, &t.c.cluster, &topology, &error));
    task_wires_build(t.arena, &t.graph, &t.c, &topology, &wires);
    assert_int_equal(wires.plan_count, 3);
    assert_int_equal(wires.plan_of[2], wires.plan_of[0]);
    assert_int_equal(wires.plan_of[3], wires.plan_of[1]);
    task_case_end(&t);
}

static void test_collectives_take_what_collective_run_says(void **state)
{
    static const enum comm_op ops[] = {COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_REDUCE_SCATTER,
                                       COMM_BROADCAST,  COMM_ALL_TO_ALL, COMM_SEND};
    static const double sizes[] = {8.0, 65536.0, 256.0 * 1024.0 * 1024.0};
    unsigned played_count = 0;
    for (unsigned node = 0; node < law_kind_count(TOPOLOGY_NODE); node++) {
        for (unsigned f = 0; f < law_kind_count(TOPOLOGY_FABRIC) * LAW_VARIANT_COUNT; f++) {
            for (unsigned i = 0; i < 18; i++) {
                struct task_case t;
                const enum comm_op op = ops[i % 6];
                const bool pair = op == COMM_SEND;
                const uint32_t count = pair ? 2 : 8;
                task_case_begin(&t, count);
                if (law_cluster(&t.c.cluster, law_kind(TOPOLOGY_NODE, node),
                                law_kind(TOPOLOGY_FABRIC, f / LAW_VARIANT_COUNT), pair ? 2 : 4,
                                pair ? 1 : 2, (enum law_variant)(f % LAW_VARIANT_COUNT))) {
                    const uint32_t ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};
                    const uint32_t group = task_case_group(&t, ranks, count, pair);
                    const uint32_t meeting = task_case_meeting(&t, group, op, sizes[i / 6]);
                    for (uint32_t r = 0; r < count; r++) {
                        task_case_rank(&t);
                        task_case_attend(&t, meeting);
                    }
                    struct collective_result alone;
                    struct error error;
                    assert_true(collective_run(&t.c, op, count, sizes[i / 6], &alone, &error));
                    const struct task_played *played = task_case_play(&t);
                    expect_near(played->step_s, alone.time_s, 1e-9 * alone.time_s);
                    expect_near(played->parts_s[0][TASK_PART_COMMUNICATION], alone.time_s,
                                1e-9 * alone.time_s);
                    expect_near(played->communicating_s[count - 1], alone.time_s,
                                1e-9 * alone.time_s);
                    expect_near(played->groups[group].moving_s, alone.time_s, 1e-9 * alone.time_s);
                    assert_true(alone.time_s > 0.0);
                    played_count++;
                }
                task_case_end(&t);
            }
        }
    }
    assert_true(played_count > 200);
}

/* Ranks that go round the nodes: the same GPUs, whatever their order. */
static void test_scattered_ranks_are_the_same_group(void **state)
{
    struct task_case t;
    const uint32_t ranks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct collective_result alone;
    struct error error;
    task_case_begin(&t, 16);
    assert_true(collective_run(&t.c, COMM_ALL_REDUCE, 16, 1e8, &alone, &error));
    t.c.layout.placement = PLACEMENT_SCATTERED;
    const uint32_t group = task_case_group(&t, ranks, 16, false);
    const uint32_t meeting = task_case_meeting(&t, group, COMM_ALL_REDUCE, 1e8);
    for (unsigned r = 0; r < 16; r++) {
        task_case_rank(&t);
        task_case_attend(&t, meeting);
    }
    expect_near(task_case_play(&t)->step_s, alone.time_s, 1e-9 * alone.time_s);
    task_case_end(&t);
}

/* Two messages between the same nodes at once, over one NIC: each takes twice as long on the wire;
 * of one pair they go one after the other; the last rank's coming starts a meeting. */
static void test_messages_share_links_and_wait(void **state)
{
    const double bytes = 1e9;
    double took_s[3];
    for (unsigned which = 0; which < 3; which++) {
        struct task_case t;
        task_case_begin(&t, 4);
        t.c.cluster.nodes = 2;
        t.c.cluster.node.gpus = 2;
        t.c.cluster.node.nic.count = 1;
        const uint32_t far[] = {0, 2}, other[] = {1, 3};
        const uint32_t a =
            task_case_meeting(&t, task_case_group(&t, far, 2, true), COMM_SEND, bytes);
        const uint32_t b =
            which == 0 ? a
            : which == 1
                ? task_case_meeting(&t, task_case_group(&t, other, 2, true), COMM_SEND, bytes)
                : task_case_meeting(&t, t.graph.meetings[a].group, COMM_SEND, bytes);
        for (uint32_t r = 0; r < 4; r++) {
            task_case_rank(&t);
            const uint32_t work = task_case_node(&t, TASK_COMPUTE, r == 0 ? 3.0 : 1.0);
            if (r % 2 == 0) {
                task_case_attend(&t, a);
                task_case_wait(&t, work);
            }
            if (b != a && r % 2 == (which == 1)) {
                task_case_attend(&t, b);
                task_case_wait(&t, work);
            }
        }
        const struct task_played *played = task_case_play(&t);
        took_s[which] = played->step_s - 3.0;
        expect_tiled(&t, played);
        if (which == 0) {
            expect_near(played->parts_s[2][TASK_PART_WAIT], 2.0, 1e-12);
            expect_near(played->parts_s[1][TASK_PART_DONE], 2.0 + took_s[0], 1e-12);
        }
        task_case_end(&t);
    }
    expect_near(took_s[2], 2.0 * took_s[0], 1e-9);
    assert_true(took_s[1] <= took_s[0] * (1.0 + 1e-9)); /* the other began two seconds before */
}

static void test_two_pairs_over_one_nic_halve_it(void **state)
{
    double took_s[2];
    for (uint32_t both = 0; both < 2; both++) {
        struct task_case t;
        task_case_begin(&t, 4);
        t.c.cluster.nodes = 2;
        t.c.cluster.node.gpus = 2;
        t.c.cluster.node.nic.count = 1;
        const uint32_t a[] = {0, 2}, b[] = {1, 3};
        const uint32_t groups[] = {task_case_group(&t, a, 2, true),
                                   task_case_group(&t, b, 2, true)};
        for (uint32_t i = 0; i <= both; i++)
            task_case_meeting(&t, groups[i], COMM_SEND, 1e10);
        for (uint32_t r = 0; r < 4; r++) {
            task_case_rank(&t);
            if (r % 2 <= both)
                task_case_attend(&t, r % 2);
        }
        const struct task_played *played = task_case_play(&t);
        took_s[both] = played->step_s;
        expect_near(played->groups[0].bytes, 1e10, 0.0);
        task_case_end(&t);
    }
    assert_true(took_s[1] > 1.9 * took_s[0] && took_s[1] < 2.1 * took_s[0]);
}

static void test_slow_cards_compute_slower(void **state)
{
    struct task_case t;
    struct perturbation slow = {.what = PERTURB_GPU_SPEED, .gpu = 1, .ratio = 0.5};
    task_case_begin(&t, 2);
    t.c.perturbations = &slow;
    t.c.perturbation_count = 1;
    for (unsigned r = 0; r < 2; r++) {
        task_case_rank(&t);
        task_case_node(&t, TASK_COMPUTE, 4.0);
        task_case_node(&t, TASK_HOST, 4.0);
    }
    const struct task_played *played = task_case_play(&t);
    expect_near(played->times[0].finish_s, 4.0, 0.0);
    expect_near(played->times[2].finish_s, 8.0, 0.0);
    expect_near(played->times[3].finish_s, 4.0, 0.0);
    task_case_end(&t);
}

/* One rank calls A then B, the other B then A: their rows are the order that a communicator keeps.
 */
static void test_who_waits_for_ever_is_named(void **state)
{
    struct task_case t;
    task_case_begin(&t, 2);
    const uint32_t ranks[] = {0, 1};
    const uint32_t a =
        task_case_meeting(&t, task_case_group(&t, ranks, 2, false), COMM_ALL_REDUCE, 8.0);
    const uint32_t b =
        task_case_meeting(&t, task_case_group(&t, ranks, 2, false), COMM_ALL_REDUCE, 8.0);
    task_case_rank(&t);
    task_case_attend(&t, a);
    task_case_attend(&t, b);
    task_case_wait(&t, 0);
    task_case_rank(&t);
    task_case_attend(&t, b);
    task_case_attend(&t, a);
    task_case_wait(&t, 2);
    const char *why = task_case_refused(&t);
    assert_non_null(strstr(why, "wait for each other"));
    assert_non_null(strstr(why, "rank 0 node 10"));
    assert_non_null(strstr(why, "rank 1 node 10"));
    task_case_end(&t);

    task_case_begin(&t, 1);
    task_case_rank(&t);
    task_case_node(&t, TASK_COMPUTE, 1.0);
    task_case_wait(&t, 1);
    task_case_node(&t, TASK_COMPUTE, 1.0);
    task_case_wait(&t, 0);
    assert_non_null(strstr(task_case_refused(&t), "rank 0 node 100 (node), for rank 0 node 101"));
    task_case_end(&t);
}

static void test_more_ranks_than_cards_are_refused(void **state)
{
    struct task_case t;
    task_case_begin(&t, 2);
    for (unsigned r = 0; r < 3; r++) {
        task_case_rank(&t);
        task_case_node(&t, TASK_COMPUTE, 1.0);
    }
    assert_non_null(strstr(task_case_refused(&t), "3 ranks, the cluster 2 GPUs"));
    task_case_end(&t);
}

/* The naive player: looks at every node again and again until nothing starts, then goes on to the
 * next end. Meetings have no bytes. */
struct naive {
    const struct task_graph *g;
    double begin_s[TASK_CASE_MAX], finish_s[TASK_CASE_MAX]; /* INFINITY: not yet */
    double now_s;
};

static bool naive_ready(const struct naive *v, uint32_t n)
{
    for (uint32_t w = 0; w < v->g->nodes[n].wait_count; w++)
        if (v->finish_s[v->g->waits[v->g->nodes[n].wait_first + w]] > v->now_s)
            return false;
    return true;
}

static bool naive_meets(const struct naive *v, uint32_t meeting)
{
    for (uint32_t n = 0; n < v->g->node_count; n++) {
        const uint32_t other = v->g->nodes[n].meeting;
        if (other == meeting && !naive_ready(v, n))
            return false;
        if (other != TASK_NONE && other < meeting && v->finish_s[n] > v->now_s &&
            v->g->meetings[other].group == v->g->meetings[meeting].group)
            return false;
    }
    return true;
}

static bool naive_lane_free(const struct naive *v, uint32_t rank, uint32_t node)
{
    for (uint32_t n = v->g->rank_first[rank]; n < v->g->rank_first[rank + 1]; n++)
        if (v->g->nodes[n].lane == v->g->nodes[node].lane && v->begin_s[n] <= v->now_s &&
            v->finish_s[n] > v->now_s)
            return false;
    return true;
}

static bool naive_starts(const struct naive *v, uint32_t rank, uint32_t n)
{
    const struct task_node *node = &v->g->nodes[n];
    if (v->begin_s[n] < INFINITY || !naive_ready(v, n))
        return false;
    if (node->meeting != TASK_NONE)
        return naive_meets(v, node->meeting);
    return node->lane == TASK_NO_LANE || naive_lane_free(v, rank, n);
}

/* In an instant all that is free takes what is ready at once, each lane its lowest row; but what
 * takes no lane goes before. Then again, for what has ended meanwhile. */
static bool naive_round(struct naive *v, bool free_ones)
{
    static uint32_t picked[TASK_CASE_MAX];
    uint32_t count = 0;
    for (uint32_t r = 0; r < v->g->rank_count; r++) {
        bool taken[TASK_LANES + 1] = {false};
        for (uint32_t n = v->g->rank_first[r]; n < v->g->rank_first[r + 1]; n++) {
            const struct task_node *node = &v->g->nodes[n];
            const bool is_free = node->lane == TASK_NO_LANE && node->meeting == TASK_NONE;
            if (is_free != free_ones || taken[node->lane] || !naive_starts(v, r, n))
                continue;
            taken[node->lane] = node->lane != TASK_NO_LANE;
            picked[count++] = n;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct task_node *node = &v->g->nodes[picked[i]];
        v->begin_s[picked[i]] = v->now_s;
        v->finish_s[picked[i]] = v->now_s + (node->lane == TASK_NO_LANE ? 0.0 : node->work_s);
    }
    return count > 0;
}

static void naive_play(struct naive *v)
{
    for (uint32_t n = 0; n < v->g->node_count; n++)
        v->begin_s[n] = v->finish_s[n] = INFINITY;
    v->now_s = 0.0;
    while (v->now_s < INFINITY) {
        while (naive_round(v, true) || naive_round(v, false))
            continue;
        double next_s = INFINITY;
        for (uint32_t n = 0; n < v->g->node_count; n++)
            if (v->finish_s[n] > v->now_s && v->finish_s[n] < next_s)
                next_s = v->finish_s[n];
        v->now_s = next_s;
    }
}

/* What a rank does in the second from at_s on; times are whole and meetings take none. */
static enum task_part naive_part(const struct naive *v, uint32_t rank, double at_s)
{
    bool busy[TASK_LANES] = {false}, waits = false;
    for (uint32_t n = v->g->rank_first[rank]; n < v->g->rank_first[rank + 1]; n++) {
        const struct task_node *node = &v->g->nodes[n];
        double ready_s = 0.0;
        for (uint32_t w = 0; w < node->wait_count; w++)
            ready_s = fmax(ready_s, v->finish_s[v->g->waits[node->wait_first + w]]);
        if (node->meeting != TASK_NONE)
            waits = waits || (ready_s <= at_s && v->begin_s[n] > at_s);
        else if (node->lane != TASK_NO_LANE && v->begin_s[n] <= at_s && v->finish_s[n] > at_s)
            busy[node->lane] = true;
    }
    return busy[TASK_COMPUTE]  ? TASK_PART_COMPUTE
           : busy[TASK_MEMORY] ? TASK_PART_MEMORY
           : busy[TASK_HOST]   ? TASK_PART_HOST
           : waits             ? TASK_PART_WAIT
                               : TASK_PART_DONE;
}

static void expect_naive_parts(const struct naive *v, const struct task_played *played)
{
    for (uint32_t rank = 0; rank < v->g->rank_count; rank++) {
        double parts_s[TASK_PART_COUNT] = {0.0};
        for (double at_s = 0.0; at_s < played->step_s; at_s += 1.0)
            parts_s[naive_part(v, rank, at_s)] += 1.0;
        for (unsigned part = 0; part < TASK_PART_COUNT; part++)
            expect_near(played->parts_s[rank][part], parts_s[part], 0.0);
    }
}

static void test_a_naive_player_agrees(void **state)
{
    static struct naive v;
    uint64_t nodes = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct task_case t;
        task_case_begin(&t, 8);
        task_case_random(&t, seed);
        const struct task_played *played = task_case_play(&t);
        v.g = &t.graph;
        naive_play(&v);
        for (uint32_t n = 0; n < t.graph.node_count; n++)
            if (played->times[n].begin_s != v.begin_s[n] ||
                played->times[n].finish_s != v.finish_s[n])
                fail_msg("seed %u node %u: %g to %g, naive %g to %g", (unsigned)seed, n,
                         played->times[n].begin_s, played->times[n].finish_s, v.begin_s[n],
                         v.finish_s[n]);
        expect_tiled(&t, played);
        expect_naive_parts(&v, played);
        nodes += t.graph.node_count;
        task_case_end(&t);
    }
    assert_true(nodes > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lane_takes_the_sum),
        cmocka_unit_test(test_lanes_run_beside_each_other),
        cmocka_unit_test(test_the_lowest_row_goes_first),
        cmocka_unit_test(test_like_meetings_share_a_plan),
        cmocka_unit_test(test_collectives_take_what_collective_run_says),
        cmocka_unit_test(test_scattered_ranks_are_the_same_group),
        cmocka_unit_test(test_messages_share_links_and_wait),
        cmocka_unit_test(test_two_pairs_over_one_nic_halve_it),
        cmocka_unit_test(test_slow_cards_compute_slower),
        cmocka_unit_test(test_who_waits_for_ever_is_named),
        cmocka_unit_test(test_more_ranks_than_cards_are_refused),
        cmocka_unit_test(test_a_naive_player_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
