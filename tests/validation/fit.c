/* Fits the constants of training steps on steps.csv, through the simulator itself, and tells how
 * well they hold on rows that they have not seen.
 *
 * usage: fit FILE.csv [--cross model|gpus|source] [--source NAME] [--threads N] [--rows N] [--csv]
 *   --cross  which rows are left out together (all three kinds)
 *   --source only rows of this source
 *   --rows   at most N clean rows of each source, evenly over the file (all)
 *   --csv    the constants as name,catalogue,prior,prior_error,fitted,error,rows
 *
 * Every source counts the same. A fold is solved by one linear step around the fit (its constants
 * are near), the rows that it leaves out are simulated with its own constants. Exit code 1 when the
 * median error of rows left out by model or by number of GPUs is over 3 points above the fit's, or
 * when the fit does not converge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result/statistics.h"
#include "fit_solve.h"
#include "sim/pool.h"

static const double gate = 0.03;
static const char *const cross_names[] = {"model", "gpus", "source"};
enum {
    CROSS_SOURCE = 2,
    CROSS_COUNT = 3
};
struct request {
    const char *path, *cross, *source;
    unsigned threads;
    size_t most;
    bool csv;
};

static bool read_count(const char *text, unsigned long *out)
{
    char *end;
    *out = strtoul(text, &end, 10);
    return end != text && *end == '\0';
}

static bool read_request(int argc, char **argv, struct request *out)
{
    *out = (struct request){.threads = pool_threads_available()};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        unsigned long number = 0;
        if (strcmp(argv[i], "--csv") == 0) {
            out->csv = true;
        } else if (strcmp(argv[i], "--cross") == 0 && has_value) {
            out->cross = argv[++i];
        } else if (strcmp(argv[i], "--source") == 0 && has_value) {
            out->source = argv[++i];
        } else if (strcmp(argv[i], "--threads") == 0 && has_value) {
            if (!read_count(argv[++i], &number) || number == 0)
                return false;
            out->threads = (unsigned)number;
        } else if (strcmp(argv[i], "--rows") == 0 && has_value) {
            if (!read_count(argv[++i], &number))
                return false;
            out->most = number;
        } else if (out->path == NULL && argv[i][0] != '-') {
            out->path = argv[i];
        } else {
            return false;
        }
    }
    bool known = out->cross == NULL;
    for (int i = 0; i < CROSS_COUNT; i++)
        known |= out->cross != NULL && strcmp(out->cross, cross_names[i]) == 0;
    return known && out->path != NULL;
}

static const char *key_of(const struct fit_row *row, int cross)
{
    return cross == CROSS_SOURCE ? row->source : cross == 0 ? row->model : row->gpus;
}

/* Median and P90 of |predicted / measured - 1| of a source, NULL: of all. */
struct errors {
    size_t count;
    double median, p90, bias;
};
static struct errors errors_of(const struct fit_rows *rows, const double *residual,
                               const char *source)
{
    struct errors e = {0, NAN, NAN, 0.0};
    double *sizes = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++) {
        if (source != NULL && strcmp(rows->rows[i].source, source) != 0)
            continue;
        double error = expm1(residual[i]);
        e.bias += error;
        sizes[e.count++] = fabs(error);
    }
    statistics_sort(sizes, e.count);
    e.median = statistics_percentile(sizes, e.count, 0.5);
    e.p90 = statistics_percentile(sizes, e.count, 0.9);
    e.bias /= (double)e.count;
    return e;
}

static void print_constants(const struct fit_rows *rows, const struct fit_solution *fit, bool csv)
{
    if (csv)
        puts("name,catalogue,prior,prior_error,fitted,error,rows");
    else
        printf("%-46s %5s %10s %17s %17s\n", "constant", "rows", "catalogue", "prior", "fitted");
    for (size_t k = 0; k < fit_parameter_count; k++) {
        const struct fit_parameter *p = &fit_parameters[k];
        if (!fit->free[k])
            continue;
        double fitted = rows->catalogue[k] * exp(fit->x[k]);
        if (csv)
            printf("\"%s\",%.6g,%.6g,%.4g,%.6g,%.4g,%u\n", p->name, rows->catalogue[k], p->prior,
                   p->prior_error, fitted, fit->error[k], rows->row_count[k]);
        else
            printf("%-46s %5u %10.4g %10.4g +- %2.0f %% %9.4g +- %.1f %%\n", p->name,
                   rows->row_count[k], rows->catalogue[k], p->prior, 100.0 * p->prior_error, fitted,
                   100.0 * fit->error[k]);
    }
}

static void print_correlations(const struct fit_solution *fit)
{
    puts("\ncorrelations (of .3 and more)");
    for (size_t i = 0; i < fit_parameter_count; i++) {
        for (size_t k = i + 1; k < fit_parameter_count; k++) {
            if (fabs(fit->correlation[i][k]) >= 0.3)
                printf("  %+.2f  %s; %s\n", fit->correlation[i][k], fit_parameters[i].name,
                       fit_parameters[k].name);
        }
    }
}

static bool first_of(const struct fit_rows *rows, size_t row, int cross)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(key_of(&rows->rows[i], cross), key_of(&rows->rows[row], cross)) == 0)
            return false;
    return true;
}

/* Residuals of every row with the constants of the fold that leaves it out; returns the folds. */
static size_t leave_out(const struct fit_rows *rows, const struct fit_linear *linear, int cross,
                        double *out)
{
    size_t folds = 0;
    bool *kept = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    bool *left = ARENA_ARRAY(rows->arena, bool, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++) {
        struct fit_solution fold;
        if (!first_of(rows, i, cross))
            continue;
        for (size_t k = 0; k < rows->count; k++) {
            left[k] = strcmp(key_of(&rows->rows[k], cross), key_of(&rows->rows[i], cross)) == 0;
            kept[k] = !left[k];
        }
        fit_solve(rows, kept, linear, linear->x0, &fold);
        fit_rows_residuals(rows, fold.x, left, out);
        folds++;
    }
    return folds;
}

static double mean_of_medians(const struct fit_rows *rows, const double *residual)
{
    double sum = 0.0;
    for (size_t i = 0; i < rows->count; i++)
        if (first_of(rows, i, CROSS_SOURCE))
            sum += errors_of(rows, residual, rows->rows[i].source).median;
    return sum / (double)rows->source_count;
}

static void print_line(const char *source, const struct errors *e)
{
    printf("  %-20s %4zu rows: median %5.1f %%, P90 %5.1f %%, bias %+5.1f %%\n", source, e->count,
           100.0 * e->median, 100.0 * e->p90, 100.0 * e->bias);
}

static void print_errors(const struct fit_rows *rows, const double *residual, const char *title)
{
    printf("\n%s\n", title);
    for (size_t i = 0; i < rows->count; i++) {
        if (!first_of(rows, i, CROSS_SOURCE))
            continue;
        struct errors e = errors_of(rows, residual, rows->rows[i].source);
        print_line(rows->rows[i].source, &e);
    }
    struct errors all = errors_of(rows, residual, NULL);
    print_line("all", &all);
    printf("  %-20s             median %5.1f %%\n", "mean of sources",
           100.0 * mean_of_medians(rows, residual));
}

struct outcome {
    const struct fit_rows *rows;
    struct fit_solution fit;
    double *fitted;
    struct fit_linear linear;
};

/* 1 when this kind of leaving out breaks the gate. */
static int check_cross(const struct outcome *o, int cross)
{
    char title[128];
    double *held = ARENA_ARRAY(o->rows->arena, double, o->rows->count + 1);
    size_t folds = leave_out(o->rows, &o->linear, cross, held);
    snprintf(title, sizeof title, "left out by %s (%zu folds)", cross_names[cross], folds);
    print_errors(o->rows, held, title);
    double all = errors_of(o->rows, held, NULL).median - errors_of(o->rows, o->fitted, NULL).median;
    double mean = mean_of_medians(o->rows, held) - mean_of_medians(o->rows, o->fitted);
    bool holds = all <= gate && mean <= gate;
    printf("  above the fit: %+.1f points of all rows, %+.1f of the mean of sources%s\n",
           100.0 * all, 100.0 * mean,
           cross == CROSS_SOURCE ? ""
           : holds               ? "; within 3"
                                 : "; NOT within 3");
    return cross != CROSS_SOURCE && !holds;
}

static void solve(struct outcome *o)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    struct arena *arena = o->rows->arena;
    double *jacobian = ARENA_ARRAY(arena, double, (o->rows->count + 1) * FIT_PARAMETER_MAX);
    o->fitted = ARENA_ARRAY(arena, double, o->rows->count + 1);
    fit_solve(o->rows, NULL, NULL, catalogue, &o->fit);
    fit_rows_residuals(o->rows, o->fit.x, NULL, o->fitted);
    fit_rows_jacobian(o->rows, o->fit.x, jacobian);
    o->linear = (struct fit_linear){o->fit.x, o->fitted, jacobian};
}

static int report(const struct request *request, struct outcome *o)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    double *before = ARENA_ARRAY(o->rows->arena, double, o->rows->count + 1);
    int broken = !o->fit.converged || o->fit.cost > o->fit.start_cost;
    print_constants(o->rows, &o->fit, request->csv);
    if (request->csv)
        return broken;
    printf("\n%s after %zu iterations: cost %.1f, %.1f with the catalogue\n",
           o->fit.converged ? "converged" : "NOT converged", o->fit.iterations, o->fit.cost,
           o->fit.start_cost);
    print_correlations(&o->fit);
    fit_rows_residuals(o->rows, catalogue, NULL, before);
    print_errors(o->rows, before, "with the catalogue");
    print_errors(o->rows, o->fitted, "fitted");
    for (int cross = 0; cross < CROSS_COUNT; cross++) {
        if (request->cross == NULL || strcmp(request->cross, cross_names[cross]) == 0)
            broken |= check_cross(o, cross);
        fflush(stdout);
    }
    return broken;
}

int main(int argc, char **argv)
{
    struct request request;
    struct fit_rows rows;
    if (!read_request(argc, argv, &request)) {
        fputs("usage: fit FILE.csv [--cross model|gpus|source] [--source NAME] [--threads N] "
              "[--rows N] [--csv]\n",
              stderr);
        return 2;
    }
    if (!fit_rows_read(&rows, request.path, request.source, request.most, request.threads))
        return 2;
    struct outcome outcome = {.rows = &rows};
    solve(&outcome);
    int broken = report(&request, &outcome);
    fit_rows_free(&rows);
    return broken;
}
