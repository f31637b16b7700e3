#include "analysis/record/database/string_table.h"

#include <string.h>

#include "sim/arena.h"
#include "sim/list.h"
#include "sim/table.h"

enum {
    RECENT = 64
};

struct string_table {
    struct arena *arena;
    struct table numbers; /* from 0 */
    const char **texts;   /* [number] */
    uint32_t capacity;
    struct {
        const char *given, *text;
        int64_t number;
    } recent[RECENT]; /* by pointer, checked by text: a pointer may come back with another text */
};

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

static bool same(const void *texts, uint32_t number, const void *text)
{
    return strcmp(((const char *const *)texts)[number], text) == 0;
}

struct string_table *string_table_create(void)
{
    struct arena *arena = arena_create();
    struct string_table *table = ARENA_NEW(arena, struct string_table);
    table->arena = arena;
    return table;
}

void string_table_destroy(struct string_table *table)
{
    if (table != NULL)
        arena_destroy(table->arena);
}

static int64_t find_or_add(struct string_table *table, const char *text, bool *added,
                           const char **kept)
{
    uint32_t count = table->numbers.count;
    uint32_t number =
        table_number(&table->numbers, table->arena, hash(text), same, table->texts, text);
    *added = number == count;
    if (*added) {
        LIST_ROOM(table->arena, table->texts, count, 1, table->capacity);
        table->texts[number] = arena_text(table->arena, text);
    }
    *kept = table->texts[number];
    return (int64_t)number + 1;
}

int64_t string_table_number(struct string_table *table, const char *text, bool *added)
{
    unsigned place = (unsigned)((uintptr_t)text >> 3) % RECENT;
    if (table->recent[place].given == text && strcmp(table->recent[place].text, text) == 0) {
        *added = false;
        return table->recent[place].number;
    }
    const char *kept;
    int64_t number = find_or_add(table, text, added, &kept);
    table->recent[place].given = text;
    table->recent[place].text = kept;
    table->recent[place].number = number;
    return number;
}
