#include "generalise.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/record/numbers/statistics.h"

enum {
    CLASS_LEAST = 20 /* rows of a class that is told */
};

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

static const char *source_of(const struct generalise *g, size_t row)
{
    return g->measured[row].source;
}

struct coverage coverage_of(const struct generalise *g, unsigned way, const char *source)
{
    struct coverage out = {0};
    double *widths = ARENA_ARRAY(g->rows->arena, double, g->count + 1), sources = 0.0;
    for (size_t i = 0; i < g->count; i++) {
        double of = 0.0, inside = 0.0;
        bool first = true;
        if (source != NULL && strcmp(source_of(g, i), source) != 0)
            continue;
        widths[out.rows++] = g->judged[way * g->count + i].width;
        out.of_rows += g->judged[way * g->count + i].inside;
        for (size_t k = 0; k < g->count; k++) {
            if (strcmp(source_of(g, k), source_of(g, i)) != 0)
                continue;
            first = first && k >= i;
            inside += g->judged[way * g->count + k].inside;
            of++;
        }
        out.of_sources += first ? inside / of : 0.0;
        sources += first;
    }
    statistics_sort(widths, out.rows);
    out.width = statistics_percentile(widths, out.rows, 0.5);
    out.of_rows /= (double)out.rows;
    out.of_sources /= sources;
    return out;
}

static void say_coverage(FILE *out, const char *name, const struct coverage *of)
{
    fprintf(out, "  %-26s %5zu", name, of[0].rows);
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        fprintf(out, "  %5.1f %% (%4.1f %%)", 100.0 * of[way].of_rows, 100.0 * of[way].width);
    fputc('\n', out);
}

/* Rows of one framework, dense or of experts. */
static bool same_class(const struct generalise *g, size_t a, size_t b)
{
    const struct spread_row *x = &g->spread_rows[a], *y = &g->spread_rows[b];
    return x->key[CROSS_FRAMEWORK] == y->key[CROSS_FRAMEWORK] &&
           x->is[CLASS_EXPERTS] == y->is[CLASS_EXPERTS];
}

static const char *framework_at(const struct generalise *g, size_t row)
{
    return folds_key(g->rows->arena, row_of(g, row), CROSS_FRAMEWORK, INFINITY);
}

static bool class_coverage(const struct generalise *g, size_t first, struct coverage *out)
{
    double *widths = ARENA_ARRAY(g->rows->arena, double, g->count + 1);
    for (size_t i = 0; i < first; i++)
        if (same_class(g, i, first))
            return false;
    for (unsigned way = 0; way < SPREAD_WAYS; way++) {
        out[way] = (struct coverage){0};
        for (size_t i = first; i < g->count; i++) {
            if (!same_class(g, i, first))
                continue;
            widths[out[way].rows++] = g->judged[way * g->count + i].width;
            out[way].of_rows += g->judged[way * g->count + i].inside;
        }
        statistics_sort(widths, out[way].rows);
        out[way].width = statistics_percentile(widths, out[way].rows, 0.5);
        out[way].of_rows /= (double)out[way].rows;
    }
    return out[0].rows >= CLASS_LEAST;
}

static bool first_of_source(const struct generalise *g, size_t row)
{
    size_t first = 0;
    while (strcmp(source_of(g, first), source_of(g, row)) != 0)
        first++;
    return first == row;
}

void tell_intervals(const struct generalise *g, FILE *out)
{
    struct coverage of[SPREAD_WAYS];
    fprintf(out,
            "\n80 %% intervals of rows left out: share inside (median standard deviation of the "
            "logarithm)\n  %-26s %5s",
            "left out by", "rows");
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        fprintf(out, "  %-16s", crossing_names[way]);
    fputc('\n', out);
    for (size_t i = 0; i < g->count; i++) {
        if (!first_of_source(g, i))
            continue;
        for (unsigned way = 0; way < SPREAD_WAYS; way++)
            of[way] = coverage_of(g, way, source_of(g, i));
        say_coverage(out, source_of(g, i), of);
    }
    for (size_t i = 0; i < g->count; i++)
        if (class_coverage(g, i, of))
            say_coverage(out,
                         arena_format(g->rows->arena, "%s, %s", framework_at(g, i),
                                      g->spread_rows[i].is[CLASS_EXPERTS] ? "experts" : "dense"),
                         of);
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        of[way] = coverage_of(g, way, NULL);
    say_coverage(out, "all rows", of);
    for (unsigned way = 0; way < SPREAD_WAYS; way++)
        of[way].of_rows = of[way].of_sources;
    say_coverage(out, "mean of sources", of);
    fprintf(out, "  own error: %.1f %% around a source, between sources", 100.0 * g->spread.within);
    for (int k = 0; k < NEARNESS_COUNT; k++)
        fprintf(out, "%s %.1f %% (%s: %u)", k > 0 ? "," : "", 100.0 * g->spread.between[k],
                nearness_names[k], g->spread.sources[k]);
    fprintf(out, "; both x %.2f\n  in addition:", g->spread.factor);
    for (int k = 0; k < CLASS_COUNT; k++)
        fprintf(out, "%s %s %.1f %%", k > 0 ? "," : "", error_class_names[k],
                100.0 * model_error_of_class(g->spread.classes, (enum error_class)k));
    fputc('\n', out);
    fprintf(out, "  difference of two layouts of one model and machine: %.1f %%, experts %.1f %%\n",
            100.0 * g->pair_spread, 100.0 * g->experts_pair_spread);
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
        "/* residues_list.inc - how far off steps were that nobody had shown the model: each clean "
        "row of\n"
        " * steps.csv by constants fitted without its source. Generated by "
        "docs/generate-validation\n"
        " * (tests/validation/generalise); not to be edited. */\n"
        "/* standard deviations: by enum nearness; around a source; of pairs of layouts; from */\n",
        out);
    fputs("SPREADS(", out);
    for (int k = 0; k < NEARNESS_COUNT; k++)
        fprintf(out, "%.3f, ", own[k]);
    fprintf(out,
            "%.3f, %.3f,\n"
            "        \"%zu clean rows, left out by source and in five other ways \"\n"
            "        \"(tests/validation/generalise)\")\n"
            "/* in addition, by enum error_class; pairs of layouts of experts */\n"
            "CLASSES(",
            g->spread.factor * g->spread.within, g->pair_spread, g->count);
    for (int k = 0; k < CLASS_LEARNED; k++)
        fprintf(out, "%.3f, ", g->spread.classes[k]);
    fprintf(out,
            "%.3f)\n"
            "/* row, source, software, framework, card, generation, maker, precision, kinds (enum\n"
            " * layout_kind), layers (enum layers_kind), month, GPUs, hidden, PyTorch's own,\n"
            " * log(measured / predicted) */\n",
            g->experts_pair_spread);
    for (size_t i = 0; i < g->count; i++) {
        const struct measured_row *m = &g->measured[i];
        fprintf(out,
                "ROW(\"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", \"%s\", %u, %u, %u, "
                "%" PRIu64 ", %" PRIu64 ", %d, %.3f)\n",
                m->id, m->source, m->step.software, m->step.framework, m->step.card,
                m->step.generation, m->step.maker, m->step.precision, m->step.kinds, m->step.layers,
                m->step.month, m->step.gpus, m->step.hidden, m->step.native, m->log_error);
    }
}
