/* The smallest cluster against trying everything: each size, each tp, cp and pp, by the rules and
 * the ledger alone; for every sharding and cards of several sizes. */
#include <math.h>

#include "models/plan/choice_keys.h"
#include "models/plan/minimum.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

enum {
    NODE = 4,
    LIMIT = 16,
    BATCH = 48 /* every dp of whole nodes divides it */
};

static struct configuration wide_case(void)
{
    struct configuration c = lower_case();
    c.model.hidden = 512;
    c.model.attention.head_size = 64;
    c.model.ffn_hidden = 2048;
    c.model.vocabulary = 8192;
    c.cluster.node.installed_gpus = NODE;
    c.cluster.node.nic.count = NODE;
    c.training.global_batch = BATCH;
    return c;
}

/* One layout on so many GPUs: whole nodes beyond the first, the batch of the scenario. */
static bool fits(struct configuration c, uint64_t gpus, uint64_t tp, uint64_t cp, uint64_t pp)
{
    struct step_options options = {.memory_only = true};
    struct error error;
    struct step *step = NULL;
    const uint64_t batch = c.training.global_batch, dp = gpus / tp / cp / pp;
    if (batch % (dp * c.layout.microbatch) != 0)
        return false;
    lower_case_size(&c, tp, cp, dp, pp, batch / dp / c.layout.microbatch);
    c.cluster.node.gpus = gpus < NODE ? gpus : NODE;
    c.cluster.nodes = gpus < NODE ? 1 : gpus / NODE;
    c.layout.sequence_parallel = c.layout.sequence_parallel && tp > 1;
    if (lower_case_errors(&c) > 0 || !step_run(&c, &options, &step, &error))
        return false;
    bool result = step->fits;
    step_destroy(step);
    return result;
}

static uint64_t by_trying(const struct configuration *c)
{
    for (uint64_t gpus = 1; gpus <= LIMIT; gpus++) {
        if (gpus > NODE && gpus % NODE != 0)
            continue;
        for (uint64_t tp = 1; tp <= NODE; tp++) {
            for (uint64_t pp = 1; pp <= c->model.layers; pp++) {
                for (uint64_t cp = 1; tp * pp * cp <= gpus; cp *= 2)
                    if (gpus % (tp * pp * cp) == 0 && fits(*c, gpus, tp, cp, pp))
                        return gpus;
            }
        }
    }
    return 0;
}

static void test_against_trying(void **state)
{
    static const double cards_bytes[] = {1000e6, 500e6, 250e6, 180e6, 120e6, 80e6, 60e6};
    unsigned found = 0, none = 0, beyond_a_node = 0;
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (unsigned i = 0; i < sizeof cards_bytes / sizeof *cards_bytes; i++) {
            struct configuration c = wide_case();
            c.layout.data.sharding = sharding_kinds[k];
            c.gpu.hbm.usable_bytes = cards_bytes[i];
            uint64_t expected = by_trying(&c);
            c.cluster.gpus =
                i % 2 == 1 ? NODE + 1 : 0; /* of the scenario, the last node with one */
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), expected);
            found += expected > 0;
            none += expected == 0;
            beyond_a_node += expected > NODE;
        }
    }
    assert_true(found > 10 && none > 2 && beyond_a_node > 2);
}

/* The optimizer's state lies in the memory of the CPUs: too little of it asks for more nodes,
 * although each card has room for all. */
static void test_hosts_against_trying(void **state)
{
    static const double hosts_bytes[] = {400e6, 200e6, 100e6, 50e6, 25e6};
    unsigned found = 0, none = 0, beyond_a_node = 0;
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < sizeof hosts_bytes / sizeof *hosts_bytes; i++) {
            struct configuration c = wide_case();
            struct node_host *host = &c.cluster.node.host;
            c.layout.data.sharding = sharding_kinds[k + 1];
            c.layout.offload.optimizer = 1.0;
            c.cluster.node.pcie.bytes_per_s = 32e9;
            host->dram_bytes_per_s = 200e9;
            host->dram_ratio = 0.8;
            host->memory_bytes = hosts_bytes[i];
            const uint64_t expected = by_trying(&c);
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), expected);
            found += expected > 0;
            none += expected == 0;
            beyond_a_node += expected > NODE;
        }
    }
    assert_true(found > 2 && none > 0 && beyond_a_node > 0);
}

/* Keys that are kept where they are stated: those of experts only where there are any. */
static void test_held_keys(void **state)
{
    struct configuration c = wide_case();
    const unsigned dense = minimum_held(&c, 0), share = 1u << CHOICE_EP | 1u << CHOICE_ETP;
    assert_true((dense & share) == 0 && dense != 0);
    assert_int_equal(minimum_held(&c, dense), 0);
    assert_int_equal(dense & (1u << CHOICE_TP | 1u << CHOICE_PP | 1u << CHOICE_CP), 0);
    c.model.moe.experts = 4;
    assert_int_equal(minimum_held(&c, 0), dense | share);
}

/* A model that fits one card does so whatever is sharded, by default groups of a node too; what the
 * context takes, it has not. */
static void test_one_card(void **state)
{
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        struct configuration c = wide_case();
        c.layout.data.sharding = sharding_kinds[k];
        c.gpu.hbm.usable_bytes = 2e9;
        assert_int_equal(minimum_gpus(&c, 0, LIMIT), 1);
        assert_int_equal(minimum_gpus(&c, 0, 0), 0);
        c.gpu.hbm.context_bytes = 2e9;
        assert_int_equal(minimum_gpus(&c, 0, LIMIT), 0);
    }
}

/* A block of 2,046 is not to be split in four: what would fit so does not count. */
static void test_rules_are_kept(void **state)
{
    static const double cards_bytes[] = {109e6, 81e6, 60e6};
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (unsigned i = 0; i < sizeof cards_bytes / sizeof *cards_bytes; i++) {
            struct configuration c = wide_case();
            c.layout.data.sharding = sharding_kinds[k];
            c.gpu.hbm.usable_bytes = cards_bytes[i];
            c.model.ffn_hidden = 2046;
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), by_trying(&c));
            c.model.attention.kv_heads = 2; /* repeated on four ranks: a warning before the error */
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), by_trying(&c));
        }
    }
}

/* What the allocator reserves can grow with dp although less is allocated: dp 3 of 12 cards holds
 * what dp 4 of 16 does not (tp 4: segments of 20 MiB fall otherwise), which says nothing of 12. */
static void test_a_larger_size_proves_little(void **state)
{
    static const struct {
        const struct sharding_kind *sharding;
        double card_bytes;
        uint64_t layers;
        bool tied, full;
    } cases[] = {
        {&sharding_zero_1, 82030300, 4, false, false},
        {&sharding_zero_2, 75783317, 4, false, false},
        {&sharding_zero_2, 77298984, 6, true, false},
        {&sharding_fsdp, 96111570, 4, false, true},
        {&sharding_zero_2, 92379441, 6, true, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = wide_case();
        c.layout.data.sharding = cases[i].sharding;
        c.gpu.hbm.usable_bytes = cases[i].card_bytes;
        c.model.layers = cases[i].layers;
        c.model.tied_embeddings = cases[i].tied;
        if (cases[i].full) {
            c.layout.recompute = RECOMPUTE_FULL;
            c.layout.sequence_parallel = true;
            c.software.memory.communicator_bytes = 8e6;
        }
        assert_int_equal(by_trying(&c), 12);
        assert_int_equal(minimum_gpus(&c, 0, LIMIT), 12);
    }
}

/* Shard groups of two or three replicas: too few replicas, and those that are no whole groups,
 * break a rule, at the largest size too; what the second group's communicator takes, the first has.
 */
static void test_shard_groups(void **state)
{
    unsigned found[LIMIT + 1] = {0};
    for (uint64_t group = 2; group <= 3; group++) {
        for (double card_bytes = 80e6; card_bytes < 320e6; card_bytes *= 1.05) {
            struct configuration c = wide_case();
            c.layout.data.sharding = &sharding_hsdp;
            c.layout.data.shard_group = group;
            c.gpu.hbm.usable_bytes = card_bytes;
            c.software.memory.communicator_bytes = 40e6;
            uint64_t expected = by_trying(&c);
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), expected);
            found[expected]++;
        }
    }
    assert_true(found[0] > 0 && found[8] > 0 && found[12] > 0);
}

/* Where nothing fits, thirty thousand sizes are soon looked through: no layout is asked again. With
 * ten times as many layouts of eight times as many sizes there are too many to try. */
static void test_what_never_fits_is_known(void **state)
{
    struct configuration c = wide_case();
    c.gpu.hbm.usable_bytes = 60e6;
    assert_int_equal(by_trying(&c), 0);
    assert_int_equal(minimum_gpus(&c, 0, 1 << 17), 0);
    c.model.layers = 40;
    assert_int_equal(minimum_gpus(&c, 0, 1 << 20), MINIMUM_UNKNOWN);
}

enum {
    OWN_SIZE,
    OWN_MICROBATCH,
    OWN_FIRST_STAGE,
    OWN_LAST_STAGE,
    OWN_CHUNKS,
    OWN_SEQUENCE,
    OWN_COUNT
};

/* The scenario's own layout does not matter: ranks, ends and chunks are set aside; sequences
 * in a microbatch and sequence parallelism stay. */
static void test_own_layout_is_set_aside(void **state)
{
    for (int own = 0; own < OWN_COUNT; own++) {
        for (double card_bytes = 80e6; card_bytes < 400e6; card_bytes *= 1.1) {
            struct configuration c = wide_case();
            c.gpu.hbm.usable_bytes = card_bytes;
            c.layout.data.sharding = &sharding_zero_1;
            c.layout.sequence_parallel = own == OWN_SEQUENCE;
            c.layout.microbatch = own == OWN_MICROBATCH ? 2 : 1;
            const uint64_t expected = by_trying(&c);
            lower_case_size(&c, 2, 2, 2, 2, 4);
            c.training.global_batch = BATCH;
            c.layout.pipeline.first_layers = own == OWN_FIRST_STAGE ? 3 : 0;
            c.layout.pipeline.last_layers = own == OWN_LAST_STAGE ? 3 : 0;
            c.layout.pipeline.schedule =
                own == OWN_CHUNKS ? &schedule_interleaved : c.layout.pipeline.schedule;
            c.layout.pipeline.vpp = own == OWN_CHUNKS ? 2 : 1;
            assert_int_equal(minimum_gpus(&c, 0, LIMIT), expected);
        }
    }
}

/* Does one card of so many bytes hold a step of these microbatches? */
static bool one_card_holds(struct configuration c, double usable_bytes, uint64_t microbatches)
{
    struct step_options options = {.memory_only = true};
    struct error error;
    struct step *step = NULL;
    c.gpu.hbm.usable_bytes = usable_bytes;
    lower_case_size(&c, 1, 1, 1, 1, microbatches);
    c.cluster.node.gpus = c.cluster.nodes = 1;
    c.layout.sequence_parallel = false;
    assert_true(step_run(&c, &options, &step, &error));
    const bool result = step->fits;
    step_destroy(step);
    return result;
}

/* What holds one microbatch need not hold the gradients of the second beside the sum: a card that
 * does is enough for a batch of one, not for one of two. */
static void test_gradients_add_up(void **state)
{
    unsigned between = 0;
    struct configuration c = wide_case();
    c.software.data.gradients = GRADIENT_TENSOR;
    c.layout.microbatch = 8; /* activations beside which gradients are not small change */
    for (double bytes = 4e9; bytes > 2e8; bytes *= 0.93) {
        const bool one = one_card_holds(c, bytes, 1), two = one_card_holds(c, bytes, 2);
        between += one && !two;
        c.gpu.hbm.usable_bytes = bytes;
        c.training.global_batch = 8;
        assert_true((minimum_gpus(&c, 0, LIMIT) == 1) == one);
        c.training.global_batch = 16;
        assert_true((minimum_gpus(&c, 0, LIMIT) == 1) == two);
    }
    assert_true(between > 0);
}

/* The batch is the scenario's own: sizes that do not divide it do not count, and an order that
 * wants more microbatches than stages has them. */
static void test_own_batch(void **state)
{
    static const uint64_t batches[] = {1, 2, 5, 6, 20};
    static const struct schedule_kind *const orders[] = {&schedule_one_f_one_b, &schedule_gpipe,
                                                         &schedule_dualpipe};
    unsigned found = 0, otherwise = 0;
    for (unsigned i = 0; i < sizeof batches / sizeof *batches; i++) {
        for (unsigned k = 0; k < sizeof orders / sizeof *orders; k++) {
            for (double card_bytes = 80e6; card_bytes < 1000e6; card_bytes *= 1.3) {
                struct configuration c = wide_case();
                c.layout.data.sharding = &sharding_zero_1;
                c.layout.pipeline.schedule = orders[k];
                c.layout.pipeline.vpp = orders[k] == &schedule_dualpipe ? 2 : 1;
                c.gpu.hbm.usable_bytes = card_bytes;
                c.training.global_batch = batches[i];
                const uint64_t expected = by_trying(&c), is = minimum_gpus(&c, 0, LIMIT);
                assert_int_equal(is, expected);
                found += expected > 0;
                c.training.global_batch = BATCH;
                otherwise += is != minimum_gpus(&c, 0, LIMIT);
            }
        }
    }
    assert_true(found > 20 && otherwise > 10);
}

/* ZeRO (Rajbhandari and others, arXiv:1910.02054, section 3.1): 2 bytes of weights in 16 bits and
 * K = 12 of the optimizer, AdamW's copy and moments in 32. What is offloaded is on no card. */
static void test_bytes_of_state(void **state)
{
    struct configuration c = lower_case();
    for (unsigned quarters = 0; quarters <= 4; quarters++) {
        double weight, gradient, optimizer;
        c.layout.offload.optimizer = quarters / 4.0;
        trial_state_bytes(&c, &weight, &gradient, &optimizer);
        assert_true(weight == 2.0 && gradient == c.training.precision->gradient_bytes);
        assert_true(optimizer == 12.0 - 3.0 * quarters);
    }
}

/* Beside frozen weights of 16 bits an adapter has the whole state of its own parameters. */
static void test_bytes_of_adapters(void **state)
{
    struct configuration c = lower_case();
    double weight[2], gradient[2], optimizer[2];
    trial_state_bytes(&c, &weight[0], &gradient[0], &optimizer[0]);
    c.training.adapter = (struct adapter_spec){.kind = ADAPTER_LORA, .rank = 1};
    const double share = configuration_adapter_parameters(&c) /
                         transformer_parameters(&c.model, c.training.sequence);
    assert_true(share > 0.0 && share < 1.0);
    trial_state_bytes(&c, &weight[1], &gradient[1], &optimizer[1]);
    assert_true(fabs(weight[1] - 2.0 - share * weight[0]) < 1e-12);
    assert_true(fabs(gradient[1] - share * gradient[0]) < 1e-12);
    assert_true(fabs(optimizer[1] - share * optimizer[0]) < 1e-12);
}

/* Nothing is different on cards that are all alike; one slow card, or noise, makes it so. */
static void test_what_differs(void **state)
{
    struct perturbation slow = {.what = PERTURB_GPU_SPEED, .ratio = 0.9};
    struct configuration c = lower_case();
    assert_false(trial_differs(&c));
    c.perturbations = &slow;
    c.perturbation_count = 1;
    assert_true(trial_differs(&c));
    c.perturbation_count = 0;
    c.kernel_jitter_sigma = 0.01;
    assert_true(trial_differs(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_state),
        cmocka_unit_test(test_bytes_of_adapters),
        cmocka_unit_test(test_what_differs),
        cmocka_unit_test(test_against_trying),
        cmocka_unit_test(test_hosts_against_trying),
        cmocka_unit_test(test_held_keys),
        cmocka_unit_test(test_one_card),
        cmocka_unit_test(test_rules_are_kept),
        cmocka_unit_test(test_a_larger_size_proves_little),
        cmocka_unit_test(test_shard_groups),
        cmocka_unit_test(test_what_never_fits_is_known),
        cmocka_unit_test(test_own_layout_is_set_aside),
        cmocka_unit_test(test_gradients_add_up),
        cmocka_unit_test(test_own_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
