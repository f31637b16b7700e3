/* Law: the same configuration and seed give the same bytes, again and on any number of threads;
 * another seed gives other jitter; what one GPU draws does not depend on which others there are. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/pool.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    RANK_MAX = 8,
    CASE_COUNT = 48
};

static uint64_t digest_of(const struct configuration *c)
{
    const struct step_options options = {.ignore_memory = true};
    struct step *step;
    struct error error;
    const bool ran = step_run(c, &options, &step, &error);
    CHECK(ran);
    const uint64_t digest = step->digest;
    step_destroy(step);
    return digest;
}

struct batch {
    const struct law_case *cases;
    uint64_t digests[CASE_COUNT];
};

static void run_case(void *context, size_t index)
{
    struct batch *batch = context;
    struct law_setup setup;
    const bool legal = law_configure(&batch->cases[index], RANK_MAX, &setup);
    CHECK(legal);
    batch->digests[index] = digest_of(&setup.c);
}

/* Cases far apart in the cover, so that every factor varies. */
static void choose(struct arena *arena, struct law_case cases[CASE_COUNT])
{
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    assert_true(cover.count >= CASE_COUNT);
    for (unsigned i = 0; i < CASE_COUNT; i++)
        cases[i] = cover.cases[(size_t)i * cover.count / CASE_COUNT];
}

static void threads_change_nothing(void **state)
{
    struct arena *arena = arena_create();
    struct law_case cases[CASE_COUNT];
    choose(arena, cases);
    struct batch alone = {.cases = cases};
    for (size_t i = 0; i < CASE_COUNT; i++)
        run_case(&alone, i);
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
        struct batch batch = {.cases = cases};
        pool_run(threads, CASE_COUNT, run_case, &batch);
        assert_memory_equal(batch.digests, alone.digests, sizeof alone.digests);
    }
    uint64_t all = 0; /* the same line on every compiler and at every optimisation level */
    for (unsigned i = 0; i < CASE_COUNT; i++)
        all = digest_join(all, i, alone.digests[i]);
    print_message("all cases: %016" PRIx64 "\n", all);
    unsigned different = 0; /* the digest tells cases apart: equal ones are no accident */
    for (unsigned i = 1; i < CASE_COUNT; i++)
        different += alone.digests[i] != alone.digests[0];
    assert_int_equal(different, CASE_COUNT - 1);
    arena_destroy(arena);
}

static void seeds_move_jitter_alone(void **state)
{
    for (unsigned trouble = 0; trouble < LAW_TROUBLE_COUNT; trouble++) {
        const struct law_case k = {
            .level = {
                [LAW_TP] = 1, [LAW_PP] = 1, [LAW_GPUS] = 1, [LAW_TROUBLE] = (uint8_t)trouble}};
        struct law_setup setup;
        assert_true(law_configure(&k, RANK_MAX, &setup));
        const uint64_t first = digest_of(&setup.c);
        assert_true(digest_of(&setup.c) == first);
        setup.c.seed++;
        assert_true((digest_of(&setup.c) == first) == (trouble != LAW_JITTER));
    }
}

/* dp 2 or 4 of the same work for each replica, jittered. */
static void play_replicas(struct law_setup *setup, struct law_play *p, uint8_t level)
{
    struct law_case k = {
        .level = {[LAW_GPUS] = (uint8_t)(level - 1), [LAW_DP] = level, [LAW_TROUBLE] = LAW_JITTER}};
    assert_true(law_configure(&k, RANK_MAX, setup));
    setup->c.perturbation_count = 0;
    law_begin(p, &setup->c);
    lower(p->arena, &setup->c, &p->lowered);
    law_fold(p, false);
    law_run(p);
}

/* Do rank a of one play and rank b of another draw the same factors for their compute? */
static bool draws_alike(const struct law_play *p, uint32_t a, const struct law_play *q, uint32_t b)
{
    const struct program *x = law_program(p, a), *y = law_program(q, b);
    assert_int_equal(x->op_count, y->op_count);
    for (uint32_t i = 0; i < x->op_count; i++) {
        const double x_s = x->ops[i].kind == OP_COMPUTE ? x->costs[x->ops[i].cost].gpu_s : 0.0;
        const double y_s = y->ops[i].kind == OP_COMPUTE ? y->costs[y->ops[i].cost].gpu_s : 0.0;
        if (x_s == 0.0 || y_s == 0.0)
            continue;
        const struct op_times s = law_times(p, a, i), t = law_times(q, b, i);
        const double ratio = (s.finish_s - s.begin_s) / x_s * y_s / (t.finish_s - t.begin_s);
        if (!(fabs(ratio - 1.0) <= 1e-6)) /* durations are differences of times; sigma is 5 % */
            return false;
    }
    return true;
}

static void more_gpus_move_nobodys_draws(void **state)
{
    struct law_setup setup[2];
    struct law_play few, many;
    play_replicas(&setup[0], &few, 1);
    play_replicas(&setup[1], &many, 2);
    assert_int_equal(few.lowered.rank_count, 2);
    assert_int_equal(many.lowered.rank_count, 4);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_true(draws_alike(&few, rank, &many, rank));
    assert_false(draws_alike(&few, 0, &many, 1)); /* each has its own */
    assert_false(draws_alike(&few, 0, &few, 1));
    law_end(&few);
    law_end(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(seeds_move_jitter_alone),
        cmocka_unit_test(more_gpus_move_nobodys_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
