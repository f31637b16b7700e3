/* The document orrery.study/1. */
#include <math.h>

#include "analysis/study/study_report.h"
#include "analysis/tell/json/json.h"
#include "analysis/tell/json/json_parts.h"

static json_t *summary_object(const struct summary *s)
{
    json_t *o = json_object(), *interval = json_array();
    bool spread = s->count > 1; /* one replication tells of none */
    json_append(interval, json_number_if(spread, s->low95));
    json_append(interval, json_number_if(spread, s->high95));
    json_set(o, "mean", json_number(s->mean));
    json_set(o, "ci95", interval);
    json_set(o, "p10", json_number_if(spread, s->p10));
    json_set(o, "p50", json_number_if(spread, s->p50));
    json_set(o, "p90", json_number_if(spread, s->p90));
    return o;
}

static json_t *vary_object(const struct study *study, size_t point)
{
    json_t *o = json_object();
    for (unsigned k = 0; k < study->vary_count; k++) {
        const struct vary *vary = &study->varies[k];
        const struct vary_value *value =
            &vary->values[study_vary_index(study->varies, study->vary_count, k, point)];
        bool number = isfinite(value->number);
        json_set(o, vary->key, number ? json_number(value->number) : json_text(value->text));
    }
    return o;
}

static json_t *marks_object(const struct study_marks *m)
{
    json_t *o = json_object();
    json_set(o, "checkpoint_interval_s", json_number(m->interval_s));
    json_set(o, "young_s", json_number(m->young_s));
    json_set(o, "daly_s", json_number(m->daly_s));
    json_set(o, "exact_s", json_number(m->exact_s));
    json_set(o, "job_mtbf_s", json_number(m->job_mtbf_s));
    json_set(o, "stall_s", json_number(m->stall_s));
    return o;
}

static json_t *shortage_object(const struct study_point *point)
{
    const struct study_shortage *shortage = &point->shortage;
    if (shortage->tensor == NULL)
        return json_null();
    json_t *o = json_object();
    json_set(o, "place", json_text(study_short_on_host(point) ? "host" : "card"));
    json_set(o, "tensor", json_text(shortage->tensor));
    json_set(o, "tenant", json_text(shortage->tenant));
    json_set(o, "stage", json_count(shortage->stage));
    json_set(o, "short_bytes", json_number(shortage->short_bytes));
    return o;
}

static json_t *point_object(const struct study *study, size_t p)
{
    const struct study_point *point = &study->points[p];
    json_t *o = json_object();
    json_set(o, "point", json_count(p));
    json_set(o, "vary", vary_object(study, p));
    json_set(o, "replications", json_count(point->replications));
    json_set(o, "fits", json_boolean(point->fits));
    json_set(o, "usable_hbm_bytes", json_number(point->usable_bytes));
    json_set(o, "announced", json_boolean(point->announced != NULL));
    json_set(o, "announced_words", json_text(point->announced != NULL ? point->announced : ""));
    json_set(o, "first_failure", shortage_object(point));
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        struct summary s;
        if (!study_measures(study, m))
            continue;
        study_summarise(study->arena, point, (enum study_metric)m, &s);
        json_set(o, study_metrics[m].name, summary_object(&s));
    }
    if (study->weeks)
        json_set(o, "closed_forms", marks_object(&point->marks));
    return o;
}

/* Of the one key, where it is a number: between points, or that of the best point. Else, or where
 * all are tied, no single number says it: NAN, and `vary` has the point of the best mean. */
static double best_value(const struct study *study, const struct study_optimum *optimum)
{
    const bool one = study->vary_count == 1 && study->varies[0].numeric && !optimum->all_tied;
    if (isfinite(optimum->value) || !one)
        return optimum->value;
    return study->varies[0].values[optimum->point].number;
}

static json_t *ties_array(const struct study *study, const struct study_optimum *optimum)
{
    json_t *points = json_array();
    for (size_t p = 0; p < study->point_count; p++)
        if (optimum->is_tied[p])
            json_append(points, json_count(p));
    return points;
}

static json_t *optimum_object(const struct study *study, const struct study_optimum *optimum)
{
    if (!optimum->found)
        return json_null();
    json_t *o = json_object(), *interval = json_array();
    json_append(interval, json_number(optimum->low95));
    json_append(interval, json_number(optimum->high95));
    json_set(o, "point", json_count(optimum->point));
    json_set(o, "vary", vary_object(study, optimum->point));
    json_set(o, "value", json_number(best_value(study, optimum)));
    json_set(o, "ci95", interval);
    json_set(o, "tied", json_count(optimum->tied));
    json_set(o, "tied_points", ties_array(study, optimum));
    json_set(o, "at_end", json_boolean(optimum->at_end));
    json_set(o, "run", json_text(study_line(study->arena, "run", study, optimum->point)));
    return o;
}

static json_t *rejected_object(const struct study *study)
{
    struct study_reason *reasons;
    size_t count = study_reasons(study, &reasons);
    json_t *o = json_object();
    for (size_t i = 0; i < count; i++)
        json_set(o, reasons[i].text, json_count(reasons[i].count));
    return o;
}

static json_t *rejected_points(const struct study *study)
{
    json_t *points = json_array();
    for (size_t p = 0; p < study->point_count; p++) {
        if (study->points[p].refusal == NULL)
            continue;
        json_t *o = json_object();
        json_set(o, "point", json_count(p));
        json_set(o, "vary", vary_object(study, p));
        json_set(o, "reason", json_text(study->points[p].refusal));
        json_append(points, o);
    }
    return points;
}

void json_study(const struct study *study, const struct study_list *list, double seconds, FILE *out)
{
    json_t *o = json_document("orrery.study/1", NULL), *points = json_array();
    json_set(o, "scenario", json_text(study->name));
    json_set(o, "seed", json_count(study->base_seed));
    json_set(o, "objective", json_text(study_metrics[study->objective].name));
    for (size_t i = 0; i < list->count; i++)
        json_append(points, point_object(study, list->points[i]));
    json_set(o, "points", points);
    json_set(o, "rejected", rejected_object(study));
    json_set(o, "rejected_points", rejected_points(study));
    json_set(o, "optimum", optimum_object(study, &list->optimum));
    json_set(o, "seconds", json_number(seconds));
    json_print(o, out);
}
