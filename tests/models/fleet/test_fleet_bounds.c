/* Whoever is asked for the next failure answers in bounded work, whatever the law and however
 * extreme its parameters: with a strike, or that none will come. A search without end is ended by
 * the alarm. */
#include <math.h>
#include <sys/time.h>

#include "sim/units.h"
#include "tests/models/fleet/fleet_case.h"
#include "tests/test.h"

enum {
    NODES = 4,
    SPARES = 2,
    PATIENCE_S = 30
};

/* The alarm goes off after so many seconds of the processor, which other programs do not use up; 0:
 * never. */
static void patience(long seconds)
{
    const struct itimerval left = {.it_value = {.tv_sec = seconds}};
    assert_int_equal(setitimer(ITIMER_VIRTUAL, &left, NULL), 0);
}

static const struct trace_event incidents[] = {{1.0, 0, 5.0, "log"}, {2.0, 3, 5.0, "log"}};

/* Each in turn: all nodes in place; all mended and back; the spares in place of two; all gone. */
static void look_for_ever(const struct job_spec *spec)
{
    struct arena *arena = arena_create();
    struct fleet *fleet = fleet_create(arena, job_fleet(spec), 7);
    struct fleet_event event;
    double at_s = 0.0;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 4 && fleet_next(fleet, INFINITY, &event); i++) {
            assert_true(event.at_s >= at_s && isfinite(event.at_s));
            at_s = event.at_s;
            fleet_take(fleet, &event);
        }
        for (uint32_t node = 0; node < NODES; node++) {
            fleet_leave(fleet, node, at_s);
            fleet_mend(fleet, node);
        }
        assert_true(!fleet_next(fleet, INFINITY, &event) || event.node_count == 0);
        for (uint32_t node = 0; node < NODES; node++)
            fleet_join(fleet, node, at_s);
    }
    for (uint32_t node = 0; node < SPARES; node++) {
        fleet_leave(fleet, node, at_s);
        fleet_join(fleet, NODES + node, at_s);
    }
    fleet_next(fleet, INFINITY, &event);
    arena_destroy(arena);
}

/* Every option of the law at its ends, one bit each. */
static struct kind_options ends_of(const struct failure_kind *kind, unsigned bits)
{
    struct kind_options options = {{0.0}};
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        const struct param *row = &kind->head.options.rows[i];
        options.value[row->offset] = bits >> i & 1u ? row->maximum : row->minimum;
    }
    return options;
}

static void look_at_unit(const struct failure_kind *kind, int unit, unsigned bits)
{
    static const double mtbfs_s[] = {1.0, 1e6 * YEAR};
    for (unsigned extreme = 0; extreme < 16; extreme++) {
        struct fleet_case c;
        fleet_case_create(NODES, SPARES, &c);
        struct failure_cause *cause =
            fleet_case_add(&c, "x", kind->head.name, 0.0, unit, mtbfs_s[extreme & 1u]);
        cause->options = ends_of(kind, bits);
        cause->domain_nodes = 3;
        cause->new_units = extreme >> 1 & 1u;
        cause->early_s = extreme >> 2 & 1u ? 100.0 * YEAR : 0.0;
        cause->early_factor = extreme >> 3 & 1u ? 1000.0 : 0.0;
        cause->cascade_ratio = unit < UNIT_DOMAIN && !kind->replays ? 0.99 : 0.0;
        if (kind->replays) {
            cause->trace = incidents;
            cause->trace_count = 2;
        }
        look_for_ever(&c.spec);
    }
}

static void test_every_law_answers(void **state)
{
    patience(PATIENCE_S);
    for (unsigned i = 0; i < failure_kind_count; i++) {
        const struct failure_kind *kind = failure_kinds[i];
        for (unsigned bits = 0; bits < 1u << kind->head.options.count; bits++)
            for (int unit = UNIT_GPU; unit <= UNIT_JOB; unit++)
                look_at_unit(kind, unit, bits);
    }
    patience(0);
}

/* All nodes are lemons, the good rate is as good as none: mended one after the other, they fail as
 * often as before until they are mended, and never again after it. */
static void test_mended_lemons_fail_no_more(void **state)
{
    struct fleet_case c;
    struct fleet_event event;
    struct arena *arena = arena_create();
    fleet_case_create(2, 0, &c);
    struct failure_cause *cause = fleet_case_add(&c, "x", "lemon", 1.0, UNIT_NODE, 1000.0 * YEAR);
    cause->options.value[1] = 1000.0;
    patience(PATIENCE_S);
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 1);
    assert_true(fleet_next(fleet, 100.0 * YEAR, &event));
    fleet_take(fleet, &event);
    uint32_t first = event.node;
    fleet_leave(fleet, first, event.at_s);
    fleet_mend(fleet, first);
    fleet_join(fleet, first, event.at_s);
    for (unsigned i = 0; i < 3; i++) { /* the other one is a lemon still */
        assert_true(fleet_next(fleet, 100.0 * YEAR, &event));
        assert_int_equal(event.node, 1 - first);
        fleet_take(fleet, &event);
    }
    fleet_leave(fleet, event.node, event.at_s);
    fleet_mend(fleet, event.node);
    fleet_join(fleet, event.node, event.at_s);
    fleet_leave(fleet, first, event.at_s); /* whoever goes again takes no lemon with it */
    fleet_join(fleet, first, event.at_s);
    assert_false(fleet_next(fleet, 100.0 * YEAR, &event));
    patience(0);
    arena_destroy(arena);
}

/* A log of six moments: node 1 goes at 2 and is back at 5, so that its rows at 3 and 4 strike
 * nothing; the row at 9 is after the end. What is passed over while looking ahead is no loss. */
static void test_rows_that_strike_nothing(void **state)
{
    static const struct trace_event log[] = {{2.0, 1, 3.0, "a"}, {3.0, 1, 3.0, "a"},
                                             {4.0, 1, 3.0, "a"}, {4.5, 0, 3.0, "a"},
                                             {6.0, 1, 3.0, "a"}, {9.0, 1, 3.0, "a"}};
    struct fleet_case c;
    struct fleet_event event;
    struct fleet_skipped skipped;
    struct arena *arena = arena_create();
    fleet_case_create(2, 0, &c);
    fleet_case_add(&c, "other", "exponential", 0.0, UNIT_JOB, 1e9);
    struct failure_cause *cause = fleet_case_add(&c, "a", "trace", 0.0, UNIT_NODE, 0.0);
    cause->trace = log;
    cause->trace_count = 6;
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 1);
    static const double struck_s[] = {2.0, 4.5, 6.0};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == struck_s[i]);
        fleet_take(fleet, &event);
        if (i == 0)
            fleet_leave(fleet, 1, 2.0);
        if (i == 0) /* node 1 might be back in time for all of them */
            assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == 4.5);
        fleet_skipped(fleet, event.at_s, &skipped);
        if (i == 1)
            fleet_join(fleet, 1, 5.0);
    }
    fleet_skipped(fleet, 8.0, &skipped);
    assert_int_equal(skipped.count, 2);
    assert_int_equal(skipped.cause, 1);
    assert_true(skipped.first == &log[1]);
    fleet_skipped(fleet, 9.5, &skipped); /* the run goes on, and the last row came to nothing */
    assert_int_equal(skipped.count, 3);
    arena_destroy(arena);
    arena = arena_create(); /* a node that is back at 3 meets its second row */
    fleet = fleet_create(arena, job_fleet(&c.spec), 1);
    assert_true(fleet_next(fleet, 8.0, &event));
    fleet_take(fleet, &event);
    fleet_leave(fleet, 1, 2.0);
    assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == 4.5);
    fleet_join(fleet, 1, 2.5);
    assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == 3.0);
    fleet_skipped(fleet, 2.9, &skipped);
    assert_int_equal(skipped.count, 0);
    assert_null(skipped.first);
    arena_destroy(arena);
}

/* Node 1 is struck at 2 and stays out; its other rows come to nothing, each once its moment is
 * past: those before the end of the run, not at it. */
static void test_rows_of_a_node_that_stays_out(void **state)
{
    static const struct trace_event log[] = {
        {2.0, 1, 3.0, "a"}, {3.0, 1, 3.0, "a"}, {4.0, 1, 3.0, "a"}, {6.0, 1, 3.0, "a"}};
    static const struct {
        double end_s;
        uint64_t count;
    } rows[] = {{2.5, 0}, {3.0, 0}, {3.5, 1}, {4.0, 1}, {5.0, 2}, {6.0, 2}, {6.5, 3}, {99.0, 3}};
    struct fleet_case c;
    struct fleet_event event;
    struct fleet_skipped skipped;
    struct arena *arena = arena_create();
    fleet_case_create(2, 0, &c);
    struct failure_cause *cause = fleet_case_add(&c, "a", "trace", 0.0, UNIT_NODE, 0.0);
    cause->trace = log;
    cause->trace_count = 4;
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 1);
    assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == 2.0);
    fleet_take(fleet, &event);
    fleet_leave(fleet, 1, 2.0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fleet_skipped(fleet, rows[i].end_s, &skipped);
        assert_int_equal(skipped.count, rows[i].count);
        assert_true(skipped.first == (rows[i].count > 0 ? &log[1] : NULL));
    }
    assert_false(fleet_next(fleet, 8.0, &event));
    fleet_join(fleet, 1, 5.0); /* its rows at 3 and 4 are past, that at 6 is not */
    assert_true(fleet_next(fleet, 8.0, &event) && event.at_s == 6.0);
    fleet_skipped(fleet, 5.5, &skipped);
    assert_int_equal(skipped.count, 2);
    fleet_take(fleet, &event);
    fleet_skipped(fleet, 8.0, &skipped);
    assert_int_equal(skipped.count, 2);
    assert_true(skipped.first == &log[1]);
    arena_destroy(arena);
}

/* Of two logs the row that came to nothing first is told, and which log it is of; failures that are
 * drawn by a law are no rows, though those of an empty slot come to nothing too. */
static void test_first_row_of_two_logs(void **state)
{
    static const struct trace_event a[] = {{1.0, 1, 3.0, "a"}, {4.0, 1, 3.0, "a"}};
    static const struct trace_event b[] = {{3.0, 1, 3.0, "b"}, {5.0, 1, 3.0, "b"}};
    for (uint32_t swap = 0; swap < 2; swap++) {
        struct fleet_case c;
        struct fleet_event event;
        struct fleet_skipped skipped;
        struct arena *arena = arena_create();
        fleet_case_create(2, 0, &c);
        fleet_case_add(&c, "law", "exponential", 0.0, UNIT_NODE, 40.0);
        for (uint32_t i = 0; i < 2; i++) {
            struct failure_cause *cause =
                fleet_case_add(&c, i ? "y" : "x", "trace", 0.0, UNIT_NODE, 0.0);
            cause->trace = i == swap ? a : b;
            cause->trace_count = 2;
        }
        struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 1);
        fleet_leave(fleet, 1, 0.5);
        for (unsigned i = 0; i < 100; i++) {
            assert_true(fleet_next(fleet, 1e9, &event));
            assert_int_equal(event.node, 0);
            fleet_take(fleet, &event);
        }
        assert_true(event.at_s > 5.0);
        fleet_skipped(fleet, event.at_s, &skipped);
        assert_int_equal(skipped.count, 4);
        assert_true(skipped.first == &a[0]);
        assert_int_equal(skipped.cause, 1 + swap);
        arena_destroy(arena);
    }
}

/* Causes that age, each by its own clock: 64 old nodes that last 1000 s in the mean, or 8 domains
 * of them, fail as often as their clock shows thousands of seconds after 1000, whatever other
 * clocks there are; each time with a number of its own. */
static void test_every_cause_has_its_clock(void **state)
{
    static const struct {
        double factor, early_s, shown_s;
        int unit_kind;
        uint32_t units;
    } clocks[] = {{1, 0, 1000, UNIT_NODE, 64},   {8, 500, 4500, UNIT_NODE, 64},
                  {2, 500, 1500, UNIT_NODE, 64}, {8, 250, 2750, UNIT_NODE, 64},
                  {1, 0, 1000, UNIT_NODE, 64},   {8, 500, 4500, UNIT_DOMAIN, 8}};
    enum {
        CLOCKS = sizeof clocks / sizeof clocks[0],
        SEEDS = 20,
        ROOM = 2000
    };
    static struct fleet_event events[ROOM];
    for (unsigned first = 0; first < CLOCKS; first++) {
        struct arena *arena = arena_create();
        struct fleet_case c;
        double count[CLOCKS] = {0};
        fleet_case_create(64, 0, &c);
        for (unsigned i = 0; i < CLOCKS; i++) {
            const unsigned k = (first + i) % CLOCKS;
            struct failure_cause *cause =
                fleet_case_add(&c, "x", "gamma", 2.0, clocks[k].unit_kind, 1000.0);
            cause->early_factor = clocks[k].factor;
            cause->early_s = clocks[k].early_s;
            cause->domain_nodes = 8;
        }
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), seed);
            uint32_t all = fleet_case_play(fleet, 1000.0, events, ROOM);
            assert_true(all < ROOM);
            uint64_t last[CLOCKS][64] = {0};
            for (uint32_t i = 0; i < all; i++) {
                uint64_t *number = &last[events[i].cause][events[i].unit];
                assert_true(*number != events[i].number + 1);
                *number = events[i].number + 1;
                count[(first + events[i].cause) % CLOCKS]++;
            }
        }
        for (unsigned i = 0; i < CLOCKS; i++) {
            double expected = SEEDS * clocks[i].units * clocks[i].shown_s / 1000.0;
            assert_true(fabs(count[i] - expected) < 4.5 * sqrt(expected));
        }
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_law_answers),
        cmocka_unit_test(test_mended_lemons_fail_no_more),
        cmocka_unit_test(test_rows_that_strike_nothing),
        cmocka_unit_test(test_rows_of_a_node_that_stays_out),
        cmocka_unit_test(test_first_row_of_two_logs),
        cmocka_unit_test(test_every_cause_has_its_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
