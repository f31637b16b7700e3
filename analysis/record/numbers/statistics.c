#include "analysis/record/numbers/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_roots.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

enum {
    TERMS = 3,      /* of a parabola */
    BISECTIONS = 80 /* halve an interval to the last digit of a double */
};

void statistics_sort(double *values, size_t count)
{
    gsl_sort(values, 1, count);
}

/* Not gsl_stats_quantile_from_sorted_data: (1 - d) a + d b of equal a and b differs from them in
 * the last bit. */
double statistics_percentile(const double *values, size_t count, double ratio)
{
    if (count == 0)
        return NAN;
    double place = ratio * (double)(count - 1), below = floor(place);
    size_t low = (size_t)below, high = low + 1 < count ? low + 1 : low;
    return values[low] + (place - below) * (values[high] - values[low]);
}

double statistics_spearman(struct arena *arena, const double *a, const double *b, size_t count)
{
    return count > 1 ? gsl_stats_spearman(a, 1, b, 1, count, ARENA_ARRAY(arena, double, 2 * count))
                     : NAN;
}

double statistics_root(double (*function)(double x, void *context), void *context, double low,
                       double high)
{
    gsl_function f = {function, context};
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_bisection);
    gsl_root_fsolver_set(solver, &f, low, high);
    for (unsigned i = 0; i < BISECTIONS; i++)
        gsl_root_fsolver_iterate(solver);
    double root = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return root;
}

double statistics_t95(double standard_error, size_t degrees_of_freedom)
{
    const double upper = 0.975;
    if (degrees_of_freedom == 0)
        return 0.0;
    return standard_error * gsl_cdf_tdist_Pinv(upper, (double)degrees_of_freedom);
}

/* The interval of the mean. An end of the range that a value lies beyond by more than rounding is
 * none: noisy steps may be faster in the mean than the ideal one. The mean stays inside. */
static void bound(struct summary *out, double least, double most, const struct summary_range *range)
{
    const double rounding = 1e-9;
    out->low95 = out->mean - out->half95;
    out->high95 = out->mean + out->half95;
    if (least >= range->low - rounding)
        out->low95 = fmin(fmax(out->low95, range->low), out->mean);
    if (most <= range->high + rounding)
        out->high95 = fmax(fmin(out->high95, range->high), out->mean);
}

void statistics_summarise(struct arena *arena, const double *values, size_t count,
                          const struct summary_range *range, struct summary *out)
{
    *out = (struct summary){count, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count == 0)
        return;
    struct arena_mark mark = arena_mark(arena);
    double *sorted = ARENA_ARRAY(arena, double, count);
    memcpy(sorted, values, count * sizeof *values);
    statistics_sort(sorted, count);
    out->mean = gsl_stats_mean(sorted, 1, count);
    out->half95 = 0.0;
    if (count > 1)
        out->half95 = statistics_t95(
            gsl_stats_sd_m(sorted, 1, count, out->mean) / sqrt((double)count), count - 1);
    bound(out, sorted[0], sorted[count - 1], range);
    out->p10 = statistics_percentile(sorted, count, 0.1);
    out->p50 = statistics_percentile(sorted, count, 0.5);
    out->p90 = statistics_percentile(sorted, count, 0.9);
    arena_rewind(arena, mark);
}

/* y = a + b z + c z^2 by least squares; returns the sum of the squares that are left over. */
static double fit_parabola(const double *z, const double *y, size_t count, double *coefficients)
{
    double rows[STATISTICS_VERTEX_MAX * TERMS], spread[TERMS * TERMS], left;
    for (size_t i = 0; i < count; i++) {
        rows[TERMS * i] = 1.0;
        rows[TERMS * i + 1] = z[i];
        rows[TERMS * i + 2] = z[i] * z[i];
    }
    gsl_matrix_const_view x = gsl_matrix_const_view_array(rows, count, TERMS);
    gsl_vector_const_view wanted = gsl_vector_const_view_array(y, count);
    gsl_vector_view c = gsl_vector_view_array(coefficients, TERMS);
    gsl_matrix_view covariance = gsl_matrix_view_array(spread, TERMS, TERMS);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(count, TERMS);
    gsl_multifit_linear(&x.matrix, &wanted.vector, &c.vector, &covariance.matrix, &left, work);
    gsl_multifit_linear_free(work);
    return left;
}

/* Centred and scaled, which keeps the equations well conditioned. */
double statistics_vertex(const double *x, const double *y, size_t count, double *misfit)
{
    double z[STATISTICS_VERTEX_MAX], c[TERMS];
    if (count < TERMS || count > STATISTICS_VERTEX_MAX)
        return NAN;
    double centre = gsl_stats_mean(x, 1, count), scale = gsl_stats_sd(x, 1, count);
    for (size_t i = 0; i < count; i++)
        z[i] = (x[i] - centre) / scale;
    const double left = fit_parabola(z, y, count, c);
    if (misfit != NULL)
        *misfit =
            sqrt(left / (double)count) / (gsl_stats_max(y, 1, count) - gsl_stats_min(y, 1, count));
    return c[2] > 0.0 ? centre - scale * c[1] / (2.0 * c[2]) : NAN;
}
