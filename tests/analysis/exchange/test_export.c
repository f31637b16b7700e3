/* Exports: valid documents from a good database, sentences (and no crash) from hostile ones. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/exchange/export/export.h"
#include "tests/analysis/exchange/nesting.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

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

/* The chrome export of the file, to be freed; NULL with a sentence. */
static char *chrome(const char *path, int64_t rank, struct error *error)
{
    struct query *query;
    if (!query_open(path, &query, error))
        return NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool good = export_chrome(query, rank, out, error);
    fclose(out);
    query_close(query);
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

static void test_chrome_nests(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    char *text = chrome(p->path, -1, &error);
    assert_non_null(text);
    char why[256] = "";
    assert_int_equal(nesting_check(text, why, sizeof why), 5);
    assert_non_null(strstr(text, "stage 0: 2 ranks like rank 0"));
    assert_non_null(strstr(text, "\"ts\":0.250"));
    free(text);
}

static void test_nesting_check_can_fail(void **state)
{
    char why[256] = "";
    const char *overlap = "{\"traceEvents\":["
                          "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},"
                          "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":10,\"name\":\"b\"}]}";
    assert_int_equal(nesting_check(overlap, why, sizeof why), -1);
    assert_int_equal(nesting_check("{\"traceEvents\":[", why, sizeof why), -1);
}

static void test_chrome_of_a_rank(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    char why[256] = "";
    char *text = chrome(p->path, 3, &error);
    assert_non_null(text);
    assert_int_equal(nesting_check(text, why, sizeof why), 1);
    assert_non_null(strstr(text, "rank 3, stage 1"));
    free(text);
    assert_null(chrome(p->path, 4, &error));
    assert_non_null(strstr(error.text, "no rank 4"));
}

static void test_chrome_refuses_overlap(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    sample_tamper(p->path, "update slice_raw set dur = 700 where id = 2"); /* past its neighbour */
    assert_null(chrome(p->path, -1, &error));
    assert_non_null(strstr(error.text, "overlap"));
    sample_tamper(p->path, "update slice_raw set dur = -5 where id = 2");
    assert_null(chrome(p->path, -1, &error));
}

/* Spans within spans, 64 deep; and not one more. */
static void test_chrome_nests_so_deep(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    char why[256] = "";
    sample_tamper(p->path, "with recursive n(i) as (select 0 union all select i + 1 from n where "
                           "i < 63) insert into slice_raw (ts, dur, wait, track_id, name, phase, "
                           "chunk, depth) select 5000 + i, 1000 - 2 * i, 0, 1, name, phase, 0, i "
                           "from n, slice_raw where id = 1");
    char *text = chrome(p->path, -1, &error);
    assert_non_null(text);
    assert_int_equal(nesting_check(text, why, sizeof why), 5 + 64);
    free(text);
    sample_tamper(p->path, "insert into slice_raw (ts, dur, wait, track_id, name, phase, chunk, "
                           "depth) select 5064, 1, 0, 1, name, phase, 0, 64 from slice_raw where "
                           "id = 1");
    assert_null(chrome(p->path, -1, &error));
    assert_string_equal(error.text, "spans of track 1 nest too deeply");
}

static void test_csv(void **state)
{
    struct place *p = *state;
    struct query *query;
    struct error error = {""};
    char *text = NULL;
    size_t size;
    assert_true(query_open(p->path, &query, &error));
    FILE *out = open_memstream(&text, &size);
    assert_true(export_csv(query, "string", out, &error));
    assert_true(export_csv(query, "goodput", out, &error)); /* no row: the header alone */
    fclose(out);
    assert_string_equal(text, "id,text\r\n1,\"layer \"\"0\"\"\"\r\n2,forward\r\n3,\"qkv, gemm\"\r\n"
                              "4,attention\r\n5,layer\r\nrun,class,seconds,percent\r\n");
    assert_false(query_knows(query, "slice; drop table run"));
    free(text);
    query_close(query);
}

static void assert_refused(const char *path, const char *words)
{
    struct query *query;
    struct error error = {""};
    assert_false(query_open(path, &query, &error));
    if (strstr(error.text, words) == NULL)
        fail_msg("expected '%s' in: %s", words, error.text);
}

static void test_hostile_schema(void **state)
{
    struct place *p = *state;
    assert_refused("/nonexistent.db", "cannot read");
    sample_tamper(p->path, "drop view slice; create view slice as with recursive n(i) as "
                           "(select 1 union all select i + 1 from n) select * from n");
    assert_refused(p->path, "'slice'");
    sample_database(p->path);
    sample_tamper(p->path, "drop table counter_raw");
    assert_refused(p->path, "'counter_raw'");
    sample_database(p->path);
    sample_tamper(p->path, "pragma application_id = 42");
    assert_refused(p->path, "not a results database");
    unlink(p->path);
    sample_database(p->path);
    sample_tamper(p->path, "pragma user_version = 99");
    assert_refused(p->path, "version 99");
}

static void test_hostile_text(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    char why[256] = "";
    sample_tamper(p->path, "update string set text = cast(x'ff22005c0a3c2f7363726970743eeda080' as "
                           "text) where id = 1");
    char *text = chrome(p->path, -1, &error);
    assert_non_null(text);
    assert_int_equal(nesting_check(text, why, sizeof why), 5);
    free(text);
}

/* Every byte of the file flipped, one at a time (coarsely): a sentence or a document, no crash. */
static void test_corrupt_bytes(void **state)
{
    struct place *p = *state;
    char other[320];
    snprintf(other, sizeof other, "%s/y.db", p->folder);
    FILE *in = fopen(p->path, "rb");
    static unsigned char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    assert_true(size > 4096 && size < sizeof bytes);
    for (size_t at = 16; at < size; at += 1999) {
        unsigned char kept = bytes[at];
        bytes[at] ^= 0xa5;
        FILE *out = fopen(other, "wb");
        fwrite(bytes, 1, size, out);
        fclose(out);
        struct error error = {""};
        char *text = chrome(other, -1, &error);
        assert_true(text != NULL || error.text[0] != '\0');
        free(text);
        bytes[at] = kept;
    }
    assert_int_equal(truncate(p->path, (off_t)size / 2), 0);
    struct error error = {""};
    assert_null(chrome(p->path, -1, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chrome_nests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chrome_nests_so_deep, set_up, tear_down),
        cmocka_unit_test(test_nesting_check_can_fail),
        cmocka_unit_test_setup_teardown(test_chrome_of_a_rank, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chrome_refuses_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_corrupt_bytes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
