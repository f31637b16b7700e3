#include "analysis/validate/rows/validate_models.h"
#include "scenarios/describe/describe.h"

#include <stdio.h>
#include <stdlib.h>

static bool has_experts(const struct validation *v)
{
    for (size_t i = 0; i < v->row_count; i++)
        if (strtoull(csv_cell(v->csv, v->rows[i].record, "experts"), NULL, 10) > 0)
            return true;
    return false;
}

static bool read_model(const struct validation *v, const char *name, struct validate_models *out,
                       struct error *error)
{
    char text[256];
    const int length = snprintf(text, sizeof text, "model: {preset: %.128s}\n", name);
    struct scenario_options how = {.catalogue = v->catalogue};
    struct scenario *s = scenario_read("model", text, (size_t)length, &how, error);
    if (s == NULL)
        return false;
    if (s->configuration.model.moe.experts > 0)
        out->rows[out->count++] =
            (struct alike_model){arena_text(v->arena, name), s->configuration.model};
    scenario_destroy(s);
    return true;
}

const struct validate_models *validate_models_read(const struct validation *v, struct error *error)
{
    struct validate_models *out = ARENA_NEW(v->arena, struct validate_models);
    const struct catalogue_entry *entries;
    if (!has_experts(v))
        return out;
    const unsigned count = describe_entries("models", v->catalogue, v->arena, &entries, error);
    if (count == 0)
        return NULL;
    out->rows = ARENA_ARRAY(v->arena, struct alike_model, count);
    for (unsigned i = 0; i < count; i++)
        if (!read_model(v, entries[i].name, out, error))
            return NULL;
    return out;
}

const struct alike_model *validate_models_alike(const struct validate_models *models,
                                                const struct validate_run *run)
{
    const struct alike_model *only = NULL;
    for (unsigned i = 0; i < models->count; i++) {
        const struct model_shape *m = &models->rows[i].shape;
        if (m->hidden != run->model.hidden || m->attention.heads != run->model.heads ||
            m->moe.experts != run->model.experts ||
            m->moe.experts_per_token != run->model.experts_per_token ||
            m->moe.ffn_hidden != run->model.moe_ffn_hidden || m->latent.indexer.heads > 0)
            continue; /* no row says of an indexer that there was one */
        if (only != NULL)
            return NULL;
        only = &models->rows[i];
    }
    return only;
}
