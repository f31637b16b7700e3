#include <math.h>
#include <string.h>

#include "scenarios/assemble/build_job.h"
#include "scenarios/assemble/build_parts.h"
#include "scenarios/language/quantity.h"

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

static void wrong(struct builder *b, const struct value *checkpoint, const char *key,
                  const char *why)
{
    problems_error(b->problems, section_mark(checkpoint, key), "checkpoint.%s: %s", key, why);
}

static const struct param *row_of(const char *key)
{
    const struct schema_section *schema = schema_section(SECTION_CHECKPOINT);
    const struct param *row = schema->keys.rows;
    while (strcmp(row->name, key) != 0)
        row++;
    return row;
}

static bool given(const struct value *checkpoint, const char *key)
{
    return reader_given(checkpoint, row_of(key));
}

/* "host+pfs": each tier by its name, from the fastest to the safest. */
static bool read_tiers(struct builder *b, struct mark where, const char *text)
{
    struct job_storage *storage = &b->scenario->storage;
    char *names = arena_text(b->arena, text);
    while (*names) {
        size_t length = strcspn(names, "+");
        char *next = names[length] == '+' ? names + length + 1 : names + length;
        names[length] = '\0';
        if (storage->tier_count == CHECKPOINT_LEVEL_MAX) {
            problems_error(b->problems, where, "checkpoint.storage: more than %d tiers",
                           CHECKPOINT_LEVEL_MAX);
            return false;
        }
        for (unsigned i = 0; i < storage->tier_count; i++) {
            if (strcmp(storage->tiers[i].name, names) == 0) {
                problems_error(b->problems, where, "checkpoint.storage: '%s' stands twice",
                               source_quote(b->arena, names));
                return false;
            }
        }
        if (!build_tier(b, where, names, &storage->tiers[storage->tier_count++]))
            return false;
        names = next;
    }
    return true;
}

static void check_tiers(struct builder *b, const struct value *checkpoint,
                        const struct checkpoint_kind *kind)
{
    unsigned count = b->scenario->storage.tier_count;
    if (count < kind->tiers_min || count > kind->tiers_max)
        wrong(b, checkpoint, "storage",
              arena_format(b->arena, "%s takes %u to %u tiers joined by '+', as in '%s', not %u",
                           kind->head.name, kind->tiers_min, kind->tiers_max,
                           *kind->default_storage ? kind->default_storage : "auto", count));
}

static void check_interval(struct builder *b, const struct value *checkpoint,
                           const struct checkpoint_kind *kind)
{
    bool timed = given(checkpoint, "interval"), counted = given(checkpoint, "interval_steps");
    if (timed && counted)
        wrong(b, checkpoint, "interval_steps", "'interval' is given too; keep one of them");
    if (kind->tiers_max == 0 && (timed || counted))
        problems_warning(
            b->problems, section_mark(checkpoint, timed ? "interval" : "interval_steps"),
            "checkpoint: %s saves nothing; the interval has no effect", kind->head.name);
}

static struct checkpoint_spec spec_of(const struct checkpoint_keys *keys)
{
    return (struct checkpoint_spec){.kind = checkpoint_find(keys->policy),
                                    .interval_s = keys->interval_s,
                                    .interval_steps = keys->interval_steps,
                                    .write_share_ratio = keys->write_share_ratio,
                                    .bytes_per_parameter = keys->bytes_per_parameter,
                                    .keep = keys->keep,
                                    .corrupt_ratio = keys->corrupt_ratio,
                                    .final = keys->final};
}

static void note_overrides(struct builder *b, const struct value *mapping,
                           const struct checkpoint_keys *keys)
{
    struct job_storage *storage = &b->scenario->storage;
    storage->stall_s = given(mapping, "stall") ? keys->stall_s : -1.0;
    storage->persist_s = given(mapping, "persist") ? keys->persist_s : -1.0;
    storage->load_s = given(mapping, "load") ? keys->load_s : -1.0;
}

/* A save that training waits for is durable when it goes on. */
static void check_persist(struct builder *b, const struct value *mapping,
                          const struct checkpoint_kind *kind)
{
    if (given(mapping, "persist") && kind->tiers_max > 0 && !kind->background)
        wrong(b, mapping, "persist",
              "with this policy training waits until a save is durable; state 'stall' instead, or "
              "take a policy that writes in the background: async");
    else if (given(mapping, "persist") && kind->tiers_max == 0)
        wrong(b, mapping, "persist", "this policy saves nothing; remove it");
}

/* Whoever says nothing of an interval wears out no drives. */
static void choose_write_share(struct builder *b, const struct value *mapping)
{
    bool chosen = value_find(mapping, "interval") || value_find(mapping, "interval_steps") ||
                  given(mapping, "write_share");
    if (chosen)
        return;
    b->scenario->job.checkpoint.write_share_ratio = CHECKPOINT_WEAR_RATIO;
    reader_chose(&b->reader, "checkpoint.write_share", "1.1%");
}

static void warn_write_share(struct builder *b, const struct value *mapping)
{
    if (given(mapping, "write_share") &&
        (given(mapping, "interval_steps") || b->scenario->job.checkpoint.interval_s > 0.0))
        problems_idle(b->problems, section_mark(mapping, "write_share"), "checkpoint.write_share",
                      "with an interval that is stated: it bounds an optimal one");
}

static void build_tiers(struct builder *b, const struct value *mapping, const char *storage,
                        const struct checkpoint_kind *kind)
{
    bool automatic = strcmp(storage, READER_AUTO) == 0;
    struct mark where = section_mark(mapping, "storage");
    if (read_tiers(b, where, automatic ? kind->default_storage : storage))
        check_tiers(b, mapping, kind);
}

void build_checkpoint(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_CHECKPOINT);
    const struct value *mapping = section_take(b, b->root, SECTION_CHECKPOINT);
    struct checkpoint_spec *spec = &b->scenario->job.checkpoint;
    struct checkpoint_keys keys = {.policy = "", .storage = ""};
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    *spec = spec_of(&keys);
    const struct kind *head = spec->kind ? &spec->kind->head : NULL;
    struct params options = section_options(b, mapping, schema->path, head, &spec->options);
    if (spec->kind) {
        check_interval(b, mapping, spec->kind);
        check_persist(b, mapping, spec->kind);
        build_tiers(b, mapping, keys.storage, spec->kind);
    } else if (*keys.policy) {
        section_unknown_name(b, SECTION_CHECKPOINT, mapping, "policy", keys.policy,
                             family_kinds(b->arena, FAMILY_CHECKPOINTS));
    }
    choose_write_share(b, mapping);
    warn_write_share(b, mapping);
    note_overrides(b, mapping, &keys);
    section_finish(b, SECTION_CHECKPOINT, mapping, options, schema->path);
}

void build_checkpoint_complete(struct builder *b)
{
    const struct configuration *c = &b->scenario->configuration;
    const struct job_storage *storage = &b->scenario->storage;
    struct checkpoint_spec *spec = &b->scenario->job.checkpoint;
    const struct value *given = value_find(b->root, schema_section(SECTION_CHECKPOINT)->path);
    struct mark where = given ? section_mark(given, "storage") : b->root->key_mark;
    if (spec->bytes_per_parameter == 0.0)
        spec->bytes_per_parameter = storage_bytes_per_parameter(c);
    struct error error = {""};
    if (b->layout_open)
        return;
    for (unsigned i = 0; i < storage->tier_count; i++)
        if (!storage_check(c, &storage->tiers[i], &error))
            problems_error(b->problems, where, "checkpoint.storage: %s", error.text);
    if (!storage_check_memory(c, storage->tiers, storage->tier_count, spec->bytes_per_parameter,
                              spec->keep, &error))
        problems_error(b->problems, where, "checkpoint.storage: %s", error.text);
}
