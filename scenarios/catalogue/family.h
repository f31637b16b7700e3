/* family.h - the lists of names that a scenario may choose from: catalogue families and the kinds
 * of the models and topology floors.
 *
 * Adding a kind to a family's own list is enough; nothing here names a kind. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_FAMILY_H
#define ORRERY_SCENARIOS_CATALOGUE_FAMILY_H

#include "scenarios/language/names.h"
#include "sim/param.h"

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
/* Not for catalogue families: those are in catalogue.h. Owned by the arena. */
struct name_list family_kinds(struct arena *arena, enum family family);
/* One sentence about a kind, or "". */
const char *family_kind_doc(enum family family, const char *name);
/* The options of a kind, which stand beside the key that names it; empty without. */
struct params family_kind_options(enum family family, const char *name);
/* The options of all kinds of a family, each name once; empty for FAMILY_NONE. */
struct params family_options(struct arena *arena, enum family family);

#endif
