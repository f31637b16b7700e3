/* The script that starts a layout. */
#include "analysis/tell/json/json.h"
#include "analysis/tell/json/json_parts.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

static json_t *layout_object(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    json_t *o = json_object();
    json_set(o, "ranks", json_count(configuration_ranks(c)));
    json_set(o, "tp", json_count(l->tp));
    json_set(o, "pp", json_count(l->pp));
    json_set(o, "vpp", json_count(l->pipeline.vpp));
    json_set(o, "dp", json_count(l->dp));
    json_set(o, "cp", json_count(l->cp));
    json_set(o, "microbatch", json_count(l->microbatch));
    json_set(o, "global_batch", json_count(c->training.global_batch));
    json_set(o, "sequence", json_count(c->training.sequence));
    json_set(o, "schedule", json_text(l->pipeline.schedule->head.name));
    json_set(o, "sharding", json_text(l->data.sharding->head.name));
    json_set(o, "recompute", json_text(recompute_names[l->recompute]));
    json_set(o, "sequence_parallel", json_boolean(l->sequence_parallel));
    json_set(o, "precision", json_text(c->training.precision->head.name));
    return o;
}

void json_launch(const struct scenario *scenario, const struct launch_kind *kind,
                 const struct launch_text *text, FILE *out)
{
    json_t *o = json_document("orrery.launch/1", scenario);
    json_t *lines = json_array(), *notes = json_array();
    json_set(o, "framework", json_text(kind->head.name));
    json_set(o, "framework_version", json_text(kind->version));
    json_set(o, "refused", json_boolean(text->refused));
    json_set(o, "layout", layout_object(&scenario->configuration));
    for (uint32_t i = 0; i < text->note_count; i++) {
        json_t *row = json_object();
        json_set(row, "weight", json_text(launch_weight_names[text->notes[i].weight]));
        json_set(row, "text", json_text(text->notes[i].text));
        json_append(notes, row);
    }
    json_set(o, "notes", notes);
    for (uint32_t i = 0; i < text->line_count; i++)
        json_append(lines, json_text(text->lines[i]));
    json_set(o, "lines", lines);
    json_print(o, out);
}
