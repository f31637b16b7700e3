#include "models/duration/duration_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_vector.h>
#include <math.h>

#include "sim/check.h"

enum {
    STEPS_MAX = 500,
    PARAMETERS = 2 /* logarithms of mean and shape */
};
static const double PRECISION = 1e-7; /* of both logarithms */
static const double FAR = 1e300;      /* no parameters of a law */
static const double STEP = 1e-3;      /* for the curvature */
struct fitting {
    int law;
    const struct duration_sample *samples;
    uint32_t count;
};

static double log_of(double value)
{
    return value > 0.0 ? log(value) : -FAR;
}

static double log_chance(const struct duration *d, const struct duration_sample *s)
{
    switch (s->part) {
    case PART_FIRST:
        return log_of(duration_survival(d, s->s) / d->mean_s);
    case PART_WHOLE:
        return duration_log_density(d, s->s);
    case PART_LAST:
        return log_of(duration_survival(d, s->s));
    case PART_NONE:
        return log_of(duration_residual_survival(d, s->s));
    }
    CHECK(false);
}

static double log_likelihood(const struct fitting *f, const struct duration *d)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < f->count; i++)
        sum += f->samples[i].count * log_chance(d, &f->samples[i]);
    return fmax(sum, -FAR);
}

static struct duration duration_at(int law, double log_mean, double log_shape)
{
    return (struct duration){law, exp(log_mean), duration_has_shape(law) ? exp(log_shape) : 0.0};
}

static double cost(const gsl_vector *at, void *context)
{
    const struct fitting *f = context;
    const struct duration d = duration_at(f->law, gsl_vector_get(at, 0), gsl_vector_get(at, 1));
    const struct duration_shape *range = duration_shape_of(f->law);
    if (!(d.mean_s > 0.0) || !isfinite(d.mean_s) || d.shape < range->least || d.shape > range->most)
        return FAR;
    return -log_likelihood(f, &d);
}

/* Downhill simplex (Nelder and Mead) from the exponential law's mean. */
static void descend(const struct fitting *f, double mean_s, double at[PARAMETERS])
{
    double start[PARAMETERS] = {log(mean_s), 0.0}, steps[PARAMETERS] = {0.5, 0.3};
    gsl_vector_view from = gsl_vector_view_array(start, PARAMETERS);
    gsl_vector_view by = gsl_vector_view_array(steps, PARAMETERS);
    gsl_multimin_function function = {cost, PARAMETERS, (void *)(uintptr_t)f};
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, PARAMETERS);
    CHECK(m != NULL);
    gsl_multimin_fminimizer_set(m, &function, &from.vector, &by.vector);
    for (int i = 0; i < STEPS_MAX; i++)
        if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
            gsl_multimin_fminimizer_size(m) < PRECISION)
            break;
    for (unsigned i = 0; i < PARAMETERS; i++)
        at[i] = gsl_vector_get(m->x, i);
    gsl_multimin_fminimizer_free(m);
}

static double at_offset(const struct fitting *f, const double at[PARAMETERS], double mean,
                        double shape)
{
    double moved[PARAMETERS] = {at[0] + mean * STEP, at[1] + shape * STEP};
    gsl_vector_view view = gsl_vector_view_array(moved, PARAMETERS);
    return cost(&view.vector, (void *)(uintptr_t)f);
}

/* The inverse of the matrix of second derivatives, its diagonal's roots. */
static void find_errors(const struct fitting *f, const double at[PARAMETERS],
                        struct duration_fit *out)
{
    const double middle = at_offset(f, at, 0, 0), square = STEP * STEP;
    const double a = (at_offset(f, at, 1, 0) - 2.0 * middle + at_offset(f, at, -1, 0)) / square;
    const double b = (at_offset(f, at, 0, 1) - 2.0 * middle + at_offset(f, at, 0, -1)) / square;
    const double c = (at_offset(f, at, 1, 1) - at_offset(f, at, 1, -1) - at_offset(f, at, -1, 1) +
                      at_offset(f, at, -1, -1)) /
                     (4.0 * square);
    const double determinant = a * b - c * c;
    const bool curved = a > 0.0 && b > 0.0 && determinant > 0.0 && isfinite(determinant);
    out->mean_error = curved ? sqrt(b / determinant) : INFINITY;
    out->shape_error = curved ? sqrt(a / determinant) : INFINITY;
}

/* Failures, and the time that all units were watched. */
static void count_up(const struct fitting *f, double *failures, double *watched_s)
{
    *failures = *watched_s = 0.0;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct duration_sample *s = &f->samples[i];
        CHECK(s->s > 0.0 && s->count > 0.0);
        *watched_s += s->count * s->s;
        if (s->part == PART_FIRST || s->part == PART_WHOLE)
            *failures += s->count;
    }
    CHECK(*failures > 0.0);
}

void duration_fit(int law, const struct duration_sample *samples, uint32_t count,
                  struct duration_fit *out)
{
    const struct fitting f = {law, samples, count};
    const double k = duration_has_shape(law) ? 2.0 : 1.0;
    double failures, watched_s, at[PARAMETERS] = {0.0};
    CHECK(law != DURATION_FIXED);
    count_up(&f, &failures, &watched_s);
    /* exponential: closed form, with the error of a count */
    *out = (struct duration_fit){.duration = duration_at(law, log(watched_s / failures), 0.0),
                                 .mean_error = 1.0 / sqrt(failures),
                                 .criterion = INFINITY};
    if (failures <= k + 1.0)
        return;
    if (duration_has_shape(law)) {
        descend(&f, watched_s / failures, at);
        out->duration = duration_at(law, at[0], at[1]);
        find_errors(&f, at, out);
    }
    out->log_likelihood = log_likelihood(&f, &out->duration);
    out->criterion =
        2.0 * k - 2.0 * out->log_likelihood + 2.0 * k * (k + 1.0) / (failures - k - 1.0);
}
