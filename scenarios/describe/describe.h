/* describe.h - what the tables say of themselves: the JSON Schema and the reference page of the
 * scenario language, and the entries of the catalogue.
 *
 * Everything comes from the rows of scenarios/schema and the catalogue; nothing here knows how a
 * scenario is read. */
#ifndef ORRERY_SCENARIOS_DESCRIBE_DESCRIBE_H
#define ORRERY_SCENARIOS_DESCRIBE_DESCRIBE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenarios/catalogue/release.h"
#include "sim/arena.h"
#include "sim/error.h"

struct stated_figure;

/* Documentation generated from the tables. */
void describe_schema(FILE *out);    /* JSON Schema */
void describe_reference(FILE *out); /* Markdown */
/* Catalogue families: gpus nodes fabrics models software fleets storage. For `orrery list`. */
struct catalogue_entry {
    const char *name, *doc;
    const struct stated_figure *figures; /* only by describe_entry */
    unsigned figure_count;
    struct release_history history; /* of a software profile */
};
/* One entry with what it gives. False with a sentence when there is none of that name. */
bool describe_entry(const char *family, const char *name, const char *catalogue,
                    struct arena *arena, struct catalogue_entry *out, struct error *error);
unsigned describe_entries(const char *family, const char *catalogue, struct arena *arena,
                          const struct catalogue_entry **out, struct error *error);

#endif
