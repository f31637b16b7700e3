/* network.h - the player of communication: activities meet, share links, and finish.
 *
 * A member's post names the instant it arrives (which may lie ahead of the clock: ranks run ahead of
 * the calendar up to their next meeting). When every party of the group has posted, the activity
 * starts at the latest arrival, moves its bytes at the rate that the shares give it, and finishes
 * when the bytes have moved and its latency has passed. A message starts when sender and receiver
 * have both posted. Finishes are told to the worker through one callback, in calendar order.
 * It promises: bytes posted = bytes moved; no member goes on before the slowest has arrived. */
#ifndef ORRERY_MODELS_NETWORK_H
#define ORRERY_MODELS_NETWORK_H

#include "models/symmetry.h"
#include "sim/sim.h"

struct network;
/* Party `party` of group class `group` (its op number `op`) took part from begin_s (all had
 * arrived) to finish_s. Called once for each party. */
typedef void network_done_fn(void *worker, uint32_t rank_class, uint32_t op, double begin_s,
                             double finish_s);
/* The same activity went on the wire or left it at now: for interference with compute. */
typedef void network_active_fn(void *worker, uint32_t rank_class, enum stream stream, bool active);

struct network *network_create(struct sim *sim, const struct symmetry *symmetry,
                               network_done_fn *done, network_active_fn *active, void *worker);
void network_post(struct network *network, uint32_t rank_class, enum stream stream,
                  uint32_t transfer, uint32_t op, double arrival_s);
/* Moved payload of all activities, for the conservation law; by link class for link_util. */
double network_moved_bytes(const struct network *network);
double network_link_bytes(const struct network *network, uint32_t link_class);
double network_link_busy_s(const struct network *network, uint32_t link_class);
uint64_t network_activity_count(const struct network *network);

#endif
