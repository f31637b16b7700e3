#include "analysis/output/plot/plot_axis.h"

#include <math.h>
#include <stdio.h>

#include "sim/units.h"

enum {
    TICKS_WANTED = 6,
    TICKS_LEAST = 2
};
/* Units that a label may stand in, ascending. */
struct axis_scale {
    double size;
    const char *suffix;
};
static const struct axis_scale plain[] = {{1.0, ""},    {KILO, " k"}, {MEGA, " M"},
                                          {GIGA, " B"}, {TERA, " T"}, {0.0, NULL}};
static const struct axis_scale times[] = {{MICROSECOND, " us"}, {MILLISECOND, " ms"}, {1.0, " s"},
                                          {MINUTE, " min"},     {HOUR, " h"},         {DAY, " d"},
                                          {0.0, NULL}};
static const struct axis_scale shares[] = {{0.01, " %"}, {0.0, NULL}};
static const struct axis_scale bytes[] = {{1.0, " B"},   {KIB, " KiB"},          {MIB, " MiB"},
                                          {GIB, " GiB"}, {1024.0 * GIB, " TiB"}, {0.0, NULL}};
static const struct axis_scale bandwidths[] = {{1.0, " B/s"},   {KILO, " kB/s"}, {MEGA, " MB/s"},
                                               {GIGA, " GB/s"}, {TERA, " TB/s"}, {0.0, NULL}};
static const struct axis_scale flop_rates[] = {
    {MEGA, " MFLOP/s"}, {GIGA, " GFLOP/s"}, {TERA, " TFLOP/s"}, {PETA, " PFLOP/s"}, {0.0, NULL}};
static const struct axis_scale money[] = {
    {1.0, " USD"}, {KILO, " k USD"}, {MEGA, " M USD"}, {GIGA, " B USD"}, {0.0, NULL}};
static const struct axis_scale energies[] = {{1.0, " J"},           {HOUR, " Wh"},
                                             {KILO * HOUR, " kWh"}, {MEGA * HOUR, " MWh"},
                                             {GIGA * HOUR, " GWh"}, {0.0, NULL}};
static const struct axis_scale powers[] = {
    {1.0, " W"}, {KILO, " kW"}, {MEGA, " MW"}, {GIGA, " GW"}, {0.0, NULL}};
static const struct axis_scale *const scales[] = {
    [PLOT_PLAIN] = plain, [PLOT_TIME] = times,           [PLOT_SHARE] = shares,
    [PLOT_BYTES] = bytes, [PLOT_BANDWIDTH] = bandwidths, [PLOT_FLOP_RATE] = flop_rates,
    [PLOT_MONEY] = money, [PLOT_ENERGY] = energies,      [PLOT_POWER] = powers};

/* The largest unit that the value reaches, or the smallest there is. */
static const struct axis_scale *scale_of(enum plot_unit unit, double value)
{
    const struct axis_scale *scale = scales[unit];
    while (scale[1].suffix != NULL && fabs(value) >= scale[1].size * (1.0 - 1e-9))
        scale++;
    return scale;
}

static struct text label_of(const struct axis_scale *scale, double in_unit, int decimals)
{
    struct text text;
    double shown = in_unit == 0.0 ? 0.0 : in_unit; /* no -0 */
    snprintf(text.s, sizeof text.s, "%.*f%s", decimals, shown, scale->suffix);
    return text;
}

/* About TICKS_WANTED of them fill the axis. */
static unsigned linear_ticks(const struct plot_axis *axis, struct plot_tick *ticks)
{
    const double rounding = 1e-9;
    const struct axis_scale *scale = scale_of(axis->unit, fmax(fabs(axis->low), fabs(axis->high)));
    double low = axis->low / scale->size, high = axis->high / scale->size;
    double rough = (high - low) / TICKS_WANTED, exponent = floor(log10(rough));
    double power = pow(10.0, exponent);
    double step = rough / power < 1.5 ? power : rough / power < 3.5 ? 2.0 * power : 5.0 * power;
    int decimals = exponent < 0.0 ? (int)-exponent : 0;
    unsigned count = 0;
    double i = ceil(low / step - rounding);
    for (; i * step <= high + step * rounding && count < PLOT_TICK_MAX; i++) {
        ticks[count++] =
            (struct plot_tick){i * step * scale->size, label_of(scale, i * step, decimals)};
    }
    return count;
}

static unsigned add_log_tick(const struct plot_axis *axis, double value, struct plot_tick *ticks,
                             unsigned count)
{
    const double rounding = 1e-9;
    if (value < axis->low * (1.0 - rounding) || value > axis->high * (1.0 + rounding) ||
        count == PLOT_TICK_MAX)
        return count;
    const struct axis_scale *scale = scale_of(axis->unit, value);
    ticks[count].value = value;
    snprintf(ticks[count].label.s, sizeof ticks[count].label.s, "%.10g%s", value / scale->size,
             scale->suffix);
    return count + 1;
}

/* Times of a clock where the axis is time: people read 2 h, not 7.2 ks. */
static const double clock_ticks[] = {
    1e-6,       1e-5,       1e-4,        1e-3,   1e-2,         0.1,           1.0,           2.0,
    5.0,        10.0,       30.0,        MINUTE, 5.0 * MINUTE, 10.0 * MINUTE, 30.0 * MINUTE, HOUR,
    2.0 * HOUR, 4.0 * HOUR, 12.0 * HOUR, DAY,    3.0 * DAY,    10.0 * DAY,    30.0 * DAY,    YEAR};

static unsigned log_ticks(const struct plot_axis *axis, struct plot_tick *ticks)
{
    static const double fine[] = {1.0, 2.0, 5.0};
    unsigned count = 0;
    if (axis->unit == PLOT_TIME) {
        for (size_t i = 0; i < sizeof clock_ticks / sizeof *clock_ticks; i++)
            count = add_log_tick(axis, clock_ticks[i], ticks, count);
        return count;
    }
    unsigned parts = log10(axis->high / axis->low) < 3.0 ? 3 : 1;
    double unit = axis->unit == PLOT_BYTES ? scale_of(PLOT_BYTES, axis->high)->size : 1.0;
    for (double p = floor(log10(axis->low / unit)); p <= log10(axis->high / unit); p++)
        for (unsigned i = 0; i < parts; i++)
            count = add_log_tick(axis, fine[i] * pow(10.0, p) * unit, ticks, count);
    return count;
}

unsigned plot_ticks(const struct plot_axis *axis, struct plot_tick ticks[PLOT_TICK_MAX])
{
    unsigned count = axis->log ? log_ticks(axis, ticks) : 0;
    return count >= TICKS_LEAST ? count : linear_ticks(axis, ticks);
}

struct plot_axis plot_axis_words(const char *label, const char *const *words, size_t count,
                                 bool down)
{
    double last = (double)count - 0.5;
    return (struct plot_axis){.label = label,
                              .low = down ? last : -0.5,
                              .high = down ? -0.5 : last,
                              .words = words,
                              .word_count = count};
}

struct plot_axis plot_axis_around(const char *label, const double *values, size_t count, bool log,
                                  enum plot_unit unit)
{
    const double room = 0.05, alike = 1e-9; /* values no further apart differ by rounding */
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]) && (!log || values[i] > 0.0)) {
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
    }
    if (!isfinite(low))
        low = high = 1.0;
    /* Room around a single value, wide enough for ticks: a step must be above what is left of a
     * number's digits. */
    bool one = high - low <= alike * fmax(fabs(low), fabs(high));
    if (log) {
        double by = one ? 2.0 : fmax(pow(high / low, room), 1.01);
        return (struct plot_axis){
            .label = label, .low = low / by, .high = high * by, .log = true, .unit = unit};
    }
    double by = one ? (high != 0.0 ? 0.1 * fabs(high) : 1.0) : (high - low) * room;
    return (struct plot_axis){.label = label, .low = low - by, .high = high + by, .unit = unit};
}
