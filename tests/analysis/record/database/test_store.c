/* The store: what it promises of the file under the final name, of views, and of failures. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

struct place {
    char folder[256];
    char path[300], partial[320];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    sample_folder(p->folder, sizeof p->folder);
    snprintf(p->path, sizeof p->path, "%s/x.db", p->folder);
    snprintf(p->partial, sizeof p->partial, "%s.partial", p->path);
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

static void assert_answer(const char *path, const char *sql, const char *expected)
{
    char answer[256];
    sample_ask(path, sql, answer, sizeof answer);
    assert_string_equal(answer, expected);
}

static void test_complete_file(void **state)
{
    struct place *p = *state;
    sample_database(p->path);
    assert_int_equal(access(p->partial, F_OK), -1);
    assert_answer(p->path, "select value from meta where key = 'complete'", "1");
    assert_answer(p->path, "select count(*) from slice where rank = 1", "4");
    assert_answer(p->path, "select name from slice where rank = 0 and ts = 400", "attention");
    assert_answer(p->path, "pragma integrity_check", "ok");
}

static void test_views_answer(void **state)
{
    struct place *p = *state;
    sample_database(p->path);
    assert_answer(p->path, "select printf('%.9f', sum(seconds)) from breakdown", "0.001000000");
    assert_answer(p->path, "select printf('%.3f', sum(percent)) from breakdown", "100.000");
    assert_answer(p->path, "select printf('%.3f', percent) from breakdown where part = 'bubble'",
                  "25.000");
    assert_answer(p->path, "select printf('%.1f', percent_of_step) from bubble where stage = 1",
                  "40.0");
    assert_answer(p->path, "select printf('%.1f', percent_of_usable) from memory_peak", "80.0");
    assert_answer(p->path, "select count(*) from counter", "2");
    assert_answer(p->path, "select place from layout_rank", "1");
    assert_answer(p->path, "select count(*) from pareto", "1");
    assert_answer(p->path, "select count(*) from goodput", "0");
}

static void test_doc_is_complete(void **state)
{
    struct place *p = *state;
    sample_database(p->path);
    assert_answer(p->path,
                  "select count(*) from sqlite_schema m, pragma_table_info(m.name) c "
                  "where m.type in ('table', 'view') and not exists "
                  "(select 1 from doc where object = m.name and \"column\" = c.name)",
                  "0");
    assert_answer(p->path,
                  "select count(*) from doc d where \"column\" <> '' and not exists (select 1 from "
                  "sqlite_schema m, pragma_table_info(m.name) c where m.name = d.object and "
                  "c.name = d.\"column\")",
                  "0");
    assert_answer(p->path,
                  "select count(*) from sqlite_schema m where m.type in ('table', 'view') and not "
                  "exists (select 1 from doc where object = m.name and \"column\" = '')",
                  "0");
}

static void test_same_rows_same_bytes(void **state)
{
    struct place *p = *state;
    char other[320], command[700];
    snprintf(other, sizeof other, "%s/y.db", p->folder);
    sample_database(p->path);
    sample_database(other);
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", p->path, other);
    assert_int_equal(system(command), 0);
    sample_tamper(other, "update slice_raw set dur = dur + 1 where id = 1"); /* planted fault */
    assert_int_not_equal(system(command), 0);
}

static void test_refuses_foreign_files(void **state)
{
    struct place *p = *state;
    struct store *store;
    struct error error = {""};
    FILE *file = fopen(p->path, "w");
    fputs("my thesis\n", file);
    fclose(file);
    assert_int_equal(store_open(p->path, 0.0, &store, &error), STORE_FAILED);
    assert_non_null(strstr(error.text, "not a results database"));
    assert_int_equal(store_open(p->folder, 0.0, &store, &error), STORE_FAILED);
    assert_int_equal(store_open("/dev/null", 0.0, &store, &error), STORE_FAILED);
    char nowhere[600];
    snprintf(nowhere, sizeof nowhere, "%s/no/such/x.db", p->folder);
    assert_int_equal(store_open(nowhere, 0.0, &store, &error), STORE_FAILED);
}

/* 24 characters are left for what is added to the name of 4,096 in all. */
static void test_longest_path(void **state)
{
    struct place *p = *state;
    struct store *store;
    struct error error = {""};
    char path[4096];
    sample_long_path(p->folder, path, 4096 - 24);
    sample_database(path);
    assert_answer(path, "select value from meta where key = 'complete'", "1");
    sample_long_path(p->folder, path, 4096 - 23);
    assert_int_equal(store_open(path, 0.0, &store, &error), STORE_FAILED);
    assert_string_equal(error.text, "the path of the database is too long");
}

static void test_two_writers(void **state)
{
    struct place *p = *state;
    struct store *first, *second;
    struct error error = {""};
    assert_int_equal(store_open(p->path, 0.0, &first, &error), STORE_GOOD);
    assert_int_equal(store_open(p->path, 0.0, &second, &error), STORE_FAILED);
    assert_non_null(strstr(error.text, "another orrery"));
    sample_rows(first);
    assert_int_equal(store_finish(first, &error), STORE_GOOD);
    sample_database(p->path); /* and one after the other is fine */
}

static void add_point(struct store *store, int64_t point)
{
    struct store_value row[] = {
        store_integer(1), store_integer(point),
        store_integer(7), store_integer(store_string(store, point % 2 == 0 ? "even" : "odd")),
        store_real(0.5),
    };
    store_row(store, STORE_study_raw, row, sizeof row / sizeof row[0]);
}

static void add_meta(struct store *store, const char *key, const char *value)
{
    struct store_value row[] = {store_text(key), store_text(value)};
    store_row(store, STORE_meta, row, 2);
}

static struct store *share(const char *path, bool resume)
{
    struct store *store;
    struct error error = {""};
    if (store_share(path, 0.0, resume, &store, &error) != STORE_GOOD)
        fail_msg("%s", error.text);
    return store;
}

static void assert_same_bytes(const char *one, const char *other)
{
    char line[1000];
    snprintf(line, sizeof line, "cmp -s '%s' '%s'", one, other);
    assert_int_equal(system(line), 0);
}

/* Rows that were asked for, of every table, the names that they brought with them too; not those of
 * the schema, and none after a failure. */
static void test_row_count(void **state)
{
    struct place *p = *state;
    struct store *store;
    struct error error = {""};
    assert_int_equal(store_open(p->path, 0.0, &store, &error), STORE_GOOD);
    assert_int_equal(store_row_count(store), 0);
    add_meta(store, "scenario", "numbers");
    assert_int_equal(store_row_count(store), 1);
    add_point(store, 0); /* a row of a batch, and its name */
    assert_int_equal(store_row_count(store), 3);
    add_point(store, 2); /* its name is there */
    assert_int_equal(store_row_count(store), 4);
    store_commit(store);
    assert_int_equal(store_row_count(store), 4);
    add_meta(store, "scenario", "twice"); /* which the table does not take */
    assert_false(store_good(store));
    const uint64_t told = store_row_count(store);
    add_point(store, 1);
    assert_int_equal(store_row_count(store), told);
    assert_int_equal(store_finish(store, &error), STORE_FAILED);
    assert_non_null(strstr(error.text, "cannot write a row"));
}

/* Stopped after each point, gone on with, and compared with one that was not stopped. */
static void test_shared(void **state)
{
    struct place *p = *state;
    char whole[400];
    struct error error = {""};
    snprintf(whole, sizeof whole, "%s/whole.db", p->folder);
    struct store *store = share(whole, false);
    add_meta(store, "scenario", "numbers");
    for (int64_t i = 0; i < 4; i++)
        add_point(store, i);
    assert_int_equal(store_finish(store, &error), STORE_GOOD);
    for (int64_t i = 0; i < 4; i++) {
        store = share(p->path, true);
        assert_int_equal(store_resumed(store), i > 0);
        if (i == 0)
            add_meta(store, "scenario", "numbers");
        add_point(store, i);
        store_commit(store);
        char expected[32];
        snprintf(expected, sizeof expected, "%d", (int)i + 1);
        assert_answer(p->partial, "select count(*) from study_raw", expected); /* a reader beside */
        assert_answer(p->partial, "select value from meta where key = 'complete'", "0");
        assert_int_equal(i < 3 ? store_leave(store, &error) : store_finish(store, &error),
                         STORE_GOOD);
    }
    assert_same_bytes(p->path, whole);
    assert_int_equal(access(p->partial, F_OK), -1);
    assert_answer(p->path, "select value from meta where key = 'complete'", "1");
    assert_answer(p->path, "select group_concat(metric) from study_raw", "1,2,1,2");
    assert_answer(p->path, "pragma journal_mode", "delete");
}

/* Ids go on where they ended, in tables with and without rowid; rows can be taken back. */
static void test_going_on(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    struct store *store = share(p->path, false);
    struct store_value track[] = {store_null(),    store_integer(1), store_integer(2),
                                  store_text("x"), store_text("y"),  store_integer(3),
                                  store_real(1.0), store_real(2.0),  store_real(3.0)};
    assert_int_equal(store_row(store, STORE_track, track, 9), 1);
    add_point(store, 0);
    add_point(store, 1);
    add_point(store, 1);
    assert_int_equal(store_leave(store, &error), STORE_GOOD);
    store = share(p->path, true);
    assert_int_equal(store_row(store, STORE_track, track, 9), 2);
    assert_int_equal(store_string(store, "odd"), 2);
    assert_int_equal(store_string(store, "new"), 3);
    store_delete(store, STORE_study_raw, "point", 1);
    assert_int_equal(store_finish(store, &error), STORE_GOOD);
    assert_answer(p->path, "select group_concat(point) from study_raw", "0");
    assert_answer(p->path, "select group_concat(id) from track", "1,2");
}

static void test_discard(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    store_discard(NULL);
    store_discard(share(p->path, false));
    assert_int_equal(access(p->partial, F_OK), -1);
    struct store *store = share(p->path, false);
    add_point(store, 0);
    assert_int_equal(store_leave(store, &error), STORE_GOOD);
    store_discard(share(p->path, true)); /* what was there stays */
    assert_answer(p->partial, "select count(*) from study_raw", "1");
    assert_int_equal(store_open(p->path, 0.0, &store, &error), STORE_GOOD);
    store_discard(store);
    assert_int_equal(access(p->partial, F_OK), -1);
}

static void test_what_is_replaced(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    struct store *store = share(p->path, false);
    assert_string_equal(store_replaced(store), "");
    add_meta(store, "scenario", "numbers");
    assert_int_equal(store_finish(store, &error), STORE_GOOD);
    store = share(p->path, false);
    assert_string_equal(store_replaced(store), "a run of 'numbers'");
    assert_int_equal(store_dropped(store), 0);
    store_discard(store);
    sample_tamper(p->path, "insert into study values (1, 'n', 'goodput', 1, 0, 1, 0, 'f', 1)");
    store = share(p->path, false);
    assert_string_equal(store_replaced(store), "a study of 'numbers'");
    assert_int_equal(store_leave(store, &error), STORE_GOOD);
    sample_tamper(p->path, "pragma user_version = 1");
    assert_int_equal(store_open(p->path, 0.0, &store, &error), STORE_GOOD);
    assert_string_equal(store_replaced(store), "results of another version");
    store_discard(store);
}

/* A stranger's trigger would run when the study goes on. */
static void test_changed_partial_is_refused(void **state)
{
    struct place *p = *state;
    struct store *store = share(p->path, false);
    struct error error = {""};
    add_point(store, 0);
    assert_int_equal(store_leave(store, &error), STORE_GOOD);
    sample_tamper(p->partial, "drop view study_curve; create view study_curve as select 1");
    assert_int_equal(store_share(p->path, 0.0, true, &store, &error), STORE_FAILED);
    assert_non_null(strstr(error.text, "'study_curve' is missing or is not as Orrery wrote it"));
    assert_answer(p->partial, "select count(*) from study_raw", "1");
    FILE *junk = fopen(p->partial, "wb"); /* no database at all */
    assert_non_null(junk);
    fputs("junk junk junk junk junk junk junk", junk);
    fclose(junk);
    assert_int_equal(store_share(p->path, 0.0, true, &store, &error), STORE_FAILED);
    assert_int_equal(access(p->partial, F_OK), 0);
}

/* Many slices, until the store says stop. */
static void fill(struct store *store, unsigned count)
{
    for (unsigned i = 0; i < count && store_good(store); i++) {
        struct store_value row[] = {
            store_null(),     store_integer(i), store_integer(1), store_integer(0),
            store_integer(1), store_integer(1), store_integer(1), store_null(),
            store_null(),     store_integer(0), store_integer(0),
        };
        store_row(store, STORE_slice_raw, row, sizeof row / sizeof row[0]);
    }
}

static void assert_incomplete(const struct place *p)
{
    assert_int_equal(access(p->path, F_OK), -1);
    assert_int_equal(access(p->partial, F_OK), 0);
    assert_answer(p->partial, "select value from meta where key = 'complete'", "0");
    assert_answer(p->partial, "select count(*) from slice_raw", "0");
    assert_answer(p->partial, "pragma integrity_check", "ok");
}

static void test_limit(void **state)
{
    struct place *p = *state;
    struct store *store;
    struct error error = {""};
    assert_int_equal(store_open(p->path, 2e6, &store, &error), STORE_GOOD);
    fill(store, 200000);
    assert_false(store_good(store));
    assert_int_equal(store_finish(store, &error), STORE_LIMITED);
    assert_non_null(strstr(error.text, "--max-db"));
    assert_incomplete(p);
    assert_int_equal(store_open(p->path, 100.0, &store, &error), STORE_LIMITED);
    assert_int_equal(access(p->partial, F_OK), -1);
}

/* A file size limit stands for the full disk: writes fail in the middle. In a child, since the
 * limit cannot be taken back. */
static void test_full_disk(void **state)
{
    struct place *p = *state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {3000000, 3000000};
        struct store *store;
        struct error error = {""};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (store_open(p->path, 0.0, &store, &error) != STORE_GOOD)
            _exit(1);
        fill(store, 1000000);
        _exit(store_finish(store, &error) == STORE_FAILED ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_incomplete(p);
}

static void test_kill(void **state)
{
    struct place *p = *state;
    pid_t child = fork();
    if (child == 0) {
        struct store *store;
        struct error error = {""};
        if (store_open(p->path, 0.0, &store, &error) == STORE_GOOD) {
            /* Past the cache, so that pages of the open transaction are out. */
            fill(store, 900000);
            raise(SIGKILL);
        }
        _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_incomplete(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_complete_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_views_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_doc_is_complete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_rows_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_foreign_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_longest_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_writers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_row_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_going_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_discard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed_partial_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
