/* Fits the constants of collectives that no document gives, on collectives.csv: robust least
 * squares (Huber's weights) of ln(predicted / measured) over the rows with a size.
 *
 * usage: fit_collectives FILE.csv. It prints each constant with its standard error beside the
 * shipped one, the error of each source, and that of each source when it is left out: what only the
 * machine of that source can show then falls back to what is known without it. The closed form
 * below is checked against collective_tune with the shipped constants, so that it cannot drift. */
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/collective/nccl_facts.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/csv.h"
#include "sim/arena.h"
#include "sim/check.h"

enum collective_constant {
    START,
    LL_RAMP,
    LL_HALF,
    NVLS_BASE,
    NVLS_RATIO,
    NVLS_CHUNK,
    NVLINK_LATENCY,
    NET_LATENCY,
    NET_BULK,
    CONSTANT_COUNT
};
enum site { /* a site and a card */
    MLE_A100,
    MLE_H200,
    MLE_B200,
    AZURE_H100,
    AZURE_H200,
    GCP,
    SOURCE_COUNT,
    NO_SOURCE = SOURCE_COUNT
};
enum {
    ROW_MAX = 256,
    REWEIGHTINGS = 30,
    ITERATIONS = 200
};
static const struct {
    const char *source, *gpu;
} series[] = {
    [MLE_A100] = {"ml_engineering", "a100-80gb-sxm"},
    [MLE_H200] = {"ml_engineering", "h200-141gb-sxm"},
    [MLE_B200] = {"ml_engineering", "b200-180gb-sxm"},
    [AZURE_H100] = {"azure", "h100-80gb-sxm"},
    [AZURE_H200] = {"azure", "h200-141gb-sxm"},
    [GCP] = {"gcp", "h100-80gb-sxm"},
};
static const double hopper_ratio = 0.749; /* nvls_efficiency of the catalogue */
static const double huber_ratio = 0.06;   /* beyond this an error counts linearly */

/* `alone`: the only source that shows the constant; without it `unknown` stands in. */
static const struct constant_row {
    const char *name, *unit;
    double scale, start;
    enum site alone;
    double unknown;
} constants[CONSTANT_COUNT] = {
    {"collective_start", "us", MICROSECOND, 18.0, NO_SOURCE, 0.0},
    {"LL ramp of a step", "us", MICROSECOND, 3.6, NO_SOURCE, 0.0},
    {"LL half piece", "kB", KILO, 25.0, NO_SOURCE, 0.0},
    {"NVLS base, LL in 15.6", "us", MICROSECOND, 30.0, NO_SOURCE, 0.0},
    {"nvls_efficiency, Hopper", "%", 0.01, 75.0, NO_SOURCE, 0.0},
    {"NVLS chunk wait", "us", MICROSECOND, 5.0, NO_SOURCE, 0.0},
    {"nvlink_latency (A100)", "us", MICROSECOND, 1.5, MLE_A100, 0.0},
    {"latency (tcpxo)", "us", MICROSECOND, 40.0, GCP, 0.0},
    {"bulk_latency (tcpxo)", "us", MICROSECOND, 700.0, GCP, 0.0},
};
struct row {
    enum site source;
    struct group_shape shape;
    double bytes, time_s;
};
struct fit {
    struct arena *arena;
    struct row rows[ROW_MAX];
    size_t row_count;
    enum site left_out; /* NO_SOURCE: all rows are used */
    size_t used[ROW_MAX], used_count;
    enum collective_constant free[CONSTANT_COUNT];
    size_t free_count;
    double value[CONSTANT_COUNT]; /* in the unit of its row */
    double error[CONSTANT_COUNT]; /* standard error of a free one */
};

static double share(const struct group_shape *shape, enum protocol protocol)
{
    double simple = shape->inside.bytes_per_s * nccl_ring_nvlink_ratio;
    double ll = shape->inside.bytes_per_s * nccl_ll_ratio;
    return protocol == PROTOCOL_LL ? ll
                                   : simple * (protocol == PROTOCOL_LL128 ? nccl_ll128_ratio : 1);
}

static double fill_s(const struct group_shape *shape, double bytes, double rate)
{
    double fill = nccl_fill_bytes * shape->ranks_per_node;
    return fill * bytes / (bytes + fill) / rate;
}

/* Start of the table of nccl_facts.h on a machine whose LL starts in value[START]. */
static double started_s(const double *value, double table_s)
{
    return table_s * value[START] * MICROSECOND / nccl_base_s[NCCL_RING][PROTOCOL_LL];
}

/* Time of an all-reduce by a ring or a tree; even groups on NVSwitch nodes. */
static double stepped_s(const double *value, const struct group_shape *shape, double bytes,
                        enum nccl_algorithm algorithm, enum protocol protocol)
{
    double n = shape->ranks, k = shape->ranks_per_node, nodes = shape->nodes;
    bool tree = algorithm == NCCL_TREE, across = nodes > 1;
    double outside = across ? 2 * (tree ? ceil(log2(nodes)) : nodes - 1) : 0;
    double inside = tree ? 2 * (k - 1) : 2 * (n - 1) - outside;
    double ring_weight = 2 * (n - 1) / n;
    double rate = share(shape, protocol) / (tree ? 2 : ring_weight);
    if (across) {
        double weight = tree ? (nodes > 2 ? 2 : 1) : ring_weight;
        rate = fmin(rate, nccl_outside_bytes_per_s(shape, protocol) / weight);
    }
    rate *= tree ? nccl_tree_ratio : 1.0;
    double piece = bytes / k, half = value[LL_HALF] * KILO;
    bool ll = protocol == PROTOCOL_LL;
    double time = started_s(value, nccl_base_s[algorithm][protocol]);
    time += inside * (nccl_step_s[NCCL_NVLINK][algorithm][protocol] + shape->inside.latency_s);
    time += outside * nccl_net_step_s(shape, algorithm, protocol);
    time += ll ? inside * value[LL_RAMP] * MICROSECOND * piece / (piece + half) : 0;
    time += !ll ? fill_s(shape, bytes, rate) : 0;
    time += !ll ? outside * shape->transport_bulk_s : 0;
    return time + bytes / rate;
}

/* Chunks of 128 KiB, halved while there are less than 64, 8 and 2 rounds of them. */
static double round_bytes(const struct group_shape *shape, double bytes)
{
    double whole = 128 * KIB * shape->nvls_channels * shape->ranks_per_node;
    double half = bytes < 64 * whole ? whole / 2 : whole;
    double quarter = bytes < 8 * half ? half / 2 : half;
    return bytes < 2 * quarter ? quarter / 2 : quarter;
}

static double switched_s(const double *value, const struct group_shape *shape, double bytes)
{
    double k = shape->ranks_per_node, nodes = shape->nodes, wait = value[NVLS_CHUNK] * MICROSECOND;
    double ratio = value[NVLS_RATIO] * 0.01 * shape->nvls_ratio / hopper_ratio;
    double peak = shape->inside.bytes_per_s * ratio * k / (k + 1);
    double time = started_s(value, value[NVLS_BASE] * MICROSECOND) + shape->inside.latency_s;
    if (nodes == 1) {
        double round = round_bytes(shape, bytes);
        return time + fmin(bytes, round) / peak + bytes * (1 / peak + wait / round);
    }
    double step = nccl_nvls_net_step_s + shape->outside_latency_s + shape->transport_latency_s;
    time += 2 * ceil(log2(nodes)) * (step + shape->transport_bulk_s);
    double rate = 1 / (1 / peak + wait / round_bytes(shape, INFINITY));
    rate = fmin(rate, nccl_outside_bytes_per_s(shape, PROTOCOL_SIMPLE) / (nodes > 2 ? 2 : 1));
    return time + fill_s(shape, bytes, rate) + bytes / rate;
}

/* The best of all algorithms and protocols with these constants. */
static double predict_s(const double *value, const struct row *row)
{
    struct group_shape shape = row->shape;
    if (shape.inside.latency_s > 0) /* of A100 alone */
        shape.inside.latency_s = value[NVLINK_LATENCY] * MICROSECOND;
    if (row->source == GCP) {
        shape.transport_latency_s = value[NET_LATENCY] * MICROSECOND;
        shape.transport_bulk_s = value[NET_BULK] * MICROSECOND;
    }
    double best = shape.nvls ? switched_s(value, &shape, row->bytes) : INFINITY;
    for (int p = 0; p < PROTOCOL_COUNT; p++) {
        for (int a = shape.nodes > 1 ? NCCL_TREE : NCCL_RING; a <= NCCL_RING; a++) {
            best = fmin(best, stepped_s(value, &shape, row->bytes, (enum nccl_algorithm)a,
                                        (enum protocol)p));
        }
    }
    return best;
}

static void read_shape(const char *gpu, const char *fabric, uint32_t gpus, const char *nvls,
                       struct arena *arena, struct group_shape *out)
{
    char text[512];
    snprintf(text, sizeof text,
             "cluster: {gpu: %s, nodes: %u, fabric: %s}\n"
             "model: {layers: 1, hidden: 64, heads: 1, vocabulary: 64}\n"
             "training: {sequence: 64, global_batch: %u, attention: math}\n",
             gpu, gpus / 8, fabric, gpus);
    struct error error = {""};
    struct scenario_options how = {0};
    struct scenario *s = scenario_read("the row", text, strlen(text), &how, &error);
    CHECK(s != NULL && s->diagnostics.error_count == 0);
    if (*nvls != '\0')
        s->configuration.cluster.node.nvlink.nvls = *nvls == '1';
    struct topology topology;
    CHECK(topology_build(arena, &s->configuration.cluster, &topology, &error));
    uint32_t members[ROW_MAX];
    CHECK(gpus <= ROW_MAX);
    for (uint32_t i = 0; i < gpus; i++)
        members[i] = i;
    collective_shape(&topology, members, gpus, true, out);
    scenario_destroy(s);
}

static void read_rows(const struct csv *csv, struct fit *fit)
{
    for (size_t i = 0; i < csv->row_count && fit->row_count < ROW_MAX; i++) {
        struct row row = {.source = NO_SOURCE};
        for (unsigned s = 0; s < SOURCE_COUNT; s++)
            if (strcmp(csv_cell(csv, i, "source"), series[s].source) == 0 &&
                strcmp(csv_cell(csv, i, "gpu"), series[s].gpu) == 0)
                row.source = (enum site)s;
        row.bytes = strtod(csv_cell(csv, i, "size_bytes"), NULL);
        row.time_s = strtod(csv_cell(csv, i, "time_s"), NULL);
        if (row.source == NO_SOURCE || !(row.bytes > 0 && row.time_s > 0) ||
            strcmp(csv_cell(csv, i, "op"), "all_reduce") != 0 ||
            strcmp(csv_cell(csv, i, "quality"), "clean") != 0)
            continue;
        read_shape(csv_cell(csv, i, "gpu"), csv_cell(csv, i, "fabric"),
                   (uint32_t)strtoul(csv_cell(csv, i, "gpus"), NULL, 10), csv_cell(csv, i, "nvls"),
                   fit->arena, &row.shape);
        fit->rows[fit->row_count++] = row;
    }
}

/* The closed form of this file with the shipped constants is what the tuner says. */
static void shipped(const struct row *row, double value[CONSTANT_COUNT])
{
    value[START] = row->shape.start_s / MICROSECOND;
    value[LL_RAMP] = nccl_ll_ramp_s / MICROSECOND;
    value[LL_HALF] = nccl_ll_half_bytes / KILO;
    value[NVLS_BASE] = nccl_nvls_base_s / MICROSECOND;
    value[NVLS_RATIO] = hopper_ratio / 0.01;
    value[NVLS_CHUNK] = nccl_nvls_chunk_s / MICROSECOND;
    value[NVLINK_LATENCY] = row->shape.inside.latency_s / MICROSECOND;
    value[NET_LATENCY] = row->shape.transport_latency_s / MICROSECOND;
    value[NET_BULK] = row->shape.transport_bulk_s / MICROSECOND;
}

static void check_closed_form(const struct fit *fit)
{
    for (size_t i = 0; i < fit->row_count; i++) {
        const struct row *row = &fit->rows[i];
        double value[CONSTANT_COUNT];
        struct collective_plan plan;
        shipped(row, value);
        collective_tune(COMM_ALL_REDUCE, &row->shape, row->bytes, &plan);
        CHECK(fabs(predict_s(value, row) / plan.time_s - 1.0) < 1e-9);
    }
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *out)
{
    const struct fit *fit = context;
    double value[CONSTANT_COUNT];
    memcpy(value, fit->value, sizeof value);
    for (size_t i = 0; i < fit->free_count; i++)
        value[fit->free[i]] = constants[fit->free[i]].start * exp(gsl_vector_get(x, i));
    for (size_t i = 0; i < fit->used_count; i++) {
        const struct row *row = &fit->rows[fit->used[i]];
        gsl_vector_set(out, i, log(predict_s(value, row) / row->time_s));
    }
    return GSL_SUCCESS;
}

/* Which rows and constants take part; the others keep what is known without them. */
static void choose(struct fit *fit, enum site left_out)
{
    fit->left_out = left_out;
    fit->used_count = fit->free_count = 0;
    for (size_t i = 0; i < fit->row_count; i++)
        if (fit->rows[i].source != left_out)
            fit->used[fit->used_count++] = i;
    for (unsigned c = 0; c < CONSTANT_COUNT; c++) {
        bool is_lost = left_out != NO_SOURCE && constants[c].alone == left_out;
        fit->value[c] = is_lost ? constants[c].unknown : constants[c].start;
        if (!is_lost)
            fit->free[fit->free_count++] = (enum collective_constant)c;
    }
}

/* Huber's weights of the residuals of the last round. */
static void reweight(const gsl_vector *residual, gsl_vector *weight)
{
    for (size_t i = 0; i < weight->size; i++) {
        double size = fabs(gsl_vector_get(residual, i));
        gsl_vector_set(weight, i, size > huber_ratio ? huber_ratio / size : 1.0);
    }
}

/* Standard errors: the weighted Jacobian's, scaled by the weighted residuals. */
static void keep(struct fit *fit, gsl_multifit_nlinear_workspace *w)
{
    size_t free_count = fit->free_count;
    gsl_matrix *covariance = gsl_matrix_alloc(free_count, free_count);
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(w), 0.0, covariance);
    double sum = 0;
    for (size_t i = 0; i < fit->used_count; i++)
        sum += pow(gsl_vector_get(w->f, i), 2);
    double variance = sum / (double)(fit->used_count - free_count);
    for (size_t i = 0; i < free_count; i++) {
        enum collective_constant c = fit->free[i];
        fit->value[c] = constants[c].start * exp(gsl_vector_get(w->x, i));
        fit->error[c] = fit->value[c] * sqrt(variance * gsl_matrix_get(covariance, i, i));
    }
    gsl_matrix_free(covariance);
}

static void solve(struct fit *fit)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    how.h_df = 1e-5;
    gsl_multifit_nlinear_fdf problem = {
        .f = residuals, .n = fit->used_count, .p = fit->free_count, .params = fit};
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &how, fit->used_count, fit->free_count);
    gsl_vector *x = gsl_vector_calloc(fit->free_count);
    gsl_vector *weight = gsl_vector_alloc(fit->used_count);
    gsl_vector *residual = gsl_vector_alloc(fit->used_count);
    gsl_vector_set_all(weight, 1.0);
    for (int round = 0; round < REWEIGHTINGS; round++) {
        int info;
        gsl_multifit_nlinear_winit(x, weight, &problem, w);
        gsl_multifit_nlinear_driver(ITERATIONS, 1e-9, 1e-9, 1e-9, NULL, NULL, &info, w);
        gsl_vector_memcpy(x, w->x);
        residuals(x, fit, residual);
        reweight(residual, weight);
    }
    keep(fit, w);
    gsl_vector_free(residual);
    gsl_vector_free(weight);
    gsl_vector_free(x);
    gsl_multifit_nlinear_free(w);
}

/* Of the rows of at least `least` bytes. */
static void print_errors(const struct fit *fit, enum site source, double least, const char *title)
{
    double error[ROW_MAX], bias = 0;
    size_t count = 0;
    for (size_t i = 0; i < fit->row_count; i++) {
        const struct row *row = &fit->rows[i];
        if (row->source == source && row->bytes >= least) {
            double ratio = predict_s(fit->value, row) / row->time_s - 1.0;
            bias += ratio;
            error[count++] = fabs(ratio);
        }
    }
    gsl_sort(error, 1, count);
    printf("%-15s %-15s %-9s %3zu rows%s: median %5.1f %%, P90 %5.1f %%, bias %+5.1f %%\n",
           series[source].source, series[source].gpu, title, count, least > 0 ? " from 1 MiB" : "",
           100 * gsl_stats_median_from_sorted_data(error, 1, count),
           100 * gsl_stats_quantile_from_sorted_data(error, 1, count, 0.9),
           100 * bias / (double)count);
}

static void print_both(const struct fit *fit, enum site source, const char *title)
{
    print_errors(fit, source, 0.0, title);
    print_errors(fit, source, MIB, title);
}

static void print_constants(const struct fit *fit)
{
    printf("%-26s %10s %10s\n", "constant", "fitted", "error");
    for (unsigned c = 0; c < CONSTANT_COUNT; c++) {
        printf("%-26s %10.4g %10.2g %s\n", constants[c].name, fit->value[c], fit->error[c],
               constants[c].unit);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: fit_collectives FILE.csv\n", stderr);
        return EXIT_FAILURE;
    }
    static struct fit fit;
    fit.arena = arena_create();
    struct csv csv;
    struct error error = {""};
    if (!csv_read(fit.arena, argv[1], &csv, &error)) {
        fprintf(stderr, "fit_collectives: %s\n", error.text);
        return EXIT_FAILURE;
    }
    read_rows(&csv, &fit);
    check_closed_form(&fit);
    choose(&fit, NO_SOURCE);
    solve(&fit);
    print_constants(&fit);
    for (unsigned s = 0; s < SOURCE_COUNT; s++)
        print_both(&fit, (enum site)s, "fitted");
    for (unsigned s = 0; s < SOURCE_COUNT; s++) {
        choose(&fit, (enum site)s);
        solve(&fit);
        print_both(&fit, (enum site)s, "left out");
    }
    arena_destroy(fit.arena);
    return EXIT_SUCCESS;
}
