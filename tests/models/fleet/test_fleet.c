/* The fleet: rates as counted, one renewal at a time, lazily sorted lives against lives that are
 * all drawn, lemons, blows to domains, early rates, cascades, traces. */
#include <math.h>
#include <stdlib.h>

#include "models/duration/duration.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/models/fleet/fleet_case.h"
#include "tests/test.h"

enum {
    ROOM = 40000
};
static struct fleet_event events[ROOM];
static const double run_s = 54.0 * DAY;
/* Of a node, so that 2,048 fail 419 times in 54 days. */
static const double node_mtbf_s = 2048.0 * 54.0 * DAY / 419.0;

static int within(double measured, double expected, double deviation)
{
    return fabs(measured - expected) < 4.5 * deviation;
}

/* Failures of `seeds` replications, all nodes in place. */
static double failures(const struct fleet_case *c, double limit_s, unsigned seeds)
{
    struct arena *arena = arena_create();
    double count = 0.0;
    for (unsigned seed = 0; seed < seeds; seed++)
        count += fleet_case_play(fleet_create(arena, job_fleet(&c->spec), seed), limit_s, NULL, 0);
    arena_destroy(arena);
    return count;
}

/* Llama 3: 419 in 54 days on 2,048 nodes are one every 3.093 h. RSC-1: 6.50 for 1000 node-days. */
static void test_job_mtbf(void **state)
{
    struct fleet_case c;
    fleet_case_create(2048, 0, &c);
    assert_true(isinf(fleet_job_mtbf_s(job_fleet(&c.spec))));
    fleet_case_add(&c, "all", "exponential", 0, UNIT_NODE, node_mtbf_s);
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) / HOUR - 3.0931) < 5e-5);
    c.causes[0].effect = EFFECT_SLOW;
    assert_true(isinf(fleet_job_mtbf_s(job_fleet(&c.spec))));
    fleet_case_create(2048, 16, &c);
    fleet_case_add(&c, "node", "exponential", 0, UNIT_NODE, 1000.0 * DAY / 6.50);
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) / HOUR - 1.803) < 5e-4);
    c.spec.nodes = 16384;
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) / HOUR - 0.2254) < 5e-5);
    fleet_case_create(100, 0, &c);
    fleet_case_add(&c, "gpu", "gamma", 2, UNIT_GPU, 800.0);
    fleet_case_add(&c, "nic", "weibull", 2, UNIT_NIC, 1600.0);
    fleet_case_add(&c, "job", "exponential", 0, UNIT_JOB, 2.0);
    assert_true(fabs(1.0 / fleet_job_mtbf_s(job_fleet(&c.spec)) - (1.0 + 0.5 + 0.5)) < 1e-12);
}

static void test_poisson(void **state)
{
    struct fleet_case c;
    struct arena *arena = arena_create();
    fleet_case_create(64, 4, &c);
    fleet_case_add(&c, "gpu", "exponential", 0, UNIT_GPU, 512.0);
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 3);
    uint32_t count = fleet_case_play(fleet, 2e4, events, ROOM);
    assert_true(within(count, 2e4, sqrt(2e4)));
    double squares = 0.0, hits[64] = {0}, last = 0.0, chi = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(events[i].at_s > last && events[i].unit < 512);
        assert_int_equal(events[i].node, events[i].unit / 8);
        assert_int_equal(events[i].node_count, 1);
        squares += pow(events[i].at_s - last, 2.0);
        last = events[i].at_s;
        hits[events[i].node]++;
    }
    assert_true(within(squares / count, 2.0, sqrt(20.0 / count))); /* E X^2 = 2, E X^4 = 24 */
    for (uint32_t i = 0; i < 64; i++)
        chi += pow(hits[i] - count / 64.0, 2.0) / (count / 64.0);
    assert_true(within(chi, 63.0, sqrt(126.0)));
    arena_destroy(arena);
}

/* Renewals of one new Weibull unit until x scales: W. L. Smith and M. R. Leadbetter, On the renewal
 * function for the Weibull distribution, Technometrics 5, 1963. */
static double weibull_renewals(double k, double x)
{
    enum {
        TERMS = 40
    };
    double plain[TERMS + 1], coefficient[TERMS + 1], sum = 0.0;
    for (int n = 1; n <= TERMS; n++) {
        plain[n] = exp(lgamma(k * n + 1.0) - lgamma(n + 1.0));
        coefficient[n] = plain[n];
        for (int j = 1; j < n; j++)
            coefficient[n] -= plain[j] * coefficient[n - j];
        sum += (n % 2 ? 1.0 : -1.0) * coefficient[n] * exp(k * n * log(x) - lgamma(k * n + 1.0));
    }
    return sum;
}

/* The classic bug: at each failure every node is drawn anew, so that the next comes after the least
 * of N new lives, which are N^(-1/k) of the mean. */
static void test_one_renewal_each(void **state)
{
    struct fleet_case c;
    fleet_case_create(2048, 0, &c);
    struct failure_cause *cause =
        fleet_case_add(&c, "node", "weibull", 0.7, UNIT_NODE, node_mtbf_s);
    double all_redrawn_h = node_mtbf_s * pow(2048.0, -1.0 / 0.7) / HOUR;
    assert_true(fabs(all_redrawn_h - 0.118) < 5e-4);
    double stationary = failures(&c, run_s, 40);
    assert_true(fabs(40.0 * run_s / stationary / HOUR - 3.093) < 0.12);
    assert_true(within(stationary, 40.0 * 419.0, sqrt(40.0 * 419.0 * 1.5)));
    cause->new_units = true;
    double scale_s = node_mtbf_s / tgamma(1.0 + 1.0 / 0.7);
    double expected = 2048.0 * weibull_renewals(0.7, run_s / scale_s),
           fresh = failures(&c, run_s, 40);
    assert_true(fabs(run_s / expected / HOUR - 1.53) < 5e-3);
    assert_true(within(fresh, 40.0 * expected, sqrt(40.0 * expected * 1.5)));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest distance between the two empirical laws; both are sorted here. */
static double distance(double *a, double *b, uint32_t count)
{
    double most = 0.0;
    qsort(a, count, sizeof *a, ascending);
    qsort(b, count, sizeof *b, ascending);
    for (uint32_t i = 0, k = 0; i < count; i++) {
        while (k < count && b[k] <= a[i])
            k++;
        most = fmax(most, fmax(fabs((double)k - i), fabs((double)k - (i + 1.0))) / count);
    }
    return most;
}

/* The moment of failure number `nth` of `units` that are all drawn, each for itself. */
static double brute_force(const struct failure_cause *cause, uint32_t units, uint32_t nth,
                          struct random_stream *stream)
{
    double due[64];
    struct duration life = cause->kind->life(&cause->options, cause->mtbf_s);
    for (uint32_t i = 0; i < units; i++)
        due[i] = (cause->new_units ? duration_quantile_s
                                   : duration_residual_s)(&life, random_uniform(stream));
    for (;; nth--) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < units; i++)
            first = due[i] < due[first] ? i : first;
        if (nth == 1)
            return due[first];
        due[first] += duration_quantile_s(&life, random_uniform(stream));
    }
}

static double lazily(const struct fleet_case *c, uint32_t nth, uint64_t seed)
{
    struct arena *arena = arena_create();
    struct fleet_event event;
    struct fleet *fleet = fleet_create(arena, job_fleet(&c->spec), seed);
    for (uint32_t i = 0; i < nth && fleet_next(fleet, INFINITY, &event); i++)
        fleet_take(fleet, &event);
    arena_destroy(arena);
    return event.at_s;
}

/* Kolmogorov and Smirnov: two samples of n differ by more than 1.95 sqrt(2/n) once in 1000. */
static void test_lazily_as_all_drawn(void **state)
{
    enum {
        SEEDS = 3000
    };
    static double lazy[SEEDS], brute[SEEDS];
    static const struct {
        const char *kind;
        double shape;
        bool new_units;
        uint32_t nth;
    } rows[] = {{"weibull", 0.7, false, 1},  {"weibull", 0.7, true, 20},
                {"gamma", 3.0, true, 1},     {"gamma", 3.0, false, 45},
                {"lognormal", 1.0, true, 9}, {"weibull", 2.6, false, 60}};
    struct arena *arena = arena_create();
    for (unsigned r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        struct fleet_case c;
        fleet_case_create(20, 0, &c);
        fleet_case_add(&c, "node", rows[r].kind, rows[r].shape, UNIT_NODE, 100.0)->new_units =
            rows[r].new_units;
        struct random_stream *stream = random_create(arena, 1, r, "brute");
        for (uint32_t i = 0; i < SEEDS; i++) {
            lazy[i] = lazily(&c, rows[r].nth, i);
            brute[i] = brute_force(&c.causes[0], 20, rows[r].nth, stream);
        }
        assert_true(distance(lazy, brute, SEEDS) < 1.95 * sqrt(2.0 / SEEDS));
        for (uint32_t i = 0; i < SEEDS; i++) /* a planted fault: all come a quarter too late */
            lazy[i] *= 1.25;
        assert_true(distance(lazy, brute, SEEDS) > 1.95 * sqrt(2.0 / SEEDS));
    }
    arena_destroy(arena);
}

/* Which unit fails first is without effect on when: each of 40 GPUs as often as the others. */
static void test_every_unit_alike(void **state)
{
    struct fleet_case c;
    fleet_case_create(5, 0, &c);
    fleet_case_add(&c, "gpu", "weibull", 2.0, UNIT_GPU, 40.0);
    double hits[40] = {0}, chi = 0.0, total = 0.0;
    struct arena *arena = arena_create();
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint32_t count =
            fleet_case_play(fleet_create(arena, job_fleet(&c.spec), seed), 20.0, events, ROOM);
        for (uint32_t i = 0; i < count; i++)
            hits[events[i].unit]++;
        total += count;
    }
    for (uint32_t i = 0; i < 40; i++)
        chi += pow(hits[i] - total / 40.0, 2.0) / (total / 40.0);
    assert_true(chi < 39.0 + 4.5 * sqrt(78.0));
    assert_true(within(total, 400.0 * 20.0, sqrt(400.0 * 20.0)));
    arena_destroy(arena);
}

/* AIReSim's 15 % at six times the rate: 1.75 times as many failures, 9 of 17.5 on lemons. */
static void test_lemons(void **state)
{
    struct fleet_case c;
    fleet_case_create(2000, 200, &c);
    struct failure_cause *cause = fleet_case_add(&c, "node", "lemon", 0.15, UNIT_NODE, 2000.0);
    cause->options.value[1] = 6.0;
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) - 1.0 / 1.75) < 1e-12);
    struct arena *arena = arena_create();
    uint32_t count =
                 fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 5), 20000.0, events, ROOM),
             lemons = 0;
    static uint32_t hits[2000];
    for (uint32_t i = 0; i < count; i++)
        hits[events[i].node]++;
    double on_lemons = 0.0;
    for (uint32_t i = 0; i < 2000; i++) { /* 10 failures against 60: 31 tells them apart */
        lemons += hits[i] > 30;
        on_lemons += hits[i] > 30 ? hits[i] : 0;
    }
    assert_true(within(lemons, 300.0, sqrt(2000.0 * 0.15 * 0.85)));
    assert_true(within(on_lemons, lemons * 60.0, sqrt(lemons * 60.0)));
    assert_true(within(count - on_lemons, (2000.0 - lemons) * 10.0, sqrt(1700.0 * 10.0)));
    arena_destroy(arena);
}

/* 30 domains of 8 and one of 4, hit 0.2: who goes down, and blows that nobody notices. */
static void test_shocks(void **state)
{
    struct fleet_case c;
    fleet_case_create(244, 0, &c);
    fleet_case_add(&c, "rack", "shock", 0.2, UNIT_DOMAIN, 100.0)->domain_nodes = 8;
    double noticed = 30.0 * (1.0 - pow(0.8, 8.0)) + 1.0 - pow(0.8, 4.0), down = 0.0;
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) - 100.0 / noticed) < 1e-12);
    struct arena *arena = arena_create();
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 5);
    uint32_t count = fleet_case_play(fleet, 1e5, events, ROOM);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = events[i].node, hit = 0;
        assert_true(first % 8 == 0 && events[i].node_count == (first == 240 ? 4 : 8));
        for (uint32_t node = first; node < first + events[i].node_count; node++)
            hit += fleet_hit(fleet, &events[i], node);
        assert_true(hit > 0);
        down += hit;
    }
    assert_true(within(count, noticed * 1e3, sqrt(noticed * 1e3)));
    assert_true(within(down, 244.0 * 0.2 * 1e3, sqrt(244.0 * 0.2 * 1e3 * (1.0 + 0.2 * 7.0))));
    arena_destroy(arena);
}

/* Three times the rate for the first day, whatever the law: stationary lives go three times as
 * fast. */
static void test_early(void **state)
{
    static const char *const kinds[] = {"exponential", "weibull"};
    for (unsigned i = 0; i < 2; i++) {
        struct fleet_case c;
        fleet_case_create(256, 0, &c);
        struct failure_cause *cause =
            fleet_case_add(&c, "node", kinds[i], 0.7, UNIT_NODE, 25.6 * DAY);
        cause->early_factor = 3.0;
        cause->early_s = DAY;
        double first_day = failures(&c, DAY, 60), all = failures(&c, 3.0 * DAY, 60);
        assert_true(within(first_day, 60.0 * 30.0, sqrt(60.0 * 30.0 * 2.0)));
        assert_true(within(all - first_day, 60.0 * 20.0, sqrt(60.0 * 20.0 * 2.0)));
    }
}

/* Four of ten failures drag another node of their domain along, that one again, within the hour. */
static void test_cascades(void **state)
{
    struct fleet_case c;
    fleet_case_create(64, 0, &c);
    struct failure_cause *cause =
        fleet_case_add(&c, "gpu", "exponential", 0, UNIT_GPU, 512.0 * DAY);
    cause->cascade_ratio = 0.4;
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) - DAY) <
                1e-6); /* without domains nobody is near */
    cause->domain_nodes = 4;
    assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) - 0.6 * DAY) < 1e-6);
    struct arena *arena = arena_create();
    uint32_t count = fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 9), 9000.0 * DAY,
                                     events, ROOM),
             near = 0;
    for (uint32_t i = 1; i < count; i++) {
        near += events[i].at_s - events[i - 1].at_s < HOUR &&
                events[i].node / 4 == events[i - 1].node / 4 &&
                events[i].node != events[i - 1].node;
    }
    assert_true(within(count, 15000.0, sqrt(15000.0 * 2.5)));
    assert_true(within(near, 6000.0, 150.0));
    arena_destroy(arena);
}

/* Who follows stands on another node of the domain, whichever, and is any of its units; of a domain
 * without another node nobody follows. Failures come once in ten days or so, so that what comes
 * within the hour has followed. */
static void test_who_follows(void **state)
{
    static const struct {
        uint32_t nodes, domain;
        int unit;
        uint32_t each; /* units of a node */
    } cases[] = {{6, 2, UNIT_GPU, 8},  {6, 3, UNIT_NIC, 4}, {6, 4, UNIT_GPU, 8},
                 {5, 4, UNIT_NODE, 1}, {4, 1, UNIT_GPU, 8}, {7, 9, UNIT_NODE, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fleet_case c;
        struct arena *arena = arena_create();
        uint32_t units = cases[i].nodes * cases[i].each, met[7 + 6 * 8][7] = {{0}};
        fleet_case_create(cases[i].nodes, 0, &c);
        c.spec.nics_per_node = 4;
        struct failure_cause *cause =
            fleet_case_add(&c, "x", "exponential", 0, cases[i].unit, units * 10.0 * DAY);
        cause->cascade_ratio = 0.5;
        cause->domain_nodes = cases[i].domain;
        double all_s = cases[i].domain > 1 ? 5.0 * DAY : 10.0 * DAY;
        assert_true(fabs(fleet_job_mtbf_s(job_fleet(&c.spec)) / all_s - 1.0) < 1e-12);
        uint32_t count = fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 3), 15000.0 * DAY,
                                         events, ROOM);
        uint32_t followed = 0, could = 0;
        double later_s[7] = {0.0};
        for (uint32_t k = 0; k + 1 < count; k++) {
            const struct fleet_event *a = &events[k], *b = &events[k + 1];
            uint32_t first = a->node / cases[i].domain * cases[i].domain;
            uint32_t left = cases[i].nodes - first;
            uint32_t size = cases[i].domain < left ? cases[i].domain : left;
            assert_int_equal(a->unit / cases[i].each, a->node);
            could += size > 1;
            if (size > 1 && b->at_s - a->at_s < HOUR && b->node != a->node && b->node >= first &&
                b->node < first + size) {
                followed++;
                met[a->node][b->node]++;
                later_s[b->node] += b->at_s - a->at_s;
                met[7 + b->unit][a->node]++;
            }
        }
        /* half of those that could; a hundredth of the others come by chance */
        assert_true(fabs((double)followed - 0.5 * could) <= 0.03 * could);
        for (uint32_t a = 0; a < cases[i].nodes; a++) {
            uint32_t came = 0;
            for (uint32_t b = 0; b < cases[i].nodes; b++)
                came += met[b][a];
            /* at any moment of the hour, whoever it is */
            assert_true(came == 0 || fabs(later_s[a] / came / HOUR - 0.5) < 0.1);
            for (uint32_t u = 0; u < units; u++) {
                uint32_t b = u / cases[i].each, one = cases[i].domain;
                bool near = a / one == b / one && a != b;
                assert_int_equal(met[a][b] > 0, near);
                assert_int_equal(met[7 + u][a] > 0, near);
            }
        }
        arena_destroy(arena);
    }
}

/* Of the job's rate are causes that stop it and that taint it, not those that slow it. */
static void test_what_counts_as_a_failure(void **state)
{
    static const struct {
        int effect;
        double mtbf_s;
    } cases[] = {{EFFECT_STOP, 2.0}, {EFFECT_CORRUPT, 2.0}, {EFFECT_SLOW, 4.0}};
    for (unsigned i = 0; i < 3; i++) {
        struct fleet_case c;
        fleet_case_create(4, 0, &c);
        fleet_case_add(&c, "a", "exponential", 0, UNIT_JOB, 4.0);
        fleet_case_add(&c, "b", "exponential", 0, UNIT_JOB, 4.0)->effect = cases[i].effect;
        assert_true(fleet_job_mtbf_s(job_fleet(&c.spec)) == cases[i].mtbf_s);
    }
}

static void test_trace(void **state)
{
    static const struct trace_event incidents[] = {{5.0, 17, -1.0, "HBM"},
                                                   {5.0, 16, 3.0, "ECC"},
                                                   {9.0, 33, 0.0, "XID"},
                                                   {12.0, 2, -1.0, "NVLink"}};
    struct fleet_case c;
    struct arena *arena = arena_create();
    struct fleet_event event;
    fleet_case_create(4, 1, &c);
    struct failure_cause *cause = fleet_case_add(&c, "log", "trace", 0, UNIT_GPU, 0.0);
    cause->trace = incidents;
    cause->trace_count = 4;
    c.spec.duration_s = 20.0;
    assert_true(fleet_job_mtbf_s(job_fleet(&c.spec)) == 5.0);
    for (c.spec.duration_s = 9.0; c.spec.duration_s <= 12.0; c.spec.duration_s += 3.0)
        assert_true(fleet_job_mtbf_s(job_fleet(&c.spec)) == 3.0); /* the last second counts */
    c.spec.duration_s = 0.0;                                      /* all of the trace */
    assert_true(fleet_job_mtbf_s(job_fleet(&c.spec)) == 3.0);
    struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), 1);
    assert_false(fleet_next(fleet, 5.0, &event));
    assert_true(fleet_next(fleet, 5.1, &event));
    assert_true(event.at_s == 5.0 && event.unit == 17 && event.node == 2 && event.repair_s < 0.0);
    fleet_take(fleet, &event);
    assert_true(fleet_next(fleet, INFINITY, &event));
    assert_true(event.at_s == 5.0 && event.unit == 16 && event.repair_s == 3.0);
    fleet_take(fleet, &event);
    assert_true(fleet_next(fleet, INFINITY, &event)); /* unit 33 is of the spare */
    assert_true(event.at_s == 12.0 && event.unit == 2);
    fleet_leave(fleet, 2, 6.0);
    fleet_join(fleet, 4, 7.0);
    assert_true(fleet_next(fleet, INFINITY, &event));
    fleet_leave(fleet, 0, 8.0);
    assert_true(fleet_next(fleet, INFINITY, &event));
    assert_true(event.at_s == 9.0 && event.node == 4 && event.repair_s == 0.0);
    fleet_take(fleet, &event);
    assert_false(fleet_next(fleet, INFINITY, &event));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_mtbf),         cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_one_renewal_each), cmocka_unit_test(test_lazily_as_all_drawn),
        cmocka_unit_test(test_every_unit_alike), cmocka_unit_test(test_lemons),
        cmocka_unit_test(test_shocks),           cmocka_unit_test(test_early),
        cmocka_unit_test(test_cascades),         cmocka_unit_test(test_trace),
        cmocka_unit_test(test_who_follows),      cmocka_unit_test(test_what_counts_as_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
