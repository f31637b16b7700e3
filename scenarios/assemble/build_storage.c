#include <string.h>

#include "scenarios/assemble/build_job.h"
#include "scenarios/assemble/build_parts.h"

/* Fills a tier from its entry in the catalogue (NULL: a new one) under the keys of `own`. */
static bool fill(struct builder *b, const struct value *own, const struct value *entry,
                 const char *path, const char *name, struct storage_tier *tier)
{
    const struct schema_section *schema = schema_section(SECTION_STORAGE);
    const struct value *merged = section_overlay(b, SECTION_STORAGE, entry, own);
    bool good = reader_fill(&b->reader, merged, path, schema_table(schema), tier);
    section_finish(b, SECTION_STORAGE, merged, (struct params){NULL, 0}, path);
    tier->name = name;
    struct constant_section of = {SECTION_STORAGE, name, entry, own, NULL};
    build_figures(b, &of, schema_table(schema), merged);
    return good;
}

static const struct storage_tier *own_tier(const struct builder *b, const char *name)
{
    for (unsigned i = 0; i < b->tier_count; i++)
        if (strcmp(b->tiers[i].name, name) == 0)
            return &b->tiers[i];
    return NULL;
}

static void build_item(struct builder *b, const struct value *item, const char *path)
{
    const struct schema_section *schema = schema_section(SECTION_STORAGE);
    const struct value *mapping = reader_mapping(&b->reader, item, path);
    struct storage_keys keys = {""};
    if (mapping == NULL || !reader_fill(&b->reader, mapping, path, schema->keys, &keys))
        return;
    if (own_tier(b, keys.name) != NULL)
        problems_error(b->problems, section_mark(mapping, "name"), "%s.name: '%s' stands twice",
                       path, source_quote(b->arena, keys.name));
    else if (*keys.name == '\0' || strpbrk(keys.name, "+ \t"))
        problems_error(b->problems, section_mark(mapping, "name"),
                       "%s.name: a tier's name is one word without '+'", path);
    else
        fill(b, mapping, catalogue_find(&b->catalogue, FAMILY_STORAGE, keys.name), path, keys.name,
             &b->tiers[b->tier_count++]);
}

void build_storage(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_STORAGE);
    const struct value *items = section_items(b, b->root, SECTION_STORAGE);
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next)
        index++;
    b->tiers = ARENA_ARRAY(b->arena, struct storage_tier, index + 1);
    index = 0;
    for (const struct value *item = items; item; item = item->next)
        build_item(b, item, arena_format(b->arena, "%s[%u]", schema->path, index++));
}

static struct name_list known_tiers(struct builder *b)
{
    struct name_list known = catalogue_names(&b->catalogue, FAMILY_STORAGE);
    const char **names = ARENA_ARRAY(b->arena, const char *, known.count + b->tier_count + 1);
    for (unsigned i = 0; i < b->tier_count; i++)
        names[i] = b->tiers[i].name;
    for (unsigned i = 0; i < known.count; i++)
        names[b->tier_count + i] = known.names[i];
    return (struct name_list){names, b->tier_count + known.count};
}

bool build_tier(struct builder *b, struct mark where, const char *name, struct storage_tier *out)
{
    const struct storage_tier *own = own_tier(b, name);
    if (own) {
        *out = *own;
        return true;
    }
    const struct value *entry = catalogue_find(&b->catalogue, FAMILY_STORAGE, name);
    if (entry == NULL) {
        problems_error(b->problems, where, "checkpoint.storage: unknown storage tier '%s'%s",
                       source_quote(b->arena, name), names_advice(b->arena, name, known_tiers(b)));
        return false;
    }
    struct value *none = value_new(b->arena, VALUE_MAPPING, entry->mark);
    none->key_mark = entry->key_mark;
    return fill(b, none, entry, arena_format(b->arena, "storage.%s", name), name, out);
}
