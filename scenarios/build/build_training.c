#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/build/build_parts.h"

static void refuse_kind(struct builder *b, enum section section, const struct value *mapping,
                        const char *key, const char *text)
{
    const char *path = reader_path(&b->reader, schema_section(section)->path, key);
    section_unknown_name(b, section, mapping, key, text,
                         family_kinds(b->arena, schema_family(path)));
}

static void build_run(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_TRAINING);
    const struct value *mapping = section_take(b, b->root, SECTION_TRAINING);
    struct training_keys keys = {.precision = "", .optimizer = ""};
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    keys.spec.tokens = (double)keys.tokens;
    keys.spec.precision = precision_find(keys.precision);
    keys.spec.optimizer = optimizer_find(keys.optimizer);
    if (*keys.precision && keys.spec.precision == NULL)
        refuse_kind(b, SECTION_TRAINING, mapping, "precision", keys.precision);
    if (*keys.optimizer && keys.spec.optimizer == NULL)
        refuse_kind(b, SECTION_TRAINING, mapping, "optimizer", keys.optimizer);
    b->scenario->configuration.training = keys.spec;
    section_finish(b, SECTION_TRAINING, mapping, (struct params){NULL, 0}, schema->path);
}

static void build_layout(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_LAYOUT);
    const struct value *mapping = section_take(b, b->root, SECTION_LAYOUT);
    struct layout_keys keys = {.schedule = "", .sharding = ""};
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    keys.spec.schedule = schedule_find(keys.schedule);
    keys.spec.sharding = sharding_find(keys.sharding);
    if (*keys.schedule && keys.spec.schedule == NULL)
        refuse_kind(b, SECTION_LAYOUT, mapping, "schedule", keys.schedule);
    if (*keys.sharding && keys.spec.sharding == NULL)
        refuse_kind(b, SECTION_LAYOUT, mapping, "sharding", keys.sharding);
    b->scenario->configuration.layout = keys.spec;
    section_finish(b, SECTION_LAYOUT, mapping, (struct params){NULL, 0}, schema->path);
}

static void build_software(struct builder *b)
{
    struct software_profile *software = &b->scenario->configuration.software;
    const struct schema_section *schema = schema_section(SECTION_SOFTWARE);
    const struct value *mapping = section_take(b, b->root, SECTION_SOFTWARE);
    struct software_keys keys = {""};
    if (mapping == NULL || !reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys))
        return;
    const struct value *base = section_entry(b, SECTION_SOFTWARE, mapping, "profile", keys.profile);
    if (base == NULL)
        return;
    struct value *merged = section_overlay(b, SECTION_SOFTWARE, base, mapping);
    reader_fill(&b->reader, merged, schema->path, schema_table(schema), software);
    section_finish(b, SECTION_SOFTWARE, merged, (struct params){NULL, 0}, schema->path);
    software->name = keys.profile;
    struct constant_section of = {SECTION_SOFTWARE, software->name, base, mapping, NULL};
    build_constants(b, &of, schema_table(schema), software);
    build_figures(b, &of, schema_table(schema), merged);
}

void build_training(struct builder *b)
{
    build_run(b);
    build_layout(b);
    build_software(b);
}
