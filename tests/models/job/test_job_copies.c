/* Checkpoints kept, against plain lists of them that are searched: random saves, leaps over many of
 * them, failures of every scope, tainted and unreadable copies. */
#include <limits.h>
#include <math.h>

#include "models/job/parts/job_copies.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    MOVES = 300,
    SEEDS = 300,
    COPIES = 4 * MOVES,
    REPLICAS = 2,
    INTERVAL = 10
};
static const double STEP_S = 10.0;

struct list { /* of one level, in the order of their saves */
    struct copy copies[COPIES];
    uint32_t count, durable, ever; /* the first `durable` are; so many ever became so */
};
struct play {
    uint64_t seed, thrown;
    struct job_spec spec;
    struct job_segments segments;
    struct job_copies copies;
    struct list lists[CHECKPOINT_LEVEL_MAX];
    struct ledger_mark now;
    double at_s;
    uint64_t saves, dropped;
};

static double roll(struct play *play)
{
    return random_at(play->seed, play->thrown++);
}

static unsigned pick(struct play *play, unsigned count)
{
    return (unsigned)(roll(play) * count);
}

static void make(struct play *play, struct arena *arena, uint64_t seed)
{
    static const struct job_observer nobody;
    *play = (struct play){.seed = seed};
    struct checkpoint_spec *checkpoint = &play->spec.checkpoint;
    checkpoint->keep = 1 + pick(play, 5);
    checkpoint->corrupt_ratio = 0.5; /* so that all of them are kept */
    checkpoint->plan.level_count = 1 + pick(play, 3);
    uint64_t every = 1;
    double persist_s = 0.0;
    for (unsigned i = 0; i < checkpoint->plan.level_count; i++) {
        every *= i > 0 ? 1 + pick(play, 3) : 1;
        persist_s += 30.0 * roll(play);
        checkpoint->plan.levels[i] = (struct checkpoint_level){.survival = (int)pick(play, 3),
                                                               .every = every,
                                                               .stall_s = 5.0 * roll(play),
                                                               .persist_s = persist_s,
                                                               .slowdown_ratio = 1.0 + roll(play)};
    }
    job_segments_create(&play->segments, &checkpoint->plan, INTERVAL, REPLICAS, STEP_S, true);
    job_segments_condition(&play->segments, STEP_S);
    assert_true(play->segments.segment_s == INTERVAL * STEP_S);
    job_copies_create(&play->copies, arena, &play->spec, &play->segments, &nobody);
}

static void forget(struct list *list, uint32_t index)
{
    for (uint32_t i = index + 1; i < list->count; i++)
        list->copies[i - 1] = list->copies[i];
    list->count--;
}

static void settle(struct play *play, double now_s)
{
    for (unsigned level = 0; level < play->copies.level_count; level++) {
        struct list *list = &play->lists[level];
        while (list->durable < list->count && list->copies[list->durable].durable_s <= now_s) {
            list->durable++;
            list->ever++;
        }
        while (list->durable > play->spec.checkpoint.keep) {
            forget(list, 0);
            list->durable--;
        }
    }
}

static void write_copy(struct play *play, unsigned level, struct copy copy)
{
    struct list *list = &play->lists[level];
    assert_true(list->count < COPIES);
    list->copies[list->count++] = copy;
}

/* A save where the levels are free by then. */
static void save(struct play *play)
{
    play->at_s += 60.0 * roll(play);
    play->now.progress += 1 + pick(play, 50);
    play->now.useful_s += 1.0;
    bool all = roll(play) < 0.2;
    job_copies_settle(&play->copies, play->at_s);
    settle(play, play->at_s);
    double free_s = -INFINITY, stall_s = 0.0;
    for (unsigned level = 0; level < play->copies.level_count; level++) {
        const struct list *list = &play->lists[level];
        bool asked = all || (play->saves + 1) % play->spec.checkpoint.plan.levels[level].every == 0;
        if (asked && list->count > list->durable)
            free_s = fmax(free_s, list->copies[list->durable].durable_s);
        stall_s += asked ? play->spec.checkpoint.plan.levels[level].stall_s : 0.0;
    }
    assert_true(job_copies_free_s(&play->copies, all) == free_s);
    if (free_s > play->at_s)
        return;
    play->saves++;
    for (unsigned level = 0; level < play->copies.level_count; level++) {
        const struct checkpoint_level *of = &play->spec.checkpoint.plan.levels[level];
        if (all || play->saves % of->every == 0) {
            write_copy(play, level,
                       (struct copy){play->now, play->saves, play->at_s,
                                     play->at_s + stall_s + of->persist_s, stall_s});
        }
    }
    assert_true(fabs(job_copies_begin(&play->copies, &play->now, play->at_s, all) - stall_s) <
                1e-9);
    play->at_s += stall_s;
}

/* The list writes the copies of each save by itself. */
static void leap(struct play *play)
{
    double first_s = fmax(job_copies_last_durable_s(&play->copies), play->at_s + 20.0);
    struct leap leap = {.segments = &play->segments,
                        .now = play->now,
                        .at_s = play->at_s,
                        .segment_s = play->segments.segment_s,
                        .first_s = first_s,
                        .saves = play->saves,
                        .first_steps = 1 + pick(play, INTERVAL),
                        .replicas_up = 1 + pick(play, REPLICAS)};
    uint64_t saves = 2 + pick(play, 12);
    settle(play, first_s);
    for (uint64_t i = 1; i <= saves; i++) {
        for (unsigned level = 0; level < play->copies.level_count; level++) {
            struct copy copy = job_segments_copy(&leap, level, i);
            if (copy.save % play->spec.checkpoint.plan.levels[level].every == 0) {
                settle(play, copy.began_s);
                write_copy(play, level, copy);
            }
            play->now = copy.reached;
        }
    }
    struct ledger_mark reached = job_copies_leap(&play->copies, &leap, saves);
    assert_int_equal(reached.progress, play->now.progress);
    play->saves += saves;
    play->at_s = job_segments_begin_s(&leap, saves) + 15.0;
}

static void compare(struct play *play)
{
    uint64_t best = 0;
    double began_s = 0.0;
    unsigned from = UINT_MAX;
    for (unsigned level = 0; level < play->copies.level_count; level++) {
        const struct list *list = &play->lists[level];
        const struct copy *copy = list->durable > 0 ? &list->copies[list->durable - 1] : NULL;
        assert_int_equal(play->copies.shelves[level].kept, list->durable);
        assert_int_equal(play->copies.durable[level], list->ever);
        if (copy != NULL && (from == UINT_MAX || copy->reached.progress > best)) {
            best = copy->reached.progress;
            began_s = copy->began_s;
            from = level;
        }
    }
    assert_int_equal(play->copies.load_level, from);
    assert_int_equal(job_copies_loaded(&play->copies)->progress, best);
    assert_true(fabs(play->copies.loaded_began_s - began_s) < 1e-6);
    assert_int_equal(play->copies.dropped, play->dropped);
    play->now.progress = best;
}

static void drop_last(struct play *play, unsigned level)
{
    struct list *list = &play->lists[level];
    list->count = --list->durable;
    play->dropped++;
}

static void strike(struct play *play)
{
    int scope = (int)pick(play, 3);
    double taint_s = roll(play) < 0.5 ? INFINITY : fmax(play->at_s - 2000.0 * roll(play), 0.0);
    play->at_s += 20.0 * roll(play);
    settle(play, play->at_s);
    for (unsigned level = 0; level < play->copies.level_count; level++) {
        struct list *list = &play->lists[level];
        if (play->spec.checkpoint.plan.levels[level].survival < scope)
            list->durable = 0;
        list->count = list->durable;
        while (list->durable > 0 && list->copies[list->durable - 1].began_s > taint_s)
            drop_last(play, level);
    }
    job_copies_lose(&play->copies, play->at_s, scope, taint_s);
    compare(play);
    while (play->copies.load_level != UINT_MAX && roll(play) < 0.5) {
        drop_last(play, play->copies.load_level);
        job_copies_drop_loaded(&play->copies);
        compare(play);
    }
}

static void test_against_lists(void **state)
{
    static struct play play;
    uint64_t dropped = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct arena *arena = arena_create();
        make(&play, arena, seed);
        for (uint32_t i = 0; i < MOVES; i++) {
            double move = roll(&play);
            if (move < 0.6)
                save(&play);
            else if (move < 0.75)
                leap(&play);
            else
                strike(&play);
        }
        dropped += play.dropped;
        arena_destroy(arena);
    }
    assert_true(dropped > SEEDS);
}

/* The state is saved where the safest level has all of it, and durable. */
static void test_is_saved(void **state)
{
    static struct play play;
    struct arena *arena = arena_create();
    make(&play, arena, 1);
    unsigned safest = play.copies.level_count - 1;
    play.now.progress = 7;
    double stall_s = job_copies_begin(&play.copies, &play.now, 100.0, true);
    double durable_s = 100.0 + stall_s + play.spec.checkpoint.plan.levels[safest].persist_s;
    assert_true(fabs(job_copies_last_durable_s(&play.copies) - durable_s) < 1e-9);
    assert_false(job_copies_is_saved(&play.copies, nextafter(durable_s, 0.0) - 1e-9, 7));
    assert_true(job_copies_is_saved(&play.copies, durable_s + 1e-9, 7));
    assert_false(job_copies_is_saved(&play.copies, durable_s + 1e-9, 8));
    assert_true(isinf(job_copies_last_durable_s(&play.copies)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_lists),
                                       cmocka_unit_test(test_is_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
