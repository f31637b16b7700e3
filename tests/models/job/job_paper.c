#include "tests/models/job/job_paper.h"

#include <math.h>

#include "tests/test.h"

void job_paper_make(struct job_case *job, double work_s)
{
    job_case_make(job, work_s, 10.0);
    job_case_save(job, 40.0, 8.0, 0.0);
    job->spec.checkpoint.plan.levels[0].load_s = 12.0;
    job->spec.recovery.restart.links[LINK_DETECT].mean_s = 4.0;
    job->spec.recovery.restart.links[LINK_START].mean_s = 16.0;
    job->spec.recovery.restart.links[LINK_WARMUP].mean_s = 4.0;
}

void job_paper_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static void check(const struct job_result *out, const struct job_paper *is)
{
    job_paper_near(out->wall_s, is->wall);
    job_paper_near(out->badput_s[BADPUT_useful], is->useful);
    job_paper_near(out->badput_s[BADPUT_checkpoint], is->checkpoint);
    job_paper_near(out->badput_s[BADPUT_lost_work], is->lost);
    job_paper_near(out->badput_s[BADPUT_detect], is->detect);
    job_paper_near(out->badput_s[BADPUT_restart], is->restart);
    job_paper_near(out->badput_s[BADPUT_wait], is->wait);
    job_paper_near(out->badput_s[BADPUT_degraded], is->degraded);
    job_paper_near(out->part.load_s, is->load);
    assert_int_equal(out->failures, is->failures);
    assert_int_equal(out->interruptions, is->interruptions);
}

/* Played both ways. */
void job_paper_play(const struct job_case *job, const struct job_paper *expected)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    for (int step_by_step = 0; step_by_step < 2; step_by_step++) {
        struct job_result out;
        job_run(&spec, job->conditions, 1,
                &(struct job_observer){.step_by_step = step_by_step != 0}, &out);
        job_case_check(job, &out);
        check(&out, expected);
    }
}
