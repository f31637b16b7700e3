/* family.h - the one table of families: the catalogue's, and the kinds of the topology and models
 * floors. Keys of scenarios and their checks, `orrery list`, the reference, the JSON Schema,
 * completion and "did you mean" all go by it.
 *
 * Adding a kind to a family's own list is enough; nothing here names a kind. A new family is a row
 * here, and one of schema.c's `chosen` if a key of the scenario names its kinds. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_FAMILY_H
#define ORRERY_SCENARIOS_CATALOGUE_FAMILY_H

#include "scenarios/language/names.h"
#include "sim/kind.h"

enum family {
    FAMILY_GPUS, /* the catalogue's, in the order of its files */
    FAMILY_NODES,
    FAMILY_FABRICS,
    FAMILY_MODELS,
    FAMILY_SOFTWARE,
    FAMILY_FLEETS,
    FAMILY_STORAGE,
    FAMILY_CATALOGUE_COUNT,
    FAMILY_NODE_KINDS = FAMILY_CATALOGUE_COUNT, /* topology/ */
    FAMILY_FABRIC_KINDS,
    FAMILY_SCHEDULES, /* models/ */
    FAMILY_SHARDINGS,
    FAMILY_DISPATCHES,
    FAMILY_COLLECTIVES, /* no key names one: the tuner chooses */
    FAMILY_LAYERS,      /* words of model.pattern */
    FAMILY_PRECISIONS,
    FAMILY_OPTIMIZERS,
    FAMILY_FAILURES,
    FAMILY_CHECKPOINTS,
    FAMILY_RECOVERIES,
    FAMILY_COUNT,
    FAMILY_NONE = FAMILY_COUNT
};

/* "gpus"; also the name of the catalogue's file. */
const char *family_name(enum family family);
/* "GPU", for messages. */
const char *family_member_name(enum family family);
/* As `orrery list` calls it; two families of one name are listed together. */
const char *family_listed(enum family family);
/* From here on not for catalogue families: those are in catalogue.h. Owned by the arena. */
struct name_list family_kinds(struct arena *arena, enum family family);
/* Its kind number `index`, and the one of that name; NULL: there is none. */
const struct kind *family_at(enum family family, unsigned index);
const struct kind *family_find(enum family family, const char *name);
/* The options of all its kinds, each name once: they stand beside the key that names the kind. */
struct params family_options(struct arena *arena, enum family family);

#endif
