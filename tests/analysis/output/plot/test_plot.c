/* Figures: where values stand, what ticks say, colours against the formulas of WCAG and of colour
 * vision, and SVG that stays XML whatever the words are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/plot/plot.h"
#include "sim/units.h"
#include "tests/test.h"

static struct plot_axis axis_of(double low, double high, bool log, enum plot_unit unit)
{
    return (struct plot_axis){.label = "a", .low = low, .high = high, .log = log, .unit = unit};
}

static void test_axes(void **state)
{
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
    check_ticks(axis_of(1e-6, 1.1 * YEAR, true, PLOT_TIME),
                "1 us|10 us|100 us|1 ms|10 ms|100 ms|1 s|2 s|5 s|10 s|30 s|1 min|5 min|10 min|30 "
                "min|1 h|2 h|4 h|12 h|1 d|3 d|10 d|30 d|365.25 d");
    check_ticks(axis_of(0.9, 40.0, true, PLOT_PLAIN), "1|2|5|10|20");
    check_ticks(axis_of(900.0, 3e6, true, PLOT_PLAIN), "1 k|10 k|100 k|1 M");
    check_ticks(axis_of(0.9 * GIB, 6.0 * GIB, true, PLOT_BYTES), "1 GiB|2 GiB|5 GiB");
    /* too narrow for two round ones of a logarithmic axis: those of a linear one */
    check_ticks(axis_of(11.0, 13.0, true, PLOT_PLAIN),
                "11.0|11.2|11.4|11.6|11.8|12.0|12.2|12.4|12.6|12.8|13.0");
}

/* A hundred decades have no more ticks than 64, the lowest. */
static void test_too_many_ticks(void **state)
{
    struct plot_axis axis = axis_of(1e-50, 1e50, true, PLOT_PLAIN);
    struct plot_tick ticks[PLOT_TICK_MAX];
    assert_int_equal(plot_ticks(&axis, ticks), 64);
    for (int i = 0; i < 64; i++)
        assert_true(fabs(log10(ticks[i].value) - (i - 50)) < 1e-9);
}

/* Each unit from its beginning on, whole steps, and no more ticks than there is room for. */
static void test_ticks_of_units(void **state)
{
    check_ticks(axis_of(0.0, 999.0, false, PLOT_PLAIN), "0|200|400|600|800");
    check_ticks(axis_of(0.0, 1000.0, false, PLOT_PLAIN), "0.0 k|0.2 k|0.4 k|0.6 k|0.8 k|1.0 k");
    check_ticks(axis_of(0.0, 6e6, false, PLOT_PLAIN), "0 M|1 M|2 M|3 M|4 M|5 M|6 M");
    check_ticks(axis_of(-6e9, 0.0, false, PLOT_PLAIN), "-6 B|-5 B|-4 B|-3 B|-2 B|-1 B|0 B");
    check_ticks(axis_of(0.0, 3e12, false, PLOT_PLAIN), "0.0 T|0.5 T|1.0 T|1.5 T|2.0 T|2.5 T|3.0 T");
    check_ticks(axis_of(0.0, 6e-6, false, PLOT_TIME), "0 us|1 us|2 us|3 us|4 us|5 us|6 us");
    check_ticks(axis_of(0.0, 6e-3, false, PLOT_TIME), "0 ms|1 ms|2 ms|3 ms|4 ms|5 ms|6 ms");
    check_ticks(axis_of(0.0, 59.0, false, PLOT_TIME),
                "0 s|5 s|10 s|15 s|20 s|25 s|30 s|35 s|40 s|45 s|50 s|55 s");
    check_ticks(axis_of(0.0, 60.0, false, PLOT_TIME),
                "0.0 min|0.2 min|0.4 min|0.6 min|0.8 min|1.0 min");
    check_ticks(axis_of(0.0, 6.0 * HOUR, false, PLOT_TIME), "0 h|1 h|2 h|3 h|4 h|5 h|6 h");
    check_ticks(axis_of(0.0, 6.0 * DAY, false, PLOT_TIME), "0 d|1 d|2 d|3 d|4 d|5 d|6 d");
    check_ticks(axis_of(0.0, 6.0, false, PLOT_BYTES), "0 B|1 B|2 B|3 B|4 B|5 B|6 B");
    check_ticks(axis_of(0.0, 6.0 * KIB, false, PLOT_BYTES),
                "0 KiB|1 KiB|2 KiB|3 KiB|4 KiB|5 KiB|6 KiB");
    check_ticks(axis_of(0.0, 6.0 * MIB, false, PLOT_BYTES),
                "0 MiB|1 MiB|2 MiB|3 MiB|4 MiB|5 MiB|6 MiB");
    check_ticks(axis_of(0.0, 6144.0 * GIB, false, PLOT_BYTES),
                "0 TiB|1 TiB|2 TiB|3 TiB|4 TiB|5 TiB|6 TiB");
    check_ticks(axis_of(0.0, 6.0, false, PLOT_MONEY), "0 USD|1 USD|2 USD|3 USD|4 USD|5 USD|6 USD");
    check_ticks(axis_of(0.0, 6e6, false, PLOT_MONEY),
                "0 M USD|1 M USD|2 M USD|3 M USD|4 M USD|5 M USD|6 M USD");
    check_ticks(axis_of(0.0, 6.0, false, PLOT_BANDWIDTH),
                "0 B/s|1 B/s|2 B/s|3 B/s|4 B/s|5 B/s|6 B/s");
    check_ticks(axis_of(0.0, 6e8, false, PLOT_BANDWIDTH),
                "0 MB/s|100 MB/s|200 MB/s|300 MB/s|400 MB/s|500 MB/s|600 MB/s");
    check_ticks(axis_of(9e8, 6e9, true, PLOT_BANDWIDTH), "1 GB/s|2 GB/s|5 GB/s");
    check_ticks(axis_of(9e14, 6e15, true, PLOT_FLOP_RATE), "1 PFLOP/s|2 PFLOP/s|5 PFLOP/s");
    check_ticks(axis_of(0.0, 6e9, false, PLOT_MONEY),
                "0 B USD|1 B USD|2 B USD|3 B USD|4 B USD|5 B USD|6 B USD");
    /* a step is 1, 2 or 5 of a power of ten: 6 / 6, 9 / 6, 21 / 6, 60 / 6 */
    check_ticks(axis_of(0.0, 8.9, false, PLOT_PLAIN), "0|1|2|3|4|5|6|7|8");
    check_ticks(axis_of(0.0, 9.1, false, PLOT_PLAIN), "0|2|4|6|8");
    check_ticks(axis_of(0.0, 20.9, false, PLOT_PLAIN), "0|2|4|6|8|10|12|14|16|18|20");
    check_ticks(axis_of(0.0, 21.1, false, PLOT_PLAIN), "0|5|10|15|20");
    check_ticks(axis_of(1e-6, 400.0 * DAY, true, PLOT_TIME),
                "1 us|10 us|100 us|1 ms|10 ms|100 ms|1 s|2 s|5 s|10 s|30 s|1 min|5 min|10 min|30 "
                "min|1 h|2 h|4 h|12 h|1 d|3 d|10 d|30 d|365.25 d");
    check_ticks(axis_of(1.0, 999.0, true, PLOT_PLAIN), "1|2|5|10|20|50|100|200|500");
    check_ticks(axis_of(1.0, 1000.0, true, PLOT_PLAIN), "1|10|100|1 k");
}

/* Values that differ by no more than rounding are one: a step between them would be below what a
 * number can hold. */
static void test_axis_of_alike_values(void **state)
{
    const double values[] = {3.0, nextafter(3.0, 4.0), 3.0 + 1e-10};
    for (unsigned count = 1; count <= 3; count++) {
        struct plot_axis axis = plot_axis_around("v", values, count, false, PLOT_PLAIN);
        assert_true(fabs(axis.low - 2.7) < 1e-9 && fabs(axis.high - 3.3) < 1e-9);
        unsigned ticks = plot_ticks(&axis, (struct plot_tick[PLOT_TICK_MAX]){0});
        assert_true(ticks >= 6 && ticks <= 13);
        axis = plot_axis_around("v", values, count, true, PLOT_PLAIN);
        assert_true(fabs(axis.low - 1.5) < 1e-9 && fabs(axis.high - 6.0) < 1e-9);
        check_ticks(axis, "2|5");
    }
    const double apart[] = {3.0, 3.0 + 1e-6};
    struct plot_axis axis = plot_axis_around("v", apart, 2, false, PLOT_PLAIN);
    assert_true(axis.low > 2.9999 && axis.high < 3.0001);
    axis = plot_axis_around("v", apart, 2, true, PLOT_PLAIN);
    assert_true(axis.low > 2.95 && axis.high < 3.05); /* a hundredth at least */
    const double below[] = {-5.0, -5.0}, nothing[] = {0.0, 0.0};
    axis = plot_axis_around("v", below, 2, false, PLOT_PLAIN);
    assert_true(axis.low == -5.5 && axis.high == -4.5);
    axis = plot_axis_around("v", nothing, 2, false, PLOT_PLAIN);
    assert_true(axis.low == -1.0 && axis.high == 1.0);
    axis = plot_axis_around("v", nothing, 2, true, PLOT_PLAIN); /* none that a logarithm has */
    assert_true(axis.low == 0.5 && axis.high == 2.0);
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

static unsigned times_in(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static void draw_frame(struct plot *plot)
{
    plot->x.label = "time";
    plot->y.label = "stage";
    plot_frame(plot, "a < b");
}

/* Words down the left side, ticks below; the label of the axis under them, the title on top. */
static void test_frame(void **state)
{
    char *text = drawn(draw_frame);
    expect_in(text, "<text x=\"94.0\" y=\"26.5\" text-anchor=\"end\" fill=\"#333\">stage 0<");
    expect_in(text, "<text x=\"94.0\" y=\"51.5\" text-anchor=\"end\" fill=\"#333\">stage 1<");
    expect_in(text, "<path d=\"M140.0 10.0V60.0\" stroke=\"#e4e4e4\"/>");
    expect_in(text, "<text x=\"140.0\" y=\"76.0\" text-anchor=\"middle\" fill=\"#333\">2 s<");
    expect_in(text, "<rect x=\"100.0\" y=\"10.0\" width=\"200.0\" height=\"50.0\"");
    expect_in(text, "<text x=\"200.0\" y=\"95.6\" text-anchor=\"middle\" fill=\"#333\">time<");
    expect_in(text, "<text x=\"50.0\" y=\"0.0\" text-anchor=\"start\" fill=\"#333\">stage<");
    expect_in(text, "<text x=\"200.0\" y=\"18.0\" text-anchor=\"middle\" fill=\"#333\">a &lt; b<");
    assert_int_equal(times_in(text, "V60.0\" stroke=\"#e4e4e4\""), 6); /* 0, 2, 4, 6, 8, 10 s */
    free(text);
}

static void draw_narrow_frame(struct plot *plot)
{
    plot->y = axis_of(0.0, 10.0, false, PLOT_PLAIN);
    plot->width = 60.0;
    draw_frame(plot);
}

/* Six lines in 60, 12 apart; labels are 21 wide and 28 with their gap, "10 s" and 28: the first,
 * the fourth. Across, every line has its label. */
static void test_labels_keep_apart(void **state)
{
    char *text = drawn(draw_narrow_frame);
    assert_int_equal(times_in(text, "V60.0\" stroke=\"#e4e4e4\""), 6);
    assert_int_equal(times_in(text, " s</text>"), 2);
    expect_in(text, "x=\"100.0\" y=\"76.0\" text-anchor=\"middle\" fill=\"#333\">0 s<");
    expect_in(text, "x=\"136.0\" y=\"76.0\" text-anchor=\"middle\" fill=\"#333\">6 s<");
    expect_in(text, "<path d=\"M100.0 50.0H160.0\" stroke=\"#e4e4e4\"/>");
    expect_in(text, "x=\"94.0\" y=\"54.0\" text-anchor=\"end\" fill=\"#333\">2<");
    assert_int_equal(times_in(text, "text-anchor=\"end\""), 6);
    free(text);
}

#define LONG "a word of thirty characters ,"
static void draw_long_words(struct plot *plot)
{
    static const char *const words[] = {"b", LONG "x"};
    plot->x = plot_axis_words("", words, 2, false);
    plot_frame(plot, "");
}

static void draw_short_words(struct plot *plot)
{
    /* 28 characters of two bytes each are a word that is not cut */
    static const char *const words[] = {"b", "\xc3\xa9"};
    static const char *const most[] = {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                       "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                       "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                       "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                                       "b"};
    plot->x = plot_axis_words("", words, 2, false);
    plot->y = plot_axis_words("", most, 2, true);
    plot_frame(plot, "");
}

/* Words that have no room stand aslant; one of more than 28 characters is cut. */
static void test_long_words(void **state)
{
    char *text = drawn(draw_long_words);
    expect_in(text, "<text x=\"154.0\" y=\"74.0\" text-anchor=\"end\" fill=\"#333\" "
                    "transform=\"rotate(-35 154.0 74.0)\">b<");
    expect_in(text, "rotate(-35 254.0 74.0)\">a word of thirty characters \xe2\x80\xa6<");
    free(text);
    text = drawn(draw_short_words);
    expect_in(text, "<text x=\"150.0\" y=\"76.0\" text-anchor=\"middle\" fill=\"#333\">b<");
    expect_in(text, "<text x=\"250.0\" y=\"76.0\" text-anchor=\"middle\" fill=\"#333\">\xc3\xa9<");
    assert_int_equal(times_in(text, "\xc3\xa9"), 29);
    assert_int_equal(times_in(text, "\xe2\x80\xa6"), 0);
    free(text);
    /* 28 wide characters and one of room, of two words, are the width of the frame */
    static const char *const words[] = {"b", LONG};
    struct plot plot = {.width = 2 * (28 + 1) * 7.0};
    plot.x = plot_axis_words("", words, 2, false);
    assert_true(fabs(plot_room_below(&plot) - 2.6 * 16.0) < 1e-9);
    plot.width -= 0.1; /* the sine of 35 degrees */
    assert_true(fabs(plot_room_below(&plot) - 2.6 * 16.0 - 28 * 7.0 * 0.573576436351) < 1e-6);
    plot.x.words = NULL;
    assert_true(fabs(plot_room_below(&plot) - 2.6 * 16.0) < 1e-9);
}

/* A tenth of each axis is 20 across and 5 up, from (100, 60). */
static void draw_shapes(struct plot *plot)
{
    const double x[] = {0.0, 1.0, 2.0, 3.0, INFINITY}, y[] = {0.0, 5.0, NAN, 10.0, 1.0};
    const double low[] = {1.0, 2.0}, high[] = {3.0, 4.0};
    plot->y = axis_of(0.0, 10.0, false, PLOT_PLAIN);
    plot_line(plot, x, y, 5, "#111111", false);
    plot_line(plot, x, low, 2, "#222222", true);
    plot_band(plot, &(struct band){x, low, high, 2}, "#333333", 0.25);
    plot_dot(plot, 1.0, 2.0, "#444444", "x<y");
    plot_dot(plot, 2.0, 4.0, "#555555", NULL);
    plot_dot(plot, NAN, 2.0, "#666666", NULL);
    plot_dot(plot, 2.0, INFINITY, "#666666", NULL);
    plot_whisker(plot, 1.0, 2.0, 8.0, "#777777", 3.0);
    plot_whisker(plot, 1.0, NAN, 8.0, "#888888", 3.0);
    plot_whisker(plot, 1.0, 2.0, NAN, "#888888", 3.0);
    assert_true(plot_key(plot->out, 10.0, 20.0, "#999999", "four") == 10.0 + 15.0 + 28.0 + 14.0);
    assert_true(plot_key(plot->out, 10.0, 20.0, NULL, "") == 39.0);
}

static void test_shapes(void **state)
{
    char *text = drawn(draw_shapes);
    expect_in(text,
              "stroke=\"#111111\" stroke-width=\"1.8\" d=\"M100.0 60.0L120.0 35.0L160.0 10.0\"/>");
    expect_in(text, "stroke=\"#222222\" stroke-width=\"1.8\" stroke-dasharray=\"5 4\" d=\"M100.0 "
                    "55.0L120.0 50.0\"/>");
    expect_in(text, "<path fill=\"#333333\" fill-opacity=\"0.25\" d=\"M100.0 45.0L120.0 40.0L120.0 "
                    "50.0L100.0 55.0Z\"/>");
    expect_in(text, "<circle cx=\"120.0\" cy=\"50.0\" r=\"2.6\" fill=\"#444444\" "
                    "fill-opacity=\".75\"><title>x&lt;y</title></circle>");
    expect_in(text, "<circle cx=\"140.0\" cy=\"40.0\" r=\"2.6\" fill=\"#555555\" "
                    "fill-opacity=\".75\"></circle>");
    expect_in(text, "<path d=\"M120.0 50.0V20.0\" stroke=\"#777777\" stroke-width=\"3.0\"/>");
    expect_in(text, "<rect x=\"10.0\" y=\"11.0\" width=\"10\" height=\"10\" fill=\"#999999\"");
    expect_in(text, "<text x=\"25.0\" y=\"20.0\" text-anchor=\"start\" fill=\"#333\">four<");
    assert_int_equal(times_in(text, "fill=\"url(#idle)\""), 1);
    assert_int_equal(times_in(text, "#666666") + times_in(text, "#888888"), 0);
    free(text);
    assert_true(plot_marks_room(0) == 0.0 && plot_marks_room(3) == 48.0);
    assert_true(plot_text_width("a\xc3\xa9z") == 21.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_too_many_ticks),
        cmocka_unit_test(test_ticks_of_units),
        cmocka_unit_test(test_axis_of_alike_values),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_labels_keep_apart),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
