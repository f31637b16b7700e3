#include <string.h>

#include "analysis/line/arguments.h"
#include "sim/arena.h"

enum {
    OPTIONS_MOST = 64,
    WORDS_MOST =
        2 * (ARGUMENT_SET_MAX + ARGUMENT_VARY_MAX + OPTIONS_MOST) + ARGUMENT_POSITIONAL_MAX + 1
};

struct word_list {
    struct arena *arena;
    const char **words;
    unsigned count;
};

static void add(struct word_list *list, const char *word)
{
    list->words[list->count++] = word;
}

static void add_option(struct word_list *list, const struct option *o, const char *value)
{
    add(list, o->name);
    if (value != NULL)
        add(list, value);
}

static void add_each(struct word_list *list, const struct option *o, const char *const *values,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        add_option(list, o, values[i]);
}

static bool is_among(const char *const *listed, const char *name)
{
    for (; *listed != NULL; listed++)
        if (strcmp(*listed, name) == 0)
            return true;
    return false;
}

/* Options without a flag of their own were given when they are not zero. */
static bool was_given(const struct arguments *a, const struct option *o, bool nonzero)
{
    if (o->given_offset == OPTION_NO_OFFSET)
        return nonzero;
    return *(const bool *)((const char *)a + o->given_offset);
}

static void add_number(struct word_list *list, const struct arguments *a, const struct option *o)
{
    const uint64_t value = *(const uint64_t *)(const void *)((const char *)a + o->offset);
    if (!was_given(a, o, value != 0))
        return;
    add_option(list, o,
               o->type == OPTION_MAYBE && value == 0
                   ? NULL
                   : arena_format(list->arena, "%llu", (unsigned long long)value));
}

/* `unit` is that of SI, or "". */
static void add_real(struct word_list *list, const struct arguments *a, const struct option *o,
                     const char *unit)
{
    const double value = *(const double *)(const void *)((const char *)a + o->offset);
    if (was_given(a, o, value != 0.0))
        add_option(list, o, arena_format(list->arena, "%.17g%s", value, unit));
}

static void add_text(struct word_list *list, const struct arguments *a, const struct option *o)
{
    const char *value = *(const char *const *)(const void *)((const char *)a + o->offset);
    const bool own = o->type == OPTION_DATABASE && value == a->default_db;
    if (value != NULL && !own)
        add_option(list, o, value);
}

static void add_words(struct word_list *list, const struct arguments *a, const struct option *o)
{
    const char *base = (const char *)a;
    switch (o->type) {
    case OPTION_FLAG:
        if (*(const bool *)(base + o->offset))
            add_option(list, o, NULL);
        break;
    case OPTION_COUNT:
    case OPTION_SOME:
    case OPTION_MAYBE:
        add_number(list, a, o);
        break;
    case OPTION_FACTOR:
    case OPTION_SIZE:
    case OPTION_RATIO:
    case OPTION_SHARE:
        add_real(list, a, o, "");
        break;
    case OPTION_TIME:
        add_real(list, a, o, "s");
        break;
    case OPTION_MONEY:
        add_real(list, a, o, "USD");
        break;
    case OPTION_TEXT:
    case OPTION_INPUT:
    case OPTION_FOLDER:
    case OPTION_FILE:
    case OPTION_OUTPUT:
    case OPTION_DATABASE:
        add_text(list, a, o);
        break;
    case OPTION_CHOICE:
        if (was_given(a, o, false))
            add_option(list, o, o->choices[*(const int *)(const void *)(base + o->offset)]);
        break;
    case OPTION_SET:
        add_each(list, o, a->sets, a->set_count);
        break;
    case OPTION_VARY:
        add_each(list, o, a->varies, a->vary_count);
        break;
    case OPTION_STEP:
        add_each(list, o, a->measured, a->measured_count);
        break;
    }
}

unsigned arguments_words(const struct arguments *arguments, const char *const *listed, bool alone,
                         struct arena *arena, const char *const **out)
{
    struct word_list list = {.arena = arena, .words = ARENA_ARRAY(arena, const char *, WORDS_MOST)};
    for (const struct option *o = arguments->rules.options; o->name != NULL; o++)
        if (is_among(listed, o->name) == alone)
            add_words(&list, arguments, o);
    if (!alone && arguments->positional_count > 0) {
        add(&list, "--");
        for (unsigned i = 0; i < arguments->positional_count; i++)
            add(&list, arguments->positional[i]);
    }
    *out = list.words;
    return list.count;
}
