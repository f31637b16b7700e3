#include <string.h>

#include "scenarios/language/inputs.h"
#include "tests/test.h"

static struct arena *arena;

static void test_lines_of_files(void **state)
{
    const struct scenario_input first = {.path = "a", .key = "model.hf", .contents = 0xab};
    const struct scenario_input last = {
        .path = "b", .next = &first, .key = "cluster.profile", .contents = 7};
    (void)state;
    assert_string_equal(inputs_lines(arena, NULL), "");
    assert_string_equal(inputs_lines(arena, &last),
                        "model.hf 00000000000000ab\ncluster.profile 0000000000000007\n");
}

static void test_of_key(void **state)
{
    const char *lines = "a.b 1\na.bc 2\nc 3";
    (void)state;
    assert_string_equal(inputs_of_key(arena, lines, "a.b"), "1");
    assert_string_equal(inputs_of_key(arena, lines, "a.bc"), "2");
    assert_string_equal(inputs_of_key(arena, lines, "c"), "3");
    assert_string_equal(inputs_of_key(arena, lines, "a"), "");
    assert_string_equal(inputs_of_key(arena, "", "a"), "");
}

static void test_the_first_change(void **state)
{
    const char *now = "a 1\nb 2\n";
    (void)state;
    assert_null(inputs_changed(arena, "", now)); /* of an older release */
    assert_null(inputs_changed(arena, now, now));
    assert_null(inputs_changed(arena, "b 2\na 1\n", now));
    assert_string_equal(inputs_changed(arena, "a 1\nb 3\n", now), "b");
    assert_string_equal(inputs_changed(arena, "a 2\nb 3\n", now), "a");
    assert_string_equal(inputs_changed(arena, "a 11\n", now), "a");
    assert_string_equal(inputs_changed(arena, "a \n", now), "a");
    assert_string_equal(inputs_changed(arena, "a 1\nc 1\n", now), "c"); /* no longer named */
    assert_string_equal(inputs_changed(arena, "damaged", now), "damaged");
}

static int enter(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_files),
        cmocka_unit_test(test_of_key),
        cmocka_unit_test(test_the_first_change),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
