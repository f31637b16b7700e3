#include "analysis/study_report.h"

#include <math.h>
#include <string.h>

enum {
    BAR_WIDTH = 24
};

static struct text metric_text(enum study_metric metric, double value)
{
    switch (study_metrics[metric].unit) {
    case METRIC_IN_SHARE:
        return format_percent(value);
    case METRIC_IN_TIME:
        return format_time(value);
    case METRIC_IN_BYTES:
        return format_bytes(value);
    default:
        return format_quantity(value);
    }
}

struct text study_value_text(const struct vary *vary, double number)
{
    struct text text;
    if (vary->time)
        return format_time(number);
    snprintf(text.s, sizeof text.s, "%.6g", number);
    return text;
}

bool study_has(const struct study *study, enum study_metric metric)
{
    for (size_t p = 0; p < study->point_count; p++) {
        for (size_t r = 0; r < study->points[p].replications; r++) {
            if (isfinite(study->points[p].values[r][metric]))
                return true;
        }
    }
    return false;
}

/* The values of a point for people, with their keys or without. */
static void point_cells(const struct study *study, size_t point, bool keys, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned k = 0; k < study->vary_count; k++) {
        const struct vary *vary = &study->varies[k];
        const struct vary_value *value =
            &vary->values[vary_index(study->varies, study->vary_count, k, point)];
        struct text number = study_value_text(vary, value->number);
        const char *shown = vary->numeric ? number.s : value->text;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", k ? ", " : "",
                                 keys ? vary->key : "", keys ? " " : "", shown);
        used = used < size ? used : size - 1;
    }
}

/* The bar shows where the point lies between the worst and the best mean. */
static void print_point(const struct session *session, const struct study *study,
                        const struct study_optimum *optimum, size_t p, double worst, double best)
{
    char cells[160];
    struct summary s;
    point_cells(study, p, false, cells, sizeof cells);
    study_summarise(study->arena, &study->points[p], study->objective, &s);
    if (s.count == 0) {
        fprintf(session->out, "%-22s %s\n", cells,
                study->points[p].fits ? "no value" : "does not fit in memory");
        return;
    }
    struct text half = metric_text(study->objective, s.high95 - s.mean);
    if (study->weeks && s.count == 1) /* one run does not tell how far the next one lies */
        snprintf(half.s, sizeof half.s, "-");
    double share = best != worst ? (s.mean - worst) / (best - worst) : 1.0;
    fprintf(session->out, "%-22s %10s %10s %10s %10s %7zu  %s%s\n", cells,
            metric_text(study->objective, s.mean).s, half.s, metric_text(study->objective, s.p10).s,
            metric_text(study->objective, s.p90).s, s.count,
            format_bar(share, BAR_WIDTH, session->utf8).s, p == optimum->point ? "  best" : "");
}

static double point_mean(const struct study *study, size_t p)
{
    struct summary s;
    study_summarise(study->arena, &study->points[p], study->objective, &s);
    return s.mean;
}

static void print_table(const struct session *session, const struct study *study,
                        const struct study_optimum *optimum)
{
    double best = point_mean(study, optimum->point), worst = best;
    bool larger = study_metrics[study->objective].larger_is_better;
    char keys[160] = "point";
    size_t used = 0;
    for (unsigned k = 0; k < study->vary_count && used < sizeof keys; k++)
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", k ? ", " : "",
                                 study->varies[k].key);
    for (size_t p = 0; p < study->point_count; p++) {
        double mean = point_mean(study, p);
        worst = larger ? fmin(worst, mean) : fmax(worst, mean);
    }
    fprintf(session->out, "%-22s %10s %10s %10s %10s %7s\n", keys,
            study_metrics[study->objective].name, "+- 95 %", "P10", "P90", "seeds");
    for (size_t p = 0; p < study->point_count; p++)
        print_point(session, study, optimum, p, worst, best);
}

static void print_interval(const struct session *session, const struct study *study,
                           const struct study_optimum *o)
{
    const struct vary *vary = &study->varies[0];
    if (o->at_end && study->points[o->point].fits)
        fputs("  the best point lies at an end of the range: widen it\n", session->out);
    if (o->too_far_apart)
        fputs(
            "  the points around it are too far apart to say where between them the optimum lies\n",
            session->out);
    if (!isfinite(o->value))
        return;
    fprintf(session->out, "  optimum between points: %s", study_value_text(vary, o->value).s);
    if (isfinite(o->low95))
        fprintf(session->out, ", 95 %% interval %s to %s", study_value_text(vary, o->low95).s,
                study_value_text(vary, o->high95).s);
    else
        fputs(" (too few seeds for an interval; take --seeds 40 or more)", session->out);
    fputc('\n', session->out);
}

static void print_marks(const struct session *session, const struct study_marks *m)
{
    if (!isfinite(m->exact_s))
        return;
    fprintf(session->out,
            "  closed forms at a stall of %s, one stop each %s: Young %s, Daly %s, exact %s\n",
            format_time(m->stall_s).s, format_time(m->job_mtbf_s).s, format_time(m->young_s).s,
            format_time(m->daly_s).s, format_time(m->exact_s).s);
}

void study_report(const struct session *session, const struct study *study,
                  const struct study_optimum *optimum, double seconds)
{
    char cells[320] = "the scenario as it is";
    size_t replications = 0;
    for (size_t p = 0; p < study->point_count; p++)
        replications += study->points[p].replications;
    fprintf(session->out, "%s%s%s\n", session_bold(session), study->name, session_plain(session));
    print_table(session, study, optimum);
    if (study->vary_count > 0)
        point_cells(study, optimum->point, true, cells, sizeof cells);
    fprintf(session->out, "\nbest %s: %s at %s%s\n", study_metrics[study->objective].name,
            metric_text(study->objective, point_mean(study, optimum->point)).s, cells,
            study->points[optimum->point].fits ? "" : " (does not fit in memory)");
    if (optimum->tied > 1)
        fprintf(session->out, "  %zu %s cannot be told apart from it with these seeds\n",
                optimum->tied - 1, optimum->tied == 2 ? "point" : "points");
    if (study->vary_count == 1)
        print_interval(session, study, optimum);
    print_marks(session, &study->points[optimum->point].marks);
    fprintf(session->notes, "%zu %s, %zu %s in %s\n", study->point_count,
            study->point_count == 1 ? "point" : "points", replications,
            replications == 1 ? "replication" : "replications", format_time(seconds).s);
}

void study_csv(const struct study *study, FILE *out)
{
    for (unsigned k = 0; k < study->vary_count; k++)
        fprintf(out, "%s,", study->varies[k].key);
    fputs("replications", out);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const char *name = study_metrics[m].name;
        if (study_metrics[m].weeks == study->weeks)
            fprintf(out, ",%s_mean,%s_low95,%s_high95,%s_p10,%s_p50,%s_p90", name, name, name, name,
                    name, name);
    }
    fputc('\n', out);
    for (size_t p = 0; p < study->point_count; p++) {
        for (unsigned k = 0; k < study->vary_count; k++) {
            size_t index = vary_index(study->varies, study->vary_count, k, p);
            fprintf(out, "%s,", study->varies[k].values[index].text);
        }
        fprintf(out, "%zu", study->points[p].replications);
        for (unsigned m = 0; m < METRIC_COUNT; m++) {
            struct summary s;
            if (study_metrics[m].weeks != study->weeks)
                continue;
            study_summarise(study->arena, &study->points[p], (enum study_metric)m, &s);
            fprintf(out, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", s.mean, s.low95, s.high95, s.p10,
                    s.p50, s.p90);
        }
        fputc('\n', out);
    }
}
