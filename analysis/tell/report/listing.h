/* listing.h - what `orrery list` knows: entries of the catalogue and kinds of the models, by
 * family.
 */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_LISTING_H
#define ORRERY_ANALYSIS_TELL_REPORT_LISTING_H

#include "analysis/tell/json/json.h"
#include "scenarios/language/names.h"

enum {
    LISTING_MAX = 2048
};
struct listing {
    struct json_list_entry entries[LISTING_MAX];
    unsigned count;
};
/* The names of the families, in the order of the listing; NULL behind them. */
struct name_list listing_families(struct arena *arena);
/* Adds the entries of the families called so; "profiles": the files of FOLDER/profiles, or of the
 * working folder. False with a sentence when the catalogue in `folder`
 * (NULL: the built-in one) cannot be read. */
bool listing_add(struct listing *l, const char *family, const char *folder, struct arena *arena,
                 struct error *error);

#endif
