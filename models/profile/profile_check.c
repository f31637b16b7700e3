#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/profile/profile.h"

#define SPREAD_MOST 0.03
#define OUTLIERS_MOST 0.35
/* Libraries choose among tiles by a guess: a larger product may by chance be done by the better
 * one. More than this is no such luck. */
#define CHOICE_RATIO 0.05
/* Sizes that are no multiple of it run slower than larger ones that are. */
#define ALIGNED 64.0
/* Twice the reach of profile_time.h on either side. */
#define GAP_MOST 16.0

struct profile_remarks {
    struct profile_remark *out;
    unsigned count;
};

__attribute__((format(printf, 3, 4))) static void
remark(struct profile_remarks *r, const struct measured_point *point, const char *format, ...)
{
    va_list arguments;
    if (r->count < PROFILE_REMARKS_MAX) {
        struct profile_remark *row = &r->out[r->count];
        row->point = point;
        va_start(arguments, format);
        vsnprintf(row->text, sizeof row->text, format, arguments);
        va_end(arguments);
    }
    r->count++;
}

static void check_one(struct profile_remarks *r, const struct measured_point *p)
{
    const struct measurement *m = &p->measurement;
    if (m->spread_ratio > SPREAD_MOST)
        remark(r, p, "spread of %.1f %%, at most %.0f %%", 100.0 * m->spread_ratio,
               100.0 * SPREAD_MOST);
    if (m->outliers > OUTLIERS_MOST * (m->samples + m->outliers))
        remark(r, p, "%u of %u samples are outliers: it has two speeds", m->outliers,
               m->samples + m->outliers);
    if (m->slowing & DEVICE_TOO_HOT)
        remark(r, p, "the card was too hot");
    if (m->slowing & DEVICE_HARDWARE_SLOW)
        remark(r, p, "the hardware slowed the card down");
}

/* Axes on which more is more work and which runs through values without steps. */
static bool is_extent(const struct calibrate_point *p, unsigned axis)
{
    return !(p->kind == POINT_ATTENTION && axis >= 4) &&
           !(p->kind == POINT_COLLECTIVE && axis != 1);
}

static bool is_aligned(const struct calibrate_point *p)
{
    for (unsigned i = 0; i < point_axes(p->kind); i++)
        if (p->size[i] > ALIGNED && fmod(p->size[i], ALIGNED) != 0.0)
            return false;
    return true;
}

/* Is b, of the same family, the same and more? */
static bool is_more(const struct calibrate_point *a, const struct calibrate_point *b)
{
    if (!point_alike(a, b) || !is_aligned(a) || !is_aligned(b))
        return false;
    for (unsigned i = 0; i < point_axes(a->kind); i++)
        if (b->size[i] < a->size[i] || (!is_extent(a, i) && b->size[i] != a->size[i]))
            return false;
    return !point_same(a, b);
}

static void check_order(struct profile_remarks *r, const struct measured_profile *profile)
{
    for (unsigned i = 0; i < profile->count; i++) {
        const struct measured_point *a = &profile->points[i];
        for (unsigned k = 0; k < profile->count; k++) {
            const struct measured_point *b = &profile->points[k];
            double least = a->measurement.median_s * (1.0 - a->measurement.spread_ratio);
            double most = b->measurement.median_s * (1.0 + b->measurement.spread_ratio);
            char line[POINT_LINE_BYTES];
            if (most * (1.0 + CHOICE_RATIO) >= least || !is_more(&a->point, &b->point))
                continue;
            point_print(&b->point, line);
            remark(r, a, "takes %.3g s; %.80s, which is more, %.3g s", a->measurement.median_s,
                   line, b->measurement.median_s);
        }
    }
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between which sizes of a family on one axis does nothing stand? */
static void check_gaps(struct profile_remarks *r, const struct measured_profile *profile,
                       unsigned first, unsigned axis, double *sizes)
{
    const struct calibrate_point *family = &profile->points[first].point;
    unsigned count = 0;
    for (unsigned i = 0; i < profile->count; i++)
        if (point_alike(family, &profile->points[i].point))
            sizes[count++] = profile->points[i].point.size[axis];
    qsort(sizes, count, sizeof *sizes, rising);
    for (unsigned i = 1; i < count; i++)
        if (sizes[i] > GAP_MOST * sizes[i - 1])
            remark(r, &profile->points[first], "a hole: no %s between %g and %g",
                   point_kinds[family->kind].axes[axis], sizes[i - 1], sizes[i]);
}

static bool is_first_of_family(const struct measured_profile *profile, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (point_alike(&profile->points[i].point, &profile->points[index].point))
            return false;
    return true;
}

unsigned profile_check(struct arena *arena, const struct measured_profile *profile,
                       struct profile_remark *out)
{
    struct profile_remarks r = {out, 0};
    double *sizes = ARENA_ARRAY(arena, double, profile->count);
    for (unsigned i = 0; i < profile->count; i++)
        check_one(&r, &profile->points[i]);
    check_order(&r, profile);
    for (unsigned i = 0; i < profile->count; i++) {
        const struct calibrate_point *p = &profile->points[i].point;
        if (!is_first_of_family(profile, i))
            continue;
        for (unsigned axis = 0; axis < point_axes(p->kind); axis++)
            if (is_extent(p, axis))
                check_gaps(&r, profile, i, axis, sizes);
    }
    return r.count;
}
