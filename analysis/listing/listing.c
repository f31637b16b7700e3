#include "analysis/listing/listing.h"

#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "models/collective/collective_kind.h"
#include "models/failure/failure_kind.h"
#include "models/recovery/recovery_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/build/scenario.h"
#include "sim/check.h"
#include "topology/topology_kind.h"

static void add(struct listing *l, const char *family, const char *name, const char *doc)
{
    CHECK(l->count < LISTING_MAX);
    l->entries[l->count++] = (struct json_list_entry){.family = family, .name = name, .doc = doc};
}

static void add_kinds(struct listing *l, const char *family)
{
    for (unsigned i = 0; strcmp(family, "topology") == 0 && i < topology_kind_count; i++) {
        add(l, family, topology_kinds[i]->name, topology_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "schedule") == 0 && i < schedule_kind_count; i++) {
        add(l, family, schedule_kinds[i]->name, schedule_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "sharding") == 0 && i < sharding_kind_count; i++) {
        add(l, family, sharding_kinds[i]->name, sharding_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "collective") == 0 && i < collective_kind_count; i++) {
        add(l, family, collective_kinds[i]->name, collective_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "precision") == 0 && i < precision_count; i++) {
        add(l, family, precisions[i].name, precisions[i].doc);
    }
    for (unsigned i = 0; strcmp(family, "optimizer") == 0 && i < optimizer_count; i++) {
        add(l, family, optimizers[i].name, optimizers[i].doc);
    }
    for (unsigned i = 0; strcmp(family, "failure") == 0 && i < failure_kind_count; i++) {
        add(l, family, failure_kinds[i]->name, failure_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "checkpoint") == 0 && i < checkpoint_kind_count; i++) {
        add(l, family, checkpoint_kinds[i]->name, checkpoint_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "recovery") == 0 && i < recovery_kind_count; i++) {
        add(l, family, recovery_kinds[i]->name, recovery_kinds[i]->doc);
    }
}

const char *const listing_families[] = {
    "topology", "schedule",   "sharding", "collective", "precision", "optimizer",
    "failure",  "checkpoint", "recovery", "gpus",       "nodes",     "fabrics",
    "models",   "software",   "fleets",   "storage",    NULL};
enum {
    KIND_FAMILY_COUNT = 9 /* the first of them; the others are the catalogue's */
};

static bool add_catalogue(struct listing *l, const char *family, const char *folder,
                          struct arena *arena, struct error *error)
{
    const struct catalogue_entry *entries;
    error->text[0] = '\0';
    unsigned count = scenario_list(family, folder, arena, &entries, error);
    for (unsigned i = 0; i < count; i++) {
        add(l, family, entries[i].name, entries[i].doc);
    }
    return error->text[0] == '\0';
}

bool listing_add(struct listing *l, unsigned family, const char *folder, struct arena *arena,
                 struct error *error)
{
    if (family >= KIND_FAMILY_COUNT) {
        return add_catalogue(l, listing_families[family], folder, arena, error);
    }
    add_kinds(l, listing_families[family]);
    return true;
}
