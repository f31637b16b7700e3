/* Figures: where values stand, what ticks say, colours against the formulas of WCAG and of colour
 * vision, and SVG that stays XML whatever the words are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text/plot.h"
#include "sim/units.h"

static struct plot_axis axis_of(double low, double high, bool log, enum plot_unit unit)
{
    return (struct plot_axis){.label = "a", .low = low, .high = high, .log = log, .unit = unit};
}

static void test_axes(void **state)
{
    (void)state;
    struct plot plot = {.left = 100, .top = 10, .width = 200, .height = 50};
    plot.x = axis_of(1.0, 100.0, true, PLOT_PLAIN);
    plot.y = axis_of(0.0, 10.0, false, PLOT_PLAIN);
    assert_true(fabs(plot_x(&plot, 10.0) - 200.0) < 1e-9);
    assert_true(plot_x(&plot, 0.5) == 100.0); /* outside: at the end */
    assert_true(plot_y(&plot, 0.0) == 60.0 && plot_y(&plot, 10.0) == 10.0);
    double values[] = {3.0, NAN, 1.0, INFINITY, -2.0};
    struct plot_axis axis = plot_axis_around("v", values, 5, true, PLOT_PLAIN);
    assert_true(axis.low > 0.8 && axis.low < 1.0 && axis.high > 3.0 && axis.high < 3.5);
    axis = plot_axis_around("v", values, 3, false, PLOT_PLAIN);
    assert_true(fabs(axis.low - 0.9) < 1e-12 && fabs(axis.high - 3.1) < 1e-12);
    /* one value stands in the middle of an axis that has ticks */
    axis = plot_axis_around("v", values, 1, false, PLOT_PLAIN);
    assert_true(fabs(axis.low - 2.7) < 1e-12 && fabs(axis.high - 3.3) < 1e-12);
    axis = plot_axis_around("v", values, 1, true, PLOT_PLAIN);
    assert_true(axis.low == 1.5 && axis.high == 6.0 && axis.log);
    axis = plot_axis_around("v", values + 1, 1, false, PLOT_TIME);
    assert_true(axis.low < 1.0 && axis.high > 1.0 && axis.unit == PLOT_TIME);
}

/* Words stand in the middles of equal parts: from the left, or down from the top. */
static void test_words(void **state)
{
    (void)state;
    static const char *const words[] = {"sync", "async", "none", "peer"};
    struct plot plot = {.left = 100, .top = 10, .width = 200, .height = 40};
    plot.x = plot_axis_words("policy", words, 4, false);
    plot.y = plot_axis_words("policy", words, 4, true);
    assert_true(plot_x(&plot, 0.0) == 125.0 && plot_x(&plot, 3.0) == 275.0);
    assert_true(plot_y(&plot, 0.0) == 15.0 && plot_y(&plot, 3.0) == 45.0);
    double flat = plot_room_below(&plot);
    static const char *const wide[] = {"a rather long word", "another long word", "c", "d"};
    plot.x.words = wide;
    assert_true(plot_room_below(&plot) > flat + 30.0); /* aslant */
}

static void check_ticks(struct plot_axis axis, const char *expected)
{
    struct plot_tick ticks[PLOT_TICK_MAX];
    char said[1024] = "";
    unsigned count = plot_ticks(&axis, ticks);
    for (unsigned i = 0; i < count; i++) {
        size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s%s", i ? "|" : "", ticks[i].label.s);
        assert_true(ticks[i].value >= axis.low - 1e-9 * fabs(axis.low));
        assert_true(ticks[i].value <= axis.high + 1e-9 * fabs(axis.high));
    }
    assert_string_equal(said, expected);
}

static void test_ticks(void **state)
{
    (void)state;
    check_ticks(axis_of(0.0, 1.0, false, PLOT_PLAIN), "0.0|0.2|0.4|0.6|0.8|1.0");
    check_ticks(axis_of(57.6e3, 59.9e3, false, PLOT_PLAIN), "58.0 k|58.5 k|59.0 k|59.5 k");
    check_ticks(axis_of(-0.02, 0.07, false, PLOT_SHARE), "-2 %|0 %|2 %|4 %|6 %");
    check_ticks(axis_of(0.0, 30.0 * MINUTE, false, PLOT_TIME),
                "0 min|5 min|10 min|15 min|20 min|25 min|30 min");
    check_ticks(axis_of(8.1, 9.9, false, PLOT_TIME),
                "8.2 s|8.4 s|8.6 s|8.8 s|9.0 s|9.2 s|9.4 s|9.6 s|9.8 s");
    check_ticks(axis_of(40.0 * GIB, 81.0 * GIB, false, PLOT_BYTES),
                "40 GiB|45 GiB|50 GiB|55 GiB|60 GiB|65 GiB|70 GiB|75 GiB|80 GiB");
    check_ticks(axis_of(700.0, 1100.0, false, PLOT_MONEY),
                "0.70 k USD|0.75 k USD|0.80 k USD|0.85 k USD|0.90 k USD|0.95 k USD|1.00 k USD|1.05 "
                "k USD|1.10 k USD");
    check_ticks(axis_of(MINUTE, 4.0 * HOUR, true, PLOT_TIME),
                "1 min|5 min|10 min|30 min|1 h|2 h|4 h");
    check_ticks(axis_of(0.9, 40.0, true, PLOT_PLAIN), "1|2|5|10|20");
    check_ticks(axis_of(900.0, 3e6, true, PLOT_PLAIN), "1 k|10 k|100 k|1 M");
    check_ticks(axis_of(0.9 * GIB, 6.0 * GIB, true, PLOT_BYTES), "1 GiB|2 GiB|5 GiB");
    /* too narrow for two round ones of a logarithmic axis: those of a linear one */
    check_ticks(axis_of(11.0, 13.0, true, PLOT_PLAIN),
                "11.0|11.2|11.4|11.6|11.8|12.0|12.2|12.4|12.6|12.8|13.0");
}

/* Rows of Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color
 * Vision Deficiency", IEEE TVCG 15 (2009), severity 1, on linear sRGB. */
static const double eyes[][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};

static void linear_of(const char *colour, double rgb[3])
{
    for (unsigned i = 0; i < 3; i++) {
        char digits[3] = {colour[1 + 2 * i], colour[2 + 2 * i], '\0'};
        double c = (double)strtoul(digits, NULL, 16) / 255.0;
        rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
}

static double cube_root(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116.0;
}

static void lab_of(const char *colour, unsigned eye, double lab[3])
{
    double rgb[3], seen[3];
    linear_of(colour, rgb);
    for (unsigned i = 0; i < 3; i++) {
        const double *row = eyes[eye][i];
        seen[i] = fmin(fmax(row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2], 0.0), 1.0);
    }
    double x = 0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2];
    double y = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
    double z = 0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2];
    lab[0] = 116.0 * cube_root(y) - 16.0;
    lab[1] = 500.0 * (cube_root(x / 0.9505) - cube_root(y));
    lab[2] = 200.0 * (cube_root(y) - cube_root(z / 1.089));
}

static void test_colours(void **state)
{
    (void)state;
    for (unsigned a = 0; a < PLOT_COLOUR_COUNT; a++) {
        double rgb[3], one[3], other[3];
        linear_of(plot_colour(a), rgb);
        double light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
        assert_true(1.05 / (light + 0.05) >= 3.0); /* WCAG 2.1, 1.4.11, on white */
        for (unsigned b = 0; b < a; b++) {
            for (unsigned eye = 0; eye < 4; eye++) {
                lab_of(plot_colour(a), eye, one);
                lab_of(plot_colour(b), eye, other);
                double far = sqrt(pow(one[0] - other[0], 2) + pow(one[1] - other[1], 2) +
                                  pow(one[2] - other[2], 2));
                assert_true(far > 25.0); /* a just noticeable difference is 2.3 */
            }
        }
    }
    assert_ptr_equal(plot_colour(PLOT_COLOUR_COUNT), plot_colour(0));
}

static char *drawn(void (*draw)(struct plot *plot))
{
    char *text = NULL;
    size_t size;
    static const char *const rows[] = {"stage 0", "stage 1"};
    struct plot plot = {.left = 100, .top = 10, .width = 200, .height = 50};
    plot.out = open_memstream(&text, &size);
    plot.x = axis_of(0.0, 10.0, false, PLOT_TIME);
    plot.y = plot_axis_words("", rows, 2, true);
    draw(&plot);
    fclose(plot.out);
    return text;
}

static void draw_words(struct plot *plot)
{
    plot_text(plot->out, 1.0, 2.0, "start", "a<b>&\"c\"\n\x1b \xff\xc3\xa9 \xc3");
}

static void draw_boxes(struct plot *plot)
{
    plot_box(plot, 1.0, 6.0, 0.0, "#000000", "7");
    plot_box(plot, 1.0, 6.0, 1.0, "#ffffff", "8");
    plot_box(plot, 1.0, 1.2, 1.0, "#0072b2", "9"); /* no room for its label */
    plot_box(plot, 1.0, 6.0, 1.0, NULL, "hatched");
}

static void draw_marks(struct plot *plot)
{
    plot_mark(plot, 1.0, "#000000", 0, "left");
    plot_mark(plot, 9.9, "#000000", 2, "right");
    plot_cross(plot, 5.0, "x<y");
}

static void expect_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("lacks %s in\n%s", part, text);
}

static void test_svg(void **state)
{
    (void)state;
    char *text = drawn(draw_words);
    expect_in(text, ">a&lt;b&gt;&amp;\"c\" \xef\xbf\xbd\xc3\xa9 \xef\xbf\xbd</text>");
    free(text);
    text = drawn(draw_boxes);
    /* a row is 25 high, its boxes .76 of it, around 22.5 and 47.5 */
    expect_in(text,
              "<rect x=\"120.00\" y=\"13.0\" width=\"100.00\" height=\"19.0\" fill=\"#000000\"");
    expect_in(text,
              "<rect x=\"120.00\" y=\"38.0\" width=\"100.00\" height=\"19.0\" fill=\"#ffffff\"");
    expect_in(text, "x=\"170.0\" y=\"26.5\" text-anchor=\"middle\" fill=\"#fff\">7<");
    expect_in(text, "fill=\"#000\">8<");
    expect_in(text, "fill=\"url(#idle)\"");
    assert_null(strstr(text, ">9<"));
    assert_null(strstr(text, "hatched"));
    free(text);
    text = drawn(draw_marks);
    /* labels above the frame, which begins at 10, never beyond its right end */
    expect_in(text, "x=\"126.0\" y=\"4.0\" text-anchor=\"start\" fill=\"#333\">left<");
    expect_in(text, "x=\"292.0\" y=\"-28.0\" text-anchor=\"end\" fill=\"#333\">right<");
    expect_in(text, "<title>x&lt;y</title>");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes),    cmocka_unit_test(test_words), cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_colours), cmocka_unit_test(test_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
