/* The restart chain alone: its places in order, how long they take, where failures can strike, and
 * draws that depend on the number of the chain. And the list of faults: what comes of one that is
 * over does not come to the next in its row. */
#include <math.h>
#include <string.h>

#include "models/job/parts/job_chain.h"
#include "models/job/parts/job_faults.h"
#include "tests/test.h"

static const int ORDER[] = {LINK_DETECT,        LINK_DIAGNOSE, LINK_CORDON,    PLACE_WAIT,
                            LINK_ALLOCATE,      LINK_SCHEDULE, LINK_PROVISION, LINK_START,
                            LINK_COMMUNICATORS, PLACE_LOAD,    LINK_WARMUP};

static void make_spec(struct job_spec *spec, struct failure_cause *causes)
{
    causes[0] = (struct failure_cause){.detect.mean_s = -1.0};
    causes[1] = (struct failure_cause){.detect = {.law = DURATION_FIXED, .mean_s = 3.0}};
    *spec = (struct job_spec){.causes = causes, .cause_count = 2, .ranks = 1000};
    struct restart_spec *restart = &spec->recovery.restart;
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        restart->links[link] = (struct duration){DURATION_FIXED, 10.0 * (link + 1), 1.0};
    restart->links[LINK_CORDON].mean_s = 0.0;
    restart->communicators_per_rank_s = 0.002;
}

static void choose_all(struct job_chain *chain)
{
    bool links[RESTART_LINK_COUNT];
    memset(links, true, sizeof links);
    job_chain_choose(chain, links, true);
}

static void test_places_in_order(void **state)
{
    struct job_spec spec;
    struct failure_cause causes[2];
    struct job_chain chain;
    make_spec(&spec, causes);
    job_chain_create(&chain, &spec, 1);
    choose_all(&chain);
    job_chain_begin(&chain);
    for (unsigned i = 0; i < PLACE_COUNT; i++) {
        assert_int_equal(job_chain_place(&chain), ORDER[i]);
        job_chain_pass(&chain);
    }
    assert_int_equal(job_chain_place(&chain), PLACE_COUNT);
    job_chain_end(&chain);
    assert_true(chain.over);
    job_chain_resume(&chain);
    assert_false(chain.over);
}

/* Links of 10, 20, ... s, the communicators 2 s more for 1,000 ranks; cordoning takes no time. The
 * watchdog of the second cause notices after 3 s. */
static void test_times(void **state)
{
    static const struct chain_time expected[] = {
        {LINK_DETECT, 10},        {LINK_DIAGNOSE, 20},  {LINK_ALLOCATE, 40},
        {LINK_SCHEDULE, 50},      {LINK_PROVISION, 60}, {LINK_START, 70},
        {LINK_COMMUNICATORS, 82}, {PLACE_LOAD, 33},     {LINK_WARMUP, 90}};
    struct job_spec spec;
    struct failure_cause causes[2];
    struct job_chain chain;
    struct chain_time times[PLACE_COUNT];
    make_spec(&spec, causes);
    job_chain_create(&chain, &spec, 1);
    choose_all(&chain);
    assert_int_equal(job_chain_times(&chain, 33.0, times), sizeof expected / sizeof expected[0]);
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(times[i].place, expected[i].place);
        assert_true(fabs(times[i].s - expected[i].s) < 1e-9);
    }
    job_chain_struck(&chain, 1);
    assert_int_equal(job_chain_times(&chain, 0.0, times), 8); /* nothing is loaded */
    assert_true(times[0].s == 3.0);
    job_chain_noticed(&chain);
    assert_int_equal(job_chain_times(&chain, 0.0, times), 7);
    job_chain_planned(&chain); /* schedule, start, communicators, warm-up */
    assert_int_equal(job_chain_times(&chain, 33.0, times), 5);
    double links_s[RESTART_LINK_COUNT];
    assert_true(fabs(job_chain_beside(&chain, links_s) - (50 + 70 + 82 + 90)) < 1e-9);
    assert_true(links_s[LINK_PROVISION] == 0.0);
}

static void test_where_failures_strike(void **state)
{
    struct job_spec spec;
    struct failure_cause causes[2];
    struct job_chain chain;
    make_spec(&spec, causes);
    for (int link = 0; link <= RESTART_LINK_COUNT;
         link++) { /* sheltered: this one; the last: none */
        for (int strike = STRIKE_ALWAYS; strike <= STRIKE_WORKING; strike++) {
            memset(spec.recovery.restart.sheltered, 0, sizeof spec.recovery.restart.sheltered);
            if (link < RESTART_LINK_COUNT)
                spec.recovery.restart.sheltered[link] = true;
            spec.strike = strike;
            job_chain_create(&chain, &spec, 1);
            assert_int_equal(chain.all_exposed,
                             strike != STRIKE_ALWAYS || link == RESTART_LINK_COUNT);
            for (job_chain_begin(&chain); job_chain_place(&chain) != PLACE_COUNT;
                 job_chain_pass(&chain)) {
                const bool sheltered = link < RESTART_LINK_COUNT && job_chain_place(&chain) == link;
                assert_int_equal(job_chain_exposed(&chain), strike == STRIKE_ALWAYS && !sheltered);
            }
        }
    }
}

/* The same chain draws the same, another one anew; each load of a chain is drawn by itself. */
static void test_draws(void **state)
{
    struct job_spec spec;
    struct failure_cause causes[2];
    struct job_chain chain, again;
    make_spec(&spec, causes);
    spec.recovery.restart.links[LINK_START].law = DURATION_EXPONENTIAL;
    spec.recovery.wrong_blame_ratio = 0.25;
    spec.checkpoint.corrupt_ratio = 0.25;
    job_chain_create(&chain, &spec, 7);
    job_chain_create(&again, &spec, 7);
    choose_all(&chain);
    choose_all(&again);
    unsigned corrupt = 0, blamed = 0, others[5] = {0};
    double former_s = -1.0;
    for (unsigned i = 0; i < 4000; i++) {
        job_chain_begin(&chain);
        job_chain_begin(&again);
        double s = job_chain_link_s(&chain, LINK_START);
        assert_true(s == job_chain_link_s(&again, LINK_START) && s > 0.0 && s != former_s);
        former_s = s;
        corrupt += !job_chain_reads(&chain);
        corrupt += !job_chain_reads(&chain);
        uint32_t other;
        if (job_chain_blames_other(&chain, 5, 2, &other)) {
            blamed++;
            others[other]++;
        }
        assert_false(job_chain_blames_other(&chain, 1, 0, &other)); /* there is no other */
    }
    /* five standard deviations of so many draws of 1 in 4 */
    assert_true(fabs(corrupt - 2000.0) < 5.0 * sqrt(8000 * 0.25 * 0.75));
    assert_true(fabs(blamed - 1000.0) < 5.0 * sqrt(4000 * 0.25 * 0.75));
    assert_int_equal(others[2], 0);
    for (unsigned i = 0; i < 5; i++)
        assert_true(i == 2 || fabs(others[i] - blamed / 4.0) < 5.0 * sqrt(blamed * 0.25 * 0.75));
}

static struct outside_event heard(const struct job_faults *faults, uint32_t id,
                                  enum outside_kind kind, double at_s)
{
    return (struct outside_event){
        .at_s = at_s, .kind = kind, .id = id, .version = faults->faults[id].version};
}

static void test_faults(void **state)
{
    struct arena *arena = arena_create();
    struct job_faults faults;
    job_faults_create(&faults, arena);
    struct fleet_event event = {.cause = 1, .unit = 9, .node = 3};
    uint32_t id =
        job_faults_begin_slow(&faults, &event, 10.0, (struct condition_slow){.ratio = 0.5});
    struct outside_event found = heard(&faults, id, OUTSIDE_SLOW_FOUND, 20.0);
    struct outside_event well = heard(&faults, id, OUTSIDE_SLOW_END, 30.0);
    assert_true(job_faults_is_slow(&faults, &event));
    assert_non_null(job_faults_learn(&faults, &well));
    assert_null(job_faults_learn(&faults, &found)); /* it is well */
    assert_false(job_faults_is_slow(&faults, &event));

    assert_int_equal(job_faults_begin_corrupt(&faults, &event, 40.0), id); /* the row is free */
    assert_null(job_faults_learn(&faults, &found));
    assert_false(job_faults_is_slow(&faults, &event));
    job_faults_node_gone(&faults, 3);
    job_faults_forget(&faults, 41.0); /* a copy that is tainted: it is still to be found */
    assert_true(faults.faults[id].alive);
    job_faults_forget(&faults, 40.0);
    assert_false(faults.faults[id].alive);

    for (uint32_t i = 0; i < 20; i++) {
        event.unit = i;
        event.node = i / 4;
        id = job_faults_begin_slow(&faults, &event, 50.0, (struct condition_slow){.ratio = 0.5});
        struct outside_event of = heard(&faults, id, OUTSIDE_SLOW_FOUND, 60.0);
        assert_true(i % 2 == 0 || job_faults_learn(&faults, &of) != NULL);
    }
    job_faults_node_gone(&faults, 0); /* units 0 to 3 */
    uint32_t replaced = 0;
    for (uint32_t at = 0; job_faults_replace(&faults, &at) != NULL;)
        replaced++;
    assert_int_equal(replaced, 8); /* 5, 7, ... 19 */
    arena_destroy(arena);
}

/* Of six slow parts the four worst, whatever the order in which they come. */
static void test_worst_parts(void **state)
{
    static const struct condition_slow parts[] = {{0, false, 0.9}, {1, false, 0.5}, {2, true, 0.5},
                                                  {2, false, 0.5}, {3, false, 0.8}, {0, true, 0.7}};
    static const unsigned expected[] = {1, 2, 3, 5};
    for (unsigned first = 0; first < 6; first++) {
        for (unsigned step = 1; step <= 5; step += 4) { /* forwards, backwards */
            struct condition condition = {0};
            for (unsigned i = 0; i < 6; i++)
                job_faults_add_slow(&condition, parts[(first + i * step) % 6]);
            assert_int_equal(condition.slow_count, CONDITION_SLOW_MAX);
            for (unsigned i = 0; i < CONDITION_SLOW_MAX; i++) {
                assert_int_equal(condition.slow[i].stage, parts[expected[i]].stage);
                assert_true(condition.slow[i].ratio == parts[expected[i]].ratio);
                assert_int_equal(condition.slow[i].link, parts[expected[i]].link);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places_in_order),
                                       cmocka_unit_test(test_times),
                                       cmocka_unit_test(test_where_failures_strike),
                                       cmocka_unit_test(test_draws),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_worst_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
