/* import_text: what is cleaned of a text, how it is cut, and what is said of its faults. */
#include <stdio.h>
#include <string.h>

#include "scenarios/import/reader/import_text.h"
#include "tests/test.h"

struct bench {
    struct arena *arena;
    char room[256];
    struct import_text text;
    struct error error;
};

static bool begin(struct bench *b, const char *text, size_t bytes)
{
    b->arena = arena_create();
    memcpy(b->room, text, bytes);
    const struct import_file file = {"log.txt", b->room, bytes};
    return import_text_begin(&b->text, b->arena, &file, &b->error);
}

/* The lines of a text, between bars. */
static void cuts(const char *text, const char *expected)
{
    struct bench b;
    char found[256] = "";
    assert_true(begin(&b, text, strlen(text)));
    unsigned count = 0;
    for (char *line; (line = import_text_line(&b.text)) != NULL;) {
        assert_int_equal(b.text.line, ++count);
        strcat(strcat(found, line), "|");
    }
    assert_string_equal(found, expected);
    arena_destroy(b.arena);
}

static void lines(void **state)
{
    cuts("a\nbc\n", "a|bc|");
    cuts("a\nbc", "a|bc|");               /* the last line has no end */
    cuts("a\r\nbc\r\n\r\nd", "a|bc||d|"); /* of Windows */
    cuts("\n\na\n", "||a|");
    cuts("a\rb\n", "a\rb|"); /* a bar of progress: one line */
    cuts("\x1b[1;31mred\x1b[0m\n", "red|");
    cuts("red\x1b[m", "red|");
    cuts("a\tb\n", "a\tb|");
}

static void refuses(const char *text, size_t bytes, const char *expected)
{
    struct bench b;
    assert_false(begin(&b, text, bytes));
    assert_string_equal(b.error.text, expected);
    arena_destroy(b.arena);
}

static void faults(void **state)
{
    refuses("", 0, "log.txt: the file is empty");
    refuses("\x1b[0m", 4, "log.txt: the file is empty");
    refuses("a\nb\x07", 4, "log.txt:2: a control character (0x07): this is no text");
    refuses("a\0b", 3, "log.txt:1: a control character (0x00): this is no text");
    refuses("\x1b[12", 4, "log.txt:1: a control character (0x1b): this is no text");
    refuses("a\n\n\x7f", 4, "log.txt:3: a control character (0x7f): this is no text");
}

static void words(void **state)
{
    char line[] = " one\ttwo  three four ", *found[4] = {NULL};
    assert_int_equal(import_text_words(line, found, 3), 4);
    assert_string_equal(found[0], "one");
    assert_string_equal(found[1], "two");
    assert_string_equal(found[2], "three");
    assert_null(found[3]);
    char none[] = " \t ";
    assert_int_equal(import_text_words(none, found, 3), 0);
}

static void numbers(void **state)
{
    static const char *const bad[] = {"", "1x", "nan", "inf", "-inf", "0x10", "1e999", " 1", "1 "};
    double value = 0.0;
    assert_true(import_text_number("-1.5e3", &value) && value == -1500.0);
    assert_true(import_text_number("7", &value) && value == 7.0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(import_text_number(bad[i], &value));
}

static void json(void **state)
{
    static const struct {
        const char *text;
        bool json;
    } cases[] = {{"{\"a\": 1}", true},  {" \n{", true}, {"[{", true},
                 {"[ \n {\"a\"", true}, {"[]", true},   {"[1, 2]", false},
                 {"[info] x", false},   {"a {", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        assert_true(begin(&b, cases[i].text, strlen(cases[i].text)));
        assert_int_equal(import_text_is_json(&b.text), cases[i].json);
        arena_destroy(b.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),   cmocka_unit_test(faults), cmocka_unit_test(words),
        cmocka_unit_test(numbers), cmocka_unit_test(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
