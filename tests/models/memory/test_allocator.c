/* The caching allocator's rules, one by one, and a swarm that re-adds both sums from scratch. */
#include <math.h>

#include "models/memory/allocator.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

static struct allocator *fresh(struct arena *arena, double limit_bytes, bool expandable)
{
    return allocator_create(arena, limit_bytes, expandable);
}

static void test_segments_by_size(void **state)
{
    struct {
        double bytes, allocated, reserved;
    } rows[] = {
        {1, 512, 2 * MIB},
        {512, 512, 2 * MIB},
        {513, 1024, 2 * MIB},
        {MIB, MIB, 2 * MIB},
        {MIB + 1, MIB + 512, 20 * MIB},
        {9 * MIB, 9 * MIB, 20 * MIB},
        {10 * MIB, 10 * MIB, 10 * MIB},
        {11 * MIB + 1, 11 * MIB + 512, 12 * MIB},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_create();
        struct allocator *a = fresh(arena, INFINITY, false);
        allocator_take(a, rows[i].bytes);
        /* A rest of at most 1 MiB stays with its block in the large pool. */
        double rest = rows[i].reserved - rows[i].allocated;
        bool kept = rows[i].bytes > MIB && rest <= MIB;
        assert_true(allocator_allocated_bytes(a) == (kept ? rows[i].reserved : rows[i].allocated));
        assert_true(allocator_reserved_bytes(a) == rows[i].reserved);
        arena_destroy(arena);
    }
}

/* A block of another stream's pool is not for compute, nor the other way round. */
static void test_streams_have_pools_of_their_own(void **state)
{
    for (int expandable = 0; expandable < 2; expandable++) {
        struct arena *arena = arena_create();
        struct allocator *a = fresh(arena, INFINITY, expandable);
        allocator_give(a, allocator_take_on(a, 40 * MIB, true));
        assert_true(allocator_reserved_bytes(a) == 40 * MIB);
        uint32_t compute = allocator_take_on(a, 40 * MIB, false);
        assert_true(allocator_reserved_bytes(a) == 80 * MIB);
        allocator_give(a, compute);
        allocator_take_on(a, 40 * MIB, true); /* each finds its own again */
        allocator_take_on(a, 40 * MIB, false);
        assert_true(allocator_reserved_bytes(a) == 80 * MIB);
        assert_true(allocator_allocated_bytes(a) == 80 * MIB);
        arena_destroy(arena);
    }
}

static void test_a_freed_block_is_used_again(void **state)
{
    struct arena *arena = arena_create();
    struct allocator *a = fresh(arena, INFINITY, false);
    uint32_t first = allocator_take(a, 64 * MIB);
    allocator_give(a, first);
    assert_true(allocator_reserved_bytes(a) == 64 * MIB);
    uint32_t half = allocator_take(a, 32 * MIB);
    uint32_t other = allocator_take(a, 32 * MIB);
    assert_true(allocator_reserved_bytes(a) == 64 * MIB);
    allocator_give(a, half);
    allocator_give(a, other); /* merges: the whole fits again */
    allocator_take(a, 64 * MIB);
    assert_true(allocator_reserved_bytes(a) == 64 * MIB);
    arena_destroy(arena);
}

static void test_fragmentation_reserves_more(void **state)
{
    struct arena *arena = arena_create();
    struct allocator *a = fresh(arena, INFINITY, false);
    uint32_t low = allocator_take(a, 40 * MIB);
    uint32_t high = allocator_take(a, 40 * MIB);
    allocator_give(a, low);
    allocator_give(a, high);
    allocator_take(a, 60 * MIB); /* 80 are cached, in two pieces */
    assert_true(allocator_reserved_bytes(a) == 140 * MIB);
    arena_destroy(arena);
}

static void test_expandable_has_no_such_fragmentation(void **state)
{
    struct arena *arena = arena_create();
    struct allocator *a = fresh(arena, INFINITY, true);
    uint32_t low = allocator_take(a, 40 * MIB);
    uint32_t high = allocator_take(a, 40 * MIB);
    allocator_give(a, low);
    allocator_give(a, high);
    allocator_take(a, 60 * MIB);
    assert_true(allocator_reserved_bytes(a) == 80 * MIB);
    allocator_take(a, 30 * MIB); /* 20 are free at the end: one page of 20 more */
    assert_true(allocator_reserved_bytes(a) == 100 * MIB);
    arena_destroy(arena);
}

static void test_cached_segments_are_given_back_before_it_fails(void **state)
{
    for (int expandable = 0; expandable <= 1; expandable++) {
        struct arena *arena = arena_create();
        struct allocator *a = fresh(arena, 100 * MIB, expandable);
        uint32_t block = allocator_take(a, 60 * MIB);
        allocator_give(a, block);
        block = allocator_take(a, 80 * MIB);
        assert_true(block != ALLOCATOR_FAILED);
        assert_true(allocator_reserved_bytes(a) == 80 * MIB);
        assert_true(allocator_take(a, 40 * MIB) == ALLOCATOR_FAILED);
        assert_true(allocator_short_bytes(a) == 20 * MIB);
        assert_true(allocator_take_outside(a, 20 * MIB));
        assert_false(allocator_take_outside(a, 1));
        arena_destroy(arena);
    }
}

enum {
    SWARM_BLOCKS = 64,
    SWARM_STEPS = 4000
};

static void swarm(uint64_t seed, bool expandable)
{
    struct arena *arena = arena_create();
    struct random_stream *random = random_create(arena, seed, 0, "allocator swarm");
    double limit = 3000 * MIB;
    struct allocator *a = fresh(arena, limit, expandable);
    uint32_t held[SWARM_BLOCKS];
    for (int i = 0; i < SWARM_BLOCKS; i++)
        held[i] = ALLOCATOR_FAILED;
    for (int step = 0; step < SWARM_STEPS; step++) {
        int i = (int)(random_uniform(random) * SWARM_BLOCKS);
        if (held[i] != ALLOCATOR_FAILED) {
            allocator_give(a, held[i]);
            held[i] = ALLOCATOR_FAILED;
        } else {
            held[i] = allocator_take(a, exp(random_uniform(random) * log(200 * MIB)));
        }
        double sum = 0;
        for (int k = 0; k < SWARM_BLOCKS; k++)
            sum += held[k] == ALLOCATOR_FAILED ? 0 : allocator_block_bytes(a, held[k]);
        assert_true(sum == allocator_allocated_bytes(a));
        assert_true(allocator_reserved_bytes(a) >= sum);
        assert_true(allocator_reserved_bytes(a) <= limit);
    }
    for (int k = 0; k < SWARM_BLOCKS; k++)
        if (held[k] != ALLOCATOR_FAILED)
            allocator_give(a, held[k]);
    /* Everything has merged: one request of the whole limit must succeed. */
    assert_true(allocator_take(a, limit) != ALLOCATOR_FAILED);
    arena_destroy(arena);
}

static void test_swarm(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        swarm(seed, seed % 2 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_by_size),
        cmocka_unit_test(test_a_freed_block_is_used_again),
        cmocka_unit_test(test_streams_have_pools_of_their_own),
        cmocka_unit_test(test_fragmentation_reserves_more),
        cmocka_unit_test(test_expandable_has_no_such_fragmentation),
        cmocka_unit_test(test_cached_segments_are_given_back_before_it_fails),
        cmocka_unit_test(test_swarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
