/* What stands beside the machine: slow cards, weak links, jitter, captions and prices. Each item is
 * read by itself: one that is wrong hides none behind it, and is told by its number. */
#include <stdio.h>

#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

static struct scenario *read_extra(const char *extra)
{
    char text[1024];
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\n"
             "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: ib-ndr-8x400}\n"
             "training: {sequence: 8192, global_batch: 64}\nlayout: {tp: 8}\n%s\n",
             extra);
    return weeks_read_text(text);
}

static void test_perturbations_arrive(void **state)
{
    static const struct perturbation wanted[] = {
        {.what = PERTURB_GPU_SPEED, .gpu = 3, .ratio = 0.8},
        {.what = PERTURB_GPU_SPEED, .gpu = 15, .ratio = 0.75},
        {.what = PERTURB_LINK, .gpu = 1, .ratio = 0.5, .link = LINK_NIC},
        {.what = PERTURB_LINK, .gpu = 15, .ratio = 0.25, .link = LINK_NVLINK},
        {.what = PERTURB_LINK, .gpu = 0, .ratio = 1.0, .link = LINK_PCIE},
    };
    struct scenario *scenario = read_extra(
        "perturbations: {jitter: 2%, stragglers: [{gpu: 3, speed: 80%}, {gpu: 15, speed: 75%}], "
        "links: [{gpu: 1, link: nic, capacity: 0.5}, {gpu: 15, link: nvlink, capacity: 0.25}, "
        "{gpu: 0, link: pcie, capacity: 1}]}");
    const struct configuration *c = &scenario->configuration;
    weeks_problems_are(scenario, "");
    assert_true(c->kernel_jitter_sigma == 0.02);
    assert_int_equal(c->perturbation_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        const struct perturbation *is = &c->perturbations[i], *was = &wanted[i];
        assert_true(is->what == was->what && is->gpu == was->gpu);
        assert_true(is->ratio == was->ratio && is->link == was->link);
    }
    scenario_destroy(scenario);
    scenario = read_extra("perturbations: {}");
    assert_true(scenario->configuration.kernel_jitter_sigma == 0.0);
    assert_int_equal(scenario->configuration.perturbation_count, 0);
    scenario_destroy(scenario);
}

#define NO_GPU(list, index, gpu)                                                                   \
    "perturbations." list "[" index "].gpu: there is no GPU " gpu "; they are numbered from 0 to " \
    "15\n"
static void test_words(void **state)
{
    static const struct {
        const char *extra, *problems;
    } rows[] = {
        {"perturbations: 5", "5:16: perturbations takes keys with values, not a word\n"},
        {"perturbations: {jiter: 2%}",
         "5:17: unknown key 'jiter' in perturbations; did you mean 'jitter'?\n"},
        {"perturbations: {stragglers: [5, {gpu: 16, speed: 80%}]}",
         "5:30: perturbations.stragglers[0] takes keys with values, not a word\n"
         "5:39: " NO_GPU("stragglers", "1", "16")},
        {"perturbations: {stragglers: [{gpu: 1, speed: 80%, sped: 1}, {gpu: 99, speed: 80%}]}",
         "5:51: unknown key 'sped' in perturbations.stragglers[0]; did you mean 'speed'?\n"
         "5:67: " NO_GPU("stragglers", "1", "99")},
        {"perturbations: {links: [{gpu: 16, link: nic, capacity: 1}, {gpu: 17, link: nic, "
         "capacity: 1}]}",
         "5:31: " NO_GPU("links", "0", "16") "5:66: " NO_GPU("links", "1", "17")},
        {"perturbations: {links: [5, {gpu: 17, link: nic, capacity: 1}]}",
         "5:25: perturbations.links[0] takes keys with values, not a word\n"
         "5:34: " NO_GPU("links", "1", "17")},
        {"notes: [{at: 3s, say: a}, {at: 4, say: b}, {say: c}]",
         "5:32: notes[1].at: '4' has no unit; write one of ns, us, ms, s, min, h, d, y\n"
         "5:44: notes[2].at must be given: Simulated time of the caption.\n"},
        {"cost: 5", "5:7: cost takes keys with values, not a word\n"},
        {"cost: {gpu_hour: 2USD, gpuhour: 3USD}",
         "5:24: unknown key 'gpuhour' in cost; did you mean 'gpu_hour'?\n"},
        {"cost: {gpu_hour: -1USD}",
         "5:18: cost.gpu_hour: -1USD is out of range; it goes from 0USD to 1MUSD\n"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = read_extra(rows[i].extra);
        weeks_problems_are(scenario, rows[i].problems);
        scenario_destroy(scenario);
    }
}

static void test_notes_arrive(void **state)
{
    struct scenario *scenario =
        read_extra("notes: [{at: 3s, say: a}, {say: \"b c\", at: 40ms}, {at: 0s, say: d}]");
    weeks_problems_are(scenario, "");
    assert_int_equal(scenario->note_count, 3);
    assert_true(scenario->notes[0].at_s == 3.0 && scenario->notes[1].at_s == 0.04);
    assert_true(scenario->notes[2].at_s == 0.0);
    assert_string_equal(scenario->notes[0].say, "a");
    assert_string_equal(scenario->notes[1].say, "b c");
    assert_string_equal(scenario->notes[2].say, "d");
    scenario_destroy(scenario);
}

/* The catalogue's price of an H100 is 2.50 USD an hour; what the scenario says stands above it. */
static void test_prices(void **state)
{
    static const struct {
        const char *cost;
        double gpu_hour, tb_month;
    } rows[] = {
        {"", 2.5, 0.0},
        {"cost: {}", 2.5, 0.0},
        {"cost: {gpu_hour: 7USD}", 7.0, 0.0},
        {"cost: {gpu_hour: 0USD}", 0.0, 0.0},
        {"cost: {storage_tb_month: 9USD}", 2.5, 9.0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario *scenario = read_extra(rows[i].cost);
        assert_int_equal(scenario->diagnostics.error_count, 0);
        assert_int_equal(scenario->diagnostics.problem_count, rows[i].tb_month > 0.0); /* idle */
        assert_true(scenario->configuration.gpu.price_per_hour_usd == rows[i].gpu_hour);
        assert_true(scenario->storage_tb_month_usd == rows[i].tb_month);
        scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perturbations_arrive),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_notes_arrive),
        cmocka_unit_test(test_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
