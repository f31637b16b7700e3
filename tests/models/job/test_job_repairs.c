/* Repairs, worked out on paper: crews and their queue, repairs that escalate, failures that a
 * restart mends, copies that cannot be read. */
#include <math.h>

#include "tests/models/job/job_paper.h"
#include "tests/test.h"

/* The small job loses what is described at 60 and stands until `back_s`; 0: nothing is waited for.
 * Then start 16 s, load 12 s, warm-up 4 s, and the 40 s of work and 8 s of saving that are left. */
static void check(const struct job_case *job, double back_s)
{
    double wait_s = back_s > 0.0 ? back_s - 64.0 : 0.0;
    job_paper_play(job, &(struct job_paper){.wall = 64 + wait_s + 32 + 48,
                                            .useful = 80,
                                            .checkpoint = 16,
                                            .lost = 12,
                                            .detect = 4,
                                            .restart = 32,
                                            .load = 12,
                                            .wait = wait_s,
                                            .failures = 1,
                                            .interruptions = 1});
}

/* A rack of five nodes goes at once, each of them a hundred seconds of one crew. */
static void test_crews(void **state)
{
    static const struct {
        uint64_t crews;
        double back_s;
    } rows[] = {{0, 160}, {1, 560}, {2, 360}, {3, 260}, {4, 260}, {5, 160}, {6, 160}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        const struct trace_event event = {.at_s = 60, .repair_s = 100};
        job_paper_make(&job, 80.0);
        job_case_nodes(&job, 5, 1, "wait-for-repair");
        job.spec.recovery.crews = rows[i].crews;
        job_case_trace(&job, &event, 1, UNIT_DOMAIN)->domain_nodes = 5;
        check(&job, rows[i].back_s);
        job_case_free(&job);
    }
}

/* By the law of the recovery or the cause's own; all or none go on to a manual repair; all or none
 * are mended by the restart alone. What the log says counts for itself. */
static void test_laws_of_repair(void **state)
{
    static const struct {
        double own_s, escalate_ratio, in_place_ratio, log_s, back_s;
    } rows[] = {
        {-1, 0, 0, -1, 160},   {-1, 1, 0, -1, 1160}, {250, 0, 0, -1, 310},
        {250, 1, 0, -1, 1310}, {-1, 0, 1, -1, 0},    {-1, 1, 1, -1, 0},
        {250, 1, 1, 70, 130},  {-1, 0, 0, 0, 0},     {-1, 1, 0, 500, 560},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        const struct trace_event event = {.at_s = 60, .repair_s = rows[i].log_s};
        job_paper_make(&job, 80.0);
        job_case_nodes(&job, 2, 1, "wait-for-repair");
        job.spec.recovery.repair.mean_s = 100.0;
        job.spec.recovery.manual_repair.mean_s = 1000.0;
        job.spec.recovery.escalate_ratio = rows[i].escalate_ratio;
        struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NODE);
        cause->repair.mean_s = rows[i].own_s;
        cause->in_place_ratio = rows[i].in_place_ratio;
        check(&job, rows[i].back_s);
        job_case_free(&job);
    }
}

/* No copy can be read: each that is kept is loaded for 12 s, then the work begins anew. The failure
 * strikes 14 s after the second save, or the third. */
static void test_unreadable_copies(void **state)
{
    static const struct {
        uint64_t keep;
        double saves;
        double loads;
    } rows[] = {{1, 2, 1}, {2, 2, 2}, {3, 2, 2}, {1, 3, 1}, {2, 3, 2}, {3, 3, 3}, {4, 3, 3}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const double saves = rows[i].saves, loads = rows[i].loads, at_s = 48 * saves + 14;
        const struct trace_event event = {.at_s = at_s};
        job_paper_make(&job, 160.0);
        job.spec.checkpoint.keep = rows[i].keep;
        job.spec.checkpoint.corrupt_ratio = 1.0;
        job_case_trace(&job, &event, 1, UNIT_JOB);
        job_paper_play(&job, &(struct job_paper){.wall = at_s + 24 + 12 * loads + 192,
                                                 .useful = 160,
                                                 .checkpoint = 8 * saves + 32,
                                                 .lost = 40 * saves + 14,
                                                 .detect = 4,
                                                 .restart = 20 + 12 * loads,
                                                 .load = 12 * loads,
                                                 .failures = 1,
                                                 .interruptions = 1});
        job_case_play(&job, 1, &out);
        assert_int_equal(out.rollbacks_past_corrupt, (uint64_t)loads);
        assert_int_equal(out.checkpoints, (uint64_t)saves + 4);
        assert_int_equal(out.copies[0], (uint64_t)saves + 4);
        job_case_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crews),
        cmocka_unit_test(test_laws_of_repair),
        cmocka_unit_test(test_unreadable_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
