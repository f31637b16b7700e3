#include "analysis/explain/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/memory/ledger.h"
#include "sim/units.h"

/* Terms of the waterfall that are kernels of forward and backward. */
static bool of_compute(unsigned term)
{
    return term == WATERFALL_useful || term == WATERFALL_masked_scores || term == WATERFALL_kernels;
}

static double gpu_s_of(const struct run_row *r, double seconds)
{
    return seconds * (double)r->rank_count * MEGA / (r->tokens_per_s * r->step_s);
}

static void set_term(const struct compared_side sides[2], const double seconds[2],
                     struct compared_term *out)
{
    for (unsigned i = 0; i < 2; i++) {
        out->seconds[i] = seconds[i];
        out->gpu_s[i] = gpu_s_of(record_run(&sides[i].record), seconds[i]);
    }
}

static void take_terms(const struct compared_side sides[2], const struct waterfall w[2],
                       struct comparison *out)
{
    double compute[2] = {0.0, 0.0}, total[2] = {0.0, 0.0};
    struct compared_term *whole = &out->terms[out->term_count++];
    *whole = (struct compared_term){
        breakdown_names[PART_COMPUTE], "kernels of forward and backward", {0}, {0}, false};
    for (unsigned t = 0; t < WATERFALL_COUNT; t++) {
        const struct waterfall_term *a = &w[0].terms[t], *b = &w[1].terms[t];
        if (!a->known || !b->known)
            continue;
        struct compared_term *term = &out->terms[out->term_count++];
        *term = (struct compared_term){a->key, a->what, {0}, {0}, of_compute(t)};
        set_term(sides, (double[]){a->seconds, b->seconds}, term);
        for (unsigned i = 0; i < 2; i++) {
            compute[i] += of_compute(t) ? term->seconds[i] : 0.0;
            total[i] += term->seconds[i];
        }
    }
    set_term(sides, compute, whole);
    out->total = (struct compared_term){"sum", out->weeks ? "kept step" : "step", {0}, {0}, false};
    set_term(sides, total, &out->total);
}

bool comparison_fits(const struct record *record)
{
    const struct run_row *r = record_run(record);
    return r->fits != 0 && r->step_s > 0.0;
}

static bool take_times(const struct compared_side sides[2], struct comparison *out,
                       struct error *error)
{
    struct waterfall w[2];
    if (!out->fits[0] || !out->fits[1])
        return true;
    for (unsigned i = 0; i < 2; i++) {
        const struct run_row *r = record_run(&sides[i].record);
        struct error why = {""};
        if (!waterfall_of(&sides[i].record, &w[i], &why))
            return error_set(error, "%s: %s", sides[i].path, why.text);
        out->tokens[i] = r->tokens_per_s * r->step_s;
    }
    const struct run_row *a = record_run(&sides[0].record), *b = record_run(&sides[1].record);
    out->timed = true;
    out->weeks = w[0].weeks && w[1].weeks;
    out->same_work = a->rank_count == b->rank_count &&
                     fabs(out->tokens[0] - out->tokens[1]) < 0.5; /* whole numbers */
    take_terms(sides, w, out);
    return true;
}

static const struct stage_memory_row *fullest(const struct record *record)
{
    size_t count;
    const struct stage_memory_row *rows = record_stage_memory(record, &count), *most = NULL;
    for (size_t i = 0; i < count; i++)
        if (most == NULL || rows[i].peak_reserved_bytes > most->peak_reserved_bytes)
            most = &rows[i];
    return most;
}

static void take_side_memory(const struct stage_memory_row *row, unsigned side,
                             struct comparison *out)
{
    const double held[TENANT_COUNT] = {
        [TENANT_WEIGHTS] = row->weights_bytes,
        [TENANT_GRADIENTS] = row->gradients_bytes,
        [TENANT_MASTER] = row->master_bytes,
        [TENANT_MOMENTS] = row->moments_bytes,
        [TENANT_ACTIVATIONS] = row->activations_bytes,
        [TENANT_TEMPORARY] = row->temporary_bytes,
        [TENANT_COMMUNICATION] = row->communication_bytes,
        [TENANT_CONTEXT] = row->context_bytes,
        [TENANT_FRAGMENTATION] = row->fragmentation_bytes,
    };
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        out->memory[t].bytes[side] = held[t];
    out->peak.bytes[side] = row->peak_reserved_bytes;
}

static bool take_memory(const struct compared_side sides[2], struct comparison *out,
                        struct error *error)
{
    for (unsigned t = 0; t < TENANT_COUNT; t++)
        out->memory[t].key = tenant_names[t];
    out->peak.key = "reserved";
    for (unsigned i = 0; i < 2; i++) {
        const struct stage_memory_row *row = fullest(&sides[i].record);
        if (row == NULL)
            return error_set(error, "%s: the table stage_memory is damaged: no stage",
                             sides[i].path);
        take_side_memory(row, i, out);
    }
    return true;
}

static const char *cell_text(struct arena *arena, const struct run_row *run,
                             const struct row_column *column)
{
    switch (column->type) {
    case ROW_INTEGER: {
        const int64_t value = row_integer(run, column);
        return value == ROW_NULL ? "" : arena_format(arena, "%" PRId64, value);
    }
    case ROW_REAL: {
        const double value = row_real(run, column);
        return isfinite(value) ? arena_format(arena, "%.6g %s", value,
                                              strcmp(column->unit, "1") == 0 ? "" : column->unit)
                               : "";
    }
    case ROW_TEXT:
        break;
    }
    const char *text = row_text(run, column);
    return text != NULL ? text : "";
}

/* What was chosen, and not what came of it: the columns from `gpu` to `budget_tokens`, the price,
 * and the seed. */
static bool is_setting(const char *name)
{
    static const char *const settings[] = {
#define X(column, type, unit, key, when, study, more, doc, getter) #column,
        METRICS_OF_THE_CHOICE(X)
#undef X
            "seed",
        "gpu_hour_usd"
    };
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(name, settings[i]) == 0)
            return true;
    return false;
}

struct settings_room {
    struct compared_setting *rows;
    unsigned count;
};

static void note_setting(struct settings_room *room, const char *name, const char *a, const char *b,
                         bool figure)
{
    if (strcmp(a, b) != 0)
        room->rows[room->count++] =
            (struct compared_setting){.name = name, .text = {a, b}, .figure = figure};
}

static const struct kept_constant *constant_named(const struct kept_constants *c, const char *name)
{
    for (unsigned i = 0; i < c->count; i++)
        if (strcmp(c->rows[i].name, name) == 0)
            return &c->rows[i];
    return NULL;
}

/* Of "cluster.node.name", which is spelt "cluster.node" where nothing else is said of the node;
 * likewise "software.profile". */
static size_t short_length(const char *path)
{
    static const char *const tails[] = {".name", ".preset", ".profile"};
    const size_t length = strlen(path);
    for (unsigned i = 0; i < sizeof tails / sizeof *tails; i++) {
        const size_t tail = strlen(tails[i]);
        if (length > tail && strcmp(path + length - tail, tails[i]) == 0)
            return length - tail;
    }
    return length;
}

static const char *stated(const struct stated_words *words, const char *path)
{
    const size_t length = short_length(path);
    for (unsigned i = 0; i < words->count; i++)
        if (short_length(words->rows[i].path) == length &&
            strncmp(words->rows[i].path, path, length) == 0)
            return words->rows[i].text;
    return "";
}

static bool agrees(const char *word, const char *of_column)
{
    return word[0] == '\0' || strcmp(word, of_column) == 0;
}

/* A column of its name says these words, or it was noted of the other side. */
static bool is_noted(const struct settings_room *room, const char *path, const char *const text[2])
{
    const char *dot = strrchr(path, '.'), *last = dot != NULL ? dot + 1 : path;
    for (unsigned i = 0; i < room->count; i++) {
        const struct compared_setting *row = &room->rows[i];
        if (strcmp(row->name, path) == 0 ||
            (!row->key && strcmp(row->name, last) == 0 && agrees(text[0], row->text[0]) &&
             agrees(text[1], row->text[1])))
            return true;
    }
    return false;
}

/* Words to people, which move nothing. */
static bool is_prose(const char *path)
{
    static const char *const heads[] = {"lesson.", "notes"};
    for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(path, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

/* Keys that one of the scenarios states, or both with other words. */
static void take_keys(const struct compared_side sides[2], struct settings_room *room)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct stated_words *words = &sides[side].stated;
        for (unsigned i = 0; i < words->count; i++) {
            const char *path = words->rows[i].path;
            const char *const text[2] = {stated(&sides[0].stated, path),
                                         stated(&sides[1].stated, path)};
            if (strcmp(text[0], text[1]) != 0 && !is_prose(path) && !is_noted(room, path, text))
                room->rows[room->count++] = (struct compared_setting){
                    .name = path, .text = {text[0], text[1]}, .key = true};
        }
    }
}

/* Figures of entries that both stand on: of another GPU every figure is another, and that is said.
 */
static void take_settings(struct arena *arena, const struct compared_side sides[2],
                          struct comparison *out)
{
    const struct row_table *table = &row_tables[ROW_run];
    const struct run_row *a = record_run(&sides[0].record), *b = record_run(&sides[1].record);
    struct settings_room room = {ARENA_ARRAY(arena, struct compared_setting,
                                             (size_t)table->column_count +
                                                 sides[0].constants.count + sides[0].stated.count +
                                                 sides[1].stated.count + 1),
                                 0};
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct row_column *column = &table->columns[i];
        if (is_setting(column->name))
            note_setting(&room, column->name, cell_text(arena, a, column),
                         cell_text(arena, b, column), false);
    }
    out->told = sides[0].told && sides[1].told;
    if (out->told)
        take_keys(sides, &room);
    for (unsigned i = 0; i < sides[0].constants.count; i++) {
        const struct kept_constant *one = &sides[0].constants.rows[i];
        const struct kept_constant *other = constant_named(&sides[1].constants, one->name);
        if (other != NULL)
            note_setting(&room, one->name, one->text, other->text, true);
    }
    out->settings = room.rows;
    out->setting_count = room.count;
}

bool comparison_of(struct arena *arena, const struct compared_side sides[2], struct comparison *out,
                   struct error *error)
{
    *out = (struct comparison){.timed = false};
    for (unsigned i = 0; i < 2; i++)
        out->fits[i] = comparison_fits(&sides[i].record);
    if (!take_times(sides, out, error) || !take_memory(sides, out, error))
        return false;
    take_settings(arena, sides, out);
    return true;
}
