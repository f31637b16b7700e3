/* Free blocks against a list that is sorted by hand: the same block comes out of the same question,
 * whatever was put in and taken out before. */
#include <string.h>

#include "models/memory/free_blocks.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    ROUNDS = 60000,
    ROOM = 2000
};
struct naive {
    struct free_block blocks[ROOM];
    uint32_t count;
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
    return random_hash(77, ++*state) % below;
}

static uint32_t first_of(const struct naive *n, uint64_t bytes, uint64_t address)
{
    uint32_t at = 0;
    while (at < n->count && (n->blocks[at].bytes < bytes ||
                             (n->blocks[at].bytes == bytes && n->blocks[at].address < address)))
        at++;
    return at;
}

static void naive_add(struct naive *n, struct free_block block)
{
    uint32_t at = first_of(n, block.bytes, block.address);
    memmove(&n->blocks[at + 1], &n->blocks[at], (n->count - at) * sizeof *n->blocks);
    n->blocks[at] = block;
    n->count++;
}

static struct free_block naive_take(struct naive *n, uint32_t at)
{
    struct free_block block = n->blocks[at];
    n->count--;
    memmove(&n->blocks[at], &n->blocks[at + 1], (n->count - at) * sizeof *n->blocks);
    return block;
}

static void same(struct free_block a, struct free_block b)
{
    assert_true(a.bytes == b.bytes && a.address == b.address && a.row == b.row);
}

/* Few sizes in long spells, many in others; the list swells to hundreds and shrinks again. */
static void step(struct free_blocks *all, struct naive *n, struct arena *arena, uint64_t *state,
                 uint32_t round)
{
    bool swells = round / 4000 % 2 == 0;
    uint64_t bytes = 512 * (1 + draw(state, round / 10000 % 2 == 0 ? 7 : 5000));
    struct free_block out;
    if (n->count < ROOM - 1 && draw(state, 10) < (swells ? 6 : 4)) {
        struct free_block block = {bytes, 512 * (uint64_t)round, round};
        free_blocks_add(all, arena, block);
        naive_add(n, block);
        return;
    }
    uint32_t at = first_of(n, bytes, 0);
    switch (draw(state, 8)) {
    case 0:
        if (n->count > 0)
            free_blocks_remove(all, naive_take(n, (uint32_t)draw(state, n->count)));
        break;
    case 1:
        assert_int_equal(free_blocks_take_largest(all, bytes, &out),
                         n->count > 0 && n->blocks[n->count - 1].bytes >= bytes);
        if (n->count > 0 && n->blocks[n->count - 1].bytes >= bytes)
            same(out, naive_take(n, n->count - 1));
        break;
    default:
        assert_int_equal(free_blocks_take(all, bytes, &out), at < n->count);
        if (at < n->count)
            same(out, naive_take(n, at));
    }
}

struct asked {
    const struct naive *naive;
    uint32_t count;
};

static bool keep_odd(void *context, const struct free_block *block)
{
    struct asked *asked = context;
    same(*block, asked->naive->blocks[asked->count++]); /* in order, each once */
    return block->row % 2 != 0;
}

static void test_against_a_sorted_list(void **state)
{
    struct arena *arena = arena_create();
    struct naive *n = ARENA_NEW(arena, struct naive);
    struct free_blocks all = {0};
    uint64_t random = 0;
    uint32_t most = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        step(&all, n, arena, &random, round);
        most = n->count > most ? n->count : most;
    }
    assert_true(most > 8 * FREE_RUN_MAX);
    struct asked asked = {n, 0};
    free_blocks_filter(&all, keep_odd, &asked);
    assert_int_equal(asked.count, n->count);
    struct free_block out;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->blocks[i].row % 2 == 0)
            continue;
        assert_true(free_blocks_take(&all, 0.0, &out));
        same(out, n->blocks[i]);
    }
    assert_false(free_blocks_take(&all, 0.0, &out));
    assert_false(free_blocks_take_largest(&all, 0.0, &out));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_sorted_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
