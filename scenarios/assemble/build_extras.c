#include <string.h>

#include "scenarios/assemble/build_parts.h"
#include "topology/topology.h"

/* A GPU number that the cluster has; a broken cluster is not held against it. */
static bool gpu_exists(struct builder *b, const struct value *item, uint64_t gpu, const char *path)
{
    const uint64_t count = configuration_gpus(&b->scenario->configuration);
    if (!b->cluster_sound || gpu < count)
        return true;
    problems_error(b->problems, section_mark(item, "gpu"),
                   "%s.gpu: there is no GPU %llu; they are numbered from 0 to %llu", path,
                   (unsigned long long)gpu, (unsigned long long)(count - 1));
    return false;
}

static void add_perturbation(struct builder *b, struct perturbation perturbation)
{
    struct configuration *c = &b->scenario->configuration;
    c->perturbations[c->perturbation_count++] = perturbation;
}

static void build_stragglers(struct builder *b, const struct value *items)
{
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        struct straggler_keys keys = {0, 0};
        if (section_item(b, SECTION_STRAGGLERS, item, index, &keys) &&
            gpu_exists(b, item, keys.gpu, section_item_path(b, SECTION_STRAGGLERS, index)))
            add_perturbation(b, (struct perturbation){.what = PERTURB_GPU_SPEED,
                                                      .gpu = keys.gpu,
                                                      .ratio = keys.speed_ratio});
    }
}

/* A weak link must be one that its GPU has: asked of the wired cluster, which only this needs. */
static void check_link(struct builder *b, struct topology *topology, const struct value *item,
                       const struct perturbation *weak)
{
    if (topology_degrade(topology, (uint32_t)weak->gpu, (enum link_kind)weak->link, weak->ratio))
        return;
    problems_error(b->problems, section_mark(item, "link"),
                   "%s.link: GPU %llu of this cluster has no such link",
                   schema_section(SECTION_LINKS)->path, (unsigned long long)weak->gpu);
}

static struct topology *wire(struct builder *b, struct arena *arena, const struct value *items)
{
    struct topology *topology = ARENA_NEW(arena, struct topology);
    struct error error = {{0}};
    if (topology_build(arena, &b->scenario->configuration.cluster, topology, &error))
        return topology;
    problems_error(b->problems, items->key_mark, "cluster: %s", error.text);
    return NULL;
}

static void build_links(struct builder *b, const struct value *items)
{
    struct arena *scratch = arena_create();
    struct topology *topology = items && b->cluster_sound ? wire(b, scratch, items) : NULL;
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        struct weak_link_keys keys = {0, 0, 0};
        if (!section_item(b, SECTION_LINKS, item, index, &keys) ||
            !gpu_exists(b, item, keys.gpu, section_item_path(b, SECTION_LINKS, index)))
            continue;
        struct perturbation weak = {.what = PERTURB_LINK,
                                    .gpu = keys.gpu,
                                    .ratio = keys.capacity_ratio,
                                    .link = (int)schema_link_kind(keys.link)};
        if (topology)
            check_link(b, topology, item, &weak);
        add_perturbation(b, weak);
    }
    arena_destroy(scratch);
}

static void build_perturbations(struct builder *b)
{
    struct configuration *c = &b->scenario->configuration;
    const struct schema_section *schema = schema_section(SECTION_PERTURBATIONS);
    const struct value *mapping = section_take(b, b->root, SECTION_PERTURBATIONS);
    struct perturbation_keys keys = {0};
    if (mapping == NULL)
        return;
    reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys);
    c->kernel_jitter_sigma = keys.jitter_ratio;
    const struct value *stragglers = section_items(b, mapping, SECTION_STRAGGLERS);
    const struct value *links = section_items(b, mapping, SECTION_LINKS);
    unsigned room = section_item_count(stragglers) + section_item_count(links);
    c->perturbations = ARENA_ARRAY(b->arena, struct perturbation, room + 1);
    build_stragglers(b, stragglers);
    build_links(b, links);
    section_finish(b, SECTION_PERTURBATIONS, mapping, (struct params){NULL, 0}, schema->path);
}

static void build_notes(struct builder *b)
{
    const struct value *items = section_items(b, b->root, SECTION_NOTES);
    struct note *notes = ARENA_ARRAY(b->arena, struct note, section_item_count(items) + 1);
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        struct note_keys keys = {0, ""};
        if (section_item(b, SECTION_NOTES, item, index, &keys))
            notes[b->scenario->note_count++] = (struct note){keys.at_s, keys.say};
    }
    b->scenario->notes = notes;
}

/* A price of the scenario stands above the catalogue's; without one the catalogue's holds. */
static void build_cost(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_COST);
    const struct value *mapping = section_take(b, b->root, SECTION_COST);
    struct cost_keys keys = {0};
    if (mapping == NULL || value_find(b->root, schema->path) == NULL)
        return;
    bool given = value_find(mapping, "gpu_hour") != NULL;
    if (reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys) && given)
        b->scenario->configuration.gpu.price_per_hour_usd = keys.gpu_hour_usd;
    b->scenario->storage_tb_month_usd = keys.storage_tb_month_usd;
    section_finish(b, SECTION_COST, mapping, (struct params){NULL, 0}, schema->path);
}

/* Names and bounds are those of results, which stand above this floor. */
static void build_expect(struct builder *b)
{
    const char *path = schema_section(SECTION_EXPECT)->path;
    const struct value *mapping =
        value_find(b->root, path) != NULL ? section_take(b, b->root, SECTION_EXPECT) : NULL;
    for (struct value *member = mapping != NULL ? mapping->first : NULL; member != NULL;
         member = member->next) {
        member->used = true;
        if (member->kind != VALUE_WORD || value_is_empty(member))
            problems_misread(b->problems, member->key_mark,
                             "%s.%s: expected a value or a bound, as in \">= 40%%\"", path,
                             source_clean(b->arena, member->key));
    }
    b->scenario->expect = mapping;
}

void build_extras(struct builder *b)
{
    build_perturbations(b);
    build_notes(b);
    build_cost(b);
    build_expect(b);
}
