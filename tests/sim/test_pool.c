/* pool: each index once, the same result for any number of threads; many simulations at once. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/digest.h"
#include "sim/pool.h"
#include "sim/random.h"
#include "sim/share.h"
#include "sim/sim.h"
#include "tests/test.h"

enum {
    COUNT = 500,
    SIMULATIONS = 24
};

struct counts {
    atomic_uint visits[COUNT];
};

static void visit(void *context, size_t index)
{
    struct counts *counts = context;
    atomic_fetch_add(&counts->visits[index], 1);
}

static void test_each_index_once(void **state)
{
    const unsigned threads[] = {1, 2, 3, 8, 1000};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct counts counts = {0};
        pool_run(threads[t], COUNT, visit, &counts);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(counts.visits[i], 1);
        pool_run(threads[t], 0, visit, &counts);
    }
    assert_true(pool_threads_available() >= 1);
}

struct room {
    atomic_uint visits[COUNT];
    struct arena *scratch[COUNT]; /* of the thread that came by */
    void *first[COUNT];           /* what the arena handed out first */
};

static void use_scratch(void *context, size_t index, struct arena *scratch)
{
    struct room *room = context;
    uint8_t *bytes = arena_alloc(scratch, 100 + index, 1); /* CHECKs that the arena is ours */
    for (size_t i = 0; i < 100 + index; i++)
        assert_int_equal(bytes[i], 0);
    memset(bytes, 0xff, 100 + index);
    arena_alloc(scratch, (size_t)1 << index % 16, 1);
    atomic_fetch_add(&room->visits[index], 1);
    room->scratch[index] = scratch;
    room->first[index] = bytes;
}

static void test_scratch_is_ones_own_and_empty(void **state)
{
    const unsigned threads[] = {1, 2, 7};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct room room = {0};
        pool_run_scratch(threads[t], COUNT, use_scratch, &room);
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(room.visits[i], 1);
            for (size_t k = 0; k < i; k++) /* one arena, emptied: the same first byte again */
                assert_true((room.scratch[i] == room.scratch[k]) ==
                            (room.first[i] == room.first[k]));
        }
        pool_run_scratch(threads[t], 0, use_scratch, &room);
    }
}

struct player {
    struct share *share;
    struct random_stream *stream;
    uint32_t slots[8], activities[8];
    uint64_t digest;
    uint32_t left;
};

static void begin(struct sim *sim, struct player *player, uint32_t flow)
{
    const struct share_use uses[] = {{flow % 3, 1.0}, {3 + flow % 2, 0.5}};
    player->activities[flow] =
        share_start(player->share, sim_now_s(sim),
                    (struct share_demand){-log(random_uniform(player->stream)), 2.0, 1.0}, uses, 2);
}

static void finished(struct sim *sim, void *context, uint32_t slot)
{
    struct player *player = context;
    uint32_t flow = slot - player->slots[0];
    player->digest = digest_add_time(player->digest, sim_now_s(sim));
    player->digest = digest_add(player->digest, flow);
    share_finish(player->share, sim_now_s(sim), player->activities[flow]);
    if (player->left-- > 8)
        begin(sim, player, flow);
}

static void settle(struct sim *sim, void *context)
{
    struct player *player = context;
    const uint32_t *changed;
    size_t count = share_solve(player->share, sim_now_s(sim), &changed);
    for (size_t i = 0; i < count; i++)
        for (uint32_t flow = 0; flow < 8; flow++)
            if (player->activities[flow] == changed[i])
                calendar_set(sim_calendar(sim), player->slots[flow],
                             share_finish_s(player->share, changed[i]), 0);
}

/* A small network with its own clock, arena and draws; its digest goes to results[index]. */
static void simulate(void *context, size_t index)
{
    uint64_t *results = context;
    const double capacity[5] = {1.0, 2.0, 1.5, 3.0, 0.5};
    struct sim *sim = sim_create(index);
    struct player player = {.share = share_create(sim_arena(sim), 5, capacity),
                            .stream = random_create(sim_arena(sim), index, 0, "work"),
                            .digest = digest_begin(),
                            .left = 200};
    for (uint32_t flow = 0; flow < 8; flow++)
        player.slots[flow] = calendar_slot(sim_calendar(sim));
    for (uint32_t flow = 0; flow < 8; flow++)
        begin(sim, &player, flow);
    sim_handle(sim, 0, finished, &player);
    sim_settle(sim, 0, settle, &player);
    sim_run(sim);
    results[index] = sim_event_count(sim) == 200 ? player.digest : 0;
    sim_destroy(sim);
}

static void test_simulations_do_not_meet(void **state)
{
    uint64_t alone[SIMULATIONS], together[SIMULATIONS];
    pool_run(1, SIMULATIONS, simulate, alone);
    pool_run(4, SIMULATIONS, simulate, together);
    assert_memory_equal(alone, together, sizeof alone);
    for (size_t i = 1; i < SIMULATIONS; i++)
        assert_true(alone[i] != 0 && alone[i] != alone[i - 1]);
}

struct tally {
    struct pool_lock *lock;
    size_t sum; /* not atomic: the lock alone keeps it */
};

static void add(void *context, size_t index)
{
    struct tally *tally = context;
    for (unsigned i = 0; i < 100; i++) {
        pool_lock_take(tally->lock);
        tally->sum += index;
        pool_lock_give(tally->lock);
    }
}

static void test_lock_excludes(void **state)
{
    struct tally tally = {pool_lock_create(), 0};
    pool_run(8, COUNT, add, &tally);
    assert_int_equal(tally.sum, (size_t)100 * COUNT * (COUNT - 1) / 2);
    pool_lock_destroy(tally.lock);
    pool_lock_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_index_once),
        cmocka_unit_test(test_scratch_is_ones_own_and_empty),
        cmocka_unit_test(test_simulations_do_not_meet),
        cmocka_unit_test(test_lock_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
