/* How often weeks go back to their very start since nothing that was kept is good: as reckoned, and
 * as played. */
#include <limits.h>
#include <math.h>

#include "sim/units.h"
#include "tests/models/job/job_case.h"
#include "tests/test.h"

/* Thirty days of eight nodes: a node fails each 16 h, the job as well; silent corruption each three
 * days, found after a fixed day. Two copies are kept. */
static void make_weeks(struct job_case *job)
{
    job_case_make(job, 20.0 * DAY, 30.0);
    job_case_nodes(job, 8, 8, "restart-in-place");
    job_case_save(job, 0.0, 20.0, 0.0);
    struct job_spec *spec = &job->spec;
    spec->checkpoint.kind = checkpoint_find("sync");
    spec->checkpoint.keep = 2;
    spec->recovery.restart.links[LINK_START].mean_s = 5.0 * MINUTE;
    spec->steps = 0;
    spec->duration_s = 30.0 * DAY;
    job_case_fail(job, 8 * 16.0 * HOUR)->unit = UNIT_NODE;
    job_case_fail(job, 16.0 * HOUR);
    struct failure_cause *silent = job_case_fail(job, 3.0 * DAY);
    silent->effect = EFFECT_CORRUPT;
    silent->detect = (struct duration){DURATION_FIXED, DAY, 1.0};
}

/* A fixed detection: the copies of `keep` saves reach back from keep - 1 to keep intervals. One
 * corruption in three days: ten in the thirty of the run, less those that are found after it. */
static void test_tainted(void **state)
{
    struct job_case job;
    struct job_anew anew;
    make_weeks(&job);
    job.spec.causes = job.causes;
    assert_true(job_starts_anew(&job.spec, 12 * HOUR, 30 * DAY, &anew));
    assert_ptr_equal(anew.cause, &job.causes[2]);
    assert_true(anew.keep == 3.0 && anew.ratio == 1.0);
    assert_true(fabs(anew.times - 29.5 / 3.0) < 1e-9);
    assert_true(job_starts_anew(&job.spec, 16 * HOUR, 30 * DAY, &anew)); /* in half of the cases */
    assert_true(anew.keep == 3.0 && anew.ratio == 0.5);
    assert_false(job_starts_anew(&job.spec, DAY, 30 * DAY, &anew));
    assert_true(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    assert_true(anew.keep == 25.0);
    assert_false(job_starts_anew(&job.spec, HOUR, HOUR, &anew)); /* over before two are saved */
    job.causes[2].detect.mean_s = -1.0;                          /* as the chain says */
    assert_false(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    job.spec.recovery.restart.links[LINK_DETECT].mean_s = 3 * HOUR;
    assert_true(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    assert_true(anew.keep == 4.0);
    job.spec.checkpoint.plan.levels[0].every = 3;
    assert_false(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    job.causes[2].effect = EFFECT_STOP;
    assert_false(job_starts_anew(&job.spec, 1.0, 30 * DAY, &anew));
    job_case_free(&job);
}

struct starts {
    const struct failure_cause *silent; /* the cause that counts; NULL: all */
    const struct job_spec *spec;
    unsigned anew;
};

static void count_start(void *context, const struct interruption *interruption)
{
    struct starts *starts = context;
    const bool counts =
        starts->silent == NULL || starts->silent == &starts->spec->causes[interruption->cause];
    starts->anew += counts && interruption->level == UINT_MAX && interruption->lost_s > HOUR;
}

/* How often the weeks themselves go back to the start, in the mean of so many. */
static double starts_played(const struct job_case *job, const struct failure_cause *silent,
                            double each_s, unsigned weeks)
{
    struct starts starts = {.silent = silent};
    const struct job_observer observer = {.context = &starts, .interruption = count_start};
    struct arena *arena = arena_create();
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    spec.checkpoint.interval_s = each_s;
    starts.spec = &spec;
    for (unsigned i = 0; i < weeks; i++) {
        struct job_result result;
        job_run_in(arena, &spec, job->conditions, 7000 + i, &observer, &result);
    }
    arena_destroy(arena);
    return (double)starts.anew / weeks;
}

/* What is reckoned is what happens, and the keep that is advised helps: over 400 runs of thirty
 * days of each law, within four deviations, and a part for the stops in between. */
static void test_starts_anew_as_reckoned(void **state)
{
    enum {
        RUNS = 400
    };
    for (int law = 0; law < DURATION_LAW_COUNT; law++) {
        struct job_case job;
        struct job_anew anew;
        make_weeks(&job);
        job.spec.causes = job.causes;
        job.causes[0].mtbf_s *= 100.0; /* hardly a stop in between */
        job.causes[1].mtbf_s *= 100.0;
        job.causes[2].detect = (struct duration){law, DAY, 0.7};
        job.spec.checkpoint.keep = 8;
        assert_true(job_starts_anew(&job.spec, 3 * HOUR, 30 * DAY, &anew) || law == DURATION_FIXED);
        double played = starts_played(&job, &job.causes[2], 3 * HOUR, RUNS);
        if (!(fabs(played - anew.times) <= 0.1 * anew.times + 4.0 * sqrt(anew.times / RUNS)))
            fail_msg("law %d: %.3f reckoned, %.3f played", law, anew.times, played);
        if (anew.keep > 8.0) {
            job.spec.checkpoint.keep = (uint64_t)anew.keep;
            played = starts_played(&job, &job.causes[2], 3 * HOUR, RUNS);
            assert_true(played < JOB_ANEW_TIMES + 4.0 * sqrt(JOB_ANEW_TIMES / RUNS));
        }
        job_case_free(&job);
    }
}

/* The same of copies that cannot be read, which are gone until others are saved. And where the
 * others go on, few recoveries read one. */
static void test_unreadable_as_reckoned(void **state)
{
    enum {
        RUNS = 400
    };
    struct job_case job;
    struct job_anew anew;
    make_weeks(&job);
    job.spec.cause_count = 2;
    job.spec.causes = job.causes;
    job.spec.checkpoint.keep = 2;
    job.spec.checkpoint.corrupt_ratio = 0.1;
    assert_true(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    assert_true(fabs(anew.ratio - 0.01) < 1e-15 && fabs(anew.times - 0.9) < 1e-12);
    assert_true(anew.keep == 4.0); /* .1^3 of 90 is .09 */
    const double played = starts_played(&job, NULL, 10 * MINUTE, RUNS);
    if (!(fabs(played - 0.9) <= 0.1 * 0.9 + 4.0 * sqrt(0.9 / RUNS)))
        fail_msg("0.9 reckoned, %.3f played", played);
    job.spec.checkpoint.keep = 4;
    assert_false(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    job.spec.checkpoint.keep = 2;
    assert_false(job_starts_anew(&job.spec, 14 * HOUR, 30 * DAY, &anew)); /* in vain anyway */
    job.spec.recovery.kind = recovery_find("replica-level");
    assert_true(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    assert_true(fabs(anew.times - 0.45) < 1e-12); /* the job itself fails */
    job_case_free(&job);
}

/* A fixed detection taints 15 of the copies, and the others cannot be read: with K kept K - 15 are
 * clean, and all of them are bad in .1^(K - 15) of the cases. As played. */
static void test_clean_and_unreadable(void **state)
{
    enum {
        RUNS = 400
    };
    struct job_case job;
    struct job_anew anew;
    make_weeks(&job);
    job.spec.causes = &job.causes[2];
    job.spec.cause_count = 1;
    job.causes[2].detect = (struct duration){DURATION_FIXED, 15.0 * HOUR, 1.0};
    job.spec.checkpoint.corrupt_ratio = 0.1;
    job.spec.checkpoint.keep = 16;
    assert_true(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    assert_ptr_equal(anew.cause, &job.causes[2]);
    const double cases = (30.0 * DAY - 14.0 * HOUR) / (3.0 * DAY);
    assert_true(fabs(anew.times - 0.1 * cases) < 0.01);
    assert_true(anew.keep == 18.0); /* .1^2 of 9.8 is .098, .1^3 .0098 */
    struct job_case played = job;
    played.spec.causes = played.causes;
    played.spec.cause_count = 3;
    played.causes[0].mtbf_s *= 1e6;
    played.causes[1].mtbf_s *= 1e6;
    const double starts = starts_played(&played, &played.causes[2], HOUR, RUNS);
    if (!(fabs(starts - anew.times) <= 0.1 * anew.times + 4.0 * sqrt(anew.times / RUNS)))
        fail_msg("%.3f reckoned, %.3f played", anew.times, starts);
    job.spec.checkpoint.keep = 18;
    assert_false(job_starts_anew(&job.spec, HOUR, 30 * DAY, &anew));
    /* A level beside it that is saved each time reaches back a quarter as far: no second chance. */
    struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
    plan->levels[1] = plan->levels[0];
    plan->levels[1].every = 4;
    plan->level_count = 2;
    job.spec.checkpoint.keep = 16;
    assert_true(job_starts_anew(&job.spec, HOUR / 4.0, 30 * DAY, &anew));
    assert_true(fabs(anew.times - 0.1 * cases) < 0.01);
    plan->levels[0].every = 4; /* now it is one */
    assert_true(job_starts_anew(&job.spec, HOUR / 4.0, 30 * DAY, &anew));
    assert_true(fabs(anew.times - 0.01 * cases) < 0.01);
    job_case_free(&job);
}

/* A copy that a failure destroys is no second chance; software leaves it. Where a failure destroys
 * all, no number of copies helps. */
static void test_copies_that_outlive(void **state)
{
    struct job_case job;
    struct job_anew anew;
    make_weeks(&job);
    job.spec.causes = job.causes; /* 45 failures of nodes in the thirty days */
    job.spec.cause_count = 1;
    job.spec.checkpoint.keep = 2;
    job.spec.checkpoint.corrupt_ratio = 0.1;
    struct checkpoint_plan *plan = &job.spec.checkpoint.plan;
    plan->levels[1] = plan->levels[0];
    plan->level_count = 2;
    assert_false(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew)); /* .1^4 of 45 */
    plan->levels[0].survival = SURVIVES_PROCESS;
    assert_true(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    assert_true(fabs(anew.times - 0.45) < 1e-9 && anew.keep == 3.0);
    job.causes[0].in_place_ratio = 0.9; /* of ten one replaces the node */
    assert_false(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    job.causes[0].in_place_ratio = 0.0;
    plan->levels[1].survival = SURVIVES_NODE;
    assert_true(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    job.causes[0].unit = UNIT_DOMAIN;
    job.causes[0].domain_nodes = 4;
    assert_false(job_starts_anew(&job.spec, 10 * MINUTE, 30 * DAY, &anew));
    job_case_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tainted),
        cmocka_unit_test(test_starts_anew_as_reckoned),
        cmocka_unit_test(test_unreadable_as_reckoned),
        cmocka_unit_test(test_clean_and_unreadable),
        cmocka_unit_test(test_copies_that_outlive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
