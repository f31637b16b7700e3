/* Each recovery policy against each link of the restart chain, worked out on paper: a link's time
 * appears exactly once where the policy walks it, and nowhere else. Retirement, slow units, and the
 * draws that policies under comparison share. */
#include <math.h>
#include <string.h>

#include "sim/units.h"
#include "tests/models/job/job_paper.h"
#include "tests/test.h"

#define BIT(link) (1u << LINK_##link)
#define FIND (BIT(DETECT) | BIT(DIAGNOSE))
#define RUN (BIT(START) | BIT(COMMUNICATORS) | BIT(WARMUP))

/* Link i lasts 2^i seconds, so that every sum tells its links; communicators .5 s more for each of
 * 16 ranks. */
static double link_s(unsigned link)
{
    return ldexp(1.0, (int)link) + (link == LINK_COMMUNICATORS ? 8.0 : 0.0);
}

static double links_s(unsigned links)
{
    double sum_s = 0.0;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        sum_s += links >> link & 1u ? link_s(link) : 0.0;
    return sum_s;
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

/* Two nodes of one replica (or of two, for those that go on with fewer) lose a node at 60. */
static void play(const char *policy, uint32_t replicas, uint64_t spares, double repair_s, int unit,
                 struct job_result *out, struct told *told)
{
    struct job_case job;
    const struct trace_event event = {.at_s = 60, .unit = 0, .repair_s = repair_s};
    const struct job_observer observer = {.context = told, .interruption = keep};
    job_paper_make(&job, 80.0);
    job_case_nodes(&job, 2, replicas, policy);
    job.spec.recovery.spares = spares;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        job.spec.recovery.restart.links[link].mean_s = ldexp(1.0, (int)link);
    job.spec.recovery.restart.communicators_per_rank_s = 0.5;
    job_case_trace(&job, &event, 1, unit);
    struct job_spec spec = job.spec;
    spec.causes = job.causes;
    *told = (struct told){.count = 0};
    job_run(&spec, job.conditions, 1, &observer, out);
    job_case_check(&job, out);
    assert_int_equal(told->count, 1);
    job_case_free(&job);
}

static void check_links(const struct job_result *out, const struct told *told, unsigned links)
{
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        double expected = links >> link & 1u ? link_s(link) : 0.0;
        job_paper_near(out->restart_link_s[link], expected);
        job_paper_near(told->last.links_s[link], expected);
    }
    job_paper_near(out->badput_s[BADPUT_detect], link_s(LINK_DETECT));
    job_paper_near(out->badput_s[BADPUT_restart], links_s(links) - link_s(LINK_DETECT) + 12.0);
    job_paper_near(out->part.load_s, 12.0);
    job_paper_near(told->last.load_s, 12.0);
}

/* 48 s are saved at 60, so 12 s are lost; 40 s of steps and the last save of 8 s follow the chain.
 * Where no spare stands by, the repair of 900 s is over at 960, whatever came before the wait. */
static void test_links_of_policies(void **state)
{
    static const struct {
        const char *policy;
        uint64_t spares;
        unsigned links, before_wait; /* before_wait 0: it waits for nothing */
    } rows[] = {
        {"restart-in-place", 0, FIND | RUN, 0},
        {"wait-for-repair", 0, FIND | RUN | BIT(CORDON) | BIT(SCHEDULE), FIND | BIT(CORDON)},
        {"hot-spare", 1, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE), 0},
        {"hot-spare", 0, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE), FIND | BIT(CORDON)},
        {"warm-spare", 1, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE), 0},
        {"warm-spare", 0, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE),
         FIND | BIT(CORDON)},
        {"cold-spare", 1, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE) | BIT(PROVISION),
         0},
        {"cold-spare", 0, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE),
         FIND | BIT(CORDON)},
        {"elastic-shrink", 1, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE), 0},
        {"elastic-shrink", 0, FIND | RUN | BIT(CORDON), FIND | BIT(CORDON)},
        {"replica-level", 1, FIND | RUN | BIT(CORDON) | BIT(ALLOCATE), 0},
        {"replica-level", 0, FIND | RUN | BIT(CORDON), FIND | BIT(CORDON)},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_result out;
        struct told told;
        play(rows[i].policy, 1, rows[i].spares, 900.0, UNIT_NODE, &out, &told);
        check_links(&out, &told, rows[i].links);
        double wait_s = rows[i].before_wait ? 900.0 - links_s(rows[i].before_wait) : 0.0;
        job_paper_near(out.badput_s[BADPUT_wait], wait_s);
        job_paper_near(told.last.wait_s, wait_s);
        job_paper_near(out.badput_s[BADPUT_lost_work], 12.0);
        job_paper_near(out.wall_s, 60.0 + links_s(rows[i].links) + wait_s + 12.0 + 48.0);
        job_paper_near(told.last.resumed_at_s, out.wall_s - 48.0);
        assert_int_equal(out.spares_taken, rows[i].spares);
        assert_int_equal(told.last.spare_taken, rows[i].spares);
        assert_int_equal(out.end, JOB_END_done);
    }
}

/* A restart mends it: no policy waits for a node or takes one, and each walks the same links. */
static void test_links_of_software(void **state)
{
    static const struct {
        const char *policy;
        unsigned links;
    } rows[] = {
        {"restart-in-place", FIND | RUN},
        {"wait-for-repair", FIND | RUN | BIT(CORDON) | BIT(SCHEDULE)},
        {"hot-spare", FIND | RUN | BIT(CORDON) | BIT(ALLOCATE)},
        {"warm-spare", FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE)},
        {"cold-spare", FIND | RUN | BIT(CORDON) | BIT(ALLOCATE) | BIT(SCHEDULE)}, /* boots none */
        {"elastic-shrink", FIND | RUN | BIT(CORDON)},
        {"replica-level", FIND | RUN | BIT(CORDON)},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_result out;
        struct told told;
        bool spare = recovery_find(rows[i].policy)->has_spares;
        play(rows[i].policy, 1, spare ? 1 : 0, 0.0, UNIT_JOB, &out, &told);
        check_links(&out, &told, rows[i].links);
        job_paper_near(out.wall_s, 60.0 + links_s(rows[i].links) + 12.0 + 48.0);
        assert_int_equal(out.spares_taken, 0);
        assert_true(out.badput_s[BADPUT_wait] == 0.0 && told.last.wait_s == 0.0);
        assert_false(told.last.spare_taken);
    }
}

/* The other replica goes on: the chain is told, but it is no time of the job. It loses 2 s of a
 * step (at 60), and the two steps' worth that it makes alone until its work is done. */
static void test_links_beside_others(void **state)
{
    struct job_result out;
    struct told told;
    const unsigned links = FIND | RUN | BIT(CORDON) | BIT(ALLOCATE);
    play("replica-level", 2, 1, 900.0, UNIT_NODE, &out, &told);
    assert_true(told.last.others_went_on);
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++) {
        job_paper_near(told.last.links_s[link], links >> link & 1u ? link_s(link) : 0.0);
        job_paper_near(out.restart_link_s[link], 0.0);
    }
    job_paper_near(told.last.load_s, 12.0);
    job_paper_near(out.badput_s[BADPUT_restart] + out.badput_s[BADPUT_detect], 0.0);
    job_paper_near(out.badput_s[BADPUT_lost_work], 2.0);
}

/* A node that failed so often is not repaired any more: of two nodes without spares the job ends
 * there, at the k-th failure of one node, whichever of the two; k failures of both do not end it.
 */
static void test_retirement(void **state)
{
    static const struct trace_event log[] = {{20, 0, 5, "x"},  {40, 1, 5, "x"},  {60, 0, 5, "x"},
                                             {80, 1, 5, "x"},  {100, 1, 5, "x"}, {120, 0, 5, "x"},
                                             {140, 0, 5, "x"}, {160, 0, 5, "x"}};
    static const struct {
        uint64_t after, failures; /* of the job until it stands */
        double stands_s;
    } rows[] = {{1, 1, 20}, {2, 3, 60}, {3, 5, 100}, {4, 7, 140}, {5, 8, 160}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 1000.0, 1.0);
        job_case_save(&job, 1.0, 0.0, 0.0);
        job_case_nodes(&job, 2, 1, "wait-for-repair");
        job_case_trace(&job, log, 8, UNIT_NODE);
        job.spec.recovery.retire_after = rows[i].after;
        job_case_play(&job, 1, &out);
        assert_int_equal(out.end, JOB_END_no_nodes);
        assert_int_equal(out.failures, rows[i].failures);
        job_paper_near(out.wall_s, rows[i].stands_s);
        job_case_free(&job);
    }
}

/* Retired nodes come back neither to the job nor to stand by: each takes one of the spares. */
static void test_retirement_takes_spares(void **state)
{
    static const struct trace_event log[] = {{20, 0, 5, "x"}, {40, 2, 5, "x"}, {60, 3, 5, "x"}};
    for (uint64_t after = 0; after <= 1; after++) {
        struct job_case job;
        struct job_result out;
        job_case_make(&job, 100.0, 1.0);
        job_case_save(&job, 1.0, 0.0, 0.0);
        job_case_nodes(&job, 2, 1, "hot-spare");
        job.spec.recovery.spares = 2;
        job.spec.recovery.retire_after = after;
        job_case_trace(&job, log, 3, UNIT_NODE);
        job_case_play(&job, 1, &out);
        /* Without retirement node 0 is back at 25 and stands in for node 2 before node 3 does. */
        assert_int_equal(out.spares_taken, 2);
        assert_int_equal(out.failures, after ? 3 : 2);
        assert_int_equal(out.skipped.count, after ? 0 : 1);
        assert_int_equal(out.end, after ? JOB_END_no_nodes : JOB_END_done);
        job_case_free(&job);
    }
}

/* Steps of 10 s, of 20 s while a GPU runs at half its speed, 100 s long from its onset. 12 steps:
 * two until 20, five until 120, five until 170. The same GPU once more meanwhile is nothing;
 * another one is slow until 140: six slow steps. Once it is well it may become slow again. */
static void test_slow_twice(void **state)
{
    static const struct {
        struct trace_event second;
        double wall, degraded;
    } rows[] = {
        {{.at_s = 40, .unit = 3}, 170, 50},
        {{.at_s = 40, .unit = 4}, 180, 60},
        {{.at_s = 130, .unit = 3}, 210, 90}, /* from 130 on, four steps of 20 s */
        {{.at_s = 119, .unit = 3}, 170, 50},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct job_case job;
        struct job_result out;
        const struct trace_event events[] = {{.at_s = 20, .unit = 3}, rows[i].second};
        job_case_make(&job, 120.0, 10.0);
        struct failure_cause *cause = job_case_trace(&job, events, 2, UNIT_GPU);
        cause->effect = EFFECT_SLOW;
        cause->slow_ratio = 0.5;
        cause->slow_time.mean_s = 100.0;
        cause->detect.mean_s = 1e9;
        job_case_play(&job, 1, &out);
        job_paper_near(out.wall_s, rows[i].wall);
        job_paper_near(out.badput_s[BADPUT_degraded], rows[i].degraded);
        assert_int_equal(out.failures, 2);
        assert_int_equal(out.interruptions, 0);
        job_case_free(&job);
    }
}

enum {
    KEPT = 64
};
struct met {
    struct fleet_event events[KEPT];
    double repair_s[KEPT];
    unsigned count;
};

static void meet(void *context, const struct fleet_event *event, double at_s, double repair_s)
{
    struct met *met = context;
    (void)at_s;
    if (met->count < KEPT) {
        met->events[met->count] = *event;
        met->repair_s[met->count++] = repair_s;
    }
}

static void meet_failures(const char *policy, uint64_t spares, double interval_s,
                          struct duration detect, struct met *met)
{
    struct job_case job;
    struct job_result out;
    const struct job_observer observer = {.context = met, .failure = meet};
    job_case_make(&job, 40.0 * DAY, 10.0);
    job_case_nodes(&job, 4, 4, policy);
    job_case_save(&job, interval_s, 5.0, 0.0);
    job_case_fail(&job, 2.0 * DAY);
    struct failure_cause *node = job_case_fail(&job, 12.0 * DAY);
    node->name = "node";
    node->unit = UNIT_NODE;
    job.spec.recovery.spares = spares;
    job.spec.recovery.repair = (struct duration){DURATION_EXPONENTIAL, 2.0 * HOUR, 0.0};
    job.spec.recovery.restart.links[LINK_DETECT] = detect;
    struct job_spec spec = job.spec;
    spec.causes = job.causes;
    met->count = 0;
    job_run(&spec, job.conditions, 11, &observer, &out);
    assert_true(met->count > 16);
    job_case_free(&job);
}

/* Whatever a point of a study varies, it meets the same failures at the same exposed time, of the
 * same cause and number, with the same repairs: up to the end of the shorter of the two runs. */
static void test_common_failures(void **state)
{
    static const struct duration fixed = {DURATION_FIXED, 60.0, 0.0};
    static const struct duration drawn = {DURATION_EXPONENTIAL, 600.0, 0.0};
    static const struct {
        const char *policy;
        uint64_t spares;
        double interval_s;
        const struct duration *detect;
    } rows[] = {{"hot-spare", 4, 600.0, &fixed},    {"hot-spare", 4, 3600.0, &fixed},
                {"hot-spare", 4, 600.0, &drawn},    {"warm-spare", 2, 600.0, &drawn},
                {"cold-spare", 3, 900.0, &fixed},   {"elastic-shrink", 4, 600.0, &drawn},
                {"replica-level", 4, 600.0, &drawn}};
    static struct met base, other;
    meet_failures("hot-spare", 4, 600.0, fixed, &base);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        meet_failures(rows[i].policy, rows[i].spares, rows[i].interval_s, *rows[i].detect, &other);
        for (unsigned n = 0; n < base.count && n < other.count; n++) {
            assert_true(fabs(base.events[n].at_s - other.events[n].at_s) < 1e-6);
            assert_int_equal(base.events[n].cause, other.events[n].cause);
            assert_true(base.events[n].number == other.events[n].number);
            assert_true(base.repair_s[n] == other.repair_s[n]);
        }
    }
}

/* Each purpose has draws of its own: of one failure, and of one seed. */
static void test_own_draws(void **state)
{
    static const char *const purposes[] = {"repair",        "detect",       "in place", "escalate",
                                           "manual repair", "repair fails", "slow time"};
    enum {
        PURPOSES = sizeof purposes / sizeof purposes[0]
    };
    struct job_case job;
    struct arena *arena = arena_create();
    job_case_make(&job, DAY, 10.0);
    job_case_fail(&job, HOUR);
    struct fleet *fleet = fleet_create(arena, job_fleet(&job.spec), 3);
    double before[PURPOSES] = {0.0};
    for (unsigned n = 0; n < 8; n++) {
        struct fleet_event event;
        assert_true(fleet_next(fleet, INFINITY, &event));
        fleet_take(fleet, &event);
        for (unsigned a = 0; a < PURPOSES; a++) {
            double drawn = fleet_uniform(fleet, &event, purposes[a]);
            assert_true(drawn > 0.0 && drawn < 1.0 && drawn != before[a]);
            assert_true(drawn == fleet_uniform(fleet, &event, purposes[a]));
            for (unsigned b = 0; b < a; b++)
                assert_true(drawn != fleet_uniform(fleet, &event, purposes[b]));
            before[a] = drawn;
        }
    }
    arena_destroy(arena);
    job_case_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_of_policies),       cmocka_unit_test(test_links_of_software),
        cmocka_unit_test(test_links_beside_others),     cmocka_unit_test(test_retirement),
        cmocka_unit_test(test_retirement_takes_spares), cmocka_unit_test(test_slow_twice),
        cmocka_unit_test(test_common_failures),         cmocka_unit_test(test_own_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
