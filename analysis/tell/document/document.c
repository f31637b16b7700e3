/* Facts in their order. Invariants:
 * 1. the facts of an object have keys, no two the same; the items of an array have none
 * 2. `count` facts hang on `first`, the last of them is `last` */
#include "analysis/tell/document/document.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/version.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"

const struct fact *document_find(const struct fact *object, const char *key, size_t length)
{
    const struct fact *fact = object->kind == FACT_OBJECT ? object->value.of.first : NULL;
    while (fact != NULL && (strncmp(fact->key, key, length) != 0 || fact->key[length] != '\0'))
        fact = fact->next;
    return fact;
}

/* A new fact, or that of this key, with nothing said of it. */
static struct fact *fact_at(struct fact *in, const char *key)
{
    CHECK((key != NULL) == (in->kind == FACT_OBJECT) && (key != NULL || in->kind == FACT_ARRAY));
    struct fact *fact = key != NULL ? (struct fact *)document_find(in, key, strlen(key)) : NULL;
    if (fact != NULL)
        return fact;
    fact = ARENA_NEW(in->arena, struct fact);
    *fact = (struct fact){
        .arena = in->arena, .key = key, .aside = key != NULL && *key == '.' && !in->names};
    if (in->value.of.last != NULL)
        in->value.of.last->next = fact;
    else
        in->value.of.first = fact;
    in->value.of.last = fact;
    in->value.of.count++;
    return fact;
}

static struct fact *opened(struct fact *in, const char *key, enum fact_kind kind)
{
    struct fact *fact = fact_at(in, key);
    fact->kind = kind;
    return fact;
}

struct fact *document_object(struct fact *in, const char *key)
{
    return opened(in, key, FACT_OBJECT);
}

struct fact *document_names(struct fact *in, const char *key)
{
    struct fact *fact = opened(in, key, FACT_OBJECT);
    fact->names = true;
    return fact;
}

struct fact *document_array(struct fact *in, const char *key)
{
    return opened(in, key, FACT_ARRAY);
}

void document_null(struct fact *in, const char *key)
{
    fact_at(in, key)->kind = FACT_NULL;
}

struct fact *document_object_if(bool known, struct fact *in, const char *key)
{
    struct fact *fact = opened(in, key, known ? FACT_OBJECT : FACT_NULL);
    return known ? fact : NULL;
}

struct fact *document_array_if(bool known, struct fact *in, const char *key)
{
    struct fact *fact = opened(in, key, known ? FACT_ARRAY : FACT_NULL);
    return known ? fact : NULL;
}

void document_flag(struct fact *in, const char *key, bool value)
{
    struct fact *fact = fact_at(in, key);
    fact->kind = FACT_FLAG;
    fact->value.flag = value;
}

static void set_integer(struct fact *in, const char *key, int64_t value)
{
    struct fact *fact = fact_at(in, key);
    fact->kind = FACT_INTEGER;
    fact->unit = IN_COUNT;
    fact->value.integer = value;
}

void document_count(struct fact *in, const char *key, uint64_t value)
{
    set_integer(in, key, (int64_t)value);
}

void document_real(struct fact *in, const char *key, enum document_unit unit, double value)
{
    struct fact *fact = fact_at(in, key);
    fact->kind = FACT_REAL;
    fact->unit = unit;
    fact->value.real = value;
}

static void set_word(struct fact *in, const char *key, const char *value, enum fact_kind kind)
{
    struct fact *fact = fact_at(in, key);
    fact->kind = value != NULL ? kind : FACT_NULL;
    fact->value.word = value;
}

void document_word(struct fact *in, const char *key, const char *value)
{
    set_word(in, key, value, FACT_WORD);
}

void document_quote(struct fact *in, const char *key, const char *value)
{
    set_word(in, key, value, FACT_QUOTE);
}

/* What the scenario left open. */
static void set_choices(struct fact *document, const struct scenario *scenario)
{
    struct fact *choices = document_array(document, "choices");
    for (unsigned i = 0; i < scenario->choices.count; i++) {
        const struct made_choice *one = &scenario->choices.rows[i];
        struct fact *row = document_object(choices, NULL);
        document_word(row, "key", choice_path(one));
        document_quote(row, "value", one->value);
        document_word(row, "why", one->why);
    }
}

struct fact *document_root(struct arena *arena)
{
    struct fact *document = ARENA_NEW(arena, struct fact);
    *document = (struct fact){.arena = arena, .kind = FACT_OBJECT};
    return document;
}

struct fact *document_begin(struct arena *arena, const char *schema,
                            const struct scenario *scenario)
{
    struct fact *document = document_root(arena);
    document_word(document, "schema", schema);
    document_word(document, "version", ORRERY_VERSION);
    document_quote(document, "scenario", scenario != NULL ? scenario->name : NULL);
    document_quote(document, ".title", scenario != NULL ? scenario->title : NULL);
    document_null(document, "seed");
    if (scenario != NULL) {
        document_count(document, "seed", scenario->configuration.seed);
        set_choices(document, scenario);
    }
    document_null(document, "digest");
    return document;
}

static enum document_unit unit_of(const char *unit)
{
    static const struct {
        const char *unit;
        enum document_unit shown;
    } known[] = {{"s", IN_SECONDS},         {"B", IN_BYTES},    {"1", IN_RATIO},
                 {"B/s", IN_BYTES_PER_S},   {"USD", IN_USD},    {"J", IN_JOULES},
                 {"tokens/s", IN_QUANTITY}, {"FLOP", IN_FLOPS}, {"FLOP/s", IN_FLOPS}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].unit, unit) == 0)
            return known[i].shown;
    return IN_QUANTITY;
}

static void set_column(struct fact *in, const char *key, const struct row_column *column,
                       const void *row)
{
    switch (column->type) {
    case ROW_INTEGER: {
        const int64_t value = row_integer(row, column);
        if (value == ROW_NULL)
            document_null(in, key);
        else if (column->flag)
            document_flag(in, key, value == 1);
        else
            set_integer(in, key, value);
        return;
    }
    case ROW_REAL:
        document_real(in, key, unit_of(column->unit), row_real(row, column));
        return;
    case ROW_TEXT:
        break;
    }
    document_quote(in, key, row_text(row, column));
}

/* The column of this name. */
static unsigned column_at(const struct row_table *table, const char *name, size_t length)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (strncmp(table->columns[i].name, name, length) == 0 &&
            table->columns[i].name[length] == '\0')
            return i;
    CHECK(false); /* no such column */
    return 0;
}

void document_columns(struct fact *in, enum row_table_index index, const void *row,
                      const char *keys)
{
    const struct row_table *table = &row_tables[index];
    bool *said = ARENA_ARRAY(in->arena, bool, table->column_count);
    while (*keys != '\0') {
        const size_t length = strcspn(keys, " "), own = strcspn(keys, " =");
        const size_t name = own < length ? own + 1 : 0;
        const unsigned column = column_at(table, keys + name, length - name);
        set_column(in, arena_format(in->arena, "%.*s", (int)own, keys), &table->columns[column],
                   row);
        said[column] = true;
        keys += length + strspn(keys + length, " ");
    }
    for (unsigned i = 0; i < table->column_count; i++)
        if (!said[i])
            set_column(in, arena_format(in->arena, ".%s", table->columns[i].name),
                       &table->columns[i], row);
}

void document_metrics(struct fact *in, const struct run_row *run)
{
    const struct row_table *table = &row_tables[ROW_run];
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        if (strcmp(column->key, "no_key") != 0 &&
            (column->when != ROW_WEEKS || isfinite(run->wall_s)))
            set_column(in, column->key, column, run);
    }
}
