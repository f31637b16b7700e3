/* What the program's own main does around its commands. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/check.h"
#include "tests/child.h"
#include "tests/test.h"

/* A bug of ours, met before the command itself begins. */
#define outputs_check failing_check
#define main orrery_main
#include "analysis/main.c"
#undef main

int failing_check(const struct arguments *a, const struct session *session)
{
    CHECK(a == NULL && session == NULL);
    return EXIT_OK;
}

static void run_a_file(void)
{
    char *line[] = {"orrery", "run", "it's mine.yaml", "--no-db", NULL};
    orrery_main(4, line);
}

static void fail_after_a_command(void)
{
    char *line[] = {"orrery", "--version", NULL};
    CHECK(orrery_main(2, line) != EXIT_OK);
}

/* What a child prints before a CHECK ends it. */
static void output_of(void (*act)(void), char *text, size_t bytes)
{
    int status = child_output(act, text, bytes);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_a_failing_check_names_the_command(void **state)
{
    char text[2048];
    output_of(run_a_file, text, sizeof text);
    assert_non_null(strstr(text, "claim does not hold: a == NULL"));
    assert_non_null(strstr(text, "\n  replay: orrery run 'it'\\''s mine.yaml' --no-db\n"));
    output_of(fail_after_a_command, text, sizeof text);
    assert_non_null(strstr(text, "claim does not hold: orrery_main"));
    assert_null(strstr(text, "replay"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_failing_check_names_the_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
