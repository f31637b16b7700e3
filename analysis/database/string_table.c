/* Invariants: 1. at most half of the slots are taken. 2. a taken slot never moves but in grow(). */
#include "analysis/database/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

enum {
    FIRST_SLOTS = 512,
    RECENT = 64
};

struct string_table {
    struct arena *arena;
    const char **text; /* [slot]; NULL: free */
    int64_t *number;   /* [slot] */
    uint32_t slot_count, used;
    struct {
        const char *given, *text;
        int64_t number;
    } recent[RECENT]; /* by pointer, checked by text: a pointer may come back with another text */
};

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return h;
}

static uint32_t slot_of(const struct string_table *table, const char *text)
{
    uint32_t slot = (uint32_t)hash(text) & (table->slot_count - 1);
    while (table->text[slot] != NULL && strcmp(table->text[slot], text) != 0) {
        slot = (slot + 1) & (table->slot_count - 1);
    }
    return slot;
}

static void reserve(struct string_table *table, uint32_t slot_count)
{
    table->slot_count = slot_count;
    table->text = ARENA_ARRAY(table->arena, const char *, slot_count);
    table->number = ARENA_ARRAY(table->arena, int64_t, slot_count);
}

static void grow(struct string_table *table)
{
    struct string_table old = *table;
    reserve(table, old.slot_count * 2);
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.text[i] != NULL) {
            uint32_t slot = slot_of(table, old.text[i]);
            table->text[slot] = old.text[i];
            table->number[slot] = old.number[i];
        }
    }
}

struct string_table *string_table_create(void)
{
    struct arena *arena = arena_create();
    struct string_table *table = ARENA_NEW(arena, struct string_table);
    table->arena = arena;
    reserve(table, FIRST_SLOTS);
    return table;
}

void string_table_destroy(struct string_table *table)
{
    if (table != NULL) {
        arena_destroy(table->arena);
    }
}

static int64_t find_or_add(struct string_table *table, const char *text, bool *added,
                           const char **kept)
{
    uint32_t slot = slot_of(table, text);
    *added = table->text[slot] == NULL;
    if (!*added) {
        *kept = table->text[slot];
        return table->number[slot];
    }
    if (table->used * 2 >= table->slot_count) {
        grow(table);
        slot = slot_of(table, text);
    }
    *kept = table->text[slot] = arena_text(table->arena, text);
    table->number[slot] = ++table->used;
    return table->number[slot];
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
