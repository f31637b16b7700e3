/* store_timeline.h - tracks, slices, memory curves and transfers of one rank class, as rows.
 *
 * A slice lasts from the begin of an op (all members had arrived) to its finish, both rounded to ns
 * (sim/digest.h); `wait` is what lay between being ready and beginning. Kernels inside an op share
 * its time in proportion to their own. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_TIMELINE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_TIMELINE_H

#include "analysis/record/database/detail.h"
#include "analysis/record/database/store.h"
#include "analysis/record/numbers/result.h"

enum {
    STORE_RUN = 1
}; /* a single run is row 1 of its file */

/* Played classes, or programs when memory ended before any time was simulated. */
uint32_t store_class_count(const struct step *step);
int64_t store_class_id(uint32_t class_index);
/* Numbers of tracks that classes may have: those above are free. */
int64_t store_track_count(const struct step *step);
void store_timeline(struct store *store, const struct result *result, uint32_t rank_class,
                    enum detail detail);

#endif
