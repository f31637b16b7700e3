/* A whole calibration on simulated cards: every known time is found within its spread, the budget
 * goes to what the step rests on, nothing is measured twice, and trouble is told. */
#include <math.h>
#include <string.h>

#include "analysis/calibrate/simulated.h"
#include "models/profile/campaign.h"
#include "tests/test.h"

enum {
    KEPT_MAX = 2000
};
struct world {
    struct arena *arena;
    struct simulated_state state;
    struct calibrate_device device;
    struct calibrate_plan plan;
    struct campaign campaign;
    struct campaign_report report;
    struct error error;
    struct measured_point kept[KEPT_MAX];
    unsigned kept_count, keeps, left_out, stop_after, refuse_after;
};

static bool keep(void *context, const struct measured_point *row, struct error *error)
{
    struct world *w = context;
    if (w->refuse_after > 0 && w->keeps >= w->refuse_after)
        return error_set(error, "the disk is full");
    w->keeps++;
    for (unsigned i = 0; i < w->kept_count; i++) {
        if (point_same(&w->kept[i].point, &row->point)) {
            assert_true(row->measurement.spread_ratio < w->kept[i].measurement.spread_ratio);
            w->kept[i] = *row;
            return true;
        }
    }
    assert_true(w->kept_count < KEPT_MAX);
    w->kept[w->kept_count++] = *row;
    return true;
}

static void left_out(void *context, const struct calibrate_point *point, const char *why)
{
    struct world *w = context;
    assert_true(why[0] != '\0' && point_problem(point) == NULL);
    w->left_out++;
}

static bool go_on(void *context, const struct campaign_progress *progress)
{
    struct world *w = context;
    assert_true(progress->done <= progress->planned && progress->covered_ratio <= 1.0 + 1e-9);
    return w->stop_after == 0 || w->keeps < w->stop_after;
}

static void begin(struct world *w, const struct simulated_card *card, double budget_s)
{
    memset(w, 0, sizeof *w);
    w->arena = arena_create();
    w->device = simulated_device(&w->state, card);
    w->plan = plan_begin(w->arena);
    w->campaign = (struct campaign){.device = &w->device,
                                    .plan = &w->plan,
                                    .rules = campaign_usual,
                                    .listener = {w, keep, left_out, go_on}};
    w->campaign.rules.budget_s = budget_s;
}

static enum campaign_end run(struct world *w)
{
    return campaign_run(w->arena, &w->campaign, &w->report, &w->error);
}

static struct calibrate_point product(double m)
{
    return (struct calibrate_point){POINT_GEMM,        "-", "bf16", false, false, false,
                                    {m, 4096, 4096, 1}};
}

static void the_grid_is_found_again(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    unsigned inside = 0;
    (void)unused;
    begin(w, &(struct simulated_card){.noise_ratio = 0.01, .seed = 3}, 1e9);
    w->campaign.rules.measure.budget_s = 10.0;
    plan_add_grid(&w->plan, 80e9, 1.0);
    assert_true(w->plan.count > 300);
    assert_int_equal(run(w), CAMPAIGN_COMPLETE);
    assert_true(w->kept_count == w->plan.count && w->report.measured == w->plan.count);
    assert_true(w->report.unsettled == 0 && w->report.missing == 0);
    for (unsigned i = 0; i < w->kept_count; i++) {
        const struct measured_point *row = &w->kept[i];
        double error = fabs(row->measurement.median_s / simulated_time_s(&row->point) - 1.0);
        inside += error <= row->measurement.spread_ratio;
        assert_true(error < 0.03);
    }
    assert_true(inside >= 0.9 * w->kept_count);
    arena_destroy(w->arena);
    test_free(w);
}

/* Time for some of the points: those that weigh most. */
static void the_weightiest_come_first(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    double least = INFINITY;
    (void)unused;
    begin(w, &(struct simulated_card){.noise_ratio = 0.01, .prepare_s = 0.1, .seed = 4}, 3.0);
    for (unsigned i = 0; i < 64; i++) {
        struct calibrate_point point = product(128.0 * (1 + i));
        plan_add(&w->plan, &point, (double)(i * 29 % 64 + 1));
    }
    assert_int_equal(run(w), CAMPAIGN_OUT_OF_TIME);
    assert_true(w->kept_count > 5 && w->kept_count < 60);
    assert_true(w->report.missing == 64 - w->kept_count);
    for (unsigned i = 0; i < w->kept_count; i++)
        for (unsigned p = 0; p < 64; p++)
            if (point_same(&w->kept[i].point, &w->plan.rows[p].point))
                least = fmin(least, w->plan.rows[p].weight_s);
    assert_true(least == 64 - w->kept_count + 1);
    assert_true(w->report.elapsed_s < 3.6);
    arena_destroy(w->arena);
    test_free(w);
}

/* Very noisy, and time to narrow some: the spread of what weighs most is the narrower. */
static void what_is_left_goes_where_it_counts(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    double heavy = 0.0, light = 0.0;
    (void)unused;
    begin(w, &(struct simulated_card){.noise_ratio = 0.2, .seed = 6}, 8.0);
    w->campaign.rules.measure.samples_most = 40;
    for (unsigned i = 0; i < 20; i++) {
        struct calibrate_point point = product(128.0 * (1 + i));
        plan_add(&w->plan, &point, i % 2 == 0 ? 10.0 : 0.001);
    }
    run(w);
    assert_true(w->report.repeated > 5 && w->report.missing == 0);
    for (unsigned i = 0; i < w->kept_count; i++) {
        bool is_heavy = (unsigned)(w->kept[i].point.size[0] / 128.0 - 1.0) % 2 == 0;
        *(is_heavy ? &heavy : &light) += w->kept[i].measurement.spread_ratio / 10.0;
    }
    assert_true(heavy < 0.75 * light);
    assert_true(fabs(w->report.step_spread_ratio - heavy) < 0.01);
    arena_destroy(w->arena);
    test_free(w);
}

static void it_goes_on_where_it_stopped(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    (void)unused;
    begin(w, &(struct simulated_card){.noise_ratio = 0.005, .seed = 8}, 1e9);
    plan_add_grid(&w->plan, 80e9, 1.0);
    w->stop_after = 50;
    assert_int_equal(run(w), CAMPAIGN_STOPPED);
    assert_int_equal(w->kept_count, 50);
    struct measured_point done[50];
    memcpy(done, w->kept, sizeof done);
    w->stop_after = 0;
    w->campaign.done = done;
    w->campaign.done_count = 50;
    unsigned before = w->state.prepared;
    assert_int_equal(run(w), CAMPAIGN_COMPLETE);
    assert_int_equal(w->report.resumed, 50);
    assert_int_equal(w->report.measured, w->plan.count);
    assert_int_equal(w->kept_count, w->plan.count);
    assert_true(w->state.prepared - before == w->plan.count - 50 + w->report.repeated);
    arena_destroy(w->arena);
    test_free(w);
}

/* A card that gets hot after a second and cools down when it rests: its times are those of a cool
 * one. One that is hot at once is told. */
static void a_hot_card_rests_and_is_told(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    (void)unused;
    begin(w, &(struct simulated_card){.hot_after_s = 1.0, .hot_clock_ratio = 0.5}, 1e9);
    for (unsigned i = 0; i < 100; i++) {
        struct calibrate_point point = product(128.0 * (1 + i));
        plan_add(&w->plan, &point, 1.0);
    }
    assert_int_equal(run(w), CAMPAIGN_COMPLETE);
    assert_int_equal(w->report.too_hot, 0);
    for (unsigned i = 0; i < w->kept_count; i++)
        assert_true(fabs(w->kept[i].measurement.median_s / simulated_time_s(&w->kept[i].point) -
                         1.0) < 1e-6);
    arena_destroy(w->arena);
    begin(w, &(struct simulated_card){.hot_after_s = 1e-3, .hot_clock_ratio = 0.5}, 1e9);
    struct calibrate_point point = product(8192.0);
    plan_add(&w->plan, &point, 1.0);
    assert_int_equal(run(w), CAMPAIGN_COMPLETE);
    assert_true(w->report.too_hot == 1 && w->report.slowest_clock_hz == 0.9e9);
    assert_int_equal(w->state.prepared, 2);
    arena_destroy(w->arena);
    test_free(w);
}

static void trouble_is_told(void **unused)
{
    struct world *w = test_malloc(sizeof *w);
    (void)unused;
    begin(w, &(struct simulated_card){.unsupported_type = "fp8", .fails_each = 7}, 1e9);
    plan_add_grid(&w->plan, 80e9, 1.0);
    assert_int_equal(run(w), CAMPAIGN_COMPLETE);
    assert_true(w->report.unsupported > 50 && w->report.failed > 30);
    assert_int_equal(w->left_out, w->report.unsupported + w->report.failed);
    assert_int_equal(w->kept_count + w->left_out, w->plan.count);
    arena_destroy(w->arena);

    begin(w, &(struct simulated_card){.lost_after_s = 2.0}, 1e9);
    plan_add_grid(&w->plan, 80e9, 1.0);
    assert_int_equal(run(w), CAMPAIGN_LOST);
    assert_true(w->error.text[0] != '\0' && w->kept_count > 5 && w->report.missing > 0);
    arena_destroy(w->arena);

    begin(w, &(struct simulated_card){.power_capped = true}, 1e9);
    plan_add_grid(&w->plan, 80e9, 1.0);
    w->refuse_after = 3;
    assert_int_equal(run(w), CAMPAIGN_NOT_KEPT);
    assert_true(w->error.text[0] != '\0' && w->kept_count == 3);
    assert_true(w->report.power_capped >= 3 && w->report.too_hot == 0);
    arena_destroy(w->arena);
    test_free(w);
}

static void lists_of_shapes_are_read(void **unused)
{
    struct arena *arena = arena_create();
    struct calibrate_plan plan = plan_begin(arena);
    struct error error = {""};
    (void)unused;
    assert_true(plan_read(&plan, "s",
                          "# of a step\n0.5 memory norm bf16 bytes=1024 # twice\n\n"
                          "1.5 memory norm bf16 bytes=1024\n2 launch graph fp32 count=1",
                          &error));
    assert_true(plan.count == 2 && plan.rows[0].weight_s == 2.0 && plan.rows[1].weight_s == 2.0);
    static const char *const bad[] = {"",
                                      "# nothing\n",
                                      "memory norm bf16 bytes=1",
                                      "-1 memory norm bf16 bytes=1",
                                      "nan memory norm bf16 bytes=1",
                                      "1 memory norm bf16"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct calibrate_plan none = plan_begin(arena);
        error.text[0] = '\0';
        assert_false(plan_read(&none, "shapes.txt", bad[i], &error));
        assert_true(strncmp(error.text, "shapes.txt:", 11) == 0);
    }
    arena_destroy(arena);
}

/* Every size is used, kinds of several cards wait for several cards, and nothing exceeds memory. */
static void the_grid_fits_the_machine(void **unused)
{
    struct arena *arena = arena_create();
    struct calibrate_plan one = plan_begin(arena), eight = plan_begin(arena);
    unsigned collectives = 0;
    (void)unused;
    plan_add_grid(&one, 1e9, 1.0);
    plan_add_grid(&eight, 80e9, 8.0);
    for (unsigned i = 0; i < one.count; i++) {
        assert_true(one.rows[i].point.kind != POINT_COLLECTIVE);
        assert_true(point_bytes(&one.rows[i].point) <= 0.25e9);
    }
    for (unsigned i = 0; i < eight.count; i++) {
        assert_null(point_problem(&eight.rows[i].point));
        collectives += eight.rows[i].point.kind == POINT_COLLECTIVE;
    }
    assert_int_equal(collectives, 5 * 3 * 8);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid_is_found_again),
        cmocka_unit_test(the_weightiest_come_first),
        cmocka_unit_test(what_is_left_goes_where_it_counts),
        cmocka_unit_test(it_goes_on_where_it_stopped),
        cmocka_unit_test(a_hot_card_rests_and_is_told),
        cmocka_unit_test(trouble_is_told),
        cmocka_unit_test(lists_of_shapes_are_read),
        cmocka_unit_test(the_grid_fits_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
