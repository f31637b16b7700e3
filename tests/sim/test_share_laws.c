/* Laws of share: halving, conservation, symmetry and scaling bit for bit, locality, and that
 * solving from nothing in the middle of a life gives what the region gave. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/random.h"
#include "sim/share.h"
#include "sim/share_parts.h"
#include "tests/test.h"

static uint32_t start_on(struct share *share, double now_s, double work, uint32_t first,
                         uint32_t second, double weight)
{
    struct share_use uses[] = {{first, share_weight(weight)}, {second, share_weight(weight)}};
    return share_start(share, now_s, (struct share_demand){work, INFINITY, 1.0}, uses,
                       first == second ? 1 : 2);
}

static void test_two_on_one_link_halve(void **state)
{
    struct arena *arena = arena_create();
    const double capacity = 100.0;
    const uint32_t *changed;
    struct share *share = share_create(arena, 1, &capacity);
    uint32_t a = start_on(share, 0.0, 300.0, 0, 0, 1.0);
    assert_int_equal(share_solve(share, 0.0, &changed), 1);
    assert_true(share_rate(share, a) == 100.0 && share_finish_s(share, a) == 3.0);
    uint32_t b = start_on(share, 1.0, 50.0, 0, 0, 1.0);
    assert_int_equal(share_solve(share, 1.0, &changed), 2);
    assert_true(share_rate(share, a) == 50.0 && share_rate(share, b) == 50.0);
    assert_true(share_finish_s(share, a) == 5.0 && share_finish_s(share, b) == 2.0);
    share_finish(share, 2.0, b);
    assert_int_equal(share_solve(share, 2.0, &changed), 1);
    assert_true(changed[0] == a && share_finish_s(share, a) == 3.5);
    share_finish(share, 3.5, a);
    assert_true(share_moved(share, 0, 3.5) == 350.0);
    assert_true(share_busy_s(share, 0, 10.0) == 3.5);
    arena_destroy(arena);
}

static void test_cap_weight_and_fairness(void **state)
{
    struct arena *arena = arena_create();
    const double capacity[] = {100.0, 1000.0};
    const uint32_t *changed;
    struct share *share = share_create(arena, 2, capacity);
    struct share_use uses[] = {{0, 1.0}, {0, 1.0}, {1, 1.0}}; /* twice on link 0: weight 2 there */
    uint32_t capped = share_start(share, 0.0, (struct share_demand){1.0, 10.0, 1.0}, uses, 1);
    uint32_t heavy = share_start(share, 0.0, (struct share_demand){1.0, INFINITY, 1.0}, uses, 3);
    uint32_t favoured = share_start(share, 0.0, (struct share_demand){1.0, INFINITY, 3.0}, uses, 1);
    uint32_t unlinked = share_start(share, 0.0, (struct share_demand){1.0, 7.0, 1.0}, NULL, 0);
    share_solve(share, 0.0, &changed);
    /* 10 + 2 x + 3 x = 100 */
    assert_true(share_rate(share, capped) == 10.0 && share_rate(share, unlinked) == 7.0);
    assert_true(share_rate(share, heavy) == 18.0 && share_rate(share, favoured) == 54.0);
    arena_destroy(arena);
}

static void test_finish_before_the_first_solve(void **state)
{
    struct arena *arena = arena_create();
    const double capacity = 10.0;
    const uint32_t *changed;
    struct share *share = share_create(arena, 1, &capacity);
    uint32_t a = start_on(share, 0.0, 1.0, 0, 0, 1.0);
    uint32_t b = start_on(share, 0.0, 1.0, 0, 0, 1.0);
    share_finish(share, 0.0, a);
    assert_int_equal(share_solve(share, 0.0, &changed), 1);
    assert_true(changed[0] == b && share_rate(share, b) == 10.0);
    assert_int_equal(share_solve(share, 0.0, &changed), 0);
    arena_destroy(arena);
}

enum {
    LINKS = 16,
    FLOWS = 24
};

/* A closed network: FLOWS flows at a time, `copies` alike activities of weight 1 for each flow, or
 * one activity of weight `copies`; or other factors on capacities and works. Records finish times.
 */
struct network {
    struct share *share;
    struct arena *arena;
    uint64_t seed, draws;
    uint32_t copies, total;
    bool summed;
    double capacity_factor, time_factor;
    uint32_t ids[FLOWS][8];
    double work_of[FLOWS], weighted_work, now_s;
};

static uint64_t draw(struct network *n, uint64_t below)
{
    return random_hash(n->seed, n->draws++) % below;
}

static void network_start(struct network *n, uint32_t flow)
{
    uint32_t first = (uint32_t)draw(n, LINKS), second = (uint32_t)draw(n, LINKS);
    double weight = share_weight(0.1 + (double)draw(n, 1000) * 1e-3);
    double work = (1.0 + (double)draw(n, 1000) * 1e-3) * n->time_factor;
    uint32_t parts = n->summed ? 1 : n->copies;
    for (uint32_t i = 0; i < parts; i++)
        n->ids[flow][i] = start_on(n->share, n->now_s, work, first, second,
                                   n->summed ? n->copies * weight : weight);
    n->weighted_work += (first == second ? 1.0 : 2.0) * work * weight * n->copies;
}

static struct network network_create(uint64_t seed, uint32_t copies, bool summed,
                                     double capacity_factor, double time_factor)
{
    struct network n = {.seed = seed,
                        .copies = copies,
                        .summed = summed,
                        .capacity_factor = capacity_factor,
                        .time_factor = time_factor,
                        .arena = arena_create()};
    double capacity[LINKS];
    for (uint32_t l = 0; l < LINKS; l++)
        capacity[l] = (1.0 + (double)draw(&n, 1000) * 1e-3) * capacity_factor;
    n.share = share_create(n.arena, LINKS, capacity);
    for (uint32_t flow = 0; flow < FLOWS; flow++)
        network_start(&n, flow);
    return n;
}

/* Ends the flow that finishes first and, while `starting`, starts another. Its finish time. */
static double network_step(struct network *n, bool starting, bool *running)
{
    const uint32_t *changed;
    share_solve(n->share, n->now_s, &changed);
    uint32_t next = FLOWS;
    double next_s = INFINITY;
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        if (running[flow] && share_finish_s(n->share, n->ids[flow][0]) < next_s) {
            next = flow;
            next_s = share_finish_s(n->share, n->ids[flow][0]);
        }
    }
    assert_true(next < FLOWS);
    n->now_s = next_s;
    for (uint32_t i = 0; i < (n->summed ? 1 : n->copies); i++) {
        assert_true(share_finish_s(n->share, n->ids[next][i]) == next_s);
        share_finish(n->share, next_s, n->ids[next][i]);
    }
    running[next] = starting;
    if (starting)
        network_start(n, next);
    return next_s;
}

enum {
    STEPS = 200
};

static void network_play(struct network *n, double *finish_s)
{
    bool running[FLOWS];
    memset(running, true, sizeof running);
    for (uint32_t step = 0; step < STEPS + FLOWS; step++)
        finish_s[step] = network_step(n, step < STEPS, running);
}

static void play(uint64_t seed, uint32_t copies, bool summed, double capacity_factor,
                 double time_factor, double *finish_s)
{
    struct network n = network_create(seed, copies, summed, capacity_factor, time_factor);
    network_play(&n, finish_s);
    arena_destroy(n.arena);
}

static void test_alike_activities_equal_their_sum(void **state)
{
    double apart[STEPS + FLOWS], together[STEPS + FLOWS];
    for (uint64_t seed = 0; seed < 10; seed++) {
        uint32_t copies = 2 + (uint32_t)(seed % 7);
        play(seed, copies, false, 1.0, 1.0, apart);
        play(seed, copies, true, 1.0, 1.0, together);
        assert_memory_equal(apart, together, sizeof apart);
        play(seed, copies + 1, true, 1.0, 1.0, together); /* the planted fault: one copy too many */
        assert_memory_not_equal(apart, together, sizeof apart);
    }
}

static void test_scaling_by_powers_of_two_is_exact(void **state)
{
    double base[STEPS + FLOWS], scaled[STEPS + FLOWS];
    play(3, 1, true, 1.0, 1.0, base);
    play(3, 1, true, 4.0, 1.0, scaled);
    for (uint32_t i = 0; i < STEPS + FLOWS; i++)
        assert_true(base[i] == 4.0 * scaled[i]);
    play(3, 1, true, 1.0, 8.0, scaled);
    for (uint32_t i = 0; i < STEPS + FLOWS; i++)
        assert_true(8.0 * base[i] == scaled[i]);
}

static void test_double_capacity_is_never_slower_for_one_flow(void **state)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct arena *arena = arena_create();
        double capacity[2] = {1.0 + (double)(random_hash(seed, 0) % 100),
                              1.0 + (double)(random_hash(seed, 1) % 100)};
        const uint32_t *changed;
        double finish_s[3];
        for (uint32_t doubled = 0; doubled < 3; doubled++) {
            double larger[2] = {capacity[0] * (doubled == 1 ? 2.0 : 1.0),
                                capacity[1] * (doubled == 2 ? 2.0 : 1.0)};
            struct share *share = share_create(arena, 2, larger);
            uint32_t a = start_on(share, 0.0, 1000.0, 0, 1, 1.0);
            share_solve(share, 0.0, &changed);
            finish_s[doubled] = share_finish_s(share, a);
        }
        assert_true(finish_s[1] <= finish_s[0] && finish_s[2] <= finish_s[0]);
        if (capacity[0] != capacity[1])
            assert_true(fmin(finish_s[1], finish_s[2]) < finish_s[0]);
        arena_destroy(arena);
    }
}

static void test_what_was_asked_was_moved(void **state)
{
    double finish_s[STEPS + FLOWS];
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct network n = network_create(seed, 3, seed % 2 == 0, 1.0, 1.0);
        network_play(&n, finish_s);
        double moved = 0.0;
        for (uint32_t l = 0; l < LINKS; l++) {
            moved += share_moved(n.share, l, n.now_s);
            assert_true(share_busy_s(n.share, l, n.now_s) <= n.now_s * (1.0 + 1e-12));
        }
        assert_true(fabs(moved / n.weighted_work - 1.0) < 1e-12);
        arena_destroy(n.arena);
    }
}

/* Solving everything again, after the region or instead of it, changes nothing. */
static void test_solving_all_again_changes_nothing(void **state)
{
    bool running[FLOWS];
    memset(running, true, sizeof running);
    struct network region = network_create(5, 2, false, 1.0, 1.0);
    struct network all = network_create(5, 2, false, 1.0, 1.0);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (step % 3 == 0)
            share_solve_region(all.share);
        if (step % 2 == 0)
            share_solve_all(all.share);
        assert_true(network_step(&all, true, running) == network_step(&region, true, running));
    }
    arena_destroy(region.arena);
    arena_destroy(all.arena);
}

/* Blocks of edges and users that were given back are taken again, all of them. */
static void test_ended_activities_leave_no_memory_behind(void **state)
{
    const uint32_t together = 64, rounds = 1000;
    const double capacity[] = {10.0, 10.0};
    const uint32_t *changed;
    uint32_t ids[64];
    size_t bytes = 0;
    struct arena *arena = arena_create();
    struct share *share = share_create(arena, 2, capacity);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < together; i++)
            ids[i] = start_on(share, 0.0, 100.0, 0, 1, 1.0);
        share_solve(share, 0.0, &changed);
        for (uint32_t i = 0; i < together; i++)
            share_finish(share, 0.0, ids[i]);
        share_solve(share, 0.0, &changed);
        bytes = round == 0 ? arena_bytes(arena) : bytes;
    }
    assert_int_equal(arena_bytes(arena), bytes);
    arena_destroy(arena);
}

/* A change is not looked at where it cannot be felt: in another component, or beyond a link that
 * does not bind. */
static void test_the_region_is_local(void **state)
{
    struct arena *arena = arena_create();
    const double capacity[] = {10.0, 10.0, 10.0, 1000.0};
    const uint32_t *changed;
    struct share *share = share_create(arena, 4, capacity);
    for (uint32_t i = 0; i < 3; i++) { /* links 0, 1, 2 bind; link 3, which all use, does not */
        start_on(share, 0.0, 100.0, i, 3, 1.0);
        start_on(share, 0.0, 100.0, i, 3, 1.0);
    }
    assert_int_equal(share_solve(share, 0.0, &changed), 6);
    uint32_t added = start_on(share, 1.0, 100.0, 0, 3, 1.0);
    assert_int_equal(share_solve(share, 1.0, &changed), 3);
    assert_true(share->links[0].region == share->region.number);
    assert_true(share->links[1].region != share->region.number);
    assert_true(share->links[2].region != share->region.number);
    share_finish(share, 2.0, added);
    assert_int_equal(share_solve(share, 2.0, &changed), 2);
    assert_true(share->links[1].region != share->region.number);
    arena_destroy(arena);
}

/* Whoever got another rate is listed, in the order of the numbers, however many they are and in
 * whatever order they began: numbers that were given back are handed out again from the last. */
static void test_all_changed_in_order(void **state)
{
    static const uint32_t counts[] = {1, 2, 31, 32, 33, 255, 256, 257, 300, 70000};
    static const struct share_use none = {0, 1.0};
    for (unsigned k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        struct arena *arena = arena_create();
        const double capacity[] = {10.0};
        const uint32_t *changed, count = counts[k];
        struct share *share = share_create(arena, 1, capacity);
        for (unsigned round = 0; round < 2; round++) {
            for (uint32_t i = 0; i < count; i++)
                assert_true(share_start(share, round, (struct share_demand){8.0, 2.0, 1.0}, &none,
                                        0) < count);
            assert_int_equal(share_solve(share, round, &changed), count);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(changed[i], i);
                assert_true(share_rate(share, i) == 2.0);
                assert_true(share_finish_s(share, i) == round + 4.0);
            }
            for (uint32_t i = 0; i < count; i++)
                share_finish(share, round + 0.5, i);
            assert_int_equal(share_solve(share, round + 0.5, &changed), 0);
        }
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_on_one_link_halve),
        cmocka_unit_test(test_cap_weight_and_fairness),
        cmocka_unit_test(test_finish_before_the_first_solve),
        cmocka_unit_test(test_alike_activities_equal_their_sum),
        cmocka_unit_test(test_scaling_by_powers_of_two_is_exact),
        cmocka_unit_test(test_double_capacity_is_never_slower_for_one_flow),
        cmocka_unit_test(test_what_was_asked_was_moved),
        cmocka_unit_test(test_solving_all_again_changes_nothing),
        cmocka_unit_test(test_ended_activities_leave_no_memory_behind),
        cmocka_unit_test(test_the_region_is_local),
        cmocka_unit_test(test_all_changed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
