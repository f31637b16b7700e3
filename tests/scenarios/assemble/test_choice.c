/* What is chosen where a scenario says nothing: the rules one by one, the reasons that are told;
 * what is given is never changed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "tests/scenarios/assemble/choice.h"
#include "tests/test.h"

static const struct made_choice *choice_of(const struct scenario *s, enum choice_key key)
{
    const struct made_choice *found = NULL;
    for (unsigned i = 0; i < s->choices.count; i++)
        if (s->choices.rows[i].key == key)
            found = &s->choices.rows[i];
    return found;
}

static const char *value_of(const struct scenario *s, enum choice_key key)
{
    const struct made_choice *one = choice_of(s, key);
    return one != NULL ? one->value : "nothing";
}

/* One layer less would not do. */
static void least_layers(const struct scenario *s)
{
    struct configuration c = s->configuration;
    char count[24];
    bool fits;
    if (c.layout.recompute != RECOMPUTE_BLOCK) {
        assert_int_equal(c.layout.recompute_layers, 0);
        assert_string_equal(value_of(s, CHOICE_RECOMPUTE_LAYERS), "nothing");
        return;
    }
    snprintf(count, sizeof count, "%u", (unsigned)c.layout.recompute_layers);
    assert_string_equal(value_of(s, CHOICE_RECOMPUTE_LAYERS), count);
    assert_true(--c.layout.recompute_layers > 0);
    choice_step_s(&c, &fits);
    assert_false(fits);
}

/* More is recomputed only where less does not fit. */
static void test_the_least_recomputation(void **state)
{
    static const struct {
        const char *software, *attention, *expected;
        unsigned microbatch;
    } rows[] = {
        {"megatron", "flash2", "none", 1},
        {"megatron", "flash2", "block", 32}, /* selective frees nothing of a fused kernel */
        {"megatron", "flash2", "full", 48},
        {"nanotron", "flash2", "full", 32}, /* all or nothing */
        {"megatron", "math", "selective", 8},
        {"megatron", "math", "block", 24},
        {"nanotron", "math", "full", 24},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned spelt = 0; spelt < 2; spelt++) {
            char text[1024];
            bool fits;
            snprintf(text, sizeof text,
                     "model: {layers: 12, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                     "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                     "training: {sequence: 2048, global_batch: %u, attention: %s}\n"
                     "layout: {tp: 1, pp: 1, sharding: zero-1, microbatch: %u%s}\n"
                     "software: %s\n",
                     16 * rows[i].microbatch, rows[i].attention, rows[i].microbatch,
                     spelt == 1 ? ", recompute: least" : "", rows[i].software);
            struct scenario *s = choice_sound(text);
            assert_string_equal(value_of(s, CHOICE_RECOMPUTE), rows[i].expected);
            assert_string_equal(recompute_names[s->configuration.layout.recompute],
                                rows[i].expected);
            choice_step_s(&s->configuration, &fits);
            assert_true(fits);
            least_layers(s);
            scenario_destroy(s);
        }
    }
}

/* Of a stated kind the layers are counted, and of a stated number the kind follows. */
static void test_layers_without_the_kind(void **state)
{
    static const struct {
        const char *keys, *kind, *layers;
        uint64_t count;
    } rows[] = {
        {"recompute: block", "nothing", "10", 10},
        {"recompute: block, recompute_layers: auto", "nothing", "10", 10},
        {"recompute_layers: 11", "block", "nothing", 11},
        {"recompute: least, recompute_layers: 12", "block", "nothing", 12},
        {"recompute: block, recompute_layers: 11", "nothing", "nothing", 11},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "model: {layers: 12, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                 "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                 "training: {sequence: 2048, global_batch: 512, attention: flash2}\n"
                 "layout: {tp: 1, pp: 1, sharding: zero-1, microbatch: 32, %s}\n"
                 "software: megatron\n",
                 rows[i].keys);
        struct scenario *s = choice_sound(text);
        assert_string_equal(value_of(s, CHOICE_RECOMPUTE), rows[i].kind);
        assert_string_equal(value_of(s, CHOICE_RECOMPUTE_LAYERS), rows[i].layers);
        assert_int_equal(s->configuration.layout.recompute, RECOMPUTE_BLOCK);
        assert_int_equal(s->configuration.layout.recompute_layers, rows[i].count);
        scenario_destroy(s);
    }
}

static void expect_rule(const char *layout, const char *software, const char *gpu,
                        enum choice_key key, const char *expected)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {layers: 126, hidden: 1024, heads: 16, vocabulary: 32000}\n"
             "cluster: {gpu: %s, nodes: 16, fabric: ib-ndr-8x400}\n"
             "training: {sequence: 1024, global_batch: 512}\n"
             "layout: {recompute: none, microbatch: 1, %s}\n"
             "software: %s\n",
             gpu, layout, software);
    struct scenario *s = choice_sound(text);
    if (strcmp(value_of(s, key), expected) != 0)
        fail_msg("%s of {%s}, %s on %s: %s, not %s", choice_key_path(key), layout, software, gpu,
                 value_of(s, key), expected);
    scenario_destroy(s);
}

static void test_rules(void **state)
{
    static const struct {
        const char *layout, *software, *gpu;
        enum choice_key key;
        const char *expected;
    } rows[] = {
        {"tp: 8", "megatron", "h100-80gb-sxm", CHOICE_ATTENTION, "cudnn"},
        {"tp: 8", "megatron", "b200-180gb-sxm", CHOICE_ATTENTION, "cudnn"},
        {"tp: 8", "megatron", "a100-80gb-sxm", CHOICE_ATTENTION, "flash2"},
        {"tp: 8", "nanotron", "h100-80gb-sxm", CHOICE_ATTENTION, "flash2"},
        {"tp: 8", "nemo", "h100-80gb-sxm", CHOICE_ATTENTION, "cudnn"},
        {"tp: 8", "megatron-2021", "a100-80gb-sxm", CHOICE_ATTENTION, "math"},
        {"tp: 8", "megatron-2021", "h100-80gb-sxm", CHOICE_ATTENTION, "flash2"},
        {"tp: 8", "megatron", "h100-80gb-sxm", CHOICE_SEQUENCE_PARALLEL, "true"},
        {"tp: 8", "megatron-2021", "a100-80gb-sxm", CHOICE_SEQUENCE_PARALLEL, "false"},
        {"tp: 1", "megatron", "h100-80gb-sxm", CHOICE_SEQUENCE_PARALLEL, "nothing"},
        {"tp: 8", "megatron", "h100-80gb-sxm", CHOICE_SHARDING, "zero-1"},
        {"tp: 8", "torchtitan", "h100-80gb-sxm", CHOICE_SHARDING, "fsdp"},
        {"tp: 8, pp: 2", "torchtitan", "h100-80gb-sxm", CHOICE_SHARDING, "zero-1"},
        {"tp: 8", "deepspeed", "a100-80gb-sxm", CHOICE_SHARDING, "zero-3"},
        {"tp: 8, pp: 2", "deepspeed", "a100-80gb-sxm", CHOICE_SHARDING, "zero-1"},
        {"tp: 8, pp: 2", "megatron-2022", "a100-80gb-sxm", CHOICE_SHARDING, "zero-0"},
        {"tp: 8, pp: 16", "megatron", "h100-80gb-sxm", CHOICE_SHARDING, "nothing"}, /* dp 1 */
        /* 126 = 2 x 63: the most chunks of two stages; with its ends 128 = 16 x 8 */
        {"tp: 8, pp: 2, schedule: interleaved", "megatron", "h100-80gb-sxm", CHOICE_CHUNKS, "63"},
        {"tp: 8, pp: 16, schedule: interleaved", "megatron", "h100-80gb-sxm", CHOICE_CHUNKS, "8"},
        {"tp: 8, pp: 16, schedule: interleaved", "megatron", "h100-80gb-sxm", CHOICE_ENDS, "true"},
        {"tp: 8, pp: 16, schedule: 1f1b", "megatron", "h100-80gb-sxm", CHOICE_ENDS, "true"},
        {"tp: 8, pp: 2, schedule: 1f1b", "megatron", "h100-80gb-sxm", CHOICE_ENDS, "nothing"},
        {"tp: 8, pp: 2, schedule: 1f1b", "megatron", "h100-80gb-sxm", CHOICE_CHUNKS, "nothing"},
        {"tp: 8, pp: 2", "nanotron", "h100-80gb-sxm", CHOICE_SCHEDULE, "1f1b"},
        {"tp: 8", "megatron-2021", "v100-32gb-sxm", CHOICE_PRECISION, "fp16"},
        {"tp: 8", "megatron-2021", "a100-80gb-sxm", CHOICE_PRECISION, "nothing"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_rule(rows[i].layout, rows[i].software, rows[i].gpu, rows[i].key, rows[i].expected);
}

/* Shares of the experts: which are told, and with what reason. */
static void test_shares(void **state)
{
    static const struct {
        const char *model, *layout, *ep, *etp, *why;
        uint64_t taken;
    } rows[] = {
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 1", "8", "nothing",
         "with 3 % of memory to spare", 8},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 1, microbatch: 1", "8", "nothing", "that fit",
         8},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 1, ep: best", "8", "nothing", "fit", 8},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 2", "8", "1", "fit", 8},
        {"{preset: mixtral-8x7b}", "tp: 2, etp: 2", "4", "nothing", "nothing fits", 4},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 8, dp: 1, etp: 8", "1", "nothing", "divides", 1},
        {"{preset: mixtral-8x7b}", "tp: 1", "8", "nothing", "nothing fits", 8},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 1, ep: 1", "nothing", "nothing", NULL, 1},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 2, ep: 4", "nothing", "nothing", NULL, 4},
        {"{preset: mixtral-8x7b, layers: 8}", "tp: 2, ep: 8", "nothing", "1", NULL, 8},
        {"llama3-8b", "tp: 1", "nothing", "nothing", NULL, 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "model: %s\ncluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                 "training: {sequence: 4096, global_batch: 64}\nlayout: {%s}\n",
                 rows[i].model, rows[i].layout);
        struct scenario *s = choice_sound(text);
        const struct made_choice *told = choice_of(s, CHOICE_EP);
        if (strcmp(value_of(s, CHOICE_EP), rows[i].ep) != 0 ||
            strcmp(value_of(s, CHOICE_ETP), rows[i].etp) != 0 ||
            s->configuration.layout.ep != rows[i].taken ||
            (rows[i].why != NULL && strstr(told->why, rows[i].why) == NULL)) {
            fail_msg("row %u: ep %s (%s), etp %s", i, value_of(s, CHOICE_EP),
                     told != NULL ? told->why : "", value_of(s, CHOICE_ETP));
        }
        scenario_destroy(s);
    }
}

/* So many shares are told as fit when they are stated. */
static void test_shares_are_counted(void **state)
{
    static const char text[] = "model: {preset: mixtral-8x7b, layers: 8}\n"
                               "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                               "training: {sequence: 4096, global_batch: 64}\n"
                               "layout: {tp: 1, pp: 1, microbatch: 1, recompute: none";
    char full[1024], expected[40];
    unsigned fitting = 0;
    for (unsigned ep = 1; ep <= 8; ep *= 2) {
        bool fits;
        snprintf(full, sizeof full, "%s, ep: %u}\n", text, ep);
        struct scenario *s = choice_sound(full);
        choice_step_s(&s->configuration, &fits);
        fitting += fits;
        scenario_destroy(s);
    }
    assert_true(fitting > 1 && fitting < 4);
    snprintf(full, sizeof full, "%s}\n", text);
    snprintf(expected, sizeof expected, "fastest of %u that fit", fitting);
    struct scenario *s = choice_sound(full);
    assert_string_equal(choice_of(s, CHOICE_EP)->why, expected);
    scenario_destroy(s);
}

/* A step of many microbatches from two of a few: as long as when it is played whole. */
static void test_a_step_by_its_slope(void **state)
{
    static const char *const layouts[] = {
        "tp: 2, pp: 1, microbatch: 1, sharding: zero-2",
        "tp: 2, pp: 4, microbatch: 1, schedule: 1f1b, vpp: 1, sharding: zero-1",
        "tp: 2, pp: 4, microbatch: 1, schedule: interleaved, vpp: 2, sharding: zero-1",
    };
    for (unsigned i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                 "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: ib-ndr-8x400}\n"
                 "training: {sequence: 4096, global_batch: 512}\n"
                 "layout: {recompute: full, %s}\n",
                 layouts[i]);
        struct scenario *s = choice_sound(text);
        const struct configuration *c = &s->configuration;
        const double whole_s = trial_gpu_s_per_token(c, c->gpu.hbm.usable_bytes),
                     slope_s = trial_gpu_s_by_slope(c, c->gpu.hbm.usable_bytes);
        assert_true(trial_slope_passes(c) < trial_passes(c));
        if (!(fabs(slope_s - whole_s) <= 1e-3 * whole_s))
            fail_msg("%s: %g s by its slope, %g s whole", layouts[i], slope_s, whole_s);
        scenario_destroy(s);
    }
}

/* Everything given: nothing is chosen, and every value stands. */
static void test_what_is_given_stands(void **state)
{
    struct scenario *s = choice_sound(
        "model: {layers: 32, hidden: 4096, heads: 32, vocabulary: 32000}\n"
        "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: ib-ndr-8x400}\n"
        "training: {sequence: 1024, global_batch: 512, attention: math}\n"
        "layout: {tp: 2, pp: 4, vpp: 2, schedule: interleaved, sharding: zero-0,\n"
        "  microbatch: 2, recompute: full, sequence_parallel: false, ends_count: false}\n"
        "software: megatron\n");
    const struct layout_spec *l = &s->configuration.layout;
    assert_int_equal(s->choices.count, 0);
    assert_int_equal(s->configuration.training.attention, ATTENTION_MATH);
    assert_int_equal(l->pipeline.vpp, 2);
    assert_ptr_equal(l->pipeline.schedule, &schedule_interleaved);
    assert_ptr_equal(l->data.sharding, &sharding_zero_0);
    assert_int_equal(l->microbatch, 2);
    assert_int_equal(l->recompute, RECOMPUTE_FULL);
    assert_false(l->sequence_parallel || l->pipeline.ends_count);
    scenario_destroy(s);
}

/* What cannot run whatever is chosen is refused for what it is; what fits nowhere says so. */
static void test_nothing_possible(void **state)
{
    struct scenario *s = choice_read("model: {preset: llama3-8b}\n"
                                     "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                                     "training: {sequence: 1024, global_batch: 64}\n"
                                     "layout: {tp: 3}\n");
    assert_true(s->diagnostics.error_count > 0);
    scenario_destroy(s);
    bool fits;
    s = choice_sound(
        "model: {preset: llama3-70b}\n"
        "cluster: {gpu: a100-40gb-sxm, nodes: 1}\n"
        "training: {sequence: 8192, global_batch: 1536}\n"); /* 192 each: ten sizes divide it */
    assert_string_equal(value_of(s, CHOICE_MICROBATCH), "1");
    assert_string_equal(value_of(s, CHOICE_RECOMPUTE), "full");
    assert_non_null(strstr(choice_of(s, CHOICE_RECOMPUTE)->why, "nothing fits"));
    choice_step_s(&s->configuration, &fits);
    assert_false(fits);
    scenario_destroy(s);
}

/* A slow card that nobody knows of changes nothing. */
static void test_of_an_ideal_cluster(void **state)
{
    static const char half[] = "model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                               "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: ib-ndr-8x400}\n"
                               "training: {sequence: 4096, global_batch: 64}\n"
                               "layout: {tp: 2, pp: 2}\n";
    char text[1024];
    snprintf(text, sizeof text, "%sperturbations: {stragglers: [{gpu: 3, speed: 20%%}]}\n", half);
    struct scenario *slow = choice_sound(text);
    struct scenario *plain = choice_sound(half);
    assert_int_equal(slow->choices.count, plain->choices.count);
    for (unsigned i = 0; i < plain->choices.count; i++)
        assert_string_equal(slow->choices.rows[i].value, plain->choices.rows[i].value);
    assert_int_equal(slow->configuration.perturbation_count, 1);
    scenario_destroy(slow);
    scenario_destroy(plain);
}

/* A sequence that nobody states has 8192 tokens, or as many as the model has positions (Llama 2:
 * 4096, arXiv:2307.09288 table 1; GPT-2: 1024); a stated one that is longer is warned of. */
static void test_sequences(void **state)
{
    static const struct {
        const char *model, *stated;
        uint64_t taken;
        const char *told;
        unsigned warnings;
    } rows[] = {
        {"llama2-7b", "", 4096, "all positions of llama2-7b", 0},
        {"gpt2-124m", "", 1024, "all positions of gpt2-124m", 0},
        {"llama3-8b", "", 8192, "not stated", 0},
        {"llama-3b", "", 8192, "not stated", 0}, /* of no known positions */
        {"{preset: llama2-7b, positions_max: 8191}", "", 8191, "all positions", 0},
        {"{preset: llama2-7b, positions_max: 8192}", "", 8192, "not stated", 0},
        {"{preset: llama2-7b, positions_max: 0}", "", 8192, "not stated", 0},
        {"llama2-7b", "sequence: auto, ", 4096, "all positions of llama2-7b", 0},
        {"llama2-7b", "sequence: 4096, ", 4096, NULL, 0},
        {"llama2-7b", "sequence: 4104, ", 4104, NULL, 1},
        {"llama-3b", "sequence: 32768, ", 32768, NULL, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "model: %s\ncluster: {gpu: h200-141gb-sxm, nodes: 1}\n"
                 "training: {%sglobal_batch: 64}\nlayout: {tp: 1}\n",
                 rows[i].model, rows[i].stated);
        struct scenario *s = choice_sound(text);
        const struct made_choice *told = choice_of(s, CHOICE_SEQUENCE);
        unsigned warnings = 0;
        for (unsigned w = 0; w < s->diagnostics.problem_count; w++)
            warnings += strstr(s->diagnostics.problems[w].text, "positions that llama2-7b") != NULL;
        if (s->configuration.training.sequence != rows[i].taken || warnings != rows[i].warnings ||
            (told != NULL) != (rows[i].told != NULL) ||
            (told != NULL && strstr(told->why, rows[i].told) == NULL))
            fail_msg("row %u: %llu tokens (%s), %u warnings", i,
                     (unsigned long long)s->configuration.training.sequence,
                     told != NULL ? told->why : "stated", warnings);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_least_recomputation),
        cmocka_unit_test(test_layers_without_the_kind),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_shares_are_counted),
        cmocka_unit_test(test_a_step_by_its_slope),
        cmocka_unit_test(test_what_is_given_stands),
        cmocka_unit_test(test_nothing_possible),
        cmocka_unit_test(test_of_an_ideal_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
