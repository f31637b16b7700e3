/* The network alone: posts by hand, finishes against timelines worked out on paper. All figures are
 * sums of powers of two, so that they are exact. */
#include <math.h>
#include <string.h>

#include "models/step/simulate/event.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    DONE_MAX = 64
};
struct done {
    uint32_t rank_class, op;
    double begin_s, finish_s;
    uint32_t last; /* row of parties */
};
struct activity {
    uint32_t rank_class;
    enum stream stream;
    bool active;
    double at_s;
};
struct bench {
    struct world world;
    struct network *network;
    struct done done[DONE_MAX];
    struct activity changes[DONE_MAX];
    uint32_t done_count, change_count;
};

static void on_done(void *context, const struct attendance *activity)
{
    struct bench *b = context;
    for (uint32_t i = 0; i < activity->count; i++) {
        const struct attendee *who = &activity->attendees[i];
        b->done[b->done_count++] = (struct done){who->rank_class, who->op, activity->begin_s,
                                                 activity->finish_s, activity->last};
    }
}

static void on_active(void *context, uint32_t rank_class, enum stream stream, bool active)
{
    struct bench *b = context;
    b->changes[b->change_count++] =
        (struct activity){rank_class, stream, active, sim_now_s(b->world.sim)};
}

/* Ranks 0 .. count-1, in pairs (0,1), (2,3), ... that are groups of kind DP. */
static void bench_begin(struct bench *b, uint32_t pairs)
{
    memset(b, 0, sizeof *b);
    world_begin(&b->world);
    for (uint32_t g = 0; g < pairs; g++) {
        const uint32_t ranks[] = {world_rank(&b->world, 0, 1.0), world_rank(&b->world, 0, 1.0)};
        world_group(&b->world, STREAM_DP, 1, ranks, 2);
    }
}

static void bench_create(struct bench *b)
{
    b->network = network_create(b->world.sim, &b->world.symmetry, on_done, on_active, b);
}

static void post(struct bench *b, uint32_t rank, uint32_t transfer, double at_s)
{
    network_post(b->network, rank, STREAM_DP, transfer, 100 + rank, at_s);
}

static void post_group(struct bench *b, uint32_t group, double at_s)
{
    post(b, 2 * group, 0, at_s);
    post(b, 2 * group + 1, 0, at_s);
}

static double finish_of(const struct bench *b, uint32_t rank)
{
    for (uint32_t i = 0; i < b->done_count; i++)
        if (b->done[i].rank_class == rank)
            return b->done[i].finish_s;
    return NAN;
}

static void certain_is_told_at_once(void **state)
{
    struct bench b;
    bench_begin(&b, 1);
    world_plan(&b.world, 0, 0, 8.0, 0.5, 4.0, 1.0, NULL, 0);
    bench_create(&b);
    post(&b, 0, 0, 1.0);
    assert_int_equal(b.done_count, 0);
    post(&b, 1, 0, 3.0); /* nobody goes on before the slowest */
    assert_int_equal(b.done_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(b.done[i].rank_class, i);
        assert_int_equal(b.done[i].op, 100 + i);
        assert_true(b.done[i].begin_s == 3.0);
        assert_true(b.done[i].finish_s == 3.0 + 8.0 / 4.0 + 0.5);
    }
    sim_run(b.world.sim);
    assert_int_equal(sim_event_count(b.world.sim), 0);
    assert_int_equal(network_activity_count(b.network), 1);
    world_end(&b.world);
}

/* Who came last, whatever the order of the posts: the latest; of two at once the slower card, then
 * the lower rank. */
static void the_last_is_named(void **state)
{
    const struct {
        double at_s[2], speed[2];
        uint32_t last;
    } cases[] = {{{1.0, 3.0}, {1.0, 1.0}, 1}, {{3.0, 1.0}, {1.0, 1.0}, 0},
                 {{3.0, 1.0}, {1.0, 0.5}, 0}, {{2.0, 2.0}, {1.0, 1.0}, 0},
                 {{2.0, 2.0}, {1.0, 0.5}, 1}, {{2.0, 2.0}, {0.5, 1.0}, 0}};
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        bench_begin(&b, 2);
        world_plan(&b.world, 0, 0, 0.0, 0.0, INFINITY, 1.0, NULL, 0);
        world_plan(&b.world, 1, 0, 0.0, 0.0, INFINITY, 1.0, NULL, 0);
        for (uint32_t k = 0; k < 2; k++)
            b.world.symmetry.ranks[2 + k].speed_ratio = cases[i / 2].speed[k];
        bench_create(&b);
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t rank = i % 2 == 0 ? k : 1 - k;
            post(&b, 2 + rank, 0, cases[i / 2].at_s[rank]);
        }
        const uint32_t first = b.world.symmetry.groups[1].party_first;
        assert_int_equal(b.done_count, 2);
        assert_int_equal(b.done[0].last, first + cases[i / 2].last);
        assert_int_equal(b.done[1].last, first + cases[i / 2].last);
        assert_true(b.done[0].begin_s == fmax(cases[i / 2].at_s[0], cases[i / 2].at_s[1]));
        world_end(&b.world);
    }
}

static void nothing_sent_takes_no_time(void **state)
{
    struct bench b;
    bench_begin(&b, 1);
    world_plan(&b.world, 0, 0, 0.0, 0.0, INFINITY, 1.0, NULL, 0);
    bench_create(&b);
    post_group(&b, 0, 2.0);
    assert_true(finish_of(&b, 0) == 2.0 && finish_of(&b, 1) == 2.0);
    world_end(&b.world);
}

/* 8 and 4 bytes with a ceiling of 1 B/s, on one link of 1 B/s: 12 and 8 s instead of 8 and 4. Alone
 * afterwards, the first has its ceiling: its transfers lose 4 s more, of 20 in all. */
static void contention_is_what_sharing_costs(void **state)
{
    struct bench b;
    bench_begin(&b, 2);
    const struct wire wire = {world_link(&b.world, 1.0), 1.0};
    world_plan(&b.world, 0, 0, 8.0, 0.25, 1.0, 1.0, &wire, 1);
    world_plan(&b.world, 0, 1, 2.0, 0.25, 1.0, 1.0, &wire, 1);
    world_plan(&b.world, 1, 0, 4.0, 0.25, 1.0, 1.0, &wire, 1);
    bench_create(&b);
    assert_true(network_contention(b.network).lost_s == 0.0);
    assert_true(network_contention(b.network).transfer_s == 0.0);
    post_group(&b, 0, 0.0);
    post_group(&b, 1, 0.0);
    sim_run(b.world.sim);
    assert_true(network_contention(b.network).lost_s == 4.0);
    assert_true(network_contention(b.network).transfer_s == (12.0 * 12.0 + 8.0 * 8.0) / 20.0);
    post(&b, 0, 1, 16.0);
    post(&b, 1, 1, 16.0);
    sim_run(b.world.sim);
    assert_true(network_contention(b.network).lost_s == 4.0); /* at its ceiling it loses nothing */
    post(&b, 0, 1, 32.0);
    post(&b, 1, 1, 32.0);
    post_group(&b, 1, 32.0);
    sim_run(b.world.sim);
    assert_true(network_contention(b.network).lost_s == 6.0); /* the first: 4 + 2 */
    world_end(&b.world);
}

/* 8 and 4 bytes on one link of 1 B/s: half each until the small one ends at 8, then all. */
static void two_on_a_link_halve(void **state)
{
    struct bench b;
    bench_begin(&b, 2);
    const struct wire wire = {world_link(&b.world, 1.0), 1.0};
    world_plan(&b.world, 0, 0, 8.0, 0.25, INFINITY, 1.0, &wire, 1);
    world_plan(&b.world, 1, 0, 4.0, 0.25, INFINITY, 1.0, &wire, 1);
    bench_create(&b);
    post_group(&b, 0, 0.0);
    post_group(&b, 1, 0.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 2) == 8.25);
    assert_true(finish_of(&b, 0) == 12.25);
    assert_int_equal(sim_event_count(b.world.sim), 4);
    assert_true(network_link_bytes(b.network, 0) == 12.0);
    assert_true(network_link_busy_s(b.network, 0) == 12.0);
    assert_true(network_moved_bytes(b.network) == 12.0);
    assert_true(network_posted_bytes(b.network) == 12.0);
    world_end(&b.world);
}

/* The second begins at 2 on a link of 1 B/s: the first has 6 of 8 left, both go at 1/2; the second
 * (2 bytes) ends at 6, the first has 4 left and ends at 10. */
static void a_late_start_slows_the_other(void **state)
{
    struct bench b;
    bench_begin(&b, 2);
    const struct wire wire = {world_link(&b.world, 1.0), 1.0};
    world_plan(&b.world, 0, 0, 8.0, 0.0, INFINITY, 1.0, &wire, 1);
    world_plan(&b.world, 1, 0, 2.0, 0.0, INFINITY, 1.0, &wire, 1);
    bench_create(&b);
    post_group(&b, 0, 0.0);
    post(&b, 2, 0, 0.5);
    post(&b, 3, 0, 2.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 2) == 6.0);
    assert_true(finish_of(&b, 0) == 10.0);
    world_end(&b.world);
}

/* Fair by bytes on the wire: two wire bytes for each payload byte against one on 8 B/s gives 4 B/s
 * of wire each, so payload rates 2 and 4. A ceiling of 1 leaves the rest to the other: 7. */
static void shares_are_fair_by_wire(void **state)
{
    struct bench b;
    bench_begin(&b, 2);
    const uint32_t link = world_link(&b.world, 8.0);
    const struct wire wire_of_link = {link, 1.0};
    world_plan(&b.world, 0, 0, 4.0, 0.0, INFINITY, 2.0, &wire_of_link, 1);
    world_plan(&b.world, 1, 0, 8.0, 0.0, INFINITY, 1.0, &wire_of_link, 1);
    bench_create(&b);
    post_group(&b, 0, 0.0);
    post_group(&b, 1, 0.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 0) == 2.0);
    assert_true(finish_of(&b, 2) == 2.0);
    assert_true(network_link_bytes(b.network, 0) == 16.0);
    world_end(&b.world);

    bench_begin(&b, 2);
    const struct wire wire = {world_link(&b.world, 8.0), 1.0};
    world_plan(&b.world, 0, 0, 4.0, 0.0, 1.0, 1.0, &wire, 1);
    world_plan(&b.world, 1, 0, 28.0, 0.0, INFINITY, 1.0, &wire, 1);
    bench_create(&b);
    post_group(&b, 0, 0.0);
    post_group(&b, 1, 0.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 0) == 4.0);
    assert_true(finish_of(&b, 2) == 4.0);
    world_end(&b.world);
}

/* A party may post its next activity as soon as it was told: the second meets after the first. */
static void activities_of_a_group_follow(void **state)
{
    struct bench b;
    bench_begin(&b, 1);
    const struct wire wire = {world_link(&b.world, 2.0), 1.0};
    world_plan(&b.world, 0, 0, 4.0, 1.0, INFINITY, 1.0, &wire, 1);
    world_plan(&b.world, 0, 1, 6.0, 0.0, INFINITY, 1.0, &wire, 1);
    bench_create(&b);
    post_group(&b, 0, 0.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 0) == 3.0);
    b.done_count = 0;
    post(&b, 0, 1, 3.0);
    post(&b, 1, 1, 5.0);
    sim_run(b.world.sim);
    assert_true(finish_of(&b, 0) == 8.0 && b.done[0].begin_s == 5.0);
    assert_true(network_link_busy_s(b.network, 0) == 2.0 + 3.0);
    assert_true(network_moved_bytes(b.network) == 10.0);
    world_end(&b.world);
}

/* Watched: on the GPU from the start to the end, latency included; only the watcher is told.
 * Without links to share it costs three events all the same: start, last byte, end. */
static void watched_is_told_on_and_off(void **state)
{
    struct bench b;
    bench_begin(&b, 1);
    world_plan(&b.world, 0, 0, 8.0, 0.5, 4.0, 1.0, NULL, 0);
    bench_create(&b);
    network_watch(b.network, 1, STREAM_DP);
    network_watch(b.network, 1, STREAM_TP); /* no such group: nothing to watch */
    post_group(&b, 0, 1.0);
    assert_int_equal(b.done_count, 0);
    sim_run(b.world.sim);
    assert_int_equal(sim_event_count(b.world.sim), 3);
    assert_int_equal(b.change_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(b.changes[i].rank_class, 1);
        assert_int_equal(b.changes[i].stream, STREAM_DP);
        assert_true(b.changes[i].active == (i == 0));
        assert_true(b.changes[i].at_s == (i == 0 ? 1.0 : 3.5));
    }
    assert_true(finish_of(&b, 0) == 3.5);
    world_end(&b.world);
}

/* Payload counts once for each real group; own links carry it without being shared. */
static void folded_groups_count(void **state)
{
    struct bench b;
    bench_begin(&b, 1);
    b.world.symmetry.groups[0].group_count = 16;
    const struct wire wire = {world_link(&b.world, 4.0), 2.0};
    world_plan(&b.world, 0, 0, 8.0, 0.0, 2.0, 1.0, &wire, 1);
    struct played_plan *plan = &b.world.symmetry.plans[0];
    plan->own_first = plan->use_first;
    plan->own_count = 1;
    plan->use_count = 0;
    bench_create(&b);
    post_group(&b, 0, 0.0);
    assert_true(network_moved_bytes(b.network) == 128.0);
    assert_true(network_link_bytes(b.network, 0) == 16.0);
    assert_true(network_link_busy_s(b.network, 0) == 4.0);
    world_end(&b.world);
}

/* Groups of a bundle that would each name another party as last: only where that decides. */
static void unnamed_ties_part(void **state)
{
    static const struct {
        double at_s[3];
        bool unnamed, parted;
    } cases[] = {
        {{1.0, 2.0, 3.0}, true, false},  {{1.0, 3.0, 3.0}, true, true},
        {{1.0, 3.0, 3.0}, false, false}, {{2.0, 2.0, 3.0}, true, false},
        {{3.0, 2.0, 3.0}, true, true},   {{3.0, 1.0, 1.0}, true, false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        bench_begin(&b, 0);
        uint32_t ranks[3];
        for (unsigned k = 0; k < 3; k++)
            ranks[k] = world_rank(&b.world, 0, 1.0);
        world_group(&b.world, STREAM_DP, 1, ranks, 3);
        world_plan(&b.world, 0, 0, 8.0, 0.5, 4.0, 1.0, NULL, 0);
        b.world.symmetry.groups[0].unnamed = cases[i].unnamed;
        bench_create(&b);
        for (uint32_t k = 0; k < 3; k++)
            post(&b, k, 0, cases[i].at_s[k]);
        assert_true(network_parted(b.network) == cases[i].parted);
        world_end(&b.world);
    }
}

/* Two on one way of a plan halve its rate; its other way would not. */
static void unlike_ways_part(void **state)
{
    for (unsigned both = 0; both < 2; both++) {
        struct bench b;
        bench_begin(&b, 2);
        const uint32_t one = world_link(&b.world, 4.0), other = world_link(&b.world, 4.0);
        const struct wire wires[] = {{one, 1.0}, {other, 1.0}};
        struct way ways[] = {{0, 1}, {1, 1}};
        uint32_t links[] = {one, other};
        world_plan(&b.world, 0, 0, 8.0, 0.0, 4.0, 1.0, wires, 2);
        world_plan(&b.world, 1, 0, 4.0, 0.0, 4.0, 1.0, wires, both ? 2 : 1);
        b.world.symmetry.plans[0].way_count = 2;
        b.world.symmetry.ways = (struct ways){ways, links};
        bench_create(&b);
        post_group(&b, 0, 0.0);
        post_group(&b, 1, 4.0); /* the first is done */
        sim_run(b.world.sim);
        assert_false(network_parted(b.network));
        post_group(&b, 0, 8.0);
        post_group(&b, 1, 9.0);
        sim_run(b.world.sim);
        assert_true(network_parted(b.network) == (both == 0));
        world_end(&b.world);
    }
}

static void disagree(void *context)
{
    struct bench *b = context;
    post(b, 0, 0, 0.0);
    post(b, 1, 1, 0.0);
}

static void post_unknown(void *context)
{
    post(context, 0, 5, 0.0);
}

static void ignore(struct sim *sim, void *player, uint32_t slot)
{
    (void)sim;
    (void)player;
    (void)slot;
}

static void post_in_the_past(void *context)
{
    struct bench *b = context;
    sim_handle(b->world.sim, EVENT_COMPUTE, ignore, NULL);
    struct calendar *calendar = sim_calendar(b->world.sim);
    calendar_set(calendar, calendar_slot(calendar), 5.0, EVENT_COMPUTE);
    sim_run(b->world.sim);
    post(b, 0, 0, 4.0);
}

static void bugs_are_caught(void **state)
{
    void (*const bugs[])(void *) = {disagree, post_unknown, post_in_the_past};
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        struct bench b;
        char text[2048];
        bench_begin(&b, 1);
        world_plan(&b.world, 0, 0, 8.0, 0.0, 4.0, 1.0, NULL, 0);
        world_plan(&b.world, 0, 1, 9.0, 0.0, 4.0, 1.0, NULL, 0);
        bench_create(&b);
        assert_true(world_aborts(bugs[i], &b, text, sizeof text));
        assert_non_null(strstr(text, "network.c"));
        world_end(&b.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_is_told_at_once),
        cmocka_unit_test(the_last_is_named),
        cmocka_unit_test(nothing_sent_takes_no_time),
        cmocka_unit_test(contention_is_what_sharing_costs),
        cmocka_unit_test(two_on_a_link_halve),
        cmocka_unit_test(a_late_start_slows_the_other),
        cmocka_unit_test(shares_are_fair_by_wire),
        cmocka_unit_test(activities_of_a_group_follow),
        cmocka_unit_test(watched_is_told_on_and_off),
        cmocka_unit_test(folded_groups_count),
        cmocka_unit_test(unnamed_ties_part),
        cmocka_unit_test(unlike_ways_part),
        cmocka_unit_test(bugs_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
