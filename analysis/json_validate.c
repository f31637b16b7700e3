/* The document orrery.validate/1. */
#include <jansson.h>
#include <math.h>

#include "analysis/validate_report.h"
#include "analysis/version.h"
#include "sim/check.h"

static json_t *number(bool known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *value)
{
    json_t *string = value != NULL ? json_string(value) : NULL;
    return string != NULL ? string : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static void set(json_t *object, const char *key, json_t *value)
{
    CHECK(value != NULL && json_object_set_new(object, key, value) == 0);
}

static json_t *row_object(const struct validate_row *row, const char *metric,
                          const struct validate_value *value)
{
    json_t *o = json_object();
    set(o, "row_id", text(row->id));
    set(o, "source", text(row->source));
    set(o, "quality", text(quality_names[row->quality]));
    set(o, "metric", text(metric));
    set(o, "predicted", number(value->has_predicted && !row->refused, value->predicted));
    set(o, "measured", number(value->has_measured, value->measured));
    set(o, "refused", json_boolean(row->refused));
    set(o, "note", text(row->note));
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
            set(o, "error", number(known, error));
            json_array_append_new(array, o);
        }
        if (row->measured == VERDICT_NONE)
            continue;
        struct validate_value oom = {row->predicted != VERDICT_NONE, true,
                                     row->predicted == VERDICT_OOM, row->measured == VERDICT_OOM};
        json_t *o = row_object(row, validate_oom_metric, &oom);
        set(o, "error", json_null());
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *score_object(const struct score *s)
{
    json_t *o = json_object();
    set(o, "count", count((uint64_t)s->count));
    set(o, "median_ape", number(true, s->median_ape));
    set(o, "mean_ape", number(true, s->mean_ape));
    set(o, "p90_ape", number(true, s->p90_ape));
    set(o, "bias", number(true, s->bias));
    set(o, "within_10", number(true, s->within_10));
    return o;
}

static json_t *metrics_object(const struct validation *v, const struct source_score *s)
{
    json_t *o = json_object();
    for (unsigned m = 0; m < validate_metric_count(v->kind); m++) {
        json_t *metric = json_object();
        set(metric, "clean", score_object(&s->metrics[m][0]));
        set(metric, "noisy", score_object(&s->metrics[m][1]));
        set(o, v->kind->metrics[m], metric);
    }
    set(o, "refused", count(s->refused));
    return o;
}

static json_t *confusion_object(const struct confusion *c)
{
    json_t *o = json_object();
    set(o, "true_positive", count(c->true_positive));
    set(o, "false_positive", count(c->false_positive));
    set(o, "true_negative", count(c->true_negative));
    set(o, "false_negative", count(c->false_negative));
    set(o, "accuracy", number(true, c->accuracy));
    set(o, "precision", number(true, c->precision));
    set(o, "recall", number(true, c->recall));
    return o;
}

static json_t *choice_object(const struct choice *c)
{
    json_t *o = json_object();
    set(o, "groups", count((uint64_t)c->groups));
    set(o, "median_regret", number(true, c->median_regret));
    set(o, "p90_regret", number(true, c->p90_regret));
    set(o, "median_spearman", number(true, c->median_spearman));
    set(o, "top1", number(true, c->top1));
    return o;
}

/* Names of sources that are no UTF-8 are left out, as everywhere. */
static void set_source(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value) != 0)
        json_object_set_new(object, "(not UTF-8)", json_null());
}

void json_validate(const struct validation *v, const struct scores *scores, FILE *out)
{
    json_t *o = json_object(), *sources = json_object(), *oom = json_object();
    json_t *oom_sources = json_object(), *layouts = json_object(), *chosen = json_object();
    for (unsigned i = 0; i < scores->source_count; i++) {
        const struct source_score *s = &scores->sources[i];
        set_source(sources, s->name, metrics_object(v, s));
        set_source(oom_sources, s->name, confusion_object(&s->oom));
        set_source(chosen, s->name, choice_object(&s->choice));
    }
    set(o, "schema", text("orrery.validate/1"));
    set(o, "version", text(ORRERY_VERSION));
    set(o, "scenario", json_null());
    set(o, "seed", json_null());
    set(o, "digest", json_null());
    set(o, "file", text(v->csv->path));
    set(o, "kind", text(v->kind->name));
    set(o, "rows", rows_array(v));
    set(o, "refused", count(scores->all.refused));
    set(o, "sources", sources);
    set(o, "metrics", metrics_object(v, &scores->all));
    set(o, "all_clean", score_object(&scores->all.metrics[0][0]));
    set(o, "all_noisy", score_object(&scores->all.metrics[0][1]));
    set(o, "macro_clean", score_object(&scores->macro_clean));
    set(oom, "all", confusion_object(&scores->all.oom));
    set(oom, "sources", oom_sources);
    set(o, "oom", oom);
    set(layouts, "all", choice_object(&scores->all.choice));
    set(layouts, "sources", chosen);
    set(o, "layouts", layouts);
    json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(o);
}
