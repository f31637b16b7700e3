#include "analysis/tell/contract/contract.h"

#include <string.h>

#include "analysis/output/text/version.h"
#include "analysis/record/numbers/metric_source.h"
#include "analysis/tell/contract/contract_list.h"
#include "analysis/tell/contract/contract_row.h"
#include "analysis/tell/document/document.h"
#include "analysis/tell/document/document_json.h"
#include "sim/check.h"

#define X(document, name) name,
const char *const contract_names[] = {CONTRACTS(X) NULL};
#undef X
#define X(document, name) &contract_##document,
static const struct contract_document *const documents[] = {CONTRACTS(X)};
#undef X

/* An object of the schema that is being filled: its keys, and those that must be there. */
struct opened_object {
    struct fact *object, *properties, *required, *definitions;
};
static void fill(struct fact *object, struct fact *definitions, const struct contract_object *of);

/* "integer", or that and null. */
static void put_type(struct fact *o, const char *type, bool or_null)
{
    if (!or_null) {
        document_word(o, "type", type);
        return;
    }
    struct fact *types = document_array(o, "type");
    document_word(types, NULL, type);
    document_word(types, NULL, "null");
}

static unsigned word_count(const struct contract_row *row)
{
    unsigned count = row->word_count;
    while (row->word_count == 0 && row->words != NULL && row->words[count] != NULL)
        count++;
    return count;
}

/* The only words there are; those of a kind are the names of its family. */
static void put_words(struct fact *o, const char *key, const struct contract_row *row)
{
    const bool or_null = (row->type & CONTRACT_OR_NULL) != 0;
    struct name_list names = {row->words, word_count(row)};
    if ((row->type & CONTRACT_TYPES) == CONTRACT_KIND)
        names = family_kinds(o->arena, row->family);
    struct fact *words = document_array(o, key);
    for (unsigned i = 0; i < names.count; i++)
        document_word(words, NULL, names.names[i]);
    if (or_null)
        document_null(words, NULL);
}

static void put_reference(struct fact *o, struct fact *definitions, const struct contract_row *row)
{
    const char *name = row->of->name;
    if (document_find(definitions, name, strlen(name)) == NULL)
        fill(document_object(definitions, name), definitions, row->of);
    struct fact *holds = o;
    if (row->type & CONTRACT_OR_NULL) {
        struct fact *either = document_array(o, "anyOf");
        document_word(document_object(either, NULL), "type", "null");
        holds = document_object(either, NULL);
    }
    document_word(holds, "$ref", arena_format(o->arena, "#/$defs/%s", name));
}

/* A number for each of the words: for all of them and no other. */
static void put_sums(struct fact *o, const struct contract_row *row)
{
    put_type(o, "object", (row->type & CONTRACT_OR_NULL) != 0);
    struct contract_row bare = *row;
    bare.type = CONTRACT_WORD;
    put_words(document_object(o, "propertyNames"), "enum", &bare);
    put_words(o, "required", &bare);
    put_type(document_object(o, "additionalProperties"), "number", true);
}

/* Any keys: numbers with a unit, else counts. */
static void put_names(struct fact *o, const struct contract_row *row)
{
    put_type(o, "object", (row->type & CONTRACT_OR_NULL) != 0);
    struct fact *each = document_object(o, "additionalProperties");
    if (row->unit != NULL)
        document_word(each, "type", "number");
    else
        document_word(each, "type", "integer");
}

static void put_value(struct fact *o, struct fact *definitions, const struct contract_row *row)
{
    const bool or_null = (row->type & CONTRACT_OR_NULL) != 0;
    struct fact *either;
    switch ((enum contract_type)(row->type & CONTRACT_TYPES)) {
    case CONTRACT_FLAG:
        put_type(o, "boolean", or_null);
        return;
    case CONTRACT_COUNT:
        put_type(o, "integer", or_null);
        document_count(o, "minimum", 0);
        return;
    case CONTRACT_INTEGER:
        put_type(o, "integer", or_null);
        return;
    case CONTRACT_SHARE:
        put_type(o, "number", or_null);
        document_count(o, "minimum", 0);
        document_count(o, "maximum", 1);
        return;
    case CONTRACT_REAL:
        put_type(o, "number", or_null);
        return;
    case CONTRACT_WORD:
    case CONTRACT_KIND:
        put_type(o, "string", or_null);
        if (row->words != NULL || (row->type & CONTRACT_TYPES) == CONTRACT_KIND)
            put_words(o, "enum", row);
        return;
    case CONTRACT_SCALAR:
    case CONTRACT_CELL:
        either = document_array(o, "type");
        document_word(either, NULL, "number");
        document_word(either, NULL, "string");
        if ((row->type & CONTRACT_TYPES) == CONTRACT_SCALAR)
            return;
        document_word(either, NULL, "boolean");
        document_word(either, NULL, "null");
        return;
    case CONTRACT_OBJECT:
        put_reference(o, definitions, row);
        return;
    case CONTRACT_SUMS:
        put_sums(o, row);
        return;
    case CONTRACT_NAMES:
        put_names(o, row);
        return;
    case CONTRACT_REST:
    case CONTRACT_COLUMNS:
    case CONTRACT_METRICS:
    case CONTRACT_TYPES:
    case CONTRACT_OR_NULL:
    case CONTRACT_LIST:
    case CONTRACT_PAIR:
    case CONTRACT_SOMETIMES:
        break;
    }
    CHECK(false); /* stands for rows, and is no value */
}

static void put_row(struct fact *o, struct fact *definitions, const struct contract_row *row)
{
    struct contract_row item = *row;
    struct fact *value = o;
    if (row->type & CONTRACT_LIST) {
        put_type(o, "array", (row->type & CONTRACT_OR_NULL) != 0);
        item.type &= ~(unsigned)CONTRACT_OR_NULL;
    } else if (row->type & CONTRACT_PAIR) {
        put_type(o, "array", false);
        document_count(o, "minItems", 2);
        document_count(o, "maxItems", 2);
    }
    if (row->type & (CONTRACT_LIST | CONTRACT_PAIR))
        value = document_object(o, "items");
    put_value(value, definitions, &item);
    document_word(o, "description",
                  row->unit != NULL && *row->unit != '\0'
                      ? arena_format(o->arena, "%s [%s]", row->doc, row->unit)
                      : row->doc);
}

/* What the head says of a key stands. */
static void add_row(const struct opened_object *in, const struct contract_row *row)
{
    if (strcmp(row->name, "*") == 0) {
        put_row(document_object(in->object, "additionalProperties"), in->definitions, row);
        return;
    }
    if (document_find(in->properties, row->name, strlen(row->name)) != NULL)
        return;
    if ((row->type & CONTRACT_SOMETIMES) == 0)
        document_word(in->required, NULL, row->name);
    put_row(document_object(in->properties, row->name), in->definitions, row);
}

static unsigned column_type(const struct row_column *column)
{
    const unsigned or_null = column->or_null ? CONTRACT_OR_NULL : 0;
    switch (column->type) {
    case ROW_INTEGER:
        return (column->flag ? CONTRACT_FLAG : CONTRACT_INTEGER) | or_null;
    case ROW_REAL:
        return CONTRACT_REAL | or_null;
    case ROW_TEXT:
        break;
    }
    return CONTRACT_WORD | or_null;
}

static void add_column(const struct opened_object *in, const char *key,
                       const struct row_column *column, bool sometimes)
{
    struct contract_row row = {
        .name = key, .type = column_type(column), .doc = column->doc, .unit = column->unit};
    if (sometimes)
        row.type |= CONTRACT_SOMETIMES;
    add_row(in, &row);
}

/* As document_columns reads such a list. */
static void add_columns(const struct opened_object *in, const struct contract_row *row)
{
    const struct row_table *table = &row_tables[row->table];
    for (const char *keys = row->columns; *keys != '\0';) {
        const size_t length = strcspn(keys, " "), own = strcspn(keys, " =");
        const size_t from = own < length ? own + 1 : 0;
        unsigned i = 0;
        while (i < table->column_count &&
               (strlen(table->columns[i].name) != length - from ||
                strncmp(table->columns[i].name, keys + from, length - from) != 0))
            i++;
        CHECK(i < table->column_count);
        add_column(in, arena_format(in->object->arena, "%.*s", (int)own, keys), &table->columns[i],
                   false);
        keys += length + strspn(keys + length, " ");
    }
}

/* Of a run its numbers; of a study what its seeds say of each. */
static void add_metrics(const struct opened_object *in, const struct contract_row *row)
{
    const struct row_table *table = &row_tables[ROW_run];
    for (unsigned i = 0; row->of == NULL && i < table->column_count; i++)
        if (strcmp(table->columns[i].key, "no_key") != 0)
            add_column(in, table->columns[i].key, &table->columns[i],
                       table->columns[i].when == ROW_WEEKS);
    for (unsigned i = 0; row->of != NULL && i < METRIC_COUNT; i++) {
        const char *unit = study_metrics[i].unit;
        add_row(in, &(struct contract_row){.name = study_metrics[i].name,
                                           .type = CONTRACT_OBJECT | CONTRACT_SOMETIMES,
                                           .doc = study_metrics[i].doc,
                                           .unit = unit,
                                           .of = row->of});
    }
}

static void add_rows(const struct opened_object *in, const struct contract_object *of)
{
    for (unsigned i = 0; i < of->row_count; i++) {
        const struct contract_row *row = &of->rows[i];
        if (row->type == CONTRACT_REST)
            add_rows(in, row->of);
        else if (row->type == CONTRACT_COLUMNS)
            add_columns(in, row);
        else if (row->type == CONTRACT_METRICS)
            add_metrics(in, row);
        else
            add_row(in, row);
    }
}

static struct opened_object opened(struct fact *object, struct fact *definitions)
{
    document_word(object, "type", "object");
    struct opened_object in = {object, document_names(object, "properties"),
                               document_array(object, "required"), definitions};
    document_flag(object, "additionalProperties", false);
    return in;
}

static void fill(struct fact *object, struct fact *definitions, const struct contract_object *of)
{
    const struct opened_object in = opened(object, definitions);
    add_rows(&in, of);
}

/* What document_begin writes. */
static void add_head(const struct opened_object *in, const struct contract_document *document)
{
    static const struct contract_row head[] = {
        ROW("schema", WORD, "name and version of this kind of document"),
        ROW("version", WORD, "of the program"),
        NULL_ROW("scenario", WORD, "name of the scenario; null: it is of none, or of several"),
        NULL_ROW("seed", COUNT, "of the random streams; null: as scenario"),
        NULL_ROW("digest", WORD, "of what was simulated; null: nothing was played event by event"),
    };
    static const struct contract_row choices =
        OF_LIST_ROW("choices", contract_choice, "what the scenario leaves open");
    for (unsigned i = 0; i < sizeof head / sizeof *head; i++)
        add_row(in, &head[i]);
    if (document->of_scenario)
        add_row(in, &choices);
}

void contract_print(const char *name, FILE *out)
{
    unsigned i = 0;
    while (contract_names[i] != NULL && strcmp(contract_names[i], name) != 0)
        i++;
    CHECK(contract_names[i] != NULL);
    const struct contract_document *document = documents[i];
    const char *version = strchr(document->schema, '/') + 1;
    struct arena *arena = arena_create();
    struct fact *o = document_root(arena);
    document_word(o, "$schema", "https://json-schema.org/draft/2020-12/schema");
    document_word(o, "$id", arena_format(arena, "urn:orrery:document:%s:%s", name, version));
    document_word(o, "$comment",
                  arena_format(arena, "version %s, written by orrery " ORRERY_VERSION, version));
    document_word(o, "title", arena_format(arena, "%s: %s", document->schema, document->title));
    const struct opened_object in = opened(o, document_object(o, "$defs"));
    add_head(&in, document);
    add_rows(&in, document->object);
    struct fact *schema = document_object(in.properties, "schema");
    document_word(schema, "const", document->schema);
    document_json(o, out);
    arena_destroy(arena);
}
