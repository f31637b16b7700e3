/* Fits the constants of training steps on steps.csv, through the simulator itself. How well they
 * hold on rows that they have not seen: `generalise`.
 *
 * usage: fit FILE.csv [--source NAME] [--threads N] [--rows N] [--csv]
 *   --source only rows of this source
 *   --rows   at most N clean rows of each source, evenly over the file (all)
 *   --csv    the constants as name,catalogue,prior,prior_error,fitted,error,rows
 *
 * Every source counts the same. Exit code 1 when the fit does not converge or ends above where it
 * began. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"
#include "fit_solve.h"
#include "sim/pool.h"

struct request {
    const char *path, *source;
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
    return out->path != NULL;
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

static double mean_of_medians(const struct fit_rows *rows, const double *residual)
{
    double sum = 0.0;
    for (size_t i = 0; i < rows->count; i++)
        if (fit_rows_first_of_source(rows, i))
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
        if (!fit_rows_first_of_source(rows, i))
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
};

static void solve(struct outcome *o)
{
    static const double catalogue[FIT_PARAMETER_MAX];
    o->fitted = ARENA_ARRAY(o->rows->arena, double, o->rows->count + 1);
    fit_solve(o->rows, NULL, NULL, catalogue, &o->fit);
    fit_rows_residuals(o->rows, o->fit.x, NULL, o->fitted);
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
    return broken;
}

int main(int argc, char **argv)
{
    struct request request;
    struct fit_rows rows;
    if (!read_request(argc, argv, &request)) {
        fputs("usage: fit FILE.csv [--source NAME] [--threads N] [--rows N] [--csv]\n", stderr);
        return 2;
    }
    if (!fit_rows_read(&rows, request.path, request.source, request.most, request.threads, false))
        return 2;
    struct outcome outcome = {.rows = &rows};
    solve(&outcome);
    int broken = report(&request, &outcome);
    fit_rows_free(&rows);
    return broken;
}
