/* Heaps against a search of everything, over random programs of push, replace and pop: of a total
 * order, and of one with ties, where what comes out is right by its key and repeats itself. */
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
    ITEMS_MOST = 4000
};

struct item {
    double key;
    uint32_t number;
};

static inline bool item_before(const struct item *a, const struct item *b)
{
    return a->key < b->key || (a->key == b->key && a->number < b->number);
}
HEAP_DEFINE(totals, struct item, item_before, 4)

static inline bool key_before(const struct item *a, const struct item *b)
{
    return a->key < b->key;
}
HEAP_DEFINE(ties, struct item, key_before, 4)
HEAP_DEFINE(pairs, struct item, item_before, 2)

struct plain {
    struct item items[ITEMS_MOST];
    uint32_t count;
    bool ignore_number; /* the planted fault */
};

static uint32_t plain_first(const struct plain *plain)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < plain->count; i++) {
        const struct item *a = &plain->items[i], *b = &plain->items[first];
        if (plain->ignore_number ? a->key < b->key : item_before(a, b))
            first = i;
    }
    return first;
}

/* Is what stands on top of the heap what the search finds? With ties: the same key is enough. */
static bool same_top(const struct plain *plain, const struct item *top, uint32_t count, bool total)
{
    if (count != plain->count)
        return false;
    if (count == 0)
        return true;
    const struct item *first = &plain->items[plain_first(plain)];
    return top->key == first->key && (!total || top->number == first->number);
}

/* The item of that number leaves. */
static void plain_remove(struct plain *plain, uint32_t number)
{
    uint32_t at = 0;
    while (plain->items[at].number != number)
        at++;
    plain->items[at] = plain->items[--plain->count];
}

enum played_heap {
    PLAY_TOTAL, /* of four children, in a total order */
    PLAY_PAIRS, /* of two */
    PLAY_TIES   /* of four, by the key alone */
};

/* One of the three heaps, as a play sees it. */
struct played {
    enum played_heap which;
    struct totals totals;
    struct pairs pairs;
    struct ties ties;
};

static void push(struct played *p, struct arena *arena, struct item item)
{
    if (p->which == PLAY_TOTAL)
        totals_push(&p->totals, arena, item);
    else if (p->which == PLAY_PAIRS)
        pairs_push(&p->pairs, arena, item);
    else
        ties_push(&p->ties, arena, item);
}

static void replace(struct played *p, struct item item)
{
    if (p->which == PLAY_TOTAL)
        totals_replace(&p->totals, item);
    else if (p->which == PLAY_PAIRS)
        pairs_replace(&p->pairs, item);
    else
        ties_replace(&p->ties, item);
}

static void pop(struct played *p)
{
    if (p->which == PLAY_TOTAL)
        totals_pop(&p->totals);
    else if (p->which == PLAY_PAIRS)
        pairs_pop(&p->pairs);
    else
        ties_pop(&p->ties);
}

static const struct item *top_of(const struct played *p)
{
    return p->which == PLAY_TOTAL   ? p->totals.items
           : p->which == PLAY_PAIRS ? p->pairs.items
                                    : p->ties.items;
}

static bool same_as_search(const struct played *p, const struct plain *plain)
{
    const uint32_t count = p->which == PLAY_TOTAL   ? p->totals.count
                           : p->which == PLAY_PAIRS ? p->pairs.count
                                                    : p->ties.count;
    return same_top(plain, top_of(p), count, p->which != PLAY_TIES);
}

/* Few keys: many ties. */
static bool play(uint64_t seed, enum played_heap which, bool fault)
{
    struct arena *arena = arena_create();
    struct plain *plain = calloc(1, sizeof *plain);
    struct played heap = {.which = which};
    bool agree = true;
    plain->ignore_number = fault;
    for (uint32_t step = 0; step < 3000 && agree; step++) {
        const uint64_t draw = random_hash(seed, step);
        const uint32_t choice = (uint32_t)(draw >> 40) % (step < 1500 ? 8 : 12);
        const struct item item = {(double)(draw % 40) - 20.0, step};
        const uint32_t leaves = plain->count > 0 ? top_of(&heap)->number : 0;
        if (choice < 5) {
            push(&heap, arena, item);
            plain->items[plain->count++] = item;
        } else if (choice < 7 && plain->count > 0) {
            replace(&heap, item);
            plain_remove(plain, leaves);
            plain->items[plain->count++] = item;
        } else if (plain->count > 0) {
            pop(&heap);
            plain_remove(plain, leaves);
        }
        agree = same_as_search(&heap, plain);
    }
    free(plain);
    arena_destroy(arena);
    return agree;
}

static void test_random_programs_agree(void **state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        assert_true(play(seed, PLAY_TOTAL, false));
        assert_true(play(seed, PLAY_PAIRS, false));
        assert_true(play(seed, PLAY_TIES, false));
    }
}

static void test_planted_fault_is_seen(void **state)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        assert_false(play(seed, PLAY_TOTAL, true));
        assert_false(play(seed, PLAY_PAIRS, true));
    }
}

/* Every order of filling a small heap gives the items sorted. */
static void test_every_small_heap(void **state)
{
    struct arena *arena = arena_create();
    for (uint32_t count = 0; count <= 7; count++) {
        uint32_t programs = 1;
        for (uint32_t i = 0; i < count; i++)
            programs *= count;
        for (uint32_t program = 0; program < programs; program++) {
            struct arena_mark mark = arena_mark(arena);
            struct totals heap = {0};
            for (uint32_t i = 0, rest = program; i < count; i++, rest /= count)
                totals_push(&heap, arena, (struct item){(double)(rest % count), i});
            struct item former = {-1.0, 0};
            for (uint32_t i = 0; i < count; i++) {
                assert_true(item_before(&former, &heap.items[0]));
                former = heap.items[0];
                totals_pop(&heap);
            }
            assert_int_equal(heap.count, 0);
            arena_rewind(arena, mark);
        }
    }
    arena_destroy(arena);
}

/* With a total order what comes out does not depend on how the heap was filled. */
static void test_filling_does_not_matter(void **state)
{
    enum {
        COUNT = 500
    };
    struct arena *arena = arena_create();
    struct totals up = {0};
    struct pairs down = {0}; /* nor on how many children a node has */
    for (uint32_t i = 0; i < COUNT; i++) {
        totals_push(&up, arena, (struct item){(double)(i % 13), i});
        pairs_push(&down, arena, (struct item){(double)((COUNT - 1 - i) % 13), COUNT - 1 - i});
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(up.items[0].number, down.items[0].number);
        totals_pop(&up);
        pairs_pop(&down);
    }
    arena_destroy(arena);
}

static void pop_of_nothing(void)
{
    struct totals heap = {0};
    totals_pop(&heap);
}

static void replace_of_nothing(void)
{
    struct totals heap = {0};
    totals_replace(&heap, (struct item){0});
}

static void push_without_end(void)
{
    struct rlimit limit = {100 << 20, 100 << 20};
    struct arena *arena = arena_create();
    struct totals heap = {0};
    setrlimit(RLIMIT_AS, &limit);
    for (uint32_t i = 0; i < UINT32_MAX; i++)
        totals_push(&heap, arena, (struct item){0.0, i});
}

static void test_empty_heaps_and_the_end_of_memory(void **state)
{
    char text[1000];
    assert_true(WIFSIGNALED(child_output(pop_of_nothing, text, sizeof text)));
    assert_non_null(strstr(text, "heap->count > 0"));
    assert_true(WIFSIGNALED(child_output(replace_of_nothing, text, sizeof text)));
    assert_non_null(strstr(text, "count > 0"));
#ifdef SANITIZED
    skip(); /* the sanitizer needs more than any limit */
#endif
    int status = child_output(push_without_end, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_non_null(strstr(text, "orrery: out of memory: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_agree),
        cmocka_unit_test(test_planted_fault_is_seen),
        cmocka_unit_test(test_every_small_heap),
        cmocka_unit_test(test_filling_does_not_matter),
        cmocka_unit_test(test_empty_heaps_and_the_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
