/* What a model's makers ran, where the scenario says nothing of it; and pipelines that are chosen.
 */
#include <stdio.h>
#include <string.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static struct scenario *read_text(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    return s;
}

static struct scenario *sound(const char *text)
{
    struct scenario *s = read_text(text);
    scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

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

/* A model with experts that says how its makers trained it. */
static struct scenario *of_makers(const char *model, const char *cluster, const char *rest)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {layers: 16, hidden: 2048, heads: 16, vocabulary: 32000, experts: 8,\n"
             "  experts_per_token: 2, moe_ffn_hidden: 1024, usual_schedule: dualpipe%s}\n"
             "cluster: {%s}\n%s\n",
             model, cluster, rest);
    return sound(text);
}
static const char theirs[] =
    ", usual_precision: fp8, usual_dispatch: deepep, usual_dispatch_8bit: true";

/* What the makers of a model ran stands where nothing is said and the layout can, and is told; what
 * is said, what the card cannot and what breaks a rule goes before. */
static void test_what_the_makers_ran(void **state)
{
    static const struct {
        const char *model, *cluster, *rest;
        const char *precision, *dispatch, *schedule; /* told; "nothing": not told */
        bool eight;
    } rows[] = {
        {theirs, "gpu: h100-80gb-sxm, gpus: 16",
         "training: {sequence: 2048, global_batch: 128}\nlayout: {pp: 4, tp: 1}", "fp8", "deepep",
         "dualpipe", true},
        {theirs, "gpu: a100-80gb-sxm, gpus: 16",
         "training: {sequence: 2048, global_batch: 128}\nlayout: {pp: 4, tp: 1}", "nothing",
         "deepep", "dualpipe", false},
        {theirs, "gpu: h100-80gb-sxm, gpus: 16",
         "training: {sequence: 2048, global_batch: 128, precision: bf16}\n"
         "layout: {pp: 4, tp: 1, dispatch: alltoall, schedule: 1f1b}",
         "nothing", "nothing", "nothing", false},
        /* one stage has no order, and dispatch stays theirs */
        {theirs, "gpu: h100-80gb-sxm, gpus: 8",
         "training: {sequence: 2048, global_batch: 128}\nlayout: {pp: 1, tp: 1}", "fp8", "deepep",
         "nothing", true},
        /* DeepEP drops no rows */
        {theirs, "gpu: h100-80gb-sxm, gpus: 8",
         "training: {sequence: 2048, global_batch: 128}\n"
         "layout: {pp: 1, tp: 1, expert_capacity: 1}",
         "fp8", "nothing", "nothing", false},
        /* an odd pipeline is none of DualPipe's */
        {theirs, "gpu: h100-80gb-sxm, gpus: 24",
         "training: {sequence: 2048, global_batch: 192}\nlayout: {pp: 3, tp: 1}", "fp8", "deepep",
         "interleaved", true},
        {"", "gpu: h100-80gb-sxm, gpus: 16",
         "training: {sequence: 2048, global_batch: 128}\nlayout: {pp: 4, tp: 1}", "nothing",
         "nothing", "dualpipe", false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *s = of_makers(rows[i].model, rows[i].cluster, rows[i].rest);
        const struct layout_spec *l = &s->configuration.layout;
        assert_string_equal(value_of(s, CHOICE_PRECISION), rows[i].precision);
        assert_string_equal(s->configuration.training.precision->head.name,
                            strcmp(rows[i].precision, "nothing") == 0 ? "bf16" : rows[i].precision);
        const bool plain = strcmp(rows[i].dispatch, "nothing") == 0 &&
                           strstr(rows[i].rest, "dispatch") == NULL &&
                           configuration_expert_ranks(&s->configuration).ep > 1;
        assert_string_equal(value_of(s, CHOICE_DISPATCH), plain ? "alltoall" : rows[i].dispatch);
        if (s->configuration.cluster.nodes > 1)
            assert_non_null(strstr(choice_of(s, CHOICE_FABRIC)->why,
                                   s->configuration.gpu.peak_flops_per_s[PEAK_FP8] > 0.0
                                       ? ", 8 x 400 Gb/s each"
                                       : ", 8 x 200 Gb/s each"));
        const char *schedule = value_of(s, CHOICE_SCHEDULE);
        if (strcmp(rows[i].schedule, "interleaved") == 0)
            assert_string_not_equal(schedule, "dualpipe");
        else
            assert_string_equal(schedule, rows[i].schedule);
        assert_int_equal(l->experts.dispatch_8bit, rows[i].eight);
        assert_string_equal(value_of(s, CHOICE_DISPATCH_8BIT), rows[i].eight ? "true" : "nothing");
        if (strcmp(rows[i].dispatch, "nothing") != 0)
            assert_string_equal(l->experts.dispatch->head.name, rows[i].dispatch);
        if (strcmp(schedule, "nothing") != 0)
            assert_string_equal(l->pipeline.schedule->head.name, schedule);
        scenario_destroy(s);
    }
}

/* A framework that is named runs what it has of that: no script of any has DualPipe or rows of
 * eight bits, and torchtitan sends rows by all-to-all alone. */
static void test_what_a_framework_has(void **state)
{
    static const char *const rows[][2] = {{"nemo", "hybridep"}, /* its release */
                                          {"megatron", "deepep"},
                                          {"automodel", "deepep"},
                                          {"torchtitan", "alltoall"},
                                          {"fsdp", "alltoall"}};
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char rest[256];
        snprintf(rest, sizeof rest,
                 "training: {sequence: 2048, global_batch: 128}\n"
                 "layout: {pp: 4, tp: 1, ep: 4}\nsoftware: %s",
                 rows[i][0]);
        struct scenario *s = of_makers(theirs, "gpu: h100-80gb-sxm, gpus: 16", rest);
        assert_string_equal(s->configuration.layout.experts.dispatch->head.name, rows[i][1]);
        if (strcmp(rows[i][0], "nemo") != 0) /* whose release sets it */
            assert_string_equal(value_of(s, CHOICE_DISPATCH), rows[i][1]);
        assert_string_equal(value_of(s, CHOICE_DISPATCH_8BIT), "nothing");
        assert_string_not_equal(value_of(s, CHOICE_SCHEDULE), "dualpipe");
        assert_false(s->configuration.layout.experts.dispatch_8bit);
        scenario_destroy(s);
    }
}

/* DualPipe keeps the weights twice. Where only a split of the sequence would make room for that, or
 * nothing, the order of the pipeline is chosen as for any model. */
static void test_what_does_not_fit_is_not_theirs(void **state)
{
    static const char *const layouts[] = {"gpus: 16}\nlayout: {tp: 4",
                                          "gpus: 32}\nlayout: {tp: 4, pp: 4"};
    for (unsigned i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000, experts: 8,\n"
                 "  experts_per_token: 2, moe_ffn_hidden: 4096, usual_schedule: dualpipe%s}\n"
                 "training: {sequence: 131072, global_batch: 32}\n"
                 "cluster: {gpu: h100-80gb-sxm, %s, recompute: none}\n",
                 theirs, layouts[i]);
        struct scenario *s = sound(text);
        const struct layout_spec *l = &s->configuration.layout;
        assert_ptr_not_equal(l->pipeline.schedule, schedule_find("dualpipe"));
        assert_string_equal(value_of(s, CHOICE_DISPATCH), "deepep");
        assert_true(l->cp == 1 && l->pp > 1);
        scenario_destroy(s);
    }
}

/* The catalogue's own: DeepSeek-V3 (arXiv:2412.19437); of another shape nobody said so. */
static void test_makers_of_the_catalogue(void **state)
{
    static const char machine[] = "cluster: {gpu: h800-80gb-sxm, gpus: 8}\n"
                                  "training: {sequence: 512, global_batch: 8, precision: bf16}\n"
                                  "layout: {tp: 1, pp: 1, ep: 8, microbatch: 1, recompute: none,\n"
                                  "  dispatch: alltoall}\n";
    for (unsigned cut = 0; cut < 2; cut++) {
        char text[512];
        struct error error = {""};
        snprintf(text, sizeof text, "model: {preset: deepseek-v3-671b%s}\n%s",
                 cut ? ", layers: 4" : "", machine);
        struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
        assert_non_null(s);
        const struct model_usual *usual = &s->configuration.model.usual;
        assert_string_equal(usual->precision, cut ? "" : "fp8");
        assert_string_equal(usual->dispatch, cut ? "" : "deepep");
        assert_string_equal(usual->schedule, cut ? "" : "dualpipe");
        scenario_destroy(s);
    }
}

/* A pipeline that was chosen is full: no fewer microbatches than stages, and interleaved where its
 * layers allow it, so that its bubble by the closed form stays small. */
static void test_pipelines_are_filled(void **state)
{
    static const struct {
        unsigned gpus;
        const char *layout;
        double most; /* share of the bubble */
    } rows[] = {{8192, "", 0.25}, {16384, "", 0.25}, {8192, "layout: {tp: 8, pp: 32}\n", 0.4}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: llama3-405b\ncluster: {gpu: h100-80gb-sxm, gpus: %u}\n"
                 "training: {sequence: 8192, global_batch: 2048}\n%s",
                 rows[i].gpus, rows[i].layout);
        struct scenario *s = sound(text);
        const struct configuration *c = &s->configuration;
        const double stages = (double)c->layout.pp,
                     microbatches = (double)configuration_microbatches(c);
        assert_true(stages > 1.0 && microbatches >= stages);
        const double wait = (stages - 1.0) / (double)c->layout.pipeline.vpp / microbatches;
        assert_true(wait / (1.0 + wait) < rows[i].most);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_makers_ran),
        cmocka_unit_test(test_what_a_framework_has),
        cmocka_unit_test(test_what_does_not_fit_is_not_theirs),
        cmocka_unit_test(test_makers_of_the_catalogue),
        cmocka_unit_test(test_pipelines_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
