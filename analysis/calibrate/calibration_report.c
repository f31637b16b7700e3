#include "analysis/calibrate/calibration_report.h"

#include "sim/check.h"
#include "sim/plural.h"
#include "sim/units.h"

#define PERCENT 100.0

static const char *why_missing(enum campaign_end end)
{
    switch (end) {
    case CAMPAIGN_STOPPED:
        return "it was interrupted";
    case CAMPAIGN_LOST:
        return "the card was lost";
    case CAMPAIGN_NOT_KEPT:
        return "the file took no more";
    case CAMPAIGN_OUT_OF_TIME:
        return "the minutes are over";
    case CAMPAIGN_COMPLETE:
        break;
    }
    UNREACHABLE("something is missing");
}

void calibration_print(FILE *out, const char *file, const struct campaign_report *r,
                       enum campaign_end end, bool of_step)
{
    fprintf(out, "%s: %u of %u points in %.0f s", file, r->measured, r->planned, r->elapsed_s);
    if (r->resumed > 0)
        fprintf(out, ", %u of them before", r->resumed);
    fputc('\n', out);
    if (of_step)
        fprintf(
            out,
            "  step        %.1f %% of its kernels' time is measured, with a spread of %.2f %%\n",
            PERCENT * r->covered_ratio, PERCENT * r->step_spread_ratio);
    if (r->unsupported + r->failed > 0)
        fprintf(out, "  left out    %u that this card or this build has not, %u that failed\n",
                r->unsupported, r->failed);
    if (r->missing > 0)
        fprintf(out, "  missing     %u: %s; the same command goes on\n", r->missing,
                why_missing(end));
    if (r->unsettled > 0)
        fprintf(out, "  wide        %u point%s with a spread of more than %.0f %%\n", r->unsettled,
                plural_s(r->unsettled), PERCENT * campaign_usual.measure.spread_ratio);
    if (r->fastest_clock_hz > 0.0)
        fprintf(out, "  clock       %.0f to %.0f MHz\n", r->slowest_clock_hz / MEGA,
                r->fastest_clock_hz / MEGA);
    if (r->power_capped > 0)
        fprintf(out, "  power       %u point%s ran at the power cap, as in a long job\n",
                r->power_capped, plural_s(r->power_capped));
    if (r->too_hot + r->hardware_slow > 0)
        fprintf(out,
                "  THROTTLED   %u point%s with a card that was too hot, %u slowed by the hardware: "
                "this is not what the card can do\n",
                r->too_hot, plural_s(r->too_hot), r->hardware_slow);
}
