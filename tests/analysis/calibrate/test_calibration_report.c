/* The end of a calibration: each line says its own figures, and stands only where it has one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calibrate/calibration_report.h"
#include "tests/test.h"

static void prints(const struct campaign_report *report, enum campaign_end end, bool of_step,
                   const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    calibration_print(out, "card.db", report, end, of_step);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void test_nothing_to_say(void **state)
{
    prints(&(struct campaign_report){.planned = 9, .measured = 9, .elapsed_s = 12.4},
           CAMPAIGN_COMPLETE, false, "card.db: 9 of 9 points in 12 s\n");
}

static void test_each_line(void **state)
{
    const struct {
        struct campaign_report r;
        enum campaign_end end;
        bool of_step;
        const char *line;
    } cases[] = {
        {{.covered_ratio = .875, .step_spread_ratio = .0125},
         CAMPAIGN_COMPLETE,
         true,
         "  step        87.5 % of its kernels' time is measured, with a spread of 1.25 %\n"},
        {{.unsupported = 3},
         CAMPAIGN_COMPLETE,
         false,
         "  left out    3 that this card or this build has not, 0 that failed\n"},
        {{.failed = 2},
         CAMPAIGN_COMPLETE,
         false,
         "  left out    0 that this card or this build has not, 2 that failed\n"},
        {{.missing = 4},
         CAMPAIGN_STOPPED,
         false,
         "  missing     4: it was interrupted; the same command goes on\n"},
        {{.missing = 4},
         CAMPAIGN_LOST,
         false,
         "  missing     4: the card was lost; the same command goes on\n"},
        {{.missing = 4},
         CAMPAIGN_NOT_KEPT,
         false,
         "  missing     4: the file took no more; the same command goes on\n"},
        {{.missing = 4},
         CAMPAIGN_OUT_OF_TIME,
         false,
         "  missing     4: the minutes are over; the same command goes on\n"},
        {{.unsettled = 5},
         CAMPAIGN_COMPLETE,
         false,
         "  wide        5 points with a spread of more than 1 %\n"},
        {{.slowest_clock_hz = 1.41e9, .fastest_clock_hz = 1.98e9},
         CAMPAIGN_COMPLETE,
         false,
         "  clock       1410 to 1980 MHz\n"},
        {{.power_capped = 6},
         CAMPAIGN_COMPLETE,
         false,
         "  power       6 points ran at the power cap, as in a long job\n"},
        {{.too_hot = 7},
         CAMPAIGN_COMPLETE,
         false,
         "  THROTTLED   7 points with a card that was too hot, 0 slowed by the hardware: "
         "this is not what the card can do\n"},
        {{.hardware_slow = 8},
         CAMPAIGN_COMPLETE,
         false,
         "  THROTTLED   0 points with a card that was too hot, 8 slowed by the hardware: "
         "this is not what the card can do\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[512];
        snprintf(expected, sizeof expected, "card.db: 0 of 0 points in 0 s\n%s", cases[i].line);
        prints(&cases[i].r, cases[i].end, cases[i].of_step, expected);
    }
}

static void test_one_point(void **state)
{
    prints(&(struct campaign_report){.unsettled = 1, .power_capped = 1, .too_hot = 1},
           CAMPAIGN_COMPLETE, false,
           "card.db: 0 of 0 points in 0 s\n"
           "  wide        1 point with a spread of more than 1 %\n"
           "  power       1 point ran at the power cap, as in a long job\n"
           "  THROTTLED   1 point with a card that was too hot, 0 slowed by the hardware: "
           "this is not what the card can do\n");
}

static void test_resumed(void **state)
{
    prints(&(struct campaign_report){.planned = 9, .measured = 8, .resumed = 3, .elapsed_s = 61.0},
           CAMPAIGN_COMPLETE, false, "card.db: 8 of 9 points in 61 s, 3 of them before\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_say),
        cmocka_unit_test(test_each_line),
        cmocka_unit_test(test_one_point),
        cmocka_unit_test(test_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
