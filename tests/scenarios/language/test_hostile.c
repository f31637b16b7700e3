/* A scenario that is cut off or garbled anywhere never crashes the reader: every prefix, and every
 * byte replaced by bytes that matter to YAML. Under the sanitizers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static const char text[] = "name: \xC3\xA9tude\n"
                           "model: {preset: llama3-8b, layers: 16}\n"
                           "cluster:\n"
                           "  gpu: {name: h100-80gb-sxm, usable_hbm: 70GiB}\n"
                           "  node: dgx-h100\n"
                           "  nodes: 2\n"
                           "  fabric: {kind: fat_tree, nic: 400Gb/s}\n"
                           "training: {sequence: 8k, global_batch: 64, tokens: 15T}\n"
                           "layout: {tp: 8, dp: auto, sharding: zero-1}\n"
                           "software: {profile: megatron, launch: 5us}\n"
                           "perturbations: {stragglers: [{gpu: 3, speed: 80%}], jitter: 2%}\n"
                           "notes: [{at: 12s, say: \"x: y\"}]\n";

/* Reads and checks what must hold of any answer; returns whether it was taken. */
static bool read_any(const char *bytes, size_t size)
{
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("t.yaml", bytes, size, NULL, &error);
    assert_non_null(scenario);
    bool sound = scenario->diagnostics.error_count == 0;
    unsigned errors = 0;
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        assert_true(scenario->diagnostics.problems[i].line > 0 &&
                    scenario->diagnostics.problems[i].column > 0);
        assert_true(*scenario->diagnostics.problems[i].text != '\0');
        errors += scenario->diagnostics.problems[i].warning ? 0 : 1;
    }
    assert_true(sound == (errors == 0));
    if (sound) {
        assert_non_null(scenario->configuration.layout.pipeline.schedule);
        assert_non_null(scenario->configuration.cluster.fabric.kind);
        assert_true(configuration_ranks(&scenario->configuration) > 0);
    }
    scenario_destroy(scenario);
    return sound;
}

static void test_whole_is_sound(void **state)
{
    assert_true(read_any(text, sizeof text - 1));
}

/* A prefix that ends inside a section, or before there is a batch, is refused; one that ends with a
 * line behind `training` is a scenario. */
static void test_prefixes(void **state)
{
    const size_t least = (size_t)(strstr(text, "layout:") - text);
    unsigned taken = 0, open = 0;
    for (size_t size = 0; size < sizeof text; size++) {
        char *exact =
            malloc(size > 0 ? size : 1); /* its own block, so that reading past it is seen */
        memcpy(exact, text, size);
        const bool sound = read_any(exact, size);
        free(exact);
        open += size > 0 && text[size - 1] == '{';
        open -= size > 0 && text[size - 1] == '}';
        if (size < least - 1 || open > 0)
            assert_false(sound);
        if (size >= least && text[size - 1] == '\n')
            assert_true(sound);
        taken += sound;
    }
    assert_true(taken >= 5);
}

static void test_mutations(void **state)
{
    static const char bytes[] = {'\0', '\n', '[', '{', ':', '"', '9', '\xFF'};
    char copy[sizeof text];
    unsigned taken = 0, count = 0;
    for (size_t at = 0; at < sizeof text - 1; at++) {
        memcpy(copy, text, sizeof text);
        copy[at] = bytes[at % sizeof bytes];
        taken += read_any(copy, sizeof text - 1) ? 1 : 0;
        count++;
    }
    assert_true(taken > 0 && taken < count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_is_sound),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
