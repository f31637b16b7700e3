#include "analysis/tell/json/json.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/lock_step.h"
#include "analysis/tell/json/json_job.h"
#include "analysis/tell/json/json_parts.h"
#include "models/plan/minimum.h"
#include "sim/check.h"

static json_t *failure_object(const struct result *result)
{
    const struct result_failure *f = &result->failure;
    if (!f->failed)
        return json_null();
    json_t *object = json_object();
    json_set(object, "place", json_text(f->on_host ? "host" : "card"));
    json_set(object, "rank", json_count(f->rank));
    json_set(object, "stage", json_count(f->stage));
    json_set(object, "tensor", json_text(f->tensor));
    json_set(object, "tenant", json_text(tenant_names[f->tenant]));
    json_set(object, "at", json_text(f->at));
    json_set(object, "step", json_count(f->step));
    json_set(object, "at_s", json_number(f->at_s));
    json_set(object, "bytes", json_number(f->bytes));
    json_set(object, "short_bytes", json_number(f->short_bytes));
    json_set(object, "reserved_bytes", json_number(f->reserved_bytes));
    json_set(object, "call_site", json_text(f->call_site));
    json_set(object, "would_help", json_text(result_would_help(result)));
    return object;
}

/* Layouts nearby that fit, fastest first. */
static json_t *advice_object(const struct result *result)
{
    const struct neighbourhood *tried = &result->advice.tried;
    if (!result->failure.failed)
        return json_null();
    json_t *object = json_object(), *rows = json_array();
    for (unsigned i = 0; i < tried->fitting_count; i++) {
        const struct neighbour *n = &tried->fitting[i];
        json_t *one = json_object();
        json_set(one, "set", json_text(n->set));
        json_set(one, "step_time_s", json_number_if(n->timed, n->step_s));
        json_set(one, "tokens_per_s", json_number_if(n->timed, n->tokens_per_s));
        json_set(one, "peak_reserved_bytes", json_number(n->peak_reserved_bytes));
        json_append(rows, one);
    }
    json_set(object, "changes", json_count(tried->changes));
    json_set(object, "tried", json_count(tried->tried_count));
    json_set(object, "fitting", rows);
    return object;
}

static json_t *breakdown_object(const struct step *step)
{
    json_t *object = json_object();
    for (unsigned part = 0; part < PART_COUNT; part++)
        json_set(object, breakdown_names[part], json_number(step->parts.breakdown_s[part]));
    return object;
}

/* Peaks are what would be needed, so they say by how much a layout misses. */
static json_t *classes_array(const struct result *result)
{
    json_t *classes = json_array();
    for (uint32_t i = 0; i < result->stage_count; i++) {
        const struct result_stage *stage = &result->stages[i];
        json_t *tenants = json_object();
        for (unsigned t = 0; t < TENANT_COUNT; t++)
            json_set(tenants, tenant_names[t], json_number(stage->needed.tenants[t]));
        json_t *one = json_object();
        json_set(one, "stage", json_count(stage->stage));
        json_set(one, "ranks", json_count(stage->rank_count));
        json_set(one, "first_rank", json_count(stage->first_rank));
        json_set(one, "layers", json_count(stage->layers));
        json_set(one, "fits", json_boolean(!stage->ledger->failure.failed));
        json_set(one, "tenants", tenants);
        json_set(one, "peak_allocated_bytes", json_number(stage->needed.peak_allocated_bytes));
        json_set(one, "peak_reserved_bytes", json_number(stage->needed.peak_reserved_bytes));
        json_append(classes, one);
    }
    return classes;
}

static json_t *percentiles_object(const double values[3])
{
    json_t *object = json_object();
    json_set(object, "p10", json_number(values[0]));
    json_set(object, "p50", json_number(values[1]));
    json_set(object, "p90", json_number(values[2]));
    return object;
}

static json_t *influences_array(const struct uncertainty *u)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < u->influence_count; i++) {
        const struct influence *f = &u->influences[i];
        json_t *one = json_object();
        json_set(one, "name", json_text(f->constant->name));
        json_set(one, "value",
                 json_number(constant_value(&u->step.scenario->configuration, f->constant)));
        json_set(one, "error", json_number(f->constant->error_ratio));
        json_set(one, "origin", json_text(constant_origin_names[f->constant->origin]));
        json_set(one, "elasticity", json_number(f->elasticity));
        json_set(one, "variance_ratio", json_number(f->variance_ratio));
        json_append(array, one);
    }
    return array;
}

static json_t *comparison_object(const struct uncertainty *u)
{
    if (u->against == NULL)
        return json_null();
    json_t *object = json_object();
    json_set(object, "scenario", json_text(u->against->scenario->name));
    json_set(object, "step_time_s", json_number(u->against->step_s));
    json_set(object, "fits_ratio", json_number(uncertainty_fits_ratio(u->against)));
    json_set(object, "faster_probability", json_number(u->comparison.faster_probability));
    json_set(object, "verdict", json_text(uncertainty_verdict(&u->comparison)));
    json_set(object, "time_ratio", percentiles_object(u->comparison.ratio));
    json_set(object, "model_error_shared", json_number(u->comparison.shared_ratio));
    return object;
}

static json_t *uncertainty_object(const struct result *result, const struct uncertainty *u)
{
    json_t *object = json_object();
    double step_s[3], tokens[3], mfu[3];
    char text[160];
    for (int i = 0; i < 3; i++) {
        step_s[i] = uncertainty_step_s(&u->step, 0.1 + 0.4 * i);
        tokens[2 - i] = uncertainty_tokens_per_s(result, step_s[i]);
        mfu[2 - i] = uncertainty_mfu_ratio(result, step_s[i]);
    }
    json_set(object, "draws", json_count(u->step.draw_count));
    json_set(object, "constants", json_count(u->step.scenario->stated.constant_count));
    json_set(object, "step_time_s", percentiles_object(step_s));
    json_set(object, "tokens_per_s", percentiles_object(tokens));
    json_set(object, "mfu", percentiles_object(mfu));
    json_set(object, "fits_ratio", json_number(uncertainty_fits_ratio(&u->step)));
    json_set(object, "log_spread_of_constants", json_number(u->step.log_spread));
    json_set(object, "log_spread_of_model", json_number(u->step.own.log_spread));
    json_set(object, "model_error_source", json_text(residues_shipped.from));
    json_set(object, "measured", json_text(model_error_sentence(&u->step.own, text, sizeof text)));
    json_set(object, "own_steps", json_count(u->shift.steps));
    json_set(object, "own_shift_ratio", json_number(expm1(u->shift.log_shift)));
    json_set(object, "model_variance_ratio",
             json_number(uncertainty_model_ratio(u->influences, u->influence_count)));
    json_set(object, "influences", influences_array(u));
    json_set(object, "against", comparison_object(u));
    return object;
}

static json_t *metric(const struct run_row *run, const struct row_column *column)
{
    switch (column->type) {
    case ROW_INTEGER: {
        int64_t value = row_integer(run, column);
        return value == ROW_NULL ? json_null()
               : column->flag    ? json_boolean(value)
                                 : json_integer(value);
    }
    case ROW_REAL:
        return json_number(row_real(run, column));
    case ROW_TEXT:
        break;
    }
    return json_text(row_text(run, column));
}

/* The list of metrics.h; what only weeks have is no key of a single step. */
static void set_metrics(json_t *o, const struct run_row *run)
{
    const struct row_table *table = &row_tables[ROW_run];
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        const bool has_key = strcmp(column->key, "no_key") != 0;
        if (has_key && (column->when != ROW_WEEKS || isfinite(run->wall_s)))
            json_set(o, column->key, metric(run, column));
    }
}

static json_t *stagger_object(const struct stagger *stagger)
{
    const bool tried = stagger->draws > 0;
    json_t *object = json_object();
    json_set(object, "lost_s", json_number(stagger->lost_s));
    json_set(object, "draws", json_count(stagger->draws));
    json_set(object, "apart_s", json_number_if(tried, stagger->apart_s));
    json_set(object, "shortest_step_time_s", json_number_if(tried, stagger->shortest_s));
    json_set(object, "spared_ratio", json_number_if(tried, stagger->spared_ratio));
    return object;
}

static json_t *warnings_array(const struct result *result)
{
    const struct scenario *scenario = result->scenario;
    json_t *array = json_array();
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++)
        json_append(array, json_text(scenario->diagnostics.problems[i].text));
    if (stagger_matters(&result->stagger))
        json_append(array, json_text(lock_step_warning(&result->stagger).s));
    return array;
}

/* Shares of the time of all kernels by what it rests on. */
static json_t *evidence_object(const struct kernel_evidence_row *rows, size_t count)
{
    json_t *object = json_object();
    for (unsigned e = 0; e < KERNEL_EVIDENCE_COUNT; e++) {
        double ratio = 0.0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(rows[i].evidence, kernel_evidence_names[e]) == 0)
                ratio += rows[i].time_ratio;
        json_set(object, kernel_evidence_names[e], json_number(ratio));
    }
    return object;
}

void json_run(const struct result *result, const struct record *record,
              const struct uncertainty *uncertainty, FILE *out)
{
    const bool timed = result->timed;
    size_t count;
    const struct kernel_evidence_row *evidence = record_kernel_evidence(record, &count);
    json_t *o = json_document("orrery.run/1", result->scenario);
    set_metrics(o, record_run(record));
    json_set(o, "first_failure", failure_object(result));
    json_set(o, "advice", advice_object(result));
    json_set(o, "breakdown", timed ? breakdown_object(result->step) : json_null());
    json_set(o, "classes", classes_array(result));
    json_set(o, "stagger", timed ? stagger_object(&result->stagger) : json_null());
    json_set(o, "warnings", warnings_array(result));
    if (count > 0)
        json_set(o, "kernel_evidence", evidence_object(evidence, count));
    if (uncertainty != NULL)
        json_set(o, "uncertainty", uncertainty_object(result, uncertainty));
    if (result->job != NULL)
        json_job(result->job, o);
    json_print(o, out);
}

void json_memory(const struct result *result, const struct rule_of_thumb *rule,
                 uint64_t minimum_gpus, FILE *out)
{
    const struct configuration *c = &result->scenario->configuration;
    json_t *o = json_document("orrery.memory/1", result->scenario);
    double parameters = transformer_parameters(&c->model, c->training.sequence);
    json_set(o, "parameters", json_number(parameters));
    json_set(o, "static_bytes_model", json_number(rule->bytes_per_parameter * parameters));
    json_set(o, "rule_of_thumb_bytes", json_number(rule->total_bytes));
    json_set(o, "rule_of_thumb_static_bytes", json_number(rule->static_bytes));
    json_set(o, "rule_of_thumb_activation_bytes", json_number(rule->activation_bytes));
    json_set(o, "rule_of_thumb_gpus", json_count(rule->cards));
    json_set(o, "rule_of_thumb_static_gpus", json_count(rule->static_cards));
    json_set(o, "rule_of_thumb_inference_gpus", json_count(rule->inference_cards));
    bool found = minimum_gpus > 0 && minimum_gpus != MINIMUM_UNKNOWN;
    json_set(o, "minimum_gpus", found ? json_count(minimum_gpus) : json_null());
    json_set(o, "usable_hbm_bytes", json_number(c->gpu.hbm.usable_bytes));
    json_set(o, "fits", result->step != NULL ? json_boolean(result->step->fits) : json_null());
    json_set(o, "first_failure", failure_object(result));
    json_set(o, "advice", advice_object(result));
    json_set(o, "classes", classes_array(result));
    json_print(o, out);
}

static json_t *figures_of(const struct json_list_entry *entry)
{
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry->figure_count; i++) {
        const struct stated_figure *f = &entry->figures[i];
        json_t *row = json_object();
        json_set(row, "name", json_text(f->name));
        json_set(row, "text", json_text(f->text));
        json_set(row, "value", json_number_if(f->number, f->value));
        json_set(row, "unit", json_text(f->unit));
        json_set(row, "error_ratio", json_number(f->error_ratio));
        json_set(row, "origin", json_text(f->origin));
        json_set(row, "source", json_text(f->source));
        json_append(rows, row);
    }
    return rows;
}

void json_list(const struct json_list_entry *entries, unsigned entry_count, FILE *out)
{
    json_t *o = json_document("orrery.list/1", NULL);
    json_t *rows = json_array();
    for (unsigned i = 0; i < entry_count; i++) {
        json_t *row = json_object();
        json_set(row, "family", json_text(entries[i].family));
        json_set(row, "name", json_text(entries[i].name));
        json_set(row, "doc", json_text(entries[i].doc));
        if (entries[i].figures != NULL)
            json_set(row, "figures", figures_of(&entries[i]));
        json_append(rows, row);
    }
    json_set(o, "rows", rows);
    json_print(o, out);
}

void json_doctor(const struct json_finding *findings, unsigned finding_count, FILE *out)
{
    json_t *o = json_document("orrery.doctor/1", NULL);
    json_t *rows = json_array();
    for (unsigned i = 0; i < finding_count; i++) {
        json_t *row = json_object();
        json_set(row, "what", json_text(findings[i].what));
        json_set(row, "good", json_boolean(findings[i].good));
        json_set(row, "text", json_text(findings[i].text));
        json_append(rows, row);
    }
    json_set(o, "rows", rows);
    json_print(o, out);
}

void json_check(const struct scenario *scenario, const char *refusal, FILE *out)
{
    json_t *o = json_document("orrery.check/1", scenario);
    json_t *problems = json_array();
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *p = &scenario->diagnostics.problems[i];
        json_t *row = json_object();
        json_set(row, "severity", json_text(p->warning ? "warning" : "error"));
        json_set(row, "file", json_text(p->file));
        json_set(row, "line", json_count(p->line));
        json_set(row, "column", json_count(p->column));
        json_set(row, "text", json_text(p->text));
        json_append(problems, row);
    }
    json_set(o, "valid", json_boolean(scenario->diagnostics.error_count == 0 && refusal == NULL));
    json_set(o, "refusal", refusal != NULL ? json_text(refusal) : json_null());
    json_set(o, "errors", json_count(scenario->diagnostics.error_count));
    json_set(o, "problems", problems);
    json_print(o, out);
}

void json_collective(const struct collective_result *rows, unsigned row_count, enum comm_op op,
                     uint64_t ranks, FILE *out)
{
    json_t *o = json_document("orrery.collective/1", NULL);
    json_t *array = json_array();
    for (unsigned i = 0; i < row_count; i++) {
        json_t *row = json_object();
        json_set(row, "op", json_text(comm_op_names[op]));
        json_set(row, "ranks", json_count(ranks));
        json_set(row, "bytes", json_number(rows[i].bytes));
        json_set(row, "algorithm", json_text(rows[i].algorithm));
        json_set(row, "protocol", json_text(rows[i].protocol));
        json_set(row, "time_s", json_number(rows[i].time_s));
        json_set(row, "algbw_bytes_per_s", json_number(rows[i].algbw_bytes_per_s));
        json_set(row, "busbw_bytes_per_s", json_number(rows[i].busbw_bytes_per_s));
        json_append(array, row);
    }
    json_set(o, "rows", array);
    json_print(o, out);
}
