/* Expected times of checkpointed work under Poisson failures, which have closed forms: J. T. Daly,
 * Future Generation Computer Systems 22, 2006; derivations in docs/models/jobs.md. */
#include <math.h>
#include <stdlib.h>

#include "sim/units.h"
#include "tests/models/job/job_daly.h"
#include "tests/test.h"

enum {
    REPLICATIONS = 10000
};
/* Var of one segment, failures striking all (reliability.md). */
static double segment_variance(const struct daly_row *row)
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
    if (!(fabs(sample->mean - expected_s) <= 3.0 * sample->error)) {
        fail_msg("mean %.6f h, expected %.6f h, standard error %.6f h", sample->mean / HOUR,
                 expected_s / HOUR, sample->error / HOUR);
    }
}

static void test_expected_times(void **state)
{
    for (unsigned i = 0; i < DALY_ROWS; i++) {
        for (int strike = STRIKE_ALWAYS; strike <= STRIKE_WORKING; strike++) {
            struct job_case job;
            double expected =
                daly_rows[i].work / daly_rows[i].tau * job_daly_segment(&daly_rows[i], strike);
            assert_true(fabs(expected - daly_rows[i].expected[strike]) < 1e-6);
            job_daly_make(&job, &daly_rows[i], strike);
            struct job_sample sample = job_case_sample(&job, 1 + 100000 * i, REPLICATIONS);
            check_mean(&sample, expected * HOUR);
            job_case_free(&job);
        }
    }
}

/* The first row, its restart preceded by a time D that failures cannot strike. */
static void test_sheltered_downtime(void **state)
{
    const struct daly_row *row = &daly_rows[0];
    const double m = row->mtbf, d = 0.5;
    struct job_case job;
    job_daly_make(&job, row, STRIKE_ALWAYS);
    job.spec.recovery.restart.links[LINK_DETECT].mean_s = d * HOUR;
    job.spec.recovery.restart.sheltered[LINK_DETECT] = true;
    double expected =
        row->work / row->tau * (m + d) * exp(row->restart / m) * expm1((row->tau + row->delta) / m);
    struct job_sample sample = job_case_sample(&job, 7, REPLICATIONS);
    check_mean(&sample, expected * HOUR);
    job_case_free(&job);
}

/* (n - 1) s^2 / sigma^2 is about normal with mean n - 1 and variance (n - 1)(2 + excess kurtosis);
 * the sum of 100 segments has an excess well below 2 (that of an exponential is 6, of K of them
 * 6 / K), which the width allows for. */
static void test_variance(void **state)
{
    for (unsigned i = 0; i < DALY_ROWS; i++) {
        struct job_case job;
        job_daly_make(&job, &daly_rows[i], STRIKE_ALWAYS);
        struct job_sample sample = job_case_sample(&job, 31 + 100000 * i, REPLICATIONS);
        double segments = daly_rows[i].work / daly_rows[i].tau;
        double ratio = sample.variance / (segments * segment_variance(&daly_rows[i]) * HOUR * HOUR);
        double width = 3.0 * sqrt((2.0 + 2.0) / (REPLICATIONS - 1));
        if (!(fabs(ratio - 1.0) <= width))
            fail_msg("row %u: variance %.4f of the exact one, +- %.4f allowed", i, ratio, width);
        job_case_free(&job);
    }
}

/* A copy is durable P after its stall: a commit comes each s = tau + c when nothing fails, and
 * R + P + s after a failure. The first one takes s + P; the work is done when the last is durable.
 */
static void test_asynchronous(void **state)
{
    const double m = 4.0, r = 0.2, c = 0.02, p = 0.4, tau = 0.75, s = tau + c;
    const unsigned segments = 100;
    struct job_case job;
    job_case_make(&job, segments * tau * HOUR, tau * HOUR / 5.0);
    job_case_save(&job, tau * HOUR, c * HOUR, p * HOUR);
    job_case_fail(&job, m * HOUR);
    job.spec.recovery.restart.links[LINK_START].mean_s = r * HOUR;
    double first = m * exp(r / m) * expm1((s + p) / m);
    double expected = first + (segments - 1) * m * exp((r + p) / m) * expm1(s / m);
    struct job_sample sample = job_case_sample(&job, 11, REPLICATIONS);
    check_mean(&sample, expected * HOUR);
    job_case_free(&job);
}

static double cost(const struct job_case *given, double interval_s, double *error)
{
    struct job_case job = *given;
    job.spec.checkpoint.interval_s = interval_s;
    struct job_sample sample = job_case_sample(&job, 99, 2000);
    *error = sample.error;
    return sample.mean;
}

/* The closed form stands where simulated times are least, and the search finds it without the
 * closed form: flat as the valley is, what it finds costs no more than 0.1 % above the exact one.
 */
static void test_optimum(void **state)
{
    const double m = 3.0 * HOUR, delta = 0.05 * HOUR, work = 400.0 * HOUR;
    double tau = checkpoint_optimum_s(delta, m), error, at, worse;
    struct job_case job;
    job_case_make(&job, work, 60.0);
    job_case_save(&job, 0.0, delta, 0.0);
    job_case_fail(&job, m);
    job.spec.checkpoint.job_mtbf_s = m;
    at = cost(&job, tau, &error);
    for (double factor = 0.5; factor <= 2.0; factor *= 4.0) {
        worse = cost(&job, factor * tau, &error);
        assert_true(worse > at + 2.0 * error);
    }
    struct job_spec spec = job.spec;
    spec.causes = job.causes;
    spec.checkpoint.kind = checkpoint_find("multi-level"); /* no closed form: searched */
    job_optimal_interval(&spec, job.conditions, 5, NULL);
    double found = spec.checkpoint.interval_s;
    double exact = expm1((tau + delta) / m) / tau, there = expm1((found + delta) / m) / found;
    if (there > exact * 1.001)
        fail_msg("found %.1f s for %.1f s: %.4f times as long", found, tau, there / exact);
    spec.checkpoint.kind = checkpoint_find("sync");
    spec.checkpoint.interval_s = 0.0;
    job_optimal_interval(&spec, job.conditions, 5, NULL);
    assert_true(fabs(spec.checkpoint.interval_s - tau) < 1e-9 * tau);
    job_case_free(&job);
}

static double erlang_b(unsigned servers, double load)
{
    double blocked = 1.0;
    for (unsigned n = 1; n <= servers; n++)
        blocked = load * blocked / (n + load * blocked);
    return blocked;
}

/* Twelve cold spares for 2,048 nodes: with all of them and one node more under repair the job
 * stands, and nothing fails. Insensitive to the law of repair (Sevastyanov 1957). */
static void test_spares(void **state)
{
    const double expected = erlang_b(13, 3.79e-3 * 2048);
    assert_true(fabs(expected - 0.02609) < 1e-5);
    const struct duration repairs[] = {{DURATION_FIXED, 24 * HOUR, 0.0},
                                       {DURATION_LOGNORMAL, 24 * HOUR, 1.2}};
    for (unsigned i = 0; i < 2; i++) {
        struct job_case job;
        job_case_make(&job, HOUR, HOUR);
        job_case_nodes(&job, 2048, 1, "cold-spare");
        job.spec.recovery.spares = 12;
        job.spec.recovery.repair = repairs[i];
        job.spec.strike = STRIKE_RUNNING;
        job.spec.steps = 0;
        job.spec.duration_s = 2000 * DAY;
        job_case_fail(&job, DAY / 3.79e-3)->unit = UNIT_NODE;
        double mean = 0.0, squares = 0.0;
        enum {
            RUNS = 40
        };
        for (unsigned run = 0; run < RUNS; run++) {
            struct job_result out;
            job_case_play(&job, 300 + run, &out);
            double share = out.badput_s[BADPUT_wait] / out.wall_s, delta = share - mean;
            mean += delta / (run + 1);
            squares += delta * (share - mean);
        }
        double error = sqrt(squares / (RUNS - 1) / RUNS);
        if (!(fabs(mean - expected) <= 3.0 * error))
            fail_msg("stalled %.5f +- %.5f, expected %.5f", mean, error, expected);
        assert_true(error < 0.0005);
        job_case_free(&job);
    }
}

/* One node in 2,048 fails and is renewed, the others keep their age: every 3.09 h, not the 0.118 h
 * of a cluster that is new after each failure. */
static void test_renewal_of_one(void **state)
{
    const double each = 3.0931 * HOUR;
    struct job_case job;
    job_case_make(&job, HOUR, HOUR);
    job_case_nodes(&job, 2048, 1, "restart-in-place");
    struct failure_cause *cause = job_case_fail(&job, each * 2048);
    cause->unit = UNIT_NODE;
    cause->kind = failure_find("weibull");
    cause->options.value[cause->kind->head.options.rows[0].offset] = 0.7;
    job.spec.steps = 0;
    job.spec.duration_s = 54 * DAY;
    double failures = 0.0, squares = 0.0;
    enum {
        RUNS = 400
    };
    for (unsigned run = 0; run < RUNS; run++) {
        struct job_result out;
        job_case_play(&job, run, &out);
        failures += (double)out.failures / RUNS;
        squares += (double)out.failures * (double)out.failures / RUNS;
    }
    double error = sqrt((squares - failures * failures) / RUNS), expected = 54 * DAY / each;
    if (!(fabs(failures - expected) <= 3.0 * error))
        fail_msg("%.2f failures +- %.2f, expected %.2f", failures, error, expected);
    job_case_free(&job);
}

/* Productive share of a job that fails every m hours: closed form and simulation. */
static double ettr(double m, double tau, double delta, double restart, double *simulated)
{
    struct daly_row row = {
        .work = 400 * tau, .tau = tau, .delta = delta, .restart = restart, .mtbf = m};
    struct job_case job;
    job_daly_make(&job, &row, STRIKE_ALWAYS);
    struct job_sample sample = job_case_sample(&job, 17, 4000);
    job_case_free(&job);
    *simulated = row.work * HOUR / sample.mean;
    return tau / job_daly_segment(&row, STRIKE_ALWAYS);
}

/* Meta RSC-1 (Kokolis et al., HPCA 2025): 6.50 failures per 1000 node-days, nodes of 8 GPUs. The
 * exact values are those of 16,000 and 8,000 GPUs. */
static void test_rsc1(void **state)
{
    static const struct {
        double gpus, tau, exact;
    } cases[] = {{16000, 1.0, 0.720}, {16000, 1.0 / 12, 0.934}, {8000, 0.5, 0.913}};
    assert_true(fabs(24.0 / (6.50e-3 * 16384 / 8) - 1.803) < 0.0005);
    for (unsigned i = 0; i < 3; i++) {
        double m = 24.0 / (6.50e-3 * cases[i].gpus / 8), simulated;
        double exact = ettr(m, cases[i].tau, 0.0, 1.0 / 12, &simulated);
        if (!(fabs(exact - cases[i].exact) <= 0.001 && fabs(simulated - cases[i].exact) <= 0.001))
            fail_msg("ETTR %.4f, simulated %.4f, expected %.3f", exact, simulated, cases[i].exact);
    }
}

/* Llama 3 405B (Grattafiori et al. 2024, section 3.3.4): 419 unexpected interruptions in 54 days
 * and more than 90 % effective time, which leaves a region of stalls and restarts. */
static void test_llama3(void **state)
{
    static const struct {
        double stall_s, restart_min;
        bool reached;
    } cases[] = {{10, 11, true}, {30, 5, true}, {10, 15, false}, {30, 10, false}};
    const double m = 54 * 24 / 419.0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        double simulated, delta = cases[i].stall_s / HOUR;
        double tau = checkpoint_optimum_s(delta, m);
        double exact = ettr(m, tau, delta, cases[i].restart_min * MINUTE / HOUR, &simulated);
        if ((exact > 0.9) != cases[i].reached || !(fabs(simulated - exact) <= 0.002)) {
            fail_msg("%.0f s, %.0f min: %.4f, simulated %.4f", cases[i].stall_s,
                     cases[i].restart_min, exact, simulated);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expected_times), cmocka_unit_test(test_sheltered_downtime),
        cmocka_unit_test(test_variance),       cmocka_unit_test(test_asynchronous),
        cmocka_unit_test(test_optimum),        cmocka_unit_test(test_spares),
        cmocka_unit_test(test_renewal_of_one), cmocka_unit_test(test_rsc1),
        cmocka_unit_test(test_llama3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
