/* arena: zeroed memory, alignment, marks, growth, text; the poison build's pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/arena.h"

static bool is_filled(const unsigned char *memory, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != value)
            return false;
    return true;
}

static void test_memory_is_zero_and_aligned(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t round = 0; round < 300; round++) {
        size_t bytes = round * 37 % 5000, alignment = (size_t)1 << round % 8;
        unsigned char *memory = arena_alloc(arena, bytes, alignment);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        assert_true(is_filled(memory, bytes, 0));
        memset(memory, 0xff, bytes);
    }
    arena_destroy(arena);
}

static void test_allocations_do_not_overlap(void **state)
{
    (void)state;
    enum {
        COUNT = 200
    };
    struct arena *arena = arena_create();
    unsigned char *memory[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        memory[i] = memset(arena_alloc(arena, 1 + i * 13, 8), (int)i, 1 + i * 13);
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(is_filled(memory[i], 1 + i * 13, (unsigned char)i));
    arena_destroy(arena);
}

static void test_rewound_memory_is_zero_again(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    arena_alloc(arena, 100, 8);
    struct arena_mark mark = arena_mark(arena);
    unsigned char *first = NULL;
    size_t taken_bytes = 0;
    for (int round = 0; round < 5; round++) {
        unsigned char *memory = arena_alloc(arena, 3000, 64);
        unsigned char *large = arena_alloc(arena, 300000, 64);
        assert_true(is_filled(memory, 3000, 0) && is_filled(large, 300000, 0));
        memset(memory, 0xff, 3000);
        memset(large, 0xff, 300000);
        assert_true(round == 0 || (memory == first && arena_bytes(arena) == taken_bytes));
        first = memory;
        taken_bytes = arena_bytes(arena);
        arena_rewind(arena, mark);
    }
    arena_destroy(arena);
}

static void test_mark_of_an_empty_arena(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct arena_mark mark = arena_mark(arena);
    char *first = arena_alloc(arena, 10, 1);
    arena_alloc(arena, 100000, 1);
    arena_rewind(arena, mark);
    assert_ptr_equal(arena_alloc(arena, 10, 1), first);
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void test_poison(void **state)
{
    (void)state;
#ifdef ORRERY_POISON
    struct arena *arena = arena_create();
    struct arena_mark mark = arena_mark(arena);
    unsigned char *memory = arena_alloc(arena, 64, 8);
    arena_rewind(arena, mark);
    assert_true(is_filled(memory, 64, 0xA5));
    arena_destroy(arena);
#else
    skip();
#endif
}

static void test_growth_is_geometric(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    enum {
        ROUNDS = 10000,
        BYTES = 1000
    };
    for (int i = 0; i < ROUNDS; i++)
        arena_alloc(arena, BYTES, 8);
    assert_true(arena_bytes(arena) >= (size_t)ROUNDS * BYTES);
    assert_true(arena_bytes(arena) <= (size_t)ROUNDS * BYTES * 3);
    arena_destroy(arena);
}

static void test_text(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char text[] = "rank";
    char *copy = arena_text(arena, text);
    text[0] = 'b';
    assert_string_equal(copy, "rank");
    assert_string_equal(arena_format(arena, "%s %d of %d", copy, 7, 64), "rank 7 of 64");
    uint32_t *numbers = ARENA_ARRAY(arena, uint32_t, 0);
    assert_non_null(numbers);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_zero_and_aligned),
        cmocka_unit_test(test_allocations_do_not_overlap),
        cmocka_unit_test(test_rewound_memory_is_zero_again),
        cmocka_unit_test(test_mark_of_an_empty_arena),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_growth_is_geometric),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
