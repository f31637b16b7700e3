#include "analysis/tell/json/json_plan.h"

#include <math.h>

#include "analysis/tell/json/json_parts.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"

static void set_layout(json_t *o, const struct plan_layout *l)
{
    json_set(o, "tp", json_count(l->tp));
    json_set(o, "pp", json_count(l->pp));
    json_set(o, "dp", json_count(l->dp));
    json_set(o, "cp", json_count(l->cp));
    json_set(o, "ep", json_count(l->ep));
    json_set(o, "vpp", json_count(l->vpp));
    json_set(o, "microbatch", json_count(l->microbatch));
    json_set(o, "schedule", json_text(l->schedule->head.name));
    json_set(o, "sharding", json_text(l->sharding->head.name));
    json_set(o, "recompute", json_text(recompute_names[l->recompute]));
    json_set(o, "recompute_layers", json_count(l->recompute_layers));
    json_set(o, "sequence_parallel", json_boolean(l->sequence_parallel));
    json_set(o, "ends_count", json_boolean(l->ends_count));
    json_set(o, "first_stage_layers",
             json_number_if(l->first_stage_layers > 0, l->first_stage_layers));
    json_set(o, "last_stage_layers",
             json_number_if(l->last_stage_layers > 0, l->last_stage_layers));
}

static json_t *parts_object(const double parts_s[PART_COUNT])
{
    json_t *o = json_object();
    for (unsigned p = 0; p < PART_COUNT; p++)
        json_set(o, breakdown_names[p], json_number(parts_s[p]));
    return o;
}

static json_t *weeks_object(const struct search_weeks *w)
{
    if (w == NULL)
        return json_null();
    json_t *o = json_object();
    json_set(o, "seeds", json_count(w->seeds));
    json_set(o, "goodput", json_number(w->goodput_ratio));
    json_set(o, "goodput_low", json_number(w->low_ratio));
    json_set(o, "goodput_high", json_number(w->high_ratio));
    json_set(o, "kept_tokens_per_s", json_number(w->tokens_per_s));
    json_set(o, "failures", json_number(w->failures));
    json_set(o, "job_mtbf_s", json_number(w->mtbf_s));
    json_set(o, "checkpoint_policy", json_text(w->checkpoint));
    json_set(o, "checkpoint_interval_s", json_number(w->interval_s));
    json_set(o, "checkpoint_stall_s", json_number(w->stall_s));
    json_set(o, "recovery_policy", json_text(w->recovery));
    json_set(o, "limited", json_boolean(w->limited));
    return o;
}

static json_t *leader_object(const struct search_leader *l, const struct search_row *row,
                             uint32_t rank)
{
    json_t *o = json_object();
    json_set(o, "rank", json_number_if(rank > 0, rank));
    set_layout(o, &row->layout);
    json_set(o, "detail", json_text(l->played ? "op" : "pass"));
    json_set(o, "measured", json_text(nearness_names[l->nearness]));
    json_set(o, "step_time_s", json_number(l->step_s));
    json_set(o, "pass_step_time_s", json_number_if(row->pass_s > 0.0, row->pass_s));
    json_set(o, "p10", json_number(l->p10_s));
    json_set(o, "p90", json_number(l->p90_s));
    json_set(o, "forecast_step_time_s", json_number_if(l->forecast_s > 0.0, l->forecast_s));
    json_set(o, "as_fast_probability", json_number(l->as_fast_probability));
    json_set(o, "tokens_per_s", json_number(l->tokens_per_s));
    json_set(o, "mfu", json_number(l->mfu_ratio));
    json_set(o, "peak_reserved_bytes", json_number(l->peak_reserved_bytes));
    json_set(o, "peak_allocated_bytes", json_number(l->peak_allocated_bytes));
    json_set(o, "cost_usd_per_1e9_tokens", json_number(l->usd_per_1e9_tokens));
    json_set(o, "training_days", json_number(l->training_s / DAY));
    json_set(o, "training_usd", json_number(l->training_usd));
    json_set(o, "weeks", weeks_object(l->weeks));
    json_set(o, "breakdown", l->played ? parts_object(l->breakdown_s) : json_null());
    return o;
}

static json_t *fates_object(const uint32_t fates[FATE_COUNT])
{
    json_t *o = json_object();
    for (unsigned f = FATE_RULE; f < FATE_LEADER; f++)
        json_set(o, search_fate_names[f], json_count(fates[f]));
    return o;
}

static json_t *overflow_object(const struct search_overflow *f)
{
    if (!f->known)
        return json_null();
    json_t *o = json_object();
    json_set(o, "rank", json_count(f->rank));
    json_set(o, "stage", json_count(f->stage));
    json_set(o, "tensor", json_text(f->tensor));
    json_set(o, "tenant", json_text(f->tenant));
    json_set(o, "at", json_text(f->call_site));
    json_set(o, "bytes", json_number(f->bytes));
    json_set(o, "short_bytes", json_number(f->short_bytes));
    json_set(o, "allocated_bytes", json_number(f->allocated_bytes));
    json_set(o, "needed_bytes", json_number(f->needed_bytes));
    json_set(o, "usable_bytes", json_number(f->usable_bytes));
    return o;
}

static json_t *why_object(const struct search_verdict *v)
{
    if (v == NULL)
        return json_null();
    json_t *o = json_object();
    json_set(o, "matched", json_count(v->found->counts.considered));
    json_set(o, "rejected", fates_object(v->found->counts.fates));
    if (v->row == NULL)
        return o;
    json_t *row = json_object();
    set_layout(row, &v->row->layout);
    json_set(row, "fate", json_text(search_fate_names[v->row->fate]));
    json_set(row, "rule", json_text(v->row->rule));
    json_set(row, "sentence", json_text(v->rule[0] != '\0' ? v->rule : NULL));
    json_set(row, "least_step_time_s", json_number_if(v->row->least_s > 0.0, v->row->least_s));
    json_set(row, "least_bytes", json_number_if(v->row->least_bytes > 0.0, v->row->least_bytes));
    json_set(row, "first_failure", overflow_object(&v->overflow));
    json_set(row, "missed",
             json_text(v->missed != FATE_OPEN ? search_fate_names[v->missed] : NULL));
    json_set(row, "played", v->played ? leader_object(&v->leader, v->row, 0) : json_null());
    json_set(row, "lost_s", v->played ? parts_object(v->lost_s) : json_null());
    json_set(o, "layout", row);
    return o;
}

static json_t *launch_object(const struct plan_document *plan)
{
    if (plan->launch == NULL)
        return json_null();
    json_t *o = json_object(), *lines = json_array(), *notes = json_array();
    const struct launch_text *text = plan->launch_text;
    json_set(o, "framework", json_text(plan->launch->head.name));
    json_set(o, "framework_version", json_text(plan->launch->version));
    json_set(o, "refused", json_boolean(text->refused));
    for (uint32_t i = 0; i < text->note_count; i++) {
        json_t *note = json_object();
        json_set(note, "weight", json_text(launch_weight_names[text->notes[i].weight]));
        json_set(note, "text", json_text(text->notes[i].text));
        json_append(notes, note);
    }
    for (uint32_t i = 0; i < text->line_count; i++)
        json_append(lines, json_text(text->lines[i]));
    json_set(o, "notes", notes);
    json_set(o, "lines", lines);
    return o;
}

static void set_terms(json_t *o, const struct search_question *q)
{
    json_t *terms = json_object();
    json_set(terms, "headroom", json_number(q->headroom_ratio));
    json_set(terms, "deadline_days",
             json_number_if(q->terms.deadline_s > 0.0, q->terms.deadline_s / DAY));
    json_set(terms, "budget_usd", json_number_if(q->terms.budget_usd > 0.0, q->terms.budget_usd));
    json_set(o, "best", json_text(search_best_names[q->terms.best]));
    json_set(o, "terms", terms);
}

static json_t *front_array(const struct search_front *front)
{
    if (front == NULL)
        return json_null();
    json_t *array = json_array();
    for (uint32_t i = 0; i < front->count; i++)
        json_append(array, leader_object(&front->leaders[i], front->leaders[i].row, i + 1));
    return array;
}

static json_t *batch_object(const struct search_batch *b)
{
    if (!b->known)
        return json_null();
    json_t *o = leader_object(&b->leader, b->leader.row, 0);
    json_set(o, "global_batch", json_count(b->batch));
    json_set(o, "layouts", json_count(b->layouts));
    json_set(o, "own_layouts", json_count(b->own_layouts));
    json_set(o, "faster_ratio", json_number(b->faster_ratio));
    return o;
}

/* What the user's measured steps did to the forecast of the first. */
static json_t *own_steps(const struct measured_shift *shift)
{
    if (shift->steps == 0)
        return json_null();
    json_t *o = json_object();
    json_set(o, "steps", json_count(shift->steps));
    json_set(o, "shift_ratio", json_number(expm1(shift->log_shift)));
    json_set(o, "before_log_spread", json_number(shift->before_log_spread));
    return o;
}

/* The layout of the scenario itself: its rank among `layouts`, and what no other of them has. */
static json_t *own_object(const struct search_own *own)
{
    if (!own->fits)
        return json_null();
    struct arena *arena = arena_create();
    json_t *o = leader_object(&own->leader, &own->row, own->rank), *values = json_array();
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        if ((own->unsearched >> key & 1u) != 0)
            json_append(values, json_text(search_own_value(arena, own, (enum plan_axis)key)));
    json_set(o, "not_searched", values);
    json_set(o, "less_free_than_headroom", json_boolean(own->tight));
    arena_destroy(arena);
    return o;
}

void json_plan(const struct plan_document *plan, FILE *out)
{
    const struct search *s = plan->search;
    json_t *o = json_document("orrery.plan/1", plan->scenario);
    json_t *layouts = json_array(), *pareto = json_array();
    set_terms(o, &s->question);
    json_set(o, "searched", json_count(s->counts.considered));
    json_set(o, "rejected", fates_object(s->counts.fates));
    json_set(o, "timed", json_count(s->counts.timed));
    json_set(o, "played", json_count(s->counts.played));
    json_set(o, "unplayed", json_count(s->counts.unplayed));
    json_set(o, "stopped", json_boolean(s->stopped));
    json_set(o, "seconds", json_number(plan->seconds));
    for (uint32_t i = 0; i < s->leader_count; i++)
        json_append(layouts, leader_object(&s->leaders[i], s->leaders[i].row, i + 1));
    for (uint32_t i = 0; i < s->pareto_count; i++)
        json_append(pareto, json_count(s->pareto[i] + 1));
    if (s->leader_count > 0) {
        char sentence[512];
        json_set(o, "model_error",
                 json_text(model_error_sentence(&s->own, sentence, sizeof sentence)));
    } else {
        json_set(o, "model_error", json_null());
    }
    json_set(o, "own_steps", own_steps(plan->shift));
    json_set(o, "own", own_object(plan->own));
    json_set(o, "fastest_measured",
             s->has_safe ? leader_object(&s->safe, s->safe.row, 0) : json_null());
    json_set(o, "needed_goodput", json_number(s->needed_goodput_ratio));
    json_set(o, "nearest", s->has_near ? leader_object(&s->near, s->near.row, 0) : json_null());
    json_set(o, "layouts", layouts);
    json_set(o, "pareto", pareto);
    json_set(o, "front", front_array(plan->front));
    json_set(o, "better_batch", batch_object(plan->batch));
    json_set(o, "launch", launch_object(plan));
    json_set(o, "why", why_object(plan->why));
    json_print(o, out);
}

static json_t *machine_object(const struct search_machine *m)
{
    json_t *one = json_object();
    json_set(one, "values", json_text(m->label));
    json_set(one, "gpu", json_text(m->gpu));
    json_set(one, "gpus", json_count(m->gpus));
    json_set(one, "searched", json_count(m->searched));
    json_set(one, "stopped", json_boolean(m->stopped));
    json_set(one, "best", json_boolean(m->unbeaten));
    json_set(one, "first", json_boolean(m->first));
    json_set(one, "missed", json_text(search_machine_missed(m)));
    json_set(one, "layout", m->found ? leader_object(&m->leader, m->leader.row, 1) : json_null());
    json_set(one, "nearest", m->near ? leader_object(&m->leader, m->leader.row, 0) : json_null());
    json_set(one, "training_days", json_number_if(m->found, m->leader.training_s / DAY));
    json_set(one, "training_usd", json_number_if(m->found, m->leader.training_usd));
    return one;
}

void json_plan_machines(const struct search_machines *machines, FILE *out)
{
    json_t *o = json_document("orrery.plan-machines/1", NULL);
    json_t *array = json_array(), *front = machines->has_front ? json_array() : json_null();
    set_terms(o, &machines->question);
    for (size_t i = 0; i < machines->count; i++)
        json_append(array, machine_object(&machines->rows[i]));
    for (size_t i = 0; machines->has_front && i < machines->front_count; i++) {
        const struct search_point *p = &machines->front[i];
        json_t *one = leader_object(p->leader, p->leader->row, 0);
        json_set(one, "values", json_text(p->machine->label));
        json_set(one, "free_ratio", json_number(p->free_ratio));
        json_append(front, one);
    }
    json_set(o, "machines", array);
    json_set(o, "front", front);
    json_print(o, out);
}
