#include "analysis/validate/rows/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/validate/rows/validate_models.h"
#include "analysis/validate/rows/validate_nodes.h"
#include "analysis/validate/rows/validate_run.h"
#include "models/profile/profile.h"
#include "scenarios/catalogue/card.h"
#include "scenarios/language/names.h"
#include "sim/pool.h"

const struct validate_kind *const validate_kinds[] = {
#define X(name) &validate_##name,
#include "analysis/validate/table/validate_list.h"
#undef X
};
KIND_TABLE(validate)

/* Columns of `kind` that the file does not have; writes them to `missing` when it is not NULL. */
static unsigned missing_columns(const struct csv *csv, const struct validate_kind *kind,
                                char *missing, size_t size)
{
    unsigned count = 0;
    size_t length = 0;
    for (unsigned i = 0; kind->columns[i] != NULL; i++) {
        if (csv_column(csv, kind->columns[i]) >= 0)
            continue;
        if (missing != NULL && length < size) {
            int written = snprintf(missing + length, size - length, "%s%s", count > 0 ? ", " : "",
                                   kind->columns[i]);
            length += written > 0 ? (size_t)written : 0;
        }
        count++;
    }
    return count;
}

/* The kind whose columns are all there; else an error that names the nearest. */
static const struct validate_kind *recognise(const struct csv *csv, struct error *error)
{
    const struct validate_kind *nearest = NULL;
    double least = INFINITY;
    for (unsigned i = 0; i < validate_kind_count; i++) {
        unsigned count = 0;
        while (validate_kinds[i]->columns[count] != NULL)
            count++;
        unsigned missing = missing_columns(csv, validate_kinds[i], NULL, 0);
        if (missing == 0)
            return validate_kinds[i];
        if ((double)missing / count < least) {
            least = (double)missing / count;
            nearest = validate_kinds[i];
        }
    }
    char missing[512];
    missing_columns(csv, nearest, missing, sizeof missing);
    error_set(error, "%s: no kind of measurements has these columns; as %s it would also need: %s",
              csv->path, nearest->head.name, missing);
    return NULL;
}

/* Of an empty cell clean; another word refuses the row. */
static void read_quality(const struct validation *v, struct validate_row *row)
{
    const char *cell = csv_cell(v->csv, row->record, "quality");
    unsigned i = 0;
    while (quality_names[i] != NULL && strcmp(cell, quality_names[i]) != 0)
        i++;
    row->quality = quality_names[i] != NULL ? (enum quality)i : QUALITY_CLEAN;
    if (quality_names[i] == NULL && *cell != '\0')
        validate_row_refuse(row, REFUSAL_CELLS, "column quality: no '%.40s'%s", cell,
                            names_advice(v->arena, cell, (struct name_list){quality_names, i}));
}

static int by_id(const void *a, const void *b)
{
    const struct validate_row *x = *(struct validate_row *const *)a,
                              *y = *(struct validate_row *const *)b;
    const int order = strcmp(x->id, y->id);
    return order != 0 ? order : (x->record > y->record) - (x->record < y->record);
}

/* The first row of a name counts; those without one have none in common. */
static void refuse_repeated(struct validation *v)
{
    struct validate_row **rows = ARENA_ARRAY(v->arena, struct validate_row *, v->row_count + 1);
    for (size_t i = 0; i < v->row_count; i++)
        rows[i] = &v->rows[i];
    qsort(rows, v->row_count, sizeof *rows, by_id);
    for (size_t i = 1, first = 0; i < v->row_count; i++) {
        if (strcmp(rows[i]->id, rows[first]->id) != 0)
            first = i;
        else if (*rows[i]->id != '\0')
            validate_row_refuse(rows[i], REFUSAL_CELLS,
                                "column row_id: that of row %zu, too; name each row once",
                                rows[first]->record + 1);
    }
}

/* The cells of these columns; NULL: there are none. */
static const char *cells_of(const struct validation *v, size_t record, const char *const *columns)
{
    const char *key = columns != NULL ? "" : NULL;
    for (unsigned i = 0; columns != NULL && columns[i] != NULL; i++)
        key = arena_format(v->arena, "%s%s,", key, csv_cell(v->csv, record, columns[i]));
    return key;
}

/* One row after the other plays in the same memory: new pages cost more than the smaller steps. */
static void predict(void *context, size_t index, struct arena *scratch)
{
    struct validation v = *(struct validation *)context;
    v.scratch = scratch;
    if (!v.rows[index].refused)
        v.kind->predict(&v, &v.rows[index]);
}

/* Rows whose cell in one column is one of some words. */
struct where {
    const char *column; /* NULL: all rows */
    const char *words;  /* joined by commas */
};

static bool read_where(struct validation *v, const char *text, struct where *out,
                       struct error *error)
{
    char *copy = arena_text(v->arena, text != NULL ? text : ""), *equals = strchr(copy, '=');
    *out = (struct where){NULL, NULL};
    if (text == NULL)
        return true;
    if (equals == NULL || equals[1] == '\0')
        return error_set(error, "--where %s: expected COLUMN=WORD,WORD", format_shown(text).s);
    *equals = '\0';
    *out = (struct where){copy, equals + 1};
    return csv_column(v->csv, copy) >= 0 ||
           error_set(error, "--where: %s has no column '%s'", v->csv->path, format_shown(copy).s);
}

static bool is_wanted(const struct validation *v, const struct where *where, size_t record)
{
    if (where->column == NULL)
        return true;
    const char *cell = csv_cell(v->csv, record, where->column);
    size_t length = strlen(cell);
    for (const char *word = where->words; word != NULL; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, cell, length) == 0 && (word[length] == ',' || word[length] == '\0'))
            return true;
    }
    return false;
}

static void take_rows(struct validation *v, const char *source, const struct where *where)
{
    for (size_t record = 0; record < v->csv->row_count; record++) {
        const char *of = csv_cell(v->csv, record, "source");
        if ((source != NULL && strcmp(of, source) != 0) || !is_wanted(v, where, record))
            continue;
        struct validate_row *row = &v->rows[v->row_count++];
        row->record = record;
        row->id = csv_cell(v->csv, record, "row_id");
        row->source = of;
        read_quality(v, row);
        row->group = cells_of(v, record, v->kind->group);
        row->layout = cells_of(v, record, v->kind->layout);
    }
    refuse_repeated(v);
}

/* Times of another card, taken for this one (--other-card), prove nothing about it. */
static bool is_of_its_card(struct validation *v, const struct measured_profile *profile,
                           struct error *error)
{
    struct problems *problems = ARENA_NEW(v->arena, struct problems);
    struct catalogue catalogue;
    struct error why = {""};
    const struct card_told told = {.name = profile->head.facts.device,
                                   .memory_bytes = profile->head.facts.memory_bytes};
    problems->arena = v->arena;
    catalogue_open(&catalogue, v->arena, v->catalogue, problems);
    return card_compare(&catalogue, v->profile_gpu, &told, &why) != CARD_DIFFERS ||
           error_set(error, "%s: %s", profile->path, why.text);
}

/* A profile is of one card, and must say so. */
static bool read_profile(struct validation *v, const char *path, struct error *error)
{
    struct measured_profile profile;
    if (path == NULL)
        return true;
    if (!profile_read(v->arena, path, &profile, error))
        return false;
    v->profile = path;
    v->profile_gpu = arena_text(v->arena, profile.head.gpu);
    if (*v->profile_gpu == '\0')
        return error_set(error, "%s does not say the card's name in the catalogue", path);
    return is_of_its_card(v, &profile, error);
}

/* Options that are of whole steps. */
static bool takes(const struct validate_kind *kind, const struct validate_options *how,
                  const char *path, struct error *error)
{
    if (how->detail != VALIDATE_OP && !kind->has_details)
        return error_set(error, "%s: --detail %s is of whole steps; rows of kind %s play none",
                         path, validate_detail_names[how->detail], kind->head.name);
    return !how->intervals || kind->has_details ||
           error_set(error, "%s: intervals are of training steps, not of %s", path,
                     kind->head.name);
}

bool validate_open(struct arena *arena, const struct csv *csv, const struct validate_options *how,
                   struct validation *out, struct error *error)
{
    struct where where;
    *out = (struct validation){
        .arena = arena, .csv = csv, .catalogue = how->catalogue, .detail = how->detail};
    out->kind = recognise(csv, error);
    if (out->kind == NULL || !takes(out->kind, how, csv->path, error) ||
        !read_profile(out, how->profile, error))
        return false;
    out->versions = validate_versions_read(arena, how->catalogue, error);
    if (out->versions == NULL)
        return false;
    if (!read_where(out, how->where, &where, error))
        return false;
    out->rows = ARENA_ARRAY(arena, struct validate_row, csv->row_count + 1);
    take_rows(out, how->source, &where);
    if (out->row_count == 0)
        return error_set(error, "%s: no rows%s%s%s%s", csv->path, how->source ? " of source " : "",
                         how->source ? how->source : "", how->where ? " where " : "",
                         how->where ? how->where : "");
    out->nodes = validate_nodes_read(out, error);
    out->models = out->nodes != NULL ? validate_models_read(out, error) : NULL;
    return out->models != NULL;
}

bool validate_file(struct arena *arena, const struct csv *csv, const struct validate_options *how,
                   struct validation *out, struct error *error)
{
    if (!validate_open(arena, csv, how, out, error))
        return false;
    pool_run_scratch(how->threads, out->row_count, predict, out);
    if (out->kind->compare != NULL)
        out->kind->compare(out);
    return true;
}
