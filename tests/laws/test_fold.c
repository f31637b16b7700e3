/* Law: folded and unfolded plays of a step are the same, bit for bit: every time of every op of
 * every rank, the parts of its breakdown, and the digest. Pairwise over node kind, fabric kind and
 * options, layout, schedule, sharding, recompute, software, and over a slow GPU, a degraded link
 * and jitter. */
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_fold.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

static void pairwise_cases_fold(void **state)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    unsigned faults = 0, folded = 0;
    for (unsigned i = 0; i < cover.count; i++) {
        struct fold_report report;
        if (!law_fold_holds(&cover.cases[i], RANK_MAX, true, &report)) {
            print_message("%s: %s\n", report.description, report.fault);
            faults++;
        }
        folded += report.class_count < report.rank_count;
    }
    print_message("%u cases, %u pairs (%u impossible), %u folded\n", cover.count, cover.pairs,
                  cover.impossible, folded);
    assert_int_equal(faults, 0);
    assert_true(4 * folded > cover.count); /* most cases must have something to fold */
    arena_destroy(arena);
}

/* Weights that are no multiples of 2^-24 once they are made relative, on shared links of a ring of
 * nodes: rates of summed loads must still be those of single ones. */
static void odd_weights_fold(void **state)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2,
                                   [LAW_TP] = 1,
                                   [LAW_PP] = 1,
                                   [LAW_DP] = 2,
                                   [LAW_CP] = 3,
                                   [LAW_SEQUENCE_PARALLEL] = 1,
                                   [LAW_PLACEMENT] = 1,
                                   [LAW_SOFTWARE] = 1}};
    unsigned played = 0;
    for (; k.level[LAW_FABRIC] < law_level_count(LAW_FABRIC, RANK_MAX); k.level[LAW_FABRIC]++) {
        for (unsigned s = 0; s < law_level_count(LAW_SHARDING, RANK_MAX); s++) {
            struct law_setup setup;
            struct fold_report report;
            k.level[LAW_SHARDING] = (uint8_t)s;
            if (!law_configure(&k, 48, &setup))
                continue;
            const bool holds = law_fold_holds(&k, 48, false, &report);
            if (!holds)
                print_message("%s: %s\n", report.description, report.fault);
            assert_true(holds);
            played++;
        }
    }
    assert_true(played > 0);
}

/* Ranks that come last together, by other ways and in other classes: whom a wait is put down to
 * must not hang on which rank stands for its class. */
static void waits_for_ties_fold(void **state)
{
    struct law_case k = {.level = {[LAW_TP] = 2,
                                   [LAW_PP] = 3,
                                   [LAW_DP] = 2,
                                   [LAW_VPP] = 1,
                                   [LAW_RECOMPUTE] = 1,
                                   [LAW_SEQUENCE_PARALLEL] = 1,
                                   [LAW_ORDER] = 1,
                                   [LAW_SOFTWARE] = 2,
                                   [LAW_TROUBLE] = LAW_STRAGGLER}};
    unsigned played = 0;
    for (; k.level[LAW_FABRIC] < law_level_count(LAW_FABRIC, 48); k.level[LAW_FABRIC]++) {
        for (unsigned s = 0; s < law_level_count(LAW_SCHEDULE, 48); s++) {
            struct law_setup setup;
            struct fold_report report;
            k.level[LAW_SCHEDULE] = (uint8_t)s;
            if (!law_configure(&k, 48, &setup))
                continue;
            const bool holds = law_fold_holds(&k, 48, false, &report);
            if (!holds)
                print_message("%s: %s\n", report.description, report.fault);
            assert_true(holds);
            played++;
        }
    }
    assert_true(played > 0);
}

/* tp 2, dp 4 on two nodes of four, one GPU slow: three of four replicas are still alike. */
static const struct law_case slow_case = {
    .level = {[LAW_GPUS] = 1, [LAW_TP] = 1, [LAW_DP] = 2, [LAW_TROUBLE] = LAW_STRAGGLER}};

static void begin_slow(struct law_setup *setup, struct law_play *p)
{
    struct law_case k = slow_case;
    while (!law_configure(&k, RANK_MAX, setup)) /* a fabric that joins nodes */
        assert_true(++k.level[LAW_FABRIC] < law_level_count(LAW_FABRIC, RANK_MAX));
    law_begin(p, &setup->c);
    lower(p->arena, &setup->c, &p->lowered);
}

static void play_slow_unfolded(struct law_setup *setup, struct law_play *p)
{
    begin_slow(setup, p);
    law_fold(p, true);
    law_run(p);
}

/* A class merged wrongly: the refinement does not know who is slow, and all its class is. */
static void a_wrong_class_is_seen(void **state)
{
    struct law_setup setup[2];
    struct law_play right, wrong;
    char text[200];
    play_slow_unfolded(&setup[0], &right);
    begin_slow(&setup[1], &wrong);
    const struct perturbation slow = setup[1].perturbations[0];
    setup[1].c.perturbation_count = 0;
    law_fold(&wrong, false);
    for (uint32_t r = 0; r < wrong.lowered.rank_count; r++)
        if (wrong.layout.gpu_of_rank[r] == slow.gpu)
            wrong.symmetry.ranks[law_class(&wrong, r)].speed_ratio = slow.ratio;
    law_run(&wrong);
    assert_non_null(law_difference(&right, &wrong, text));
    assert_true(law_digest(&right) != law_digest(&wrong));
    law_end(&right);
    law_end(&wrong);
}

/* One transfer a little late in one class: its plan's latency is 2 ns off. */
static void a_perturbed_plan_is_seen(void **state)
{
    struct law_setup setup[2];
    struct law_play right, wrong;
    char text[200];
    play_slow_unfolded(&setup[0], &right);
    begin_slow(&setup[1], &wrong);
    law_fold(&wrong, false);
    assert_true(wrong.symmetry.plan_count > 0);
    wrong.symmetry.plans[0].latency_s += 2e-9;
    law_run(&wrong);
    assert_non_null(law_difference(&right, &wrong, text));
    law_end(&right);
    law_end(&wrong);
}

/* The first op that waits for a transfer no longer waits. */
static void a_lost_wait_is_seen(void **state)
{
    struct law_setup setup[2];
    struct law_play right, wrong;
    char text[200];
    play_slow_unfolded(&setup[0], &right);
    begin_slow(&setup[1], &wrong);
    struct program *program = wrong.lowered.programs[0];
    bool lost = false;
    uint32_t was = OP_NONE, op = 0;
    for (uint32_t i = 0; i < program->op_count && !lost; i++) {
        was = program->ops[i].wait[0];
        lost = program->ops[i].kind == OP_COMPUTE && was != OP_NONE &&
               program->ops[was - 1].kind == OP_COLLECTIVE;
        op = i;
    }
    assert_true(lost);
    program->ops[op].wait[0] = OP_NONE;
    law_fold(&wrong, false);
    law_run(&wrong);
    assert_non_null(law_difference(&right, &wrong, text));
    program->ops[op].wait[0] = was; /* by the book the order is broken now */
    assert_null(law_order_fault(&right, text));
    assert_non_null(law_order_fault(&wrong, text));
    law_end(&right);
    law_end(&wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairwise_cases_fold),      cmocka_unit_test(odd_weights_fold),
        cmocka_unit_test(waits_for_ties_fold),      cmocka_unit_test(a_wrong_class_is_seen),
        cmocka_unit_test(a_perturbed_plan_is_seen), cmocka_unit_test(a_lost_wait_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
