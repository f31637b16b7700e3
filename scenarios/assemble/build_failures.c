#include <string.h>

#include "scenarios/assemble/build_duration.h"
#include "scenarios/assemble/build_job.h"
#include "scenarios/assemble/build_parts.h"

enum {
    CAUSE_MAX = 4096 /* more than any log tells apart */
};

static void wrong(struct builder *b, const struct value *item, const char *path, const char *key,
                  const char *why)
{
    problems_error(b->problems, section_mark(item, key), "%s.%s%s", path, key, why);
}

/* What the law and the unit ask for. */
static void check_law(struct builder *b, const struct value *item, const char *path,
                      const struct failure_keys *keys, const struct failure_cause *cause)
{
    if (!cause->kind->replays && keys->mtbf_s == 0.0)
        wrong(b, item, path, "mtbf",
              " must be given: the mean time between failures of one unit, as in 5.8y");
    if (!cause->kind->replays && *keys->trace)
        wrong(b, item, path, "trace", ": only `law: trace` reads one");
    if (!*keys->trace && value_find(item, "rows"))
        wrong(b, item, path, "rows", ": of a trace, but none is given");
    if (cause->kind->replays && !*keys->trace)
        wrong(b, item, path, "trace", " must be given: the CSV file to replay");
    bool altered = cause->early_factor != 1.0 || cause->early_s > 0.0 || cause->cascade_ratio > 0.0;
    if (cause->kind->replays && altered)
        wrong(b, item, path, "law",
              ": a trace is what happened; remove early, early_factor, cascade");
}

static void check_unit(struct builder *b, const struct value *item, const char *path,
                       const struct failure_cause *cause)
{
    bool domains = cause->unit == UNIT_DOMAIN || cause->cascade_ratio > 0.0;
    if (domains && cause->domain_nodes == 0)
        wrong(b, item, path, "domain_nodes",
              " must be given: the nodes that share a domain, as in 32");
    bool within_node =
        cause->unit == UNIT_GPU || cause->unit == UNIT_NIC || cause->unit == UNIT_NODE;
    if (cause->kind->hit_ratio && cause->unit != UNIT_DOMAIN)
        wrong(b, item, path, "law",
              ": a blow strikes a domain: give `unit: domain` and domain_nodes");
    if (cause->kind->lemons && !within_node)
        wrong(b, item, path, "unit", ": lemons are nodes, so that a gpu, a nic or a node fails");
    if (cause->cascade_ratio > 0.0 && !within_node)
        wrong(b, item, path, "unit", ": a gpu, a nic or a node drags another along");
    if (cause->unit == UNIT_NIC && b->cluster_sound &&
        topology_nics(&b->scenario->configuration.cluster) == 0)
        wrong(b, item, path, "unit", ": the nodes of this cluster have no NICs");
}

static void check_slow(struct builder *b, const struct value *item, const char *path,
                       const struct failure_cause *cause)
{
    bool slow = cause->effect == EFFECT_SLOW;
    if (slow && cause->slow_ratio == 0.0)
        wrong(b, item, path, "slow", " must be given with effect slow: the speed that is left");
    if (!slow && cause->slow_ratio != 0.0)
        wrong(b, item, path, "slow", ": only with `effect: slow`");
    if (slow && (cause->unit == UNIT_DOMAIN || cause->unit == UNIT_JOB))
        wrong(b, item, path, "unit", ": a gpu, a nic or a node can be slow");
}

static void idle(struct builder *b, const struct value *item, const char *path, const char *key,
                 const char *why)
{
    problems_idle(b->problems, section_mark(item, key), arena_format(b->arena, "%s.%s", path, key),
                  "%s", why);
}

/* Keys that need another one, or another effect. */
static void warn_partners(struct builder *b, const struct value *item, const char *path,
                          const struct failure_cause *cause)
{
    const bool raised = cause->early_factor != 1.0, early = cause->early_s > 0.0;
    if (raised && !early)
        idle(b, item, path, "early_factor", "without early: it raises the rate for that time");
    if (early && !raised)
        idle(b, item, path, "early", "without early_factor: it is the time of a raised rate");
    if (cause->effect == EFFECT_SLOW)
        return;
    if (cause->slow_link)
        idle(b, item, path, "slow_link", "without effect slow: it says what is slow");
    if (cause->slow_time.mean_s > 0.0)
        idle(b, item, path, "slow_time", "without effect slow: it is the time until it recovers");
}

static bool read_duration(struct builder *b, const struct value *item, enum section section,
                          const char *path, struct duration *out)
{
    struct duration_keys keys;
    bool own = build_duration(b, item, section, path, &keys);
    *out = keys.duration;
    return own;
}

static void read_durations(struct builder *b, const struct value *item, const char *path,
                           struct failure_cause *cause)
{
    if (!read_duration(b, item, SECTION_FAILURE_DETECT, path, &cause->detect))
        cause->detect.mean_s = -1.0;
    if (!read_duration(b, item, SECTION_FAILURE_REPAIR, path, &cause->repair))
        cause->repair.mean_s = -1.0;
    read_duration(b, item, SECTION_FAILURE_SLOW_TIME, path, &cause->slow_time);
}

static const struct failure_kind *find_kind(struct builder *b, const struct value *item,
                                            const char *law)
{
    const struct failure_kind *kind = failure_find(law);
    if (kind == NULL && *law)
        section_unknown_name(b, SECTION_FAILURES, item, "law", law,
                             family_kinds(b->arena, FAMILY_FAILURES));
    return kind;
}

static struct failure_cause cause_of(const struct failure_keys *keys,
                                     const struct failure_kind *kind)
{
    return (struct failure_cause){.name = keys->cause,
                                  .kind = kind,
                                  .unit = keys->unit,
                                  .effect = keys->effect,
                                  .mtbf_s = keys->mtbf_s,
                                  .domain_nodes = keys->domain_nodes,
                                  .in_place_ratio = keys->in_place_ratio,
                                  .new_units = keys->initial_age == AGE_NEW,
                                  .slow_ratio = keys->slow_ratio,
                                  .slow_link = keys->slow_link,
                                  .early_factor = keys->early_factor,
                                  .early_s = keys->early_s,
                                  .cascade_ratio = keys->cascade_ratio};
}

static void build_cause(struct builder *b, const struct value *item, const char *path,
                        struct cause_list *list)
{
    const struct schema_section *schema = schema_section(SECTION_FAILURES);
    struct failure_keys keys = {.cause = "", .law = "", .trace = "", .rows = ""};
    unsigned before = b->problems->error_count;
    reader_fill(&b->reader, item, path, schema->keys, &keys);
    const struct failure_kind *kind = find_kind(b, item, keys.law);
    struct failure_cause cause = cause_of(&keys, kind);
    struct params options =
        section_options(b, item, path, kind ? &kind->head : NULL, &cause.options);
    read_durations(b, item, path, &cause);
    section_finish(b, SECTION_FAILURES, item, options, path);
    if (b->problems->error_count > before)
        return;
    check_law(b, item, path, &keys, &cause);
    check_unit(b, item, path, &cause);
    check_slow(b, item, path, &cause);
    if (b->problems->error_count > before)
        return;
    warn_partners(b, item, path, &cause);
    if (kind->replays)
        build_trace(b, item, path, &keys, &cause, list);
    else
        build_cause_add(b, list, &cause, section_mark(item, "cause"));
}

/* The causes of a fleet, each as if it stood in the scenario. */
static void build_preset(struct builder *b, const struct value *item, const char *path,
                         struct cause_list *list)
{
    const struct schema_section *schema = schema_section(SECTION_FAILURES);
    const char *name = "";
    const struct value *preset = value_find(item, "preset");
    for (const struct value *member = item->first; member; member = member->next) {
        if (member != preset)
            problems_error(b->problems, member->key_mark,
                           "%s: '%s' cannot stand beside 'preset'; write the causes out to change "
                           "one",
                           path, source_quote(b->arena, member->key));
    }
    if (!reader_value(&b->reader, preset, reader_path(&b->reader, path, "preset"),
                      &schema->keys.rows[0], &name))
        return;
    const struct value *entry = section_entry(b, SECTION_FAILURES, item, "preset", name);
    const struct value *causes = entry ? value_find(entry, "causes") : NULL;
    if (entry && (causes == NULL || causes->kind != VALUE_LIST)) {
        problems_error(b->problems, entry->key_mark, "%s needs 'causes', a list",
                       source_quote(b->arena, name));
        return;
    }
    if (causes)
        build_fleet_figures(b, name, entry);
    unsigned index = 0;
    for (const struct value *v = causes ? causes->first : NULL; v; v = v->next, index++) {
        const char *inner = arena_format(b->arena, "%s.causes[%u]", name, index);
        const struct value *mapping = reader_mapping(&b->reader, v, inner);
        if (mapping && value_find(mapping, "preset"))
            problems_error(b->problems, mapping->mark, "a fleet lists causes, not presets");
        else if (mapping && list->count < CAUSE_MAX)
            build_cause(b, mapping, inner, list);
    }
}

/* Draws depend on the name, so that two causes of one name would fail in step. */
static void check_names(struct builder *b, const struct cause_list *list)
{
    for (unsigned i = 0; i < list->count; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(list->rows[i].name, list->rows[j].name) == 0) {
                problems_error(b->problems, list->marks[i],
                               "failures: the cause '%s' stands twice; give each its own name",
                               source_quote(b->arena, list->rows[i].name));
                break;
            }
        }
    }
}

void build_failures(struct builder *b)
{
    const char *section = schema_section(SECTION_FAILURES)->path;
    const struct value *items = section_items(b, b->root, SECTION_FAILURES);
    struct cause_list list = {0};
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        const char *path = arena_format(b->arena, "%s[%u]", section, index);
        const struct value *mapping = reader_mapping(&b->reader, item, path);
        if (list.count >= CAUSE_MAX) {
            problems_error(b->problems, item->mark, "failures: more than %d causes", CAUSE_MAX);
            break;
        }
        if (mapping && value_find(mapping, "preset"))
            build_preset(b, mapping, path, &list);
        else if (mapping)
            build_cause(b, mapping, path, &list);
    }
    check_names(b, &list);
    b->scenario->job.causes = list.rows;
    b->scenario->job.cause_count = list.count;
}
