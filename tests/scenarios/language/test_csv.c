/* CSV: where a message points when fields hold line ends. */
#include <string.h>

#include "scenarios/language/csv.h"
#include "tests/test.h"

static void test_lines_of_messages(void **state)
{
    static const struct {
        const char *text, *place; /* NULL: it is sound */
    } rows[] = {
        {"a,b\n1,2\n", NULL},
        {"a,b\n\"x\ny\",2\n", NULL},
        {"a,b\n1,2\n3\n", "t.csv:3"},
        {"a,b\n\"x\ny\",2\n3\n", "t.csv:4"}, /* the second record takes two lines */
        {"a,b\n\"x\n\ny\n\",\"2\n\"\n3\n", "t.csv:7"},
        {"a,b\n1,\"2\n3\n", "t.csv:2"}, /* begins there and does not end */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create();
        struct error error = {""};
        struct csv csv;
        char *text = arena_text(arena, rows[i].text);
        const bool read = csv_parse(arena, "t.csv", text, strlen(text), &csv, &error);
        assert_int_equal(read, rows[i].place == NULL);
        if (!read && strncmp(error.text, rows[i].place, strlen(rows[i].place)) != 0)
            fail_msg("row %u: %s", i, error.text);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_of_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
