/* What `--vary` means: lists, ranges, units, whole numbers, and what is refused with a remedy. */
#include <math.h>
#include <string.h>

#include "analysis/study/study_vary.h"
#include "sim/units.h"
#include "tests/test.h"

static struct arena *arena;

static int set_up(void **state)
{
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(arena);
    return 0;
}

static struct vary vary_of(const char *text)
{
    struct vary vary;
    struct error error = {""};
    if (!study_vary_read(arena, text, &vary, &error))
        fail_msg("%s", error.text);
    return vary;
}

static void test_vary_list(void **state)
{
    struct vary v = vary_of("recovery.policy=hot-spare,cold-spare");
    assert_string_equal(v.key, "recovery.policy");
    assert_int_equal(v.count, 2);
    assert_string_equal(v.values[1].text, "cold-spare");
    assert_true(isnan(v.values[0].number));
    assert_false(v.numeric);
    v = vary_of("checkpoint.interval=90s,2min,1h");
    assert_true(v.numeric && v.type == PARAM_TIME && !v.range);
    assert_true(v.values[1].number == 120.0 && v.values[2].number == HOUR);
    assert_false(vary_of("x=3,1,2").numeric); /* no axis without an order */
    assert_false(vary_of("x=1s,2GB").numeric);
    assert_false(vary_of("x=1,2s,word").numeric);
    assert_int_equal(vary_of("x=1,2,4").type, PARAM_COUNT);
    v = vary_of("x=1,1.5,2"); /* whole numbers among ratios */
    assert_true(v.numeric && v.type == PARAM_RATIO);
}

static void test_vary_range(void **state)
{
    struct vary v = vary_of("checkpoint.interval=1min..4h:log:25");
    assert_int_equal(v.count, 25);
    assert_true(v.log && v.type == PARAM_TIME && v.numeric && v.range);
    assert_true(v.values[0].number == MINUTE && v.values[24].number == 4.0 * HOUR);
    assert_true(fabs(v.values[12].number / sqrt(MINUTE * 4.0 * HOUR) - 1.0) <
                5e-6); /* six digits */
    v = vary_of("a.b=10s..20s:3");
    assert_true(v.count == 3 && v.values[1].number == 15.0 && !v.log);
    assert_int_equal(vary_of("a.b=10s..20s").count, VARY_DEFAULT);
}

static void test_vary_whole_numbers(void **state)
{
    struct vary v = vary_of("layout.tp=1..4");
    assert_int_equal(v.count, 4);
    assert_string_equal(v.values[3].text, "4");
    v = vary_of("recovery.spares=1..64:log:7");
    assert_int_equal(v.count, 7);
    assert_string_equal(v.values[3].text, "8");
    v = vary_of("x.share=0..1:5"); /* more points than whole numbers: ratios */
    assert_true(v.count == 5 && v.values[1].number == 0.25);
    assert_true(vary_of("x.share=0..0.5:3").values[1].number == 0.25);
    v = vary_of("x=2..49999999999999999:3"); /* above 2^53: all digits */
    assert_true(v.count == 3 && v.values[1].number == 25e15);
    assert_string_equal(v.values[1].text, "25000000000000000");
    v = vary_of("x=18446744073709549568..18446744073709551615:3"); /* no double between the ends */
    assert_int_equal(v.count, 2);
}

/* Between two ends: in the kind of unit of the lower one, and without an exponent. Logarithmic
 * values are low x (high / low)^(i / 4), linear ones low + (high - low) i / 4. */
static void test_vary_between(void **state)
{
    static const struct {
        const char *range, *second, *third, *fourth;
    } cases[] = {
        {"a=0.1GB/s..2GB/s:log:5", "211.474MB/s", "447.214MB/s", "945.742MB/s"},
        {"a=1GiB/s..5GiB/s:5", "2GiB/s", "3GiB/s", "4GiB/s"},
        {"a=100Gb/s..1.3Tb/s:5", "400Gb/s", "700Gb/s", "1Tb/s"},
        {"a=64KiB..1MiB:log:5", "128KiB", "256KiB", "512KiB"},
        {"a=1GB..3TB:5", "750.75GB", "1.5005TB", "2.25025TB"},
        {"a=2PFLOP/s..4PFLOP/s:5", "2.5PFLOP/s", "3PFLOP/s", "3.5PFLOP/s"},
        {"a=1MHz..5GHz:5", "1.25075GHz", "2.5005GHz", "3.75025GHz"},
        {"a=1us..2us:5", "1.25us", "1.5us", "1.75us"},
        {"a=1min..5min:5", "120s", "180s", "240s"},
        {"a=10d..50d:5", "20d", "30d", "40d"},
        {"a=10%..50%:5", "20%", "30%", "40%"},
        {"a=1..2:5", "1.25", "1.5", "1.75"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vary v = vary_of(cases[i].range);
        assert_int_equal(v.count, 5);
        assert_string_equal(v.values[1].text, cases[i].second);
        assert_string_equal(v.values[2].text, cases[i].third);
        assert_string_equal(v.values[3].text, cases[i].fourth);
    }
}

/* What the text of a value says is the number, for every kind of unit. */
static void test_vary_text_says_the_number(void **state)
{
    static const char *const ranges[] = {
        "a=1min..4h:log:9",           "a=1GB..3TB:9",       "a=100Gb/s..1.6Tb/s:9",
        "a=1TFLOP/s..2PFLOP/s:log:9", "a=1GHz..2GHz:9",     "a=100W..1kW:9",
        "a=1USD..3.5USD:9",           "a=0.1..0.9:9",       "a=1KiB..7TiB:log:9",
        "a=2Mb/s..3Gb/s:9",           "a=1%..99%:9",        "a=1ns..90y:log:9",
        "a=1MiB/s..3GiB/s:log:9",     "a=2USD..9MUSD:log:9"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct vary v = vary_of(ranges[i]);
        assert_int_equal(v.count, 9);
        for (size_t k = 0; k < v.count; k++) {
            struct vary again = vary_of(arena_format(arena, "a=%s", v.values[k].text));
            assert_true(again.values[0].number == v.values[k].number);
            size_t digits = 0; /* to read, not to copy */
            for (const char *c = v.values[k].text; *c != '\0'; c++)
                digits += *c >= '0' && *c <= '9';
            assert_true(digits <= 6 + 1); /* and a 0 before the point */
            assert_null(strchr(v.values[k].text, 'e'));
        }
    }
}

static void test_vary_refuses(void **state)
{
    static const char *const wrong[] = {"",
                                        "key",
                                        "=1,2",
                                        "key=",
                                        "key=1,,2",
                                        "key=4..1",
                                        "key=1..",
                                        "key=..3",
                                        "key=1s..2",
                                        "key=1s..2GB",
                                        "key=1..2:log:",
                                        "key=1..2:1",
                                        "key=a..b",
                                        "key=0s..1h:log",
                                        "key=1..2:x",
                                        "key=1..2:99999999",
                                        "key=1..2:3:4",
                                        "key=-1.7e308..1.7e308", /* its span is no number */
                                        "key=1e-300..1e300:log"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vary vary;
        struct error error = {""};
        if (study_vary_read(arena, wrong[i], &vary, &error))
            fail_msg("taken: %s", wrong[i]);
        assert_non_null(strstr(error.text, "--vary"));
        assert_non_null(strstr(error.text, "write KEY="));
    }
}

static void test_grid(void **state)
{
    struct vary v[] = {vary_of("a=1,2,3"), vary_of("b=1,2"), vary_of("c=1,2,3,4")};
    struct error error = {""};
    size_t points;
    assert_true(study_vary_points(v, 3, &points, &error));
    assert_int_equal(points, 24);
    bool met[24] = {false};
    for (size_t p = 0; p < points; p++) {
        size_t id = (study_vary_index(v, 3, 0, p) * 2 + study_vary_index(v, 3, 1, p)) * 4 +
                    study_vary_index(v, 3, 2, p);
        assert_int_equal(id, p); /* the last key is the fastest */
        met[id] = true;
    }
    assert_true(met[0] && met[23]);
    struct vary many[] = {vary_of("a=0s..1s:9999"), vary_of("b=0s..1s:9")};
    assert_false(study_vary_points(many, 2, &points, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_vary_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_whole_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_between, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_text_says_the_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vary_refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_grid, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
