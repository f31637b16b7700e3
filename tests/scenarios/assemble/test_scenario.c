/* Every bad input gets its message: exact words, exact place. Each case replaces one line of a
 * sound scenario and states every problem that must be found, in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

enum {
    MODEL,
    CLUSTER,
    TRAINING,
    LAYOUT,
    SOFTWARE,
    MORE,
    LINE_COUNT
};
static const char *const sound[LINE_COUNT] = {
    "model: {preset: llama3-8b}",
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: ib-ndr-8x400}",
    "training: {sequence: 8192, global_batch: 64}",
    "layout: {tp: 8}",
    "software: megatron",
    "",
};

struct bad {
    int line; /* which line of the sound scenario is replaced */
    const char *text;
    const char *problems; /* "line:column: text\n" each; warnings begin with '~' */
};

static struct scenario *read_text(const char *text, const char *const *sets, unsigned set_count)
{
    struct scenario_options options = {.sets = sets, .set_count = set_count};
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), &options, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

static void compose(char *text, size_t size, int line, const char *replacement)
{
    size_t at = 0;
    for (int i = 0; i < LINE_COUNT; i++)
        at += (size_t)snprintf(text + at, size - at, "%s\n", i == line ? replacement : sound[i]);
}

static void list_problems(const struct scenario *scenario, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < scenario->diagnostics.problem_count && at < size; i++) {
        const struct problem *p = &scenario->diagnostics.problems[i];
        const char *file = strcmp(p->file, "t.yaml") == 0 ? "" : p->file;
        at += (size_t)snprintf(text + at, size - at, "%s%s%s%u:%u: %s\n", p->warning ? "~" : "",
                               file, *file ? ":" : "", p->line, p->column, p->text);
    }
}

static void test_sound(void **state)
{
    char text[4096], problems[4096];
    compose(text, sizeof text, -1, "");
    struct scenario *scenario = read_text(text, NULL, 0);
    list_problems(scenario, problems, sizeof problems);
    assert_string_equal(problems, "");
    const struct configuration *c = &scenario->configuration;
    assert_string_equal(scenario->name, "t");
    assert_string_equal(c->model.name, "llama3-8b");
    assert_int_equal(c->model.layers, 32);
    assert_string_equal(c->gpu.name, "h100-80gb-sxm");
    assert_int_equal(c->layout.dp, 2);
    assert_int_equal(c->layout.pipeline.vpp, 1);
    assert_string_equal(c->training.precision->head.name, "bf16");
    assert_non_null(c->layout.pipeline.schedule);
    assert_non_null(c->layout.data.sharding);
    assert_non_null(c->cluster.fabric.kind);
    assert_int_equal(c->seed, 1);
    scenario_destroy(scenario);
}

#define TIMES "ns, us, ms, s, min, h, d, y"
#define SIZES "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB"
#define RATES "B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s, b/s, kb/s, Mb/s, Gb/s, Tb/s"
static const struct bad bad[] = {
    /* names */
    {LAYOUT, "layout: {tpp: 8}", "4:10: unknown key 'tpp' in layout; did you mean 'tp'?\n"},
    {MORE, "lay_out: {tp: 8}", "6:1: unknown key 'lay_out'; did you mean 'layout'?\n"},
    {MODEL, "model: llama3-8",
     "1:8: model.preset: unknown model 'llama3-8'; did you mean 'llama3-8b'?\n"},
    {CLUSTER, "cluster: {gpu: h100, node: dgx-h100}",
     "2:16: cluster.gpu.name: unknown GPU 'h100'; did you mean 'h100-80gb-sxm', 'h100-80gb-pcie' "
     "or "
     "'h100-96gb-hbm2e-500w'?\n"},
    {CLUSTER, "cluster: {gpu: B200, node: dgx-h100}",
     "2:16: cluster.gpu.name: unknown GPU 'B200'; did you mean 'b200-180gb-sxm'?\n"},
    {CLUSTER, "cluster: {gpu: gb300-nvl72, node: dgx-h10}",
     "2:16: cluster.gpu.name: unknown GPU 'gb300-nvl72'; did you mean 'gb300-288gb', "
     "'gb200-186gb' or 'b300-288gb-sxm'?\n2:35: cluster.node.name: unknown node 'dgx-h10'; did "
     "you mean 'dgx-h100'?\n"},
    {SOFTWARE, "software: megatron-lm",
     "5:11: software.profile: unknown software profile 'megatron-lm'; did you mean 'megatron'?\n"},
    {MODEL, "model: llama4-8b",
     "1:8: model.preset: unknown model 'llama4-8b'; did you mean 'llama3-8b'?\n"},
    /* a number where a word stands is meant for a key of that word */
    {MODEL, "model: {preset: llama3-8b, ffn: 20480}",
     "1:33: model.ffn: unknown choice '20480'; did you mean 'ffn_hidden'?\n"},
    {TRAINING, "training: {sequence: 8192, global_batch: 16, adapter: 16}",
     "3:55: training.adapter: unknown choice '16'; did you mean 'adapter_rank'?\n"},
    {LAYOUT, "layout: {recompute: 4}",
     "4:21: layout.recompute: unknown choice '4'; did you mean 'recompute_layers'?\n"},
    {LAYOUT, "layout: {placement: 4}",
     "4:21: layout.placement: unknown choice '4'; known: packed, scattered\n"},
    {SOFTWARE, "software: {profile: megatron, usual_sharding: zero1}",
     "5:47: software.usual_sharding: unknown sharding 'zero1'; did you mean 'zero-1'?\n"},
    {SOFTWARE, "software: {profile: megatron, full_sharding: sdp}",
     "5:46: software.full_sharding: unknown sharding 'sdp'; did you mean 'fsdp'?\n"},
    {LAYOUT, "layout: {pp: *2}",
     "4:14: anchors and aliases are refused; write the value where it is meant\n"},
    {LAYOUT, "layout: {sharding: ZERO}",
     "4:20: layout.sharding: unknown sharding 'ZERO'; did you mean 'zero-0', 'zero-1', 'zero-2' or "
     "'zero-3'?\n"},
    {TRAINING, "training: {sequence: 8192, global_batch: 64, attention: flash}",
     "3:57: training.attention: unknown choice 'flash'; did you mean 'flash1', 'flash2' or "
     "'flash3'?\n"},
    /* a word of Hugging Face's, a key of another section, of another kind, of nothing */
    {MODEL, "model: {preset: llama3-8b, intermediate_size: 20480}",
     "1:28: unknown key 'intermediate_size' in model; did you mean 'ffn_hidden'?\n"},
    {LAYOUT, "layout: {seed: 8}",
     "4:10: unknown key 'seed' in layout; it stands at the top of a scenario, in no section\n"},
    {LAYOUT, "layout: {nodes: 8}",
     "4:10: unknown key 'nodes' in layout; did you mean 'cluster.nodes'?\n"},
    {MORE, "TP: 8", "6:1: unknown key 'TP'; did you mean 'layout.tp'?\n"},
    {MORE, "micro: 2", "6:1: unknown key 'micro'; did you mean 'layout.microbatch'?\n"},
    {MORE, "mtbf: 2y", "6:1: unknown key 'mtbf'; did you mean 'failures[0].mtbf'?\n"},
    {MORE, "capacity: 1",
     "6:1: unknown key 'capacity'; did you mean 'perturbations.links[0].capacity'?\n"},
    {MORE, "mean: 2h",
     "6:1: unknown key 'mean'; did you mean 'failures[0].detect.mean', 'failures[0].repair.mean', "
     "'failures[0].slow_time.mean', 'recovery.repair.mean', ...?\n"},
    {MORE, "ep: 2", "6:1: unknown key 'ep'; did you mean 'layout.ep'?\n"},
    {LAYOUT, "layout: {Tp: 8}", "4:10: unknown key 'Tp' in layout; did you mean 'tp'?\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: {kind: rail, x: 4, latency: 5us}}",
     "2:62: unknown key 'x' in cluster.fabric; it goes with kind: torus\n"},
    {MORE, "xyzzy: 2",
     "6:1: unknown key 'xyzzy'; known, the nearest first: name, seed, model, layout, notes, cost, "
     "run, expect, lesson, cluster, storage, recovery, training, software, failures, checkpoint, "
     "...\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, node: dgx-h10O}",
     "2:37: cluster.node.name: unknown node 'dgx-h10O'; did you mean 'dgx-h100'?\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: {kind: rial}}",
     "2:72: cluster.fabric.kind: unknown kind of fabric 'rial'; did you mean 'rail'?\n"},
    {LAYOUT, "layout: {tp: 8, schedule: 1fb1}",
     "4:27: layout.schedule: unknown schedule '1fb1'; did you mean '1f1b'?\n"},
    {LAYOUT, "layout: {tp: 8, sharding: zero1}",
     "4:27: layout.sharding: unknown sharding 'zero1'; did you mean 'zero-1'?\n"},
    {LAYOUT, "layout: {tp: 8, recompute: ful}",
     "4:28: layout.recompute: unknown choice 'ful'; did you mean 'full'?\n"},
    {TRAINING, "training: {sequence: 8192, global_batch: 64, precision: bf61, optimizer: adamx}",
     "3:57: training.precision: unknown precision 'bf61'; did you mean 'bf16'?\n"
     "3:74: training.optimizer: unknown optimizer 'adamx'; did you mean 'adam'?\n"},
    {SOFTWARE, "software: megatrom",
     "5:11: software.profile: unknown software profile 'megatrom'; did you mean 'megatron'?\n"},
    {SOFTWARE, "software: maxtext",
     "5:11: software.profile: maxtext runs on JAX, whose compiler decides on fusion, "
     "memory and communication: there is no profile of it; fsdp is the nearest\n"},
    /* units, numbers, ranges */
    {CLUSTER, "cluster: {gpu: {name: h100-80gb-sxm, usable_hbm: 80}, node: dgx-h100}",
     "2:50: cluster.gpu.usable_hbm: '80' has no unit; write one of " SIZES "\n"},
    {CLUSTER,
     "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: {kind: rail, nic: 400}}",
     "2:83: cluster.fabric.nic: '400' has no unit; write one of " RATES "\n"},
    {SOFTWARE, "software: {profile: megatron, launch: 5}",
     "5:39: software.launch: '5' has no unit; write one of " TIMES "\n"},
    {MORE, "cost: {gpu_hour: 2.5}",
     "6:18: cost.gpu_hour: '2.5' has no unit; write one of USD, kUSD, MUSD\n"},
    {LAYOUT, "layout: {tp: 8.5}", "4:14: layout.tp: '8.5' is not a whole number\n"},
    {LAYOUT, "layout: {tp: eight}", "4:14: layout.tp: 'eight' is not a number\n"},
    {LAYOUT, "layout: {tp: 0}", "4:14: layout.tp: 0 is out of range; it goes from 1 to 4194304\n"},
    {LAYOUT, "layout: {tp: .inf}", "4:14: layout.tp: '.inf' is not a number\n"},
    {TRAINING, "training: {sequence: 8192, global_batch: 99999T}",
     "3:42: training.global_batch: '99999T' is too large\n"},
    {LAYOUT, "layout: {tp: 8, sequence_parallel: yes}",
     "4:36: layout.sequence_parallel: 'yes' is neither true nor false\n"},
    {MORE, "perturbations: {jitter: 120%}",
     "6:25: perturbations.jitter: 120% is out of range; it goes from 0 to 1\n"},
    /* shapes of the document */
    {LAYOUT, "layout: 8", "4:9: layout takes keys with values, not a word\n"},
    {LAYOUT, "layout: [8]", "4:9: layout takes keys with values, not a list\n"},
    {LAYOUT, "layout: {tp: [8]}", "4:14: layout.tp takes one value, not a list\n"},
    {LAYOUT, "layout: {tp: }", "4:10: layout.tp has no value\n"},
    {MORE, "notes: {at: 3s}", "6:8: notes takes a list, not a mapping\n"},
    {MORE, "notes: [{at: 3s}]", "6:9: notes[0].say must be given: The caption.\n"},
    {TRAINING, "",
     "1:1: training must be given: Batch, sequence, number formats "
     "and optimizer of training.\n"},
    {TRAINING, "training: {sequence: 8192}",
     "3:1: training.global_batch must be given: Sequences in a step, over all replicas.\n"},
    {MODEL, "model: {layers: 2, hidden: 64, heads: 4}",
     "1:1: model.vocabulary must be given: Entries of the vocabulary, without padding.\n"},
    {MODEL, "model: {preset: llama3-8b, hf: config.json}",
     "1:32: model: 'preset' and 'hf' exclude each other\n"},
    {MODEL, "model: {hf: no/such/config.json}",
     "1:13: model.hf: there is no file 'no/such/config.json' in the working folder\n"},
    {MODEL, "model: {hf: /no/such/config.json}",
     "1:13: model.hf: there is no file '/no/such/config.json'\n"},
    {MODEL, "model: {layers: 2, hidden: 65, heads: 4, vocabulary: 100}",
     "1:39: model.heads: hidden (65) is not divisible by heads (4); give head_size\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, fabric: \"\"}, nodes: 2}",
     "2:1: cluster.fabric must be given by a name of the catalogue or a 'kind'\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, gpus: 12, fabric: ib-ndr-8x400}",
     "2:53: cluster.gpus: 12 is not a whole number of nodes of 8 GPUs\n"},
    {CLUSTER,
     "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, gpus: 24, fabric: ib-ndr-8x400}",
     "2:63: cluster.gpus: 2 nodes of 8 GPUs have 16; give nodes or gpus alone\n"},
    {CLUSTER, "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 1M, fabric: ib-ndr-8x400}",
     "2:54: cluster: more than 4194304 GPUs cannot be simulated\n"},
    /* what this version does not simulate */
    {LAYOUT, "layout: {tp: 8, ep: 8}",
     "4:21: layout.ep: a dense model has no experts to share: remove ep\n"},
    /* perturbations */
    {MORE, "perturbations: {stragglers: [{gpu: 16, speed: 80%}]}",
     "6:36: perturbations.stragglers[0].gpu: there is no GPU 16; they are numbered from 0 to 15\n"},
    {MORE, "perturbations: {links: [{gpu: 1, link: nik, capacity: 0}]}",
     "6:40: perturbations.links[0].link: unknown choice 'nik'; did you mean 'nic'?\n"
     "6:55: perturbations.links[0].capacity: 0 is out of range; it goes from 0.001 to 1\n"},
    {CLUSTER,
     "cluster: {gpu: h100-80gb-sxm, node: {name: dgx-h100, kind: pcie}, nodes: 2, fabric: "
     "ib-ndr-8x400}\nperturbations: {links: [{gpu: 1, link: nvlink, capacity: 0.5}]}",
     "3:40: perturbations.links.link: GPU 1 of this cluster has no such link\n"},
    {MORE, "perturbations: {links: [{gpu: 1, link: fabric, capacity: 0.5}]}",
     "6:40: perturbations.links[0].link: unknown choice 'fabric'; known: nic, nvlink, pcie\n"},
    /* impossible layouts */
    {LAYOUT, "layout: {tp: 3}",
     "4:1: layout: the world size 16 is not divisible by tp x pp x cp = 3 x 1 x 1 = 3\n"
     "4:14: layout.tp: 32 attention heads are not divisible by tp = 3\n"},
    {LAYOUT, "layout: {tp: 8, dp: 4}",
     "4:21: layout.dp: tp x pp x cp x dp = 32 ranks, but the cluster has 16 GPUs: dp can be at "
     "most "
     "2\n"},
    {TRAINING, "training: {sequence: 8192, global_batch: 63}",
     "3:42: training.global_batch: the global batch 63 is not divisible by dp x microbatch = 2 x 1 "
     "= "
     "2\n"},
    {LAYOUT, "layout: {pp: 16, vpp: 3, schedule: interleaved}",
     "4:23: layout.vpp: 32 layers are fewer than pp x vpp = 16 x 3 = 48 chunks\n"},
    {LAYOUT, "layout: {tp: 8, order: tp-dp}",
     "4:24: layout.order: 'tp-dp' must name each of tp, cp, dp, pp once, joined by dashes: "
     "tp-cp-dp-pp; or be auto\n"},
    {LAYOUT, "layout: {tp: 8, sequence_parallel: true, cp: 2, microbatch: 3}",
     "3:42: training.global_batch: the global batch 64 is not divisible by dp x microbatch = 1 x 3 "
     "= "
     "3\n"},
    /* several at once: problems of one section do not hide those of another */
    {MODEL, "mdoel: {preset: llama3-8b}\nnotes: [{at: 3, say: x}]\nseed: -1",
     "1:1: model must be given: The model: a preset, a Hugging Face config.json, or the shape "
     "itself.\n"
     "1:1: unknown key 'mdoel'; did you mean 'model'?\n"
     "2:14: notes[0].at: '3' has no unit; write one of " TIMES "\n"
     "3:7: seed: '-1' is not a whole number\n"},
    /* columns count characters */
    {MORE, "notes: [{say: \"\xC3\xA9\xC3\xA9\xC3\xA9\", at: 3}]",
     "6:26: notes[0].at: '3' has no unit; write one of " TIMES "\n"},
    /* syntax */
    {MORE, "seed: 1\nseed: 2", "7:1: duplicate key 'seed'; it stands on line 6 already\n"},
    {MORE, "seed: *x", "6:7: anchors and aliases are refused; write the value where it is meant\n"},
    {LAYOUT, "layout: {tp: 8", "5:9: ',' or '}' was expected here\n"},
};

static void test_bad(void **state)
{
    char text[4096], problems[8192];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        compose(text, sizeof text, bad[i].line, bad[i].text);
        struct scenario *scenario = read_text(text, NULL, 0);
        list_problems(scenario, problems, sizeof problems);
        assert_string_equal(problems, bad[i].problems);
        assert_true(scenario->diagnostics.error_count > 0);
        scenario_destroy(scenario);
    }
}

/* 0 is a rate and a number of the node's, and no network that is broken: said, not refused. */
static void test_nic_of_zero(void **state)
{
    static const char *const fabrics[] = {"nic: 0Gb/s", "nics: 0"};
    static const char *const told[] = {
        "~2:83: cluster.fabric.nic: 0 stands for the rate of the node; leave the key out, or say "
        "another\n",
        "~2:84: cluster.fabric.nics: 0 stands for the number of the node; leave the key out, or "
        "say "
        "another\n"};
    char line[256], text[4096], problems[8192];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(
            line, sizeof line,
            "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, fabric: {kind: rail, %s}}",
            fabrics[i]);
        compose(text, sizeof text, CLUSTER, line);
        struct scenario *scenario = read_text(text, NULL, 0);
        list_problems(scenario, problems, sizeof problems);
        assert_string_equal(problems, told[i]);
        scenario_destroy(scenario);
    }
}

struct set_case {
    const char *set, *problems;
};
static const struct set_case set_cases[] = {
    {"model.preset=llama3-8",
     "--set:1:14: model.preset: unknown model 'llama3-8'; did you mean 'llama3-8b'?\n"},
    {"layout.tpp=4", "--set:1:1: unknown key 'tpp' in layout; did you mean 'tp'?\n"},
    {"tp=4", "--set:1:1: unknown key 'tp'; did you mean 'layout.tp'?\n"},
    {"layout.tp=", "--set:1:1: layout.tp has no value\n"},
    {"layout.tp", "--set:1:1: --set takes KEY=VALUE, like layout.tp=4\n"},
    {"=4", "--set:1:1: --set takes KEY=VALUE, like layout.tp=4\n"},
    {"layout..tp=4", "--set:1:8: --set takes KEY=VALUE with keys like layout.tp or notes[0].say\n"},
    {"layout.tp.x=4", "--set:1:11: 'layout.tp' is a word, so nothing can be set inside it\n"},
    {"notes[1].at=3s", "--set:1:6: there is no item [1]; the list has 0\n"},
    {"notes[x].at=3s", "--set:1:6: an item of a list is written [0], [1], ...\n"},
    {"layout.tp=[1", "--set:1:13: ',' or ']' was expected here\n"},
    {"layout.tp=4\nmodel: x", "--set:1:12: a line break; --set takes one line\n"},
    {"software.launch=5us", ""},
    {"cluster.gpu.usable_hbm=70GiB", ""},
    {"notes[0]={at: 3s, say: x}", ""},
    {"layout={tp: 4, dp: 4}", ""},
};

static void test_sets(void **state)
{
    char text[4096], problems[8192];
    compose(text, sizeof text, -1, "");
    for (size_t i = 0; i < sizeof set_cases / sizeof set_cases[0]; i++) {
        struct scenario *scenario = read_text(text, &set_cases[i].set, 1);
        list_problems(scenario, problems, sizeof problems);
        assert_string_equal(problems, set_cases[i].problems);
        scenario_destroy(scenario);
    }
}

static void test_set_changes_the_value(void **state)
{
    static const char *const sets[] = {"layout.tp=4", "model.layers=16", "software.launch=7us",
                                       "layout.tp=2", "cluster.fabric={kind: rail, nic: 200Gb/s}"};
    char text[4096];
    compose(text, sizeof text, -1, "");
    struct scenario *scenario = read_text(text, sets, 5);
    const struct configuration *c = &scenario->configuration;
    assert_int_equal(scenario->diagnostics.error_count, 0);
    assert_int_equal(c->layout.tp, 2);
    assert_int_equal(c->layout.dp, 8);
    assert_int_equal(c->model.layers, 16);
    assert_int_equal(c->model.hidden, 4096);
    assert_true(c->model.nominal_parameters == 0);
    assert_true(c->software.host.launch_s > 6.9e-6 && c->software.host.launch_s < 7.1e-6);
    assert_true(c->cluster.fabric.nic_bytes_per_s == 25e9);
    scenario_destroy(scenario);
}

/* As it was read, with its own sets and seed; what is said last holds. */
static void test_again(void **state)
{
    static const char *const own[] = {"layout.tp=4", "layout.microbatch=2"};
    static const char *const more[] = {"layout.tp=2"};
    struct scenario_options options = {.sets = own, .set_count = 2, .has_seed = true, .seed = 7};
    char text[1024];
    struct error error = {{0}};
    compose(text, sizeof text, MORE, "");
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
    struct scenario *again = scenario_read_again(s, more, 1, &error);
    assert_true(s->choices.made && again->choices.made);
    assert_int_equal(s->configuration.layout.tp, 4);
    assert_int_equal(again->configuration.layout.tp, 2);
    assert_int_equal(again->configuration.layout.microbatch, 2);
    assert_int_equal(again->configuration.seed, 7);
    scenario_destroy(s);
    scenario_destroy(again);
}

static void test_error_cap(void **state)
{
    char text[4096], *printed = NULL;
    size_t at = 0, size = 0;
    for (int i = 0; i < 33; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "key%d: 1\n", i);
    struct scenario *scenario = read_text(text, NULL, 0);
    assert_int_equal(scenario->diagnostics.error_count, 36); /* and three sections missing */
    assert_int_equal(scenario->diagnostics.problem_count, 20);
    FILE *out = open_memstream(&printed, &size);
    scenario_print_problems(scenario, out, false);
    fclose(out);
    assert_non_null(strstr(printed, "\nand 16 more errors\n"));
    free(printed);
    scenario_destroy(scenario);
}

static void check_print(const char *text, bool colour, const char *expected)
{
    char *printed = NULL;
    size_t size = 0;
    struct scenario *scenario = read_text(text, NULL, 0);
    FILE *out = open_memstream(&printed, &size);
    scenario_print_problems(scenario, out, colour);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
    scenario_destroy(scenario);
}

static void test_print(void **state)
{
    char text[4096];
    compose(text, sizeof text, LAYOUT, "layout: {\ttpp: 8}");
    check_print(text, false,
                "t.yaml:4:11: error: unknown key 'tpp' in layout; did you mean 'tp'?\n"
                "    4 | layout: { tpp: 8}\n"
                "      |           ^~~\n");
    check_print(text, true,
                "\033[1mt.yaml:4:11:\033[0m \033[1;31merror:\033[0m unknown key 'tpp' in layout; "
                "did you mean 'tp'?\n"
                "    4 | layout: { tpp: 8}\n"
                "      |           \033[1;32m^~~\033[0m\n");
    check_print("seed: \"", false,
                "t.yaml:1:7: error: the text ends inside quotes\n"
                "    1 | seed: \"\n"
                "      |       ^\n");
}

/* A line of a kilobyte is cut around its caret. */
static void test_print_long_line(void **state)
{
    char text[4096], *printed = NULL;
    size_t size = 0;
    snprintf(text, sizeof text, "name: %0500d\nlayout: {tp: 8%*s, tpp: 8%*s}\n", 7, 500, "", 500,
             "");
    struct scenario *scenario = read_text(text, NULL, 0);
    FILE *out = open_memstream(&printed, &size);
    scenario_print_problems(scenario, out, false);
    fclose(out);
    const char *line = strstr(printed, "    2 | ");
    assert_non_null(line);
    const char *end = strchr(line, '\n');
    const char *caret = strchr(end, '^');
    assert_true(end - line == 8 + 120);
    assert_true(memcmp(line + (caret - end - 1), "tpp", 3) == 0);
    free(printed);
    scenario_destroy(scenario);
}

static void test_texts_that_are_none(void **state)
{
    char problems[1024];
    static const struct set_case texts[] = {
        {"", "1:1: the scenario is empty\n"},
        {"# nothing\n", "1:1: the scenario is empty\n"},
        {"hello\n", "1:1: a scenario takes keys with values, not a word\n"},
        {"- a\n- b\n", "1:1: a scenario takes keys with values, not a list\n"},
        {"\xEF\xBB\xBFseed: 1x\nmodel: {\n", "3:1: a value was expected here\n"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct scenario *scenario = read_text(texts[i].set, NULL, 0);
        list_problems(scenario, problems, sizeof problems);
        assert_string_equal(problems, texts[i].problems);
        scenario_destroy(scenario);
    }
}

static void test_missing_file(void **state)
{
    struct error error = {{0}};
    struct scenario_options options = {.catalogue = "no/such/folder"};
    assert_null(scenario_read("no/such/file.yaml", NULL, 0, NULL, &error));
    assert_string_equal(error.text, "no/such/file.yaml: No such file or directory");
    assert_null(scenario_read("t.yaml", "model: llama3-8b", 16, &options, &error));
    assert_string_equal(error.text, "no/such/folder/models.yaml: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_nic_of_zero),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_set_changes_the_value),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_error_cap),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_print_long_line),
        cmocka_unit_test(test_texts_that_are_none),
        cmocka_unit_test(test_missing_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
