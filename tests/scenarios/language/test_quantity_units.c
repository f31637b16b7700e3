/* Every unit that a quantity may carry, by its published factor (SI prefixes: BIPM SI brochure
 * table 7; binary ones: IEC 80000-13; minute, hour, day: SI brochure table 8; year: the Julian one
 * of 365.25 days), in its own dimension and in all others; what is printed; numbers at the limits.
 */
#include <stdio.h>
#include <string.h>

#include "scenarios/language/quantity.h"
#include "tests/test.h"

struct unit_row {
    enum param_type type;
    const char *name;
    double factor;
};
static const struct unit_row units[] = {
    {PARAM_TIME, "ns", 1e-9},
    {PARAM_TIME, "us", 1e-6},
    {PARAM_TIME, "ms", 1e-3},
    {PARAM_TIME, "s", 1},
    {PARAM_TIME, "min", 60},
    {PARAM_TIME, "h", 3600},
    {PARAM_TIME, "d", 86400},
    {PARAM_TIME, "y", 31557600},
    {PARAM_BYTES, "B", 1},
    {PARAM_BYTES, "kB", 1e3},
    {PARAM_BYTES, "MB", 1e6},
    {PARAM_BYTES, "GB", 1e9},
    {PARAM_BYTES, "TB", 1e12},
    {PARAM_BYTES, "PB", 1e15},
    {PARAM_BYTES, "KiB", 1024},
    {PARAM_BYTES, "MiB", 1048576},
    {PARAM_BYTES, "GiB", 1073741824},
    {PARAM_BYTES, "TiB", 1099511627776},
    {PARAM_BANDWIDTH, "B/s", 1},
    {PARAM_BANDWIDTH, "kB/s", 1e3},
    {PARAM_BANDWIDTH, "MB/s", 1e6},
    {PARAM_BANDWIDTH, "GB/s", 1e9},
    {PARAM_BANDWIDTH, "TB/s", 1e12},
    {PARAM_BANDWIDTH, "MiB/s", 1048576},
    {PARAM_BANDWIDTH, "GiB/s", 1073741824},
    {PARAM_BANDWIDTH, "b/s", 0.125},
    {PARAM_BANDWIDTH, "kb/s", 125},
    {PARAM_BANDWIDTH, "Mb/s", 125e3},
    {PARAM_BANDWIDTH, "Gb/s", 125e6},
    {PARAM_BANDWIDTH, "Tb/s", 125e9},
    {PARAM_FLOP_RATE, "MFLOP/s", 1e6},
    {PARAM_FLOP_RATE, "GFLOP/s", 1e9},
    {PARAM_FLOP_RATE, "TFLOP/s", 1e12},
    {PARAM_FLOP_RATE, "PFLOP/s", 1e15},
    {PARAM_FREQUENCY, "Hz", 1},
    {PARAM_FREQUENCY, "kHz", 1e3},
    {PARAM_FREQUENCY, "MHz", 1e6},
    {PARAM_FREQUENCY, "GHz", 1e9},
    {PARAM_POWER, "W", 1},
    {PARAM_POWER, "kW", 1e3},
    {PARAM_POWER, "MW", 1e6},
    {PARAM_MONEY, "USD", 1},
    {PARAM_MONEY, "kUSD", 1e3},
    {PARAM_MONEY, "MUSD", 1e6},
};
enum {
    UNITS = sizeof units / sizeof *units
};

static bool reads(enum param_type type, const char *text, struct quantity *out, char *why)
{
    why[0] = '\0';
    return quantity_read(type, text, text, out, why);
}

/* A unit has its factor, with a blank or without, and is unknown in every other dimension (a factor
 * of the same name elsewhere would be another row of this table). */
static void test_every_unit(void **state)
{
    static const struct {
        const char *text;
        double number;
    } spelled[] = {{"1", 1},  {"1 ", 1},    {"+3", 3}, {"-2", -2},      {"0.5", 0.5},   {".5", 0.5},
                   {"4.", 4}, {"2e3", 2e3}, {"0", 0},  {"2E+3  ", 2e3}, {"25e-2", 0.25}};
    for (unsigned i = 0; i < UNITS; i++) {
        struct quantity out;
        char text[64], why[QUANTITY_TEXT_MAX];
        for (unsigned k = 0; k < sizeof spelled / sizeof *spelled; k++) {
            snprintf(text, sizeof text, "%s%s", spelled[k].text, units[i].name);
            assert_true(reads(units[i].type, text, &out, why));
            assert_true(out.number == spelled[k].number * units[i].factor);
            assert_true(out.count == 0);
        }
    }
}

static void test_no_other_dimension_takes_it(void **state)
{
    for (unsigned i = 0; i < UNITS; i++) {
        struct quantity out;
        char text[64], why[QUANTITY_TEXT_MAX], expected[QUANTITY_TEXT_MAX];
        snprintf(text, sizeof text, "7%s", units[i].name);
        for (enum param_type type = PARAM_TIME; type <= PARAM_MONEY; type++) {
            snprintf(expected, sizeof expected, "'%s' has no known unit; write one of %s", text,
                     quantity_units(type));
            assert_int_equal(reads(type, text, &out, why), type == units[i].type);
            assert_string_equal(why, type == units[i].type ? "" : expected);
        }
        /* The B of bytes is a count's billion too. */
        assert_int_equal(reads(PARAM_COUNT, text, &out, why), strcmp(units[i].name, "B") == 0);
        assert_false(reads(PARAM_RATIO, text, &out, why));
        assert_false(reads(PARAM_FLAG, text, &out, why));
    }
}

/* The list that messages and the reference show is this table, in its order. */
static void test_lists(void **state)
{
    for (enum param_type type = PARAM_FLAG; type <= PARAM_TEXT; type++) {
        char list[256] = "";
        for (unsigned i = 0; i < UNITS; i++) {
            if (units[i].type == type) {
                size_t at = strlen(list);
                snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", units[i].name);
            }
        }
        assert_string_equal(quantity_units(type), list);
    }
}

static void test_names(void **state)
{
    static const struct {
        enum param_type type;
        const char *name, *si;
    } rows[] = {
        {PARAM_TIME, "time", "s"},
        {PARAM_BYTES, "size", "B"},
        {PARAM_BANDWIDTH, "bandwidth", "B/s"},
        {PARAM_FLOP_RATE, "FLOP rate", "FLOP/s"},
        {PARAM_FREQUENCY, "frequency", "Hz"},
        {PARAM_POWER, "power", "W"},
        {PARAM_MONEY, "money", "USD"},
        {PARAM_FLAG, "flag", ""},
        {PARAM_COUNT, "count", ""},
        {PARAM_RATIO, "number", ""},
        {PARAM_CHOICE, "choice", ""},
        {PARAM_TEXT, "text", ""},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(quantity_type_name(rows[i].type), rows[i].name);
        assert_string_equal(quantity_si_unit(rows[i].type), rows[i].si);
    }
}

static void test_bare_numbers_are_refused(void **state)
{
    for (enum param_type type = PARAM_TIME; type <= PARAM_MONEY; type++) {
        static const char *const bare[] = {"0", "5", "1e9", ".5", "5 "};
        for (unsigned i = 0; i < sizeof bare / sizeof *bare; i++) {
            struct quantity out;
            char why[QUANTITY_TEXT_MAX], expected[QUANTITY_TEXT_MAX];
            snprintf(expected, sizeof expected, "'%s' has no unit; write one of %s", bare[i],
                     quantity_units(type));
            assert_false(reads(type, bare[i], &out, why));
            assert_string_equal(why, expected);
        }
    }
}

/* What stands around a number: one sign, blanks before the unit only, an exponent with digits. */
static void test_malformed(void **state)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {" 5s", "is not a number"},    {"+-5s", "is not a number"},
        {"++5s", "is not a number"},   {".s", "is not a number"},
        {"+s", "is not a number"},     {"-.e5s", "is not a number"},
        {"e5s", "is not a number"},    {"5e s", "has no known unit"},
        {"5e+s", "has no known unit"}, {"5e--3s", "has no known unit"},
        {"5s ", "has no known unit"},  {"5\ts", "has no known unit"},
        {"5ss", "has no known unit"},  {"5..5s", "has no known unit"},
        {"5,5s", "has no known unit"}, {"1e309s", "is too large"},
        {"-1e309s", "is too large"},   {"1.7e308min", "is too large"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct quantity out;
        char why[QUANTITY_TEXT_MAX], expected[QUANTITY_TEXT_MAX];
        assert_false(reads(PARAM_TIME, rows[i].text, &out, why));
        snprintf(expected, sizeof expected, "'%s' %s", rows[i].text, rows[i].reason);
        assert_true(strncmp(why, expected, strlen(expected)) == 0);
    }
}

static void test_extremes(void **state)
{
    struct quantity out;
    char why[QUANTITY_TEXT_MAX], text[80];
    assert_true(reads(PARAM_BYTES, "1.7976931348623157e308B", &out, why));
    assert_true(out.number == 1.7976931348623157e308);
    assert_false(reads(PARAM_BYTES, "1.7976931348623157e308kB", &out, why));
    assert_true(reads(PARAM_TIME, "1e-400s", &out, why));
    assert_true(out.number == 0);
    assert_true(reads(PARAM_TIME, "1e-300ns", &out, why));
    assert_true(out.number == 1e-300 * 1e-9);
    /* 63 characters are a number, 64 are not; with a suffix nothing of it is lost. */
    memset(text, '0', 64);
    snprintf(text + 62, sizeof text - 62, "5s");
    assert_true(reads(PARAM_TIME, text, &out, why));
    assert_true(out.number == 5);
    snprintf(text + 62, sizeof text - 62, "5T");
    assert_true(reads(PARAM_COUNT, text, &out, why));
    assert_true(out.count == 5000000000000);
    snprintf(text + 62, sizeof text - 62, "05s");
    assert_false(quantity_read(PARAM_TIME, text, "it", &out, why));
    assert_string_equal(why, "'it' has too many digits");
}

/* Beyond 2^53 = 9007199254740992 only digits alone are exact. */
static void test_counts(void **state)
{
    static const struct {
        const char *text;
        uint64_t count;
    } taken[] = {
        {"0", 0},
        {"-0", 0},
        {"+5", 5},
        {"7", 7},
        {"1k", 1000},
        {"1 k", 1000},
        {"1M", 1000000},
        {"1B", 1000000000},
        {"1T", 1000000000000},
        {"0.001k", 1},
        {".5B", 500000000},
        {"12e3", 12000},
        {"5.0", 5},
        {"9007199254740992.0", 9007199254740992},
        {"9007199254740.992k", 9007199254740992},
        {"9007.199254740992T", 9007199254740992},
        {"10000000000000000000", 10000000000000000000u},
    };
    static const struct {
        const char *text, *why;
    } refused[] = {
        {"0.0005k", "'0.0005k' is not a whole number"},
        {"-3", "'-3' is not a whole number"},
        {"-1k", "'-1k' is not a whole number"},
        {"9007199254740994.0", "'9007199254740994.0' is too large"},
        {"9007.199254740994T", "'9007.199254740994T' is too large"},
        {"1e16", "'1e16' is too large"},
        {"1e999", "'1e999' is too large"},
        {"5m", "'5m' is not a count; it may end in k, M, B or T"},
        {"5b", "'5b' is not a count; it may end in k, M, B or T"},
        {"5G", "'5G' is not a count; it may end in k, M, B or T"},
        {"5kk", "'5kk' is not a count; it may end in k, M, B or T"},
        {"5%", "'5%' is not a count; it may end in k, M, B or T"},
        {"1E3M", "'1E3M' is not a count; it may end in k, M, B or T"},
        {"k", "'k' is not a number"},
    };
    struct quantity out;
    char why[QUANTITY_TEXT_MAX];
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++) {
        assert_true(reads(PARAM_COUNT, taken[i].text, &out, why));
        assert_true(out.count == taken[i].count);
        assert_true(out.number == (double)taken[i].count);
    }
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(reads(PARAM_COUNT, refused[i].text, &out, why));
        assert_string_equal(why, refused[i].why);
    }
}

static void test_ratios_and_flags(void **state)
{
    static const struct {
        enum param_type type;
        const char *text;
        double number;
    } rows[] = {
        {PARAM_RATIO, "0.25", 0.25}, {PARAM_RATIO, "25%", 0.25},  {PARAM_RATIO, "25 %", 0.25},
        {PARAM_RATIO, "150%", 1.5},  {PARAM_RATIO, "-50%", -0.5}, {PARAM_RATIO, "0", 0},
        {PARAM_RATIO, "1e2%", 1},    {PARAM_RATIO, "3", 3},       {PARAM_FLAG, "true", 1},
        {PARAM_FLAG, "false", 0},
    };
    static const char *const flags[] = {"True", "yes", "1", "0", "", "truee", "tru"};
    struct quantity out;
    char why[QUANTITY_TEXT_MAX];
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(reads(rows[i].type, rows[i].text, &out, why));
        assert_true(out.number == rows[i].number);
        assert_true(out.count == 0);
    }
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        assert_false(reads(PARAM_FLAG, flags[i], &out, why));
    assert_false(reads(PARAM_RATIO, "5%%", &out, why));
    assert_false(reads(PARAM_RATIO, "%", &out, why));
    assert_false(reads(PARAM_RATIO, "1e400", &out, why));
}

/* The largest decimal unit that keeps the number at least 1, bytes rather than bits. */
static void test_printed(void **state)
{
    static const struct {
        enum param_type type;
        double number;
        const char *text;
    } rows[] = {
        {PARAM_TIME, 0, "0ns"},
        {PARAM_TIME, 5e-10, "0.5ns"},
        {PARAM_TIME, 1e-6, "1us"},
        {PARAM_TIME, 0.0125, "12.5ms"},
        {PARAM_TIME, 59.5, "59.5s"},
        {PARAM_TIME, 60, "1min"},
        {PARAM_TIME, -90, "-1.5min"},
        {PARAM_TIME, 7200, "2h"},
        {PARAM_TIME, 86400, "1d"},
        {PARAM_TIME, 31557600, "1y"},
        {PARAM_TIME, 3155760000, "100y"},
        {PARAM_BYTES, 0.5, "0.5B"},
        {PARAM_BYTES, 999, "999B"},
        {PARAM_BYTES, 1024, "1.024kB"},
        {PARAM_BYTES, 1099511627776, "1.09951TB"},
        {PARAM_BYTES, 2e18, "2000PB"},
        {PARAM_BANDWIDTH, 0.125, "0.125B/s"},
        {PARAM_BANDWIDTH, 125e6, "125MB/s"},
        {PARAM_BANDWIDTH, 50e9, "50GB/s"},
        {PARAM_BANDWIDTH, 3.35e12, "3.35TB/s"},
        {PARAM_FLOP_RATE, 1e5, "0.1MFLOP/s"},
        {PARAM_FLOP_RATE, 989.4e12, "989.4TFLOP/s"},
        {PARAM_FLOP_RATE, 1e15, "1PFLOP/s"},
        {PARAM_FREQUENCY, 1.755e9, "1.755GHz"},
        {PARAM_FREQUENCY, 440, "440Hz"},
        {PARAM_POWER, 700, "700W"},
        {PARAM_POWER, 10200, "10.2kW"},
        {PARAM_POWER, 3e6, "3MW"},
        {PARAM_MONEY, 2.5, "2.5USD"},
        {PARAM_MONEY, 1234567, "1.23457MUSD"},
        {PARAM_COUNT, 15e12, "15000000000000"},
        {PARAM_COUNT, 9007199254740991, "9007199254740991"},
        {PARAM_COUNT, 1e17, "100000000000000000"}, /* as it can be read back */
        {PARAM_COUNT, 18446744073709549568.0, "18446744073709549568"},
        {PARAM_COUNT, 1e20, "1e+20"}, /* no count: none is above 2^64 - 1 */
        {PARAM_RATIO, 0.8, "0.8"},
        {PARAM_RATIO, 1234567, "1.23457e+06"},
        {PARAM_FLAG, 1, "true"},
        {PARAM_FLAG, 0, "false"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        quantity_write(rows[i].type, rows[i].number, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_unit),
        cmocka_unit_test(test_no_other_dimension_takes_it),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bare_numbers_are_refused),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_ratios_and_flags),
        cmocka_unit_test(test_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
