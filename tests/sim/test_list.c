/* Lists against an array that is large from the start, over random programs of appending, dropping
 * and starting anew; columns; what is behind the count; a host that refuses memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sim/list.h"
#include "sim/random.h"
#include "tests/child.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    ROWS_MOST = 5000
};

struct row {
    uint64_t number;
    char letter;
};

struct numbers {
    struct row *rows;
    uint32_t count, capacity;
};

static struct row row_of(uint64_t number)
{
    return (struct row){number, (char)('a' + number % 26)};
}

static void append(struct arena *arena, struct numbers *list, struct row *plain, uint32_t more,
                   uint64_t first)
{
    const struct row *former = list->rows;
    const bool fits = list->count + more <= list->capacity;
    LIST_ROOM(arena, list->rows, list->count, more, list->capacity);
    assert_true(list->capacity >= list->count + more);
    assert_int_equal((uintptr_t)list->rows % _Alignof(max_align_t), 0);
    if (fits)
        assert_ptr_equal(list->rows, former); /* who has room does not move */
    for (uint32_t i = 0; i < more; i++) {
        plain[list->count] = row_of(first + i);
        list->rows[list->count++] = row_of(first + i);
    }
}

static void test_random_programs_agree(void **state)
{
    struct row *plain = calloc(ROWS_MOST, sizeof *plain);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct arena *arena = arena_create();
        struct numbers list = {0};
        for (uint64_t step = 0; step < 300; step++) {
            const uint64_t draw = random_hash(seed, step);
            uint32_t more = (uint32_t)(draw >> 32) % (draw % 7 == 0 ? 400 : 4);
            if (list.count + more > ROWS_MOST || draw % 61 == 1)
                list.count = 0;
            else if (draw % 7 == 2 && list.count > 0)
                list.count--;
            append(arena, &list, plain, more, draw);
            for (uint32_t i = 0; i < list.count; i++) {
                assert_int_equal(list.rows[i].number, plain[i].number);
                assert_int_equal(list.rows[i].letter, plain[i].letter);
            }
        }
        arena_destroy(arena);
    }
    free(plain);
}

static void test_appending_is_linear(void **state)
{
    struct arena *arena = arena_create();
    struct numbers list = {0};
    uint32_t moves = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        const struct row *former = list.rows;
        LIST_ROOM(arena, list.rows, list.count, 1, list.capacity);
        moves += list.rows != former;
        list.rows[list.count++] = row_of(i);
    }
    assert_in_range(moves, 2, 17); /* doublings, not appends */
    assert_in_range(list.capacity, 100000, 200000);
    arena_destroy(arena);
}

/* Rows that were never written are zero, in what was grown too. */
static void test_room_is_zero(void **state)
{
    struct arena *arena = arena_create();
    struct numbers list = {0};
    struct row none = {0};
    for (uint32_t count = 0; count < 3000; count++) {
        LIST_ROOM(arena, list.rows, list.count, 1, list.capacity);
        assert_memory_equal(&list.rows[list.count].number, &none.number, sizeof none.number);
        memset(&list.rows[list.count++], 0xff, sizeof none);
    }
    arena_destroy(arena);
}

static void test_columns_and_wide_rows(void **state)
{
    enum {
        WIDTH = 7
    };
    struct arena *arena = arena_create();
    uint32_t *first = NULL, *wide = NULL, count = 0, capacity = 0, wide_capacity = 0;
    double *second = NULL;
    for (; count < 1000; count++) {
        uint32_t same = capacity;
        LIST_ROOM(arena, first, count, 1, same);
        LIST_ROOM(arena, second, count, 1, capacity);
        assert_int_equal(same, capacity);
        wide = list_room(arena, wide, WIDTH * sizeof *wide, count, 1, &wide_capacity);
        first[count] = wide[WIDTH * count] = wide[WIDTH * count + WIDTH - 1] = count;
        second[count] = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(first[i], i);
        assert_true(second[i] == i);
        assert_int_equal(wide[WIDTH * i], i);
        assert_int_equal(wide[WIDTH * i + WIDTH - 1], i);
    }
    arena_destroy(arena);
}

static void grow_without_end(void)
{
    struct rlimit limit = {100 << 20, 100 << 20};
    struct arena *arena = arena_create();
    struct numbers list = {0};
    setrlimit(RLIMIT_AS, &limit);
    for (uint32_t i = 0; i < UINT32_MAX; i++) {
        LIST_ROOM(arena, list.rows, list.count, 1, list.capacity);
        list.rows[list.count++] = row_of(i);
    }
}

static void too_many_rows(void)
{
    struct arena *arena = arena_create();
    char *rows = NULL;
    uint32_t count = 0, capacity = 0;
    LIST_ROOM(arena, rows, count, 1, capacity);
    count = 1;
    LIST_ROOM(arena, rows, count, UINT32_MAX, capacity);
}

static void test_ends_of_memory_and_of_counts(void **state)
{
    char text[1000];
    int status = child_output(too_many_rows, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_non_null(strstr(text, "more <= UINT32_MAX - count"));
#ifdef SANITIZED
    skip(); /* the sanitizer needs more than any limit */
#endif
    status = child_output(grow_without_end, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_non_null(strstr(text, "orrery: out of memory: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_agree),
        cmocka_unit_test(test_appending_is_linear),
        cmocka_unit_test(test_room_is_zero),
        cmocka_unit_test(test_columns_and_wide_rows),
        cmocka_unit_test(test_ends_of_memory_and_of_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
