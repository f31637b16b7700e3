/* What software keeps of a training. States of the optimizer that a scenario leaves open: the
 * optimizer's own, or, of software that updates 16-bit weights in place, in their format and
 * without a master copy. Optimizers and scales that it cannot run. */
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

/* Of software, optimizer, sharding (NULL: left open), fp8 recipe, layers in bf16: the key of the
 * error, NULL: none. Sources: Megatron-LM distrib_optimizer.py, transformer_config.py. */
static const struct combination {
    const char *software, *optimizer, *sharding, *recipe;
    unsigned wide;
    const char *key;
} combinations[] = {
    {"megatron", "sgd", "zero-1", "auto", 0, "training.optimizer"},
    {"megatron", "momentum", "fsdp", "auto", 0, "training.optimizer"},
    {"megatron", "adafactor", "zero-2", "auto", 0, "training.optimizer"},
    {"nemo", "sgd", "zero-1", "auto", 0, "training.optimizer"},
    {"megatron-2022", "sgd", "zero-1", "auto", 0, "training.optimizer"},
    {"megatron", "sgd", "zero-0", "auto", 0, NULL},
    {"megatron", "sgd", NULL, "auto", 0, NULL},
    {"nemo", "momentum", NULL, "auto", 0, NULL},
    {"megatron", "adam", "zero-1", "auto", 0, NULL},
    {"megatron", "muon", "zero-1", "auto", 0, NULL},
    {"nemo", "adam8bit", "zero-1", "auto", 0, NULL},
    {"torchtitan", "sgd", "fsdp", "auto", 0, NULL},
    {"deepspeed", "sgd", "zero-1", "auto", 0, NULL},
    {"{profile: torchtitan, sharded_optimizers: adam+muon}", "adamw", "fsdp", "auto", 0,
     "training.optimizer"},
    {"{profile: torchtitan, sharded_optimizers: adam+muon}", "muon", "fsdp", "auto", 0, NULL},
    {"{profile: torchtitan, sharded_optimizers: adam+lion}", "adam", "fsdp", "auto", 0,
     "software.sharded_optimizers"},
    {"{profile: torchtitan, sharded_optimizers: adamw+}", "adamw", "fsdp", "auto", 0,
     "software.sharded_optimizers"},
    {"megatron", "adamw", "zero-1", "delayed", 1, "software.fp8_recipe"},
    {"nemo", "adamw", "zero-1", "delayed", 1, "software.fp8_recipe"},
    {"megatron", "adamw", "zero-1", "delayed", 0, NULL},
    {"megatron", "adamw", "zero-1", "blockwise", 1, NULL},
    {"torchtitan", "adamw", "fsdp", "delayed", 1, NULL},
};

static void test_combinations(void **state)
{
    for (size_t i = 0; i < sizeof combinations / sizeof combinations[0]; i++) {
        const struct combination *c = &combinations[i];
        struct error error = {{0}};
        char text[512], recipe[48], sharding[48] = "";
        snprintf(recipe, sizeof recipe, "software.fp8_recipe=%s", c->recipe);
        if (c->sharding != NULL)
            snprintf(sharding, sizeof sharding, ", sharding: %s", c->sharding);
        snprintf(text, sizeof text,
                 "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                 "training: {sequence: 4096, global_batch: 8, precision: fp8, optimizer: %s,\n"
                 "  bf16_layers_last: %u}\nlayout: {tp: 2%s}\nsoftware: %s\n",
                 c->optimizer, c->wide, sharding, c->software);
        const char *const sets[] = {recipe};
        const struct scenario_options options = {.sets = sets, .set_count = 1};
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
        assert_non_null(s);
        struct rule_break breaks[16];
        const char *key = NULL;
        for (unsigned k = configuration_check(&s->configuration, breaks, 16); k-- > 0;)
            key = breaks[k].warning ? key : breaks[k].key;
        assert_int_equal(s->diagnostics.error_count, c->key != NULL ? 1 : 0);
        if ((key == NULL) != (c->key == NULL) || (key != NULL && strcmp(key, c->key) != 0))
            fail_msg("%s, %s%s, %s: %s", c->software, c->optimizer, sharding, c->recipe, key);
        scenario_destroy(s);
    }
}

/* Left open, the recipe is the first that the software can run. */
static void test_open_recipe(void **state)
{
    static const struct {
        const char *software;
        unsigned wide;
        enum fp8_recipe recipe;
    } rows[] = {{"megatron", 0, FP8_DELAYED},
                {"megatron", 1, FP8_CURRENT},
                {"nemo", 1, FP8_CURRENT},
                {"unnamed", 1, FP8_DELAYED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error error = {{0}};
        char text[256];
        snprintf(text, sizeof text,
                 "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                 "training: {sequence: 4096, global_batch: 8, precision: fp8,\n"
                 "  bf16_layers_first: %u}\nsoftware: %s\n",
                 rows[i].wide, rows[i].software);
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
        assert_non_null(s);
        assert_int_equal(s->diagnostics.error_count, 0);
        assert_int_equal(configuration_fp8_recipe(&s->configuration), rows[i].recipe);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_open_states),
                                       cmocka_unit_test(test_combinations),
                                       cmocka_unit_test(test_open_recipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
