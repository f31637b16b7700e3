/* network.h - the player of communication: activities meet, share links, and finish.
 *
 * A member's post names the instant it arrives (which may lie ahead of the clock: ranks run ahead
 * of the calendar up to their next meeting). When every party of the group has posted, the activity
 * starts at the latest arrival, moves its bytes at the rate that the shares give it, and finishes
 * when the bytes have moved and its latency has passed. A message starts when sender and receiver
 * have both posted. The worker is told a finish as soon as it is certain, by one call: an
 * activity whose links nobody else uses needs no event, one that shares costs two.
 * It promises: bytes posted = bytes moved; no member goes on before the slowest has arrived. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_NETWORK_H
#define ORRERY_MODELS_STEP_SIMULATE_NETWORK_H

#include "models/symmetry/symmetry.h"
#include "sim/sim.h"

struct network;
struct attendee {            /* of an activity, in the order of its group's parties */
    uint32_t rank_class, op; /* what it posted */
};
struct attendance {
    double begin_s, finish_s; /* all had arrived; may lie ahead of the clock */
    const struct attendee *attendees;
    uint32_t count;
    uint32_t last; /* row of parties that arrived last: whom the others waited for */
};
/* An activity has finished. Of parties that arrive at once the slowest card is the last, then by
 * colour (symmetry_named_before). */
typedef void network_done_fn(void *worker, const struct attendance *attendance);
/* A watched activity went on the wire or left it at the clock's now: it interferes with compute. */
typedef void network_active_fn(void *worker, uint32_t rank_class, enum stream stream, bool active);

/* Reads the symmetry, which stays as it is from here on. */
struct network *network_create(struct sim *sim, const struct symmetry *symmetry,
                               network_done_fn *done, network_active_fn *active, void *worker);
/* Reports through `active` whatever this rank class does on this stream. Before the first post. */
void network_watch(struct network *network, uint32_t rank_class, enum stream stream);
/* `transfer` is a row of the poster's program, `op` comes back in `done`. The other parties must
 * post the same operation and size, and arrival_s may not lie before the clock: both are CHECKed.
 */
void network_post(struct network *network, uint32_t rank_class, enum stream stream,
                  uint32_t transfer, uint32_t op, double arrival_s);
/* Payload of all activities of all real groups, for the conservation law. */
double network_posted_bytes(const struct network *network);
double network_moved_bytes(const struct network *network);
/* Bytes over one link of a class so far, and the time during which it carried any. */
double network_link_bytes(const struct network *network, uint32_t link_class);
double network_link_busy_s(const struct network *network, uint32_t link_class);
/* What transfers that share links take beyond the time at their own ceilings. */
struct network_contention {
    double lost_s;     /* in all, of the group that loses most; 0: nobody loses */
    double transfer_s; /* the wire time of a transfer that loses: their mean over that time */
};
struct network_contention network_contention(const struct network *network);
/* Of bundles (symmetry_bundle): their classes would have had other times, or named others. What is
 * played from then on means nothing. */
bool network_parted(const struct network *network);
uint64_t network_activity_count(const struct network *network); /* finished, of group classes */

#endif
