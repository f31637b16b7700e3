/* Law: the outcome of a step does not depend on whether bundles of classes or the classes were
 * played. Random scenarios, slow cards and weak links among them, of which some bundles part. */
#include <string.h>

#include "models/step/simulate/step.h"
#include "tests/laws/random_scenario.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
    SCENARIOS = 900
};

static struct step *play(const struct configuration *c, bool outcome_only)
{
    const struct step_options options = {.time_only = true, .outcome_only = outcome_only};
    struct step *step = NULL;
    struct error error;
    assert_true(step_run(c, &options, &step, &error));
    return step;
}

struct seen {
    unsigned bundled, parted, classes, all;
};

/* How many classes stand in bundles; 0: there are none. */
static uint32_t bundles_of(const struct step *step)
{
    struct arena *arena = arena_create();
    struct symmetry_bundles bundles;
    const bool any = symmetry_bundle(arena, &step->symmetry, &step->lowered, &bundles);
    const uint32_t count = bundles.symmetry.rank_class_count;
    arena_destroy(arena);
    return any ? count : 0;
}

static bool is_same(const struct step *a, const struct step *b)
{
    return memcmp(&a->step_s, &b->step_s, sizeof a->step_s) == 0 &&
           memcmp(&a->rates, &b->rates, sizeof a->rates) == 0 &&
           memcmp(a->parts.breakdown_s, b->parts.breakdown_s, sizeof a->parts.breakdown_s) == 0;
}

static bool holds_of(const struct configuration *c, struct seen *seen)
{
    struct step *whole = play(c, false), *outcome = play(c, true);
    const bool same = is_same(whole, outcome);
    const uint32_t bundles = c->kernel_jitter_sigma > 0.0 ? 0 : bundles_of(whole);
    assert_true(outcome->worker == NULL && outcome->digest == 0 && whole->digest != 0);
    seen->all++;
    seen->classes += bundles == 0;
    seen->bundled += bundles > 0 && outcome->counts.classes == bundles;
    seen->parted += bundles > 0 && outcome->counts.classes == whole->counts.classes;
    assert_true(bundles == 0 || outcome->counts.classes == bundles ||
                outcome->counts.classes == whole->counts.classes);
    step_destroy(whole);
    step_destroy(outcome);
    return same;
}

static void bundles_change_no_outcome(void **state)
{
    struct seen seen = {0};
    unsigned faults = 0;
    for (uint64_t number = 0; number < SCENARIOS; number += SANITIZED_EVERY(7)) {
        struct scenario *scenario = random_scenario(number);
        if (scenario == NULL)
            continue;
        if (!holds_of(&scenario->configuration, &seen)) {
            print_message("scenario %u: another outcome\n", (unsigned)number);
            faults++;
        }
        scenario_destroy(scenario);
    }
    print_message("%u scenarios: %u in bundles, %u parted, %u without\n", seen.all, seen.bundled,
                  seen.parted, seen.classes);
    assert_int_equal(faults, 0);
    assert_true(seen.bundled > 2 * seen.parted && seen.parted > 0 && seen.classes > 0);
}

static uint64_t ops_of(const struct step *step, const struct symmetry *symmetry)
{
    uint64_t ops = 0;
    for (uint32_t i = 0; i < symmetry->rank_class_count; i++)
        ops += step->lowered.programs[symmetry->ranks[i].program]->op_count;
    return ops;
}

/* Who asks to be brief has what is soon played, and that is the bundles where there are such: the
 * outcome of the step to the bit. */
static void brief_asks_what_is_played(void **state)
{
    static const char text[] =
        "model: {preset: llama3-405b, vocabulary: 32000}\n"
        "cluster: {gpu: gb200-186gb, gpus: 2112}\n"
        "training: {sequence: 8192, global_batch: 4224, precision: fp8}\n"
        "layout: {tp: 4, pp: 8, cp: 2, vpp: 8, microbatch: 1, schedule: interleaved,\n"
        "  recompute: none, sharding: zero-1, sequence_parallel: true}\nsoftware: nemo\n";
    const uint64_t soon_ops = 1u << 21; /* models/step/simulate/step.c */
    struct error error = {""};
    struct scenario *s = scenario_read("law.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    struct step *whole = play(&s->configuration, false), *brief = NULL;
    struct arena *arena = arena_create();
    struct symmetry_bundles bundles;
    assert_true(symmetry_bundle(arena, &whole->symmetry, &whole->lowered, &bundles));
    const struct step_options options = {.time_only = true, .outcome_only = true, .brief = true};
    assert_true(step_run(&s->configuration, &options, &brief, &error));
    assert_true(ops_of(whole, &whole->symmetry) > soon_ops);
    assert_true(ops_of(whole, &bundles.symmetry) <= soon_ops);
    assert_true(is_same(whole, brief));
    arena_destroy(arena);
    step_destroy(brief);
    step_destroy(whole);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundles_change_no_outcome),
        cmocka_unit_test(brief_asks_what_is_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
