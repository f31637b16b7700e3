/* Messages of the wire format: the bytes of its published examples (protobuf.dev,
 * programming-guides/encoding), and what the reader makes of others. */
#include <stdlib.h>
#include <string.h>

#include "analysis/exchange/traces/protobuf_write.h"
#include "scenarios/import/reader/protobuf.h"
#include "tests/test.h"

static void expect_bytes(const struct protobuf_write *w, const char *bytes, size_t count)
{
    assert_int_equal(w->count, count);
    assert_memory_equal(w->bytes, bytes, count);
}

static void test_published_examples(void **state)
{
    struct arena *arena = arena_create();
    struct protobuf_write w = {.arena = arena}, inner = {.arena = arena};
    (void)state;
    protobuf_write_number(&w, 1, 150);
    expect_bytes(&w, "\x08\x96\x01", 3);
    protobuf_write_clear(&w);
    protobuf_write_text(&w, 2, "testing");
    expect_bytes(&w, "\x12\x07testing", 9);
    protobuf_write_clear(&w);
    protobuf_write_number(&inner, 1, 150);
    protobuf_write_message(&w, 3, &inner);
    expect_bytes(&w, "\x1a\x03\x08\x96\x01", 5);
    protobuf_write_clear(&w);
    protobuf_write_clear(&inner);
    protobuf_write_varint(&inner, 3); /* packed: 3, 270, 86942 */
    protobuf_write_varint(&inner, 270);
    protobuf_write_varint(&inner, 86942);
    protobuf_write_message(&w, 6, &inner);
    expect_bytes(&w, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
    arena_destroy(arena);
}

static void test_reader_finds_what_was_written(void **state)
{
    static const uint64_t values[] = {0, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX};
    static const uint32_t numbers[] = {1, 15, 16, 29, (1u << 29) - 1};
    enum {
        VALUES = sizeof values / sizeof values[0],
        NUMBERS = sizeof numbers / sizeof numbers[0]
    };
    struct arena *arena = arena_create();
    struct protobuf_write w = {.arena = arena};
    struct protobuf_field field;
    (void)state;
    for (unsigned i = 0; i < VALUES * NUMBERS; i++) {
        protobuf_write_number(&w, numbers[i % NUMBERS], values[i / NUMBERS]);
        protobuf_write_bytes(&w, numbers[i % NUMBERS], "a\0b", i % 4);
    }
    struct protobuf read = {.at = w.bytes, .end = w.bytes + w.count};
    for (unsigned i = 0; i < VALUES * NUMBERS; i++) {
        assert_true(protobuf_next(&read, &field));
        assert_int_equal(field.wire, PROTOBUF_VARINT);
        assert_int_equal(field.number, numbers[i % NUMBERS]);
        assert_true(field.value == values[i / NUMBERS]);
        assert_true(protobuf_next(&read, &field));
        assert_int_equal(field.wire, PROTOBUF_BYTES);
        assert_int_equal(field.value, i % 4);
        assert_memory_equal(field.bytes, "a\0b", i % 4);
    }
    assert_false(protobuf_next(&read, &field));
    assert_null(read.problem);
    arena_destroy(arena);
}

/* The length stands before the message, and counts it alone. */
static void test_message_behind_its_length(void **state)
{
    struct arena *arena = arena_create();
    struct protobuf_write w = {.arena = arena};
    char text[301], *out = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&out, &bytes);
    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    protobuf_write_text(&w, 1, text);
    protobuf_write_out(&w, stream);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(bytes, 2 + 3 + 300);
    assert_memory_equal(out, "\xaf\x02\x0a\xac\x02x", 6); /* 303, field 1 of bytes, 300 */
    free(out);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_examples),
        cmocka_unit_test(test_reader_finds_what_was_written),
        cmocka_unit_test(test_message_behind_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
