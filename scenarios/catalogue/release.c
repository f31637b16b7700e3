#include "scenarios/catalogue/release.h"

#include <ctype.h>
#include <stdlib.h>
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

static const char image_prefix[] = "ngc";

bool release_is_image(const char *text)
{
    return strncmp(text, image_prefix, strlen(image_prefix)) == 0;
}

unsigned release_month(const char *text)
{
    unsigned year, month = MONTHS, patch = 0;
    if (release_is_image(text))
        text += strlen(image_prefix);
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
    const bool patched = container && *text == '.';
    if (patched && (text++, digits(&text, &patch) == 0))
        return 0;
    return *text == '\0' ? year * MONTHS + month - 1 + (patched && patch > 0 ? 1 : 0) : 0;
}

const char *release_month_text(struct arena *arena, unsigned month)
{
    return arena_format(arena, "%u-%02u", month / MONTHS, month % MONTHS + 1);
}

static const char *word_of(const struct value *fact, const char *key)
{
    const struct value *word = value_find(fact, key);
    return word != NULL && word->kind == VALUE_WORD ? word->text : "";
}

/* Is `text` one of the words that are joined by + in `list`? */
static bool is_among(const char *list, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = list; *at != '\0';) {
        const size_t word = strcspn(at, "+");
        if (word == length && strncmp(at, text, length) == 0)
            return true;
        at += word + (at[word] == '+' ? 1 : 0);
    }
    return false;
}

static bool is_truth(const struct value *word, bool is)
{
    return strcmp(word->text, is ? "true" : "false") == 0;
}

static bool names_card(const char *list, const char *card)
{
    char family[32];
    const size_t length = strcspn(card, "-");
    if (length >= sizeof family)
        return false;
    memcpy(family, card, length);
    family[length] = '\0';
    return is_among(list, family);
}

/* The conditions, and whether one of them holds for a run. */
#define CONDITION(name, test)                                                                      \
    static bool name##_holds(const struct value *word, const struct release_run *run)              \
    {                                                                                              \
        return test;                                                                               \
    }
CONDITION(experts, is_truth(word, run->experts))
CONDITION(latent, is_truth(word, run->latent))
CONDITION(recurrent, is_truth(word, run->recurrent))
CONDITION(image, is_truth(word, run->image))
CONDITION(cards, names_card(word->text, run->card))
CONDITION(precision, is_among(word->text, run->precision) || is_among(word->text, run->scaling))
CONDITION(dispatch, is_among(word->text, run->dispatch))
CONDITION(gpus_from, run->gpus >= strtoull(word->text, NULL, 10))
CONDITION(gpus_below, run->gpus < strtoull(word->text, NULL, 10))

static const struct {
    const char *key;
    bool (*holds)(const struct value *word, const struct release_run *run);
    bool truth, count;
} conditions[] = {
    {"experts", experts_holds, true, false},      {"latent", latent_holds, true, false},
    {"recurrent", recurrent_holds, true, false},  {"cards", cards_holds, false, false},
    {"precision", precision_holds, false, false}, {"dispatch", dispatch_holds, false, false},
    {"gpus_from", gpus_from_holds, false, true},  {"gpus_below", gpus_below_holds, false, true},
    {"image", image_holds, true, false},
};
enum {
    CONDITION_COUNT = sizeof conditions / sizeof conditions[0]
};

static unsigned condition_of(const char *key)
{
    unsigned i = 0;
    while (i < CONDITION_COUNT && strcmp(conditions[i].key, key) != 0)
        i++;
    return i;
}

static bool is_condition(const struct value *word)
{
    const unsigned i = condition_of(word->key);
    if (i == CONDITION_COUNT || *word->text == '\0')
        return false;
    if (conditions[i].truth)
        return is_truth(word, true) || is_truth(word, false);
    return !conditions[i].count || strspn(word->text, "0123456789") == strlen(word->text);
}

static bool any_word(const struct value *word)
{
    return *word->text != '\0';
}

/* A mapping of words that are each as `is` wants them; or nothing. */
static bool is_words(const struct value *mapping, bool (*is)(const struct value *word))
{
    if (mapping == NULL)
        return true;
    bool good = mapping->kind == VALUE_MAPPING;
    for (const struct value *m = good ? mapping->first : NULL; m != NULL && good; m = m->next)
        good = m->kind == VALUE_WORD && is(m);
    return good;
}

static bool read_fact(struct problems *problems, const struct value *item, struct release_fact *out)
{
    *out = (struct release_fact){.since = word_of(item, "since"),
                                 .what = word_of(item, "what"),
                                 .source = word_of(item, "source"),
                                 .size = word_of(item, "size"),
                                 .untaken = word_of(item, "untaken"),
                                 .sets = value_find(item, "sets"),
                                 .when = value_find(item, "when"),
                                 .brings = value_find(item, "brings")};
    const char *until = word_of(item, "until");
    out->month = release_month(out->since);
    out->until = *until != '\0' ? release_month(until) : (unsigned)RELEASE_NEWEST;
    const bool good = out->month > 0 && out->until >= out->month && *out->what != '\0' &&
                      *out->source != '\0' && is_words(out->sets, any_word) &&
                      is_words(out->brings, any_word) && is_words(out->when, is_condition);
    if (!good)
        problems_error(
            problems, item->mark,
            "history: a fact has since (a month as 2025-11), what, source, and may have sets and "
            "brings (mappings of keys to words), when (experts, latent, recurrent, image: true or "
            "false; "
            "cards, precision, dispatch: words joined by +; gpus_from, gpus_below: counts), "
            "untaken, until (a month) and size");
    return good;
}

struct release_history release_history(struct arena *arena, struct problems *problems,
                                       const struct value *entry)
{
    const struct value *history = value_find(entry, "history");
    unsigned count = 0;
    if (history == NULL)
        return (struct release_history){NULL, 0};
    if (history->kind != VALUE_LIST || history->count > RELEASE_FACTS_MAX) {
        problems_error(problems, history->mark,
                       "history: a list of dated facts is wanted, of %d at most",
                       (int)RELEASE_FACTS_MAX);
        return (struct release_history){NULL, 0};
    }
    struct release_fact *facts = ARENA_ARRAY(arena, struct release_fact, history->count + 1);
    for (const struct value *item = history->first; item != NULL; item = item->next)
        count += read_fact(problems, item, &facts[count]) ? 1 : 0;
    return (struct release_history){facts, count};
}

unsigned release_before(struct release_history history, unsigned month)
{
    unsigned last = 0;
    for (unsigned i = 0; i < history.count; i++)
        if (history.facts[i].month < month && history.facts[i].month > last)
            last = history.facts[i].month;
    return last;
}

unsigned release_newest(struct release_history history)
{
    return release_before(history, RELEASE_NEWEST);
}

bool release_sets_any(struct release_history history)
{
    bool any = false;
    for (unsigned i = 0; i < history.count; i++)
        any = any || history.facts[i].sets != NULL;
    return any;
}

bool release_holds(const struct release_fact *fact, unsigned month, const struct release_run *run)
{
    bool holds = fact->month <= month && month <= fact->until;
    for (const struct value *m = fact->when ? fact->when->first : NULL; m && holds; m = m->next)
        holds = conditions[condition_of(m->key)].holds(m, run);
    return holds;
}

const struct release_fact *release_setter(struct release_history history, unsigned month,
                                          const char *key, const struct release_run *run,
                                          uint64_t skip)
{
    const struct release_fact *found = NULL;
    for (unsigned i = 0; i < history.count; i++) {
        const struct release_fact *fact = &history.facts[i];
        const bool skipped = (skip >> i & 1u) != 0;
        if (!skipped && value_find(fact->sets, key) != NULL &&
            (found == NULL || fact->month >= found->month) && release_holds(fact, month, run))
            found = fact;
    }
    return found;
}

const struct release_fact *release_bringer(struct release_history history, const char *key,
                                           const char *value)
{
    const struct release_fact *found = NULL;
    for (unsigned i = 0; i < history.count; i++) {
        const struct release_fact *fact = &history.facts[i];
        const struct value *word = value_find(fact->brings, key);
        if (word != NULL && (strcmp(word->text, "any") == 0 || is_among(word->text, value)) &&
            (found == NULL || fact->month < found->month))
            found = fact;
    }
    return found;
}
