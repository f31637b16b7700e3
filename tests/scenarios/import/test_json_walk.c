/* Walking JSON: each stretch is what a parser makes of the whole at that place; what is cut or has
 * no separators is told, and no byte behind the end is read. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reader/json_walk.h"
#include "tests/test.h"

static const char sample[] =
    " {\"a\" : [1, -2.5e3 ,\"x,]}\",\n {\"b\":{\"c\":[[],{}]}}, "
    "true,null],\n\"q\\\"}\":\"\\\\\",\r\n"
    "\t\"traceEvents\":[{\"name\":\"void f<a, b>(int)\",\"ts\":1.5},{}, []] , \"z\":false} \n";

static unsigned walk(struct json_piece whole, const json_t *expected)
{
    struct json_walk w;
    struct json_piece name, value;
    unsigned pieces = 0;
    enum json_step step;
    if (!json_walk_enter(&w, whole)) {
        json_t *leaf = json_loadb(whole.text, whole.bytes, JSON_DECODE_ANY, NULL);
        assert_true(leaf != NULL && json_equal(leaf, expected));
        json_decref(leaf);
        return 1;
    }
    while ((step = json_walk_next(&w, &name, &value)) == JSON_WALK_PIECE) {
        const json_t *next = json_array_get(expected, pieces);
        if (json_is_object(expected)) {
            json_t *key = json_loadb(name.text, name.bytes, JSON_DECODE_ANY, NULL);
            next = json_object_get(expected, json_string_value(key));
            json_decref(key);
        }
        assert_non_null(next);
        walk(value, next);
        pieces++;
    }
    assert_int_equal(step, JSON_WALK_END);
    assert_int_equal(pieces, json_is_object(expected) ? json_object_size(expected)
                                                      : json_array_size(expected));
    assert_true(json_walk_done(&w));
    return pieces;
}

static void test_pieces_are_those_of_a_parser(void **state)
{
    json_t *tree = json_loads(sample, 0, NULL);
    assert_non_null(tree);
    assert_int_equal(walk((struct json_piece){sample, strlen(sample), 1}, tree), 4);
    json_decref(tree);
}

static void test_lines_are_counted(void **state)
{
    struct json_walk w;
    struct json_piece name, value;
    unsigned lines[4], count = 0;
    assert_true(json_walk_enter(&w, (struct json_piece){sample, strlen(sample), 1}));
    while (json_walk_next(&w, &name, &value) == JSON_WALK_PIECE)
        lines[count++] = name.line;
    assert_int_equal(count, 4);
    assert_int_equal(lines[0], 1);
    assert_int_equal(lines[1], 3);
    assert_int_equal(lines[2], 4);
    assert_int_equal(w.line, 4);
}

/* Every beginning of the sample, in memory of just its size. */
static void test_a_cut_text_is_broken(void **state)
{
    const size_t end = (size_t)(strrchr(sample, '}') - sample);
    for (size_t bytes = 1; bytes <= end; bytes++) {
        struct json_walk w;
        struct json_piece name, value;
        enum json_step step = JSON_WALK_BROKEN;
        char *text = malloc(bytes);
        assert_non_null(text);
        memcpy(text, sample, bytes);
        if (json_walk_enter(&w, (struct json_piece){text, bytes, 1}))
            while ((step = json_walk_next(&w, &name, &value)) == JSON_WALK_PIECE)
                assert_true(value.text + value.bytes <= text + bytes);
        assert_int_equal(step, JSON_WALK_BROKEN);
        assert_true(w.at == w.end);
        free(text);
    }
}

static void test_separators(void **state)
{
    static const char *const broken[] = {
        "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{\"a\":}", "[1 2]", "[,1]",
        "[1,,2]",    "{\"a\":1,}",        "[1}",   "{\"a\":1]"};
    for (unsigned i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct json_walk w;
        struct json_piece name, value;
        enum json_step step;
        assert_true(json_walk_enter(&w, (struct json_piece){broken[i], strlen(broken[i]), 1}));
        while ((step = json_walk_next(&w, &name, &value)) == JSON_WALK_PIECE)
            ;
        if (step != JSON_WALK_BROKEN)
            fail_msg("%s is whole", broken[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_those_of_a_parser),
        cmocka_unit_test(test_lines_are_counted),
        cmocka_unit_test(test_a_cut_text_is_broken),
        cmocka_unit_test(test_separators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
