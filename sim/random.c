/* Invariants
 * 1. Draw n (from 1) of a stream with key k is mix(k + n * GAMMA): the stream is splitmix64 started
 *    at k (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014), so a
 *    stream is nothing but a counter, and its key is a full 64-bit seed.
 * 2. The key is a hash of (seed, purpose, entity) alone. Two of n streams with m draws each overlap
 *    with probability about n * n * m / 2^64. */
#include "sim/random.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "sim/check.h"

static const uint64_t GAMMA = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, odd */

struct counter {
    uint64_t state;
};

struct random_stream {
    gsl_rng generator; /* both fields of GSL's public struct point into this arena */
    struct counter counter;
};

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "GSL's seeds and draws carry 64 bits");

/* Variant 13 of Stafford's mixers, the finaliser of splitmix64. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static void counter_set(void *state, unsigned long seed)
{
    ((struct counter *)state)->state = seed;
}

static unsigned long counter_get(void *state)
{
    struct counter *counter = state;
    counter->state += GAMMA;
    return mix(counter->state);
}

static double counter_get_double(void *state)
{
    return (double)(counter_get(state) >> 11) * 0x1p-53;
}

static const gsl_rng_type counter_type = {
    .name = "orrery_splitmix64",
    .max = UINT64_MAX,
    .min = 0,
    .size = sizeof(struct counter),
    .set = counter_set,
    .get = counter_get,
    .get_double = counter_get_double,
};

/* The b-th draw (from 0) of the splitmix64 that is seeded by the first draw of the one seeded a. */
uint64_t random_hash(uint64_t a, uint64_t b)
{
    return mix(mix(a + GAMMA) + (b + 1) * GAMMA);
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

uint64_t random_key(uint64_t seed, const char *purpose)
{
    return random_hash(seed, hash_text(purpose));
}

/* The middles of 2^52 equal cells: neither 0 nor 1 can come out. */
double random_at(uint64_t key, uint64_t index)
{
    return ((double)(random_hash(key, index) >> 12) + 0.5) * 0x1p-52;
}

struct random_stream *random_create(struct arena *arena, uint64_t seed, uint64_t entity,
                                    const char *purpose)
{
    struct random_stream *stream = ARENA_NEW(arena, struct random_stream);
    stream->generator.type = &counter_type;
    stream->generator.state = &stream->counter;
    gsl_rng_set(&stream->generator, random_hash(random_key(seed, purpose), entity));
    return stream;
}

double random_uniform(struct random_stream *stream)
{
    return gsl_rng_uniform_pos(&stream->generator);
}

double random_normal(struct random_stream *stream)
{
    return gsl_ran_gaussian_ziggurat(&stream->generator, 1.0);
}

/* E[exp(sigma Z + mu)] = exp(mu + sigma^2 / 2) for standard normal Z, hence mu = -sigma^2 / 2. */
double random_lognormal_mean1(struct random_stream *stream, double sigma)
{
    CHECK(sigma >= 0.0);
    return exp(sigma * (random_normal(stream) - 0.5 * sigma));
}
