#include "fit_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/validate/rows/validate_run.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/pool.h"

/* Step of a difference, of a logarithm: far above the tuner's and schedule's small jumps, small
 * against what a figure moves. */
static const double difference = 0.02;
/* Slopes are good for points so near (of every logarithm): elasticities change slowly. */
static const double slopes_reach = 0.1;
/* Rows of one source share errors that no constant explains: together they count as so many. */
static const double rows_of_source = 8.0;

/* Residuals and slopes as they were last asked for: GSL asks for slopes where it has just asked for
 * residuals. */
struct fit_kept {
    bool has_residuals, has_slopes;
    double residuals_x[FIT_PARAMETER_MAX], slopes_x[FIT_PARAMETER_MAX];
    double *residuals, *slopes;
};

static bool is_member(const struct fit_parameter *p, const char *name)
{
    for (unsigned i = 0; p->members[i] != NULL; i++) {
        size_t length = strlen(p->members[i]);
        bool open = p->members[i][length - 1] == '*';
        if (open ? strncmp(name, p->members[i], length - 1) == 0 : strcmp(name, p->members[i]) == 0)
            return true;
    }
    return false;
}

static bool is_first(const struct fit_parameter *p, const char *name)
{
    struct fit_parameter first = {.members = {p->members[0]}};
    return is_member(&first, name);
}

bool fit_rows_knows(const char *figure)
{
    for (size_t p = 0; p < fit_parameter_count; p++)
        if (is_member(&fit_parameters[p], figure))
            return true;
    return false;
}

static void find_parameters(struct fit_rows *rows, struct fit_row *row)
{
    for (size_t p = 0; p < fit_parameter_count; p++) {
        for (unsigned i = 0; i < row->scenario->stated.constant_count; i++) {
            const struct constant *c = &row->scenario->stated.constants[i];
            row->uses[p] |= is_member(&fit_parameters[p], c->name);
            if (!(rows->catalogue[p] > 0.0) && is_first(&fit_parameters[p], c->name)) {
                rows->catalogue[p] = constant_value(&row->scenario->configuration, c);
                rows->fitted[p] = c->origin == ORIGIN_FITTED;
            }
        }
        rows->row_count[p] += row->uses[p];
    }
}

/* A row of the file that may become one of the fit; its scenario is read on any thread. */
struct reading {
    const struct validation *v;
    struct validate_row **taken;
    struct scenario **scenarios;
};

static void read_row(void *context, size_t index)
{
    const struct reading *r = context;
    r->scenarios[index] = validate_steps_scenario(r->v, r->taken[index]);
    if (r->scenarios[index] != NULL)
        arena_give(r->scenarios[index]->arena);
}

static void take_row(struct fit_rows *out, const struct validation *v,
                     const struct validate_row *row, struct scenario *s, bool experts)
{
    const struct validate_value *time = &row->values[0];
    if (s == NULL)
        return;
    arena_claim(s->arena);
    const bool asked = (s->configuration.model.moe.experts > 0) == experts;
    if (!asked || !time->has_measured || !(time->measured > 0.0)) {
        scenario_destroy(s);
        return;
    }
    struct fit_row *taken = &out->rows[out->count++];
    *taken = (struct fit_row){.id = row->id,
                              .source = row->source,
                              .group = row->group,
                              .model = csv_cell(v->csv, row->record, "model"),
                              .scenario = s,
                              .measured_s = time->measured};
    find_parameters(out, taken);
}

static size_t count_of(const struct fit_rows *rows, const char *source)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += strcmp(rows->rows[i].source, source) == 0;
    return count;
}

bool fit_rows_first_of_source(const struct fit_rows *rows, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(rows->rows[i].source, rows->rows[row].source) == 0)
            return false;
    return true;
}

static void weigh(struct fit_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        size_t same = count_of(rows, rows->rows[i].source);
        rows->rows[i].weight = rows_of_source / (double)same;
        rows->source_count += fit_rows_first_of_source(rows, i);
    }
}

/* Is clean row number `index` of `count` of its source among the `most` that are spread evenly? */
static bool is_sampled(size_t index, size_t count, size_t most)
{
    return most == 0 || count <= most || index * most / count != (index + 1) * most / count;
}

static bool is_timed(const struct validation *v, const struct validate_row *row)
{
    return row->quality == QUALITY_CLEAN &&
           strcmp(csv_cell(v->csv, row->record, "outcome"), "ok") == 0;
}

/* Timed rows of the same source as row `index`: all, and those before it. */
static void count_alike(struct validate_row *const *rows, size_t count, size_t index,
                        size_t *before, size_t *all)
{
    *before = *all = 0;
    for (size_t k = 0; k < count; k++) {
        bool same = strcmp(rows[k]->source, rows[index]->source) == 0;
        *before += same && k < index;
        *all += same;
    }
}

static void take_rows(struct fit_rows *out, struct validation *v, size_t most, bool experts)
{
    struct validate_row **timed = ARENA_ARRAY(out->arena, struct validate_row *, v->row_count + 1);
    struct reading r = {.v = v};
    size_t timed_count = 0, count = 0, before, all;
    r.taken = ARENA_ARRAY(out->arena, struct validate_row *, v->row_count + 1);
    r.scenarios = ARENA_ARRAY(out->arena, struct scenario *, v->row_count + 1);
    for (size_t i = 0; i < v->row_count; i++)
        if (is_timed(v, &v->rows[i]))
            timed[timed_count++] = &v->rows[i];
    for (size_t i = 0; i < timed_count; i++) {
        count_alike(timed, timed_count, i, &before, &all);
        if (is_sampled(before, all, most))
            r.taken[count++] = timed[i];
    }
    pool_run(out->threads, count, read_row, &r);
    for (size_t i = 0; i < count; i++)
        take_row(out, v, r.taken[i], r.scenarios[i], experts);
    weigh(out);
}

static bool open_steps(struct arena *arena, const char *path, const struct validate_options *how,
                       struct validation *v)
{
    struct csv *csv = ARENA_NEW(arena, struct csv);
    struct error error = {""};
    if (!csv_read(arena, path, csv, &error) || !validate_open(arena, csv, how, v, &error)) {
        fprintf(stderr, "fit: %s\n", error.text);
        return false;
    }
    if (strcmp(v->kind->head.name, "steps") != 0)
        fprintf(stderr, "fit: %s holds %s, not steps\n", path, v->kind->head.name);
    return strcmp(v->kind->head.name, "steps") == 0;
}

bool fit_rows_read(struct fit_rows *out, const char *path, const char *source, size_t most,
                   unsigned threads, bool experts)
{
    *out = (struct fit_rows){.arena = arena_create(), .threads = threads};
    struct validation *v = ARENA_NEW(out->arena, struct validation);
    CHECK(fit_parameter_count <= FIT_PARAMETER_MAX);
    if (!open_steps(out->arena, path,
                    &(struct validate_options){.source = source, .threads = threads}, v)) {
        arena_destroy(out->arena);
        return false;
    }
    out->rows = ARENA_ARRAY(out->arena, struct fit_row, v->row_count + 1);
    take_rows(out, v, most, experts);
    out->kept = ARENA_NEW(out->arena, struct fit_kept);
    out->kept->residuals = ARENA_ARRAY(out->arena, double, out->count + 1);
    out->kept->slopes = ARENA_ARRAY(out->arena, double, (out->count + 1) * FIT_PARAMETER_MAX);
    return true;
}

void fit_rows_free(struct fit_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        scenario_destroy(rows->rows[i].scenario);
    arena_destroy(rows->arena);
}

static double log_error(const struct fit_row *row, const double *x, struct arena *scratch)
{
    struct configuration c = row->scenario->configuration;
    for (size_t p = 0; p < fit_parameter_count; p++) {
        for (unsigned i = 0; row->uses[p] && i < row->scenario->stated.constant_count; i++) {
            const struct constant *constant = &row->scenario->stated.constants[i];
            if (is_member(&fit_parameters[p], constant->name))
                constant_scale(&c, constant, exp(x[p]));
        }
    }
    struct step_options options = {.time_only = true, .arena = scratch, .threads = 1};
    struct step *step;
    struct error error;
    CHECK(step_run(&c, &options, &step, &error));
    double result = log(step->step_s / row->measured_s);
    step_destroy(step);
    return result;
}

struct evaluation { /* index: row, or row x (two sides of each parameter) */
    const struct fit_rows *rows;
    const double *x;
    const bool *chosen;
    double *out;
};

static void evaluate_row(void *context, size_t index, struct arena *scratch)
{
    const struct evaluation *e = context;
    if (e->chosen == NULL || e->chosen[index])
        e->out[index] = log_error(&e->rows->rows[index], e->x, scratch);
}

static double distance(const double *a, const double *b)
{
    double most = 0.0;
    for (size_t p = 0; p < fit_parameter_count; p++)
        most = fmax(most, fabs(a[p] - b[p]));
    return most;
}

void fit_rows_residuals(const struct fit_rows *rows, const double *x, const bool *chosen,
                        double *out)
{
    struct fit_kept *kept = rows->kept;
    struct evaluation e = {rows, x, chosen, kept->residuals};
    if (!kept->has_residuals || distance(kept->residuals_x, x) > 0.0) {
        pool_run_scratch(rows->threads, rows->count, evaluate_row, &e);
        memcpy(kept->residuals_x, x, sizeof kept->residuals_x);
        kept->has_residuals = chosen == NULL;
    }
    for (size_t i = 0; i < rows->count && out != kept->residuals; i++)
        if (chosen == NULL || chosen[i])
            out[i] = kept->residuals[i];
}

void fit_rows_forget(struct fit_rows *rows)
{
    rows->kept->has_residuals = rows->kept->has_slopes = false;
}

static void evaluate_slope(void *context, size_t index, struct arena *scratch)
{
    const struct evaluation *e = context;
    size_t p = index % FIT_PARAMETER_MAX, i = index / FIT_PARAMETER_MAX;
    const struct fit_row *row = &e->rows->rows[i];
    double up[FIT_PARAMETER_MAX];
    e->out[index] = 0.0;
    if (p >= fit_parameter_count || !row->uses[p] || e->rows->fixed[p])
        return;
    memcpy(up, e->x, sizeof up);
    up[p] += difference;
    e->out[index] = (log_error(row, up, scratch) - e->rows->kept->residuals[i]) / difference;
}

void fit_rows_jacobian(const struct fit_rows *rows, const double *x, double *out)
{
    struct fit_kept *kept = rows->kept;
    size_t cells = rows->count * FIT_PARAMETER_MAX;
    struct evaluation e = {rows, x, NULL, kept->slopes};
    if (!kept->has_slopes || distance(kept->slopes_x, x) > slopes_reach) {
        fit_rows_residuals(rows, x, NULL, kept->residuals);
        pool_run_scratch(rows->threads, cells, evaluate_slope, &e);
        memcpy(kept->slopes_x, x, sizeof kept->slopes_x);
        kept->has_slopes = true;
    }
    memcpy(out, kept->slopes, cells * sizeof *out);
}
