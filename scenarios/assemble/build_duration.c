#include "scenarios/assemble/build_duration.h"

/* At log-normal 5 one draw in 3.5 million makes up half the mean, at Weibull 0.1 one in 43,000.
 * Beyond, no run draws it: its mean is not the one given. */
static void check_shape(struct builder *b, const struct value *mapping, const char *path,
                        const struct duration *duration)
{
    const struct duration_shape *shape = duration_shape_of(duration->law);
    const char *law = duration_law_names[duration->law];
    struct mark mark = section_mark(mapping, "shape");
    if (shape->to > 0.0 && duration->shape > shape->to)
        problems_error(b->problems, mark, "%s.shape: with law %s it goes up to %g; beyond, %s",
                       path, law, shape->to, shape->beyond);
    if (duration->shape != 0.0 && duration->shape < shape->from)
        problems_error(b->problems, mark, "%s.shape: with law %s it starts at %g; below, %s", path,
                       law, shape->from, shape->beyond);
}

static void check(struct builder *b, const struct value *mapping, const char *path,
                  const struct duration *duration)
{
    const char *law = duration_law_names[duration->law];
    if (duration_has_shape(duration->law) && duration->shape == 0.0)
        problems_error(b->problems, section_mark(mapping, "law"),
                       "%s.shape must be given with law %s: %s", path, law,
                       duration_shape_of(duration->law)->means);
    if (!duration_has_shape(duration->law) && duration->shape != 0.0)
        problems_error(b->problems, section_mark(mapping, "shape"),
                       "%s.shape: the law %s has none; remove it, or choose another law", path,
                       law);
    check_shape(b, mapping, path, duration);
}

/* The mapping, with the caret at its own key. */
static const struct value *take(struct builder *b, const struct value *outer,
                                const struct schema_section *schema, const char *path)
{
    struct value *given = value_find(outer, schema_key(schema));
    given->used = true;
    if (given->kind != VALUE_WORD || value_is_empty(given))
        return reader_mapping(&b->reader, given, path);
    struct value *mapping = value_new(b->arena, VALUE_MAPPING, given->mark);
    struct value *mean = value_share(b->arena, given);
    mean->key = schema->shorthand;
    value_append(mapping, mean);
    return mapping;
}

bool build_duration(struct builder *b, const struct value *outer, enum section section,
                    const char *path, struct duration_keys *out)
{
    const struct schema_section *schema = schema_section(section);
    struct params mean = {schema->keys.rows, 1};
    path = reader_path(&b->reader, path, schema_key(schema));
    *out = (struct duration_keys){.duration.law = DURATION_FIXED};
    if (value_find(outer, schema_key(schema)) == NULL) {
        struct value *empty = value_new(b->arena, VALUE_MAPPING, outer->mark);
        reader_fill(&b->reader, empty, path, mean, out);
        return false;
    }
    const struct value *mapping = take(b, outer, schema, path);
    if (mapping == NULL)
        return false;
    if (reader_fill(&b->reader, mapping, path, schema->keys, out))
        check(b, mapping, path, &out->duration);
    section_finish(b, section, mapping, (struct params){NULL, 0}, path);
    return reader_given(mapping, &mean.rows[0]) || !reader_takes_word(&mean.rows[0]);
}
