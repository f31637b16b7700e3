/* The clocks, what is due at a boundary, and the account alone: moments and sums by hand. */
#include <math.h>

#include "models/job/parts/job_account.h"
#include "models/job/parts/job_clock.h"
#include "models/job/parts/job_plans.h"
#include "tests/models/fleet/fleet_case.h"
#include "tests/test.h"

/* Node 0 fails at 100, 130 and 400 s of exposed time. */
static const struct trace_event FAILURES[] = {{.at_s = 100.0}, {.at_s = 130.0}, {.at_s = 400.0}};

static struct fleet *make_fleet(struct arena *arena, struct fleet_case *out)
{
    fleet_case_create(2, 1, out);
    struct failure_cause *cause = fleet_case_add(out, "log", "trace", 0.0, UNIT_NODE, 0.0);
    cause->trace = FAILURES;
    cause->trace_count = 3;
    out->spec.duration_s = 1000.0;
    return fleet_create(arena, job_fleet(&out->spec), 1);
}

/* 60 s of steps, 25 s that are sheltered: the failure at 100 strikes 40 s later, at 125 of the
 * wall; the next comes 30 s of exposed time after it. */
static void test_exposed_time(void **state)
{
    struct arena *arena = arena_create();
    struct fleet_case fleet_case;
    struct fleet_event event;
    struct job_clock clock;
    job_clock_create(&clock, make_fleet(arena, &fleet_case), 1000.0);
    job_clock_enter(&clock, PHASE_STEPS, INFINITY, true);
    assert_true(isinf(job_clock_failure_s(&clock))); /* nobody asked */
    job_clock_learn(&clock);
    assert_true(job_clock_failure_s(&clock) == 100.0);
    job_clock_spend(&clock, 60.0);
    job_clock_enter(&clock, PHASE_MAINTENANCE, 85.0, false);
    assert_true(isinf(job_clock_failure_s(&clock)) && !job_clock_runs(&clock));
    assert_true(job_clock_left_s(&clock) == 40.0);
    job_clock_spend(&clock, 85.0);
    job_clock_enter(&clock, PHASE_SAVE, 200.0, true);
    assert_true(job_clock_failure_s(&clock) == 125.0 && job_clock_runs(&clock));
    job_clock_strike(&clock, &event);
    assert_true(event.at_s == 100.0);
    job_clock_spend(&clock, 125.0);
    job_clock_struck(&clock);
    assert_true(clock.at_s == 125.0 && clock.exposed_s == 100.0);
    job_clock_leap(&clock, 145.0, 12.0);
    job_clock_learn(&clock);
    assert_true(job_clock_failure_s(&clock) == 145.0 + 18.0);
    arena_destroy(arena);
}

/* A node that leaves in the middle of a phase takes its failures with it, and brings them back. */
static void test_nodes_leave_within_a_phase(void **state)
{
    struct arena *arena = arena_create();
    struct fleet_case fleet_case;
    struct job_clock clock;
    job_clock_create(&clock, make_fleet(arena, &fleet_case), 1000.0);
    job_clock_enter(&clock, PHASE_STEPS, INFINITY, true);
    job_clock_learn(&clock);
    job_clock_leave(&clock, 0, 50.0);
    assert_true(clock.fleet_s == 50.0 && clock.exposed_s == 0.0);
    job_clock_leap(&clock, 210.0, 210.0);
    job_clock_enter(&clock, PHASE_WAIT, INFINITY, false);
    job_clock_join(&clock, 0, 300.0); /* no exposed time went by */
    assert_true(clock.fleet_s == 210.0);
    job_clock_enter(&clock, PHASE_STEPS, INFINITY, true);
    job_clock_learn(&clock);
    assert_true(job_clock_failure_s(&clock) == 400.0); /* 100 and 130 struck nothing */
    arena_destroy(arena);
}

static void test_plans(void **state)
{
    struct job_plans plans;
    job_plans_create(&plans, 0.0);
    job_plans_next_maintenance(&plans);
    assert_true(isinf(job_plans_maintenance_s(&plans)));
    job_plans_create(&plans, 600.0);
    job_plans_next_maintenance(&plans);
    assert_true(job_plans_maintenance_s(&plans) == 600.0);
    job_plans_next_maintenance(&plans);
    assert_true(job_plans_maintenance_s(&plans) == 1200.0);
    job_plans_add(&plans, PLAN_REJOIN, 50.0);
    job_plans_turn_at(&plans, 40.0);
    job_plans_add(&plans, PLAN_MAINTENANCE, 60.0);
    assert_true(plans.turn_s == 40.0);
    assert_int_equal(job_plans_turn(&plans, PLAN_MAINTENANCE | PLAN_MITIGATE), PLAN_MAINTENANCE);
    assert_true(isinf(plans.turn_s));
    job_plans_steps_begin(&plans, 70.0); /* it was not done there */
    assert_true(plans.turn_s == 70.0);
    assert_int_equal(job_plans_take(&plans), PLAN_MAINTENANCE);
    job_plans_steps_begin(&plans, 80.0);
    assert_true(isinf(plans.turn_s));
}

static void keep(void *context, const struct interruption *interruption)
{
    *(struct interruption *)context = *interruption;
}

/* 50 s of steps of which 20 s are lost, 4 s of a broken step, detection 6 s, a strike, detection 3
 * s, load 7 s, start 10 s; 20 s of maintenance; the work is done and 10 s are left. */
static void test_account(void **state)
{
    struct arena *arena = arena_create();
    struct interruption told = {0};
    struct job_result out = {0};
    struct job_observer observer = {.context = &told, .interruption = keep, .worst_hour = true};
    struct job_spec spec = {.replicas = 2,
                            .recovery.kind = recovery_find("restart-in-place"),
                            .tokens_per_step = 5.0,
                            .cost.rental.job_hour_usd = NAN};
    struct job_account account;
    struct fleet_event event = {.cause = 2, .unit = 4, .node = 1};
    job_account_create(&account, arena, &observer, &out);
    job_account_failure(&account, &event, 54.0, 0.0);
    job_account_interrupt(&account, &event, 54.0, 12);
    job_account_broken(&account, 50.0, 54.0);
    job_account_lost(&account, 20.0, 2.5, 30.0, 54.0);
    job_account_link(&account, 54.0, 60.0, LINK_DETECT);
    job_account_failure(&account, &event, 60.0, 0.0);
    job_account_strike(&account);
    job_account_link(&account, 60.0, 63.0, LINK_DETECT);
    job_account_load(&account, 63.0, 70.0);
    job_account_link(&account, 70.0, 80.0, LINK_START);
    job_account_decided(&account, true, false);
    job_account_resumed(&account, 80.0, 1, 3);
    job_account_planned(&account);
    job_account_spend(&account, 80.0, 110.0, BADPUT_maintenance);
    job_account_finished(&account, JOB_END_done);
    struct ledger_mark kept = {.progress = 7, .steps = 4, .useful_s = 28.0, .degraded_s = 2.0};
    job_account_end(&account, &spec, &kept, 8.0, 110.0);

    assert_true(told.at_s == 54.0 && told.resumed_at_s == 80.0 && told.lost_s == 24.0);
    assert_true(told.links_s[LINK_DETECT] == 9.0 && told.load_s == 7.0 && told.lost_steps == 2.5);
    assert_int_equal(told.strikes, 1);
    assert_int_equal(told.step, 12);
    assert_int_equal(told.level, 1);
    assert_int_equal(told.loaded_step, 3);
    assert_true(told.spare_taken && !told.others_went_on);
    assert_int_equal(out.failures, 2);
    assert_int_equal(out.interruptions, 1);
    assert_true(out.badput_s[BADPUT_lost_work] == 24.0 && out.badput_s[BADPUT_detect] == 9.0);
    assert_true(out.badput_s[BADPUT_restart] == 17.0 && out.badput_s[BADPUT_useful] == 28.0);
    assert_true(out.steps_completed == 3.5 && out.tokens_completed == 17.5);
    assert_true(out.goodput == 28.0 / 110.0 && out.ettr == 30.0 / 110.0 && out.finished);
    /* 30 to 80, 80 to 100 and 100 to 110 are one stretch of 80 s in an hour */
    double worst = job_window_worst_hour(account.window, 3700.0);
    assert_true(fabs(worst - (1.0 - 80.0 / 3600.0)) < 1e-12);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exposed_time), cmocka_unit_test(test_nodes_leave_within_a_phase),
        cmocka_unit_test(test_plans), cmocka_unit_test(test_account)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
