/* store_wires.h - what wires carry over the step, as counters, and which of them each node has.
 *
 * A track of kind 'wire' for the busiest wire of each kind of link, and for the busiest one of each
 * kind at each node: from a moment on it carries so many bytes a second, a mean over a bin of the
 * step. The former have 512 bins, the latter fewer the more they are. What a transfer puts on a
 * wire goes into the bins in which it moved, at the rate that the sharing of the wires gave it: no
 * bin holds more than the wire can carry, and all together add up to `link.moved_bytes`. Table
 * node_wire tells the tracks of a node. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_STORE_WIRES_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_STORE_WIRES_H

#include "analysis/record/database/store.h"
#include "models/step/simulate/step.h"

/* Tracks are numbered from `first_track` on. The step has been played. */
void store_wires(struct store *store, const struct step *step, int64_t first_track);

#endif
