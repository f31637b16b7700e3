#include "analysis/tell/json/json_explain.h"
#include "analysis/tell/json/json_parts.h"

enum {
    FIGURES_MAX = 64
};

static json_t *figures_array(const struct explanation *e, const char *beginnings)
{
    const struct kept_constant *found[FIGURES_MAX];
    const unsigned count = stands_on_find(&e->constants, beginnings, found, FIGURES_MAX);
    json_t *array = json_array();
    for (unsigned i = 0; i < count && i < FIGURES_MAX; i++) {
        json_t *one = json_object();
        json_set(one, "name", json_text(found[i]->name));
        json_set(one, "text", json_text(found[i]->text));
        json_set(one, "origin", json_text(found[i]->origin));
        json_set(one, "error_ratio", json_number(found[i]->error_ratio));
        json_set(one, "source", json_text(found[i]->source));
        json_append(array, one);
    }
    return array;
}

static json_t *waterfall_array(const struct explanation *e)
{
    const struct waterfall *w = &e->waterfall;
    json_t *array = json_array();
    for (unsigned i = 0; i < WATERFALL_COUNT; i++) {
        const struct waterfall_term *t = &w->terms[i];
        if (!t->known)
            continue;
        json_t *one = json_object();
        json_set(one, "term", json_text(t->key));
        json_set(one, "what", json_text(t->what));
        json_set(one, "seconds", json_number(t->seconds));
        json_set(one, "tokens_per_day", json_number(t->tokens_per_day));
        json_set(one, "stands_on", figures_array(e, t->stands_on));
        json_append(array, one);
    }
    return array;
}

static json_t *idle_object(const struct waterfall *w)
{
    struct idle_cause causes[WATERFALL_COUNT];
    const unsigned count = waterfall_idle(w, causes);
    json_t *object = json_object();
    for (unsigned i = 0; i < count; i++)
        json_set(object, causes[i].key, json_number(causes[i].seconds));
    return object;
}

static json_t *path_object(const struct critical_path *path)
{
    if (!path->known)
        return json_null();
    json_t *object = json_object(), *parts = json_array();
    for (unsigned i = 0; i < path->count; i++) {
        json_t *one = json_object();
        json_set(one, "stream", json_text(path->parts[i].stream));
        json_set(one, "name", json_text(path->parts[i].name));
        json_set(one, "phase", json_text(path->parts[i].phase));
        json_set(one, "wire",
                 path->parts[i].wire[0] != '\0' ? json_text(path->parts[i].wire) : json_null());
        json_set(one, "seconds", json_number(path->parts[i].seconds));
        json_set(one, "ops", json_count(path->parts[i].count));
        json_append(parts, one);
    }
    json_set(object, "parts", parts);
    json_set(object, "gaps_s", json_number(path->host_s));
    json_set(object, "sum_s", json_number(path->step_s));
    json_set(object, "ops", json_count(path->stretches));
    json_set(object, "crossings", json_count(path->crossings));
    return object;
}

static json_t *elasticity_object(const struct explanation *e, const struct elasticity *row)
{
    json_t *one = json_object();
    json_set(one, "input", json_text(row->key));
    json_set(one, "what", json_text(row->what));
    json_set(one, "step", json_number(row->step));
    json_set(one, "memory", json_number(row->memory));
    json_set(one, "cost", json_number(row->cost));
    json_set(one, "step_less_s", json_number(row->step_low_s));
    json_set(one, "step_more_s", json_number(row->step_high_s));
    json_set(one, "cost_less_ratio", json_number(row->cost_low_ratio));
    json_set(one, "cost_more_ratio", json_number(row->cost_high_ratio));
    json_set(one, "stands_on", figures_array(e, row->figures));
    return one;
}

static json_t *elasticities_array(const struct explanation *e)
{
    if (!e->has_elasticities)
        return json_null();
    json_t *array = json_array();
    for (unsigned i = 0; i < e->elasticities.count; i++)
        json_append(array, elasticity_object(e, &e->elasticities.rows[i]));
    return array;
}

void json_explanation(const struct explanation *e, FILE *out)
{
    const struct run_row *run = record_run(&e->record);
    const struct waterfall *w = &e->waterfall;
    json_t *o = json_document("orrery.explain/1", NULL);
    json_set(o, "scenario", json_text(run->scenario));
    json_set(o, "seed", json_count((uint64_t)run->seed));
    json_set(o, "digest", json_text(run->digest));
    json_set(o, "step_time_s", json_number(w->step_s));
    json_set(o, "kept_step_s", json_number(w->kept_step_s));
    json_set(o, "tokens_per_day", json_number(w->tokens_per_day));
    json_set(o, "waterfall", waterfall_array(e));
    json_set(o, "idle", idle_object(w));
    json_set(o, "paced_s", json_number(w->paced_s));
    json_set(o, "critical_path", path_object(&e->path));
    json_set(o, "elasticities", elasticities_array(e));
    json_set(o, "no_elasticities",
             e->has_elasticities ? json_null() : json_text(e->no_elasticities.text));
    json_set(o, "headroom_bytes",
             json_number_if(e->has_elasticities, e->elasticities.headroom_bytes));
    json_print(o, out);
}
