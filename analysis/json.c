#include "analysis/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

#include "analysis/version.h"
#include "sim/check.h"

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *number_if(bool known, double value)
{
    return known ? number(value) : json_null();
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* Text of the world may be no valid UTF-8; then it is left out rather than guessed. */
static json_t *text(const char *value)
{
    json_t *string = value != NULL ? json_string(value) : NULL;
    return string != NULL ? string : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
    CHECK(value != NULL && json_object_set_new(object, key, value) == 0);
}

static void append(json_t *array, json_t *value)
{
    CHECK(value != NULL && json_array_append_new(array, value) == 0);
}

static json_t *document(const char *schema, const struct scenario *scenario)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    set(object, "schema", text(schema));
    set(object, "version", text(ORRERY_VERSION));
    set(object, "scenario", text(scenario != NULL ? scenario->name : NULL));
    set(object, "seed", scenario != NULL ? count(scenario->configuration.seed) : json_null());
    set(object, "digest", json_null());
    return object;
}

static void print(json_t *object, FILE *out)
{
    /* A failed write stays in the stream; the session reports it. */
    json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(object);
}

static json_t *failure_object(const struct result_failure *f)
{
    if (!f->failed) {
        return json_null();
    }
    json_t *object = json_object();
    set(object, "rank", count(f->rank));
    set(object, "stage", count(f->stage));
    set(object, "tensor", text(f->tensor));
    set(object, "tenant", text(tenant_names[f->tenant]));
    set(object, "at", text(f->at));
    set(object, "step", count(f->step));
    set(object, "at_s", number(f->at_s));
    set(object, "bytes", number(f->bytes));
    set(object, "short_bytes", number(f->short_bytes));
    set(object, "reserved_bytes", number(f->reserved_bytes));
    set(object, "call_site", text(f->call_site));
    set(object, "would_help", text(result_knob(f->tenant)));
    return object;
}

static json_t *breakdown_object(const struct step *step)
{
    json_t *object = json_object();
    for (unsigned part = 0; part < PART_COUNT; part++) {
        set(object, breakdown_names[part], number(step->breakdown_s[part]));
    }
    return object;
}

/* Peaks are what would be needed, so they say by how much a layout misses. */
static json_t *classes_array(const struct result *result)
{
    json_t *classes = json_array();
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct result_stage *stage = &result->stages[i];
        json_t *tenants = json_object();
        for (unsigned t = 0; t < TENANT_COUNT; t++) {
            set(tenants, tenant_names[t], number(stage->needed.tenants[t]));
        }
        json_t *one = json_object();
        set(one, "stage", count(stage->stage));
        set(one, "ranks", count(stage->rank_count));
        set(one, "first_rank", count(stage->first_rank));
        set(one, "layers", count(stage->layers));
        set(one, "fits", json_boolean(!stage->ledger->failure.failed));
        set(one, "tenants", tenants);
        set(one, "peak_allocated_bytes", number(stage->needed.peak_allocated_bytes));
        set(one, "peak_reserved_bytes", number(stage->needed.peak_reserved_bytes));
        append(classes, one);
    }
    return classes;
}

static double worst(const struct result *result, bool reserved)
{
    double most = 0.0;
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct ledger_result *l = &result->stages[i].needed;
        most = fmax(most, reserved ? l->peak_reserved_bytes : l->peak_allocated_bytes);
    }
    return most;
}

void json_run(const struct result *result, FILE *out)
{
    const struct step *s = result->step;
    bool timed = result->timed;
    char digest[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, s->digest);
    json_t *o = document("orrery.run/1", result->scenario);
    set(o, "digest", timed ? text(digest) : json_null());
    set(o, "step_time_s", number_if(timed, s->step_s));
    set(o, "tokens_per_s", number_if(timed, s->tokens_per_s));
    set(o, "tokens_per_s_per_gpu", number_if(timed, s->tokens_per_s / (double)s->rank_count));
    set(o, "mfu", number_if(timed, s->mfu_ratio));
    set(o, "hfu", number_if(timed, s->hfu_ratio));
    set(o, "model_flops_per_step", number(s->lowered.model_flops));
    set(o, "peak_allocated_bytes", number(worst(result, false)));
    set(o, "peak_reserved_bytes", number(worst(result, true)));
    set(o, "usable_hbm_bytes", number(result->scenario->configuration.gpu.usable_hbm_bytes));
    set(o, "fits", json_boolean(s->fits));
    set(o, "first_failure", failure_object(&result->failure));
    set(o, "bubble_ratio", number_if(timed, s->bubble_ratio));
    set(o, "class_count", count(s->class_count));
    set(o, "rank_count", count(s->rank_count));
    set(o, "op_count", count(s->op_count));
    set(o, "event_count", count(s->event_count));
    set(o, "breakdown", timed ? breakdown_object(s) : json_null());
    set(o, "classes", classes_array(result));
    print(o, out);
}

void json_memory(const struct result *result, const struct rule_of_thumb *rule,
                 uint64_t minimum_gpus, FILE *out)
{
    const struct configuration *c = &result->scenario->configuration;
    json_t *o = document("orrery.memory/1", result->scenario);
    double parameters = model_parameters(&c->model, c->training.sequence);
    set(o, "parameters", number(parameters));
    set(o, "static_bytes_model", number(rule->bytes_per_parameter * parameters));
    set(o, "rule_of_thumb_bytes", number(rule->total_bytes));
    set(o, "rule_of_thumb_static_bytes", number(rule->static_bytes));
    set(o, "rule_of_thumb_activation_bytes", number(rule->activation_bytes));
    set(o, "rule_of_thumb_gpus", count(rule->cards));
    set(o, "rule_of_thumb_static_gpus", count(rule->static_cards));
    set(o, "rule_of_thumb_inference_gpus", count(rule->inference_cards));
    bool found = minimum_gpus > 0 && minimum_gpus != STEP_MINIMUM_UNKNOWN;
    set(o, "minimum_gpus", found ? count(minimum_gpus) : json_null());
    set(o, "usable_hbm_bytes", number(c->gpu.usable_hbm_bytes));
    set(o, "fits", result->step != NULL ? json_boolean(result->step->fits) : json_null());
    set(o, "first_failure", failure_object(&result->failure));
    set(o, "classes", classes_array(result));
    print(o, out);
}

void json_list(const struct json_list_entry *entries, unsigned entry_count, FILE *out)
{
    json_t *o = document("orrery.list/1", NULL);
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry_count; i++) {
        json_t *row = json_object();
        set(row, "family", text(entries[i].family));
        set(row, "name", text(entries[i].name));
        set(row, "doc", text(entries[i].doc));
        append(rows, row);
    }
    set(o, "rows", rows);
    print(o, out);
}

void json_doctor(const struct json_finding *findings, unsigned finding_count, FILE *out)
{
    json_t *o = document("orrery.doctor/1", NULL);
    json_t *rows = json_array();
    for (unsigned i = 0; i < finding_count; i++) {
        json_t *row = json_object();
        set(row, "what", text(findings[i].what));
        set(row, "good", json_boolean(findings[i].good));
        set(row, "text", text(findings[i].text));
        append(rows, row);
    }
    set(o, "rows", rows);
    print(o, out);
}

void json_check(const struct scenario *scenario, FILE *out)
{
    json_t *o = document("orrery.check/1", scenario);
    json_t *problems = json_array();
    for (unsigned i = 0; i < scenario->problem_count; i++) {
        const struct problem *p = &scenario->problems[i];
        json_t *row = json_object();
        set(row, "severity", text(p->warning ? "warning" : "error"));
        set(row, "file", text(p->file));
        set(row, "line", count(p->line));
        set(row, "column", count(p->column));
        set(row, "text", text(p->text));
        append(problems, row);
    }
    set(o, "valid", json_boolean(scenario->error_count == 0));
    set(o, "errors", count(scenario->error_count));
    set(o, "problems", problems);
    print(o, out);
}

void json_collective(const struct collective_result *rows, unsigned row_count, enum comm_op op,
                     uint64_t ranks, FILE *out)
{
    json_t *o = document("orrery.collective/1", NULL);
    json_t *array = json_array();
    for (unsigned i = 0; i < row_count; i++) {
        json_t *row = json_object();
        set(row, "op", text(comm_op_names[op]));
        set(row, "ranks", count(ranks));
        set(row, "bytes", number(rows[i].bytes));
        set(row, "algorithm", text(rows[i].algorithm));
        set(row, "protocol", text(rows[i].protocol));
        set(row, "time_s", number(rows[i].time_s));
        set(row, "algbw_bytes_per_s", number(rows[i].algbw_bytes_per_s));
        set(row, "busbw_bytes_per_s", number(rows[i].busbw_bytes_per_s));
        append(array, row);
    }
    set(o, "rows", array);
    print(o, out);
}
