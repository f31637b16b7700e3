#include "analysis/command/exchange/profile_tell.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/output/text/format.h"
#include "analysis/record/numbers/statistics.h"
#include "models/profile/profile_time.h"
#include "scenarios/language/names.h"
#include "sim/plural.h"
#include "sim/units.h"

static const char head_lines[] =
    "{bold}{.path}{plain}\n"
    "  card         {device}{if gpu} ({gpu}){end}\n"
    "  measured     {date}, {method}\n"
    "  software     driver {driver}, runtime {runtime}; {libraries}\n"
    "{if .power_cap_w > 0}"
    "  limits       {.power_cap_w:.0f} W, {.clock_mhz:.0f} MHz at most\n"
    "{end}"
    "  points       {points.count:digits}{if not complete}, not finished{end}\n";

static const char point_lines[] = "\n     median  spread           rate  shape\n"
                                  "{each points}"
                                  "  {median_s>9} {spread_ratio>7} {.rate>14}  {shape}\n"
                                  "{end}";
const char *const profile_tell_lines[] = {head_lines, point_lines, NULL};

static const char remark_lines[] = "{each remarks}{shape}\n  {text}\n{end}"
                                   "{if not complete}the calibration was not finished\n{end}"
                                   "{.path}: {points.count:digits} point{if not points.count = "
                                   "1}s{end}, {.remark_count:digits} remark"
                                   "{if not .remark_count = 1}s{end}\n";
const char *const profile_tell_remark_lines[] = {remark_lines, NULL};

/* FLOPs, or bytes, a second. */
static const char *rate_of(struct arena *arena, const struct measured_point *p)
{
    const double flops = point_flops(&p->point), bytes = point_bytes(&p->point);
    const double seconds = p->measurement.median_s;
    return flops > 0.0   ? arena_format(arena, "%.40s/s", format_flops(flops / seconds).s)
           : bytes > 0.0 ? arena_text(arena, format_rate(bytes / seconds).s)
                         : "";
}

static const char *shape_of(struct arena *arena, const struct calibrate_point *point)
{
    char line[POINT_LINE_BYTES];
    point_print(point, line);
    return arena_text(arena, line);
}

static void set_point(struct fact *o, const struct measured_point *p)
{
    const struct measurement *m = &p->measurement;
    document_word(o, "shape", shape_of(o->arena, &p->point));
    document_real(o, "median_s", IN_SECONDS, m->median_s);
    document_real(o, "spread_ratio", IN_RATIO, m->spread_ratio);
    document_word(o, ".rate", rate_of(o->arena, p));
    document_count(o, "samples", m->samples);
    document_count(o, "outliers", m->outliers);
    document_flag(o, "settled", m->settled);
    document_real(o, "clock_hz", IN_QUANTITY, m->clock_hz > 0.0 ? m->clock_hz : (double)NAN);
    document_real(o, "power_w", IN_QUANTITY, m->power_w > 0.0 ? m->power_w : (double)NAN);
    document_flag(o, "power_cap", (m->slowing & DEVICE_POWER_CAP) != 0);
    document_flag(o, "too_hot", (m->slowing & DEVICE_TOO_HOT) != 0);
    document_flag(o, "hardware_slow", (m->slowing & DEVICE_HARDWARE_SLOW) != 0);
}

/* Lines of shapes, numbers in them by their value: m=512 before m=4096. */
static int by_numbers(const void *a, const void *b)
{
    char left[POINT_LINE_BYTES], right[POINT_LINE_BYTES];
    point_print(&(*(const struct measured_point *const *)a)->point, left);
    point_print(&(*(const struct measured_point *const *)b)->point, right);
    return names_compare_numbered(left, right);
}

struct fact *profile_tell(struct arena *arena, const struct measured_profile *profile)
{
    const struct profile_head *h = &profile->head;
    struct fact *o = document_begin(arena, "orrery.profile/1", NULL);
    document_quote(o, ".path", profile->path);
    document_real(o, ".power_cap_w", IN_QUANTITY, h->facts.power_cap_w);
    document_real(o, ".clock_mhz", IN_QUANTITY, h->facts.clock_max_hz / MEGA);
    document_quote(o, "device", h->facts.device);
    document_quote(o, "gpu", *h->gpu ? h->gpu : NULL);
    document_quote(o, "driver", h->facts.driver);
    document_quote(o, "runtime", h->facts.runtime);
    document_quote(o, "libraries", h->facts.libraries);
    document_quote(o, "date", h->date);
    document_quote(o, "method", h->method);
    document_flag(o, "complete", h->complete);
    struct fact *points = document_array(o, "points");
    const struct measured_point **order =
        ARENA_ARRAY(arena, const struct measured_point *, profile->count);
    for (unsigned i = 0; i < profile->count; i++)
        order[i] = &profile->points[i];
    qsort(order, profile->count, sizeof(const struct measured_point *), by_numbers);
    for (unsigned i = 0; i < profile->count; i++)
        set_point(document_object(points, NULL), order[i]);
    return o;
}

void profile_tell_remarks(struct fact *o, const struct profile_remark *remarks, unsigned count)
{
    struct fact *array = document_array(o, "remarks");
    for (unsigned i = 0; i < count && i < PROFILE_REMARKS_MAX; i++) {
        struct fact *one = document_object(array, NULL);
        document_word(one, "shape", shape_of(o->arena, &remarks[i].point->point));
        document_word(one, "text", remarks[i].text);
    }
    document_count(o, ".remark_count", count);
}

/* Both lists stand in the order of their lines, but a walk of all pairs is soon done, too. */
static const struct measured_point *find(const struct measured_profile *p,
                                         const struct calibrate_point *point)
{
    for (unsigned i = 0; i < p->count; i++)
        if (point_same(&p->points[i].point, point))
            return &p->points[i];
    return NULL;
}

void profile_tell_difference(const struct session *s, struct arena *arena,
                             const struct measured_profile *a, const struct measured_profile *b)
{
    double *ratios = ARENA_ARRAY(arena, double, a->count);
    unsigned common = 0;
    document_lines(profile_tell(arena, a), head_lines, s);
    document_lines(profile_tell(arena, b), head_lines, s);
    fprintf(s->out, "\n  %9s %9s %7s  %s\n", "first", "second", "ratio", "shape");
    for (unsigned i = 0; i < a->count; i++) {
        const struct measured_point *one = &a->points[i], *other = find(b, &one->point);
        char line[POINT_LINE_BYTES];
        if (other == NULL)
            continue;
        point_print(&one->point, line);
        ratios[common] = other->measurement.median_s / one->measurement.median_s;
        fprintf(s->out, "  %9s %9s %7.3f  %s\n", format_time(one->measurement.median_s).s,
                format_time(other->measurement.median_s).s, ratios[common], line);
        common++;
    }
    statistics_sort(ratios, common);
    fprintf(s->out, "  %u shape%s in both", common, plural_s(common));
    if (common > 0)
        fprintf(s->out, ": the second takes %.3f of the first's time in the median, %.3f to %.3f",
                ratios[common / 2], ratios[0], ratios[common - 1]);
    fputc('\n', s->out);
}

/* A family and a span of measured times: as long as ten times the span before. */
struct ratio_group {
    const struct calibrate_point *like;
    unsigned span;
};
static const double span_ends_s[] = {10e-6, 100e-6, 1e-3, INFINITY};
static const char *const span_names[] = {"below 10 us", "10 to 100 us", "0.1 to 1 ms",
                                         "above 1 ms"};

static unsigned span_of(double seconds)
{
    unsigned span = 0;
    while (seconds >= span_ends_s[span])
        span++;
    return span;
}

static void print_group(const struct session *s, const struct ratio_group *g, double *ratios,
                        unsigned count)
{
    const struct calibrate_point *p = g->like;
    char name[POINT_LINE_BYTES];
    statistics_sort(ratios, count);
    snprintf(name, sizeof name, "%s %s %s%s%s%s", point_kinds[p->kind].name, p->name, p->type,
             p->causal ? " causal" : "", p->backward ? " backward" : "",
             p->accumulate ? " accumulate" : "");
    fprintf(s->out, "  %-34s %-13s %6u %8.3f %8.3f %8.3f\n", name, span_names[g->span], count,
            statistics_percentile(ratios, count, 0.25), statistics_percentile(ratios, count, 0.5),
            statistics_percentile(ratios, count, 0.75));
}

/* Prints the group of the point `first` and strikes its points off: modelled 0. */
static void tell_group(const struct session *s, const struct measured_profile *profile,
                       unsigned first, double *modelled_s, double *ratios)
{
    const struct measured_point *points = profile->points;
    const struct ratio_group group = {&points[first].point,
                                      span_of(points[first].measurement.median_s)};
    unsigned count = 0;
    for (unsigned i = first; i < profile->count; i++) {
        const double measured_s = points[i].measurement.median_s;
        if (modelled_s[i] <= 0.0 || !point_alike(&points[i].point, group.like) ||
            span_of(measured_s) != group.span)
            continue;
        ratios[count++] = measured_s / modelled_s[i];
        modelled_s[i] = 0.0;
    }
    print_group(s, &group, ratios, count);
}

void profile_tell_model(const struct session *s, struct arena *arena,
                        const struct measured_profile *profile, const struct gpu_spec *gpu)
{
    double *modelled_s = ARENA_ARRAY(arena, double, profile->count);
    double *ratios = ARENA_ARRAY(arena, double, profile->count);
    unsigned without = 0;
    document_lines(profile_tell(arena, profile), head_lines, s);
    fprintf(s->out, "\n  measured over modelled time        that take        points      P25   "
                    "median      P75\n");
    for (unsigned i = 0; i < profile->count; i++) {
        modelled_s[i] = profile_time_modelled_s(gpu, &profile->points[i].point);
        without += modelled_s[i] <= 0.0;
    }
    for (unsigned span = 0; span < sizeof span_ends_s / sizeof span_ends_s[0]; span++)
        for (unsigned i = 0; i < profile->count; i++)
            if (modelled_s[i] > 0.0 && span_of(profile->points[i].measurement.median_s) == span)
                tell_group(s, profile, i, modelled_s, ratios);
    if (without > 0)
        fprintf(s->out, "  %u point%s that the model of a kernel does not know\n", without,
                plural_s(without));
}
