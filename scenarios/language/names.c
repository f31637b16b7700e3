#include "scenarios/language/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    LENGTH_MAX = 63, /* longer texts resemble no name */
    SHOWN_MAX = 16,  /* names that a message lists */
    OFFERED_MAX = 4  /* and that it asks about */
};

static int folded(char c)
{
    return c == '_' || c == '.' ? '-' : tolower((unsigned char)c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned names_distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][LENGTH_MAX + 1];
    if (a_length > LENGTH_MAX || b_length > LENGTH_MAX)
        return LENGTH_MAX;
    unsigned *older = rows[0], *old = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        old[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = folded(a[i - 1]) == folded(b[j - 1]);
            bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
            row[j] = least(least(row[j - 1], old[j]) + 1, old[j - 1] + (same ? 0 : 1));
            if (swapped)
                row[j] = least(row[j], older[j - 2] + 1);
        }
        unsigned *free_row = older;
        older = old;
        old = row;
        row = free_row;
    }
    return old[b_length];
}

static bool near_enough(unsigned distance, const char *text, const char *name)
{
    size_t longer = strlen(text) > strlen(name) ? strlen(text) : strlen(name);
    return distance * 3 <= longer || (distance == 1 && longer == 2);
}

static bool begins(const char *text, const char *name)
{
    while (*text && folded(*text) == folded(*name)) {
        text++;
        name++;
    }
    return *text == '\0';
}

static bool stands_in(const char *text, const char *name)
{
    while (*name && !begins(text, name))
        name++;
    return *name != '\0';
}

bool names_equal(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && begins(a, b);
}

/* The name at the least distance, if it is near. */
static const char *nearest(const char *text, struct name_list list)
{
    const char *best = NULL;
    unsigned best_distance = LENGTH_MAX;
    for (unsigned i = 0; i < list.count; i++) {
        unsigned distance = names_distance(text, list.names[i]);
        if (distance < best_distance && near_enough(distance, text, list.names[i])) {
            best = list.names[i];
            best_distance = distance;
        }
    }
    return best;
}

/* Those that `text` begins; without any, those that it stands in. */
static unsigned holders(const char *text, struct name_list list, const char **out, unsigned room)
{
    bool (*const tests[])(const char *text, const char *name) = {begins, stands_in};
    unsigned count = 0;
    for (unsigned t = 0; count == 0 && strlen(text) > 2 && t < 2; t++) {
        for (unsigned i = 0; i < list.count && count < room; i++)
            if (tests[t](text, list.names[i]))
                out[count++] = list.names[i];
    }
    return count;
}

const char *names_nearest(const char *text, struct name_list list)
{
    const char *best = nearest(text, list);
    return best || holders(text, list, &best, 1) ? best : NULL;
}

const char *names_offer(struct arena *arena, struct name_list list)
{
    const char *offer = arena_format(arena, "; did you mean '%s'", list.names[0]);
    unsigned shown = least(list.count, OFFERED_MAX);
    for (unsigned i = 1; i < shown; i++)
        offer = arena_format(arena, "%s%s '%s'", offer, i + 1 == list.count ? " or" : ",",
                             list.names[i]);
    return arena_format(arena, "%s%s?", offer, list.count > shown ? ", ..." : "");
}

static const char *known(struct arena *arena, struct name_list list)
{
    const char *advice = "; known:";
    for (unsigned i = 0; i < list.count && i < SHOWN_MAX; i++)
        advice = arena_format(arena, "%s%s %s", advice, i ? "," : "", list.names[i]);
    return list.count > SHOWN_MAX ? arena_format(arena, "%s, ...", advice) : advice;
}

const char *names_advice(struct arena *arena, const char *text, struct name_list list)
{
    const char *near = nearest(text, list), *found[OFFERED_MAX + 1] = {near};
    unsigned count = near ? 1 : 0;
    if (near == NULL || (begins(text, near) && !names_equal(text, near)))
        count = holders(text, list, found, OFFERED_MAX + 1);
    if (count || near)
        return names_offer(arena, (struct name_list){found, count ? count : 1});
    return list.count ? known(arena, list) : "";
}
