#include "analysis/command/exchange/profile_tell.h"

#include <stdlib.h>

#include "analysis/output/text/format.h"

static void tell_head(const struct session *s, const struct measured_profile *p)
{
    const struct profile_head *h = &p->head;
    fprintf(s->out, "%s%s%s\n", session_bold(s), format_shown(p->path).s, session_plain(s));
    fprintf(s->out, "  card         %s%s%s%s\n", format_shown(h->facts.device).s,
            *h->gpu ? " (" : "", *h->gpu ? format_shown(h->gpu).s : "", *h->gpu ? ")" : "");
    fprintf(s->out, "  measured     %s, %s\n", format_shown(h->date).s, format_shown(h->method).s);
    fprintf(s->out, "  software     driver %s, runtime %s; ", format_shown(h->facts.driver).s,
            format_shown(h->facts.runtime).s);
    fprintf(s->out, "%s\n", format_shown(h->facts.libraries).s);
    if (h->facts.power_cap_w > 0.0)
        fprintf(s->out, "  limits       %.0f W, %.0f MHz at most\n", h->facts.power_cap_w,
                h->facts.clock_max_hz / 1e6);
    fprintf(s->out, "  points       %u%s\n", p->count, h->complete ? "" : ", not finished");
}

static struct text rate_of(const struct measured_point *p)
{
    double flops = point_flops(&p->point), seconds = p->measurement.median_s;
    struct text out = {""};
    if (flops > 0.0)
        snprintf(out.s, sizeof out.s, "%.40s/s", format_flops(flops / seconds).s);
    else if (point_bytes(&p->point) > 0.0)
        out = format_rate(point_bytes(&p->point) / seconds);
    return out;
}

void profile_tell(const struct session *s, const struct measured_profile *p)
{
    tell_head(s, p);
    fprintf(s->out, "\n  %9s %7s %14s  %s\n", "median", "spread", "rate", "shape");
    for (unsigned i = 0; i < p->count; i++) {
        const struct measured_point *row = &p->points[i];
        char line[POINT_LINE_BYTES];
        point_print(&row->point, line);
        fprintf(s->out, "  %9s %7s %14s  %s\n", format_time(row->measurement.median_s).s,
                format_percent(row->measurement.spread_ratio).s, rate_of(row).s, line);
    }
}

void profile_tell_remarks(const struct session *s, const struct measured_profile *p,
                          const struct profile_remark *remarks, unsigned count)
{
    for (unsigned i = 0; i < count && i < PROFILE_REMARKS_MAX; i++) {
        char line[POINT_LINE_BYTES];
        point_print(&remarks[i].point->point, line);
        fprintf(s->out, "%s\n  %s\n", line, remarks[i].text);
    }
    if (!p->head.complete)
        fputs("the calibration was not finished\n", s->out);
    fprintf(s->out, "%s: %u points, %u remark%s\n", format_shown(p->path).s, p->count, count,
            count == 1 ? "" : "s");
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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
    tell_head(s, a);
    tell_head(s, b);
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
    qsort(ratios, common, sizeof *ratios, rising);
    fprintf(s->out, "  %u shapes in both", common);
    if (common > 0)
        fprintf(s->out, ": the second takes %.3f of the first's time in the median, %.3f to %.3f",
                ratios[common / 2], ratios[0], ratios[common - 1]);
    fputc('\n', s->out);
}
