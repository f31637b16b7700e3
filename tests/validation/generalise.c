/* How well steps are predicted that the model has never seen.
 *
 * usage: generalise FILE.csv [--rows N] [--threads N] [--draws N]
 *                            [--csv FILE] [--constants FILE] [--residues FILE]
 *   --rows      at most N clean rows of each source, evenly over the file (all)
 *   --draws     of the catalogue's figures for the intervals (6)
 *   --csv, --constants, --residues   where tables go, beside the text: errors by what was left out
 *               and source; fitted constants; what `--uncertainty` knows of the model's own error
 *
 * Every clean row of steps.csv with a time is simulated with the catalogue; the constants that the
 * catalogue calls fitted are fitted anew without a source, a card, the larger half of the models,
 * or jobs of more than 64 GPUs, around the catalogue by slopes, and what was left out is simulated
 * with them. Exit code 1 when a figure that the catalogue calls fitted is not known to the fit, or
 * when 80 % intervals cover less than 75 or more than 90 % of the rows left out by source. */
#include "generalise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/uncertainty.h"
#include "sim/check.h"
#include "sim/pool.h"

static const double least_covered = 0.75, most_covered = 0.9;

struct request {
    const char *path, *csv, *constants, *residues;
    unsigned long rows, threads, draws;
};

static bool read_request(int argc, char **argv, struct request *out)
{
    *out = (struct request){.threads = pool_threads_available(), .draws = 6};
    const struct {
        const char *name;
        const char **text;
        unsigned long *number;
    } options[] = {
        {"--csv", &out->csv, NULL},           {"--constants", &out->constants, NULL},
        {"--residues", &out->residues, NULL}, {"--rows", NULL, &out->rows},
        {"--threads", NULL, &out->threads},   {"--draws", NULL, &out->draws},
    };
    for (int i = 1; i < argc; i++) {
        size_t k = 0, count = sizeof options / sizeof options[0];
        while (k < count && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k == count && argv[i][0] != '-' && out->path == NULL) {
            out->path = argv[i];
            continue;
        }
        if (k == count || ++i == argc)
            return false;
        if (options[k].text != NULL) {
            *options[k].text = argv[i];
            continue;
        }
        char *end;
        *options[k].number = strtoul(argv[i], &end, 10);
        if (end == argv[i] || *end != '\0')
            return false;
    }
    return out->path != NULL && out->threads > 0 && out->draws > 1;
}

/* How far the catalogue's figures move each row. */
struct drawing {
    struct generalise *g;
    uint32_t draws;
};

static void draw(void *context, size_t index)
{
    const struct drawing *d = context;
    struct arena *arena = arena_create();
    struct uncertainty_options how = {1, d->draws, 1, NULL, true};
    struct uncertain_step step;
    struct error error = {""};
    CHECK(uncertainty_draw(arena, d->g->rows->rows[index].scenario, &how, &step, &error));
    d->g->spread_rows[index].figure_spread = step.log_spread;
    arena_destroy(arena);
}

static void list_measured(struct generalise *g, const struct fit_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct configuration *c = &rows->rows[i].scenario->configuration;
        struct measured_rows one = {c->software.name, c->gpu.name, model_error_kinds(c),
                                    rows->rows[i].source, 1};
        size_t k = 0;
        while (k < g->measured_count && (strcmp(g->measured[k].software, one.software) != 0 ||
                                         strcmp(g->measured[k].card, one.card) != 0 ||
                                         strcmp(g->measured[k].source, one.source) != 0 ||
                                         g->measured[k].kinds != one.kinds))
            k++;
        if (k == g->measured_count)
            g->measured[g->measured_count++] = one;
        else
            g->measured[k].rows++;
    }
}

/* No constant was fitted to rows of experts: as shipped they are left out. */
static void find_experts(struct generalise *g, const struct fit_rows *rows)
{
    const double x[FIT_PARAMETER_MAX] = {0.0};
    struct spread_member *sources = ARENA_ARRAY(rows->arena, struct spread_member, rows->count + 1);
    struct spread_member *groups = ARENA_ARRAY(rows->arena, struct spread_member, rows->count + 1);
    double *errors = ARENA_ARRAY(rows->arena, double, rows->count + 1);
    fit_rows_residuals(rows, x, NULL, errors);
    for (size_t i = 0; i < rows->count; i++) {
        sources[i] = (struct spread_member){rows->rows[i].source, errors[i]};
        groups[i] = (struct spread_member){rows->rows[i].group, errors[i]};
    }
    g->experts_count = rows->count;
    g->experts_spread = spread_of_errors(sources, rows->count);
    const double pair = spread_of_pairs(groups, rows->count);
    g->experts_pair_spread = isnan(pair) ? g->experts_spread : pair;
}

static void find_spread(struct generalise *g, uint32_t draws)
{
    const struct fit_rows *rows = g->rows;
    struct arena *arena = rows->arena;
    struct residues known = {.measured = g->measured, .count = g->measured_count};
    struct spread_member *members = ARENA_ARRAY(arena, struct spread_member, rows->count + 1);
    struct drawing drawing = {g, draws};
    g->spread_rows = ARENA_ARRAY(arena, struct spread_row, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++) {
        const struct fit_row *row = &rows->rows[i];
        double error = -g->folds.left[CROSS_SOURCE][i];
        const struct configuration *c = &row->scenario->configuration;
        g->spread_rows[i] = (struct spread_row){
            .source = row->source,
            .nearness = model_error_of(&known, c, row->source).nearness,
            .log_error = error,
        };
        members[i] = (struct spread_member){row->group, error};
    }
    pool_run(rows->threads, rows->count, draw, &drawing);
    CHECK(spread_estimate(arena, g->spread_rows, rows->count, NULL, &g->spread));
    g->coverage = spread_coverage(&g->spread, g->spread_rows, rows->count, NULL);
    for (size_t i = 0; i < rows->count; i++)
        if (fit_rows_first_of_source(rows, i))
            g->coverage_by_source +=
                spread_coverage(&g->spread, g->spread_rows, rows->count, rows->rows[i].source) /
                (double)rows->source_count;
    g->coverage_elsewhere = spread_coverage_elsewhere(arena, g->spread_rows, rows->count);
    g->pair_spread = spread_of_pairs(members, rows->count);
}

static void note_unknown(struct generalise *g, const char *name)
{
    for (size_t i = 0; i < g->unknown_count; i++)
        if (strcmp(g->unknown[i], name) == 0)
            return;
    g->unknown[g->unknown_count++] = name;
}

/* Was it fitted to steps, by what its source says? Other files have fits of their own. */
static bool fitted_to_steps(const struct scenario *s, const struct constant *constant)
{
    static const char *const others[] = {"kernels.csv", "operators.csv", "collectives",
                                         "layers.csv"};
    for (unsigned i = 0; i < s->stated.figure_count; i++) {
        if (strcmp(s->stated.figures[i].name, constant->name) != 0 ||
            s->stated.figures[i].source == NULL)
            continue;
        for (unsigned k = 0; k < sizeof others / sizeof others[0]; k++)
            if (strstr(s->stated.figures[i].source, others[k]) != NULL)
                return false;
    }
    return constant->origin == ORIGIN_FITTED;
}

/* Figures fitted to steps that nobody could leave out. */
static void find_unknown(struct generalise *g)
{
    const struct fit_rows *rows = g->rows;
    size_t room = 1;
    for (size_t i = 0; i < rows->count; i++)
        room += rows->rows[i].scenario->stated.constant_count;
    g->unknown = ARENA_ARRAY(rows->arena, const char *, room);
    for (size_t i = 0; i < rows->count; i++) {
        const struct scenario *s = rows->rows[i].scenario;
        for (unsigned k = 0; k < s->stated.constant_count; k++)
            if (fitted_to_steps(s, &s->stated.constants[k]) &&
                !fit_rows_knows(s->stated.constants[k].name))
                note_unknown(g, s->stated.constants[k].name);
    }
}

static bool write_to(const char *path, const struct generalise *g,
                     void write(const struct generalise *g, FILE *out))
{
    FILE *out = path != NULL ? fopen(path, "w") : NULL;
    if (path == NULL)
        return true;
    if (out != NULL)
        write(g, out);
    if (out != NULL && fclose(out) == 0)
        return true;
    fprintf(stderr, "generalise: %s cannot be written\n", path);
    return false;
}

static bool tell(const struct request *request, const struct generalise *g)
{
    tell_errors(g, stdout);
    tell_constants(g, stdout);
    tell_intervals(g, stdout);
    return write_to(request->csv, g, write_errors) &&
           write_to(request->constants, g, write_constants) &&
           write_to(request->residues, g, write_residues);
}

int main(int argc, char **argv)
{
    struct request request;
    struct fit_rows rows, experts;
    if (!read_request(argc, argv, &request)) {
        fputs("usage: generalise FILE.csv [--rows N] [--threads N] [--draws N] [--csv FILE] "
              "[--constants FILE] [--residues FILE]\n",
              stderr);
        return 2;
    }
    const unsigned threads = (unsigned)request.threads;
    if (!fit_rows_read(&rows, request.path, NULL, request.rows, threads, false))
        return 2;
    if (!fit_rows_read(&experts, request.path, NULL, request.rows, threads, true)) {
        fit_rows_free(&rows);
        return 2;
    }
    struct generalise *g = ARENA_NEW(rows.arena, struct generalise);
    g->rows = &rows;
    folds_play(&rows, &g->folds);
    for (size_t k = 0; k < fit_parameter_count; k++)
        if (rows.fitted[k])
            worth_judge(&rows, &g->folds, k, &g->worth[g->worth_count++]);
    find_unknown(g);
    g->measured =
        ARENA_ARRAY(rows.arena, struct measured_rows, rows.count + experts.count + (size_t)1);
    list_measured(g, &rows);
    list_measured(g, &experts);
    find_experts(g, &experts);
    find_spread(g, (uint32_t)request.draws);
    bool written = tell(&request, g);
    bool holds =
        g->unknown_count == 0 && g->coverage >= least_covered && g->coverage <= most_covered;
    fit_rows_free(&experts);
    fit_rows_free(&rows);
    return written ? !holds : 2;
}
