/* Packed text comes back to the byte, whatever its length, by a decoder of its own and zlib. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/page/packed.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    LENGTHS = 64,
    MOST = 1000
};

static unsigned digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    assert_true(c != '\0' && at != NULL);
    return (unsigned)(at - digits);
}

/* RFC 4648: each character is six bits, the first the highest; returns how many bytes. */
static size_t decode(const char *text, size_t size, unsigned char *out)
{
    size_t count = 0, digits = size;
    unsigned bits = 0, have = 0;
    assert_int_equal(size % 4, 0);
    while (digits > 0 && text[digits - 1] == '=')
        digits--;
    assert_true(size - digits <= 2);
    for (size_t i = 0; i < digits; i++) {
        bits = bits << 6 | digit(text[i]);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[count++] = (unsigned char)(bits >> have);
            bits &= (1u << have) - 1;
        }
    }
    assert_int_equal(bits, 0); /* of what is left over */
    return count;
}

static void check(const char *text, size_t bytes)
{
    char *packed = NULL, back[MOST + 1];
    size_t size = 0;
    uLongf got = sizeof back;
    FILE *out = open_memstream(&packed, &size);
    packed_write(text, bytes, out);
    fclose(out);
    unsigned char *code = malloc(size + 1);
    const size_t count = decode(packed, size, code);
    uLong used = (uLong)count;
    assert_int_equal(uncompress2((Bytef *)back, &got, code, &used), Z_OK);
    assert_int_equal(used, count); /* a browser refuses what stands behind the end */
    assert_int_equal(got, bytes);
    assert_memory_equal(back, text, bytes);
    free(code);
    free(packed);
}

static void test_every_length(void **state)
{
    char text[MOST];
    const uint64_t key = random_key(11, "text");
    for (size_t i = 0; i < MOST; i++)
        text[i] = (char)(unsigned char)(random_at(key, i) * 256.0);
    for (size_t bytes = 0; bytes < LENGTHS; bytes++)
        check(text, bytes);
    check(text, MOST);
}

static void test_what_repeats_is_small(void **state)
{
    char *packed = NULL, text[MOST];
    size_t size = 0;
    memset(text, '7', sizeof text);
    FILE *out = open_memstream(&packed, &size);
    packed_write(text, sizeof text, out);
    fclose(out);
    assert_true(size < MOST / 20);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_what_repeats_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
