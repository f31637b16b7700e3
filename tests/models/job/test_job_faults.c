/* Faults that do not stop the job when they begin: how long they last, whom they slow, which copies
 * they spoil. Worked out on paper; chains and saves take no time here, a step 10 s. */
#include <math.h>

#include "tests/models/job/job_case.h"
#include "tests/test.h"

enum {
    NEVER_S = 1000000000
};

/* `steps` steps on so many nodes; saved each interval, at no cost. */
static void make(struct job_case *job, unsigned steps, uint32_t nodes, uint32_t replicas,
                 const char *policy)
{
    job_case_make(job, 10.0 * steps, 10.0);
    job_case_nodes(job, nodes, replicas, policy);
}

static void slow(struct job_case *job, const struct trace_event *event, double time_s,
                 double detect_s)
{
    struct failure_cause *cause = job_case_trace(job, event, 1, UNIT_GPU);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->slow_time.mean_s = time_s;
    cause->detect.mean_s = detect_s;
}

/* Played with leaps and step by step. */
static void ends_at(const struct job_case *job, double wall_s, struct job_result *out)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    for (int step_by_step = 0; step_by_step < 2; step_by_step++) {
        job_run(&spec, job->conditions, 1,
                &(struct job_observer){.step_by_step = step_by_step != 0}, out);
        job_case_check(job, out);
        if (!(fabs(out->wall_s - wall_s) <= 1e-9))
            fail_msg("%.12g s, expected %.12g", out->wall_s, wall_s);
    }
}

/* A GPU of node 0 is slow from 5 on, never found: steps of 20 s from 10 on. A failure at 45 undoes
 * them all, or, where each step is saved, the third. The slow part goes with its node, and with the
 * node that a restart mends; it stays where another node is struck, or none. A repair of 30 s is
 * waited for. */
static void test_slow_part_goes_with_its_node(void **state)
{
    static const struct {
        const char *policy;
        int unit_kind;
        uint32_t unit;
        double repair_s, again_s, step_s;
    } rows[] = {
        {"wait-for-repair", UNIT_NODE, 0, 30, 75, 10},
        {"wait-for-repair", UNIT_NODE, 1, 30, 75, 20},
        {"restart-in-place", UNIT_NODE, 0, 0, 45, 10},
        {"restart-in-place", UNIT_NODE, 1, 0, 45, 20},
        {"restart-in-place", UNIT_JOB, 0, 0, 45, 20},
    };
    for (unsigned i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const unsigned row = i / 2, saves = i % 2;
        const struct trace_event part = {.at_s = 5, .unit = 3};
        const struct trace_event stop = {
            .at_s = 45, .unit = rows[row].unit, .repair_s = rows[row].repair_s};
        make(&job, 10, 2, 1, rows[row].policy);
        if (saves)
            job_case_save(&job, 10.0, 0.0, 0.0);
        slow(&job, &part, 0.0, NEVER_S);
        job_case_trace(&job, &stop, 1, rows[row].unit_kind);
        ends_at(&job, rows[row].again_s + (saves ? 8 : 10) * rows[row].step_s, &out);
        job_case_free(&job);
    }
}

/* It gets well by itself after its time, or never where that is 0. */
static void test_how_long_it_is_slow(void **state)
{
    static const struct {
        double time_s;
        unsigned slow_steps;
    } rows[] = {{0, 19}, {0.5, 0}, {4.5, 0}, {6, 1}, {24.5, 1}, {25.5, 2}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event part = {.at_s = 5, .unit = 3};
        make(&job, 20, 2, 1, "restart-in-place");
        slow(&job, &part, rows[i].time_s, NEVER_S);
        ends_at(&job, 200.0 + 10.0 * rows[i].slow_steps, &out);
        job_case_free(&job);
    }
}

/* A slow GPU counts as long as some replica of its node is in the job. Of two replicas one is lost
 * for good at 45, so that the ten steps' worth of both takes twenty of the other: of 20 s each, or
 * of 10 s where the slow node stands idle. Of three nodes the middle one serves both replicas. */
static void test_slow_part_of_an_idle_node(void **state)
{
    static const struct {
        uint32_t nodes, slow_node, lost_node;
        double step_s;
    } rows[] = {
        {4, 3, 2, 10}, {4, 2, 3, 10}, {4, 0, 1, 10}, {4, 3, 0, 20}, {4, 0, 2, 20},
        {3, 1, 0, 20}, {3, 1, 2, 20}, {3, 0, 2, 20}, {3, 2, 0, 20},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event part = {.at_s = 5, .unit = 8 * rows[i].slow_node};
        const struct trace_event stop = {
            .at_s = 45, .unit = rows[i].lost_node, .repair_s = NEVER_S};
        make(&job, 10, rows[i].nodes, 2, "elastic-shrink");
        slow(&job, &part, 0.0, NEVER_S);
        job_case_trace(&job, &stop, 1, UNIT_NODE);
        ends_at(&job, 45 + 20 * rows[i].step_s, &out);
        job_case_free(&job);
    }
}

/* Found after the time of its own cause, or of the chain's detection (80 s) where that has none;
 * with the step under way then the job is saved and the slow node replaced. A GPU that is slow from
 * 5 on: the first step takes 10 s, those that begin before it is found 20 s. */
static void test_when_it_is_found(void **state)
{
    static const struct {
        double detect_s;
        unsigned slow_steps;
    } rows[] = {{0, 0}, {0.5, 0}, {4.5, 0}, {6, 1}, {25, 1}, {26, 2}, {-1, 4}, {NEVER_S, 19}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event part = {.at_s = 5, .unit = 3, .repair_s = NEVER_S};
        make(&job, 20, 2, 1, "hot-spare");
        job_case_save(&job, 1000.0, 0.0, 0.0);
        job.spec.recovery.spares = 1;
        job.spec.recovery.restart.links[LINK_DETECT].mean_s = 80.0;
        slow(&job, &part, 0.0, rows[i].detect_s);
        ends_at(&job, 200.0 + 10.0 * rows[i].slow_steps, &out);
        assert_int_equal(out.spares_taken, rows[i].slow_steps < 19);
        job_case_free(&job);
    }
}

/* The first is slow from 5 to 25 and would be found at 105; the second, on the same node, from 35
 * on, found at 235. At 105 nothing is found: the first is well. Steps of 20 s from 10 to 30 and
 * from 40 to 240, eight of 10 s. */
static void test_found_too_late(void **state)
{
    struct job_case job;
    struct job_result out;
    const struct trace_event first = {.at_s = 5, .unit = 3, .repair_s = NEVER_S};
    const struct trace_event second = {.at_s = 35, .unit = 4, .repair_s = NEVER_S};
    make(&job, 20, 2, 1, "hot-spare");
    job_case_save(&job, 1000.0, 0.0, 0.0);
    job.spec.recovery.spares = 1;
    slow(&job, &first, 20.0, 100.0);
    slow(&job, &second, 0.0, 200.0);
    ends_at(&job, 2 * 10 + 20 + 10 * 20 + 7 * 10, &out);
    assert_int_equal(out.spares_taken, 1);
    job_case_free(&job);
}

/* More at a time than the list begins with. One card is slow for good from 1 on, many others are
 * slower for 100 s from 2 on: after a step of 10 s three of 40 s; at 130, all others being well,
 * sixteen of 20 s. */
static void test_many_at_a_time(void **state)
{
    enum {
        CARDS = 20
    };
    for (unsigned cards = 7; cards <= CARDS; cards++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event first = {.at_s = 1, .unit = 40};
        struct trace_event others[CARDS];
        for (uint32_t i = 0; i < cards; i++)
            others[i] = (struct trace_event){.at_s = 2 + 0.1 * i, .unit = i};
        make(&job, 20, 6, 1, "restart-in-place");
        slow(&job, &first, 0.0, NEVER_S);
        slow(&job, others, 100.0, NEVER_S);
        job.causes[1].trace_count = cards;
        job.causes[1].slow_ratio = 0.25;
        ends_at(&job, 10 + 3 * 40 + 16 * 20, &out);
        assert_int_equal(out.failures, cards + 1);
        job_case_free(&job);
    }
}

/* A node is corrupt from `onset_s` on, found 100 s later; saves begin at 40, 80, ... of work; 20
 * steps. A failure of that node is its end, and where the copy that is loaded then was begun before
 * it nothing is spoilt: the time since that copy is lost, no more. Otherwise all that was saved
 * since the onset is found worthless: 40 s of work are left then, or none. */
static void test_corruption_that_is_cured(void **state)
{
    static const struct {
        double onset_s, stop_s;
        uint32_t node;
        double found_s, left_s; /* the last time that work was lost, and what was left of it */
        uint64_t interruptions, rollbacks;
    } rows[] = {
        {50, 0, 0, 150, 40, 1, 2},      {50, 60, 0, 60, 40, 1, 0}, {50, 60, 1, 150, 40, 2, 2},
        {50, 95, 0, 150, 40, 2, 2},     {40, 60, 0, 60, 40, 1, 0}, {39.5, 60, 0, 139.5, 0, 2, 2},
        {79.5, 85, 0, 179.5, 40, 2, 3}, {80, 85, 0, 85, 80, 1, 0},
    };
    for (unsigned k = 0; k < 2 * sizeof rows / sizeof rows[0]; k++) {
        struct job_case job;
        struct job_result out;
        const unsigned i = k / 2, alone = k % 2;
        const struct trace_event part = {.at_s = rows[i].onset_s};
        const struct trace_event stop = {.at_s = rows[i].stop_s, .unit = rows[i].node};
        const struct trace_event mild = {.at_s = 1};
        make(&job, 20, 2, 1, "restart-in-place");
        job_case_save(&job, 40.0, 0.0, 0.0);
        if (!alone) { /* one before it in the list, which changes nothing */
            slow(&job, &mild, 0.0, NEVER_S);
            job.causes[0].slow_ratio = 1.0;
        }
        job.spec.checkpoint.keep = 8;
        struct failure_cause *cause = job_case_trace(&job, &part, 1, UNIT_NODE);
        cause->effect = EFFECT_CORRUPT;
        cause->detect.mean_s = 100.0;
        if (rows[i].stop_s > 0.0)
            job_case_trace(&job, &stop, 1, UNIT_NODE);
        ends_at(&job, rows[i].found_s + 200.0 - rows[i].left_s, &out);
        assert_int_equal(out.interruptions, rows[i].interruptions);
        assert_int_equal(out.rollbacks_past_corrupt, rows[i].rollbacks);
        job_case_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_part_goes_with_its_node),
        cmocka_unit_test(test_how_long_it_is_slow),
        cmocka_unit_test(test_slow_part_of_an_idle_node),
        cmocka_unit_test(test_when_it_is_found),
        cmocka_unit_test(test_found_too_late),
        cmocka_unit_test(test_many_at_a_time),
        cmocka_unit_test(test_corruption_that_is_cured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
