/* Every figure goes back to its source: those of the catalogue, those that a scenario stands on. */
#include <math.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"
#include "tests/test.h"

static const char *const families[] = {"gpus",     "nodes",  "fabrics", "models",
                                       "software", "fleets", "storage"};

static struct scenario *read(const char *text, const char *set)
{
    struct error error = {""};
    struct scenario_options options = {.sets = &set, .set_count = set ? 1 : 0};
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static const struct stated_figure *find(const struct stated_figure *figures, unsigned count,
                                        const char *name)
{
    const struct stated_figure *found = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(figures[i].name, name) != 0)
            continue;
        if (found)
            fail_msg("%s stands twice", name);
        found = &figures[i];
    }
    return found;
}

static void assert_figure(const struct scenario *s, const char *name, const char *text,
                          double value, const char *unit, double error_ratio, const char *origin,
                          const char *source)
{
    const struct stated_figure *f = find(s->stated.figures, s->stated.figure_count, name);
    if (f == NULL)
        fail_msg("no figure %s", name);
    assert_string_equal(f->text, text);
    assert_true(f->number == !isnan(value));
    if (f->number && !(fabs(f->value - value) <= 1e-12 * fabs(value)))
        fail_msg("%s: %.17g, not %.17g", name, f->value, value);
    assert_string_equal(f->unit, unit);
    if (!(fabs(f->error_ratio - error_ratio) < 1e-12))
        fail_msg("%s: error %g, not %g", name, f->error_ratio, error_ratio);
    assert_string_equal(f->origin, origin);
    if (strstr(f->source, source) == NULL)
        fail_msg("%s: '%s' lacks '%s'", name, f->source, source);
}

static void test_every_entry_names_its_sources(void **state)
{
    struct arena *arena = arena_create();
    unsigned total = 0;
    for (unsigned f = 0; f < sizeof families / sizeof families[0]; f++) {
        const struct catalogue_entry *entries;
        struct error error = {""};
        unsigned count = describe_entries(families[f], NULL, arena, &entries, &error);
        assert_true(count > 0);
        for (unsigned i = 0; i < count; i++) {
            struct catalogue_entry e;
            assert_true(describe_entry(families[f], entries[i].name, NULL, arena, &e, &error));
            assert_string_equal(e.doc, entries[i].doc);
            assert_true(e.figure_count > 0);
            for (unsigned k = 0; k < e.figure_count; k++) {
                if (*e.figures[k].source == '\0' || *e.figures[k].origin == '\0')
                    fail_msg("%s.%s has no source", e.name, e.figures[k].name);
                assert_ptr_equal(find(e.figures, e.figure_count, e.figures[k].name), &e.figures[k]);
            }
            total += e.figure_count;
        }
    }
    assert_true(total > 1500);
    arena_destroy(arena);
}

static void test_names_that_are_none(void **state)
{
    struct arena *arena = arena_create();
    struct catalogue_entry e;
    struct error error = {""};
    assert_false(describe_entry("gpus", "H200", NULL, arena, &e, &error));
    assert_string_equal(error.text, "no GPU 'H200'; did you mean 'h200-141gb-sxm'?");
    assert_false(describe_entry("gpu", "x", NULL, arena, &e, &error));
    assert_string_equal(error.text, "the catalogue has no family 'gpu'");
    assert_false(describe_entry("gpus", "x", "no/such", arena, &e, &error));
    assert_string_equal(error.text, "no/such/gpus.yaml: No such file or directory");
    arena_destroy(arena);
}

/* The catalogue's own words, read by eye. */
static const char weeks[] = "model: {preset: llama3-8b, vocabulary: 128k}\n"
                            "cluster:\n"
                            "  gpu: h100-80gb-sxm\n"
                            "  node: {name: dgx-h100, pcie_bandwidth: 50GB/s}\n"
                            "  nodes: 2\n"
                            "  fabric: {kind: fat_tree, nic: 200Gb/s}\n"
                            "training: {sequence: 8192, global_batch: 64}\n"
                            "software: {profile: megatron}\n"
                            "run: {duration: 1d}\n"
                            "failures: [{preset: rsc-1}]\n"
                            "checkpoint: {policy: async, storage: host+nvme}\n";

static void test_where_figures_are_from(void **state)
{
    struct scenario *s = read(weeks, "software.launch=20us");
    assert_figure(s, "gpu.h100-80gb-sxm.hbm_bandwidth", "3350GB/s", 3.35e12, "B/s", 0,
                  "specification", "NVIDIA H100 data sheet");
    assert_figure(s, "gpu.h100-80gb-sxm.peak_bf16", "989.4TFLOP/s", 989.4e12, "FLOP/s", 0,
                  "specification", "NVIDIA H100 data sheet");
    assert_figure(s, "gpu.h100-80gb-sxm.hbm_efficiency", "89%", 0.89, "", 0.05, "measured",
                  "BabelStream");
    assert_figure(s, "gpu.h100-80gb-sxm.context", "500MB", 5e8, "B", 0.2, "published",
                  "nvidia-smi of a process");
    assert_figure(s, "gpu.h100-80gb-sxm.clock", "1830MHz", 1.83e9, "Hz", 0, "specification",
                  "white paper");
    assert_figure(s, "gpu.h100-80gb-sxm.power", "700W", 700, "W", 0, "specification", "");
    assert_figure(s, "gpu.h100-80gb-sxm.price_per_hour", "2.5USD", 2.5, "USD", 0.4, "published",
                  "on-demand");
    assert_figure(s, "gpu.h100-80gb-sxm.sm_count", "132", 132, "", 0, "specification", "");
    assert_figure(s, "gpu.h100-80gb-sxm.node", "dgx-h100", NAN, "", 0, "specification", "");
    assert_figure(s, "node.dgx-h100.nic_latency", "0.6us", 0.6e-6, "s", 0.3, "published",
                  "ib_write_lat");
    assert_figure(s, "node.dgx-h100.pcie_bandwidth", "50GB/s", 50e9, "B/s", 0, "scenario",
                  "the scenario, line 4");
    assert_figure(s, "fabric.custom.nic", "200Gb/s", 25e9, "B/s", 0, "scenario",
                  "the scenario, line 6");
    assert_figure(s, "software.megatron.launch", "20us", 20e-6, "s", 0, "scenario",
                  "the scenario, --set 1");
    assert_figure(s, "model.llama3-8b.layers", "32", 32, "", 0, "published", "arXiv:2407.21783");
    assert_figure(s, "model.llama3-8b.vocabulary", "128k", 128e3, "", 0, "scenario", "line 1");
    assert_figure(s, "model.llama3-8b.biases", "false", 0, "", 0, "default", "");
    assert_figure(s, "storage.nvme.node_write_bandwidth", "32GB/s", 32e9, "B/s", 0.25,
                  "specification", "DGX H100");
    assert_figure(s, "failures.rsc-1.node.mtbf", "153.846d", 153.846 * 86400, "s", 0, "published",
                  "");
    assert_null(find(s->stated.figures, s->stated.figure_count, "storage.pfs.latency"));
    scenario_destroy(s);
}

/* What is uncertain in a step stands there with the value and the error that the draws use. */
static void test_constants_are_figures(void **state)
{
    struct scenario *s = read(weeks, NULL);
    assert_true(s->stated.constant_count > 50);
    for (unsigned i = 0; i < s->stated.constant_count; i++) {
        const struct constant *c = &s->stated.constants[i];
        const struct stated_figure *f = find(s->stated.figures, s->stated.figure_count, c->name);
        assert_non_null(f);
        assert_true(f->number && f->value == constant_value(&s->configuration, c));
        assert_true(f->error_ratio == c->error_ratio);
        assert_string_equal(f->origin, constant_origin_names[c->origin]);
    }
    for (unsigned i = 0; i < s->stated.figure_count; i++)
        assert_ptr_equal(find(s->stated.figures, s->stated.figure_count, s->stated.figures[i].name),
                         &s->stated.figures[i]);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_entry_names_its_sources),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_where_figures_are_from),
        cmocka_unit_test(test_constants_are_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
