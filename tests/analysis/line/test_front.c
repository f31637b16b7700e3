/* Arguments: the part of the door that needs no model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/line/arguments.h"

static const struct option options[] = {
    OPTION_SCENARIO_ROWS,
    OPTION_JSON_ROW,
    OPTION_VERBOSE_ROW,
    {"--detail", OPTION_CHOICE, FIELD(detail), "LEVEL", detail_names, "how much"},
    {"--max-db", OPTION_SIZE, FIELD(max_db_bytes), "SIZE", NULL, "limit"},
    {"--factor", OPTION_FACTOR, FIELD(factor), "F", NULL, "factor"},
    OPTION_END};

/* Reads a line; the problems it causes, or "" when it is good. */
static char problems[4096];

static bool read(struct arguments *out, int count, const char **words)
{
    struct argument_rules rules = {"run", options, "SCENARIO"};
    FILE *stream = fmemopen(problems, sizeof problems, "w");
    bool good = arguments_read(&rules, count, (char **)(uintptr_t)words, out, stream);
    fclose(stream);
    if (good)
        problems[0] = '\0';
    return good;
}
#define READ(out, ...)                                                                             \
    read(out, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                       \
         (const char *[]){__VA_ARGS__})

static void test_good_lines(void **state)
{
    (void)state;
    struct arguments a;
    assert_true(READ(&a, "x.yaml", "--set", "layout.tp=4", "--set=layout.pp=2", "--json", "-v",
                     "--seed", "12", "--detail", "kernel", "--max-db=2GiB"));
    assert_string_equal(a.positional[0], "x.yaml");
    assert_int_equal(a.set_count, 2);
    assert_string_equal(a.sets[1], "layout.pp=2");
    assert_true(a.json && a.verbose && a.has_seed && !a.unfold);
    assert_int_equal(a.seed, 12);
    assert_int_equal(a.detail, DETAIL_KERNEL);
    assert_true(a.max_db_bytes == 2147483648.0);
    assert_true(READ(&a, "--", "--json"));
    assert_string_equal(a.positional[0], "--json");
    assert_false(a.json);
    assert_true(READ(&a, "--nonsense", "--help") && a.help);
    assert_true(READ(&a, "-"));
}

static void test_threads(void **state)
{
    (void)state;
    struct arguments a = {.threads = 0};
    assert_int_equal(arguments_threads(&a, 0), 0);
    assert_int_equal(arguments_threads(&a, 5), 5);
    a.threads = 3;
    assert_int_equal(arguments_threads(&a, 5), 3);
    a.threads = 256;
    assert_int_equal(arguments_threads(&a, 5), 256);
    a.threads = UINT64_C(1) << 32 | 7;
    assert_int_equal(arguments_threads(&a, 5), 256);
}

static void test_bad_lines(void **state)
{
    (void)state;
    struct arguments a;
    assert_false(READ(&a, "x", "--jsn"));
    assert_non_null(strstr(problems, "did you mean '--json'?"));
    assert_false(READ(&a, "x", "--detail", "kernels"));
    assert_non_null(strstr(problems, "did you mean 'kernel'?"));
    assert_false(READ(&a, "--json"));
    assert_non_null(strstr(problems, "SCENARIO is missing"));
    assert_false(READ(&a, "x", "--seed"));
    assert_non_null(strstr(problems, "needs a value"));
    const char *const seeds[] = {"-1", "1.5", "", "18446744073709551616", "0x3", "one"};
    for (unsigned i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
        assert_false(READ(&a, "x", "--seed", seeds[i]));
    assert_false(READ(&a, "x", "y"));
    assert_false(READ(&a, "x", "--json=1"));
    assert_false(READ(&a, "x", "--set", "novalue"));
    assert_false(READ(&a, "x", "--factor", "1"));
    assert_false(READ(&a, "x", "--catalogue", ""));
    /* Every mistake is told in one pass. */
    assert_false(READ(&a, "--nope", "--seed", "x", "--max-db", "much"));
    assert_non_null(strstr(problems, "--nope"));
    assert_non_null(strstr(problems, "--seed"));
    assert_non_null(strstr(problems, "--max-db"));
    assert_non_null(strstr(problems, "missing"));
}

static void test_many_sets(void **state)
{
    (void)state;
    static const char *words[2 * ARGUMENT_SET_MAX + 4];
    for (int i = 0; i < ARGUMENT_SET_MAX + 1; i++) {
        words[2 * i] = "--set";
        words[2 * i + 1] = "a.b=1";
    }
    struct arguments a;
    assert_false(read(&a, 2 * (ARGUMENT_SET_MAX + 1), words));
    assert_non_null(strstr(problems, "too many"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
