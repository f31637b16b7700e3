/* Numbers for people: each unit on both sides of its beginning, what rounds up to the next one, and
 * numbers that no unit suits. Expected words by hand: three figures or so, of the unit's size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "tests/test.h"

struct row {
    double value;
    const char *text;
};
typedef struct text format_fn(double value);

/* With the minus before it too, where that is what a negative number looks like. */
static void expect(format_fn *format, const struct row *rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char negative[64];
        assert_string_equal(format(rows[i].value).s, rows[i].text);
        if (rows[i].value == 0.0)
            continue;
        snprintf(negative, sizeof negative, "-%s", rows[i].text);
        assert_string_equal(format(-rows[i].value).s, negative);
    }
    assert_string_equal(format(NAN).s, "-");
    assert_string_equal(format(INFINITY).s, "-");
    assert_string_equal(format(-INFINITY).s, "-");
}
#define EXPECT(format, ...)                                                                        \
    expect(format, (const struct row[]){__VA_ARGS__},                                              \
           sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

/* Two of a larger unit before it is used: 119 s, 2.00 min. */
static void test_times(void **state)
{
    EXPECT(format_time, {8.42, "8.42 s"}, {0.2134, "213 ms"}, {4.1e-6, "4.10 us"}, {1.0, "1 s"},
           {0.9996, "1.00 s"}, {0.9994, "999 ms"}, {9.994, "9.99 s"}, {9.996, "10.0 s"},
           {99.94, "99.9 s"}, {99.96, "100 s"}, {119.0, "119 s"}, {119.9, "120 s"},
           {120.0, "2.00 min"}, {7199.0, "120 min"}, {7200.0, "2.00 h"}, {172799.0, "48.0 h"},
           {172800.0, "2.00 d"}, {172800.0 * (1.0 - 1e-12), "2.00 d"}, {54 * 86400.0, "54.0 d"},
           {1e6 * 86400.0, "1e+06 d"}, {1e-3, "1.00 ms"}, {0.9996e-3, "1.00 ms"},
           {0.9994e-3, "999 us"}, {1e-6, "1.00 us"}, {0.9996e-6, "1.00 us"}, {0.9994e-6, "999 ns"},
           {1e-9, "1.00 ns"}, {1.5e-10, "0.15 ns"}, {2e-11, "0.02 ns"}, {1.234e-12, "0.00123 ns"});
    assert_string_equal(format_time(0.0).s, "0 s");
    assert_string_equal(format_time(-0.0).s, "0 s");
    assert_string_equal(format_time(4.9e-13).s, "0 s"); /* of clocks in ns: nothing */
    assert_string_equal(format_time(-4.9e-13).s, "0 s");
}

static void test_bytes(void **state)
{
    const double kib = 1024.0, mib = 1048576.0, gib = 1073741824.0, tib = 1099511627776.0;
    EXPECT(format_bytes, {0.0, "0 B"}, {1.0, "1 B"}, {512.0, "512 B"}, {1023.0, "1023 B"},
           {0.5, "0.50 B"}, {kib, "1.00 KiB"}, {1023.0 * kib, "1023 KiB"}, {mib, "1.00 MiB"},
           {0.9996 * mib, "1.00 MiB"}, {0.9994 * mib, "1023 KiB"}, {0.9994 * gib, "1023 MiB"},
           {0.9996 * gib, "1.00 GiB"}, {80.0 * gib, "80.0 GiB"}, {0.9994 * tib, "1023 GiB"},
           {0.9996 * tib, "1.00 TiB"}, {5000.0 * tib, "5000 TiB"}, {1e30, "9.09e+17 TiB"});
    EXPECT(format_rate, {0.0, "0 B/s"}, {1e-10, "1e-10 B/s"}, {0.5, "0.50 B/s"}, {999.0, "999 B/s"},
           {999.4, "999 B/s"}, {999.6, "1.00 kB/s"}, {1e3, "1.00 kB/s"}, {999.4e3, "999 kB/s"},
           {999.6e3, "1.00 MB/s"}, {450e9, "450 GB/s"}, {999.4e9, "999 GB/s"},
           {999.6e9, "1.00 TB/s"}, {3.35e12, "3.35 TB/s"}, {1e300, "1e+288 TB/s"});
}

/* Storage is sold by the gigabyte: no TB, and a comma from a thousand on. */
static void test_decimal_bytes(void **state)
{
    static const struct row rows[] = {
        {0.0, "0 B"},          {999.0, "999 B"},          {1e3, "1.00 kB"},
        {999.6e3, "1.00 MB"},  {999.4e6, "999 MB"},       {999.6e6, "1.00 GB"},
        {80e9, "80.0 GB"},     {999.4e9, "999 GB"},       {999.6e9, "1,000 GB"},
        {1.12e12, "1,120 GB"}, {999.6e12, "999,600 GB"},  {1e15, "1.00 PB"},
        {2.5e16, "25.0 PB"},   {1e15 - 1e9, "999,999 GB"}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(format_bytes_decimal(rows[i].value).s, rows[i].text);
    assert_string_equal(format_bytes_decimal(NAN).s, "-");
    assert_string_equal(format_bytes_decimal(INFINITY).s, "-");
}

static void test_amounts(void **state)
{
    EXPECT(format_flops, {0.0, "0 FLOP"}, {7.0, "7 FLOP"}, {999e3, "999000 FLOP"},
           {1e6, "1.00 MFLOP"}, {999.4e6, "999 MFLOP"}, {999.6e6, "1.00 GFLOP"},
           {999.4e9, "999 GFLOP"}, {999.6e9, "1.00 TFLOP"}, {989e12, "989 TFLOP"},
           {999.6e12, "1.00 PFLOP"}, {999.4e15, "999 PFLOP"}, {1.23e18, "1.23 EFLOP"},
           {999.6e18, "1.00 ZFLOP"}, {3.8e25, "38000 ZFLOP"}, {1e27, "1e+06 ZFLOP"});
    EXPECT(format_quantity, {0.0, "0"}, {12.0, "12"}, {0.25, "0.25"}, {0.0995, "0.10"},
           {0.0994, "0.0994"}, {0.00412, "0.00412"}, {999.0, "999"}, {999.6, "1.00 k"},
           {249e3, "249 k"}, {999.6e3, "1.00 M"}, {70.6e9, "70.6 B"}, {999.4e9, "999 B"},
           {999.6e9, "1.00 T"}, {15e12, "15.0 T"}, {1e18, "1e+06 T"});
    EXPECT(format_energy, {0.0, "0 Wh"}, {1.0, "0.000278 Wh"}, {3600.0, "1.00 Wh"},
           {999.4 * 3600.0, "999 Wh"}, {999.6 * 3600.0, "1.00 kWh"}, {3.6e9, "1.00 MWh"},
           {999.4 * 3.6e9, "999 MWh"}, {999.6 * 3.6e9, "1.00 GWh"}, {5.61 * 3.6e12, "5.61 GWh"});
}

static void test_counts_and_shares(void **state)
{
    assert_string_equal(format_count(0).s, "0");
    assert_string_equal(format_count(999).s, "999");
    assert_string_equal(format_count(1000).s, "1,000");
    assert_string_equal(format_count(16384).s, "16,384");
    assert_string_equal(format_count(123456).s, "123,456");
    assert_string_equal(format_count(1234567).s, "1,234,567");
    assert_string_equal(format_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    EXPECT(format_percent, {0.0, "0.0 %"}, {0.4123, "41.2 %"}, {1.0, "100.0 %"}, {0.00049, "0.0 %"},
           {0.00051, "0.1 %"}, {12.5, "1250.0 %"});
}

/* Three figures or so for every size: a step of a small job costs a tenth of a cent. */
static void test_money(void **state)
{
    EXPECT(format_money, {0.0, "0.00 USD"}, {0.0004123, "0.000412 USD"}, {0.0999, "0.0999 USD"},
           {0.1, "0.10 USD"}, {2.5, "2.50 USD"}, {9.994, "9.99 USD"}, {9.996, "10.0 USD"},
           {99.94, "99.9 USD"}, {99.96, "100 USD"}, {999.4, "999 USD"}, {999.6, "1,000 USD"},
           {1000.0, "1,000 USD"}, {11167831.2, "11,167,831 USD"},
           {999999999999999.0, "999,999,999,999,999 USD"}, {1e15, "1e+15 USD"},
           {1e300, "1e+300 USD"});
}

static void test_moments(void **state)
{
    assert_string_equal(format_moment(0.0).s, "  0 d 00:00:00");
    assert_string_equal(format_moment(59.99).s, "  0 d 00:00:59");
    assert_string_equal(format_moment(60.0).s, "  0 d 00:01:00");
    assert_string_equal(format_moment(3599.0).s, "  0 d 00:59:59");
    assert_string_equal(format_moment(3600.0).s, "  0 d 01:00:00");
    assert_string_equal(format_moment(86399.0).s, "  0 d 23:59:59");
    assert_string_equal(format_moment(3 * 86400.0 + 4 * 3600.0 + 5 * 60.0 + 6.0).s,
                        "  3 d 04:05:06");
    assert_string_equal(format_moment(365 * 86400.0).s, "365 d 00:00:00");
    assert_string_equal(format_moment(NAN).s, "-");
    assert_string_equal(format_moment(INFINITY).s, "-");
}

static void test_bars(void **state)
{
    assert_string_equal(format_bar(0.5, 4, false).s, "##..");
    assert_string_equal(format_bar(0.999, 4, false).s, "###.");
    assert_string_equal(format_bar(2.0, 3, false).s, "###");
    assert_string_equal(format_bar(-1.0, 3, false).s, "...");
    assert_string_equal(format_bar(NAN, 3, false).s, "...");
    assert_string_equal(format_bar(0.5, 0, true).s, "");
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    for (unsigned i = 0; i <= 8; i++) {
        char expected[16];
        assert_string_equal(format_bar(i / 8.0, 1, true).s, eighths[i]);
        assert_string_equal(format_bar(i / 8.0 - 1e-9, 1, true).s, eighths[i > 0 ? i - 1 : 0]);
        snprintf(expected, sizeof expected, "█%s ", eighths[i]);
        assert_string_equal(format_bar((1.0 + i / 8.0) / 3.0 + 1e-9, 3, true).s, expected);
    }
    assert_int_equal(strlen(format_bar(1.0, 40, true).s), 3 * 40);
    assert_int_equal(strlen(format_bar(1.0, 41, true).s), 3 * 40); /* no wider */
    assert_int_equal(strlen(format_bar(0.0, 41, false).s), 40);
}

static void test_sizes(void **state)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {
        {"", 1},        {"B", 1},          {"k", 1024},          {"K", 1024},
        {"M", 1048576}, {"G", 1073741824}, {"T", 1099511627776}, {"kB", 1e3},
        {"KB", 1e3},    {"MB", 1e6},       {"GB", 1e9},          {"TB", 1e12},
        {"KiB", 1024},  {"MiB", 1048576},  {"GiB", 1073741824},  {"TiB", 1099511627776}};
    double bytes;
    for (unsigned i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char text[32];
        double factor = suffixes[i].factor;
        snprintf(text, sizeof text, "1.5e1  %s", suffixes[i].suffix);
        assert_true(format_parse_size(text, &bytes) && bytes == 15.0 * factor);
        snprintf(text, sizeof text, "3%s", suffixes[i].suffix);
        assert_true(format_parse_size(text, &bytes) && bytes == 3.0 * factor);
    }
    assert_true(format_parse_size("1", &bytes) && bytes == 1.0);
    assert_true(format_parse_size("999999999TB", &bytes) && bytes == 999999999e12);
    const char *const bad[] = {"",      "-1",   "0",    "x",  "1Q",    "nan",          "inf",
                               "1e999", "0x10", "0X10", " 1", "1 G B", "0.5",          "1e400GiB",
                               ".5k",   "+1",   "1kb",  "1g", "1e21",  "1000000000TB", "0.999"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (format_parse_size(bad[i], &bytes))
            fail_msg("'%s' was taken as a size", bad[i]);
}

/* 80 bytes at most, whole characters, and nothing that moves a cursor. */
static void test_shown(void **state)
{
    char text[100], expected[100];
    assert_string_equal(format_shown("").s, "");
    assert_string_equal(format_shown("a b~").s, "a b~");
    assert_string_equal(format_shown("a\x1b[2J\n\t\x7f\x1f é").s, "a?[2J???? é");
    memset(text, 'x', sizeof text);
    text[80] = '\0';
    assert_string_equal(format_shown(text).s, text);
    text[80] = 'x';
    text[81] = '\0';
    snprintf(expected, sizeof expected, "%.80s...", text);
    assert_string_equal(format_shown(text).s, expected);
    memcpy(text + 79, "é", 3); /* bytes 79 and 80: it would be cut in two */
    snprintf(expected, sizeof expected, "%.79s...", text);
    assert_string_equal(format_shown(text).s, expected);
    memcpy(text + 78, "é", 3); /* 78 and 79: the last that fits */
    assert_string_equal(format_shown(text).s, text);
}

/* YAML 1.2 section 7.3.1; whole, beyond what is shown of a word. */
static void test_quoted(void **state)
{
    static const char *const rows[][2] = {
        {"", "\"\""},
        {"it's a: {x}, y", "\"it's a: {x}, y\""},
        {"a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\""},
        {"\x01\t\x1f \x7f~", "\"\\x01\\x09\\x1f \\x7f~\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},
    };
    char text[2 * 100 + 1], *out = NULL;
    size_t size = 0;
    for (unsigned i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
        const bool last = i == sizeof rows / sizeof rows[0];
        memset(text, 'z', sizeof text);
        text[sizeof text - 1] = '\0';
        FILE *stream = open_memstream(&out, &size);
        assert_non_null(stream);
        format_quoted(stream, last ? text : rows[i][0]);
        fclose(stream);
        if (last)
            assert_int_equal(size, sizeof text + 1);
        else
            assert_string_equal(out, rows[i][1]);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_decimal_bytes),
        cmocka_unit_test(test_amounts),
        cmocka_unit_test(test_counts_and_shares),
        cmocka_unit_test(test_money),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
