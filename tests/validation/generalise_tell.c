#include "generalise.h"

#include <math.h>
#include <string.h>

static void line(FILE *out, const char *source, const struct fold_errors *shipped,
                 const struct fold_errors *left)
{
    fprintf(out, "  %-18s %5zu %8.1f %% %8.1f %% %+7.1f %% %8.1f %% %8.1f %% %+7.1f %%\n", source,
            left->count, 100.0 * shipped->median, 100.0 * shipped->p90, 100.0 * shipped->bias,
            100.0 * left->median, 100.0 * left->p90, 100.0 * left->bias);
}

/* The shipped catalogue's residuals of the rows that the crossing leaves out at all. */
static double *shipped_where(const struct generalise *g, const double *left)
{
    double *out = ARENA_ARRAY(g->rows->arena, double, g->rows->count + 1);
    for (size_t i = 0; i < g->rows->count; i++)
        out[i] = isnan(left[i]) ? NAN : g->folds.shipped[i];
    return out;
}

static struct fold_errors unlike_card(const struct generalise *g, const double *left,
                                      const char *card)
{
    double *of = ARENA_ARRAY(g->rows->arena, double, g->rows->count + 1);
    for (size_t i = 0; i < g->rows->count; i++) {
        const char *name = g->rows->rows[i].scenario->configuration.gpu.name;
        of[i] = strcmp(name, card) == 0 ? left[i] : NAN;
    }
    return folds_errors(g->rows, of, NULL);
}

static bool first_of_card(const struct fit_rows *rows, size_t row)
{
    const char *name = rows->rows[row].scenario->configuration.gpu.name;
    for (size_t i = 0; i < row; i++)
        if (strcmp(rows->rows[i].scenario->configuration.gpu.name, name) == 0)
            return false;
    return true;
}

/* One line for each thing that was left out, or for each source where it was one. */
static void tell_crossing(const struct generalise *g, enum crossing crossing, FILE *out)
{
    const struct fit_rows *rows = g->rows;
    const double *left = g->folds.left[crossing], *shipped = shipped_where(g, left);
    fprintf(out, "\nleft out by %s\n", crossing_names[crossing]);
    for (size_t i = 0; i < rows->count; i++) {
        const char *card = rows->rows[i].scenario->configuration.gpu.name;
        bool by_card = crossing == CROSS_CARD;
        if (by_card ? !first_of_card(rows, i) : !fit_rows_first_of_source(rows, i))
            continue;
        const char *source = rows->rows[i].source;
        struct fold_errors as_shipped =
            by_card ? unlike_card(g, shipped, card) : folds_errors(rows, shipped, source);
        struct fold_errors as_left =
            by_card ? unlike_card(g, left, card) : folds_errors(rows, left, source);
        if (as_left.count > 0)
            line(out, by_card ? card : source, &as_shipped, &as_left);
    }
    struct fold_errors all = folds_errors(rows, left, NULL);
    struct fold_errors as_shipped = folds_errors(rows, shipped, NULL);
    struct fold_errors mean = folds_mean(rows, left), shipped_mean = folds_mean(rows, shipped);
    line(out, "all", &as_shipped, &all);
    line(out, "mean of sources", &shipped_mean, &mean);
}

void tell_errors(const struct generalise *g, FILE *out)
{
    fprintf(out, "  %-18s %5s %31s   %30s\n", "", "rows", "as shipped: median, P90, bias",
            "left out: median, P90, bias");
    for (int crossing = 0; crossing < CROSS_COUNT; crossing++)
        tell_crossing(g, (enum crossing)crossing, out);
}

void tell_constants(const struct generalise *g, FILE *out)
{
    fprintf(out, "\n%-46s %10s %10s %5s %5s %6s %7s %6s %6s\n", "fitted constant", "value", "known",
            "rows", "with", "without", "source", "models", "verdict");
    for (size_t i = 0; i < g->worth_count; i++) {
        const struct worth *w = &g->worth[i];
        fprintf(out, "%-46s %10.4g %10.4g %5zu %5.1f %6.1f %7.1f %6.1f  %s\n", w->constant->name,
                w->value, w->constant->prior, w->rows, 100.0 * w->with, 100.0 * w->without,
                100.0 * w->source_out, 100.0 * w->model_out, worth_verdicts[w->verdict]);
    }
    for (size_t i = 0; i < g->unknown_count; i++)
        fprintf(out, "fitted, but no constant of fit_parameters.c: %s\n", g->unknown[i]);
}

static void tell_source(const struct generalise *g, size_t row, FILE *out)
{
    const char *source = g->rows->rows[row].source;
    unsigned at[NEARNESS_COUNT] = {0}, most = 0;
    struct fold_errors e = folds_errors(g->rows, g->folds.left[CROSS_SOURCE], source);
    struct spread others;
    for (size_t i = 0; i < g->rows->count; i++)
        if (strcmp(g->rows->rows[i].source, source) == 0)
            at[g->spread_rows[i].nearness]++;
    for (unsigned k = 0; k < NEARNESS_COUNT; k++)
        most = at[k] > at[most] ? k : most;
    bool known = spread_estimate(g->rows->arena, g->spread_rows, g->rows->count, source, &others);
    double elsewhere =
        known ? spread_coverage(&others, g->spread_rows, g->rows->count, source) : NAN;
    fprintf(out, "  %-18s %5zu  %-24s %+7.1f %% %9.1f %% %9.1f %% %9.1f %%\n", source, e.count,
            nearness_names[most], 100.0 * e.bias, 100.0 * g->spread.own[most],
            100.0 * spread_coverage(&g->spread, g->spread_rows, g->rows->count, source),
            100.0 * elsewhere);
}

void tell_intervals(const struct generalise *g, FILE *out)
{
    fprintf(out,
            "\n80 %% intervals of rows left out by source\n"
            "  %-18s %5s  %-24s %9s %11s %11s %11s\n",
            "", "rows", "nearest measured", "bias", "own error", "covered", "by others");
    for (size_t i = 0; i < g->rows->count; i++)
        if (fit_rows_first_of_source(g->rows, i))
            tell_source(g, i, out);
    fprintf(out,
            "  covered: %.1f %% of the rows, %.1f %% in the mean of sources, %.1f %% with the "
            "widths that the other sources ask for\n",
            100.0 * g->coverage, 100.0 * g->coverage_by_source, 100.0 * g->coverage_elsewhere);
    fprintf(out, "  own error: %.1f %% around a source, between sources", 100.0 * g->spread.within);
    for (int k = 0; k < NEARNESS_COUNT; k++)
        fprintf(out, "%s %.1f %% (%s: %u)", k > 0 ? "," : "", 100.0 * g->spread.between[k],
                nearness_names[k], g->spread.sources[k]);
    fprintf(out, "; both x %.2f\n  difference of two layouts of one model and machine: %.1f %%\n",
            g->spread.factor, 100.0 * g->pair_spread);
    fprintf(out, "  mixtures of experts, %zu rows: %.1f %%, two layouts %.1f %%\n",
            g->experts_count, 100.0 * g->experts_spread, 100.0 * g->experts_pair_spread);
}

void write_errors(const struct generalise *g, FILE *out)
{
    fputs("crossing,source,rows,shipped_median,median,p90,bias\n", out);
    for (int crossing = 0; crossing < CROSS_COUNT; crossing++) {
        const double *left = g->folds.left[crossing], *shipped = shipped_where(g, left);
        for (size_t i = 0; i < g->rows->count; i++) {
            const char *source = g->rows->rows[i].source;
            if (!fit_rows_first_of_source(g->rows, i))
                continue;
            struct fold_errors e = folds_errors(g->rows, left, source);
            struct fold_errors s = folds_errors(g->rows, shipped, source);
            if (e.count > 0)
                fprintf(out, "%s,%s,%zu,%.4f,%.4f,%.4f,%.4f\n", crossing_names[crossing], source,
                        e.count, s.median, e.median, e.p90, e.bias);
        }
        struct fold_errors e = folds_mean(g->rows, left), s = folds_mean(g->rows, shipped);
        fprintf(out, "%s,mean of sources,%zu,%.4f,%.4f,%.4f,%.4f\n", crossing_names[crossing],
                e.count, s.median, e.median, e.p90, e.bias);
    }
}

void write_constants(const struct generalise *g, FILE *out)
{
    fputs("name,value,known,known_error,error,rows,sources,with,without,source_out,model_out,"
          "verdict\n",
          out);
    for (size_t i = 0; i < g->worth_count; i++) {
        const struct worth *w = &g->worth[i];
        fprintf(out, "\"%s\",%.4g,%.4g,%.3g,%.3g,%zu,%zu,%.4f,%.4f,%.4f,%.4f,\"%s\"\n",
                w->constant->name, w->value, w->constant->prior, w->constant->prior_error, w->error,
                w->rows, w->sources, w->with, w->without, w->source_out, w->model_out,
                worth_verdicts[w->verdict]);
    }
}

void write_residues(const struct generalise *g, FILE *out)
{
    const double *own = g->spread.own;
    fputs(
        "/* residues_list.h - how far off steps were that nobody had shown the model, and what "
        "was\n"
        " * measured: software, card, kinds of layout (enum layout_kind), source, clean rows.\n"
        " * Generated by docs/generate-validation (tests/validation/generalise); not to be edited. "
        "*/\n/* clang-format off */\n",
        out);
    fputs(
        "/* standard deviations: by enum nearness; around a source; of pairs of layouts; from */\n",
        out);
    fprintf(out, "SPREADS(%.3f, %.3f, %.3f, %.3f, %.3f, %.3f, %.3f,\n", own[0], own[1], own[2],
            own[3], own[4], g->spread.factor * g->spread.within, g->pair_spread);
    fprintf(out,
            "        \"%zu clean rows of steps.csv, left out by their %zu sources \"\n"
            "        \"(tests/validation/generalise)\")\n",
            g->rows->count, g->rows->source_count);
    fprintf(out,
            "/* mixtures of experts, %zu rows, none of which was fitted to: a row, a pair of "
            "layouts */\nEXPERTS(%.3f, %.3f)\n",
            g->experts_count, g->experts_spread, g->experts_pair_spread);
    for (size_t i = 0; i < g->measured_count; i++) {
        const struct measured_rows *m = &g->measured[i];
        fprintf(out, "ROWS(\"%s\", \"%s\", %u, \"%s\", %u)\n", m->software, m->card, m->kinds,
                m->source, m->rows);
    }
}
