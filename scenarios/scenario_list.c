#include <string.h>

#include "scenarios/catalogue.h"
#include "scenarios/scenario.h"

unsigned scenario_list(const char *family, const char *catalogue, struct arena *arena,
                       const struct catalogue_entry **out, struct error *error)
{
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue *opened = ARENA_NEW(arena, struct catalogue);
    unsigned which = 0;
    *out = NULL;
    while (which < FAMILY_CATALOGUE_COUNT && strcmp(family, family_name(which)) != 0)
        which++;
    if (which == FAMILY_CATALOGUE_COUNT) {
        error_set(error, "the catalogue has no family '%s'", family);
        return 0;
    }
    problems->arena = arena;
    catalogue_open(opened, arena, catalogue, problems);
    struct name_list names = catalogue_names(opened, which);
    struct catalogue_entry *entries = ARENA_ARRAY(arena, struct catalogue_entry, names.count + 1);
    for (unsigned i = 0; i < names.count; i++)
        entries[i] = (struct catalogue_entry){
            names.names[i], catalogue_doc(catalogue_find(opened, which, names.names[i]))};
    if (opened->unreadable)
        *error = opened->error;
    else if (problems->kept_count)
        error_set(error, "%s:%u:%u: %s", problems->kept[0].file, problems->kept[0].line,
                  problems->kept[0].column, problems->kept[0].text);
    *out = entries;
    return names.count;
}
