#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/describe/describe.h"
#include "scenarios/schema/catalogue_figures.h"

/* What is asked of one family. */
struct asked {
    struct problems *problems;
    struct catalogue *catalogue;
    enum family family;
};

static bool open(struct asked *asked, const char *family, const char *folder, struct arena *arena,
                 struct error *error)
{
    unsigned which = 0;
    while (which < FAMILY_CATALOGUE_COUNT && strcmp(family, family_name(which)) != 0)
        which++;
    if (which == FAMILY_CATALOGUE_COUNT)
        return error_set(error, "the catalogue has no family '%s'", family);
    *asked = (struct asked){ARENA_NEW(arena, struct problems), ARENA_NEW(arena, struct catalogue),
                            which};
    asked->problems->arena = arena;
    catalogue_open(asked->catalogue, arena, folder, asked->problems);
    return true;
}

/* The first thing that is wrong with the files; false without. */
static bool wrong(const struct asked *asked, struct error *error)
{
    const struct problem *first = asked->problems->kept;
    if (asked->catalogue->unreadable)
        *error = asked->catalogue->error;
    else if (asked->problems->kept_count)
        error_set(error, "%s:%u:%u: %s", first->file, first->line, first->column, first->text);
    return asked->catalogue->unreadable || asked->problems->kept_count;
}

unsigned describe_entries(const char *family, const char *catalogue, struct arena *arena,
                          const struct catalogue_entry **out, struct error *error)
{
    struct asked asked;
    *out = NULL;
    if (!open(&asked, family, catalogue, arena, error))
        return 0;
    struct name_list names = catalogue_names(asked.catalogue, asked.family);
    struct catalogue_entry *entries = ARENA_ARRAY(arena, struct catalogue_entry, names.count + 1);
    for (unsigned i = 0; i < names.count; i++)
        entries[i] = (struct catalogue_entry){
            .name = names.names[i],
            .doc = catalogue_doc_of(asked.catalogue, asked.family, names.names[i])};
    wrong(&asked, error);
    *out = entries;
    return names.count;
}

bool describe_entry(const char *family, const char *name, const char *catalogue,
                    struct arena *arena, struct catalogue_entry *out, struct error *error)
{
    struct asked asked;
    if (!open(&asked, family, catalogue, arena, error))
        return false;
    const struct value *entry = catalogue_find(asked.catalogue, asked.family, name);
    if (wrong(&asked, error))
        return false;
    if (entry == NULL)
        return error_set(error, "no %s '%s'%s", family_member_name(asked.family),
                         source_quote(arena, name),
                         names_advice(arena, name, catalogue_names(asked.catalogue, asked.family)));
    *out = (struct catalogue_entry){.name = name, .doc = catalogue_doc(entry)};
    out->figure_count = catalogue_figures(arena, asked.family, entry, &out->figures);
    out->history = release_history(arena, asked.problems, entry);
    if (wrong(&asked, error))
        return false;
    return true;
}
