/* Expected times of checkpointed work under Poisson failures, which have closed forms: J. T. Daly,
 * Future Generation Computer Systems 22, 2006; derivations in docs/models/jobs.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "job_case.h"
#include "sim/units.h"

enum {
    REPLICATIONS = 10000
};
struct row {
    double work, tau, delta, restart, mtbf; /* hours */
    double expected[3];                     /* by enum strike */
};
/* The printed values; the functions below give all their digits. */
static const struct row rows[] = {
    {100, 1, 0.05, 0.1, 10, {111.823270, 111.817716, 111.222627}},
    {500, 2, 1.0 / 12, 1.0 / 6, 24, {547.899164, 547.886013, 545.878633}},
    {168, 0.5, 1.0 / 60, 1.0 / 6, 3.0931, {199.401168, 199.121887, 197.765961}},
    {100, 1, 0.05, 5, 10, {182.530938, 166.065916, 162.756377}},
};
enum {
    ROWS = sizeof rows / sizeof *rows
};

static double segment(const struct row *row, int strike)
{
    double m = row->mtbf, r = row->restart, s = row->tau + row->delta;
    switch (strike) {
    case STRIKE_ALWAYS:
        return m * exp(r / m) * expm1(s / m);
    case STRIKE_RUNNING:
        return (m + r) * expm1(s / m);
    default:
        return row->delta + (m + r) * expm1(row->tau / m);
    }
}

static void make(struct job_case *job, const struct row *row, int strike)
{
    job_case_make(job, row->work * HOUR, row->tau * HOUR / 4.0);
    job_case_save(job, row->tau * HOUR, row->delta * HOUR, 0.0);
    job_case_fail(job, row->mtbf * HOUR);
    job->spec.strike = strike;
    job->spec.recovery.restart.links[LINK_START].mean_s = row->restart * HOUR;
}

/* Var of one segment, failures striking all (reliability.md). */
__attribute__((unused)) static double segment_variance(const struct row *row)
{
    double m = row->mtbf, r = row->restart, s = row->tau + row->delta, k = expm1(s / m);
    double attempt = m - s / k, recovery = m * expm1(r / m);
    double var_attempt = m * m - s * s * exp(s / m) / (k * k);
    double var_recovery = m * m * (exp(2 * r / m) - 2 * (r / m) * exp(r / m) - 1);
    double sum = attempt + recovery;
    return k * (var_attempt + var_recovery) + exp(s / m) * k * sum * sum;
}

static void check_mean(const struct job_sample *sample, double expected_s)
{
    if (fabs(sample->mean - expected_s) > 3.0 * sample->error) {
        fail_msg("mean %.6f h, expected %.6f h, standard error %.6f h", sample->mean / HOUR,
                 expected_s / HOUR, sample->error / HOUR);
    }
}

static void test_expected_times(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        for (int strike = STRIKE_ALWAYS; strike <= STRIKE_WORKING; strike++) {
            struct job_case job;
            double expected = rows[i].work / rows[i].tau * segment(&rows[i], strike);
            assert_true(fabs(expected - rows[i].expected[strike]) < 1e-6);
            make(&job, &rows[i], strike);
            struct job_sample sample = job_case_sample(&job, 1 + 100000 * i, REPLICATIONS);
            check_mean(&sample, expected * HOUR);
            job_case_free(&job);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
