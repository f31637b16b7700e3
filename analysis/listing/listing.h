/* listing.h - what `orrery list` knows: entries of the catalogue and kinds of the models, by
 * family.
 */
#ifndef ORRERY_ANALYSIS_LISTING_LISTING_H
#define ORRERY_ANALYSIS_LISTING_LISTING_H

#include "analysis/json/json.h"

enum {
    LISTING_MAX = 2048
};
struct listing {
    struct json_list_entry entries[LISTING_MAX];
    unsigned count;
};
extern const char *const listing_families[]; /* NULL-ended */
/* Adds the entries of a family, by its place in listing_families. False with a sentence when the
 * catalogue in `folder` (NULL: the built-in one) cannot be read. */
bool listing_add(struct listing *l, unsigned family, const char *folder, struct arena *arena,
                 struct error *error);

#endif
