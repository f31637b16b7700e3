/* arena: zeroed memory, alignment, marks, growth, text; the poison build's pattern; one owner. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/arena.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Of memory that was given back too, which sanitizers forbid. */
__attribute__((no_sanitize_address)) static bool is_filled(const unsigned char *memory,
                                                           size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != value)
            return false;
    return true;
}

static void test_memory_is_zero_and_aligned(void **state)
{
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

enum {
    LITTLE_BYTES = 100 << 20,
    PIECE_BYTES = 1 << 20
};

/* Takes pieces until the host refuses one, and tells their number through the pipe. */
static void take_all(int told)
{
    struct rlimit limit = {LITTLE_BYTES, LITTLE_BYTES};
    struct arena *arena = arena_create();
    setrlimit(RLIMIT_AS, &limit);
    for (unsigned char count = 1; count < 255; count++) {
        arena_alloc(arena, PIECE_BYTES, 8);
        if (write(told, &count, 1) != 1)
            break;
    }
    _exit(77);
}

/* Blocks double; the last doubling that the host refuses must not be the end. Then exit code 1 with
 * the size, and no signal. */
static void test_little_memory_is_used_up(void **state)
{
#ifdef SANITIZED
    skip(); /* the sanitizer needs more than any limit */
#endif
    int pipes[2], notes[2], status;
    unsigned char count = 0;
    char text[300] = "";
    assert_int_equal(pipe(pipes) | pipe(notes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(notes[1], STDERR_FILENO);
        take_all(pipes[1]);
    }
    close(pipes[1]);
    close(notes[1]);
    while (read(pipes[0], &count, 1) == 1)
        ;
    assert_true(read(notes[0], text, sizeof text - 1) > 0);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_in_range(count, 80, 99); /* MiB of the 100; libraries take some */
    assert_non_null(strstr(text, "orrery: out of memory: 1 MiB were asked for and refused"));
    close(pipes[0]);
    close(notes[0]);
}

static void test_allocations_do_not_overlap(void **state)
{
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

/* Where AddressSanitizer looks, it is told of objects: the byte behind one is nobody's. */
static void test_the_byte_behind_is_forbidden(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    struct arena *arena = arena_create();
    for (size_t bytes = 0; bytes < 40; bytes++) {
        struct arena_mark mark = arena_mark(arena);
        const unsigned char *one = arena_alloc(arena, bytes, 8), *two = arena_alloc(arena, 8, 8);
        for (size_t i = 0; i < bytes; i++)
            assert_false(__asan_address_is_poisoned(one + i));
        assert_true(__asan_address_is_poisoned(one + bytes));
        assert_true(two > one + bytes && !__asan_address_is_poisoned(two));
        arena_rewind(arena, mark);
        assert_true(__asan_address_is_poisoned(two));
    }
    arena_destroy(arena);
#else
    skip();
#endif
}

static void test_growth_is_geometric(void **state)
{
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

static void *nothing(void *arena)
{
    return arena;
}

static void *allocate(void *arena)
{
    return arena_alloc(arena, 8, 8);
}

static void *mark(void *arena)
{
    (void)arena_mark(arena);
    return NULL;
}

static void *rewind_all(void *arena)
{
    arena_rewind(arena, (struct arena_mark){NULL, 0});
    return NULL;
}

static void *destroy(void *arena)
{
    arena_destroy(arena);
    return NULL;
}

static void *give(void *arena)
{
    arena_give(arena);
    return NULL;
}

static void *claim(void *arena)
{
    arena_claim(arena);
    return NULL;
}

static void *claim_and_destroy(void *arena)
{
    arena_claim(arena);
    arena_alloc(arena, 8, 8);
    arena_destroy(arena);
    return NULL;
}

/* Does a second thread that does this to an arena, kept or given up by the first, end the process?
 * In a child, since a broken CHECK does not return. */
static bool aborts(void *(*act)(void *), bool given, bool elsewhere)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        struct arena *arena = arena_create();
        arena_alloc(arena, 8, 8);
        signal(SIGABRT, SIG_DFL);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(2);
        if (given)
            arena_give(arena);
        if (!elsewhere)
            act(arena);
        else if (pthread_create(&thread, NULL, act, arena) != 0 || pthread_join(thread, NULL) != 0)
            _exit(3);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void test_one_thread_owns_it(void **state)
{
    void *(*const acts[])(void *) = {allocate, mark, rewind_all, destroy, give, claim};
    for (unsigned i = 0; i < sizeof acts / sizeof *acts; i++) {
        bool claims = acts[i] == claim;
        assert_int_equal(aborts(acts[i], false, false), claims); /* its own: claimed already */
        assert_true(aborts(acts[i], false, true));
        assert_int_equal(aborts(acts[i], true, false), !claims);
        assert_int_equal(aborts(acts[i], true, true), !claims);
    }
    assert_false(aborts(nothing, false, true));
    assert_false(aborts(claim_and_destroy, true, true)); /* handed over */
    assert_true(aborts(claim_and_destroy, false, true));
}

/* Room comes as it is, and what was written there is zero again for whoever asks for that. */
static void test_room(void **state)
{
    struct arena *arena = arena_create();
    struct arena_mark mark = arena_mark(arena);
    unsigned char *room = arena_room(arena, 4096, 64);
    assert_int_equal((uintptr_t)room % 64, 0);
    memset(room, 0x77, 4096);
    arena_rewind(arena, mark);
    assert_ptr_equal(arena_room(arena, 2048, 64), room);
#ifndef ORRERY_POISON
    assert_true(is_filled(room, 2048, 0x77));
#endif
    unsigned char *behind = arena_alloc(arena, 1024, 64);
    assert_true(behind >= room + 2048 && is_filled(behind, 1024, 0));
    arena_rewind(arena, mark);
    assert_true(is_filled(arena_alloc(arena, 8192, 64), 8192, 0));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_zero_and_aligned),
        cmocka_unit_test(test_little_memory_is_used_up),
        cmocka_unit_test(test_allocations_do_not_overlap),
        cmocka_unit_test(test_rewound_memory_is_zero_again),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_mark_of_an_empty_arena),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_the_byte_behind_is_forbidden),
        cmocka_unit_test(test_growth_is_geometric),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_one_thread_owns_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
