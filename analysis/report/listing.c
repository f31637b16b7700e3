#include "analysis/report/listing.h"

#include <string.h>

#include "scenarios/build/scenario.h"
#include "scenarios/catalogue/family.h"
#include "sim/check.h"

static void add(struct listing *l, const char *family, const char *name, const char *doc)
{
    CHECK(l->count < LISTING_MAX);
    l->entries[l->count++] = (struct json_list_entry){.family = family, .name = name, .doc = doc};
}

/* The families in order: kinds, then the catalogue's. */
static enum family nth_family(unsigned index)
{
    return (FAMILY_CATALOGUE_COUNT + index) % FAMILY_COUNT;
}

struct name_list listing_families(struct arena *arena)
{
    const char **names = ARENA_ARRAY(arena, const char *, FAMILY_COUNT + 1);
    unsigned count = 0;
    for (unsigned i = 0; i < FAMILY_COUNT; i++) {
        const char *name = family_listed(nth_family(i));
        if (count == 0 || strcmp(names[count - 1], name) != 0)
            names[count++] = name;
    }
    return (struct name_list){names, count};
}

static bool add_catalogue(struct listing *l, const char *family, const char *folder,
                          struct arena *arena, struct error *error)
{
    const struct catalogue_entry *entries;
    error->text[0] = '\0';
    unsigned count = scenario_list(family, folder, arena, &entries, error);
    for (unsigned i = 0; i < count; i++)
        add(l, family, entries[i].name, entries[i].doc);
    return error->text[0] == '\0';
}

static void add_kinds(struct listing *l, enum family family)
{
    const struct kind *kind;
    for (unsigned i = 0; (kind = family_at(family, i)) != NULL; i++)
        add(l, family_listed(family), kind->name, kind->doc);
}

bool listing_add(struct listing *l, const char *listed, const char *folder, struct arena *arena,
                 struct error *error)
{
    for (unsigned i = 0; i < FAMILY_COUNT; i++) {
        enum family family = nth_family(i);
        if (strcmp(family_listed(family), listed) != 0)
            continue;
        if (family >= FAMILY_CATALOGUE_COUNT)
            add_kinds(l, family);
        else if (!add_catalogue(l, listed, folder, arena, error))
            return false;
    }
    return true;
}
