#include "analysis/tell/json/json_job.h"

#include "analysis/record/numbers/storage_use.h"

static json_t *badput_object(const struct job_result *result)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < BADPUT_COUNT; i++)
        json_set(object, badput_names[i], json_number(result->badput_s[i]));
    return object;
}

static json_t *links_object(const struct job_result *result)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        json_set(object, restart_link_names[i], json_number(result->restart_link_s[i]));
    json_set(object, "load", json_number(result->load_s));
    return object;
}

static json_t *causes_object(const struct job_record *r)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < r->spec.cause_count; i++)
        json_set(object, r->spec.causes[i].name, json_count(r->stops[i]));
    return object;
}

static void set_storage(const struct job_record *r, unsigned level, json_t *o)
{
    struct storage_use storage;
    char text[384];
    storage_use_of(r, level, &storage);
    json_set(o, "saves", json_count(r->result.copies[level]));
    json_set(o, "bytes_per_save", json_number(r->spec.checkpoint.plan.levels[level].bytes));
    json_set(o, "written_bytes", json_number(storage.written_bytes));
    json_set(o, "mean_bytes_per_s", json_number(storage.mean_bytes_per_s));
    json_set(o, "peak_bytes_per_s", json_number(storage.peak_bytes_per_s));
    json_set(o, "busy_ratio", json_number(storage.busy_ratio));
    json_set(o, "kept_bytes", json_number(storage.kept_bytes));
    bool warned = storage_use_warning(r, level, text, sizeof text);
    json_set(o, "warning", warned ? json_text(text) : json_null());
}

static json_t *levels_array(const struct job_record *r)
{
    const struct checkpoint_plan *plan = &r->spec.checkpoint.plan;
    json_t *levels = json_array();
    for (unsigned i = 0; i < plan->level_count; i++) {
        const struct checkpoint_level *l = &plan->levels[i];
        json_t *one = json_object();
        json_set(one, "tier", json_text(l->tier));
        json_set(one, "every", json_count(l->every));
        json_set(one, "stall_s", json_number(l->stall_s));
        json_set(one, "persist_s", json_number(l->persist_s));
        json_set(one, "load_s", json_number(l->load_s));
        json_set(one, "slowdown", json_number(l->slowdown_ratio));
        set_storage(r, i, one);
        json_append(levels, one);
    }
    return levels;
}

void json_job(const struct job_record *r, json_t *o)
{
    json_set(o, "interruptions_by_cause", causes_object(r));
    json_set(o, "badput", badput_object(&r->result));
    json_set(o, "restart_links", links_object(&r->result));
    json_set(o, "checkpoint_levels", levels_array(r));
}
