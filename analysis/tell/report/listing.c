#include "analysis/tell/report/listing.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "models/profile/profile.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/family.h"
#include "scenarios/describe/describe.h"
#include "sim/check.h"
#include "sim/plural.h"

#define PROFILES "profiles"
#define PROFILES_SUFFIX ".db"

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
    const char **names = ARENA_ARRAY(arena, const char *, FAMILY_COUNT + 2);
    unsigned count = 0;
    for (unsigned i = 0; i < FAMILY_COUNT; i++) {
        const char *name = family_listed(nth_family(i));
        if (count == 0 || strcmp(names[count - 1], name) != 0)
            names[count++] = name;
    }
    names[count++] = PROFILES;
    return (struct name_list){names, count};
}

static bool add_catalogue(struct listing *l, const char *family, const char *folder,
                          struct arena *arena, struct error *error)
{
    const struct catalogue_entry *entries;
    error->text[0] = '\0';
    unsigned count = describe_entries(family, folder, arena, &entries, error);
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

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct json_list_entry *)a)->name,
                  ((const struct json_list_entry *)b)->name);
}

/* Profiles are files: of FOLDER/profiles, or of the working folder. Other files are passed over. */
static void add_profiles(struct listing *l, const char *folder, struct arena *arena)
{
    const char *where = folder ? arena_format(arena, "%s/" PROFILES, folder) : ".";
    const unsigned before = l->count;
    struct dirent *entry;
    DIR *files = opendir(where);
    while (files != NULL && l->count < LISTING_MAX && (entry = readdir(files)) != NULL) {
        const size_t length = strlen(entry->d_name), tail = strlen(PROFILES_SUFFIX);
        struct measured_profile profile;
        struct error error = {""};
        if (length <= tail || strcmp(entry->d_name + length - tail, PROFILES_SUFFIX) != 0)
            continue;
        const char *path = arena_format(arena, "%s/%s", where, entry->d_name);
        if (profile_read(arena, path, &profile, &error))
            add(l, PROFILES, arena_text(arena, entry->d_name),
                arena_format(arena, "%s, %s: %u point%s", profile.head.facts.device,
                             profile.head.date, profile.count, plural_s(profile.count)));
    }
    if (files != NULL)
        closedir(files);
    qsort(l->entries + before, l->count - before, sizeof *l->entries, by_name);
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
    if (strcmp(listed, PROFILES) == 0)
        add_profiles(l, folder, arena);
    return true;
}
