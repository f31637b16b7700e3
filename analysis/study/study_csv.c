#include <math.h>
#include <string.h>

#include "analysis/exchange/export/export.h"
#include "analysis/study/study_report.h"

/* What the columns are, found once. */
struct csv_table {
    const struct study *study;
    FILE *out;
    bool single, lacks; /* one replication each; some point does not fit */
    bool announced;     /* the hardware of some point is */
    bool shown[METRIC_COUNT];
};
static const char *const figures[] = {"mean", "low95", "high95", "p10", "p50", "p90"};
enum {
    FIGURE_COUNT = sizeof figures / sizeof *figures
};

static void find_columns(struct csv_table *t)
{
    t->single = study_single(t->study);
    for (size_t p = 0; p < t->study->point_count; p++) {
        t->lacks = t->lacks || t->study->points[p].shortage.tensor != NULL;
        t->announced = t->announced || t->study->points[p].announced != NULL;
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        t->shown[m] = study_measures(t->study, m) && study_has(t->study, (enum study_metric)m);
}

static void write_word(const struct csv_table *t, const char *word)
{
    export_csv_text(t->out, word, (unsigned)strlen(word));
}

static void write_head(const struct csv_table *t)
{
    for (unsigned k = 0; k < t->study->vary_count; k++) {
        write_word(t, t->study->varies[k].key);
        fputc(',', t->out);
    }
    fputs(t->announced ? "replications,fits,announced" : "replications,fits", t->out);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const char *name = study_metrics[m].name;
        if (t->shown[m] && t->single)
            fprintf(t->out, ",%s", name);
        for (unsigned i = 0; t->shown[m] && !t->single && i < FIGURE_COUNT; i++)
            fprintf(t->out, ",%s_%s", name, figures[i]);
    }
    fputs(t->lacks ? ",short_bytes,first_tensor\n" : "\n", t->out);
}

/* A figure that does not exist is an empty cell. */
static void write_number(const struct csv_table *t, double value)
{
    fputc(',', t->out);
    if (isfinite(value))
        fprintf(t->out, "%.17g", value);
}

static void write_metric(const struct csv_table *t, size_t point, enum study_metric metric)
{
    struct summary s;
    study_summarise(t->study->arena, &t->study->points[point], metric, &s);
    write_number(t, s.mean);
    const double spread[] = {s.low95, s.high95, s.p10, s.p50, s.p90};
    for (unsigned i = 0; !t->single && i + 1 < FIGURE_COUNT; i++)
        write_number(t, s.count > 1 ? spread[i] : NAN);
}

static void write_shortage(const struct csv_table *t, const struct study_shortage *shortage)
{
    bool lacks = shortage->tensor != NULL;
    write_number(t, lacks ? shortage->short_bytes : NAN);
    fputc(',', t->out);
    write_word(t, lacks ? shortage->tensor : "");
}

static void write_point(const struct csv_table *t, size_t p)
{
    const struct study *study = t->study;
    const struct study_point *point = &study->points[p];
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t index = study_vary_index(study->varies, study->vary_count, k, p);
        write_word(t, study->varies[k].values[index].text);
        fputc(',', t->out);
    }
    fprintf(t->out, "%zu,%s", point->replications, point->fits ? "yes" : "no");
    if (t->announced)
        fputs(point->announced != NULL ? ",yes" : ",no", t->out);
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (t->shown[m])
            write_metric(t, p, (enum study_metric)m);
    if (t->lacks)
        write_shortage(t, &point->shortage);
    fputc('\n', t->out);
}

void study_csv(const struct study *study, const struct study_list *list, FILE *out)
{
    struct csv_table table = {.study = study, .out = out};
    find_columns(&table);
    write_head(&table);
    for (size_t i = 0; i < list->count; i++)
        write_point(&table, list->points[i]);
}
