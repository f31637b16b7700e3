#include "scenarios/language/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    LENGTH_MAX = 63, /* longer texts resemble no name */
    SHOWN_MAX = 16,  /* names that a message lists */
    OFFERED_MAX = 4  /* and that it asks about */
};
struct first_word {
    char s[LENGTH_MAX + 1];
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

static unsigned common(const char *text, const char *name)
{
    unsigned length = 0;
    while (text[length] && folded(text[length]) == folded(name[length]))
        length++;
    return length;
}

/* Is `a` nearer to the text than `b`? At one distance by what both begin with: to llama3-7b
 * llama3-8b is nearer than llama2-7b. */
static bool nearer(const char *text, const char *a, const char *b)
{
    const unsigned of_a = names_distance(text, a), of_b = names_distance(text, b);
    return of_a != of_b ? of_a < of_b : common(text, a) > common(text, b);
}

/* The nearest name, if it is near. */
static const char *nearest(const char *text, struct name_list list)
{
    const char *best = NULL;
    for (unsigned i = 0; i < list.count; i++) {
        const char *name = list.names[i];
        if (near_enough(names_distance(text, name), text, name) &&
            (best == NULL || nearer(text, name, best)))
            best = name;
    }
    return best;
}

/* The first word of a name, which a '-', '_' or '.' ends: h100 of h100-80gb-sxm. */
static struct first_word first_word(const char *name)
{
    struct first_word word;
    snprintf(word.s, sizeof word.s, "%.*s", (int)strcspn(name, "-_."), name);
    return word;
}

/* Are their first words near, as those of h1000 and h100-80gb-sxm? */
static bool is_kin(const char *text, const char *name)
{
    const struct first_word a = first_word(text), b = first_word(name);
    return strlen(a.s) > 2 && near_enough(names_distance(a.s, b.s), a.s, b.s);
}

/* Those of the list whose first word is near, or all; the nearest first. */
static struct name_list sorted(struct arena *arena, const char *text, struct name_list list,
                               bool kin_only)
{
    const char **names = ARENA_ARRAY(arena, const char *, list.count);
    unsigned count = 0;
    for (unsigned i = 0; i < list.count; i++) {
        if (kin_only && !is_kin(text, list.names[i]))
            continue;
        unsigned at = count++;
        for (; at > 0 && nearer(text, list.names[i], names[at - 1]); at--)
            names[at] = names[at - 1];
        names[at] = list.names[i];
    }
    return (struct name_list){names, count};
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

static const char *known(struct arena *arena, const char *text, struct name_list list)
{
    const bool all = list.count <= SHOWN_MAX;
    const char *advice = all ? "; known:" : "; known, the nearest first:";
    if (!all)
        list = sorted(arena, text, list, false);
    for (unsigned i = 0; i < list.count && i < SHOWN_MAX; i++)
        advice = arena_format(arena, "%s%s %s", advice, i ? "," : "", list.names[i]);
    return all ? advice : arena_format(arena, "%s, ...", advice);
}

const char *names_advice(struct arena *arena, const char *text, struct name_list list)
{
    const char *near = nearest(text, list), *found[OFFERED_MAX + 1] = {near};
    unsigned count = near ? 1 : 0;
    if (near == NULL || (begins(text, near) && !names_equal(text, near)))
        count = holders(text, list, found, OFFERED_MAX + 1);
    if (count || near)
        return names_offer(arena, (struct name_list){found, count ? count : 1});
    const struct name_list kin = sorted(arena, text, list, true);
    if (kin.count > 0)
        return names_offer(arena, kin);
    return list.count ? known(arena, text, list) : "";
}

static bool has(struct name_list list, const char *name)
{
    for (unsigned i = 0; i < list.count; i++)
        if (strcmp(list.names[i], name) == 0)
            return true;
    return false;
}

const char *names_apart(struct arena *arena, const char *name, const char *more,
                        struct name_list list)
{
    while (has(list, name))
        name = arena_format(arena, "%s (%s)", name, more);
    return name;
}

int names_compare_numbered(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            const size_t left = strspn(a, "0123456789"), right = strspn(b, "0123456789");
            if (left != right)
                return left < right ? -1 : 1;
            const int same = strncmp(a, b, left);
            if (same != 0)
                return same;
            a += left;
            b += right;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}
