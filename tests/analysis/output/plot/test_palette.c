/* Colours against the formulas of WCAG and of colour vision: on white, next to each other, and in
 * grey. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/plot/palette.h"
#include "analysis/output/plot/plot.h"
#include "tests/test.h"

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

static double far_apart(const char *a, const char *b, unsigned eye)
{
    double one[3], other[3];
    lab_of(a, eye, one);
    lab_of(b, eye, other);
    return sqrt(pow(one[0] - other[0], 2) + pow(one[1] - other[1], 2) + pow(one[2] - other[2], 2));
}

/* In colour for every kind of eye, and by lightness alone in grey; one word a group has no colour
 * at most, for what is hatched. */
static void test_palette(void **state)
{
    unsigned pairs = 0;
    for (unsigned a = 0; a < palette_row_count; a++) {
        const struct palette_row *x = &palette_rows[a];
        assert_true(palette_colour(x->group, x->word) == x->colour);
        for (unsigned b = 0; b < a; b++) {
            const struct palette_row *y = &palette_rows[b];
            double one[3], other[3];
            if (strcmp(x->group, y->group) != 0)
                continue;
            assert_true(x->colour != NULL || y->colour != NULL);
            if (x->colour == NULL || y->colour == NULL)
                continue;
            pairs++;
            for (unsigned eye = 0; eye < 4; eye++)
                assert_true(far_apart(x->colour, y->colour, eye) > 17.0);
            lab_of(x->colour, 0, one);
            lab_of(y->colour, 0, other);
            assert_true(fabs(one[0] - other[0]) > 6.0);
        }
    }
    assert_true(pairs > 80);
    assert_null(palette_colour("phase", "nothing of the kind"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours),
                                       cmocka_unit_test(test_palette)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
