/* digest.h - the hash that stands in every report.
 *
 * A track's digest hashes (time in ns, op) in the track's own order; the run's digest sums, over
 * tracks, the mixed pair (track number, track digest). The sum does not depend on the order in
 * which tracks are added, so n alike tracks may share one track digest: folded, unfolded and
 * threaded runs print the same number. */
#ifndef ORRERY_SIM_DIGEST_H
#define ORRERY_SIM_DIGEST_H

#include <stdint.h>

uint64_t digest_begin(void);
uint64_t digest_add(uint64_t digest, uint64_t value);
uint64_t digest_add_time(uint64_t digest, double time_s); /* rounded to ns */
int64_t digest_ns(double time_s);                         /* the same rounding */
/* Adds `track` (a rank) with its digest to a run's sum, which starts at 0. */
uint64_t digest_join(uint64_t run, uint64_t track, uint64_t track_digest);

#endif
