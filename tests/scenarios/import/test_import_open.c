/* Packed files: what gzip packed comes back byte for byte, bounded; what is cut, damaged or packed
 * otherwise is told. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "scenarios/import/reader/import_open.h"
#include "tests/test.h"

enum {
    BYTES = 200000,
    PACKED_MAX = 400000
};

/* A text that packs, but not to nothing. */
static void fill(char *text)
{
    unsigned x = 1;
    for (unsigned i = 0; i < BYTES; i++) {
        x = x * 1103515245u + 12345u;
        text[i] = (char)("0123456789abcdef\n"[(x >> 16) % 17u]);
    }
}

static size_t pack(const char *text, size_t bytes, char *out)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (z_const Bytef *)text;
    z.avail_in = (uInt)bytes;
    z.next_out = (Bytef *)out;
    z.avail_out = PACKED_MAX;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return PACKED_MAX - z.avail_out;
}

struct packed {
    struct arena *arena;
    char *text, *bytes;
    size_t count;
};

static int set_up(void **state)
{
    struct packed *p = calloc(1, sizeof *p);
    p->arena = arena_create();
    p->text = arena_alloc(p->arena, BYTES, 1);
    p->bytes = arena_alloc(p->arena, PACKED_MAX, 1);
    fill(p->text);
    p->count = pack(p->text, BYTES / 2, p->bytes);
    p->count += pack(p->text + BYTES / 2, BYTES / 2, p->bytes + p->count); /* two members */
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct packed *p = *state;
    arena_destroy(p->arena);
    free(p);
    return 0;
}

static void refused(struct packed *p, size_t count, const char *why)
{
    struct error error = {""};
    struct import_file file = {"t.gz", p->bytes, count};
    if (import_unpack(p->arena, BYTES, &file, &error) || strstr(error.text, why) == NULL)
        fail_msg("%zu bytes: '%s' does not say '%s'", count, error.text, why);
}

static void test_it_comes_back(void **state)
{
    struct packed *p = *state;
    struct error error = {""};
    struct import_file file = {"t.gz", p->bytes, p->count};
    assert_true(import_unpack(p->arena, BYTES, &file, &error));
    assert_int_equal(file.bytes, BYTES);
    assert_memory_equal(file.text, p->text, BYTES);
    assert_int_equal(file.text[file.bytes], '\0');
    /* Plain texts stay where they are. */
    file = (struct import_file){"t", p->text, BYTES};
    assert_true(import_unpack(p->arena, BYTES, &file, &error) && file.text == p->text);
    file = (struct import_file){"t", p->text, 0};
    assert_true(import_unpack(p->arena, BYTES, &file, &error) && file.bytes == 0);
}

static void test_it_is_bounded(void **state)
{
    struct packed *p = *state;
    struct error error = {""};
    for (size_t most = 1; most < BYTES; most = most * 3 + 1) {
        struct import_file file = {"t.gz", p->bytes, p->count};
        assert_true(import_unpack(p->arena, most, &file, &error));
        assert_int_equal(file.bytes, most + 1); /* there were more */
        assert_memory_equal(file.text, p->text, most);
    }
}

static void test_cut_and_damaged(void **state)
{
    struct packed *p = *state;
    for (size_t count = 2; count < p->count; count += 997)
        refused(p, count, "cut: copy it again");
    refused(p, p->count - 1, "cut");
    p->bytes[p->count] = 'x';
    refused(p, p->count + 1, "cut"); /* of a third member */
    p->bytes[p->count / 4] ^= 0x55;
    refused(p, p->count, "damaged: copy it again");
}

static void test_other_packers(void **state)
{
    struct packed *p = *state;
    memcpy(p->bytes, "\x28\xb5\x2f\xfd!", 5);
    refused(p, p->count, "unpack it first: zstd -d t.gz");
    memcpy(p->bytes, "BZh91", 5);
    refused(p, p->count, "bzip2 -d");
    memcpy(p->bytes,
           "\xfd"
           "7zXZ",
           5);
    refused(p, p->count, "xz -d");
    memcpy(p->bytes, "PK\x03\x04", 4);
    refused(p, p->count, "unzip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_and_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_packers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
