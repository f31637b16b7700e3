/* random.h - named random streams: one for each (seed, entity, purpose).
 *
 * Adding a GPU or an observer changes nobody else's draws. The generator is a 64-bit counter hash
 * registered with GSL as a gsl_rng_type, so every stream has its own full 64-bit seed and GSL's
 * distributions apply. GSL is met in random.c alone. Draws are the same on every compiler. */
#ifndef ORRERY_SIM_RANDOM_H
#define ORRERY_SIM_RANDOM_H

#include <stdint.h>

#include "sim/arena.h"

struct random_stream;

/* `purpose` is a word such as "jitter"; `entity` the number of the thing that draws. */
struct random_stream *random_create(struct arena *arena, uint64_t seed, uint64_t entity,
                                    const char *purpose);
double random_uniform(struct random_stream *stream); /* in (0, 1) */
double random_normal(struct random_stream *stream);  /* mean 0, standard deviation 1 */
/* Log-normal with mean 1 and the given standard deviation of the logarithm. */
double random_lognormal_mean1(struct random_stream *stream, double sigma);
/* Draws without a stream, for things that may be asked in any order: a uniform number in (0, 1) is
 * a function of (key, index) alone. Keys of different purposes, or of different seeds, are apart.
 */
uint64_t random_key(uint64_t seed, const char *purpose);
double random_at(uint64_t key, uint64_t index);
/* A 64-bit hash that mixes its inputs well (splitmix64 finaliser); for seeds, ECMP and digests. */
uint64_t random_hash(uint64_t a, uint64_t b);

#endif
