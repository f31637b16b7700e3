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
    validate_text_add(t, "%*s%s:\n", (int)t->depth * INDENT, "", key);
    t->depth++;
}

void validate_text_close(struct validate_text *t)
{
    CHECK(t->depth > 0);
    t->depth--;
}

void validate_text_key(struct validate_text *t, const char *key, const char *origin,
                       const char *format, ...)
{
    size_t begin = t->length;
    va_list list;
    validate_text_add(t, "%*s%s: ", (int)t->depth * INDENT, "", key);
    va_start(list, format);
    add_list(t, format, list);
    va_end(list);
    int width = (int)(t->length - begin);
    validate_text_add(t, "%*s  # %s\n", width < ORIGIN_COLUMN ? ORIGIN_COLUMN - width : 0, "",
                      origin);
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
