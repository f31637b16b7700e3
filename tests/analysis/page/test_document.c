/* Documents of the page: valid JSON whatever the database holds, its sums to the digit, sentences
 * for what no run writes. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/page/document.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

/* The whole document as text, to be freed; NULL with a sentence. */
static char *whole_text(const char *path, struct error *error)
{
    struct query *query;
    char *text = NULL;
    size_t size;
    if (!query_open(path, &query, error))
        return NULL;
    FILE *out = open_memstream(&text, &size);
    const bool good = document_write_whole(query, "x.db", out, error);
    fclose(out);
    query_close(query);
    if (good)
        return text;
    free(text);
    return NULL;
}

static json_t *whole(const char *path)
{
    struct error error = {""};
    json_error_t where;
    char *text = whole_text(path, &error);
    assert_non_null(text);
    json_t *document = json_loads(text, JSON_ALLOW_NUL, &where);
    if (document == NULL)
        print_error("%s at %d: %.60s\n", where.text, where.position, text + where.position);
    assert_non_null(document);
    free(text);
    return document;
}

static long long column_sum(const json_t *grid, size_t column)
{
    long long sum = 0;
    const json_t *rows = json_object_get(grid, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        sum += json_integer_value(json_array_get(json_array_get(rows, i), column));
    return sum;
}

static void test_sums_are_those_of_the_database(void **state)
{
    const struct sample_place *p = *state;
    char answer[64];
    json_t *document = whole(p->path);
    const json_t *ops = json_object_get(document, "ops");
    sample_ask(p->path, "select sum(dur) from slice_raw where depth = 0", answer, sizeof answer);
    assert_int_equal(column_sum(ops, 3), strtoll(answer, NULL, 10));
    sample_ask(p->path, "select count(*) from slice_raw where depth = 0", answer, sizeof answer);
    assert_int_equal(column_sum(ops, 5), strtoll(answer, NULL, 10));
    assert_true(column_sum(ops, 5) > 0);
    json_decref(document);
}

/* Every number of the run reads back as the same bits. */
static void test_numbers_keep_every_digit(void **state)
{
    const struct sample_place *p = *state;
    sample_tamper(p->path, "update run set step_s = 0.1 + 0.2, mfu_ratio = 1.0 / 3.0, "
                           "tokens_per_s = 5e-324, wall_s = 9e999");
    json_t *document = whole(p->path);
    const json_t *run = json_object_get(json_object_get(document, "run"), "run");
    const json_t *names = json_object_get(run, "columns");
    const json_t *row = json_array_get(json_object_get(run, "rows"), 0);
    unsigned met = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const json_t *cell = json_array_get(row, i);
        const double value = json_number_value(cell);
        if (strcmp(name, "step_s") == 0)
            met += value == 0.1 + 0.2;
        else if (strcmp(name, "mfu_ratio") == 0)
            met += value == 1.0 / 3.0;
        else if (strcmp(name, "tokens_per_s") == 0)
            met += value == 5e-324;
        else if (strcmp(name, "wall_s") == 0)
            met += json_is_null(cell); /* no number of JSON */
    }
    assert_int_equal(met, 4);
    json_decref(document);
}

static void test_texts_stay_texts(void **state)
{
    const struct sample_place *p = *state;
    struct error error = {""};
    sample_tamper(p->path, "update string set text = '</script><script>alert(1)</script><!--' || "
                           "char(8232) || char(1) || cast(x'ff00' as text) where id = 1; "
                           "update run set title = '\"' || char(92) || '&<b>'");
    char *text = whole_text(p->path, &error);
    assert_non_null(text);
    assert_null(strpbrk(text, "<>&"));
    assert_non_null(strstr(text, "\\u003c/script\\u003e"));
    free(text);
    json_decref(whole(p->path));
}

static void refused(const struct sample_place *p, const char *sql, const char *words)
{
    struct error error = {""};
    sample_database(p->path);
    sample_tamper(p->path, sql);
    assert_null(whole_text(p->path, &error));
    if (strstr(error.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, words);
}

static void test_what_no_run_writes_is_refused(void **state)
{
    const struct sample_place *p = *state;
    refused(p, "update slice_raw set ts = -5 where id = 1", "outside of time");
    refused(p, "update slice_raw set dur = 9223372036854775807 where id = 1", "outside of time");
    refused(p,
            "insert into slice_raw select 100, 5000, 1, 0, track_id, name, phase, 0, 0, 0, 0 from "
            "slice_raw where id = 1; insert into slice_raw select 101, 0, 1, 0, track_id, name, "
            "phase, 0, 0, 0, 0 from slice_raw where id = 1",
            "do not stand in their order");
    refused(p, "update counter_raw set ts = -1", "no time");
    refused(p,
            "with recursive n(i) as (select 10 union all select i + 1 from n where i < 120000) "
            "insert into string select i, 'x' from n",
            "more than a page can show");
    refused(p,
            "with recursive n(i) as (select 1000 union all select i + 1 from n where i < 25000) "
            "insert into track select i, 1, 1, 'stream', 'compute', 1, 0, 0, 0 from n; "
            "with recursive n(i) as (select 1000 union all select i + 1 from n where i < 25000) "
            "insert into slice_raw select i, 0, 1, 0, i, 1, 1, 0, 0, 0, 0 from n",
            "more streams");
}

static void test_a_window_holds_what_touches_it(void **state)
{
    const struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    char *text = NULL, answer[64];
    size_t size;
    assert_true(query_open(p->path, &query, &error));
    sample_ask(p->path, "select max(ts + dur) from slice_raw", answer, sizeof answer);
    const struct document_ask ask = {
        .kind = DOCUMENT_SLICES,
        .slices = {SLICES_OPS, strtoll(answer, NULL, 10) - 1, INT64_MAX / 4, SLICES_ALL, 100}};
    FILE *out = open_memstream(&text, &size);
    assert_true(document_write(query, "x.db", &ask, out, &error));
    fclose(out);
    query_close(query);
    json_t *document = json_loads(text, 0, NULL);
    sample_ask(p->path,
               "select count(*) from slice_raw where depth = 0 and "
               "ts + dur = (select max(ts + dur) from slice_raw)",
               answer, sizeof answer);
    assert_int_equal(column_sum(document, 5), strtoll(answer, NULL, 10));
    json_decref(document);
    free(text);
}

/* Waits of a window: whole, of the classes that are asked for, with the cause as their name. */
static void test_waits_come_with_their_cause(void **state)
{
    const struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    sample_tamper(
        p->path, "insert into string values (700, 'bubble'), (701, 'host'); insert into track "
                 "select 900 + id, 1, id, 'stream', 'waits', 0, 0, 0, 0 from rank_class; insert "
                 "into idle_raw select 900 + id, 10, 20, 700 from rank_class; insert into idle_raw "
                 "values (901, 30, 5, 701), (901, 40, 3, 700), (902, 4000, 1000000, 701), "
                 "(902, 1004000, 251, 700), (902, 1004251, 250, 701), (902, 1004501, 0, 701)");
    const struct {
        struct slices_ask ask;
        long long count, busy, names;
    } cases[] = {
        {{SLICES_IDLE, 0, 4000, 1, 100}, 3, 28, 700 + 701 + 700},
        {{SLICES_IDLE, 0, INT64_MAX / 4, 1, 100}, 3, 28, 700 + 701}, /* rests: a unit is 251 ns */
        {{SLICES_IDLE, 0, INT64_MAX / 4, 2, 100}, 4, 1000521, 701 + 700 + 701 + 700},
        {{SLICES_IDLE, 501, 1004501, 2, 100}, 3, 1000501, 701 + 700 + 701},
        {{SLICES_IDLE, 29, 40, 1, 100}, 2, 25, 700 + 701},
        {{SLICES_IDLE, 30, 41, 1, 100}, 2, 8, 701 + 700},
        {{SLICES_IDLE, 0, 10, 1, 100}, 0, 0, 0},
        {{SLICES_IDLE, 0, 11, 2, 100}, 1, 20, 700},
    };
    assert_true(query_open(p->path, &query, &error));
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct document_ask ask = {.kind = DOCUMENT_SLICES, .slices = cases[i].ask};
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_true(document_write(query, "x.db", &ask, out, &error));
        fclose(out);
        json_t *document = json_loads(text, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(document, "level")), "idle");
        assert_int_equal(column_sum(document, 5), cases[i].count);
        assert_int_equal(column_sum(document, 3), cases[i].busy);
        assert_int_equal(column_sum(document, 6), cases[i].names);
        json_decref(document);
        free(text);
    }
    query_close(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_are_those_of_the_database, sample_set_up,
                                        sample_tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_keep_every_digit, sample_set_up,
                                        sample_tear_down),
        cmocka_unit_test_setup_teardown(test_texts_stay_texts, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_what_no_run_writes_is_refused, sample_set_up,
                                        sample_tear_down),
        cmocka_unit_test_setup_teardown(test_a_window_holds_what_touches_it, sample_set_up,
                                        sample_tear_down),
        cmocka_unit_test_setup_teardown(test_waits_come_with_their_cause, sample_set_up,
                                        sample_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
