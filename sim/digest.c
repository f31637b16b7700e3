#include "sim/digest.h"

#include <math.h>

#include "sim/check.h"
#include "sim/random.h"
#include "sim/units.h"

/* Both are odd constants with well spread bits: the fractional parts of the golden ratio and of
 * the square root of 3, in 64 bits. */
static const uint64_t BEGIN = 0x9e3779b97f4a7c15u;
static const uint64_t SPREAD = 0xbb67ae8584caa73bu;

uint64_t digest_begin(void)
{
    return BEGIN;
}

/* For a given digest this is one-to-one in the value, and the other way round: two tracks that
 * differ in one value only never share a digest. */
uint64_t digest_add(uint64_t digest, uint64_t value)
{
    uint64_t mixed = (digest ^ value) * SPREAD;
    return mixed ^ (mixed >> 32);
}

int64_t digest_ns(double time_s)
{
    double time_ns = time_s * GIGA;
    CHECK(fabs(time_ns) < (double)INT64_MAX);
    return llrint(time_ns);
}

uint64_t digest_add_time(uint64_t digest, double time_s)
{
    return digest_add(digest, (uint64_t)digest_ns(time_s));
}

uint64_t digest_join(uint64_t run, uint64_t track, uint64_t track_digest)
{
    return run + random_hash(track, track_digest);
}
