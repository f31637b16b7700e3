/* What a job does about its failures, worked out on paper: levels of checkpoints, missing replicas,
 * slow and corrupt parts, wrong blame, maintenance. */
#include <math.h>

#include "tests/models/job/job_paper.h"
#include "tests/test.h"

/* Host memory (each save, 2 s) and storage (each second one, 6 s more), steps of 10 s, saves after
 * 20 s of work: at 20-22, 42-50, 70-72. A failure at 80 loses 8 s, or 28 s where the copy in host
 * memory went with its node. */
static void make_levels(struct job_case *job, int first_survival)
{
    job_paper_make(job, 1000.0);
    job->spec.duration_s = 150.0;
    job_case_nodes(job, 2, 1, "hot-spare");
    job->spec.recovery.spares = 2;
    job_case_save(job, 20.0, 2.0, 0.0);
    job->spec.checkpoint.plan.level_count = 2;
    job->spec.checkpoint.plan.levels[1] = job->spec.checkpoint.plan.levels[0];
    job->spec.checkpoint.plan.levels[1].stall_s = 6.0;
    job->spec.checkpoint.plan.levels[1].every = 2;
    job->spec.checkpoint.plan.levels[0].survival = first_survival;
}

static double lost_at_80(int first_survival, int unit, double repair_s)
{
    struct job_case job;
    struct job_result out;
    struct trace_event event = {.at_s = 80, .unit = 0, .repair_s = repair_s};
    make_levels(&job, first_survival);
    job_case_trace(&job, &event, 1, unit)->domain_nodes = 2;
    job_case_play(&job, 1, &out);
    job_case_free(&job);
    assert_int_equal(out.failures, 1);
    return out.badput_s[BADPUT_lost_work];
}

static void test_survival(void **state)
{
    job_paper_near(lost_at_80(SURVIVES_PROCESS, UNIT_JOB, 0.0), 8.0);
    job_paper_near(lost_at_80(SURVIVES_PROCESS, UNIT_NODE, 0.0), 8.0);
    job_paper_near(lost_at_80(SURVIVES_PROCESS, UNIT_NODE, 5.0), 28.0);
    job_paper_near(lost_at_80(SURVIVES_NODE, UNIT_NODE, 5.0), 8.0);
    job_paper_near(lost_at_80(SURVIVES_NODE, UNIT_DOMAIN, 5.0), 28.0);
    job_paper_near(lost_at_80(SURVIVES_DOMAIN, UNIT_DOMAIN, 5.0), 8.0);
}

/* A node of four replicas fails at 60 and is back at 260, at the end of a step. On three replicas
 * from 96 on: 14 steps, saves at 136, 184, 232. The planned stop saves at 260-268 and walks start,
 * load and warm-up until 300; then saves at 340 and 388, and 4 s of a step until 400. */
static void test_elastic(void **state)
{
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 200.0};
    job_paper_make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "elastic-shrink");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 400.0;
    job_paper_play(&job, &(struct job_paper){.wall = 400,
                                             .useful = 40 + 105 + 84,
                                             .degraded = 35,
                                             .checkpoint = 56,
                                             .lost = 12,
                                             .detect = 4,
                                             .restart = 64,
                                             .load = 24,
                                             .failures = 1,
                                             .interruptions = 1});
    job_case_free(&job);
}

/* Only the struck replica stops: 2 s of a step are lost at 60, three replicas go on; the node is
 * back at 160, its replica at 196, in the job after the step that ends at 204. */
static void test_replica_level(void **state)
{
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 100.0};
    job_paper_make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "replica-level");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 300.0;
    job_paper_play(&job, &(struct job_paper){.wall = 300,
                                             .useful = 220,
                                             .degraded = 30,
                                             .checkpoint = 48,
                                             .lost = 2,
                                             .failures = 1,
                                             .interruptions = 1});
    job_case_free(&job);
}

/* Nodes 0 and 1 have replicas 0 and 2, the others 1 and 3: of the same 120 s of steps with node 1
 * away half is missing. */
static void test_scattered_replicas(void **state)
{
    static const uint32_t on[] = {0, 2, 0, 2, 1, 3, 1, 3}, begin[] = {0, 2, 4, 6, 8};
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 100.0};
    job_paper_make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "replica-level");
    job.spec.replicas_on = on;
    job.spec.replicas_begin = begin;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 300.0;
    job_paper_play(&job, &(struct job_paper){.wall = 300,
                                             .useful = 190,
                                             .degraded = 60,
                                             .checkpoint = 48,
                                             .lost = 2,
                                             .failures = 1,
                                             .interruptions = 1});
    job_case_free(&job);
}

static void keep_interruption(void *context, const struct interruption *interruption)
{
    *(struct interruption *)context = *interruption;
}

/* Struck at 44, in the save of 40 to 48, and mended by its own restart: its chain of 4 + 16 + 12 +
 * 4 s ends at 80, in the step of 78 to 88. Four steps of three replicas, from 48 to 88; a save each
 * 48 s; 8 s of a step at the end. */
static void test_replica_struck_in_a_save(void **state)
{
    struct job_case job;
    struct trace_event event = {.at_s = 44, .unit = 1, .repair_s = 0.0};
    job_paper_make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "replica-level");
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job.spec.duration_s = 200.0;
    job_paper_play(&job, &(struct job_paper){.wall = 200,
                                             .useful = 158,
                                             .degraded = 10,
                                             .checkpoint = 32,
                                             .failures = 1,
                                             .interruptions = 1});
    struct job_spec spec = job.spec;
    struct interruption told = {0};
    struct job_observer observer = {.context = &told, .interruption = keep_interruption};
    struct job_result out;
    spec.causes = job.causes;
    job_run(&spec, job.conditions, 0, &observer, &out);
    job_paper_near(told.at_s, 44.0);
    job_paper_near(told.resumed_at_s, 44.0); /* the others never stopped */
    job_case_free(&job);
}

/* Below replicas_min the job stands until the node is back: 60 + 4 of detection, until 260. */
static void test_elastic_minimum(void **state)
{
    struct job_case job;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 200.0};
    job_paper_make(&job, 80.0);
    job_case_nodes(&job, 4, 4, "elastic-shrink");
    job.spec.recovery.replicas_min = 4;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    job_paper_play(&job, &(struct job_paper){.wall = 260 + 32 + 48,
                                             .useful = 80,
                                             .checkpoint = 16,
                                             .lost = 12,
                                             .detect = 4,
                                             .restart = 32,
                                             .load = 12,
                                             .wait = 196,
                                             .failures = 1,
                                             .interruptions = 1});
    job_case_free(&job);
}

/* Half speed from 50 (felt from 58 on), found at 150, replaced after the step that ends at 166 and
 * a save: steps again at 206. Five steps took 20 s. */
static void test_slow_unit(void **state)
{
    struct job_case job;
    struct trace_event event = {.at_s = 50, .unit = 1, .repair_s = -1.0};
    job_paper_make(&job, 1000.0);
    job_case_nodes(&job, 4, 4, "hot-spare");
    job.spec.recovery.spares = 1;
    job.spec.recovery.repair.mean_s = 1e6;
    struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NODE);
    cause->effect = EFFECT_SLOW;
    cause->slow_ratio = 0.5;
    cause->detect.mean_s = 100.0;
    job.spec.duration_s = 250.0;
    job_paper_play(&job, &(struct job_paper){.wall = 250,
                                             .useful = 140,
                                             .degraded = 50,
                                             .checkpoint = 28,
                                             .restart = 32,
                                             .load = 12,
                                             .failures = 1});
    job_case_free(&job);
}

/* Corrupt from 50, found at 150: the saves begun at 88 and 136 are tainted, that of 40 is not. */
static void test_silent_corruption(void **state)
{
    for (uint64_t keep = 1; keep <= 3; keep++) {
        struct job_case job;
        struct trace_event event = {.at_s = 50, .unit = 0, .repair_s = 0.0};
        job_paper_make(&job, 1000.0);
        struct failure_cause *cause = job_case_trace(&job, &event, 1, UNIT_NODE);
        cause->effect = EFFECT_CORRUPT;
        cause->detect.mean_s = 100.0;
        job.spec.checkpoint.keep = keep;
        job.spec.duration_s = 230.0;
        struct job_paper expected = {.wall = 230,
                                     .useful = 80,
                                     .checkpoint = 32,
                                     .lost = 86,
                                     .restart = 32,
                                     .load = 12,
                                     .failures = 1,
                                     .interruptions = 1};
        if (keep < 3) {
            expected = (struct job_paper){.wall = 230,
                                          .useful = 40 + 12,
                                          .checkpoint = 32,
                                          .lost = 126,
                                          .restart = 20,
                                          .failures = 1,
                                          .interruptions = 1};
        }
        job_paper_play(&job, &expected);
        job_case_free(&job);
    }
}

/* The wrong node is blamed: the fault strikes again as soon as the job runs. */
static void test_wrong_blame(void **state)
{
    struct job_case job;
    struct job_result out;
    struct trace_event event = {.at_s = 60, .unit = 1, .repair_s = 1e6};
    job_paper_make(&job, 80.0);
    job_case_nodes(&job, 4, 4, "hot-spare");
    job.spec.recovery.spares = 64;
    job.spec.recovery.wrong_blame_ratio = 0.5;
    job_case_trace(&job, &event, 1, UNIT_NODE);
    double chains = 0.0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        job_case_play(&job, seed, &out);
        double chain = (out.badput_s[BADPUT_detect] + out.badput_s[BADPUT_restart]) / 36.0;
        job_paper_near(chain, (double)out.spares_taken);
        assert_int_equal(out.failures, 1);
        assert_int_equal(out.interruptions, 1);
        job_paper_near(out.wall_s, 60 + 36 * chain + 48);
        chains += chain / 1000.0;
    }
    assert_true(fabs(chains - 2.0) < 3.0 * sqrt(2.0 / 1000.0)); /* geometric */
    job_case_free(&job);
}

/* Every 100 s, for 30 s: the step that ends at 106 is the last, a save until 114, maintenance until
 * 144, start, load and warm-up until 176. The next is due at 200: step until 206, save until 214,
 * maintenance until 244. */
static void test_maintenance(void **state)
{
    struct job_case job;
    struct job_result out;
    job_paper_make(&job, 1000.0);
    job.spec.maintenance_every_s = 100.0;
    job.spec.maintenance_s = 30.0;
    job.spec.duration_s = 250.0;
    job_case_play(&job, 1, &out);
    job_paper_near(out.badput_s[BADPUT_maintenance], 60.0);
    job_paper_near(out.badput_s[BADPUT_restart], 32.0 + 6.0);
    job_paper_near(out.badput_s[BADPUT_checkpoint], 8 + 8 + 8 + 8);
    job_case_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_survival),           cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_replica_level),      cmocka_unit_test(test_replica_struck_in_a_save),
        cmocka_unit_test(test_scattered_replicas), cmocka_unit_test(test_elastic_minimum),
        cmocka_unit_test(test_slow_unit),          cmocka_unit_test(test_silent_corruption),
        cmocka_unit_test(test_wrong_blame),        cmocka_unit_test(test_maintenance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
