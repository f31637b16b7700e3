/* Arguments: the part of the door that needs no model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/line/outputs.h"
#include "analysis/record/database/detail.h"
#include "sim/arena.h"
#include "tests/child.h"
#include "tests/test.h"

struct test_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    struct database_arguments database;
    struct option_list steps;
    enum detail detail;
    uint64_t count, usual;
    double factor, share_ratio;
    const char *output;
    bool has_share, json, verbose;
};
#define ARGUMENTS struct test_arguments
static const struct option options[] = {
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_JSON_ROW(json),
    OPTION_VERBOSE_ROW(verbose),
    {"--detail", OPTION_CHOICE, FIELD(detail), "LEVEL", detail_names, "how much"},
    {"--db", OPTION_DATABASE, FIELD(database), "FILE", NULL, "database"},
    OPTION_MAX_DB_ROW(database),
    {"--count", OPTION_SOME, FIELD(count), "N", NULL, "how many"},
    {"--usual", OPTION_SOME, FIELD_USUAL(usual, "1k"), "N", NULL, "how many, usually"},
    {"--share", OPTION_SHARE, FIELD_GIVEN_USUAL(share_ratio, has_share, "5%"), "S", NULL, "part"},
    {"--factor", OPTION_FACTOR, FIELD(factor), "F", NULL, "factor"},
    {"--measured", OPTION_STEP, FIELD(steps), "STEP", NULL, "a step"},
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL, "where to"},
    OPTION_END};

static const struct option_conflict conflicts[] = {
    {"--json", "--factor", "not --json and --factor"},
    {"--count", "--factor", "not both"},
    {NULL, NULL, NULL}};

/* Reads a line; the problems it causes, or "" when it is good. */
static char problems[4096];

static bool read(struct test_arguments *out, int count, const char **words)
{
    struct argument_rules rules = {"run", options, sizeof *out, "SCENARIO", conflicts};
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
    struct test_arguments a;
    assert_true(READ(&a, "x.yaml", "--set", "layout.tp=4", "--set=layout.pp=2", "--json", "-v",
                     "--seed", "12", "--detail", "kernel", "--max-db=2GiB"));
    assert_string_equal(a.line.positional[0], "x.yaml");
    assert_int_equal(a.scenario.sets.count, 2);
    assert_string_equal(a.scenario.sets.words[1], "layout.pp=2");
    assert_true(a.json && a.verbose && a.scenario.has_seed && !a.scenario.alone);
    assert_int_equal(a.scenario.seed, 12);
    assert_int_equal(a.detail, DETAIL_KERNEL);
    assert_true(a.database.max_bytes == 2147483648.0);
    assert_true(READ(&a, "--", "--json"));
    assert_string_equal(a.line.positional[0], "--json");
    assert_false(a.json);
    assert_true(READ(&a, "--nonsense", "--help") && a.line.help);
    assert_true(READ(&a, "-"));
}

static void test_threads(void **state)
{
    assert_int_equal(arguments_threads(0, 0), 0);
    assert_int_equal(arguments_threads(0, 5), 5);
    assert_int_equal(arguments_threads(3, 5), 3);
    assert_int_equal(arguments_threads(256, 5), 256);
    assert_int_equal(arguments_threads(UINT64_C(1) << 32 | 7, 5), 256);
}

/* A default is the value that the row states; it is no word of the line. */
static void test_defaults(void **state)
{
    struct test_arguments a;
    char doc[OPTION_DOC_BYTES];
    assert_true(READ(&a, "x"));
    assert_true(a.usual == 1000 && a.share_ratio == 0.05 && !a.has_share && a.count == 0);
    assert_true(READ(&a, "x", "--usual", "7", "--share", "0"));
    assert_true(a.usual == 7 && a.share_ratio == 0.0 && a.has_share);
    assert_string_equal(option_doc(option_find(options, "--usual", 7), doc),
                        "how many, usually (1k)");
    assert_string_equal(option_doc(option_find(options, "--count", 7), doc), "how many");
}

/* The words of a line: what it said, and nothing that was taken by default. */
static void words_are(const struct test_arguments *a, const char *const *listed, bool alone,
                      const char *expected)
{
    struct arena *arena = arena_create();
    const char *const *words;
    const unsigned count = arguments_words(&a->line, listed, alone, arena, &words);
    const char *line = "";
    for (unsigned i = 0; i < count; i++)
        line = arena_format(arena, "%s %s", line, words[i]);
    assert_string_equal(line, expected);
    arena_destroy(arena);
}

static void test_words(void **state)
{
    struct test_arguments a;
    static const char *const none[] = {NULL}, *const two[] = {"--json", "--usual", NULL};
    assert_true(READ(&a, "x.yaml", "--usual=1000", "--detail", "op", "--json", "--set", "a=1",
                     "--set", "b=2", "--seed", "0", "--share=0", "--measured", "step=3s",
                     "--output", "-", "--max-db", "1kB"));
    words_are(&a, none, false,
              " --set a=1 --set b=2 --seed 0 --json --detail op --max-db 1000 --usual 1000 "
              "--share 0 --measured step=3s -- x.yaml");
    words_are(&a, two, true, " --json --usual 1000");
    assert_true(READ(&a, "x.yaml"));
    words_are(&a, none, false, " -- x.yaml");
    snprintf(a.database.usual, sizeof a.database.usual, "x.db");
    a.database.path = a.database.usual;
    words_are(&a, none, false, " -- x.yaml");
    a.database.path = "y.db";
    words_are(&a, none, false, " --db y.db -- x.yaml");
}

/* A row and the member that it fills are of one type, in every command; each default is a value
 * that the option takes, and --help is there. */
static void test_rows_of_all_commands(void **state)
{
    for (unsigned i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        const struct argument_rules rules = command_rules(c);
        struct arena *arena = arena_create();
        struct arguments *line = arena_alloc(arena, c->bytes, _Alignof(max_align_t));
        char *words[] = {(char[]){"--help"}};
        assert_true(c->bytes >= sizeof(struct arguments));
        for (const struct option *o = c->options; o->name != NULL; o++) {
            assert_int_equal(o->member, o->offset == OPTION_NO_OFFSET ? MEMBER_NONE
                                                                      : option_member_of(o->type));
            assert_true(o->offset == OPTION_NO_OFFSET ||
                        (o->offset >= sizeof(struct arguments) && o->offset < c->bytes));
            assert_true((o->value == NULL) == (o->type == OPTION_FLAG));
            assert_true((o->choices != NULL) == (o->type == OPTION_CHOICE));
            assert_true(option_find(c->options, o->name, strlen(o->name)) == o);
        }
        assert_true(arguments_read(&rules, 1, words, line, stderr) && line->help);
        arena_destroy(arena);
    }
}

static void read_odd_row(void)
{
    static const struct option odd[] = {
        {"--count", OPTION_SOME, FIELD(json), "N", NULL, "into a bool"}, OPTION_END};
    const struct argument_rules rules = {"run", odd, sizeof(struct test_arguments), NULL, NULL};
    char *words[] = {(char[]){"--count=3"}};
    struct test_arguments a;
    arguments_read(&rules, 1, words, &a, stderr);
}

/* Or a line ends the process before it writes past the member. */
static void test_an_odd_row_is_no_write(void **state)
{
    char text[1024];
    child_output(read_odd_row, text, sizeof text);
    assert_non_null(strstr(text, "option_member_of"));
}

static void test_bad_lines(void **state)
{
    struct test_arguments a;
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
    static const char *words[2 * ARGUMENT_SET_MAX + 4];
    for (int i = 0; i < ARGUMENT_SET_MAX + 1; i++) {
        words[2 * i] = "--set";
        words[2 * i + 1] = "a.b=1";
    }
    struct test_arguments a;
    assert_false(read(&a, 2 * (ARGUMENT_SET_MAX + 1), words));
    assert_non_null(strstr(problems, "too many"));
}

/* Both orders, both spellings of a value; one alone is good, twice the same too. */
static void test_conflicts(void **state)
{
    struct test_arguments a;
    assert_false(READ(&a, "x.yaml", "--json", "--factor", "3"));
    assert_string_equal(problems, "orrery run: not --json and --factor\n");
    assert_false(READ(&a, "x.yaml", "--factor=3", "--json"));
    assert_false(READ(&a, "x.yaml", "--factor=3", "--count", "1", "--json"));
    assert_string_equal(problems, "orrery run: not --json and --factor\norrery run: not both\n");
    assert_true(READ(&a, "x.yaml", "--json", "--json", "--count", "1"));
    assert_true(READ(&a, "x.yaml", "-v", "--factor", "3"));
}

/* Counts are those of a scenario: suffixes and powers, and a bound that is told. */
static void test_counts(void **state)
{
    static const struct {
        const char *text;
        uint64_t value; /* 0: refused */
    } rows[] = {{"8", 8},        {"1k", 1000},   {"1e3", 1000},
                {"2M", 2000000}, {"1.5k", 1500}, {"15T", 15000000000000u},
                {"0", 0},        {"-1", 0},      {"1.5", 0},
                {"x", 0},        {"1e18", 0},    {"", 0},
                {"1kB", 0}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct test_arguments a;
        assert_int_equal(READ(&a, "x.yaml", "--count", rows[i].text), rows[i].value > 0);
        if (rows[i].value > 0)
            assert_true(a.count == rows[i].value);
        assert_int_equal(strstr(problems, "too large") != NULL, strcmp(rows[i].text, "1e18") == 0);
    }
}

/* Which words of a line are files, and which file a measured step names. */
static void test_files_of_a_line(void **state)
{
    static const struct {
        const char *positional;
        unsigned n;
        bool file;
    } rows[] = {
        {"SCENARIO", 0, true},
        {"SCENARIO PREFIX", 1, true},
        {"[KIND FILE]", 0, false},
        {"[KIND FILE]", 1, true},
        {"[ACTION FILE [FILE]]", 0, false},
        {"[ACTION FILE [FILE]]", 1, true},
        {"[ACTION FILE [FILE]]", 2, true},
        {"[FAMILY [NAME]]", 0, false},
        {"[FAMILY [NAME]]", 1, false},
        {"A [B]", 1, true},
        {"DB...", 0, true},
        {"DB...", 7, true},
        {"SHELL", 0, false},
        {NULL, 0, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct argument_rules rules = {.positional = rows[i].positional};
        assert_int_equal(arguments_positional_file(&rules, rows[i].n), rows[i].file);
    }
    assert_int_equal(arguments_step_file("mine.yaml:step=3s"), strlen("mine.yaml"));
    assert_int_equal(arguments_step_file("a:step=1:step=3s"), strlen("a:step=1"));
    assert_int_equal(arguments_step_file("step=3s"), 0);
    assert_int_equal(arguments_step_file(":step=3s"), 0);
}

static void test_names_of_databases(void **state)
{
    static const struct {
        const char *scenario, *name;
    } rows[] = {
        {"hello.yaml", "hello.study.db"},
        {"a/b.c/hello.yaml", "hello.study.db"},
        {"hello", "hello.study.db"},
        {"a.b/hello", "hello.study.db"},
        {"v1.2.yaml", "v1.2.study.db"},
        {".hidden", ".hidden.study.db"},
        {"a/.hidden.yaml", ".hidden.study.db"},
        {"-", "stdin.study.db"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct database_arguments database = {.path = NULL};
        outputs_name_database(&database, rows[i].scenario, ".study.db");
        assert_string_equal(database.path, rows[i].name);
    }
    struct database_arguments named = {.path = "y.db"}, none = {.none = true};
    outputs_name_database(&named, "x.yaml", ".db");
    assert_string_equal(named.path, "y.db");
    outputs_name_database(&none, "x.yaml", ".db");
    assert_null(none.path);
}

/* Each command that writes one names it by its own suffix, from the first word of its line. */
static void test_default_databases(void **state)
{
    static const struct {
        const char *command, *name;
    } rows[] = {{"run", "x.db"}, {"study", "x.study.db"}, {"plan", NULL}, {"chakra", NULL}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct command *command = command_find(rows[i].command);
        struct arena *arena = arena_create();
        struct arguments *line = arena_alloc(arena, command->bytes, _Alignof(max_align_t));
        const struct database_arguments *database = NULL;
        for (const struct option *o = command->options; o->name != NULL; o++)
            database = o->type == OPTION_DATABASE ? arguments_member(line, o) : database;
        outputs_name_default(command, line);
        assert_null(database->path); /* no scenario */
        line->positional[line->positional_count++] = "a/x.yaml";
        outputs_name_default(command, line);
        assert_true((database->path == NULL) == (rows[i].name == NULL));
        if (rows[i].name != NULL)
            assert_string_equal(database->path, rows[i].name);
        arena_destroy(arena);
    }
    struct arguments check = {.positional = {"x.yaml"}, .positional_count = 1};
    outputs_name_default(command_find("check"), &check); /* has none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),
        cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_sets),
        cmocka_unit_test(test_files_of_a_line),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_names_of_databases),
        cmocka_unit_test(test_default_databases),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_rows_of_all_commands),
        cmocka_unit_test(test_an_odd_row_is_no_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
