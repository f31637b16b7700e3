/* The results database, read: what is refused and in which words, what a writer that was stopped
 * leaves behind, rows as they come. */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/record/database/query.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

enum {
    NOBODY = 65534
};
static void expect_refused(const char *path, const char *after_path)
{
    struct query *query;
    struct error error = {""};
    assert_false(query_open(path, &query, &error));
    if (strncmp(error.text, path, strlen(path)) != 0 ||
        strcmp(error.text + strlen(path), after_path) != 0)
        fail_msg("'%s', expected '%s%s'", error.text, path, after_path);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_no_file_to_read(void **state)
{
    struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    char path[400], expected[500];
    snprintf(path, sizeof path, "%s/none.db", p->folder);
    assert_false(query_open(path, &query, &error));
    snprintf(expected, sizeof expected, "cannot read %s: No such file or directory", path);
    assert_string_equal(error.text, expected);
    expect_refused(p->folder, " is not a regular file");
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refused(path, " is not a regular file"); /* and nobody waits for a writer */
}

static void test_foreign_files(void **state)
{
    struct sample_place *p = *state;
    char path[400];
    snprintf(path, sizeof path, "%s/other", p->folder);
    write_file(path, "");
    expect_refused(path, " is not a results database of Orrery");
    write_file(path, "my thesis, which is longer than the header of a database of SQLite would be, "
                     "and then some more, and then some more still");
    expect_refused(path, ": file is not a database");
    unlink(path);
    sample_tamper(path, "create table thesis(chapter)");
    expect_refused(path, " is not a results database of Orrery");
    /* the right name in the wrong place */
    sample_tamper(path, "pragma user_version = 1430795097");
    expect_refused(path, " is not a results database of Orrery");
}

static void test_other_versions(void **state)
{
    struct sample_place *p = *state;
    sample_tamper(p->path, "pragma user_version = 4");
    expect_refused(p->path, " has version 4 of the schema; this orrery reads version 21: "
                            "run the scenario again to write it anew");
    sample_tamper(p->path, "pragma user_version = 22");
    expect_refused(p->path, " has version 22 of the schema; this orrery reads version 21: "
                            "run the scenario again to write it anew");
    sample_tamper(p->path, "pragma user_version = 21");
    struct query *query;
    struct error error = {""};
    assert_true(query_open(p->path, &query, &error));
    query_close(query);
    sample_tamper(p->path, "pragma application_id = 7"); /* whose version is nobody's matter */
    expect_refused(p->path, " is not a results database of Orrery");
}

static void test_changed_schemas(void **state)
{
    struct sample_place *p = *state;
    sample_tamper(p->path, "alter table message rename to letter");
    expect_refused(p->path, ": 'message' is missing or is not as Orrery wrote it");
    sample_tamper(p->path, "alter table letter rename to message");
    expect_refused(p->path, ": 'message' is missing or is not as Orrery wrote it"); /* quoted now */
}

static void test_complete(void **state)
{
    struct sample_place *p = *state;
    static const struct {
        const char *sql;
        bool complete;
    } rows[] = {
        {"update meta set value = '1' where key = 'complete'", true},
        {"update meta set value = '0' where key = 'complete'", false},
        {"update meta set value = 'yes' where key = 'complete'", false},
        {"delete from meta where key = 'complete'", false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct query *query;
        struct error error = {""};
        sample_tamper(p->path, rows[i].sql);
        assert_true(query_open(p->path, &query, &error));
        assert_int_equal(query_complete(query), rows[i].complete);
        query_close(query);
    }
    query_close(NULL);
}

/* What a reader takes it gives back, whether the file is read or refused. */
static void test_nothing_is_kept(void **state)
{
    struct sample_place *p = *state;
    static const char *const spoilers[] = {"select 1", "pragma user_version = 3",
                                           "pragma user_version = 4", "drop view slice",
                                           "pragma application_id = 7"};
    for (unsigned i = 0; i < sizeof spoilers / sizeof spoilers[0]; i++) {
        struct query *query;
        struct error error = {""};
        sample_tamper(p->path, spoilers[i]);
        sqlite3_int64 before = sqlite3_memory_used();
        if (query_open(p->path, &query, &error))
            query_close(query);
        assert_int_equal(sqlite3_memory_used(), before);
    }
}

/* Another process holds it for itself, as a stranger in a long transaction would. */
static void test_busy(void **state)
{
    struct sample_place *p = *state;
    sqlite3 *database;
    struct query *query;
    struct error error = {""};
    assert_int_equal(sqlite3_open(p->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "begin exclusive", NULL, NULL, NULL), SQLITE_OK);
    expect_refused(p->path, " is being written; it can be read when its writer has ended");
    sqlite3_close(database);
    assert_true(query_open(p->path, &query, &error));
    query_close(query);
}

/* Killed in the middle of a transaction that has reached the disk: the journal is hot. */
static void stop_half_way(const char *path, const char *beside)
{
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *database;
        if (sqlite3_open(path, &database) != SQLITE_OK ||
            sqlite3_exec(
                database,
                "pragma cache_size = 1; begin; "
                "update meta set value = '0' where key = 'complete'; "
                "insert into message (id, run, severity, key, text) with recursive n(i) as "
                "(select 100 union all select "
                "i + 1 from n where i < 5000) select i, 1, 'note', '', hex(zeroblob(100)) "
                "from n",
                NULL, NULL, NULL) != SQLITE_OK)
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    char journal[400];
    struct stat facts;
    snprintf(journal, sizeof journal, "%s%s", path, beside);
    assert_true(stat(journal, &facts) == 0 && facts.st_size > 0);
}

static bool take_number(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

/* What was committed is there again, and the journal has gone. */
static void test_hot_journal(void **state)
{
    struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    char journal[400];
    int64_t count = -1;
    stop_half_way(p->path, "-journal");
    if (!query_open(p->path, &query, &error))
        fail_msg("%s", error.text);
    assert_true(query_complete(query));
    assert_true(query_run(query, "select count(*) from message where id >= 100", NULL, take_number,
                          &count, &error));
    assert_int_equal(count, 0);
    assert_false(query_run(query, "delete from meta", NULL, take_number, &count, &error));
    assert_non_null(strstr(error.text, "readonly")); /* it was open for writing a moment ago */
    query_close(query);
    snprintf(journal, sizeof journal, "%s-journal", p->path);
    assert_int_equal(access(journal, F_OK), -1);
}

/* Who may only read is told what to copy. Whoever may do all becomes nobody. */
static void expect_told_what_to_copy(const struct sample_place *p)
{
    char expected[2000];
    snprintf(expected, sizeof expected,
             "%s: its writer was stopped half way, and neither it nor its folder can be written to "
             "roll it back; copy it with %s-journal or %s-wal to where you may write",
             p->path, p->path, p->path);
    assert_int_equal(chmod(p->path, 0444), 0);
    assert_int_equal(chmod(p->folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        struct query *query;
        struct error error = {""};
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(3);
        if (query_open(p->path, &query, &error))
            _exit(1);
        _exit(strncmp(error.text, expected, sizeof error.text - 1) == 0 ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(chmod(p->folder, 0777), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_hot_journal_of_others(void **state)
{
    struct sample_place *p = *state;
    char journal[400];
    stop_half_way(p->path, "-journal");
    snprintf(journal, sizeof journal, "%s-journal", p->path);
    assert_int_equal(chmod(journal, 0444), 0);
    expect_told_what_to_copy(p);
    assert_int_equal(access(journal, F_OK), 0);
}

/* A log without its index, which a reader would have to make. */
static void test_log_of_others(void **state)
{
    struct sample_place *p = *state;
    char index[400];
    sample_tamper(p->path, "pragma journal_mode = wal");
    stop_half_way(p->path, "-wal");
    snprintf(index, sizeof index, "%s-shm", p->path);
    assert_int_equal(unlink(index), 0);
    expect_told_what_to_copy(p);
    struct query *query;
    struct error error = {""};
    if (!query_open(p->path, &query, &error)) /* who may write reads what was committed */
        fail_msg("%s", error.text);
    assert_true(query_complete(query));
    query_close(query);
}

static void test_names(void **state)
{
    struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    assert_true(query_open(p->path, &query, &error));
    struct name_list names = query_objects(query);
    char asked[16];
    sample_ask(p->path, "select count(*) from sqlite_schema where sql is not null", asked,
               sizeof asked);
    assert_int_equal(names.count, atoi(asked));
    for (unsigned i = 0; i < names.count; i++) {
        assert_true(query_knows(query, names.names[i]));
        assert_true(i == 0 || strcmp(names.names[i - 1], names.names[i]) < 0);
    }
    assert_true(query_knows(query, "breakdown") && query_knows(query, "slice_raw"));
    assert_false(query_knows(query, "sqlite_schema") || query_knows(query, "Breakdown"));
    query_close(query);
}

/* One row of each type, and what stops. */
struct seen {
    unsigned heads, rows, stop_at;
    char names[256];
};

static bool head(void *context, const struct query_row *row, struct error *error)
{
    struct seen *seen = context;
    seen->heads++;
    for (unsigned i = 0; i < query_columns(row); i++) {
        size_t used = strlen(seen->names);
        snprintf(seen->names + used, sizeof seen->names - used, "%s ", query_name(row, i));
    }
    return seen->stop_at != 0 || error_set(error, "no head");
}

static bool each(void *context, const struct query_row *row, struct error *error)
{
    struct seen *seen = context;
    (void)row;
    return ++seen->rows != seen->stop_at || error_set(error, "enough");
}

static void test_tables(void **state)
{
    struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    assert_true(query_open(p->path, &query, &error));
    struct seen seen = {.stop_at = 100};
    assert_true(query_table(query, "rank", head, each, &seen, &error));
    assert_true(seen.heads == 1 && seen.rows == 4);
    assert_int_equal(strncmp(seen.names, "run rank ", 9), 0);
    seen = (struct seen){.stop_at = 100};
    assert_true(query_table(query, "failure", head, each, &seen, &error)); /* has none */
    assert_true(seen.heads == 1 && seen.rows == 0);
    seen = (struct seen){.stop_at = 2};
    assert_false(query_table(query, "rank", head, each, &seen, &error));
    assert_int_equal(seen.rows, 2);
    assert_string_equal(error.text, "enough");
    seen = (struct seen){.stop_at = 0};
    assert_false(query_table(query, "rank", head, each, &seen, &error));
    assert_int_equal(seen.rows, 0);
    assert_string_equal(error.text, "no head");
    query_close(query);
}

static bool look(void *context, const struct query_row *row, struct error *error)
{
    unsigned bytes;
    (void)error;
    ++*(unsigned *)context;
    assert_int_equal(query_columns(row), 5);
    assert_true(query_type(row, 0) == QUERY_INTEGER && query_integer(row, 0) == 5 - 7);
    assert_true(query_type(row, 1) == QUERY_REAL && query_real(row, 1) == 2.5);
    assert_true(query_type(row, 2) == QUERY_TEXT);
    assert_string_equal(query_text(row, 2, &bytes), "text");
    assert_int_equal(bytes, 4);
    assert_true(query_type(row, 3) == QUERY_NULL);
    assert_string_equal(query_text(row, 3, &bytes), "");
    assert_int_equal(bytes, 0);
    assert_true(query_type(row, 4) == QUERY_TEXT); /* bytes */
    assert_string_equal(query_name(row, 1), "half");
    return true;
}

static void test_rows(void **state)
{
    struct sample_place *p = *state;
    struct query *query;
    struct error error = {""};
    unsigned count = 0;
    const int64_t values[] = {5, 7};
    assert_true(query_open(p->path, &query, &error));
    assert_true(query_run(query, "select ?1 - ?2, 2.5 as half, 'text', null, x'4142'",
                          &(struct query_values){values, 2}, look, &count, &error));
    assert_int_equal(count, 1);
    assert_false(query_run(query, "select missing", NULL, look, &count, &error));
    assert_string_equal(error.text, "the database cannot answer: no such column: missing");
    assert_false(query_run(query, "select abs(-9223372036854775808)", NULL, look, &count, &error));
    assert_string_equal(error.text, "the database cannot be read: integer overflow");
    assert_false(query_run(query, "delete from meta", NULL, look, &count, &error));
    assert_non_null(strstr(error.text, "attempt to write a readonly database"));
    assert_false(query_run(query, "select hex(zeroblob(1 << 24))", NULL, look, &count, &error));
    assert_non_null(strstr(error.text, "string or blob too big"));
    assert_int_equal(count, 1);
    query_close(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_file_to_read, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_files, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_other_versions, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_changed_schemas, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_complete, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_kept, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_busy, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_hot_journal, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_hot_journal_of_others, sample_set_up,
                                        sample_tear_down),
        cmocka_unit_test_setup_teardown(test_log_of_others, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_names, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_tables, sample_set_up, sample_tear_down),
        cmocka_unit_test_setup_teardown(test_rows, sample_set_up, sample_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
