/* The smallest cluster against trying everything: each size, each tp and pp, by the rules and the
 * ledger alone; for every sharding and cards of several sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lower_case.h"
#include "models/fit/minimum.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/step.h"

enum {
    NODE = 4,
    LIMIT = 16
};

static struct configuration wide_case(void)
{
    struct configuration c = lower_case();
    c.model.hidden = 512;
    c.model.head_size = 64;
    c.model.ffn_hidden = 2048;
    c.model.vocabulary = 8192;
    c.cluster.node.installed_gpus = NODE;
    c.cluster.node.nics = NODE;
    return c;
}

/* One layout on so many GPUs: whole nodes beyond the first, a batch of pp microbatches a replica.
 */
static bool fits(struct configuration c, uint64_t gpus, uint64_t tp, uint64_t pp)
{
    struct step_options options = {.memory_only = true};
    struct error error;
    struct step *step = NULL;
    lower_case_size(&c, tp, 1, gpus / tp / pp, pp, pp);
    c.cluster.node.gpus = gpus < NODE ? gpus : NODE;
    c.cluster.nodes = gpus < NODE ? 1 : gpus / NODE;
    c.layout.sequence_parallel = c.layout.sequence_parallel && tp > 1;
    if (lower_case_errors(&c) > 0 || !step_run(&c, &options, &step, &error)) {
        return false;
    }
    bool result = step->fits;
    step_destroy(step);
    return result;
}

static uint64_t by_trying(const struct configuration *c)
{
    for (uint64_t gpus = 1; gpus <= LIMIT; gpus++) {
        if (gpus > NODE && gpus % NODE != 0) {
            continue;
        }
        for (uint64_t tp = 1; tp <= NODE; tp++) {
            for (uint64_t pp = 1; pp <= c->model.layers; pp++) {
                if (gpus % (tp * pp) == 0 && fits(*c, gpus, tp, pp)) {
                    return gpus;
                }
            }
        }
    }
    return 0;
}

static void test_against_trying(void **state)
{
    (void)state;
    static const double cards_bytes[] = {1000e6, 500e6, 250e6, 180e6, 120e6, 80e6, 60e6};
    unsigned found = 0, none = 0, beyond_a_node = 0;
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (unsigned i = 0; i < sizeof cards_bytes / sizeof *cards_bytes; i++) {
            struct configuration c = wide_case();
            c.layout.sharding = sharding_kinds[k];
            c.gpu.usable_hbm_bytes = cards_bytes[i];
            uint64_t expected = by_trying(&c);
            assert_int_equal(minimum_gpus(&c, LIMIT), expected);
            found += expected > 0;
            none += expected == 0;
            beyond_a_node += expected > NODE;
        }
    }
    assert_true(found > 10 && none > 2 && beyond_a_node > 2);
}

/* A model that fits one card does so whatever is sharded, by default groups of a node too; what the
 * context takes, it has not. */
static void test_one_card(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        struct configuration c = wide_case();
        c.layout.sharding = sharding_kinds[k];
        c.gpu.usable_hbm_bytes = 2e9;
        assert_int_equal(minimum_gpus(&c, LIMIT), 1);
        assert_int_equal(minimum_gpus(&c, 0), 0);
        c.gpu.context_bytes = 2e9;
        assert_int_equal(minimum_gpus(&c, LIMIT), 0);
    }
}

/* A block of 2,046 is not to be split in four: what would fit so does not count. */
static void test_rules_are_kept(void **state)
{
    (void)state;
    static const double cards_bytes[] = {109e6, 81e6, 60e6};
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (unsigned i = 0; i < sizeof cards_bytes / sizeof *cards_bytes; i++) {
            struct configuration c = wide_case();
            c.layout.sharding = sharding_kinds[k];
            c.gpu.usable_hbm_bytes = cards_bytes[i];
            c.model.ffn_hidden = 2046;
            assert_int_equal(minimum_gpus(&c, LIMIT), by_trying(&c));
        }
    }
}

/* The scenario's own layout does not matter: chunks, ends, faults and ranks are set aside. */
static void test_own_layout_is_set_aside(void **state)
{
    (void)state;
    struct configuration c = wide_case();
    c.gpu.usable_hbm_bytes = 250e6;
    c.layout.sharding = &sharding_zero_1;
    uint64_t expected = by_trying(&c);
    assert_true(expected > 1);
    lower_case_size(&c, 2, 2, 2, 2, 4);
    c.layout.schedule = &schedule_interleaved;
    c.layout.vpp = 2;
    c.layout.first_stage_layers = 3;
    c.layout.sequence_parallel = true;
    assert_int_equal(minimum_gpus(&c, LIMIT), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_trying),
        cmocka_unit_test(test_one_card),
        cmocka_unit_test(test_rules_are_kept),
        cmocka_unit_test(test_own_layout_is_set_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
