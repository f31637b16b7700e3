#include "scenarios/assemble/section.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/language/file.h"
#include "scenarios/language/inputs.h"
#include "scenarios/schema/keys.h"

static const struct value *missing(struct builder *b, const struct value *outer,
                                   const struct schema_section *schema)
{
    if (schema->required) {
        problems_error(b->problems, outer->key_mark, "%s must be given: %s", schema->path,
                       schema->doc);
        return NULL;
    }
    struct value *empty = value_new(b->arena, VALUE_MAPPING, outer->mark);
    empty->key_mark = outer->key_mark;
    return empty;
}

static const struct value *expand_word(struct builder *b, const struct value *word,
                                       const char *shorthand)
{
    struct value *mapping = value_new(b->arena, VALUE_MAPPING, word->mark);
    struct value *member = value_share(b->arena, word);
    mapping->key_mark = word->key_mark;
    member->key = shorthand;
    value_append(mapping, member);
    return mapping;
}

const struct value *section_take(struct builder *b, const struct value *outer, enum section section)
{
    const struct schema_section *schema = schema_section(section);
    struct value *value = value_find(outer, schema_key(schema));
    if (value == NULL)
        return missing(b, outer, schema);
    value->used = true;
    if (value->kind == VALUE_WORD && schema->shorthand && !value_is_empty(value))
        return expand_word(b, value, schema->shorthand);
    return reader_mapping(&b->reader, value, schema->path);
}

const struct value *section_items(struct builder *b, const struct value *outer,
                                  enum section section)
{
    const struct schema_section *schema = schema_section(section);
    struct value *value = value_find(outer, schema_key(schema));
    if (value == NULL)
        return NULL;
    value->used = true;
    if (value->kind == VALUE_LIST)
        return value->first;
    if (!value_is_empty(value))
        problems_error(b->problems, value->mark, "%s takes a list, not %s", schema->path,
                       value_kind_name(value));
    return NULL;
}

const char *section_item_path(struct builder *b, enum section section, unsigned index)
{
    return arena_format(b->arena, "%s[%u]", schema_section(section)->path, index);
}

unsigned section_item_count(const struct value *items)
{
    unsigned count = 0;
    for (; items; items = items->next)
        count++;
    return count;
}

bool section_item(struct builder *b, enum section section, const struct value *item, unsigned index,
                  void *keys)
{
    const char *path = section_item_path(b, section, index);
    const struct value *mapping = reader_mapping(&b->reader, item, path);
    if (mapping == NULL)
        return false;
    bool good = reader_fill(&b->reader, mapping, path, schema_section(section)->keys, keys);
    section_finish(b, section, mapping, (struct params){NULL, 0}, path);
    return good;
}

static bool in_table(struct params table, const char *key)
{
    for (unsigned i = 0; i < table.count; i++)
        if (strcmp(table.rows[i].name, key) == 0)
            return true;
    return false;
}

static bool names_other_kind(const struct value *base, const struct value *over)
{
    const struct value *was = value_find(base, "kind"), *is = value_find(over, "kind");
    return was && is && was->kind == VALUE_WORD && is->kind == VALUE_WORD &&
           strcmp(was->text, is->text) != 0;
}

static void hang(struct builder *b, struct value *out, const struct value *member, const char *key)
{
    struct value *copy = value_share(b->arena, member);
    copy->key = key;
    value_append(out, copy);
}

static void lay_over(struct builder *b, const struct schema_section *schema, struct value *out,
                     const struct value *over)
{
    for (const struct value *member = over->first; member; member = member->next) {
        const char *key = schema_spelling(schema, member->key);
        if (member->used)
            continue;
        if (value_find(out, key))
            problems_error(b->problems, member->key_mark, "'%s' says '%s' a second time",
                           member->key, key);
        else
            hang(b, out, member, key);
    }
}

static void lay_under(struct builder *b, const struct schema_section *schema, struct value *out,
                      const struct value *base, bool table_only)
{
    for (const struct value *member = base->first; member; member = member->next) {
        const char *key = schema_spelling(schema, member->key);
        bool other = catalogue_describes(key) || in_table(schema->keys, key);
        if (other || value_find(out, key))
            continue;
        if (!table_only || in_table(schema_table(schema), key))
            hang(b, out, member, key);
    }
}

struct value *section_overlay(struct builder *b, enum section section, const struct value *base,
                              const struct value *over)
{
    const struct schema_section *schema = schema_section(section);
    struct value *out = value_new(b->arena, VALUE_MAPPING, over->mark);
    out->key_mark = over->key_mark;
    lay_over(b, schema, out, over);
    if (base)
        lay_under(b, schema, out, base, names_other_kind(base, over));
    return out;
}

/* The kinds that a key may name and that have the option: "; it goes with law: weibull"; NULL: none
 * has. */
static const char *other_kinds(struct builder *b, const struct schema_section *schema,
                               const char *key)
{
    const char *advice = NULL;
    const struct schema_choice *choice;
    const struct kind *kind;
    for (unsigned c = 0; (choice = schema_choice(schema, c)) != NULL; c++) {
        const char *before =
            arena_format(b->arena, "%s %s: ", advice ? " or" : "; it goes with", choice->key);
        for (unsigned i = 0; (kind = family_at(choice->family, i)) != NULL; i++) {
            if (!in_table(kind->options, key))
                continue;
            advice = arena_format(b->arena, "%s%s%s", advice ? advice : "", before, kind->name);
            before = ", ";
        }
    }
    return advice;
}

static bool is_spelling_of(struct name_list names, const char *key)
{
    for (unsigned i = 0; i < names.count; i++)
        if (names_equal(key, names.names[i]))
            return true;
    return false;
}

/* What config.json of Hugging Face and papers call the keys of a model. */
static const struct {
    const char *theirs, *ours;
} model_words[] = {
    {"intermediate", "ffn_hidden"},
    {"intermediate_size", "ffn_hidden"},
    {"d_ff", "ffn_hidden"},
    {"hidden_size", "hidden"},
    {"d_model", "hidden"},
    {"num_hidden_layers", "layers"},
    {"num_attention_heads", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"head_dim", "head_size"},
    {"vocab", "vocabulary"},
    {"vocab_size", "vocabulary"},
    {"max_position_embeddings", "positions_max"},
};

/* The advice on a word of theirs; NULL: it is none. */
static const char *other_word(struct builder *b, const struct schema_section *schema,
                              const char *key)
{
    for (unsigned i = 0; i < sizeof model_words / sizeof *model_words; i++)
        if (schema == schema_section(SECTION_MODEL) && strcmp(key, model_words[i].theirs) == 0)
            return arena_format(b->arena, "; did you mean '%s'?", model_words[i].ours);
    return NULL;
}

/* Advice on a key that belongs to another kind or section; NULL: it is one of `known`, misspelt. */
static const char *elsewhere(struct builder *b, const struct schema_section *schema,
                             const char *key, struct name_list known)
{
    if (is_spelling_of(known, key))
        return NULL;
    const char *word = other_word(b, schema, key);
    if (word != NULL)
        return word;
    const char *kinds = other_kinds(b, schema, key);
    if (kinds)
        return kinds;
    struct name_list keys = keys_all(b->arena);
    struct name_list same = keys_named(b->arena, keys, key);
    if (same.count == 1 && strcmp(same.names[0], key) == 0)
        return "; it stands at the top of a scenario, in no section";
    if (same.count == 0 && names_nearest(key, known) == NULL)
        same = keys_near(b->arena, keys, key);
    return same.count ? names_offer(b->arena, same) : NULL;
}

static void check_unused(struct builder *b, const struct schema_section *schema,
                         struct value *member, struct name_list known, const char *path)
{
    const char *advice = elsewhere(b, schema, member->key, known);
    if (advice != NULL)
        problems_error(b->problems, member->key_mark, "unknown key '%s'%s%s%s",
                       source_quote(b->arena, member->key), *path ? " in " : "", path, advice);
    member->used = advice != NULL;
}

void section_finish(struct builder *b, enum section section, const struct value *mapping,
                    struct params extra, const char *path)
{
    const struct schema_section *schema = schema_section(section);
    struct name_list known = schema_names(b->arena, schema, extra);
    for (struct value *member = mapping->first; member; member = member->next) {
        /* What is past the last problem that is kept is only counted. */
        if (!member->used && b->problems->error_count < PROBLEM_MAX)
            check_unused(b, schema, member, known, path);
    }
    reader_unknown(&b->reader, mapping, path, known);
}

struct params section_options(struct builder *b, const struct value *mapping, const char *path,
                              const struct kind *kind, struct kind_options *out)
{
    if (kind == NULL)
        return (struct params){NULL, 0};
    reader_fill_options(&b->reader, mapping, path, kind->options, out);
    return kind->options;
}

struct mark section_mark(const struct value *mapping, const char *key)
{
    const struct value *member = value_find(mapping, key);
    return member ? member->mark : mapping->key_mark;
}

void section_unknown_name(struct builder *b, enum section section, const struct value *mapping,
                          const char *key, const char *text, struct name_list known)
{
    const char *path = reader_path(&b->reader, schema_section(section)->path, key);
    problems_misread(b->problems, section_mark(mapping, key), "%s: unknown %s '%s'%s", path,
                     family_member_name(schema_family(path)), source_quote(b->arena, text),
                     names_advice(b->arena, text, known));
}

const struct value *section_entry(struct builder *b, enum section section,
                                  const struct value *mapping, const char *key, const char *name)
{
    const char *path = reader_path(&b->reader, schema_section(section)->path, key);
    enum family family = schema_family(path);
    const struct value *entry = catalogue_find(&b->catalogue, family, name);
    if (entry == NULL)
        section_unknown_name(b, section, mapping, key, name,
                             catalogue_names(&b->catalogue, family));
    return entry;
}

/* Says the path as it is written, and where it was looked for. */
static void no_file(struct builder *b, const char *key, const char *named, struct mark where)
{
    const char *slash = strrchr(b->path, '/'), *folder = "the working folder", *other = "";
    if (slash != NULL)
        folder = arena_format(b->arena, "%s, the folder of the scenario",
                              source_quote(b->arena, file_beside(b->arena, b->path, "")));
    if (slash != NULL && access(named, F_OK) == 0)
        other = "; there is one in the working folder: give its whole path";
    const char *in = *named == '/' ? "" : arena_format(b->arena, " in %s%s", folder, other);
    problems_misread(b->problems, where, "%s: there is no file '%s'%s", key,
                     source_quote(b->arena, named), in);
}

const char *section_file(struct builder *b, const char *key, const char *named, struct mark where)
{
    if (b->alone && strchr(named, '/') != NULL) {
        problems_misread(b->problems, where, "'%s' is not beside the scenario, which stands alone",
                         source_quote(b->arena, named));
        return NULL;
    }
    const char *path = file_beside(b->arena, b->path, named);
    inputs_add(b->arena, &b->scenario->file.inputs, key, path);
    if (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return path;
    no_file(b, key, named, where);
    return NULL;
}
