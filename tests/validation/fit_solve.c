#include "fit_solve.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <string.h>

#include "sim/check.h"

const double fit_row_spread = 0.06;
static const double cauchy = 2.385; /* in spreads; 95 % as efficient as least squares on normals */
static const double tolerance = 1e-6;
static const double near_enough = 2e-3; /* of every logarithm: a tenth of any standard error */
enum {
    ITERATIONS = 100, /* around a point, where they cost nothing */
    ROUNDS = 10       /* of simulating */
};

struct fit_problem {
    const struct fit_rows *rows;
    const bool *chosen;
    const struct fit_linear *linear;
    size_t used[FIT_PARAMETER_MAX], used_count; /* free parameters */
    double *residual;                           /* of all rows, unweighted */
    double base[FIT_PARAMETER_MAX];             /* of parameters that are not free */
};

static bool takes(const struct fit_problem *p, size_t row)
{
    return p->chosen == NULL || p->chosen[row];
}

static size_t row_count(const struct fit_problem *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->rows->count; i++)
        count += takes(p, i);
    return count;
}

static void spell(const struct fit_problem *p, const gsl_vector *x, double *out)
{
    memcpy(out, p->base, sizeof p->base);
    for (size_t i = 0; i < p->used_count; i++)
        out[p->used[i]] = gsl_vector_get(x, i);
}

static void residuals(const struct fit_problem *p, const double *x)
{
    const struct fit_linear *l = p->linear;
    for (size_t i = 0; i < p->rows->count; i++) {
        p->residual[i] = l->residual[i];
        for (size_t k = 0; k < fit_parameter_count; k++)
            p->residual[i] += l->jacobian[i * FIT_PARAMETER_MAX + k] * (x[k] - l->x0[k]);
    }
}

/* The square of this is Cauchy's loss; near zero it is u itself. */
static double robust(double u)
{
    return copysign(cauchy * sqrt(log1p(pow(u / cauchy, 2))), u);
}

static double robust_slope(double u)
{
    return fabs(u) < 1e-6 ? 1.0 : u / (1.0 + pow(u / cauchy, 2)) / robust(u);
}

static double prior(const struct fit_problem *p, size_t k)
{
    return log(fit_parameters[k].prior / p->rows->catalogue[k]);
}

static int cost(const gsl_vector *x, void *context, gsl_vector *out)
{
    struct fit_problem *p = context;
    double all[FIT_PARAMETER_MAX];
    size_t at = 0;
    spell(p, x, all);
    residuals(p, all);
    for (size_t i = 0; i < p->rows->count; i++) {
        if (takes(p, i))
            gsl_vector_set(out, at++,
                           sqrt(p->rows->rows[i].weight) * robust(p->residual[i] / fit_row_spread));
    }
    for (size_t i = 0; i < p->used_count; i++) {
        size_t k = p->used[i];
        gsl_vector_set(out, at++, (all[k] - prior(p, k)) / fit_parameters[k].prior_error);
    }
    return GSL_SUCCESS;
}

static int slopes(const gsl_vector *x, void *context, gsl_matrix *out)
{
    struct fit_problem *p = context;
    double all[FIT_PARAMETER_MAX];
    const double *jacobian = p->linear->jacobian;
    size_t at = 0;
    spell(p, x, all);
    residuals(p, all);
    gsl_matrix_set_zero(out);
    for (size_t i = 0; i < p->rows->count; i++) {
        if (!takes(p, i))
            continue;
        double factor = sqrt(p->rows->rows[i].weight) *
                        robust_slope(p->residual[i] / fit_row_spread) / fit_row_spread;
        for (size_t k = 0; k < p->used_count; k++)
            gsl_matrix_set(out, at, k, factor * jacobian[i * FIT_PARAMETER_MAX + p->used[k]]);
        at++;
    }
    for (size_t k = 0; k < p->used_count; k++)
        gsl_matrix_set(out, at + k, k, 1.0 / fit_parameters[p->used[k]].prior_error);
    return GSL_SUCCESS;
}

static void keep(const struct fit_problem *p, gsl_multifit_nlinear_workspace *w,
                 struct fit_solution *out)
{
    gsl_matrix *covariance = gsl_matrix_alloc(p->used_count, p->used_count);
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0.0, covariance);
    spell(p, w->x, out->x);
    for (size_t i = 0; i < p->used_count; i++) {
        double error = sqrt(gsl_matrix_get(covariance, i, i));
        out->error[p->used[i]] = error;
        out->free[p->used[i]] = true;
        for (size_t k = 0; k < p->used_count; k++)
            out->correlation[p->used[i]][p->used[k]] =
                gsl_matrix_get(covariance, i, k) / error / sqrt(gsl_matrix_get(covariance, k, k));
    }
    gsl_matrix_free(covariance);
}

static double squares(const gsl_multifit_nlinear_workspace *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < w->f->size; i++)
        sum += pow(gsl_vector_get(w->f, i), 2);
    return sum;
}

static void drive(struct fit_problem *p, const double *start, struct fit_solution *out)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    size_t count = row_count(p) + p->used_count;
    gsl_multifit_nlinear_fdf fdf = {
        .f = cost, .df = slopes, .n = count, .p = p->used_count, .params = p};
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, count, p->used_count);
    gsl_vector *x = gsl_vector_alloc(p->used_count);
    for (size_t i = 0; i < p->used_count; i++)
        gsl_vector_set(x, i, start[p->used[i]]);
    gsl_multifit_nlinear_winit(x, NULL, &fdf, w);
    out->start_cost = squares(w);
    int info = 0;
    int status = gsl_multifit_nlinear_driver(ITERATIONS, tolerance, tolerance, tolerance, NULL,
                                             NULL, &info, w);
    out->converged = status == GSL_SUCCESS;
    out->iterations = gsl_multifit_nlinear_niter(w);
    out->cost = squares(w);
    keep(p, w, out);
    gsl_vector_free(x);
    gsl_multifit_nlinear_free(w);
}

/* Around a point, by slopes alone. */
static void solve_near(const struct fit_rows *rows, const bool *chosen,
                       const struct fit_linear *linear, const double *start,
                       struct fit_solution *out)
{
    struct arena *arena = arena_create();
    struct fit_problem p = {.rows = rows, .chosen = chosen, .linear = linear};
    p.residual = ARENA_ARRAY(arena, double, rows->count + 1);
    *out = (struct fit_solution){.converged = false};
    for (size_t k = 0; k < fit_parameter_count; k++) {
        p.base[k] = start[k];
        if (rows->catalogue[k] > 0.0 && rows->row_count[k] > 0 && !rows->fixed[k])
            p.used[p.used_count++] = k;
    }
    memcpy(out->x, start, sizeof out->x);
    out->converged = p.used_count == 0;
    if (p.used_count > 0)
        drive(&p, start, out);
    arena_destroy(arena);
}

static double farthest(const double *a, const double *b)
{
    double most = 0.0;
    for (size_t k = 0; k < fit_parameter_count; k++)
        most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

/* Gauss and Newton: simulate, solve with the slopes, go there; half the way back while that is
 * worse. The cost at a point is start_cost of the problem around it. */
static void solve_simulated(const struct fit_rows *rows, const double *start,
                            struct fit_solution *out)
{
    struct arena *arena = arena_create();
    double *residual = ARENA_ARRAY(arena, double, rows->count + 1);
    double *jacobian = ARENA_ARRAY(arena, double, (rows->count + 1) * FIT_PARAMETER_MAX);
    double x[FIT_PARAMETER_MAX], good[FIT_PARAMETER_MAX], first = 0.0, least = INFINITY;
    struct fit_linear linear = {x, residual, jacobian};
    memcpy(x, start, sizeof x);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct fit_solution near;
        fit_rows_residuals(rows, x, NULL, residual);
        fit_rows_jacobian(rows, x, jacobian);
        solve_near(rows, NULL, &linear, x, &near);
        first = round == 0 ? near.start_cost : first;
        bool worse = near.start_cost > least * (1.0 + tolerance);
        double way = worse ? farthest(x, good) : farthest(x, near.x);
        if (!worse) {
            least = near.start_cost;
            memcpy(good, x, sizeof good);
            *out = near;
        }
        for (size_t k = 0; k < fit_parameter_count; k++)
            x[k] = worse ? 0.5 * (x[k] + good[k]) : near.x[k];
        out->iterations = round + 1;
        out->converged = way < near_enough;
        if (out->converged)
            break;
    }
    memcpy(out->x, good, sizeof out->x);
    out->start_cost = first;
    out->cost = least;
    arena_destroy(arena);
}

void fit_solve(const struct fit_rows *rows, const bool *chosen, const struct fit_linear *linear,
               const double *start, struct fit_solution *out)
{
    CHECK(linear != NULL || chosen == NULL);
    if (linear != NULL)
        solve_near(rows, chosen, linear, start, out);
    else
        solve_simulated(rows, start, out);
}
