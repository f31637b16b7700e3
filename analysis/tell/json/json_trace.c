#include <inttypes.h>

#include "analysis/tell/json/json_explain.h"
#include "analysis/tell/json/json_parts.h"

enum {
    WORST_LISTED = 100
};

static json_t *label(uint16_t value)
{
    return value != SPAN_UNTOLD ? json_count(value) : json_null();
}

static json_t *known(int64_t value)
{
    return value != PYTORCH_UNTOLD ? json_integer(value) : json_null();
}

static json_t *times_object(const struct trace_times *t)
{
    json_t *o = json_object();
    json_set(o, "step_s", json_number(t->step_s));
    json_set(o, "compute_s", json_number(t->compute_s));
    json_set(o, "communication_s", json_number(t->communication_s));
    json_set(o, "exposed_s", json_number(t->exposed_s));
    json_set(o, "idle_s", json_number(t->idle_s));
    return o;
}

static json_t *sum_object(const char *kind, const struct trace_sum *sum)
{
    json_t *o = json_object();
    json_set(o, "kind", json_text(kind));
    json_set(o, "measured_spans", json_count(sum->count[TRACE_MEASURED]));
    json_set(o, "measured_s", json_number(sum->seconds[TRACE_MEASURED]));
    json_set(o, "simulated_spans", json_count(sum->count[TRACE_SIMULATED]));
    json_set(o, "simulated_s", json_number(sum->seconds[TRACE_SIMULATED]));
    json_set(o, "measured_alone", json_count(sum->left[TRACE_MEASURED]));
    json_set(o, "measured_alone_s", json_number(sum->left_s[TRACE_MEASURED]));
    json_set(o, "simulated_alone", json_count(sum->left[TRACE_SIMULATED]));
    json_set(o, "simulated_alone_s", json_number(sum->left_s[TRACE_SIMULATED]));
    return o;
}

static json_t *parts_array(const struct trace_part *parts, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *o = json_object();
        json_set(o, "kind", json_text(span_kind_names[parts[i].kind]));
        json_set(o, "name", json_text(parts[i].name));
        json_set(o, "phase", json_text(parts[i].phase));
        json_set(o, "spans", json_count(parts[i].count));
        json_set(o, "measured_s", json_number(parts[i].seconds[TRACE_MEASURED]));
        json_set(o, "simulated_s", json_number(parts[i].seconds[TRACE_SIMULATED]));
        json_set(o, "difference_s", json_number(parts[i].difference_s));
        json_append(array, o);
    }
    return array;
}

static json_t *unknown_array(const struct span_unknown *unknown)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < unknown->count; i++) {
        json_t *o = json_object();
        json_set(o, "name", json_text(unknown->largest[i].name));
        json_set(o, "measured_s", json_number(unknown->largest[i].s));
        json_append(array, o);
    }
    return array;
}

static json_t *pair_object(const struct trace_pair *pair)
{
    const struct trace_span *m = pair->of[TRACE_MEASURED], *s = pair->of[TRACE_SIMULATED];
    json_t *o = json_object();
    json_set(o, "kind", json_text(span_kind_names[s->kind]));
    json_set(o, "measured", json_text(m->name));
    json_set(o, "measured_stream", json_text(m->stream));
    json_set(o, "measured_at_s", json_number(m->begin_s));
    json_set(o, "measured_s", json_number(m->busy_s));
    json_set(o, "simulated", json_text(s->name));
    json_set(o, "simulated_at_s", json_number(s->begin_s));
    json_set(o, "simulated_s", json_number(s->busy_s));
    json_set(o, "phase", json_text(s->phase));
    json_set(o, "microbatch", label(s->microbatch));
    json_set(o, "layer", label(s->layer));
    json_set(o, "difference_s", json_number(pair->difference_s));
    return o;
}

void json_trace(const struct compared_trace *told, const struct trace_comparison *c, FILE *out)
{
    json_t *o = json_document("orrery.compare_trace/1", NULL), *kinds = json_array();
    json_t *worst = json_array();
    for (unsigned kind = 0; kind < SPAN_KIND_COUNT; kind++)
        if (c->kinds[kind].count[TRACE_MEASURED] + c->kinds[kind].count[TRACE_SIMULATED] > 0)
            json_append(kinds, sum_object(span_kind_names[kind], &c->kinds[kind]));
    for (uint32_t i = 0; i < c->worst_count && i < WORST_LISTED; i++)
        json_append(worst, pair_object(c->worst[i]));
    json_set(o, "trace", json_text(told->path));
    json_set(o, "profiler_step", known(told->step->number));
    json_set(o, "device", json_text(told->step->device.name));
    json_set(o, "kernels", json_count(told->step->kernels));
    json_set(o, "scenario", json_text(told->scenario));
    json_set(o, "rank", json_count(told->rank));
    json_set(o, "ranks", json_count(told->ranks));
    json_set(o, "measured", times_object(&c->times[TRACE_MEASURED]));
    json_set(o, "simulated", times_object(&c->times[TRACE_SIMULATED]));
    json_set(o, "simulated_step_time_s", json_number(told->simulated_step_s));
    json_set(o, "forward_only", json_boolean(told->step->forward_only));
    json_set(o, "unknown_ratio", json_number(told->unknown.ratio));
    json_set(o, "unknown", unknown_array(&told->unknown));
    json_set(o, "all", sum_object("all", &c->all));
    json_set(o, "kinds", kinds);
    json_set(o, "pairs", parts_array(c->parts, c->part_count));
    json_set(o, "alone", parts_array(c->left, c->left_count));
    json_set(o, "worst", worst);
    json_print(o, out);
}
