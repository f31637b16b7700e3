/* The caching allocator's choices one by one: which block is taken, what is cut off, what merges,
 * what is given back. Rules: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp. */
#include <math.h>

#include "models/memory/allocator.h"
#include "sim/units.h"
#include "tests/test.h"

struct bench {
    struct arena *arena;
    struct allocator *a;
};

static void bench_open(struct bench *b, double limit_bytes, bool expandable)
{
    b->arena = arena_create();
    b->a = allocator_create(b->arena, limit_bytes, expandable);
}

static void assert_sums(const struct bench *b, double allocated, double reserved)
{
    assert_true(allocator_allocated_bytes(b->a) == allocated);
    assert_true(allocator_reserved_bytes(b->a) == reserved);
}

/* The smallest free block that is large enough; the lowest address among equals. */
static void test_best_fit(void **state)
{
    struct bench b;
    bench_open(&b, INFINITY, false);
    uint32_t large = allocator_take(b.a, 48 * MIB), first = allocator_take(b.a, 24 * MIB);
    uint32_t second = allocator_take(b.a, 24 * MIB), tight = allocator_take(b.a, 20 * MIB);
    uint64_t first_address = allocator_block_address(b.a, first);
    uint64_t second_address = allocator_block_address(b.a, second);
    uint64_t tight_address = allocator_block_address(b.a, tight);
    uint64_t large_address = allocator_block_address(b.a, large);
    assert_true(large_address < first_address && first_address < second_address);
    allocator_give(b.a, large);
    allocator_give(b.a, second);
    allocator_give(b.a, first);
    allocator_give(b.a, tight);
    assert_sums(&b, 0, 116 * MIB);
    assert_true(allocator_block_address(b.a, allocator_take(b.a, 22 * MIB)) == first_address);
    assert_true(allocator_block_address(b.a, allocator_take(b.a, 24 * MIB)) == second_address);
    assert_true(allocator_block_address(b.a, allocator_take(b.a, 20 * MIB)) == tight_address);
    assert_true(allocator_block_address(b.a, allocator_take(b.a, 21 * MIB)) == large_address);
    assert_sums(&b, (22 + 24 + 20 + 21) * MIB, 116 * MIB);
    arena_destroy(b.arena);
}

/* In the large pool a rest is cut off above 1 MiB, in the small pool from 512 B on. */
static void test_cuts(void **state)
{
    static const struct {
        double bytes, allocated, reserved;
    } rows[] = {
        {19 * MIB - 512, 19 * MIB - 512, 20 * MIB}, /* from 10 MiB on a segment of its own */
        {9 * MIB, 9 * MIB, 20 * MIB},
        {10 * MIB - 512, 10 * MIB - 512, 20 * MIB},
        {10 * MIB, 10 * MIB, 10 * MIB},
        {15 * MIB, 16 * MIB, 16 * MIB},             /* a rest of 1 MiB stays */
        {15 * MIB - 512, 15 * MIB - 512, 16 * MIB}, /* a rest above it does not */
        {MIB, MIB, 2 * MIB},
        {MIB - 1, MIB, 2 * MIB},
        {0, 512, 2 * MIB},
        {MIB - 512, MIB - 512, 2 * MIB},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        bench_open(&b, INFINITY, false);
        uint32_t block = allocator_take(b.a, rows[i].bytes);
        assert_true(allocator_block_bytes(b.a, block) == rows[i].allocated);
        assert_sums(&b, rows[i].allocated, rows[i].reserved);
        allocator_give(b.a, block);
        assert_sums(&b, 0, rows[i].reserved);
        arena_destroy(b.arena);
    }
}

/* 2 MiB hold 4,096 blocks of 512 B to the last one. */
static void test_small_segment_is_used_up(void **state)
{
    struct bench b;
    bench_open(&b, INFINITY, false);
    for (unsigned i = 0; i < 4096; i++) {
        uint32_t block = allocator_take(b.a, 512);
        assert_true(allocator_block_address(b.a, block) == 512u * i);
    }
    assert_sums(&b, 2 * MIB, 2 * MIB);
    allocator_take(b.a, 512);
    assert_sums(&b, 2 * MIB + 512, 4 * MIB);
    arena_destroy(b.arena);
}

/* Small requests leave large free blocks alone, and large ones the small segment. */
static void test_pools_are_apart(void **state)
{
    for (int expandable = 0; expandable <= 1; expandable++) {
        struct bench b;
        bench_open(&b, INFINITY, expandable);
        uint32_t large = allocator_take(b.a, 20 * MIB);
        allocator_give(b.a, large);
        uint32_t small = allocator_take(b.a, MIB);
        assert_sums(&b, MIB, 22 * MIB);
        allocator_give(b.a, small);
        allocator_take(b.a, MIB + 512);
        assert_sums(&b, MIB + 512, 22 * MIB);
        arena_destroy(b.arena);
    }
}

/* A freed block merges with both free neighbours, not with those of another segment. */
static void test_merges(void **state)
{
    struct bench b;
    bench_open(&b, INFINITY, false);
    uint32_t whole = allocator_take(b.a, 60 * MIB);
    allocator_give(b.a, whole);
    uint32_t left = allocator_take(b.a, 20 * MIB), middle = allocator_take(b.a, 20 * MIB);
    uint32_t right = allocator_take(b.a, 20 * MIB);
    uint64_t start = allocator_block_address(b.a, left);
    uint32_t other = allocator_take(b.a, 20 * MIB);
    assert_sums(&b, 80 * MIB, 80 * MIB);
    allocator_give(b.a, left);
    allocator_give(b.a, right);
    allocator_give(b.a, other);
    uint64_t changes = allocator_changes(b.a);
    allocator_give(b.a, middle); /* three pieces are one; the other segment is not of it */
    assert_true(allocator_changes(b.a) == changes);
    uint32_t again = allocator_take(b.a, 60 * MIB);
    assert_true(allocator_block_address(b.a, again) == start);
    assert_sums(&b, 60 * MIB, 80 * MIB);
    assert_true(allocator_changes(b.a) == changes);
    allocator_take(b.a, 22 * MIB);
    assert_true(allocator_changes(b.a) > changes);
    assert_sums(&b, 82 * MIB, 102 * MIB);
    arena_destroy(b.arena);
}

/* Up to the limit, the limit included; wholly free segments are given back, others are not. */
static void test_limit(void **state)
{
    struct bench b;
    bench_open(&b, 100 * MIB, false);
    uint32_t kept = allocator_take(b.a, 40 * MIB), gone = allocator_take(b.a, 60 * MIB);
    assert_true(kept != ALLOCATOR_FAILED && gone != ALLOCATOR_FAILED);
    assert_true(allocator_short_bytes(b.a) == 0);
    allocator_give(b.a, kept);
    kept = allocator_take(b.a, 22 * MIB); /* 18 of its segment are free, and stay */
    allocator_give(b.a, gone);
    assert_true(allocator_take(b.a, 62 * MIB) == ALLOCATOR_FAILED);
    assert_true(allocator_short_bytes(b.a) == 2 * MIB);
    assert_sums(&b, 22 * MIB, 40 * MIB); /* what was cached is gone all the same */
    assert_true(allocator_take(b.a, 60 * MIB) != ALLOCATOR_FAILED);
    assert_sums(&b, 82 * MIB, 100 * MIB);
    arena_destroy(b.arena);
}

/* An expandable range gives back whole pages of 20 MiB of a free block, and keeps the rest. */
static void test_expandable_pages(void **state)
{
    struct bench b;
    bench_open(&b, 100 * MIB, true);
    uint32_t first = allocator_take(b.a, 50 * MIB); /* 3 pages, 10 free at the end */
    assert_sums(&b, 50 * MIB, 60 * MIB);
    uint32_t second = allocator_take(b.a, 25 * MIB); /* 10 are there: 1 page more */
    assert_sums(&b, 75 * MIB, 80 * MIB);
    assert_true(allocator_block_address(b.a, second) ==
                allocator_block_address(b.a, first) + (uint64_t)(50 * MIB));
    allocator_give(b.a, first);
    /* 5 are free at the end: 55 need 3 pages, 140 in all; 2 pages of the 50 go back first. */
    uint32_t third = allocator_take(b.a, 55 * MIB);
    assert_true(third != ALLOCATOR_FAILED);
    assert_sums(&b, 80 * MIB, 100 * MIB);
    assert_true(allocator_take(b.a, 30 * MIB) == ALLOCATOR_FAILED);
    assert_true(allocator_short_bytes(b.a) == 20 * MIB);
    arena_destroy(b.arena);
}

/* The context and NCCL lie outside the pools, and count in both sums. */
static void test_outside(void **state)
{
    struct bench b;
    bench_open(&b, 100 * MIB, false);
    assert_true(allocator_take_outside(b.a, 10 * MIB));
    assert_sums(&b, 10 * MIB, 10 * MIB);
    uint32_t block = allocator_take(b.a, 90 * MIB);
    assert_sums(&b, 100 * MIB, 100 * MIB);
    assert_false(allocator_take_outside(b.a, 3 * MIB));
    assert_true(allocator_short_bytes(b.a) == 3 * MIB);
    allocator_give(b.a, block);
    uint64_t changes = allocator_changes(b.a);
    assert_true(allocator_take_outside(b.a, 3 * MIB)); /* the free segment makes room */
    assert_sums(&b, 13 * MIB, 13 * MIB);
    assert_true(allocator_changes(b.a) > changes);
    changes = allocator_changes(b.a);
    allocator_give_outside(b.a, 10 * MIB);
    assert_sums(&b, 3 * MIB, 3 * MIB);
    assert_true(allocator_changes(b.a) > changes);
    arena_destroy(b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_fit),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_small_segment_is_used_up),
        cmocka_unit_test(test_pools_are_apart),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_expandable_pages),
        cmocka_unit_test(test_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
