#include "analysis/validate/table/validate_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

enum {
    INDENT = 2,
    ORIGIN_COLUMN = 34
};

static void add_list(struct validate_text *t, const char *format, va_list list)
{
    int written = vsnprintf(t->s + t->length, sizeof t->s - t->length, format, list);
    CHECK(written >= 0 && (size_t)written < sizeof t->s - t->length);
    t->length += (size_t)written;
}

void validate_text_add(struct validate_text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_list(t, format, list);
    va_end(list);
}

void validate_text_open(struct validate_text *t, const char *key)
{
    CHECK(t->depth < VALIDATE_TEXT_DEPTH);
    validate_text_add(t, "%*s%s:\n", (int)t->depth * INDENT, "", key);
    snprintf(t->path[t->depth], sizeof t->path[t->depth], "%.*s%s%.40s", STATED_SIZE - 42,
             t->depth > 0 ? t->path[t->depth - 1] : "", t->depth > 0 ? "." : "", key);
    t->depth++;
}

static void add_key(struct validate_text *t, const char *key, const char *value, const char *origin)
{
    const size_t begin = t->length;
    validate_text_add(t, "%*s%s: %s", (int)t->depth * INDENT, "", key, value);
    const int width = (int)(t->length - begin);
    validate_text_add(t, "%*s  # %s\n", width < ORIGIN_COLUMN ? ORIGIN_COLUMN - width : 0, "",
                      origin);
}

static void add_stated(struct validate_text *t, struct stated_fact *fact)
{
    add_key(t, fact->key, fact->value, "column stated");
    fact->told = true;
}

void validate_text_close(struct validate_text *t)
{
    CHECK(t->depth > 0);
    const unsigned count = t->stated != NULL ? t->stated->count : 0;
    for (unsigned i = 0; i < count; i++) {
        struct stated_fact *fact = &t->stated->facts[i];
        if (fact->known && !fact->told && strcmp(fact->section, t->path[t->depth - 1]) == 0)
            add_stated(t, fact);
    }
    t->depth--;
}

void validate_text_key(struct validate_text *t, const char *key, const char *origin,
                       const char *format, ...)
{
    struct stated_fact *fact = t->stated != NULL && t->depth > 0
                                   ? validate_stated_find(t->stated, t->path[t->depth - 1], key)
                                   : NULL;
    if (fact != NULL) {
        add_stated(t, fact);
        return;
    }
    char value[512];
    va_list list;
    va_start(list, format);
    const int written = vsnprintf(value, sizeof value, format, list);
    va_end(list);
    CHECK(written >= 0 && (size_t)written < sizeof value);
    add_key(t, key, value, origin);
}

void validate_origins_add(struct validate_origins *origins, const char *column, const char *origin)
{
    CHECK(origins->count < VALIDATE_ORIGIN_MAX);
    origins->of[origins->count].column = column;
    origins->of[origins->count++].origin = origin;
}

bool validate_text_lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

struct validate_origin validate_origin_of(const struct cells *cells,
                                          const struct validate_origins *origins,
                                          const char *column)
{
    struct validate_origin out = {"the row"};
    for (unsigned i = 0; i < origins->count; i++)
        if (strcmp(origins->of[i].column, column) == 0) {
            snprintf(out.s, sizeof out.s, "%s", origins->of[i].origin);
            return out;
        }
    if (cells->csv == NULL)
        return out;
    bool filled = *csv_cell(cells->csv, cells->record, column) != '\0';
    const char *how = validate_text_lists(csv_cell(cells->csv, cells->record, "assumed"), column)
                          ? ", assumed by the source"
                          : "";
    if (filled)
        snprintf(out.s, sizeof out.s, "column %s%s", column, how);
    else if (csv_column(cells->csv, column) >= 0)
        snprintf(out.s, sizeof out.s, "chosen: column %s is empty", column);
    else
        snprintf(out.s, sizeof out.s, "chosen: there is no column %s", column);
    return out;
}
