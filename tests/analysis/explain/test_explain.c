/* Waterfall, critical path and figures of databases made by hand. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/explain/critical_path.h"
#include "analysis/explain/stands_on.h"
#include "analysis/explain/waterfall.h"
#include "analysis/record/database/record_file.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

struct fixture {
    char folder[200], path[256];
    struct arena *arena;
    struct query *query;
    struct record record;
    struct error error;
};

static void open_sample(struct fixture *f, const char *sql)
{
    *f = (struct fixture){.arena = arena_create()};
    sample_folder(f->folder, sizeof f->folder);
    snprintf(f->path, sizeof f->path, "%s/x.db", f->folder);
    sample_database(f->path);
    sample_tamper(f->path, sql);
    assert_true(query_open(f->path, &f->query, &f->error));
    if (!record_read(f->query, f->arena, &f->record, &f->error))
        fail_msg("%s", f->error.text);
}

static void close_sample(struct fixture *f)
{
    query_close(f->query);
    sample_remove(f->folder);
    arena_destroy(f->arena);
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fmax(1.0, fabs(wanted))))
        fail_msg("%.15g, wanted %.15g", value, wanted);
}

/* Two classes. The first computes 10 ns, sends to the second, which had waited since 4 and then
 * computes from 13 to 21, after a gap of 1: the path is 10 + 2 + 1 + 8. What the second computed
 * before (2 ns) and the first after it (4 ns) is not on it. */
static const char two_stages[] =
    "delete from slice_raw; delete from track; delete from string;"
    "insert into string values (1, 'layer'), (2, 'forward'), (3, 'message');"
    "insert into track values (1, 1, 1, 'stream', 'compute', 2, 0, 0, 0),"
    " (2, 1, 1, 'stream', 'send_next', 1, 0, 0, 0), (3, 1, 2, 'stream', 'compute', 2, 0, 0, 0),"
    " (4, 1, 2, 'stream', 'recv_prev', 1, 0, 0, 0), (5, 1, 2, 'ledger', 'allocated', 1, 0, 0, 0);"
    "insert into slice_raw values"
    " (1, 0, 10, 0, 1, 1, 2, 0, 0, 0, 0), (2, 14, 4, 0, 1, 1, 2, 1, 0, 0, 0),"
    " (3, 10, 2, 0, 2, 3, 2, 0, null, 0, 0),"
    " (4, 0, 2, 0, 3, 1, 2, 0, 0, 0, 0), (5, 13, 8, 0, 3, 1, 2, 0, 0, 0, 0),"
    " (6, 10, 2, 6, 4, 3, 2, 0, null, 0, 0), (7, 13, 8, 0, 3, 1, 2, 0, 0, 0, 1),"
    " (8, 0, 90, 0, 5, 1, 2, 0, 0, 0, 0)";

static void test_path(void **state)
{
    struct fixture f;
    struct critical_path path;
    open_sample(&f, two_stages);
    assert_true(critical_path_find(f.query, f.arena, &path, &f.error));
    assert_true(path.known);
    near(path.step_s * 1e9, 21.0);
    near(path.host_s * 1e9, 1.0);
    assert_int_equal(path.count, 2);
    assert_string_equal(path.parts[0].stream, "compute");
    near(path.parts[0].seconds * 1e9, 18.0);
    assert_int_equal(path.parts[0].count, 2);
    assert_string_equal(path.parts[1].stream, "recv_prev");
    near(path.parts[1].seconds * 1e9, 2.0);
    assert_int_equal(path.stretches, 3);
    assert_int_equal(path.crossings, 1);
    close_sample(&f);
}

/* Where nobody came later the walk stays with the rank: its own 2 ns, and a gap up to 10. */
static void test_path_alone(void **state)
{
    struct fixture f;
    struct critical_path path;
    char sql[2048];
    snprintf(sql, sizeof sql, "%s; update slice_raw set wait = 0 where id = 6", two_stages);
    open_sample(&f, sql);
    assert_true(critical_path_find(f.query, f.arena, &path, &f.error));
    near(path.parts[0].seconds * 1e9, 10.0);
    near(path.host_s * 1e9, 9.0);
    assert_int_equal(path.crossings, 0);
    close_sample(&f);
    open_sample(&f, "delete from slice_raw");
    assert_true(critical_path_find(f.query, f.arena, &path, &f.error));
    assert_false(path.known);
    close_sample(&f);
}

/* 1 ms: .4 ms of model FLOPs, .75 ms of kernels, .25 ms of bubble; 4,096 tokens a step. */
static void test_waterfall(void **state)
{
    struct fixture f;
    struct waterfall w;
    struct idle_cause causes[WATERFALL_COUNT];
    open_sample(
        &f, "update run set causal = 0, recompute_s = 0, exposed_tp_s = 0, exposed_cp_s = 0,"
            " exposed_ep_s = 0, exposed_pp_s = 0, exposed_dp_s = 0, offload_s = 0, optimizer_s = 0,"
            " host_s = 0, straggler_s = 0");
    assert_true(waterfall_of(&f.record, &w, &f.error));
    near(w.terms[WATERFALL_useful].seconds, 4e-4);
    near(w.terms[WATERFALL_kernels].seconds, 3.5e-4);
    near(w.terms[WATERFALL_bubble].seconds, 2.5e-4);
    near(w.terms[WATERFALL_useful].tokens_per_day / 1e9, 4096.0 * 86400.0 / 4e-4 / 1e9);
    near(w.terms[WATERFALL_kernels].tokens_per_day / 1e9, 4096.0 * 86400.0 / 7.5e-4 / 1e9);
    near(w.tokens_per_day / 1e9, 4096.0 * 86400.0 / 1e-3 / 1e9);
    assert_false(w.weeks);
    assert_int_equal(waterfall_idle(&w, causes), 1);
    assert_string_equal(causes[0].key, "bubble");
    close_sample(&f);
}

/* A causal mask leaves a quarter of the model's FLOPs out; of weeks a fifth of the time is lost. */
static void test_waterfall_of_weeks(void **state)
{
    struct fixture f;
    struct waterfall w;
    open_sample(
        &f, "update run set causal = 1, recompute_s = 0, exposed_tp_s = 0, exposed_cp_s = 0,"
            " exposed_ep_s = 0, exposed_pp_s = 0, exposed_dp_s = 0, offload_s = 0, optimizer_s = 0,"
            " host_s = 0, straggler_s = 0, wall_s = 100, useful_s = 80, checkpoint_s = 5,"
            " lost_work_s = 10, detect_s = 0, restart_s = 5, wait_s = 0, degraded_s = 0,"
            " maintenance_s = 0, ended = 'done', checkpoint_policy = 'sync',"
            " checkpoint_interval_by = 'time', recovery = 'restart'");
    assert_true(waterfall_of(&f.record, &w, &f.error));
    near(w.terms[WATERFALL_masked_scores].seconds, -1e-4);
    near(w.terms[WATERFALL_kernels].seconds, 4.5e-4);
    near(w.terms[WATERFALL_lost_work].seconds, 1e-3 * 10.0 / 80.0);
    near(w.kept_step_s, 1e-3 * 100.0 / 80.0);
    near(w.tokens_per_day / 1e9, 4096.0 * 86400.0 / 1.25e-3 / 1e9);
    assert_true(w.weeks);
    close_sample(&f);
}

static void test_stands_on(void **state)
{
    struct fixture f;
    struct kept_constants c;
    const struct kept_constant *found[4];
    open_sample(&f, "delete from constant; insert into constant values"
                    " (1, 'gpu.a.b.gemm_one', 1, '1', '', 0.1, 'measured', 's'),"
                    " (1, 'gpu.a.b.gemm_two', 1, '2', '', 0.3, 'fitted', 'a paper'),"
                    " (1, 'gpu.a.b.peak_bf16', 1, '3', '', 0, 'specification', 's'),"
                    " (1, 'gpu.a.b.peak_fp8', 1, '4', '', 0, 'specification', 's'),"
                    " (1, 'gpu.a.b.gemm_split_cost', 1, '10', '', 0.8, 'fitted', 's'),"
                    " (1, 'gpu.a.b.gemm_block_cost', 1, '11', '', 0.8, 'fitted', 's'),"
                    " (1, 'gpu.a.b.gemm_fp4_cost', 1, '12', '', 0.8, 'fitted', 's'),"
                    " (1, 'node.n.gemm_odd', 1, '5', '', 0.9, 'assumed', 's'),"
                    " (1, 'gpu.a.b.power', 1, '6', '', 0, 'default', 's'),"
                    " (1, 'gpu.a.b.power_window', 1, '7', '', 0.5, 'default', 's'),"
                    " (1, 'gpu.a.b.attention_flash2_full_forward_rate', 1, '8', '', 0, 'x', 's'),"
                    " (1, 'gpu.a.b.attention_flash3_full_forward_rate', 1, '9', '', 0, 'x', 's')");
    assert_true(stands_on_read(f.query, f.arena, &f.record, &c, &f.error));
    assert_int_equal(stands_on_find(&c, "gpu.gemm_", found, 4), 2);
    assert_string_equal(found[0]->text, "2"); /* the less sure first */
    assert_string_equal(found[0]->name, "gpu.a.b.gemm_two");
    assert_string_equal(found[0]->origin, "fitted");
    assert_string_equal(found[0]->source, "a paper");
    assert_true(found[0]->error_ratio == 0.3);
    assert_int_equal(stands_on_find(&c, "gpu.gemm_", found, 1), 2);
    assert_int_equal(stands_on_find(&c, "gpu.power=", found, 4), 1);
    assert_string_equal(found[0]->text, "6");
    assert_int_equal(stands_on_find(&c, "gpu.power node.gemm_", found, 4), 3);
    assert_int_equal(stands_on_find(&c, "gpu.peak_", found, 4), 1);
    assert_string_equal(found[0]->text, "3");
    assert_int_equal(stands_on_find(&c, "gpu.attention_", found, 4),
                     ((const struct run_row *)record_run(&f.record))->causal == 0 ? 1 : 0);
    assert_int_equal(stands_on_find(&c, "", found, 4), 0);
    struct run_row narrow = *c.run; /* what 8-bit and 4-bit products cost more counts in them */
    c.run = &narrow;
    narrow.precision = "fp8";
    assert_int_equal(stands_on_find(&c, "gpu.gemm_", found, 4), 4);
    narrow.precision = "nvfp4";
    assert_int_equal(stands_on_find(&c, "gpu.gemm_", found, 4), 5);
    close_sample(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),      cmocka_unit_test(test_path_alone),
        cmocka_unit_test(test_waterfall), cmocka_unit_test(test_waterfall_of_weeks),
        cmocka_unit_test(test_stands_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
