#include "analysis/command/line/keys_given.h"

#include <string.h>

#include "analysis/output/text/format.h"
#include "scenarios/schema/schema.h"

enum {
    GIVEN_MAX = ARGUMENT_SET_MAX + ARGUMENT_VARY_MAX + OPTION_MAX
};
/* One key, in the order in which they are applied. */
struct given {
    const char *option, *word; /* "--set", "layout.tp=4" */
    const char *key;           /* "layout.tp" */
    const char *path;          /* the same in one spelling: cluster.gpu is cluster.gpu.name */
};
struct given_list {
    struct arena *arena;
    struct given rows[GIVEN_MAX];
    unsigned count;
};

/* Options that state a key. All but --seed stand in place of a file, beside --model: as a file
 * does, they say what --vary begins with. */
static const struct {
    const char *option, *key;
} stating[] = {
    {"--seed", "seed"},
    {"--gpu", "cluster.gpu"},
    {"--gpus", "cluster.gpus"},
    {"--model", "model.preset"},
    {"--tokens", "training.tokens"},
    {"--sequence", "training.sequence"},
    {"--software", "software.profile"},
    {"--global-batch", "training.global_batch"},
};

/* The path of the key in the schema: without "[0]". */
static char *path_of(struct arena *arena, const char *key)
{
    char *path = arena_text(arena, key), *to = path;
    while (*key != '\0') {
        if (*key == '[')
            key += strcspn(key, "]");
        else
            *to++ = *key;
        key += *key != '\0';
    }
    *to = '\0';
    return path;
}

/* A section's word is its shorthand, and a key that has two names the one of its table. */
static const char *one_spelling(struct arena *arena, const char *key)
{
    char *path = path_of(arena, key), *dot = strrchr(path, '.');
    const struct schema_section *section = schema_find(path);
    if (section != NULL && section->shorthand != NULL)
        return arena_format(arena, "%s.%s", key, section->shorthand);
    if (dot == NULL)
        return key;
    *dot = '\0';
    section = schema_find(path);
    const char *last = strrchr(key, '.') + 1;
    return section == NULL ? key
                           : arena_format(arena, "%.*s%s", (int)(last - key), key,
                                          schema_spelling(section, last));
}

static void add(struct given_list *list, const char *option, const char *word)
{
    const char *key = arena_format(list->arena, "%.*s", (int)strcspn(word, "="), word);
    list->rows[list->count++] = (struct given){option, word, key, one_spelling(list->arena, key)};
}

static void add_all(struct given_list *list, const struct arguments *line, enum option_type type)
{
    for (const struct option *o = line->rules.options; o->name != NULL; o++) {
        const struct option_list *words = o->type == type ? arguments_member(line, o) : NULL;
        for (unsigned i = 0; words != NULL && i < words->count; i++)
            add(list, o->name, words->words[i]);
    }
}

/* Does `outer` hold `inner`? layout holds layout.tp, failures holds failures[0]. */
static bool holds(const char *outer, const char *inner)
{
    const size_t length = strlen(outer);
    return strncmp(outer, inner, length) == 0 && (inner[length] == '.' || inner[length] == '[');
}

static bool said(const struct arguments *line, const char *name)
{
    const struct option *o = option_find(line->rules.options, name, strlen(name));
    return o != NULL && line->given[o - line->rules.options];
}

/* The first of the list that is lost by row `at`; NULL: none is. */
static const struct given *lost_by(const struct given_list *list, unsigned at)
{
    for (unsigned i = 0; i < at; i++)
        if (strcmp(list->rows[i].path, list->rows[at].path) == 0 ||
            holds(list->rows[at].key, list->rows[i].key))
            return &list->rows[i];
    return NULL;
}

/* The option of its own that says the key of the row; NULL: none does. */
static const char *stated_by(const struct arguments *line, struct arena *arena,
                             const struct given *row)
{
    const bool stands = option_find(line->rules.options, "--model", strlen("--model")) != NULL;
    for (unsigned i = 0; i < sizeof stating / sizeof *stating; i++) {
        const bool varied = i > 0 && strcmp(row->option, "--vary") == 0;
        if ((i == 0 || stands) && !varied && said(line, stating[i].option) &&
            strcmp(row->path, one_spelling(arena, stating[i].key)) == 0)
            return stating[i].option;
    }
    return NULL;
}

static void tell(const struct arguments *line, const struct given *row, FILE *problems)
{
    fprintf(problems, "orrery %s: %s %s: ", line->rules.command, row->option,
            format_shown(row->word).s);
}

static bool refuse(const struct arguments *line, const struct given_list *list, unsigned at,
                   FILE *problems)
{
    const struct given *row = &list->rows[at], *lost = lost_by(list, at);
    const char *stated = stated_by(line, list->arena, row);
    const bool same = lost != NULL && strcmp(lost->path, row->path) == 0;
    const struct shown key = format_shown(row->key);
    if (lost == NULL && stated == NULL)
        return false;
    tell(line, row, problems);
    if (lost == NULL)
        fprintf(problems, "%s is given twice, also by %s; leave one out\n", key.s, stated);
    else if (same)
        fprintf(problems, "%s is given twice, also by %s %s; leave one out\n", key.s, lost->option,
                format_shown(lost->word).s);
    else if (strcmp(row->key, row->path) != 0)
        fprintf(problems, "it replaces all of %s, and %s %s is lost; write %s\n", key.s,
                lost->option, format_shown(lost->word).s, row->path);
    else
        fprintf(problems, "it replaces all of %s, and %s %s is lost; leave one out\n", key.s,
                lost->option, format_shown(lost->word).s);
    return true;
}

unsigned keys_given_twice(const struct arguments *line, FILE *problems)
{
    struct arena *arena = arena_create();
    struct given_list *list = ARENA_NEW(arena, struct given_list);
    unsigned count = 0;
    list->arena = arena;
    add_all(list, line, OPTION_SET);
    add_all(list, line, OPTION_VARY);
    for (unsigned i = 0; i < list->count; i++)
        count += refuse(line, list, i, problems);
    arena_destroy(arena);
    return count;
}
