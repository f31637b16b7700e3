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
 * catalogue calls fitted are fitted anew without a source, a framework, a release, a card, a
 * generation of cards, a precision, the larger half of the models, or jobs of more than 64 GPUs,
 * around the catalogue by slopes, and what was left out is simulated with them. Exit code 1 when a
 * figure that the catalogue calls fitted is not known to the fit, or when 80 % intervals cover less
 * than 75 or more than 90 % of what was left out by source, framework, release, card, generation or
 * precision: of the rows, or in the mean of sources. */
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

const struct fit_row *row_of(const struct generalise *g, size_t row)
{
    return row < g->rows->count ? &g->rows->rows[row] : &g->experts->rows[row - g->rows->count];
}

/* How far the catalogue's figures move each row. */
struct drawing {
    struct generalise *g;
    uint32_t draws;
    double *spread; /* by row */
};

static void draw(void *context, size_t index)
{
    const struct drawing *d = context;
    struct arena *arena = arena_create();
    struct uncertainty_options how = {
        .seed = 1, .draw_count = d->draws, .threads = 1, .time_only = true};
    struct uncertain_step step;
    struct error error = {""};
    CHECK(uncertainty_draw(arena, row_of(d->g, index)->scenario, &how, &step, &error));
    d->spread[index] = step.log_spread;
    arena_destroy(arena);
}

/* No constant was fitted to rows of experts: as shipped they are left out. */
static void list_measured(struct generalise *g)
{
    const double x[FIT_PARAMETER_MAX] = {0.0};
    double *experts = ARENA_ARRAY(g->rows->arena, double, g->experts->count + 1);
    fit_rows_residuals(g->experts, x, NULL, experts);
    for (size_t i = 0; i < g->count; i++) {
        const struct fit_row *row = row_of(g, i);
        const double left =
            i < g->rows->count ? g->folds.left[CROSS_SOURCE][i] : experts[i - g->rows->count];
        g->measured[i] = (struct measured_row){
            row->id, row->source, model_error_step(&row->scenario->configuration), -left};
    }
}

/* Numbers of what a row is left out with, the same for the same. */
static void number_keys(struct generalise *g, unsigned (*out)[SPREAD_WAYS])
{
    const char **keys = ARENA_ARRAY(g->rows->arena, const char *, g->count + 1);
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        for (size_t i = 0; i < g->count; i++) {
            keys[i] = folds_key(g->rows->arena, row_of(g, i), (enum crossing)way, INFINITY);
            out[i][way] = (unsigned)i;
            for (size_t k = 0; k < i && out[i][way] == i; k++)
                if (strcmp(keys[k], keys[i]) == 0)
                    out[i][way] = (unsigned)k;
        }
}

/* By the rows that are not left out with it. */
static struct model_error error_in(const struct generalise *g, unsigned (*keys)[SPREAD_WAYS],
                                   size_t row, unsigned way, struct measured_row *room)
{
    struct residues known = {.measured = room};
    for (size_t i = 0; i < g->count; i++)
        if (keys[i][way] != keys[row][way])
            room[known.count++] = g->measured[i];
    return model_error_near(&known, &g->measured[row].step, NULL);
}

/* False: no row is left whose framework the rows that stay have, and that is of no other class. */
static bool find_spread(struct generalise *g, uint32_t draws)
{
    struct arena *arena = g->rows->arena;
    unsigned(*keys)[SPREAD_WAYS] =
        arena_array(arena, sizeof *keys, g->count + 1, _Alignof(unsigned));
    struct measured_row *room = ARENA_ARRAY(arena, struct measured_row, g->count + 1);
    struct drawing drawing = {g, draws, ARENA_ARRAY(arena, double, g->count + 1)};
    number_keys(g, keys);
    pool_run(g->rows->threads, g->count, draw, &drawing);
    g->spread_rows = ARENA_ARRAY(arena, struct spread_row, g->count * SPREAD_WAYS + 1);
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        for (size_t i = 0; i < g->count; i++) {
            const struct measured_row *m = &g->measured[i];
            struct spread_row *row = &g->spread_rows[way * g->count + i];
            const struct model_error error = error_in(g, keys, i, way, room);
            *row = (struct spread_row){.way = way,
                                       .nearness = error.nearness,
                                       .log_error = i < g->rows->count ? -g->folds.left[way][i]
                                                                       : m->log_error,
                                       .figure_spread = drawing.spread[i]};
            memcpy(row->is, error.is, sizeof row->is);
            memcpy(row->key, keys[i], sizeof row->key);
        }
    g->judged = ARENA_ARRAY(arena, struct spread_judged, g->count * SPREAD_WAYS + 1);
    if (!spread_estimate(arena, g->spread_rows, g->count * SPREAD_WAYS, NULL, &g->spread))
        return false;
    spread_judge(arena, g->spread_rows, g->count * SPREAD_WAYS, g->judged);
    return true;
}

/* Of the difference of two layouts; where no group has two, that of a row. */
static double pairs_of(const struct fit_rows *rows, const double *errors, double of_row)
{
    struct spread_member *members = ARENA_ARRAY(rows->arena, struct spread_member, rows->count + 1);
    for (size_t i = 0; i < rows->count; i++)
        members[i] = (struct spread_member){rows->rows[i].group, errors[i]};
    const double pair = spread_of_pairs(members, rows->count);
    return isnan(pair) ? of_row : pair;
}

static void find_pairs(struct generalise *g)
{
    double *errors = ARENA_ARRAY(g->rows->arena, double, g->count + 1);
    for (size_t i = 0; i < g->count; i++)
        errors[i] = g->measured[i].log_error;
    g->pair_spread = pairs_of(g->rows, errors, g->spread.own[NEAR_NOTHING]);
    g->experts_pair_spread =
        pairs_of(g->experts, errors + g->rows->count, g->spread.classes[CLASS_EXPERTS]);
}

/* Do the intervals hold what they promise, however rows are left out? */
static bool covers(const struct generalise *g)
{
    bool holds = true;
    for (unsigned way = 0; way < SPREAD_WAYS; way++) {
        const struct coverage all = coverage_of(g, way, NULL);
        holds &= all.of_rows >= least_covered && all.of_rows <= most_covered &&
                 all.of_sources >= least_covered && all.of_sources <= most_covered;
    }
    return holds;
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
    g->experts = &experts;
    g->count = rows.count + experts.count;
    g->measured = ARENA_ARRAY(rows.arena, struct measured_row, g->count + 1);
    list_measured(g);
    bool known = find_spread(g, (uint32_t)request.draws);
    if (known)
        find_pairs(g);
    else
        fprintf(stderr,
                "generalise: %s: no framework has dense rows of two sources, so no width "
                "is known; add such rows\n",
                request.path);
    bool written = known && tell(&request, g);
    bool holds = written && g->unknown_count == 0 && covers(g);
    fit_rows_free(&experts);
    fit_rows_free(&rows);
    return written ? !holds : 2;
}
