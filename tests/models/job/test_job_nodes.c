/* Nodes, spares, crews and replicas under random play, against where each node stands by a plain
 * list: every node is in one place, the queue is first in, first out, the spares are last in, first
 * out, and a replica takes part where it should. */
#include <string.h>

#include "models/job/parts/job_nodes.h"
#include "models/job/parts/job_replicas.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    POSITIONS = 9,
    SPARES = 4,
    IDLE = 2,
    NODES = POSITIONS + SPARES + IDLE,
    MOVES = 3000,
    SEEDS = 60
};
enum place {
    AT_POSITION,
    STANDS_BY,
    IN_REPAIR,
    IN_QUEUE,
    RETIRED,
    NEVER_COMES
};
struct stack {
    uint32_t items[NODES], count;
};
struct play {
    uint64_t seed, thrown;
    struct job_spec spec;
    struct job_nodes nodes;
    struct job_replicas replicas;
    enum place places[NODES];
    uint32_t position_of[NODES], failures[NODES];
    struct stack spares, queue, vacant;
    bool out[3 * POSITIONS];
};

static uint32_t pick(struct play *play, uint32_t count)
{
    return (uint32_t)(random_at(play->seed, play->thrown++) * count);
}

static uint32_t count_of(const struct play *play, enum place place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES; i++)
        count += play->places[i] == place;
    return count;
}

/* Number `which` of those in this place. */
static uint32_t one_of(const struct play *play, enum place place, uint32_t which)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (play->places[i] == place && which-- == 0)
            return i;
    fail();
    return 0;
}

static void make(struct play *play, struct arena *arena, uint64_t seed)
{
    *play = (struct play){.seed = seed};
    play->spec.nodes = POSITIONS;
    play->spec.replicas = 1 + pick(play, 3 * POSITIONS);
    struct job_nodes_spec spec = {.positions = POSITIONS,
                                  .spares = SPARES,
                                  .idle = IDLE,
                                  .crews = pick(play, 4),
                                  .retire_after = pick(play, 2) * 30};
    job_nodes_create(&play->nodes, arena, spec);
    job_replicas_create(&play->replicas, arena, &play->spec);
    for (uint32_t i = 0; i < NODES; i++) {
        play->position_of[i] = i;
        play->places[i] = i < POSITIONS            ? AT_POSITION
                          : i < POSITIONS + SPARES ? STANDS_BY
                                                   : NEVER_COMES;
    }
    while (play->spares.count < SPARES) { /* the first of them is taken first */
        play->spares.items[play->spares.count] = POSITIONS + SPARES - 1 - play->spares.count;
        play->spares.count++;
    }
}

/* A replica has a rank at a position where the two cover a part of the job in common. */
static bool stands_at(const struct play *play, uint32_t replica, uint32_t position)
{
    uint32_t replicas = play->spec.replicas;
    return position * replicas < (replica + 1) * POSITIONS &&
           replica * POSITIONS < (position + 1) * replicas;
}

static void leave(struct play *play)
{
    uint32_t node = one_of(play, AT_POSITION, pick(play, count_of(play, AT_POSITION)));
    uint32_t position = job_nodes_leave(&play->nodes, node);
    assert_int_equal(position, play->position_of[node]);
    play->vacant.items[play->vacant.count++] = position;
    job_replicas_lose(&play->replicas, position, false);
    for (uint32_t r = 0; r < play->spec.replicas; r++)
        play->out[r] |= stands_at(play, r, position);
    bool retires =
        play->nodes.retire_after > 0 && ++play->failures[node] >= play->nodes.retire_after;
    assert_int_equal(job_nodes_retire(&play->nodes, node), retires);
    if (retires) {
        play->places[node] = RETIRED;
        return;
    }
    bool begins = play->nodes.crews == 0 || count_of(play, IN_REPAIR) < play->nodes.crews;
    play->places[node] = begins ? IN_REPAIR : IN_QUEUE;
    assert_int_equal(job_nodes_send(&play->nodes, node, 5.0, true), begins);
    if (!begins)
        play->queue.items[play->queue.count++] = node;
}

static void fill(struct play *play, uint32_t node)
{
    uint32_t position = job_nodes_fill(&play->nodes, node);
    assert_int_equal(position, play->vacant.items[--play->vacant.count]);
    play->places[node] = AT_POSITION;
    play->position_of[node] = position;
    uint32_t count = job_replicas_at(&play->replicas, position), expected = 0;
    for (uint32_t r = 0; r < play->spec.replicas; r++)
        expected += stands_at(play, r, position);
    assert_int_equal(count, expected);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t replica = job_replicas_of(&play->replicas, position, i);
        bool whole = true;
        for (uint32_t v = 0; v < play->vacant.count; v++)
            whole &= !stands_at(play, replica, play->vacant.items[v]);
        assert_int_equal(job_replicas_gain(&play->replicas, replica), whole);
    }
}

static void repaired(struct play *play)
{
    uint32_t node = one_of(play, IN_REPAIR, pick(play, count_of(play, IN_REPAIR)));
    int32_t next = job_nodes_repaired(&play->nodes, node);
    assert_int_equal(next, play->queue.count > 0 ? (int32_t)play->queue.items[0] : NO_NODE);
    if (next != NO_NODE) {
        play->places[next] = IN_REPAIR;
        play->queue.count--;
        memmove(play->queue.items, play->queue.items + 1,
                play->queue.count * sizeof play->queue.items[0]);
    }
    if (play->vacant.count > 0 && pick(play, 2) == 0) {
        fill(play, node);
    } else {
        job_nodes_stand_by(&play->nodes, node);
        play->places[node] = STANDS_BY;
        play->spares.items[play->spares.count++] = node;
    }
}

static void restart(struct play *play)
{
    job_replicas_return(&play->replicas);
    for (uint32_t r = 0; r < play->spec.replicas; r++) {
        play->out[r] = false;
        for (uint32_t v = 0; v < play->vacant.count; v++)
            play->out[r] |= stands_at(play, r, play->vacant.items[v]);
    }
}

static void compare(const struct play *play)
{
    uint32_t out = 0;
    assert_int_equal(play->nodes.free_count, count_of(play, STANDS_BY));
    assert_int_equal(play->nodes.busy, count_of(play, IN_REPAIR));
    assert_int_equal(play->nodes.queued, count_of(play, IN_QUEUE));
    assert_int_equal(play->nodes.retired, count_of(play, RETIRED));
    assert_int_equal(play->nodes.short_count, POSITIONS - count_of(play, AT_POSITION));
    for (uint32_t r = 0; r < play->spec.replicas; r++) {
        assert_int_equal(play->replicas.replicas[r].out, play->out[r]);
        out += play->out[r];
    }
    assert_int_equal(play->replicas.up, play->spec.replicas - out);
    for (uint32_t position = 0; position < POSITIONS; position++) {
        bool vacant = false;
        for (uint32_t v = 0; v < play->vacant.count; v++)
            vacant |= play->vacant.items[v] == position;
        int32_t node = job_nodes_at(&play->nodes, position);
        assert_true(vacant ? node == NO_NODE : play->position_of[node] == position);
    }
}

static void test_random_play(void **state)
{
    uint32_t retired = 0, waited = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct arena *arena = arena_create();
        struct play play;
        make(&play, arena, seed);
        for (uint32_t i = 0; i < MOVES; i++) {
            uint32_t move = pick(&play, 5);
            if (move <= 1 && count_of(&play, AT_POSITION) > 0) {
                leave(&play);
            } else if (move == 2 && count_of(&play, IN_REPAIR) > 0) {
                repaired(&play);
            } else if (move == 3 && play.spares.count > 0 && play.vacant.count > 0) {
                uint32_t node = job_nodes_take_spare(&play.nodes);
                assert_int_equal(node, play.spares.items[--play.spares.count]);
                fill(&play, node);
            } else if (move == 4) {
                restart(&play);
            }
            compare(&play);
            waited += play.queue.count > 0;
        }
        retired += play.nodes.retired;
        arena_destroy(arena);
    }
    assert_true(retired > 0 && waited > 0);
}

/* Two of three replicas walk chains of their own; one of them is struck again before it is back. */
static void test_ways_back(void **state)
{
    struct arena *arena = arena_create();
    struct job_spec spec = {.nodes = 3, .replicas = 3};
    struct job_replicas replicas;
    job_replicas_create(&replicas, arena, &spec);
    job_replicas_leave(&replicas, 0, true);
    job_replicas_leave(&replicas, 1, true);
    assert_int_equal(replicas.up, 1);
    assert_int_equal(job_replicas_whole(&replicas), 3);
    uint64_t first = replicas.replicas[0].version, second = replicas.replicas[1].version;
    job_replicas_leave(&replicas, 1, true);
    assert_true(job_replicas_ready(&replicas, 0, first));
    assert_false(job_replicas_ready(&replicas, 1, second));
    assert_int_equal(replicas.up, 1); /* with the next step */
    job_replicas_join(&replicas);
    assert_int_equal(replicas.up, 2);
    assert_true(replicas.replicas[1].out);
    assert_false(job_replicas_any_up(&replicas, 1));
    assert_true(job_replicas_any_up(&replicas, 2));
    struct replicas_touched touched;
    job_replicas_count(&replicas, &touched);
    for (uint32_t position = 0; position < 2; position++) {
        job_replicas_touch(&replicas, position, &touched);
        job_replicas_touch(&replicas, position, &touched); /* each is counted once */
    }
    assert_int_equal(touched.running, 1);
    assert_int_equal(touched.whole, 2);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_play),
                                       cmocka_unit_test(test_ways_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
