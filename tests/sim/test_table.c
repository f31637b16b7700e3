/* Tables against a search of all rows, over random programs: keys that are their own hash, texts
 * whose hashes agree in their low bits or whole; clearing; a host that refuses memory. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sim/random.h"
#include "sim/table.h"
#include "tests/child.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    ROWS_MOST = 3000
};

struct rows {
    uint64_t keys[ROWS_MOST];
    uint32_t count;
};

static bool same(const void *rows, uint32_t number, const void *key)
{
    return ((const struct rows *)rows)->keys[number] == *(const uint64_t *)key;
}

/* The planted fault: any row will do. */
static bool same_always(const void *rows, uint32_t number, const void *key)
{
    (void)rows;
    (void)number;
    (void)key;
    return true;
}

static uint32_t search(const struct rows *rows, uint64_t key)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->keys[i] == key)
            return i;
    return TABLE_NONE;
}

/* How much of its key a hash keeps. */
enum hashing {
    HASH_MIXED,    /* 64 good bits */
    HASH_LOW_ZERO, /* all begin at one slot */
    HASH_FEW       /* 16 different ones: rows must be compared */
};

static uint64_t hash_of(enum hashing hashing, uint64_t key)
{
    uint64_t mixed = random_hash(key, 7);
    return hashing == HASH_MIXED ? mixed : hashing == HASH_LOW_ZERO ? mixed << 32 : mixed % 16;
}

static bool play(uint64_t seed, enum hashing hashing, table_same_fn *alike)
{
    struct arena *arena = arena_create();
    struct rows *rows = calloc(1, sizeof *rows);
    struct table table = {0};
    bool agree = true;
    for (uint32_t step = 0; step < 2500 && agree; step++) {
        const uint64_t draw = random_hash(seed, step), key = draw % (1 + step / 2);
        const uint64_t hash = hash_of(hashing, key);
        const uint32_t expected = search(rows, key);
        agree = table_find(&table, hash, alike, rows, &key) == expected;
        if (draw >> 60 < 9 && agree) {
            const uint32_t number = table_number(&table, arena, hash, alike, rows, &key);
            agree = number == (expected == TABLE_NONE ? rows->count : expected);
            if (expected == TABLE_NONE)
                rows->keys[rows->count++] = key;
        } else if (draw >> 50 == 16383) {
            table_clear(&table);
            rows->count = 0;
        }
        agree = agree && table.count == rows->count;
    }
    free(rows);
    arena_destroy(arena);
    return agree;
}

static void test_random_programs_agree(void **state)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        assert_true(play(seed, HASH_MIXED, same));
        assert_true(play(seed, HASH_MIXED, NULL)); /* the hash is the thing */
        assert_true(play(seed, HASH_LOW_ZERO, same));
        assert_true(play(seed, HASH_LOW_ZERO, NULL));
        assert_true(play(seed, HASH_FEW, same));
    }
}

static void test_planted_faults_are_seen(void **state)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        assert_false(play(seed, HASH_FEW, NULL));
        assert_false(play(seed, HASH_FEW, same_always));
    }
}

static void test_numbers_survive_growth(void **state)
{
    enum {
        COUNT = 100000
    };
    struct arena *arena = arena_create();
    struct table table = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(table_number(&table, arena, random_hash(i, 1), NULL, NULL, NULL), i);
    for (uint32_t i = COUNT; i-- > 0;)
        assert_int_equal(table_find(&table, random_hash(i, 1), NULL, NULL, NULL), i);
    assert_int_equal(table_find(&table, random_hash(COUNT, 1), NULL, NULL, NULL), TABLE_NONE);
    assert_int_equal(table.count, COUNT);
    assert_in_range(table.slot_count, 2 * COUNT, 4 * COUNT);
    arena_destroy(arena);
}

static void test_empty_and_cleared(void **state)
{
    struct arena *arena = arena_create();
    struct table table = {0};
    assert_int_equal(table_find(&table, 0, NULL, NULL, NULL), TABLE_NONE);
    table_clear(&table); /* of what has no slots yet */
    assert_int_equal(table_number(&table, arena, 0, NULL, NULL, NULL), 0);
    assert_int_equal(table_find(&table, 0, NULL, NULL, NULL), 0);
    const uint32_t slots = table.slot_count;
    table_clear(&table);
    assert_int_equal(table_find(&table, 0, NULL, NULL, NULL), TABLE_NONE);
    assert_int_equal(table_number(&table, arena, 5, NULL, NULL, NULL), 0);
    assert_int_equal(table.slot_count, slots);
    arena_destroy(arena);
}

static void number_without_end(void)
{
    struct rlimit limit = {100 << 20, 100 << 20};
    struct arena *arena = arena_create();
    struct table table = {0};
    setrlimit(RLIMIT_AS, &limit);
    for (uint32_t i = 0; i < UINT32_MAX; i++)
        table_number(&table, arena, random_hash(i, 1), NULL, NULL, NULL);
}

static void test_the_end_of_memory(void **state)
{
    char text[1000];
#ifdef SANITIZED
    skip(); /* the sanitizer needs more than any limit */
#endif
    int status = child_output(number_without_end, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_non_null(strstr(text, "orrery: out of memory: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_agree),
        cmocka_unit_test(test_planted_faults_are_seen),
        cmocka_unit_test(test_numbers_survive_growth),
        cmocka_unit_test(test_empty_and_cleared),
        cmocka_unit_test(test_the_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
