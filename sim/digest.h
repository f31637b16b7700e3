/* digest.h - the hash that stands in every report.
 *
 * A track's digest hashes (time in ns, op) in the track's own order; the run's digest sums, over
 * tracks, the mixed pair (track number, track digest). The sum does not depend on the order in
 * which tracks are added, so n alike tracks may share one track digest: folded, unfolded and
 * threaded runs print the same number. Adding stands here: a large step adds a hundred million. */
#ifndef ORRERY_SIM_DIGEST_H
#define ORRERY_SIM_DIGEST_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sim/check.h"
#include "sim/units.h"

/* Odd, with well spread bits: the fractional part of the square root of 3, in 64 bits. */
#define DIGEST_SPREAD UINT64_C(0xbb67ae8584caa73b)
/* Numbers from 2^52 on are whole: what is added to this one is rounded, ties to even. */
#define DIGEST_WHOLE 0x1.8p52
#define DIGEST_WHOLE_LARGEST 0x1p51 /* 26 days of ns: room to both sides of DIGEST_WHOLE */

uint64_t digest_begin(void);

/* For a given digest this is one-to-one in the value, and the other way round: two tracks that
 * differ in one value only never share a digest. */
static inline uint64_t digest_add(uint64_t digest, uint64_t value)
{
    const uint64_t mixed = (digest ^ value) * DIGEST_SPREAD;
    return mixed ^ (mixed >> 32);
}

/* Rounded to ns, ties to even. What llrint gives, without the call while the sum is exact enough:
 * the bits of neighbours among whole doubles of one binade differ by one. */
static inline int64_t digest_ns(double time_s)
{
    const double time_ns = time_s * GIGA;
    if (fabs(time_ns) < DIGEST_WHOLE_LARGEST) {
        const double sum = time_ns + DIGEST_WHOLE, zero = DIGEST_WHOLE;
        int64_t bits, zero_bits;
        memcpy(&bits, &sum, sizeof bits);
        memcpy(&zero_bits, &zero, sizeof zero_bits);
        return bits - zero_bits;
    }
    CHECK(fabs(time_ns) < (double)INT64_MAX);
    return llrint(time_ns);
}

static inline uint64_t digest_add_time(uint64_t digest, double time_s) /* rounded to ns */
{
    return digest_add(digest, (uint64_t)digest_ns(time_s));
}

/* Adds `track` (a rank) with its digest to a run's sum, which starts at 0. */
uint64_t digest_join(uint64_t run, uint64_t track, uint64_t track_digest);

#endif
