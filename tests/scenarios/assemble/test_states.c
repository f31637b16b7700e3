/* States of the optimizer that a scenario leaves open: the optimizer's own, or, of software that
 * updates 16-bit weights in place, in their format and without a master copy. */
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static const struct state_case {
    const char *training, *software;
    enum state_format master, first, second;
} cases[] = {
    {"precision: bf16", "megatron", STATE_AUTO, STATE_AUTO, STATE_AUTO},
    {"precision: bf16", "automodel", STATE_NONE, STATE_BF16, STATE_BF16},
    {"precision: fp16", "automodel", STATE_NONE, STATE_FP16, STATE_FP16},
    {"precision: bf16", "{profile: megatron, states_as_weights: true}", STATE_NONE, STATE_BF16,
     STATE_BF16},
    {"precision: bf16", "{profile: automodel, states_as_weights: false}", STATE_AUTO, STATE_AUTO,
     STATE_AUTO},
    /* one moment, one that is said, weights as wide as a copy, states of a format of their own */
    {"precision: bf16, optimizer: momentum", "automodel", STATE_NONE, STATE_BF16, STATE_AUTO},
    {"precision: bf16, master_weights: fp32", "automodel", STATE_FP32, STATE_AUTO, STATE_AUTO},
    {"precision: bf16, second_moment: fp32", "automodel", STATE_AUTO, STATE_AUTO, STATE_FP32},
    {"precision: fp32", "automodel", STATE_AUTO, STATE_AUTO, STATE_AUTO},
    {"precision: bf16, optimizer: adam8bit", "automodel", STATE_AUTO, STATE_AUTO, STATE_AUTO},
};

static void test_open_states(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct scenario_options options = {0};
        struct error error = {{0}};
        char text[512];
        snprintf(text, sizeof text,
                 "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                 "training: {sequence: 4096, global_batch: 8, %s}\nlayout: {tp: 8}\nsoftware: %s\n",
                 cases[i].training, cases[i].software);
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
        assert_non_null(s);
        assert_int_equal(s->diagnostics.error_count, 0);
        const struct state_formats *f = &s->configuration.training.state_formats;
        if (optimizer_master_format(f) != cases[i].master ||
            optimizer_moment_format(f, 0) != cases[i].first ||
            optimizer_moment_format(f, 1) != cases[i].second)
            fail_msg("case %zu: master %d, moments %d and %d", i, (int)optimizer_master_format(f),
                     (int)optimizer_moment_format(f, 0), (int)optimizer_moment_format(f, 1));
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_open_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
