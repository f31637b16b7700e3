#include <string.h>

#include "scenarios/assemble/build_parts.h"
#include "scenarios/catalogue/huggingface.h"
#include "scenarios/language/file.h"

/* The keys that a preset or a config.json gives, NULL without; false: it could not be had. */
static bool find_base(struct builder *b, const struct value *mapping, const struct model_keys *keys,
                      const struct value **base)
{
    *base = NULL;
    if (*keys->preset && *keys->hf) {
        problems_error(b->problems, section_mark(mapping, "hf"),
                       "model: 'preset' and 'hf' exclude each other");
        return false;
    }
    if (*keys->preset)
        *base = section_entry(b, SECTION_MODEL, mapping, "preset", keys->preset);
    if (*keys->hf) {
        const struct mark where = section_mark(mapping, "hf");
        const char *path = section_file(b, "model.hf", keys->hf, where);
        *base = path != NULL ? huggingface_read(b->arena, path, where, &b->catalogue, b->problems)
                             : NULL;
    }
    return *base || (*keys->preset == '\0' && *keys->hf == '\0');
}

static const char *model_name(struct builder *b, const struct model_keys *keys)
{
    if (*keys->preset)
        return keys->preset;
    return *keys->hf ? file_stem(b->arena, keys->hf) : "custom";
}

/* What transformer_complete would derive must come out whole. */
static void complete(struct builder *b, const struct value *merged, struct model_shape *model)
{
    struct layer_pattern pattern;
    struct error error;
    if (!pattern_read(model->pattern.text, &pattern, &error)) {
        problems_error(b->problems, section_mark(merged, "pattern"), "model.pattern: %s",
                       error.text);
        return;
    }
    if (model->attention.head_size == 0 && model->hidden % model->attention.heads != 0)
        problems_error(
            b->problems, section_mark(merged, "heads"),
            "model.heads: hidden (%llu) is not divisible by heads (%llu); give head_size",
            (unsigned long long)model->hidden, (unsigned long long)model->attention.heads);
    else
        transformer_complete(model);
}

/* Of another shape nobody said how it was trained, unless the scenario does. */
static void forget_usual(const struct value *mapping, struct model_shape *model)
{
    static const char *const keys[] = {"usual_precision", "usual_dispatch", "usual_schedule"};
    const char **texts[] = {&model->usual.precision, &model->usual.dispatch,
                            &model->usual.schedule};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (value_find(mapping, keys[i]) == NULL)
            *texts[i] = "";
    if (value_find(mapping, "usual_recompute") == NULL)
        model->usual.recompute = RECOMPUTE_NONE;
}

void build_model(struct builder *b)
{
    struct model_shape *model = &b->scenario->configuration.model;
    const struct schema_section *schema = schema_section(SECTION_MODEL);
    const struct value *mapping = section_take(b, b->root, SECTION_MODEL), *base = NULL;
    struct model_keys keys = {"", ""};
    if (mapping == NULL)
        return;
    bool sound = reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    if (!sound || !find_base(b, mapping, &keys, &base))
        return;
    struct value *merged = section_overlay(b, SECTION_MODEL, base, mapping);
    sound = reader_fill(&b->reader, merged, schema->path, schema_table(schema), model);
    section_finish(b, SECTION_MODEL, merged, (struct params){NULL, 0}, schema->path);
    model->name = model_name(b, &keys);
    struct constant_section of = {SECTION_MODEL, model->name, base, mapping,
                                  *keys.hf ? source_clean(b->arena, keys.hf) : NULL};
    build_figures(b, &of, schema_table(schema), merged);
    if (!sound)
        return;
    bool reshaped = section_overlay(b, SECTION_MODEL, NULL, mapping)->count > 0;
    if (reshaped && value_find(mapping, "nominal_parameters") == NULL)
        model->nominal_parameters = 0; /* the number in the name is no longer this model's */
    if (reshaped)
        forget_usual(mapping, model);
    complete(b, merged, model);
}
