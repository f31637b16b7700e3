/* Laws that every job of weeks must keep, over random ones. */
#include <math.h>
#include <stdlib.h>

#include "job_swarm.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

enum {
    JOBS = 3000
};

static void run(const struct job_case *job, uint64_t seed, bool step_by_step,
                struct job_result *out)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    job_run(&spec, job->conditions, seed, &(struct job_observer){.step_by_step = step_by_step},
            out);
    job_case_check(job, out);
}

static void near(double a, double b, double scale, const char *what, uint64_t seed)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(scale, 1.0)))
        fail_msg("seed %lu: %s %.12g, step by step %.12g", (unsigned long)seed, what, a, b);
}

static void same(const struct job_result *a, const struct job_result *b, uint64_t seed)
{
    near(a->wall_s, b->wall_s, a->wall_s, "wall", seed);
    for (unsigned i = 0; i < BADPUT_COUNT; i++)
        near(a->badput_s[i], b->badput_s[i], a->wall_s, badput_names[i], seed);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        near(a->restart_link_s[i], b->restart_link_s[i], a->wall_s, restart_link_names[i], seed);
    near(a->part.load_s, b->part.load_s, a->wall_s, "load", seed);
    near(a->steps_completed, b->steps_completed, a->steps_completed, "steps", seed);
    near((double)a->failures, (double)b->failures, 0, "failures", seed);
    near((double)a->interruptions, (double)b->interruptions, 0, "interruptions", seed);
    near((double)a->checkpoints, (double)b->checkpoints, 0, "checkpoints", seed);
    near((double)a->spares_taken, (double)b->spares_taken, 0, "spares", seed);
    near((double)a->rollbacks_past_corrupt, (double)b->rollbacks_past_corrupt, 0, "rollbacks",
         seed);
    assert_int_equal(a->finished, b->finished);
}

/* Stretches without a failure are played in closed form: the same as every step by itself. */
static void test_step_by_step(void **state)
{
    for (uint64_t seed = 0; seed < JOBS; seed++) {
        struct job_case job;
        struct job_result fast, slow;
        job_swarm_make(&job, seed);
        run(&job, seed, false, &fast);
        run(&job, seed, true, &slow);
        same(&fast, &slow, seed);
        job_case_free(&job);
    }
}

/* A job in place, its failures a list of moments, all of it random. Its state is ordered: the
 * copies it has, and then how far it is from the next. A failure strikes both of two such jobs at
 * the same moment and keeps that order, so the one that is ahead stays ahead. */
enum {
    MOMENTS = 40
};
static void make_ordered(struct job_case *job, uint64_t seed, struct trace_event *events)
{
    double at_s = 0.0;
    job_case_make(job, 2000.0 + 4000.0 * random_at(seed, 0), 20.0 * random_at(seed, 1));
    job_case_save(job, 400.0 * random_at(seed, 2), 50.0 * random_at(seed, 3),
                  seed % 2 == 0 ? 0.0 : 100.0 * random_at(seed, 4));
    job->spec.recovery.restart.links[LINK_DETECT].mean_s = 30.0 * random_at(seed, 5);
    job->spec.recovery.restart.links[LINK_START].mean_s = 200.0 * random_at(seed, 6);
    for (uint32_t i = 0; i < MOMENTS; i++) {
        at_s -= 600.0 * log(random_at(seed, 7 + i));
        events[i] = (struct trace_event){.at_s = at_s};
    }
    job_case_trace(job, events, MOMENTS, UNIT_JOB);
}

static double wall_of(const struct job_case *job)
{
    struct job_result out;
    run(job, 1, false, &out);
    return out.wall_s;
}

static void test_one_more_failure(void **state)
{
    unsigned later = 0;
    for (uint64_t n = 0; n < 1000; n++) {
        struct job_case job;
        struct trace_event events[MOMENTS], fewer[MOMENTS];
        uint64_t seed = random_hash(n, 1);
        make_ordered(&job, seed, events);
        double with = wall_of(&job);
        uint32_t left_out = (uint32_t)(random_at(seed, 100) * MOMENTS), kept = 0;
        for (uint32_t i = 0; i < MOMENTS; i++)
            if (i != left_out)
                fewer[kept++] = events[i];
        job.causes[0].trace = fewer;
        job.causes[0].trace_count = kept;
        double without = wall_of(&job);
        assert_true(with >= without * (1.0 - 1e-12));
        later += with > without;
        job_case_free(&job);
    }
    assert_true(later > 100);
}

static void test_faster_checkpoint(void **state)
{
    for (uint64_t n = 0; n < 1000; n++) {
        struct job_case job;
        struct trace_event events[MOMENTS];
        uint64_t seed = random_hash(n, 2);
        make_ordered(&job, seed, events);
        double slower = wall_of(&job);
        job.spec.checkpoint.plan.levels[0].stall_s *= random_at(seed, 101);
        job.spec.checkpoint.plan.levels[0].persist_s *= random_at(seed, 102);
        assert_true(wall_of(&job) <= slower * (1.0 + 1e-12));
        job_case_free(&job);
    }
}

/* Empty places are not struck, so that one with more spares may be struck where the other waits:
 * true of the mean over the same failures, not of each. */
static void test_more_spares(void **state)
{
    double before = INFINITY;
    for (uint64_t spares = 0; spares <= 8; spares = spares == 0 ? 1 : 2 * spares) {
        struct job_case job;
        double sum = 0.0;
        job_case_make(&job, 20 * DAY, 60.0);
        job_case_save(&job, HOUR, 60.0, 0.0);
        job_case_nodes(&job, 64, 8, "hot-spare");
        job.spec.recovery.spares = spares;
        job.spec.recovery.repair = (struct duration){DURATION_LOGNORMAL, 12 * HOUR, 1.0};
        job.spec.recovery.restart.links[LINK_START].mean_s = 300.0;
        job_case_fail(&job, 64 * 6 * HOUR)->unit = UNIT_NODE;
        for (uint64_t seed = 0; seed < 100; seed++) {
            struct job_result out;
            run(&job, seed, false, &out);
            sum += out.wall_s;
        }
        assert_true(sum < before);
        before = sum;
        job_case_free(&job);
    }
}

static void scale_duration(struct duration *duration, double by)
{
    duration->mean_s *= by; /* -1: recovery's own stays negative */
}

static void scale(struct job_case *job, double by)
{
    struct job_spec *spec = &job->spec;
    double step_s = condition_step_s(job->conditions, &condition_ideal) * by;
    condition_destroy(job->conditions);
    job->conditions = condition_fixed(step_s);
    spec->duration_s *= by;
    spec->maintenance_every_s *= by;
    spec->maintenance_s *= by;
    spec->checkpoint.interval_s *= by;
    for (unsigned i = 0; i < CHECKPOINT_LEVEL_MAX; i++) {
        spec->checkpoint.plan.levels[i].stall_s *= by;
        spec->checkpoint.plan.levels[i].persist_s *= by;
        spec->checkpoint.plan.levels[i].load_s *= by;
    }
    scale_duration(&spec->recovery.repair, by);
    scale_duration(&spec->recovery.manual_repair, by);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        scale_duration(&spec->recovery.restart.links[i], by);
    for (unsigned i = 0; i < spec->cause_count; i++) {
        struct failure_cause *cause = &job->causes[i];
        cause->mtbf_s *= by;
        cause->early_s *= by;
        scale_duration(&cause->detect, by);
        scale_duration(&cause->repair, by);
        scale_duration(&cause->slow_time, by);
    }
}

/* Cascades follow within an hour, whatever the scale, and are left out. */
static void test_scaling(void **state)
{
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct job_case job;
        struct job_result one, eight;
        job_swarm_make(&job, seed);
        for (unsigned i = 0; i < job.spec.cause_count; i++)
            job.causes[i].cascade_ratio = 0.0;
        run(&job, seed, false, &one);
        scale(&job, 8.0);
        run(&job, seed, false, &eight);
        assert_true(eight.wall_s == 8.0 * one.wall_s);
        for (unsigned i = 0; i < BADPUT_COUNT; i++)
            assert_true(eight.badput_s[i] == 8.0 * one.badput_s[i]);
        assert_true(eight.steps_completed == one.steps_completed);
        assert_true(eight.failures == one.failures && eight.checkpoints == one.checkpoints);
        job_case_free(&job);
    }
}

enum {
    PLACES = 12,
    BLOWS = 30
};
/* The same blows on the same parts of the job, under other numbers. */
static void test_permuted_nodes(void **state)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct job_case job;
        struct job_result plain, permuted;
        struct trace_event events[BLOWS];
        uint32_t replica_of[PLACES], begin[PLACES + 1], other[PLACES];
        job_case_make(&job, 4000.0, 10.0);
        job_case_save(&job, 200.0, 10.0, 0.0);
        job_case_nodes(&job, PLACES, 6, recovery_kinds[seed % recovery_kind_count]->head.name);
        job.spec.recovery.restart.links[LINK_START].mean_s = 50.0;
        double at_s = 0.0;
        for (uint32_t i = 0; i < BLOWS; i++) {
            at_s -= 300.0 * log(random_at(seed, i));
            uint32_t unit = (uint32_t)(random_at(seed, 100 + i) * PLACES);
            events[i] = (struct trace_event){at_s, unit, 700.0 * random_at(seed, 200 + i), NULL};
        }
        job_case_trace(&job, events, BLOWS, UNIT_NODE);
        for (uint32_t i = 0; i < PLACES; i++) {
            other[i] = (i * 5 + (uint32_t)seed) % PLACES;
            replica_of[i] = i / 2;
            begin[i + 1] = i + 1;
        }
        begin[0] = 0;
        job.spec.replicas_on = replica_of;
        job.spec.replicas_begin = begin;
        run(&job, seed, false, &plain);
        for (uint32_t i = 0; i < PLACES; i++)
            replica_of[other[i]] = i / 2;
        for (uint32_t i = 0; i < BLOWS; i++)
            events[i].unit = other[events[i].unit];
        run(&job, seed, false, &permuted);
        assert_memory_equal(plain.badput_s, permuted.badput_s, sizeof plain.badput_s);
        assert_true(plain.wall_s == permuted.wall_s && plain.failures == permuted.failures);
        assert_true(plain.failures > 0);
        job_case_free(&job);
    }
}

static void add_lost(void *context, const struct interruption *one)
{
    *(double *)context += one->lost_s;
}

/* What is lost is lost in an interruption, or at a planned restart from a copy that nobody can
 * read: in jobs that are stopped every day, of whose copies one in two is such. */
static void test_lost_work_has_its_stops(void **state)
{
    unsigned planned = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct job_case job;
        struct job_result out;
        double told_s = 0.0;
        job_swarm_make(&job, seed);
        job.spec.maintenance_every_s = DAY;
        job.spec.maintenance_s = HOUR;
        job.spec.checkpoint.corrupt_ratio = 0.5;
        struct job_spec spec = job.spec;
        spec.causes = job.causes;
        job_run(&spec, job.conditions, seed,
                &(struct job_observer){.context = &told_s, .interruption = add_lost}, &out);
        const double lost_s = out.badput_s[BADPUT_lost_work];
        near(told_s + out.part.planned_lost_s, lost_s, out.wall_s, "lost work", seed);
        assert_true(out.part.planned_lost_s >= 0.0 && told_s >= 0.0);
        planned += out.part.planned_lost_s > 0.0 && told_s > 0.0;
        job_case_free(&job);
    }
    assert_true(planned > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_by_step),
        cmocka_unit_test(test_one_more_failure),
        cmocka_unit_test(test_faster_checkpoint),
        cmocka_unit_test(test_more_spares),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_permuted_nodes),
        cmocka_unit_test(test_lost_work_has_its_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
