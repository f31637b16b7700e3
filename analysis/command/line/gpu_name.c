#include "analysis/command/line/gpu_name.h"

#include <string.h>

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/language/names.h"
#include "scenarios/language/source.h"

bool gpu_name_known(const char *name, const char *folder, struct error *error)
{
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct catalogue catalogue;
    bool known = false;
    problems->arena = arena;
    catalogue_open(&catalogue, arena, folder, problems);
    const struct name_list cards = catalogue_names(&catalogue, FAMILY_GPUS);
    for (unsigned i = 0; i < cards.count && !known; i++)
        known = strcmp(cards.names[i], name) == 0;
    if (catalogue.unreadable)
        *error = catalogue.error;
    else if (!known)
        error_set(error, "the catalogue has no card '%s'%s", source_quote(arena, name),
                  names_advice(arena, name, cards));
    arena_destroy(arena);
    return known;
}
