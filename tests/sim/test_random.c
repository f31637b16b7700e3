/* random and digest: published vectors of splitmix64, moments of the laws, independence of streams,
 * and what a digest must tell apart. */
#include <math.h>
#include <stdbool.h>

#include "sim/digest.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    DRAWS = 200000
};

/* splitmix64 as Vigna publishes it (prng.di.unimi.it/splitmix64.c), written from its description.
 */
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The first draws for seed 1234567, as other libraries that carry splitmix64 print them. */
static void test_published_vector(void **state)
{
    const uint64_t published[5] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u};
    uint64_t seed = 1234567;
    for (int i = 0; i < 5; i++)
        assert_true(splitmix64(&seed) == published[i]);
}

static void test_hash_is_splitmix64(void **state)
{
    for (uint64_t a = 0; a < 50; a++) {
        uint64_t outer = a, inner = splitmix64(&outer);
        for (uint64_t b = 0; b < 50; b++)
            assert_true(random_hash(a, b) == splitmix64(&inner));
    }
}

/* Flipping one bit of the input flips half of the 64 bits of the hash, give or take. */
static void test_hash_avalanche(void **state)
{
    for (int bit = 0; bit < 64; bit++) {
        double flips = 0.0;
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t flipped = i ^ UINT64_C(1) << bit;
            flips += __builtin_popcountll(random_hash(i, 3) ^ random_hash(flipped, 3));
            flips += __builtin_popcountll(random_hash(3, i) ^ random_hash(3, flipped));
        }
        assert_true(fabs(flips / 2000.0 - 32.0) < 5.0 * 4.0 / sqrt(2000.0));
    }
}

static void test_same_names_same_draws(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *first = random_create(arena, 5, 17, "jitter");
    random_uniform(random_create(arena, 5, 18, "jitter")); /* another's draws change nothing */
    struct random_stream *second = random_create(arena, 5, 17, "jitter");
    for (int i = 0; i < 100; i++)
        assert_true(random_uniform(first) == random_uniform(second));
    arena_destroy(arena);
}

/* The draws of a stream, seen through random_uniform: the 53 highest bits of splitmix64 keyed by
 * the hash of seed, purpose (FNV-1a, published value for "a") and entity. */
static void test_stream_key(void **state)
{
    struct arena *arena = arena_create();
    const uint64_t fnv_of_a = 0xaf63dc4c8601ec8cu;
    uint64_t key = random_hash(random_hash(9, fnv_of_a), 4);
    struct random_stream *stream = random_create(arena, 9, 4, "a");
    for (int i = 0; i < 10; i++)
        assert_true(random_uniform(stream) == ldexp((double)(splitmix64(&key) >> 11), -53));
    arena_destroy(arena);
}

static double correlation(struct random_stream *a, struct random_stream *b)
{
    double sum = 0.0;
    for (int i = 0; i < DRAWS; i++)
        sum += (random_uniform(a) - 0.5) * (random_uniform(b) - 0.5);
    return sum / DRAWS * 12.0; /* the variance of a uniform law is 1/12 */
}

static void test_streams_are_independent(void **state)
{
    struct arena *arena = arena_create();
    const double bound = 5.0 / sqrt(DRAWS); /* five standard errors */
    struct random_stream *base = random_create(arena, 1, 0, "jitter");
    assert_true(fabs(correlation(base, random_create(arena, 1, 1, "jitter"))) < bound);
    assert_true(fabs(correlation(base, random_create(arena, 2, 0, "jitter"))) < bound);
    assert_true(fabs(correlation(base, random_create(arena, 1, 0, "failure"))) < bound);
    struct random_stream *same = random_create(arena, 1, 0, "x");
    struct random_stream *twin = random_create(arena, 1, 0, "x");
    assert_true(correlation(same, twin) > 0.9); /* the planted fault: a shared stream is seen */
    arena_destroy(arena);
}

typedef double law_fn(struct random_stream *stream);

static double uniform(struct random_stream *stream)
{
    return random_uniform(stream);
}

static double normal(struct random_stream *stream)
{
    return random_normal(stream);
}

static double lognormal(struct random_stream *stream)
{
    return random_lognormal_mean1(stream, 0.5);
}

static bool moments_fit(law_fn *law, double mean, double variance)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 11, 0, "moments");
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double x = law(stream) - mean;
        sum += x;
        squares += x * x;
    }
    arena_destroy(arena);
    double mean_error = sum / DRAWS, deviation = sqrt(variance);
    /* The variance's own error depends on the fourth moment: under 9 variance^2 / n for all of the
     * laws here, the log-normal with sigma 0.5 being the widest (kurtosis 8.9). */
    return fabs(mean_error) < 5.0 * deviation / sqrt(DRAWS) &&
           fabs(squares / DRAWS - variance) < 5.0 * 3.0 * variance / sqrt(DRAWS);
}

static void test_moments(void **state)
{
    assert_true(moments_fit(uniform, 0.5, 1.0 / 12.0));
    assert_true(moments_fit(normal, 0.0, 1.0));
    assert_true(moments_fit(lognormal, 1.0, expm1(0.25)));
    assert_false(moments_fit(normal, 0.0, 1.1));
}

/* Without spread a log-normal factor is 1, to the bit, whatever was drawn. */
static void test_no_spread_is_one(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 3, 0, "none");
    for (int i = 0; i < 100; i++)
        assert_true(random_lognormal_mean1(stream, 0.0) == 1.0);
    arena_destroy(arena);
}

static void test_uniform_is_open(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, 0, 0, "");
    for (int i = 0; i < DRAWS; i++) {
        double x = random_uniform(stream);
        assert_true(x > 0.0 && x < 1.0);
    }
    arena_destroy(arena);
}

static void test_digest_order_within_a_track(void **state)
{
    uint64_t ab = digest_add(digest_add(digest_begin(), 1), 2);
    uint64_t ba = digest_add(digest_add(digest_begin(), 2), 1);
    assert_true(ab != ba);
    assert_true(digest_add(digest_begin(), 0) != digest_begin());
    assert_true(digest_add(digest_add(digest_begin(), 0), 0) != digest_add(digest_begin(), 0));
}

static void test_digest_of_tracks_in_any_order(void **state)
{
    uint64_t forward = 0, backward = 0, swapped = 0;
    for (uint64_t track = 0; track < 100; track++) {
        forward = digest_join(forward, track, random_hash(1, track));
        backward = digest_join(backward, 99 - track, random_hash(1, 99 - track));
        swapped = digest_join(swapped, track, random_hash(1, track ^ 1));
    }
    assert_true(forward == backward);
    assert_true(forward != swapped);
}

static void test_digest_rounds_to_ns(void **state)
{
    assert_int_equal(digest_ns(0.0), 0);
    assert_int_equal(digest_ns(1.5e-9), 2);
    assert_int_equal(digest_ns(2.4e-9), 2);
    assert_int_equal(digest_ns(86400.0), INT64_C(86400000000000));
    uint64_t digest = digest_begin();
    assert_true(digest_add_time(digest, 1e-3) == digest_add_time(digest, 1e-3 + 1e-13));
    assert_true(digest_add_time(digest, 1e-3) != digest_add_time(digest, 1e-3 + 2e-9));
}

/* Draws without a stream: the key is that of streams, every index has its own number, the mean and
 * the square are those of a uniform law, and neighbours are not alike. */
static void test_draws_at(void **state)
{
    const uint64_t fnv_of_a = 0xaf63dc4c8601ec8cu;
    assert_true(random_key(9, "a") == random_hash(9, fnv_of_a));
    assert_true(random_key(9, "a") != random_key(9, "b") &&
                random_key(9, "a") != random_key(8, "a"));
    double sum = 0.0, squares = 0.0, products = 0.0, last = 0.5;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double u = random_at(random_key(9, "a"), i);
        assert_true(u > 0.0 && u < 1.0 && u == random_at(random_key(9, "a"), i));
        sum += u;
        squares += u * u;
        products += (u - 0.5) * (last - 0.5);
        last = u;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < 5.0 * sqrt(1.0 / 12.0 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1.0 / 3.0) < 5.0 * sqrt(4.0 / 45.0 / DRAWS));
    assert_true(fabs(products / DRAWS) < 5.0 / 12.0 / sqrt(DRAWS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_at),
        cmocka_unit_test(test_published_vector),
        cmocka_unit_test(test_hash_is_splitmix64),
        cmocka_unit_test(test_hash_avalanche),
        cmocka_unit_test(test_same_names_same_draws),
        cmocka_unit_test(test_stream_key),
        cmocka_unit_test(test_streams_are_independent),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_no_spread_is_one),
        cmocka_unit_test(test_uniform_is_open),
        cmocka_unit_test(test_digest_order_within_a_track),
        cmocka_unit_test(test_digest_of_tracks_in_any_order),
        cmocka_unit_test(test_digest_rounds_to_ns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
