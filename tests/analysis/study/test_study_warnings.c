/* Warnings of the points of a study, counted by hand: each is told once, by its first point and
 * with how many have it; what was left out of a point is counted by that which left out most. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/study/study_warnings.h"
#include "tests/test.h"

enum {
    WARNINGS_MAX = 3,
    POINTS = 3
};
/* What a point says, and how many warnings more its scenario had than it keeps. */
struct said {
    struct problem warnings[WARNINGS_MAX];
    unsigned left;
};
#define AT(where, words)                                                                           \
    {                                                                                              \
        .warning = true, .file = "a.yaml", .line = (where), .column = 1, .text = (words)           \
    }
#define IDLE(key)                                                                                  \
    {                                                                                              \
        .warning = true, .file = "a.yaml", .line = 9, .column = 1, .text = "idle", .idle = (key)   \
    }

static void see(struct study_warnings *w, size_t point, struct said *said, unsigned first)
{
    unsigned count = 0;
    while (count < WARNINGS_MAX && said->warnings[count].text != NULL)
        count++;
    const struct scenario scenario = {.diagnostics = {.problems = said->warnings,
                                                      .problem_count = count,
                                                      .warning_count = count + said->left}};
    study_warnings_see(w, point, &scenario, first);
}

/* Told of layout.pp=1,2,4, from the problem `first` of each point on. */
static void expect_told(struct said said[POINTS], unsigned first, const char *wanted)
{
    struct arena *arena = arena_create();
    struct vary vary;
    struct error error = {""};
    char *text = NULL;
    size_t size = 0;
    assert_true(study_vary_read(arena, "layout.pp=1,2,4", &vary, &error));
    struct study_warnings *w = study_warnings_create(arena, &vary, 1);
    for (size_t p = 0; p < POINTS; p++)
        see(w, p, &said[p], first);
    FILE *notes = open_memstream(&text, &size);
    study_warnings_tell(w, POINTS, notes, false);
    fclose(notes);
    assert_string_equal(text, wanted);
    free(text);
    arena_destroy(arena);
}

static void test_words_that_differ_in_numbers_are_one(void **state)
{
    struct said all[] = {{{AT(1, "it costs 10.5 %")}, 0},
                         {{AT(1, "it costs 11 %")}, 0},
                         {{AT(1, "it costs 9 %")}, 0}};
    expect_told(all, 0, "a.yaml:1:1: warning: it costs 10.5 %\n");
    struct said two[] = {{{{0}}, 0}, {{AT(1, "it costs 11 %")}, 0}, {{AT(1, "it costs 9 %")}, 0}};
    expect_told(two, 0,
                "a.yaml:1:1: warning: it costs 11 % (at 2 of 3 points, the first: layout.pp=2)\n");
    struct said one[] = {{{{0}}, 0}, {{{0}}, 0}, {{AT(1, "it costs 9 %")}, 0}};
    expect_told(one, 0, "a.yaml:1:1: warning: it costs 9 % (at layout.pp=4)\n");
}

/* The same words at two places, and twice at one: no point says less than it did by itself. */
static void test_places_and_repetitions_are_told_apart(void **state)
{
    struct said places[] = {{{AT(1, "so")}, 0}, {{AT(2, "so")}, 0}, {{{0}}, 0}};
    expect_told(places, 0,
                "a.yaml:1:1: warning: so (at layout.pp=1)\n"
                "a.yaml:2:1: warning: so (at layout.pp=2)\n");
    struct said twice[] = {
        {{AT(1, "so")}, 0}, {{AT(1, "so"), AT(1, "so")}, 0}, {{AT(1, "so"), AT(1, "so")}, 0}};
    expect_told(twice, 0,
                "a.yaml:1:1: warning: so\n"
                "a.yaml:1:1: warning: so (at 2 of 3 points, the first: layout.pp=2)\n");
}

/* Those that a reader left out are counted once, by the point of most; late ones are not of it. */
static void test_most_that_were_left_out(void **state)
{
    struct said said[] = {{{{0}}, 2}, {{{0}}, 5}, {{{0}}, 3}};
    expect_told(said, 0, "and 5 more warnings at layout.pp=2\n");
    struct said single[] = {{{{0}}, 1}, {{{0}}, 1}, {{{0}}, 0}};
    expect_told(single, 0, "and 1 more warning at layout.pp=1\n");
    struct said late[] = {{{AT(1, "so"), AT(2, "late")}, 2},
                          {{AT(1, "so"), AT(2, "late")}, 5},
                          {{AT(1, "so"), AT(2, "late")}, 3}};
    expect_told(late, 1, "a.yaml:2:1: warning: late\n");
}

/* A key that is varied states nothing at its default, where no point warns; another must be without
 * effect at all points. */
static void test_keys_without_effect(void **state)
{
    struct said varied[] = {{{{0}}, 0}, {{IDLE("layout.pp")}, 0}, {{IDLE("layout.pp")}, 0}};
    expect_told(varied, 0, "a.yaml:9:1: warning: idle\n");
    struct said some[] = {{{{0}}, 0}, {{IDLE("layout.tp")}, 0}, {{IDLE("layout.tp")}, 0}};
    expect_told(some, 0, "");
    struct said all[] = {{{IDLE("layout.tp")}, 0},
                         {{IDLE("layout.tp"), IDLE("layout.cp")}, 0},
                         {{IDLE("layout.tp")}, 0}};
    expect_told(all, 0, "a.yaml:9:1: warning: idle\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_that_differ_in_numbers_are_one),
        cmocka_unit_test(test_places_and_repetitions_are_told_apart),
        cmocka_unit_test(test_most_that_were_left_out),
        cmocka_unit_test(test_keys_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
