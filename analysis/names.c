/* Invariants: 1. at most half of the slots are taken. 2. a taken slot never moves but in grow(). */
#include "analysis/names.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

struct names {
    struct arena *arena;
    const char **text; /* [slot]; NULL: free */
    int64_t *number;   /* [slot] */
    uint32_t slot_count, used;
};

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text != '\0'; text++) {
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    }
    return h;
}

static uint32_t slot_of(const struct names *names, const char *text)
{
    uint32_t slot = (uint32_t)hash(text) & (names->slot_count - 1);
    while (names->text[slot] != NULL && strcmp(names->text[slot], text) != 0) {
        slot = (slot + 1) & (names->slot_count - 1);
    }
    return slot;
}

static void reserve(struct names *names, uint32_t slot_count)
{
    names->slot_count = slot_count;
    names->text = ARENA_ARRAY(names->arena, const char *, slot_count);
    names->number = ARENA_ARRAY(names->arena, int64_t, slot_count);
}

static void grow(struct names *names)
{
    struct names old = *names;
    reserve(names, old.slot_count * 2);
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.text[i] != NULL) {
            uint32_t slot = slot_of(names, old.text[i]);
            names->text[slot] = old.text[i];
            names->number[slot] = old.number[i];
        }
    }
}

struct names *names_create(void)
{
    struct arena *arena = arena_create();
    struct names *names = ARENA_NEW(arena, struct names);
    names->arena = arena;
    reserve(names, 1024);
    return names;
}

void names_destroy(struct names *names)
{
    if (names != NULL) {
        arena_destroy(names->arena);
    }
}

int64_t names_number(struct names *names, const char *text, bool *added)
{
    uint32_t slot = slot_of(names, text);
    *added = names->text[slot] == NULL;
    if (!*added) {
        return names->number[slot];
    }
    if (names->used * 2 >= names->slot_count) {
        grow(names);
        slot = slot_of(names, text);
    }
    names->text[slot] = arena_text(names->arena, text);
    names->number[slot] = ++names->used;
    return names->number[slot];
}
