/* catalogue.h - the named hardware, models and software: YAML files in the binary, or in a folder.
 *
 * A file is a mapping from entry names to keys; those of a fleet are `causes`, a list of what a
 * scenario's `failures` may hold, those of a storage tier are its table's. Beside the keys of its
 * family's table an entry has `doc`, `sources`, `errors` and, of a card, `identity` (card.h), which
 * describe it. A file of a folder
 * is parsed when it is first asked for, of one in the binary only the entries that are asked for;
 * what is wrong in it is reported like a problem of the scenario, at its own place. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_CATALOGUE_H
#define ORRERY_SCENARIOS_CATALOGUE_CATALOGUE_H

#include "scenarios/catalogue/family.h"
#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"
#include "sim/error.h"

struct catalogue {
    struct arena *arena;
    const char *folder; /* NULL: the files in the binary */
    struct problems *problems;
    const struct value *root[FAMILY_CATALOGUE_COUNT]; /* of the folder; NULL: not asked for yet */
    bool unreadable;
    struct error error; /* of the first file that could not be read */
};

void catalogue_open(struct catalogue *catalogue, struct arena *arena, const char *folder,
                    struct problems *problems);
/* The file of a family in the folder. */
const char *catalogue_path(const struct catalogue *catalogue, enum family family);
/* An entry with all its keys, or NULL. */
const struct value *catalogue_find(struct catalogue *catalogue, enum family family,
                                   const char *name);
struct name_list catalogue_names(struct catalogue *catalogue, enum family family);
/* `doc` of an entry; "" without. */
const char *catalogue_doc(const struct value *entry);
/* The same of the entry of this name, of which nothing else is read where that can be: who lists
 * hundreds of entries reads no figures. */
const char *catalogue_doc_of(struct catalogue *catalogue, enum family family, const char *name);
/* doc, sources, errors, identity, history: keys that describe an entry and fill no field. */
bool catalogue_describes(const char *key);

#endif
