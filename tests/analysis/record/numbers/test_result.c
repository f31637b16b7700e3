/* What is told of a result beside its numbers: what storage was asked for and whether it can live
 * with it, prices of a step, what an interruption cost, and what would help where memory is short.
 */
#include <math.h>
#include <string.h>

#include "analysis/record/numbers/advice.h"
#include "analysis/record/numbers/cost.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/record/numbers/storage_use.h"
#include "analysis/tell/report/report_parts.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* Steps of 10 s; two levels, of which the second is asked about. */
static struct job_record saved(double bytes, double transfer_s, uint64_t copies, uint64_t keep)
{
    struct job_record r = {.conditions = condition_fixed(10.0)};
    struct checkpoint_spec *checkpoint = &r.spec.checkpoint;
    checkpoint->keep = keep;
    checkpoint->plan.level_count = 2;
    checkpoint->plan.levels[0] = (struct checkpoint_level){.tier = "first", .every = 7};
    checkpoint->plan.levels[1] = (struct checkpoint_level){.tier = "drives",
                                                           .bytes = bytes,
                                                           .transfer_s = transfer_s,
                                                           .wear_s = transfer_s,
                                                           .every = 1};
    r.result.copies[0] = 99;
    r.result.copies[1] = copies;
    r.result.wall_s = 1000.0;
    return r;
}

static void test_use(void **state)
{
    struct job_record r = saved(100.0, 4.0, 10, 3);
    struct storage_use use;
    storage_use_of(&r, 1, &use);
    assert_true(use.written_bytes == 1000.0 && use.mean_bytes_per_s == 1.0);
    assert_true(use.peak_bytes_per_s == 25.0 && use.busy_ratio == 0.04);
    assert_true(use.kept_bytes == 300.0);
    condition_destroy(r.conditions);
    r = saved(100.0, 0.0, 2, 3); /* in no time; fewer than are kept */
    storage_use_of(&r, 1, &use);
    assert_true(use.written_bytes == 200.0 && use.kept_bytes == 200.0);
    assert_true(isnan(use.peak_bytes_per_s) && isnan(use.busy_ratio));
    condition_destroy(r.conditions);
}

/* What the storage is given from one save of a level to the next. */
static void test_saves_too_often(void **state)
{
    static const struct {
        double interval_s;
        uint64_t interval_steps, every;
        bool every_step;
        double period_s;
    } cases[] = {
        {60.0, 0, 1, false, 60.0}, {60.0, 0, 3, false, 180.0},  {4.0, 0, 1, false, 10.0},
        {0.0, 6, 1, false, 60.0},  {500.0, 6, 2, false, 120.0}, {500.0, 6, 1, true, 10.0},
        {0.0, 0, 2, true, 20.0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int late = 0; late < 2; late++) {
            struct job_record r = saved(100.0, 0.0, 10, 1);
            char text[400] = "";
            r.spec.checkpoint.interval_s = cases[i].interval_s;
            r.spec.checkpoint.interval_steps = cases[i].interval_steps;
            r.spec.checkpoint.plan.every_step = cases[i].every_step;
            r.spec.checkpoint.plan.levels[1].every = cases[i].every;
            r.spec.checkpoint.plan.levels[1].persist_s = cases[i].period_s + 0.01 * late;
            assert_int_equal(storage_use_warning(&r, 1, text, sizeof text), late);
            assert_int_equal(strstr(text, "training waits for the storage") != NULL, late);
            condition_destroy(r.conditions);
        }
    }
    struct job_record r = saved(100.0, 0.0, 10, 1);
    char text[400];
    r.spec.checkpoint.interval_s = 60.0;
    r.spec.checkpoint.plan.levels[1].persist_s = 90.0;
    assert_true(storage_use_warning(&r, 1, text, sizeof text));
    assert_string_equal(text, "a save is durable 90 s after its stall, but the next one is due "
                              "after 60 s of work: training waits for the storage; save less "
                              "often, or to a faster tier");
    condition_destroy(r.conditions);
}

/* A drive that may be written for 1.1 % of five years lasts one year at 5.5 %; memory for ever. */
static void test_worn_drives(void **state)
{
    static const struct {
        double busy_s; /* of 1,000, in ten saves */
        bool memory, worn;
    } cases[] = {{54.9, false, false},
                 {55.1, false, true},
                 {900.0, true, false},
                 {110.0, false, true},
                 {0.0, false, false}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct job_record r = saved(100.0, cases[i].busy_s / 10.0, 10, 1);
        char text[400] = "";
        r.spec.checkpoint.interval_s = 60.0;
        r.spec.checkpoint.plan.levels[1].memory = cases[i].memory;
        assert_int_equal(storage_use_warning(&r, 1, text, sizeof text), cases[i].worn);
        if (cases[i].busy_s == 110.0)
            assert_string_equal(
                text,
                "drives is written 11.0 % of the time, counted at its full rate: drives that are "
                "warranted for one write a day are worn out after 183 d; "
                "save less often, or the other times to memory");
        condition_destroy(r.conditions);
    }
}

/* 16 GPUs at 3 USD for half an hour are 24; of 4 M tokens 6,000 for each billion; all GPUs of a
 * node are paid, as many nodes as have ranks. */
static void test_prices(void **state)
{
    struct configuration c = lower_case();
    struct cost cost;
    lower_case_size(&c, 2, 1, 8, 1, 4);
    c.gpu.price_per_hour_usd = 3.0;
    c.training.sequence = 125000;
    c.training.tokens = 1e12;
    cost_of_step(&c, 0.5 * HOUR, &cost);
    assert_true(cost.gpu_hour_usd == 3.0 && cost.gpus == 16.0 && cost.step_usd == 24.0);
    assert_true(fabs(cost.usd_per_1e9_tokens / 6000.0 - 1.0) < 1e-12);
    assert_true(fabs(cost.budget_usd / 6e6 - 1.0) < 1e-12);
    assert_true(isnan(cost.storage_usd));
    c.layout.dp = 1; /* two ranks on one of the nodes */
    c.training.tokens = 0.0;
    cost_of_step(&c, HOUR, &cost);
    assert_true(cost.gpus == 8.0 && cost.step_usd == 24.0 && isnan(cost.budget_usd));
    c.gpu.price_per_hour_usd = 0.0; /* not known */
    cost_of_step(&c, HOUR, &cost);
    assert_true(isnan(cost.gpu_hour_usd) && isnan(cost.step_usd));
}

/* Work that was lost, and the time until the job ran again, or the run ended; without it where
 * the others went on. */
static void test_price_of_an_interruption(void **state)
{
    struct job_record r = {.result = {.wall_s = 1000.0}};
    struct interruption one = {.at_s = 400.0, .lost_s = 30.0, .resumed_at_s = 450.0};
    assert_true(job_record_down_s(&r, &one) == 50.0);
    one.resumed_at_s = -1.0;
    assert_true(job_record_down_s(&r, &one) == 600.0);
    one = (struct interruption){.at_s = 0.0, .resumed_at_s = 0.0};
    assert_true(job_record_down_s(&r, &one) == 0.0);
    struct interruption_row row = {.lost_s = 30.0, .down_s = 50.0};
    assert_true(report_price_s(&row) == 80.0);
    row.others_went_on = 1;
    assert_true(report_price_s(&row) == 30.0);
}

/* For each tenant of memory the moves that make it smaller, in the order in which they are tried.
 */
static void test_what_helps(void **state)
{
    static const char *const none[TENANT_COUNT] = {
        [TENANT_WEIGHTS] = "zero-3, fsdp, hsdp, more tp, more pp",
        [TENANT_GRADIENTS] = "zero-2, zero-3, fsdp, hsdp, more tp, more pp",
        [TENANT_MASTER] = "zero-1, zero-2, zero-3, fsdp, hsdp, more tp, more pp",
        [TENANT_MOMENTS] = "zero-1, zero-2, zero-3, fsdp, hsdp, more tp, more pp",
        [TENANT_ACTIVATIONS] =
            "smaller microbatch, more recomputation, sequence_parallel, more tp, more cp",
        [TENANT_TEMPORARY] = "smaller microbatch, more tp, more cp",
        [TENANT_COMMUNICATION] = "fewer and smaller buffers in flight",
        [TENANT_CONTEXT] = "nothing: the price of a process",
        [TENANT_FRAGMENTATION] = "expandable segments of the allocator",
    };
    struct configuration c = lower_case();
    struct arena *arena = arena_create();
    struct advice advice;
    lower_case_size(&c, 2, 1, 4, 1, 4);
    c.layout.microbatch = 2;
    c.training.global_batch *= 2;
    advice_words(arena, &c, &advice);
    for (unsigned tenant = 0; tenant < TENANT_COUNT; tenant++)
        assert_string_equal(advice.helps[tenant], none[tenant]);
    c.layout.data.sharding = &sharding_zero_2; /* what is spread already is not spread again */
    c.layout.recompute = RECOMPUTE_FULL;
    c.layout.sequence_parallel = true;
    c.software.memory.expandable_segments = true;
    advice_words(arena, &c, &advice);
    assert_string_equal(advice.helps[TENANT_WEIGHTS], none[TENANT_WEIGHTS]);
    assert_string_equal(advice.helps[TENANT_GRADIENTS], "more tp, more pp");
    assert_string_equal(advice.helps[TENANT_MOMENTS], "more tp, more pp");
    assert_string_equal(advice.helps[TENANT_ACTIVATIONS], "smaller microbatch, more tp, more cp");
    assert_string_equal(advice.helps[TENANT_FRAGMENTATION], "");
    c = lower_case(); /* one card: two levels of it are one word */
    advice_words(arena, &c, &advice);
    assert_string_equal(advice.helps[TENANT_ACTIVATIONS], "more recomputation");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use),
        cmocka_unit_test(test_saves_too_often),
        cmocka_unit_test(test_worn_drives),
        cmocka_unit_test(test_prices),
        cmocka_unit_test(test_price_of_an_interruption),
        cmocka_unit_test(test_what_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
