/* store_wires.h - what the busiest wire of each kind carries over the step, as counters.
 *
 * One track of kind 'wire' for each kind of link: from a moment on the wire carries so many bytes a
 * second, a mean over a bin of the step. What a transfer puts on a wire is spread evenly from its
 * begin to its finish, so over all bins it adds up to `link.moved_bytes`. */
#ifndef ORRERY_ANALYSIS_DATABASE_STORE_WIRES_H
#define ORRERY_ANALYSIS_DATABASE_STORE_WIRES_H

#include "analysis/database/store.h"
#include "models/step/step.h"

/* Tracks are numbered from `first_track` on. The step has been played. */
void store_wires(struct store *store, const struct step *step, int64_t first_track);

#endif
