/* Numbers with units: what is taken, to which SI value, and the exact words of every refusal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/language/quantity.h"
#include "tests/test.h"

struct taken {
    enum param_type type;
    const char *text;
    double number;
};
static const struct taken taken[] = {
    {PARAM_TIME, "5us", 5e-6},
    {PARAM_TIME, "90 s", 90.0},
    {PARAM_TIME, "2.5h", 9000.0},
    {PARAM_TIME, "54d", 54 * 86400.0},
    {PARAM_TIME, "1y", 365.25 * 86400.0},
    {PARAM_TIME, ".5min", 30.0},
    {PARAM_BYTES, "80GB", 80e9},
    {PARAM_BYTES, "80GiB", 85899345920.0},
    {PARAM_BYTES, "1KiB", 1024.0},
    {PARAM_BANDWIDTH, "400Gb/s", 50e9},
    {PARAM_BANDWIDTH, "50GB/s", 50e9},
    {PARAM_BANDWIDTH, "8b/s", 1.0},
    {PARAM_FLOP_RATE, "989TFLOP/s", 989e12},
    {PARAM_FREQUENCY, "1.98GHz", 1.98e9},
    {PARAM_POWER, "700W", 700.0},
    {PARAM_MONEY, "2.5USD", 2.5},
    {PARAM_MONEY, "5MUSD", 5e6},
    {PARAM_RATIO, "80%", 0.8},
    {PARAM_RATIO, "-1e-3", -1e-3},
    {PARAM_COUNT, "15T", 15e12},
    {PARAM_COUNT, "1.5k", 1500.0},
    {PARAM_COUNT, "2.3M", 2300000.0},
    {PARAM_COUNT, "70B", 70e9},
    {PARAM_COUNT, "1e6", 1e6},
    {PARAM_FLAG, "true", 1.0},
    {PARAM_FLAG, "false", 0.0},
};

static void test_taken(void **state)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct quantity out;
        char why[QUANTITY_TEXT_MAX] = "";
        if (!quantity_read(taken[i].type, taken[i].text, taken[i].text, &out, why))
            fail_msg("%s: %s", taken[i].text, why);
        if (!(fabs(out.number - taken[i].number) <= 1e-15 * fabs(taken[i].number)))
            fail_msg("%s: %.17g", taken[i].text, out.number);
    }
}

static void test_counts_are_exact(void **state)
{
    struct quantity out;
    char why[QUANTITY_TEXT_MAX];
    assert_true(quantity_read(PARAM_COUNT, "18446744073709551615", "", &out, why));
    assert_true(out.count == UINT64_MAX);
    assert_true(quantity_read(PARAM_COUNT, "9007199254740993", "", &out, why));
    assert_true(out.count == 9007199254740993u);
    for (uint64_t k = 0; k < 5000; k++) {
        char text[32];
        snprintf(text, sizeof text, "%llu.%03lluM", (unsigned long long)(k / 1000),
                 (unsigned long long)(k % 1000));
        assert_true(quantity_read(PARAM_COUNT, text, text, &out, why));
        assert_true(out.count == k * 1000);
    }
}

struct refused {
    enum param_type type;
    const char *text, *why;
};
/* 63 of them are a number still. */
#define ZEROS "000000000000000000000000000000000000000000000000000000000000000"
#define TIMES "ns, us, ms, s, min, h, d, y"
static const struct refused refused[] = {
    {PARAM_TIME, "5", "'5' has no unit; write one of " TIMES},
    {PARAM_TIME, "5 parsec", "'5 parsec' has no known unit; write one of " TIMES},
    {PARAM_TIME, "5S", "'5S' has no known unit; write one of " TIMES},
    {PARAM_TIME, "inf", "'inf' is not a number"},
    {PARAM_TIME, ".inf", "'.inf' is not a number"},
    {PARAM_TIME, "nan", "'nan' is not a number"},
    {PARAM_TIME, "0x10s", "'0x10s' has no known unit; write one of " TIMES},
    {PARAM_TIME, "1e999s", "'1e999s' is too large"},
    {PARAM_TIME, "1e308y", "'1e308y' is too large"},
    {PARAM_TIME, "", "'' is not a number"},
    {PARAM_TIME, "s", "'s' is not a number"},
    {PARAM_TIME, "--5s", "'--5s' is not a number"},
    {PARAM_BYTES, "80gb",
     "'80gb' has no known unit; write one of B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB"},
    {PARAM_BANDWIDTH, "400Gbps",
     "'400Gbps' has no known unit; write one of B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, b/s, "
     "kb/s, Mb/s, Gb/s, Tb/s"},
    {PARAM_MONEY, "2.5", "'2.5' has no unit; write one of USD, kUSD, MUSD"},
    {PARAM_RATIO, "5x", "'5x' is a plain number with something behind it; only % may be"},
    {PARAM_RATIO, "80 percent",
     "'80 percent' is a plain number with something behind it; only % may be"},
    {PARAM_RATIO, "-", "'-' is not a number"},
    {PARAM_RATIO, "1e999%", "'1e999%' is too large"},
    {PARAM_RATIO, ZEROS "1", "'" ZEROS "1' has too many digits"},
    {PARAM_TIME, ZEROS "1s", "'" ZEROS "1s' has too many digits"},
    {PARAM_COUNT, ZEROS "1", "'" ZEROS "1' has too many digits"},
    {PARAM_COUNT, "1.5", "'1.5' is not a whole number"},
    {PARAM_COUNT, "-1", "'-1' is not a whole number"},
    {PARAM_COUNT, "8K", "'8K' is not a count; it may end in k, M, B or T"},
    {PARAM_COUNT, "1e3k", "'1e3k' is not a count; it may end in k, M, B or T"},
    {PARAM_COUNT, "eight", "'eight' is not a number"},
    {PARAM_COUNT, "18446744073709551616", "'18446744073709551616' is too large"},
    {PARAM_COUNT, "99999T", "'99999T' is too large"},
    {PARAM_FLAG, "yes", "'yes' is neither true nor false"},
};

static void test_refused(void **state)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct quantity out;
        char why[QUANTITY_TEXT_MAX] = "";
        assert_false(quantity_read(refused[i].type, refused[i].text, refused[i].text, &out, why));
        assert_string_equal(why, refused[i].why);
    }
}

/* What a refusal shows is what the caller gives for it: hostile bytes are not printed. */
static void test_refusals_show_what_they_are_given(void **state)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct quantity out;
        char why[QUANTITY_TEXT_MAX] = "", expected[QUANTITY_TEXT_MAX];
        const char *rest = refused[i].why + 1 + strlen(refused[i].text);
        snprintf(expected, sizeof expected, "'shown%s", rest);
        assert_false(quantity_read(refused[i].type, refused[i].text, "shown", &out, why));
        assert_string_equal(why, expected);
    }
}

/* Every unit that a message lists is taken, and a number written is the number read. */
static void test_listed_units_are_taken(void **state)
{
    for (enum param_type type = PARAM_TIME; type <= PARAM_MONEY; type++) {
        char units[256];
        snprintf(units, sizeof units, "%s", quantity_units(type));
        for (char *unit = strtok(units, ", "); unit; unit = strtok(NULL, ", ")) {
            char text[64], back[64], why[QUANTITY_TEXT_MAX] = "";
            struct quantity first, second;
            snprintf(text, sizeof text, "125%s", unit);
            assert_true(quantity_read(type, text, text, &first, why));
            quantity_write(type, first.number, back, sizeof back);
            assert_true(quantity_read(type, back, back, &second, why));
            assert_true(second.number > first.number * (1 - 1e-5));
            assert_true(second.number < first.number * (1 + 1e-5));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_counts_are_exact),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refusals_show_what_they_are_given),
        cmocka_unit_test(test_listed_units_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
