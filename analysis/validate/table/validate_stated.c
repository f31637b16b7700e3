#include "analysis/validate/table/validate_stated.h"

#include <string.h>

#include "scenarios/schema/schema.h"

/* What a key or a value is made of: no space, quote or bracket, which YAML would read. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/%";

/* Has the language this key in this section, for whatever kinds are chosen there? */
static bool is_known(const struct stated_fact *fact)
{
    const struct schema_section *section = schema_find(fact->section);
    if (section == NULL)
        return false;
    struct arena *arena = arena_create();
    const struct name_list names = schema_names(arena, section, schema_options(arena, section));
    bool found = false;
    for (unsigned i = 0; i < names.count && !found; i++)
        found = strcmp(names.names[i], fact->key) == 0;
    arena_destroy(arena);
    return found;
}

static bool copy(char *to, const char *from, size_t length)
{
    if (length == 0 || length >= STATED_SIZE)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return strspn(to, plain) == length;
}

/* "layout.dispatch=hybridep", `length` bytes of it. */
static bool read_fact(const char *text, size_t length, struct stated_fact *out)
{
    const char *equals = memchr(text, '=', length);
    char path[STATED_SIZE];
    if (equals == NULL || !copy(path, text, (size_t)(equals - text)) ||
        !copy(out->value, equals + 1, length - (size_t)(equals + 1 - text)))
        return false;
    const char *dot = strrchr(path, '.');
    if (dot == NULL || !copy(out->section, path, (size_t)(dot - path)) ||
        !copy(out->key, dot + 1, strlen(dot + 1)))
        return false;
    out->known = is_known(out);
    return true;
}

void validate_stated_read(struct cells *cells, struct validate_stated *out)
{
    const char *cell = csv_cell(cells->csv, cells->record, "stated");
    *out = (struct validate_stated){.count = 0};
    while (*cell != '\0' && !cells->row->refused) {
        const size_t length = strcspn(cell, ";");
        if (out->count == STATED_MAX) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated has more than %d facts",
                                (int)STATED_MAX);
            return;
        }
        struct stated_fact *fact = &out->facts[out->count];
        if (!read_fact(cell, length, fact)) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated '%.*s' is not section.key=value",
                                (int)(length < 60 ? length : 60), cell);
            return;
        }
        if (validate_stated_find(out, fact->section, fact->key) != NULL && fact->known) {
            validate_row_refuse(cells->row, REFUSAL_CELLS, "stated says %.60s.%.60s twice",
                                fact->section, fact->key);
            return;
        }
        out->count++;
        cell += length + (cell[length] == ';');
    }
}

struct stated_fact *validate_stated_find(struct validate_stated *stated, const char *section,
                                         const char *key)
{
    for (unsigned i = 0; i < stated->count; i++) {
        struct stated_fact *fact = &stated->facts[i];
        if (fact->known && strcmp(fact->section, section) == 0 && strcmp(fact->key, key) == 0)
            return fact;
    }
    return NULL;
}
