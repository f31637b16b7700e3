/* Whom a failure strikes and what becomes of it: in place or not, the one that is blamed, a replica
 * that comes back by itself, the clock of the next failure. Steps of 10 s. */
#include <math.h>

#include "tests/models/job/job_case.h"
#include "tests/test.h"

enum {
    SEEDS = 2000,
    NEVER_S = 1000000000
};

static void near_count(double counted, double ratio, double of)
{
    if (!(fabs(counted - ratio * of) <= 4.5 * sqrt(ratio * (1.0 - ratio) * of)))
        fail_msg("%g of %g, expected a share of %g", counted, of, ratio);
}

/* A share of the failures of nodes is mended by a restart; the others need a spare. */
static void test_in_place(void **state)
{
    static const double shares[] = {0.0, 0.25, 0.5, 1.0};
    const struct trace_event event = {.at_s = 5, .unit = 1, .repair_s = -1.0};
    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct job_case job;
        struct job_result out;
        double taken = 0.0;
        job_case_make(&job, 10.0, 10.0);
        job_case_nodes(&job, 2, 1, "hot-spare");
        job.spec.recovery.spares = 1;
        job.spec.recovery.repair.mean_s = NEVER_S;
        job_case_trace(&job, &event, 1, UNIT_NODE)->in_place_ratio = shares[i];
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            job_case_play(&job, seed, &out);
            taken += (double)out.spares_taken;
        }
        near_count(taken, 1.0 - shares[i], SEEDS);
        job_case_free(&job);
    }
}

/* Node 1 of four fails; in half of the cases another one is blamed, each as often, and is gone for
 * good: what was to strike it later strikes nothing. Those with one wrong blame are looked at. */
static void test_who_is_blamed(void **state)
{
    const struct trace_event event = {.at_s = 5, .unit = 1, .repair_s = -1.0};
    static const struct trace_event later[] = {
        {.at_s = 50}, {51, 1, 0, ""}, {52, 2, 0, ""}, {53, 3, 0, ""}};
    struct job_case job;
    struct job_result out;
    double gone[4] = {0}, cases = 0.0;
    job_case_make(&job, 100.0, 10.0);
    job_case_nodes(&job, 4, 1, "hot-spare");
    job.spec.recovery.spares = 64;
    job.spec.recovery.wrong_blame_ratio = 0.5;
    job.spec.recovery.repair.mean_s = NEVER_S;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    struct failure_cause *cause = job_case_trace(&job, later, 4, UNIT_NODE);
    cause->effect = EFFECT_SLOW; /* to full speed: nothing happens */
    cause->slow_ratio = 1.0;
    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        job_case_play(&job, seed, &out);
        if (out.spares_taken == 1) {
            assert_int_equal(out.skipped.count, 1);
            assert_int_equal(out.skipped.first->unit, 1);
        } else if (out.spares_taken == 2 && out.skipped.count == 2) {
            cases++;
            gone[0] += out.skipped.first->unit == 0;
            gone[1] += out.skipped.first->unit == 1; /* the other one is 2 or 3 */
        }
    }
    near_count(cases, 0.25,
               4 * SEEDS); /* the spare that stands in for another is not blamed there */
    near_count(gone[0], 1.0 / 3.0, cases);
    near_count(gone[1], 2.0 / 3.0, cases);
    job_case_free(&job);
}

struct told {
    struct interruption last;
    unsigned count;
};

static void keep(void *context, const struct interruption *interruption)
{
    struct told *told = context;
    told->last = *interruption;
    told->count++;
}

/* One of two replicas is struck at 45, 5 s of its step being lost for both; it restarts by itself
 * in 29.5 s once it has its node, and takes part from the next step on. Ten steps of both are
 * twenty of one: eight are done at 40, and one a step until it is back. */
static void test_replica_comes_back(void **state)
{
    static const struct {
        double repair_s; /* 0: a restart is enough */
        uint64_t spares;
        unsigned alone, both;
    } rows[] = {
        {0, 0, 3, 5},  {0, 1, 3, 5},        {10, 0, 4, 4},
        {30, 0, 6, 3}, {NEVER_S, 0, 12, 0}, {NEVER_S, 1, 3, 5},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct trace_event event = {.at_s = 45, .unit = 0, .repair_s = rows[i].repair_s};
        struct told told = {.count = 0};
        const struct job_observer observer = {.context = &told, .interruption = keep};
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 100.0, 10.0);
        job_case_nodes(&job, 2, 2, "replica-level");
        job.spec.recovery.spares = rows[i].spares;
        job.spec.recovery.restart.links[LINK_START].mean_s = 29.5;
        job_case_trace(&job, &event, 1, UNIT_NODE);
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_run(&spec, job.conditions, 1, &observer, &out);
        job_case_check(&job, &out);
        const double wall_s = 45 + 10.0 * (rows[i].alone + rows[i].both);
        if (!(fabs(out.wall_s - wall_s) <= 1e-9))
            fail_msg("row %u: %g s, expected %g", i, out.wall_s, wall_s);
        assert_true(fabs(out.badput_s[BADPUT_lost_work] - 5.0) < 1e-9);
        const bool taken = rows[i].spares > 0 && rows[i].repair_s > 0.0;
        assert_int_equal(out.spares_taken, taken);
        assert_int_equal(told.count, 1);
        assert_true(told.last.others_went_on && told.last.spare_taken == taken);
        assert_true(told.last.resumed_at_s == 45.0);
        job_case_free(&job);
    }
}

/* Replicas 1 and 2 of four are lost at 45 and 55, all work with them: two a step from 55 on, 18 at
 * 145. Then one of them is back, and three a step until the other is too: 53 are left at 175; or
 * both are back at once: 62 are left. */
static void test_replicas_return(void **state)
{
    static const struct {
        double repair_s[2], wall_s;
    } rows[] = {{{95, 115}, 175 + 14 * 10}, {{125, 86}, 175 + 14 * 10}, {{95, 86}, 145 + 16 * 10}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct trace_event events[] = {
            {.at_s = 45, .unit = 1, .repair_s = rows[i].repair_s[0]},
            {.at_s = 55, .unit = 2, .repair_s = rows[i].repair_s[1]}};
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 200.0, 10.0);
        job_case_nodes(&job, 4, 4, "elastic-shrink");
        job_case_save(&job, 10000.0, 0.0, 0.0);
        job_case_trace(&job, events, 2, UNIT_NODE);
        job_case_play(&job, 1, &out);
        if (!(fabs(out.wall_s - rows[i].wall_s) <= 1e-9))
            fail_msg("row %u: %g s, expected %g", i, out.wall_s, rows[i].wall_s);
        job_case_free(&job);
    }
}

/* A link lasts what its law says, 10 s in the mean, and so does the detection that a cause has of
 * its own: all alike, or exponential. The communicators take .5 s more for each of 8 ranks. */
static void test_drawn_links(void **state)
{
    const struct trace_event event = {.at_s = 5};
    for (unsigned own = 0; own < 2; own++) {
        for (unsigned fixed = 0; fixed < 2; fixed++) {
            struct job_case job;
            struct job_result out;
            double sum_s = 0.0, squares = 0.0, mean_s = own ? 10.0 : 14.0;
            job_case_make(&job, 10.0, 10.0);
            const struct duration law = {.law = fixed ? DURATION_FIXED : DURATION_EXPONENTIAL,
                                         .mean_s = 10.0};
            struct restart_spec *restart = &job.spec.recovery.restart;
            struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_JOB);
            const enum restart_link link = own ? LINK_DETECT : LINK_COMMUNICATORS;
            restart->communicators_per_rank_s = 0.5;
            if (own)
                cause->detect = law;
            else
                restart->links[LINK_COMMUNICATORS] = law;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                job_case_play(&job, seed, &out);
                double s = out.restart_link_s[link];
                sum_s += s / SEEDS;
                squares += (s - mean_s) * (s - mean_s) / SEEDS;
            }
            assert_true(fabs(sum_s - mean_s) < (fixed ? 1e-9 : 4.5 * 10.0 / sqrt(SEEDS)));
            /* The fourth central moment of an exponential is nine times the square of its variance.
             */
            assert_true(fabs(squares - (fixed ? 0.0 : 100.0)) <
                        (fixed ? 1e-9 : 4.5 * 100.0 * sqrt(8.0 / SEEDS)));
            job_case_free(&job);
        }
    }
}

/* What is found in the middle of a step stops no clock: corrupt from 45 on, found at 145, back to
 * the save of 40; the failure at 200 strikes at 200, when the save of 185 stands. */
static void test_clock_of_failures(void **state)
{
    const struct trace_event part = {.at_s = 45}, stop = {.at_s = 200, .unit = 1};
    struct job_case job;
    struct job_result out;
    job_case_make(&job, 200.0, 10.0);
    job_case_nodes(&job, 2, 1, "restart-in-place");
    job_case_save(&job, 40.0, 0.0, 0.0);
    job.spec.checkpoint.keep = 8;
    struct failure_cause *cause = job_case_trace(&job, &part, 1, UNIT_NODE);
    cause->effect = EFFECT_CORRUPT;
    cause->detect.mean_s = 100.0;
    job_case_trace(&job, &stop, 1, UNIT_NODE);
    job_case_play(&job, 1, &out);
    assert_true(fabs(out.wall_s - 320.0) < 1e-9);
    assert_int_equal(out.interruptions, 2);
    job_case_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_place),           cmocka_unit_test(test_who_is_blamed),
        cmocka_unit_test(test_replica_comes_back), cmocka_unit_test(test_replicas_return),
        cmocka_unit_test(test_drawn_links),        cmocka_unit_test(test_clock_of_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
