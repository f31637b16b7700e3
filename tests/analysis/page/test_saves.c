/* Groups of checkpoints: each for itself while there is room, then by bins that no interruption
 * lies in; every checkpoint is counted once, and steps are those at a group's own ends. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/page/saves.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

enum {
    LEVEL,
    TS,
    LAST_TS,
    COUNT,
    STEP,
    LAST_STEP
};
struct place {
    char folder[256], path[300];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    sample_folder(p->folder, sizeof p->folder);
    snprintf(p->path, sizeof p->path, "%s/x.db", p->folder);
    sample_database(p->path);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    sample_remove(p->folder);
    free(p);
    return 0;
}

static void stop_at(const struct place *p, const char *ts)
{
    char sql[1000];
    snprintf(sql, sizeof sql,
             "insert into interruption (run, ts, cause, unit, unit_id, step, loaded_step, lost_s, "
             "lost_steps, down_s, detect_s, diagnose_s, cordon_s, allocate_s, schedule_s, "
             "provision_s, start_s, communicators_s, warmup_s, wait_s, load_s, strikes, "
             "spare_taken, others_went_on) select 1, %s, 'x', 'gpu', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
             "0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
             ts);
    sample_tamper(p->path, sql);
}

/* NULL: refused, with the sentence in `error`. */
static json_t *ask(const struct place *p, int64_t from, int64_t to, struct error *error)
{
    struct query *query;
    char *text = NULL;
    size_t size;
    json_t *document = NULL;
    assert_true(query_open(p->path, &query, error));
    FILE *out = open_memstream(&text, &size);
    const bool good = saves_write(query, from, to, out, error);
    fclose(out);
    query_close(query);
    if (good) {
        document = json_loads(text, 0, NULL);
        assert_non_null(document);
    }
    free(text);
    return document;
}

static json_t *groups(const struct place *p)
{
    struct error error = {""};
    json_t *document = ask(p, 0, INT64_MAX, &error);
    assert_non_null(document);
    return document;
}

static long long cell(const json_t *document, size_t row, size_t column)
{
    const json_t *rows = json_object_get(document, "rows");
    assert_true(row < json_array_size(rows));
    return json_integer_value(json_array_get(json_array_get(rows, row), column));
}

static size_t row_count(const json_t *document)
{
    return json_array_size(json_object_get(document, "rows"));
}

static long long named(const json_t *document, const char *name)
{
    return json_integer_value(json_object_get(document, name));
}

static void test_few_stand_for_themselves(void **state)
{
    const struct place *p = *state;
    json_t *document = groups(p);
    assert_int_equal(row_count(document), 0);
    json_decref(document);
    sample_tamper(p->path, "with recursive n(i) as (select 0 union all select i + 1 from n where "
                           "i < 1999) insert into checkpoint (run, ts, stall, step, level, tier) "
                           "select 1, 1000 + i * 7, 0, 3 * i, 0, 'pfs' from n");
    document = groups(p);
    assert_int_equal(row_count(document), 2000);
    assert_int_equal(named(document, "resolution"), 1);
    assert_int_equal(named(document, "total"), 2000);
    for (size_t i = 0; i < 2000; i++) {
        assert_int_equal(cell(document, i, TS), 1000 + i * 7);
        assert_int_equal(cell(document, i, LAST_TS), 1000 + i * 7);
        assert_int_equal(cell(document, i, COUNT), 1);
        assert_int_equal(cell(document, i, STEP), 3 * i);
        assert_int_equal(cell(document, i, LAST_STEP), 3 * i);
    }
    json_decref(document);
}

/* One more than there is room for: bins of 1 + 20000 / 2000 = 11 ns, one checkpoint every 10 ns. */
static void test_many_stand_in_bins(void **state)
{
    const struct place *p = *state;
    long long sum = 0, last = -1;
    sample_tamper(p->path, "with recursive n(i) as (select 0 union all select i + 1 from n where "
                           "i < 2000) insert into checkpoint (run, ts, stall, step, level, tier) "
                           "select 1, 5000000 + i * 10, 0, i + 1, 0, 'pfs' from n");
    json_t *document = groups(p);
    assert_int_equal(named(document, "resolution"), 11);
    assert_int_equal(named(document, "total"), 2001);
    for (size_t i = 0; i < row_count(document); i++) {
        const long long ts = cell(document, i, TS), end = cell(document, i, LAST_TS);
        assert_true(ts > last && ts / 11 == end / 11);
        assert_int_equal(cell(document, i, STEP), (ts - 5000000) / 10 + 1);
        assert_int_equal(cell(document, i, LAST_STEP), (end - 5000000) / 10 + 1);
        assert_int_equal(cell(document, i, COUNT), (end - ts) / 10 + 1);
        sum += cell(document, i, COUNT);
        last = end;
    }
    assert_int_equal(sum, 2001);
    assert_true(row_count(document) < 1900);
    json_decref(document);
}

/* In each bin of 1 + 8000000 / 2000 = 4001 ns there are four checkpoints, 1000 ns apart. The job
 * falls back to the start at 4002000: what was saved up to that moment is in no group with what
 * comes after it. */
static void test_no_group_reaches_across_an_interruption(void **state)
{
    const struct place *p = *state;
    sample_tamper(p->path, "with recursive n(i) as (select 1 union all select i + 1 from n where "
                           "i < 8001) insert into checkpoint (run, ts, stall, step, level, tier) "
                           "select 1, i * 1000, 0, case when i <= 4002 then i else i - 4002 end, "
                           "0, 'pfs' from n");
    json_t *document = groups(p);
    bool straddles = false;
    for (size_t i = 0; i < row_count(document); i++)
        straddles |= cell(document, i, LAST_STEP) < cell(document, i, STEP);
    assert_true(straddles);
    json_decref(document);
    stop_at(p, "4002000");
    document = groups(p);
    unsigned cut = 0;
    for (size_t i = 0; i < row_count(document); i++) {
        const long long ts = cell(document, i, TS), end = cell(document, i, LAST_TS);
        assert_true(end <= 4002000 || ts > 4002000);
        assert_true(cell(document, i, LAST_STEP) >= cell(document, i, STEP));
        assert_int_equal(cell(document, i, STEP), end <= 4002000 ? ts / 1000 : ts / 1000 - 4002);
        cut += end == 4002000 && cell(document, i, LAST_STEP) == 4002;
    }
    assert_in_range(row_count(document), 2000, 2002); /* cut in that one place alone */
    assert_int_equal(cut, 1); /* durable at that moment: it stands before it */
    json_decref(document);
}

/* Two levels of one save, the slower durable 1 ns before the next save of the faster one. */
static void test_levels_stand_apart_and_windows_end(void **state)
{
    const struct place *p = *state;
    struct error error = {""};
    sample_tamper(p->path, "with recursive n(i) as (select 0 union all select i + 1 from n where "
                           "i < 99) insert into checkpoint (run, ts, stall, step, level, tier) "
                           "select 1, 20 * (i / 2) + 19 * (i % 2), 0, i / 2, i % 2, 'x' from n");
    stop_at(p, "500");
    stop_at(p, "510");
    json_t *document = ask(p, 40, 100, &error);
    assert_int_equal(row_count(document), 6); /* 40 60 80 of level 0, 59 79 99 of level 1 */
    for (size_t i = 0; i < 6; i++) {
        const long long level = cell(document, i, LEVEL);
        assert_int_equal(cell(document, i, TS), 20 * cell(document, i, STEP) + 19 * level);
        assert_in_range(cell(document, i, TS), 40, 99);
    }
    json_decref(document);
}

static void refused(const struct place *p, const char *sql, const char *words)
{
    struct error error = {""};
    sample_database(p->path);
    sample_tamper(p->path, sql);
    assert_null(ask(p, 0, INT64_MAX, &error));
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, words);
}

static void test_what_no_run_writes_is_refused(void **state)
{
    const struct place *p = *state;
#define SAVE "insert into checkpoint (run, ts, stall, step, level, tier) values "
    refused(p, SAVE "(1, 5, 0, 1, -1, 'x')", "names no level");
    refused(p, SAVE "(1, 5, 0, 1, 64, 'x')", "names no level");
    refused(p, SAVE "(1, 5, 0, -1, 0, 'x')", "no step");
    refused(p, SAVE "(1, 5, 0, 1, 0, 'x'), (1, 4, 0, 2, 0, 'x')", "in their order");
    refused(p,
            "with recursive n(i) as (select 0 union all select i + 1 from n where i < 2001) "
            "insert into checkpoint (run, ts, stall, step, level, tier) select 1, "
            "case i when 1002 then 1000 else i end, 0, i, 0, 'x' from n", /* within a group */
            "in their order");
    refused(p,
            "with recursive n(i) as (select 0 union all select i + 1 from n where i < 100000) "
            "insert into interruption select null, 1, i, null, 'x', 'gpu', 0, null, 0, 0, 0, 0, 0, "
            "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, 0 from n",
            "more than 100000 interruptions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_few_stand_for_themselves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_stand_in_bins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_group_reaches_across_an_interruption, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_levels_stand_apart_and_windows_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_no_run_writes_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
