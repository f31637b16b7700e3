#include "analysis/result/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, ascending);
}

double statistics_percentile(const double *values, size_t count, double ratio)
{
    if (count == 0)
        return NAN;
    double place = ratio * (double)(count - 1), below = floor(place);
    size_t low = (size_t)below, high = low + 1 < count ? low + 1 : low;
    return values[low] + (place - below) * (values[high] - values[low]);
}

/* Mean rank of value i among all, from 1. */
static double rank_of(const double *values, size_t count, size_t i)
{
    double below = 0.0, equal = 0.0;
    for (size_t j = 0; j < count; j++) {
        below += values[j] < values[i];
        equal += values[j] == values[i];
    }
    return below + (equal + 1.0) / 2.0;
}

double statistics_spearman(struct arena *arena, const double *a, const double *b, size_t count)
{
    double *x = ARENA_ARRAY(arena, double, 2 * count + 1), *y = x + count;
    double mean = ((double)count + 1.0) / 2.0, xy = 0.0, xx = 0.0, yy = 0.0;
    for (size_t i = 0; i < count; i++) {
        x[i] = rank_of(a, count, i) - mean;
        y[i] = rank_of(b, count, i) - mean;
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : NAN;
}

double statistics_t95(double standard_error, size_t degrees_of_freedom)
{
    const double upper = 0.975;
    if (degrees_of_freedom == 0)
        return 0.0;
    return standard_error * gsl_cdf_tdist_Pinv(upper, (double)degrees_of_freedom);
}

void statistics_summarise(struct arena *arena, const double *values, size_t count,
                          struct summary *out)
{
    *out = (struct summary){count, NAN, NAN, NAN, NAN, NAN, NAN};
    if (count == 0)
        return;
    struct arena_mark mark = arena_mark(arena);
    double *sorted = ARENA_ARRAY(arena, double, count), half = 0.0;
    memcpy(sorted, values, count * sizeof *values);
    statistics_sort(sorted, count);
    out->mean = gsl_stats_mean(sorted, 1, count);
    if (count > 1)
        half = statistics_t95(gsl_stats_sd_m(sorted, 1, count, out->mean) / sqrt((double)count),
                              count - 1);
    out->low95 = out->mean - half;
    out->high95 = out->mean + half;
    out->p10 = statistics_percentile(sorted, count, 0.1);
    out->p50 = statistics_percentile(sorted, count, 0.5);
    out->p90 = statistics_percentile(sorted, count, 0.9);
    arena_rewind(arena, mark);
}

enum {
    TERMS = 3
};

/* Normal equations of y = a + b z + c z^2, solved by Householder reflections. */
static void fit_parabola(const double *z, const double *y, size_t count, double *coefficients)
{
    double matrix[TERMS * TERMS] = {0.0}, right[TERMS] = {0.0};
    for (size_t i = 0; i < count; i++) {
        double powers[TERMS] = {1.0, z[i], z[i] * z[i]};
        for (unsigned r = 0; r < TERMS; r++) {
            right[r] += powers[r] * y[i];
            for (unsigned c = 0; c < TERMS; c++)
                matrix[r * TERMS + c] += powers[r] * powers[c];
        }
    }
    gsl_matrix_view a = gsl_matrix_view_array(matrix, TERMS, TERMS);
    gsl_vector_view b = gsl_vector_view_array(right, TERMS);
    gsl_vector_view s = gsl_vector_view_array(coefficients, TERMS);
    gsl_linalg_HH_solve(&a.matrix, &b.vector, &s.vector);
}

static double misfit_of(const double *z, const double *y, size_t count, const double *c)
{
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        double left = y[i] - (c[0] + z[i] * (c[1] + z[i] * c[2]));
        squares += left * left / (double)count;
    }
    return sqrt(squares) / (gsl_stats_max(y, 1, count) - gsl_stats_min(y, 1, count));
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
    fit_parabola(z, y, count, c);
    if (misfit != NULL)
        *misfit = misfit_of(z, y, count, c);
    return c[2] > 0.0 ? centre - scale * c[1] / (2.0 * c[2]) : NAN;
}
