#include "sim/digest.h"

#include "sim/random.h"

/* Odd, with well spread bits: the fractional part of the golden ratio, in 64 bits. */
static const uint64_t BEGIN = 0x9e3779b97f4a7c15u;

uint64_t digest_begin(void)
{
    return BEGIN;
}

uint64_t digest_join(uint64_t run, uint64_t track, uint64_t track_digest)
{
    return run + random_hash(track, track_digest);
}
