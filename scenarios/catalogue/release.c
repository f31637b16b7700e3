#include "scenarios/catalogue/release.h"

#include <ctype.h>
#include <string.h>

enum {
    YEAR_MIN = 2000,
    YEAR_MAX = 2999,
    MONTHS = 12
};

/* Digits of `*at`, at most four; how many there are. */
static unsigned digits(const char **at, unsigned *number)
{
    unsigned count = 0;
    for (*number = 0; count < 4 && isdigit((unsigned char)**at); count++)
        *number = *number * 10 + (unsigned)(*(*at)++ - '0');
    return count;
}

unsigned release_month(const char *text)
{
    unsigned year, month = MONTHS, patch;
    if (strncmp(text, "ngc", 3) == 0)
        text += 3;
    const unsigned length = digits(&text, &year);
    const bool container = length == 2;
    if (container)
        year += YEAR_MIN;
    if ((length != 2 && length != 4) || year < YEAR_MIN || year > YEAR_MAX)
        return 0;
    if (*text == '\0' && !container)
        return year * MONTHS + month - 1;
    if (*text != '.' && (container || *text != '-'))
        return 0;
    text++;
    if (digits(&text, &month) != 2 || month < 1 || month > MONTHS)
        return 0;
    if (container && *text == '.' && (text++, digits(&text, &patch) == 0))
        return 0;
    return *text == '\0' ? year * MONTHS + month - 1 : 0;
}

static const char *word_of(const struct value *fact, const char *key)
{
    const struct value *word = value_find(fact, key);
    return word != NULL && word->kind == VALUE_WORD ? word->text : "";
}

static bool read_fact(struct problems *problems, const struct value *item, struct release_fact *out)
{
    *out = (struct release_fact){.since = word_of(item, "since"),
                                 .what = word_of(item, "what"),
                                 .source = word_of(item, "source"),
                                 .size = word_of(item, "size"),
                                 .sets = value_find(item, "sets")};
    out->month = release_month(out->since);
    const bool good = out->month > 0 && *out->what != '\0' && *out->source != '\0' &&
                      (out->sets == NULL || out->sets->kind == VALUE_MAPPING);
    if (!good)
        problems_error(problems, item->mark,
                       "history: a fact has since (a month as 2025-11), what, source, and may have "
                       "sets (a mapping of keys) and size");
    return good;
}

struct release_history release_history(struct arena *arena, struct problems *problems,
                                       const struct value *entry)
{
    const struct value *history = value_find(entry, "history");
    unsigned count = 0;
    if (history == NULL)
        return (struct release_history){NULL, 0};
    if (history->kind != VALUE_LIST) {
        problems_error(problems, history->mark, "history: a list of dated facts is wanted");
        return (struct release_history){NULL, 0};
    }
    struct release_fact *facts = ARENA_ARRAY(arena, struct release_fact, history->count + 1);
    for (const struct value *item = history->first; item != NULL; item = item->next)
        count += read_fact(problems, item, &facts[count]) ? 1 : 0;
    return (struct release_history){facts, count};
}

/* The member that the last fact until then sets, or NULL. Of facts of one month the later row. */
static const struct value *member_of(struct release_history h, unsigned month, const char *key)
{
    const struct value *found = NULL;
    unsigned since = 0;
    for (unsigned i = 0; i < h.count; i++) {
        const struct value *member = value_find(h.facts[i].sets, key);
        if (member == NULL || h.facts[i].month > month || h.facts[i].month < since)
            continue;
        found = member;
        since = h.facts[i].month;
    }
    return found;
}

static void hang(struct arena *arena, struct value *out, const struct value *member)
{
    if (value_find(out, member->key) == NULL)
        value_append(out, value_share(arena, member));
}

const struct value *release_entry(struct arena *arena, const struct value *entry,
                                  struct release_history history, unsigned month)
{
    if (history.count == 0)
        return entry;
    struct value *out = value_new(arena, VALUE_MAPPING, entry->mark);
    out->key = entry->key;
    out->key_mark = entry->key_mark;
    for (unsigned i = 0; i < history.count; i++) {
        const struct value *sets = history.facts[i].sets;
        for (const struct value *m = sets ? sets->first : NULL; m != NULL; m = m->next) {
            const struct value *last = member_of(history, month, m->key);
            if (last != NULL)
                hang(arena, out, last);
        }
    }
    for (const struct value *member = entry->first; member != NULL; member = member->next)
        hang(arena, out, member);
    return out;
}
