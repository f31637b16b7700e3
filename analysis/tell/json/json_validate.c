/* The document orrery.validate/1. */
#include "analysis/tell/json/json.h"
#include "analysis/tell/json/json_parts.h"
#include "analysis/validate/rows/validate_report.h"
#include "sim/check.h"

static json_t *row_object(const struct validate_row *row, const char *metric,
                          const struct validate_value *value)
{
    json_t *o = json_object();
    json_set(o, "row_id", json_text(row->id));
    json_set(o, "source", json_text(row->source));
    json_set(o, "quality", json_text(quality_names[row->quality]));
    json_set(o, "metric", json_text(metric));
    json_set(o, "predicted",
             json_number_if(value->has_predicted && !row->refused, value->predicted));
    json_set(o, "measured", json_number_if(value->has_measured, value->measured));
    json_set(o, "refused", json_boolean(row->refused != REFUSAL_NONE));
    json_set(o, "refused_for",
             row->refused != REFUSAL_NONE ? json_text(refusal_names[row->refused]) : json_null());
    json_set(o, "note", json_text(row->note));
    json_set(o, "announced", json_boolean(*row->announced != '\0'));
    return o;
}

static json_t *rows_array(const struct validation *v)
{
    json_t *array = json_array();
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
            if (!validate_listed(row, m))
                continue;
            double error = 0.0;
            bool known = validate_row_error(row, m, &error);
            json_t *o = row_object(row, v->kind->metrics[m], &row->values[m]);
            json_set(o, "error", json_number_if(known, error));
            json_array_append_new(array, o);
        }
        if (row->measured == VERDICT_NONE)
            continue;
        struct validate_value oom = {row->predicted != VERDICT_NONE, true,
                                     row->predicted == VERDICT_OOM, row->measured == VERDICT_OOM};
        json_t *o = row_object(row, validate_oom_metric, &oom);
        json_set(o, "error", json_null());
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *score_object(const struct score *s)
{
    json_t *o = json_object();
    json_set(o, "count", json_count((uint64_t)s->count));
    json_set(o, "median_ape", json_number(s->median_ape));
    json_set(o, "mean_ape", json_number(s->mean_ape));
    json_set(o, "p90_ape", json_number(s->p90_ape));
    json_set(o, "bias", json_number(s->bias));
    json_set(o, "within_10", json_number(s->within_10));
    return o;
}

/* How many rows were refused, by the reason's word. */
static json_t *refusals_object(const struct source_score *s)
{
    json_t *o = json_object();
    for (unsigned why = REFUSAL_NONE + 1; why < REFUSAL_COUNT; why++)
        if (s->refusals[why] > 0)
            json_set(o, refusal_names[why], json_count(s->refusals[why]));
    return o;
}

static json_t *metrics_object(const struct validation *v, const struct source_score *s)
{
    json_t *o = json_object();
    for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
        json_t *metric = json_object();
        json_set(metric, "clean", score_object(&s->metrics[m][0]));
        json_set(metric, "noisy", score_object(&s->metrics[m][1]));
        json_set(o, v->kind->metrics[m], metric);
    }
    json_set(o, "rows", json_count(s->rows));
    json_set(o, "refused", json_count(s->refused));
    json_set(o, "refused_for", refusals_object(s));
    return o;
}

static json_t *confusion_object(const struct confusion *c)
{
    json_t *o = json_object();
    json_set(o, "true_positive", json_count(c->true_positive));
    json_set(o, "false_positive", json_count(c->false_positive));
    json_set(o, "true_negative", json_count(c->true_negative));
    json_set(o, "false_negative", json_count(c->false_negative));
    json_set(o, "accuracy", json_number(c->accuracy));
    json_set(o, "precision", json_number(c->precision));
    json_set(o, "recall", json_number(c->recall));
    return o;
}

static json_t *choice_object(const struct choice *c)
{
    json_t *o = json_object();
    json_set(o, "groups", json_count((uint64_t)c->groups));
    json_set(o, "median_regret", json_number(c->median_regret));
    json_set(o, "p90_regret", json_number(c->p90_regret));
    json_set(o, "median_spearman", json_number(c->median_spearman));
    json_set(o, "top1", json_number(c->top1));
    return o;
}

/* Names of sources that are no UTF-8 are left out, as everywhere. */
static void set_source(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0)
        json_object_set_new(object, "(not UTF-8)", json_null());
}

static json_t *intervals_object(const struct intervals *in)
{
    json_t *o = json_object(), *sources = json_object();
    for (uint32_t i = 0; i < in->source_count; i++) {
        const struct interval_source *s = &in->sources[i];
        json_t *one = json_object();
        json_set(one, "rows", json_count(s->rows));
        json_set(one, "log_spread_of_constants", json_number(s->figures_spread));
        json_set(one, "log_spread_of_model", json_number(s->own_spread));
        json_set(one, "coverage", json_number(s->coverage));
        json_set(one, "log_spread_elsewhere", json_number(s->spread_elsewhere));
        json_set(one, "coverage_elsewhere", json_number(s->coverage_elsewhere));
        set_source(sources, s->name, one);
    }
    json_set(o, "draws", json_count(in->draw_count));
    json_set(o, "probability", json_number(INTERVAL_PROBABILITY));
    json_set(o, "coverage", json_number(in->coverage));
    json_set(o, "log_spread_by_these_rows", json_number(in->own_spread));
    json_set(o, "shared_ratio_by_these_rows", json_number(in->shared_ratio));
    json_set(o, "pairs", json_count(in->pairs.pairs));
    json_set(o, "ties", json_count(in->pairs.ties));
    json_set(o, "decided", json_count(in->pairs.decided));
    json_set(o, "decided_right_ratio", json_number(in->pairs.right_ratio));
    json_set(o, "decided_probability", json_number(in->pairs.mean_called));
    json_set(o, "sources", sources);
    return o;
}

void json_validate(const struct validation *v, const struct scores *scores,
                   const struct intervals *intervals, FILE *out)
{
    json_t *o = json_document("orrery.validate/1", NULL), *sources = json_object();
    json_t *oom = json_object();
    json_t *oom_sources = json_object(), *layouts = json_object(), *chosen = json_object();
    for (unsigned i = 0; i < scores->source_count; i++) {
        const struct source_score *s = &scores->sources[i];
        set_source(sources, s->name, metrics_object(v, s));
        set_source(oom_sources, s->name, confusion_object(&s->oom));
        set_source(chosen, s->name, choice_object(&s->choice));
    }
    json_set(o, "file", json_text(v->csv->path));
    json_set(o, "kind", json_text(v->kind->head.name));
    if (v->kind->has_details)
        json_set(o, "detail", json_text(validate_detail_names[v->detail]));
    json_set(o, "announced", json_boolean(*validate_announced(v) != '\0'));
    json_set(o, "announced_words", json_text(validate_announced(v)));
    json_set(o, "rows", rows_array(v));
    json_set(o, "refused", json_count(scores->all.refused));
    json_set(o, "sources", sources);
    json_set(o, "metrics", metrics_object(v, &scores->all));
    json_set(o, "all_clean", score_object(&scores->all.metrics[0][0]));
    json_set(o, "all_noisy", score_object(&scores->all.metrics[0][1]));
    json_set(o, "macro_clean", score_object(&scores->macro_clean));
    json_set(oom, "all", confusion_object(&scores->all.oom));
    json_set(oom, "sources", oom_sources);
    json_set(o, "oom", oom);
    json_set(layouts, "all", choice_object(&scores->all.choice));
    json_set(layouts, "sources", chosen);
    json_set(o, "layouts", layouts);
    if (intervals != NULL)
        json_set(o, "uncertainty", intervals_object(intervals));
    json_print(o, out);
}
