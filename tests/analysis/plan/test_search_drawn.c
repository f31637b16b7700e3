/* Spaces drawn by seed, small enough to play each layout: the search's list is the head of the
 * exhaustive one, what it did not time cannot lead, and its counts are those of its rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/random.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#define HEADROOM 0.02
enum {
    LEADERS = 3,
    TEXT_BYTES = 512
};

static unsigned pick(struct random_stream *r, const unsigned *values, unsigned count)
{
    return values[(unsigned)(random_uniform(r) * count)];
}

/* Slow wires and fast ones, one node and two, sharded weights and pipelines. */
static struct scenario *draw_space(uint64_t seed)
{
    static const char *const software[] = {"nemo",      "megatron",      "torchtitan",
                                           "deepspeed", "megatron-2021", "fsdp"};
    static const char *const cards[] = {"a100-40gb-sxm", "h100-80gb-sxm", "a100-80gb-pcie"};
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, seed, 0, "space");
    const char *card = cards[(unsigned)(random_uniform(r) * 3)];
    const char *name = software[(unsigned)(random_uniform(r) * 6)];
    char text[TEXT_BYTES];
    snprintf(text, sizeof text,
             "model: {layers: %u, hidden: %u, heads: %u, vocabulary: 32000}\n"
             "cluster: {gpu: %s, gpus: %u}\ntraining: {sequence: %u, global_batch: %u}\n"
             "software: %s\n",
             pick(r, (const unsigned[]){2, 4, 6}, 3), pick(r, (const unsigned[]){512, 1024}, 2),
             pick(r, (const unsigned[]){2, 4, 8}, 3), card,
             pick(r, (const unsigned[]){4, 8, 16}, 3),
             pick(r, (const unsigned[]){1024, 2048, 4096}, 3),
             pick(r, (const unsigned[]){4, 8, 16}, 3), name);
    arena_destroy(arena);
    return space_read(text);
}

static struct search *search_for(const struct scenario *scenario, uint32_t leaders)
{
    const struct search_question question = {.base = &scenario->configuration,
                                             .headroom_ratio = HEADROOM,
                                             .leaders = leaders,
                                             .threads = 1};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

static bool same_place(struct plan_layout a, const struct plan_layout *b)
{
    a.recompute = b->recompute;
    a.recompute_layers = b->recompute_layers;
    return plan_layout_same(&a, b, 0);
}

static int compare_steps(const void *a, const void *b)
{
    const struct space_played *x = a, *y = b;
    return (x->leader.step_s > y->leader.step_s) - (x->leader.step_s < y->leader.step_s);
}

/* Every layout with the least recomputation with which it fits, fastest first. */
static size_t play_places(struct arena *arena, const struct search *s, struct space_played **out)
{
    size_t kept = 0;
    const size_t count =
        space_play(arena, s->base, 0, s->base->gpu.hbm.usable_bytes * (1.0 - HEADROOM), out);
    struct space_played *all = *out;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !same_place(all[i].row.layout, &all[kept - 1].row.layout))
            all[kept++] = all[i];
    if (kept > 0)
        qsort(all, kept, sizeof *all, compare_steps);
    return kept;
}

static void the_list_is_the_head_of_all(void **state)
{
    /* In the space of seed 118 pass detail puts one behind the third by more than nothing, and op
     * detail before it. */
    static const unsigned seeds[] = {118, 1, 2, 3, 4, 5};
    for (unsigned i = 0; i < sizeof seeds / sizeof seeds[0]; i += SANITIZED_EVERY(3)) {
        struct arena *arena = arena_create();
        struct scenario *scenario = draw_space(seeds[i]);
        struct search *s = search_for(scenario, LEADERS);
        struct space_played *all;
        const size_t count = play_places(arena, s, &all);
        assert_int_equal(s->leader_count, count < LEADERS ? count : LEADERS);
        for (uint32_t k = 0; k < s->leader_count; k++)
            assert_true(s->leaders[k].played && s->leaders[k].step_s == all[k].leader.step_s);
        search_destroy(s);
        scenario_destroy(scenario);
        arena_destroy(arena);
    }
}

/* What its kernels alone kept from being timed takes longer than the first one, op by op; each
 * place was considered once, and once more for each recomputation with which it did not fit. */
static void what_is_not_timed_cannot_lead(void **state)
{
    for (unsigned seed = 1; seed <= 24; seed += SANITIZED_EVERY(8)) {
        struct scenario *scenario = draw_space(seed);
        struct search *s = search_for(scenario, 1);
        uint64_t considered = s->row_count, timed = 0;
        assert_true(s->leader_count == 1 && s->leaders[0].played);
        for (uint32_t i = 0; i < s->row_count; i++) {
            const struct search_row *row = &s->rows[i];
            considered += row->tried;
            timed += row->pass_s > 0.0;
            if (row->fate == FATE_BOUND)
                assert_true(row->least_s > s->leaders[0].step_s && row->pass_s == 0.0);
        }
        assert_true(s->counts.considered == considered && s->counts.timed == timed);
        search_destroy(s);
        scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_the_head_of_all),
        cmocka_unit_test(what_is_not_timed_cannot_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
