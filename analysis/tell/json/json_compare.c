#include <math.h>

#include "analysis/tell/json/json_explain.h"
#include "analysis/tell/json/json_parts.h"

static json_t *side_object(const struct compared_side *side)
{
    const struct run_row *r = record_run(&side->record);
    json_t *o = json_object();
    json_set(o, "scenario", json_text(r->scenario));
    json_set(o, "path", json_text(side->path));
    json_set(o, "seed", json_count((uint64_t)r->seed));
    json_set(o, "digest", json_text(r->digest));
    json_set(o, "fits", json_boolean(r->fits == 1));
    json_set(o, "ranks", json_count((uint64_t)r->rank_count));
    json_set(o, "step_time_s", json_number(r->step_s));
    json_set(o, "tokens_per_s", json_number(r->tokens_per_s));
    json_set(o, "mfu", json_number(r->mfu_ratio));
    json_set(o, "tokens_per_day", json_number(r->tokens_per_day));
    json_set(o, "peak_reserved_bytes", json_number(r->peak_reserved_bytes));
    json_set(o, "cost_usd_per_step", json_number(r->cost_usd_per_step));
    json_set(o, "cost_usd_per_1e9_tokens", json_number(r->cost_usd_per_1e9_tokens));
    return o;
}

static json_t *term_object(const struct compared_term *t)
{
    json_t *o = json_object();
    json_set(o, "term", json_text(t->key));
    json_set(o, "what", json_text(t->what));
    json_set(o, "a_s", json_number(t->seconds[0]));
    json_set(o, "b_s", json_number(t->seconds[1]));
    json_set(o, "difference_s", json_number(t->seconds[1] - t->seconds[0]));
    json_set(o, "a_gpu_s_per_1e6_tokens", json_number(t->gpu_s[0]));
    json_set(o, "b_gpu_s_per_1e6_tokens", json_number(t->gpu_s[1]));
    json_set(o, "difference_gpu_s_per_1e6_tokens", json_number(t->gpu_s[1] - t->gpu_s[0]));
    return o;
}

/* Terms that add up, or the parts of compute. */
static json_t *terms_array(const struct comparison *c, bool parts)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < c->term_count; i++)
        if (c->terms[i].part == parts)
            json_append(array, term_object(&c->terms[i]));
    return array;
}

static json_t *bytes_object(const struct compared_bytes *m)
{
    json_t *o = json_object();
    json_set(o, "tenant", json_text(m->key));
    json_set(o, "a_bytes", json_number(m->bytes[0]));
    json_set(o, "b_bytes", json_number(m->bytes[1]));
    json_set(o, "difference_bytes", json_number(m->bytes[1] - m->bytes[0]));
    return o;
}

static json_t *settings_array(const struct comparison *c)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < c->setting_count; i++) {
        json_t *o = json_object();
        json_set(o, "name", json_text(c->settings[i].name));
        json_set(o, "a", json_text(c->settings[i].text[0]));
        json_set(o, "b", json_text(c->settings[i].text[1]));
        json_set(o, "of_the_catalogue", json_boolean(c->settings[i].figure));
        json_append(array, o);
    }
    return array;
}

void json_compare(const struct compared_side sides[2], const struct comparison *c, FILE *out)
{
    json_t *o = json_document("orrery.compare/1", NULL), *memory = json_array();
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        json_append(memory, bytes_object(&c->memory[t]));
    json_set(o, "a", side_object(&sides[0]));
    json_set(o, "b", side_object(&sides[1]));
    json_set(o, "timed", json_boolean(c->timed));
    json_set(o, "of_kept_steps", json_boolean(c->weeks));
    json_set(o, "terms", c->timed ? terms_array(c, false) : json_null());
    json_set(o, "compute", c->timed ? terms_array(c, true) : json_null());
    json_set(o, "total", c->timed ? term_object(&c->total) : json_null());
    json_set(o, "memory", memory);
    json_set(o, "peak", bytes_object(&c->peak));
    json_set(o, "settings", settings_array(c));
    json_print(o, out);
}
