/* Laws that every job of weeks must keep, over random ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "job_swarm.h"

enum {
    JOBS = 3000
};

static void run(const struct job_case *job, uint64_t seed, bool step_by_step,
                struct job_result *out)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    job_run(&spec, job->conditions, seed, step_by_step, NULL, NULL, out);
    job_case_check(job, out);
}

static void near(double a, double b, double scale, const char *what, uint64_t seed)
{
    if (fabs(a - b) > 1e-9 * fmax(scale, 1.0)) {
        fail_msg("seed %lu: %s %.12g, step by step %.12g", (unsigned long)seed, what, a, b);
    }
}

static void same(const struct job_result *a, const struct job_result *b, uint64_t seed)
{
    near(a->wall_s, b->wall_s, a->wall_s, "wall", seed);
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        near(a->badput_s[i], b->badput_s[i], a->wall_s, badput_names[i], seed);
    }
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++) {
        near(a->restart_link_s[i], b->restart_link_s[i], a->wall_s, restart_link_names[i], seed);
    }
    near(a->load_s, b->load_s, a->wall_s, "load", seed);
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
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_by_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
