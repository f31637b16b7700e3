#include <string.h>

#include "analysis/command/line/arguments.h"
#include "sim/arena.h"
#include "sim/check.h"

enum {
    WORDS_MOST =
        2 * (ARGUMENT_SET_MAX + 2 * ARGUMENT_VARY_MAX + OPTION_MAX) + ARGUMENT_POSITIONAL_MAX + 1
};

struct word_list {
    struct arena *arena;
    const char **words;
    unsigned count;
};

static void add(struct word_list *list, const char *word)
{
    CHECK(list->count < WORDS_MOST);
    list->words[list->count++] = word;
}

static void add_option(struct word_list *list, const struct option *o, const char *value)
{
    add(list, o->name);
    if (value != NULL)
        add(list, value);
}

static bool is_among(const char *const *listed, const char *name)
{
    for (; *listed != NULL; listed++)
        if (strcmp(*listed, name) == 0)
            return true;
    return false;
}

static const char *text_of(const struct arguments *line, const struct option *o)
{
    const void *member = arguments_member(line, o);
    if (o->member != MEMBER_DATABASE)
        return *(const char *const *)member;
    const struct database_arguments *database = member;
    return database->path != database->usual ? database->path : NULL;
}

bool arguments_say(const struct arguments *line, const struct option *option)
{
    if (option->member == MEMBER_TEXT || option->member == MEMBER_DATABASE)
        return text_of(line, option) != NULL;
    return line->given[option - line->rules.options];
}

static void add_number(struct word_list *list, const struct option *o, uint64_t value)
{
    add_option(list, o,
               o->type == OPTION_MAYBE && value == 0
                   ? NULL
                   : arena_format(list->arena, "%llu", (unsigned long long)value));
}

static void add_real(struct word_list *list, const struct option *o, double value)
{
    const char *unit = o->type == OPTION_TIME    ? "s"
                       : o->type == OPTION_MONEY ? "USD"
                       : o->type == OPTION_POWER ? "W"
                                                 : "";
    add_option(list, o, arena_format(list->arena, "%.17g%s", value, unit));
}

static void add_each(struct word_list *list, const struct option *o, const struct option_list *of)
{
    for (unsigned i = 0; i < of->count; i++)
        add_option(list, o, of->words[i]);
}

static void add_words(struct word_list *list, const struct arguments *line, const struct option *o)
{
    const void *member = arguments_member(line, o);
    switch (o->member) {
    case MEMBER_NONE:
        break;
    case MEMBER_FLAG:
        add_option(list, o, NULL);
        break;
    case MEMBER_COUNT:
        add_number(list, o, *(const uint64_t *)member);
        break;
    case MEMBER_REAL:
        add_real(list, o, *(const double *)member);
        break;
    case MEMBER_TEXT:
    case MEMBER_DATABASE:
        add_option(list, o, text_of(line, o));
        break;
    case MEMBER_CHOICE:
        add_option(list, o, o->choices[*(const int *)member]);
        break;
    case MEMBER_LIST:
        add_each(list, o, member);
        break;
    }
}

unsigned arguments_words(const struct arguments *line, const char *const *listed, bool alone,
                         struct arena *arena, const char *const **out)
{
    struct word_list list = {.arena = arena, .words = ARENA_ARRAY(arena, const char *, WORDS_MOST)};
    for (const struct option *o = line->rules.options; o->name != NULL; o++)
        if (is_among(listed, o->name) == alone && arguments_say(line, o))
            add_words(&list, line, o);
    if (!alone && line->positional_count > 0) {
        add(&list, "--");
        for (unsigned i = 0; i < line->positional_count; i++)
            add(&list, line->positional[i]);
    }
    *out = list.words;
    return list.count;
}

const char *arguments_stray(const struct arguments *line, const char *const *taken)
{
    for (const struct option *o = line->rules.options; o->name != NULL; o++) {
        bool known = !arguments_say(line, o);
        for (unsigned i = 0; taken[i] != NULL && !known; i++)
            known = strcmp(taken[i], o->name) == 0;
        if (!known)
            return o->name;
    }
    return NULL;
}
