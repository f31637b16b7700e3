#include "scenarios/language/reader.h"

#include <string.h>

#include "scenarios/language/quantity.h"
#include "scenarios/language/taken_default.h"
#include "sim/check.h"
#include "sim/list.h"

const char *reader_path(struct reader *reader, const char *path, const char *key)
{
    return *path ? arena_format(reader->arena, "%s.%s", path, key) : key;
}

static void store(const struct param *param, const struct quantity *quantity, void *target)
{
    switch (param->type) {
    case PARAM_FLAG:
        *(bool *)target = quantity->number != 0;
        break;
    case PARAM_COUNT:
        *(uint64_t *)target = quantity->count;
        break;
    case PARAM_RATIO:
    case PARAM_TIME:
    case PARAM_BYTES:
    case PARAM_BANDWIDTH:
    case PARAM_FLOP_RATE:
    case PARAM_FREQUENCY:
    case PARAM_POWER:
    case PARAM_MONEY:
        *(double *)target = quantity->number;
        break;
    case PARAM_CHOICE:
    case PARAM_TEXT:
        UNREACHABLE("the type is that of a quantity");
    }
}

bool reader_takes_word(const struct param *param)
{
    const char *fallback = param->fallback ? param->fallback : "";
    static const char *const words[] = {READER_AUTO, READER_OPTIMAL, READER_BEST, READER_LEAST};
    bool word = false;
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        word |= strcmp(fallback, words[i]) == 0;
    return word;
}

static bool is_word(const struct param *param, const struct value *value)
{
    return reader_takes_word(param) && strcmp(value->text, param->fallback) == 0;
}

static struct name_list choice_names(const struct param *param)
{
    unsigned count = 0;
    while (param->choices[count])
        count++;
    return (struct name_list){param->choices, count};
}

/* A number for a choice is meant for a key of that word, as `ffn: 20480` for ffn_hidden. The names
 * of such keys; there may be none. */
static struct name_list meant_by_number(struct reader *reader, const char *text,
                                        const struct param *param)
{
    const struct params *beside = &reader->beside;
    const size_t length = strlen(param->name);
    const char **names = ARENA_ARRAY(reader->arena, const char *, beside->count);
    unsigned count = 0;
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (!quantity_read(PARAM_RATIO, text, text, &quantity, why))
        return (struct name_list){names, 0};
    for (unsigned i = 0; i < beside->count; i++) {
        const struct param *row = &beside->rows[i];
        if ((row->type == PARAM_COUNT || row->type == PARAM_RATIO) &&
            strncmp(row->name, param->name, length) == 0 && row->name[length] == '_')
            names[count++] = row->name;
    }
    return (struct name_list){names, count};
}

static bool read_choice(struct reader *reader, const struct value *value, const char *path,
                        const struct param *param, int *target)
{
    struct name_list names = choice_names(param);
    if (is_word(param, value)) {
        *target = 0;
        return true;
    }
    for (unsigned i = 0; i < names.count; i++) {
        if (strcmp(value->text, names.names[i]) == 0) {
            *target = (int)i;
            return true;
        }
    }
    const struct name_list meant = meant_by_number(reader, value->text, param);
    problems_misread(reader->problems, value->mark, "%s: unknown choice '%s'%s", path,
                     source_quote(reader->arena, value->text),
                     meant.count > 0 ? names_offer(reader->arena, meant)
                                     : names_advice(reader->arena, value->text, names));
    return false;
}

static void report_range(struct reader *reader, const struct value *value, const char *path,
                         const struct param *param)
{
    char least[QUANTITY_TEXT_MAX], most[QUANTITY_TEXT_MAX];
    const char *shown = source_quote(reader->arena, value->text);
    quantity_write(param->type, param->minimum, least, sizeof least);
    quantity_write(param->type, param->maximum, most, sizeof most);
    problems_misread(reader->problems, value->mark, "%s: %s is out of range; it goes from %s to %s",
                     path, shown, least, most);
}

bool reader_given(const struct value *mapping, const struct param *param)
{
    const struct value *value = value_find(mapping, param->name);
    return value && value->kind == VALUE_WORD && !is_word(param, value);
}

static bool read_quantity(struct reader *reader, const struct value *value, const char *path,
                          const struct param *param, void *target)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (is_word(param, value)) {
        store(param, &(struct quantity){0}, target);
        return true;
    }
    const char *shown = source_quote(reader->arena, value->text);
    if (!quantity_read(param->type, value->text, shown, &quantity, why)) {
        problems_misread(reader->problems, value->mark, "%s: %s", path, why);
        return false;
    }
    bool inside = quantity.number >= param->minimum && quantity.number <= param->maximum;
    if (param->type != PARAM_FLAG && !inside) {
        report_range(reader, value, path, param);
        return false;
    }
    store(param, &quantity, target);
    return true;
}

bool reader_value(struct reader *reader, const struct value *value, const char *path,
                  const struct param *param, void *target)
{
    if (value->refused)
        return false;
    if (value->kind != VALUE_WORD) {
        problems_misread(reader->problems, value->mark, "%s takes one value, not %s", path,
                         value_kind_name(value));
        return false;
    }
    if (value_is_empty(value)) {
        problems_misread(reader->problems, value->key_mark, "%s has no value", path);
        return false;
    }
    if (param->type == PARAM_CHOICE)
        return read_choice(reader, value, path, param, target);
    if (param->type != PARAM_TEXT)
        return read_quantity(reader, value, path, param, target);
    *(const char **)target = value->text;
    return true;
}

static void note_default(struct reader *reader, const char *path, const struct param *param)
{
    LIST_ROOM(reader->arena, reader->defaults, reader->default_count, 1, reader->default_capacity);
    reader->defaults[reader->default_count++] =
        (struct taken_default){path, param->fallback, param->doc};
}

void reader_chose(struct reader *reader, const char *path, const char *value)
{
    for (unsigned i = reader->default_count; i-- > 0;) {
        if (strcmp(reader->defaults[i].key, path) == 0) {
            reader->defaults[i].value = value;
            return;
        }
    }
}

/* A default is read like a user's word; one that does not read is our bug. */
static bool read_default(struct reader *reader, const struct value *mapping, const char *section,
                         const struct param *param, void *target)
{
    const char *path = reader_path(reader, section, param->name);
    if (param->fallback == NULL) {
        problems_error(reader->problems, mapping->key_mark, "%s must be given: %s", path,
                       param->doc);
        return false;
    }
    struct value word = {.kind = VALUE_WORD, .text = param->fallback, .mark = mapping->key_mark};
    bool empty_text = param->type == PARAM_TEXT && *param->fallback == '\0';
    if (empty_text)
        *(const char **)target = "";
    else
        CHECK(reader_value(reader, &word, path, param, target));
    if (!empty_text)
        note_default(reader, path, param);
    return true;
}

static bool read_param(struct reader *reader, const struct value *mapping, const char *section,
                       const struct param *param, void *target)
{
    struct value *given = value_find(mapping, param->name);
    if (given == NULL)
        return read_default(reader, mapping, section, param, target);
    given->used = true;
    return reader_value(reader, given, reader_path(reader, section, param->name), param, target);
}

bool reader_fill(struct reader *reader, const struct value *mapping, const char *path,
                 struct params params, void *object)
{
    bool good = true;
    reader->beside = params;
    for (unsigned i = 0; i < params.count; i++) {
        void *target = (char *)object + params.rows[i].offset;
        good &= read_param(reader, mapping, path, &params.rows[i], target);
    }
    reader->beside = (struct params){NULL, 0};
    return good;
}

bool reader_fill_options(struct reader *reader, const struct value *mapping, const char *path,
                         struct params params, struct kind_options *options)
{
    bool good = true;
    for (unsigned i = 0; i < params.count; i++) {
        const struct param *param = &params.rows[i];
        double number = 0;
        uint64_t count = 0;
        bool flag = false;
        void *target = param->type == PARAM_FLAG    ? (void *)&flag
                       : param->type == PARAM_COUNT ? (void *)&count
                                                    : (void *)&number;
        CHECK(param->type != PARAM_TEXT && param->type != PARAM_CHOICE);
        CHECK(param->offset < KIND_OPTION_MAX);
        good &= read_param(reader, mapping, path, param, target);
        options->value[param->offset] = param->type == PARAM_FLAG    ? (double)flag
                                        : param->type == PARAM_COUNT ? (double)count
                                                                     : number;
    }
    return good;
}

void reader_unknown(struct reader *reader, const struct value *mapping, const char *path,
                    struct name_list known)
{
    for (const struct value *member = mapping->first; member; member = member->next) {
        if (member->used)
            continue;
        problems_misread(reader->problems, member->key_mark, "unknown key '%s'%s%s%s",
                         source_quote(reader->arena, member->key), *path ? " in " : "", path,
                         names_advice(reader->arena, member->key, known));
    }
}

const struct value *reader_mapping(struct reader *reader, const struct value *value,
                                   const char *path)
{
    if (value->kind == VALUE_MAPPING)
        return value;
    if (value->refused)
        return NULL;
    if (!value_is_empty(value)) {
        problems_misread(reader->problems, value->mark, "%s takes keys with values, not %s", path,
                         value_kind_name(value));
        return NULL;
    }
    struct value *empty = value_share(reader->arena, value);
    empty->kind = VALUE_MAPPING;
    return empty;
}
