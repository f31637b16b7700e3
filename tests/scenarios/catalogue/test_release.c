/* Software by the month: which month a word is, and what an entry holds in it. */
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/release.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/parse.h"
#include "tests/test.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void words_of_months(void **state)
{
    static const struct {
        const char *text;
        unsigned year, month; /* month 0: none */
    } words[] = {{"2025-11", 2025, 11}, {"2025.01", 2025, 1},   {"2024", 2024, 12},
                 {"25.11", 2025, 11},   {"26.04.01", 2026, 5},  {"ngc24.09", 2024, 9},
                 {"2000-01", 2000, 1},  {"00.01", 2000, 1},     {"", 0, 0},
                 {"25.12.01", 2026, 1}, {"25.11.00", 2025, 11}, {"25", 0, 0},
                 {"25.13", 0, 0},       {"25.00", 0, 0},        {"25.1", 0, 0},
                 {"25-11", 0, 0},       {"2025-11-3", 0, 0},    {"2025-11.3", 0, 0},
                 {"1999-01", 0, 0},     {"20255-11", 0, 0},     {"025.11", 0, 0},
                 {"25.11.", 0, 0},      {"25.11x", 0, 0},       {"ngc", 0, 0},
                 {"NGC25.11", 0, 0},    {"-25.11", 0, 0},       {"2025-1", 0, 0},
                 {"25.111", 0, 0},      {"2999-12", 2999, 12},  {"3000-01", 0, 0}};
    for (unsigned i = 0; i < COUNT(words); i++) {
        const unsigned wanted = words[i].month > 0 ? words[i].year * 12 + words[i].month - 1 : 0;
        if (release_month(words[i].text) != wanted)
            fail_msg("%s: month %u, not %u", words[i].text, release_month(words[i].text), wanted);
    }
    assert_true(release_month("2999-12") < RELEASE_NEWEST);
}

struct read {
    struct arena *arena;
    struct problems *problems;
    const struct value *entry;
};

static struct read read_entry(const char *text)
{
    struct read r = {.arena = arena_create()};
    r.problems = ARENA_NEW(r.arena, struct problems);
    r.problems->arena = r.arena;
    struct source *source = ARENA_NEW(r.arena, struct source);
    *source = (struct source){.name = "t", .text = text, .bytes = strlen(text)};
    r.entry = parse_source(r.arena, source, 0, r.problems);
    assert_int_equal(r.problems->error_count, 0);
    return r;
}

static const char *word(const struct value *entry, const char *key)
{
    const struct value *found = value_find(entry, key);
    return found != NULL ? found->text : "";
}

/* What the fact that sets a key says of it; "": none does. */
static const char *set_of(struct release_history history, const char *month, const char *key,
                          const struct release_run *run, uint64_t skip)
{
    const unsigned at = month ? release_month(month) : (unsigned)RELEASE_NEWEST;
    const struct release_fact *fact = release_setter(history, at, key, run, skip);
    return fact != NULL ? word(fact->sets, key) : "";
}

static const struct release_run any_run = {.card = "h100-80gb-sxm",
                                           .precision = "bf16",
                                           .scaling = "",
                                           .dispatch = "alltoall",
                                           .gpus = 64};

/* Rows in no order, two facts of one month, one that ends: each holds from its own month on. */
static void facts_hold_from_their_month_on(void **state)
{
    struct read r =
        read_entry("launch: 1us\nnorm: 4\n"
                   "history:\n"
                   "- {since: 2025-09, what: b, source: s, sets: {norm: 6, fusion: on}}\n"
                   "- {since: 2024-05, what: a, source: s, sets: {norm: 5}}\n"
                   "- {since: 2025-09, what: c, source: s, sets: {fusion: all}}\n"
                   "- {since: 2026-01, until: 2026-02, what: d, source: s, sets: {norm: 7}, "
                   "size: 3 %, untaken: more}\n");
    static const struct {
        const char *month, *norm, *fusion;
    } wanted[] = {{"2024-04", "", ""},     {"2024-05", "5", ""},    {"2025-08", "5", ""},
                  {"2025-09", "6", "all"}, {"2025-12", "6", "all"}, {"2026-01", "7", "all"},
                  {"2026-02", "7", "all"}, {"2026-03", "6", "all"}, {NULL, "6", "all"}};
    const struct release_history history = release_history(r.arena, r.problems, r.entry);
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        assert_string_equal(set_of(history, wanted[i].month, "norm", &any_run, 0), wanted[i].norm);
        assert_string_equal(set_of(history, wanted[i].month, "fusion", &any_run, 0),
                            wanted[i].fusion);
    }
    /* left out: the later of two, both, the one that ended */
    assert_string_equal(set_of(history, "2025-10", "fusion", &any_run, 4), "on");
    assert_string_equal(set_of(history, "2025-10", "fusion", &any_run, 5), "");
    assert_string_equal(set_of(history, "2026-01", "norm", &any_run, 8), "6");
    assert_int_equal(history.count, 4);
    assert_string_equal(history.facts[3].size, "3 %");
    assert_string_equal(history.facts[3].untaken, "more");
    assert_true(*history.facts[0].size == '\0' && *history.facts[0].untaken == '\0');
    assert_int_equal(release_newest(history), release_month("2026-01"));
    assert_int_equal(release_before(history, release_month("2026-01")), release_month("2025-09"));
    assert_int_equal(release_before(history, release_month("2024-05")), 0);
    assert_string_equal(release_month_text(r.arena, release_month("25.12")), "2025-12");
    assert_int_equal(r.problems->error_count, 0);
    arena_destroy(r.arena);
}

/* Each condition, met and not. */
static void a_fact_asks_for_its_runs(void **state)
{
    static const struct {
        const char *when;
        struct release_run run;
        bool holds;
    } cases[] = {
#define RUN(...)                                                                                   \
    {.card = "gb200-186gb",                                                                        \
     .precision = "fp8",                                                                           \
     .scaling = "mxfp8",                                                                           \
     .dispatch = "hybridep",                                                                       \
     .gpus = 64,                                                                                   \
     __VA_ARGS__}
        {"experts: true", RUN(.experts = true), true},
        {"experts: true", RUN(.experts = false), false},
        {"experts: false", RUN(.experts = false), true},
        {"latent: true", RUN(.latent = false), false},
        {"latent: true", RUN(.latent = true), true},
        {"recurrent: false", RUN(.recurrent = true), false},
        {"recurrent: false", RUN(.recurrent = false), true},
        {"image: false", RUN(.image = true), false},
        {"image: false", RUN(.image = false), true},
        {"image: true", RUN(.image = true), true},
        {"cards: h100+gb200", RUN(.experts = true), true},
        {"cards: b200", RUN(.experts = true), false},
        {"cards: gb200+b200",
         {.card = "b200-180gb-sxm", .precision = "", .scaling = "", .dispatch = ""},
         true},
        {"cards: gb2", RUN(.experts = true), false},
        {"precision: fp8", RUN(.experts = true), true},
        {"precision: bf16+mxfp8", RUN(.experts = true), true},
        {"precision: bf16+current", RUN(.experts = true), false},
        {"precision: mxfp8",
         {.card = "", .precision = "bf16", .scaling = "", .dispatch = ""},
         false},
        {"dispatch: hybridep", RUN(.experts = true), true},
        {"dispatch: deepep+alltoall", RUN(.experts = true), false},
        {"gpus_from: 64", RUN(.experts = true), true},
        {"gpus_from: 65", RUN(.experts = true), false},
        {"gpus_below: 64", RUN(.experts = true), false},
        {"gpus_below: 65", RUN(.experts = true), true},
        {"experts: true, cards: h100", RUN(.experts = true), false},
        {"experts: true, cards: gb200", RUN(.experts = true), true},
#undef RUN
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "history: [{since: 2025-01, what: a, source: s, when: {%s}, sets: {k: v}}]\n",
                 cases[i].when);
        struct read r = read_entry(text);
        const struct release_history history = release_history(r.arena, r.problems, r.entry);
        assert_int_equal(r.problems->error_count, 0);
        if (release_holds(&history.facts[0], release_month("2025-01"), &cases[i].run) !=
            cases[i].holds)
            fail_msg("case %u: {%s} %s", i, cases[i].when, cases[i].holds ? "fails" : "holds");
        assert_string_equal(set_of(history, NULL, "k", &cases[i].run, 0),
                            cases[i].holds ? "v" : "");
        arena_destroy(r.arena);
    }
}

/* The first month in which a value of a key was there; of `any`, all values; of one month the fact
 * that stands first. */
static void facts_bring_values(void **state)
{
    struct read r = read_entry("history:\n"
                               "- {since: 2025-09, what: b, source: s, brings: {k: a+b}}\n"
                               "- {since: 2025-04, what: a, source: s, brings: {k: b, j: any}}\n"
                               "- {since: 2025-04, what: c, source: s, brings: {k: b, j: x}}\n");
    const struct release_history history = release_history(r.arena, r.problems, r.entry);
    assert_ptr_equal(release_bringer(history, "k", "a"), &history.facts[0]);
    assert_ptr_equal(release_bringer(history, "k", "b"), &history.facts[1]);
    assert_ptr_equal(release_bringer(history, "j", "x"), &history.facts[1]);
    assert_null(release_bringer(history, "k", "c"));
    assert_null(release_bringer(history, "l", "a"));
    arena_destroy(r.arena);
}

static void no_history_is_none(void **state)
{
    struct read r = read_entry("launch: 1us\n");
    const struct release_history history = release_history(r.arena, r.problems, r.entry);
    assert_int_equal(history.count, 0);
    assert_int_equal(release_newest(history), 0);
    assert_int_equal(r.problems->error_count, 0);
    arena_destroy(r.arena);
}

static void what_is_no_fact_is_reported(void **state)
{
    static const char *const bad[] = {"history: yes\n",
                                      "history: {since: 2025-01}\n",
                                      "history: [{since: 2025-01, what: a}]\n",
                                      "history: [{since: 2025-01, source: s}]\n",
                                      "history: [{since: soon, what: a, source: s}]\n",
                                      "history: [word]\n",
                                      "history: [{since: 2025-01, what: a, source: s, sets: 3}]\n",
#define BAD(more) "history: [{since: 2025-01, what: a, source: s, " more "}]\n"
                                      BAD("sets: {a: [b]}"),
                                      BAD("when: {model: qwen}"),
                                      BAD("when: {experts: yes}"),
                                      BAD("when: {gpus_from: few}"),
                                      BAD("when: gb200"),
                                      BAD("until: 2024-12"),
                                      BAD("until: later"),
                                      BAD("brings: {a: {b: c}}")};
#undef BAD
    for (unsigned i = 0; i < COUNT(bad); i++) {
        struct read r = read_entry(bad[i]);
        assert_int_equal(release_history(r.arena, r.problems, r.entry).count, 0);
        assert_int_equal(r.problems->error_count, 1);
        arena_destroy(r.arena);
    }
}

static bool is_newest_of_nemo(unsigned month)
{
    struct arena *arena = arena_create();
    struct catalogue_entry entry;
    struct error error = {""};
    bool met = false;
    assert_true(describe_entry("software", "nemo", NULL, arena, &entry, &error));
    for (unsigned i = 0; i < entry.history.count; i++) {
        assert_true(entry.history.facts[i].month <= month);
        met = met || entry.history.facts[i].month == month;
    }
    arena_destroy(arena);
    return met;
}

static struct scenario *read_run(const char *model, const char *gpu, const char *training,
                                 const char *layout, const char *software)
{
    char text[768];
    snprintf(text, sizeof text,
             "cluster: {gpu: %s, gpus: 8}\nmodel: %s\n"
             "training: {sequence: 4096, global_batch: 64, precision: %s}\n"
             "layout: {sharding: zero-1, recompute: full, microbatch: 1, ep: 8%s}\nsoftware: %s\n",
             gpu, model, training, layout, software);
    const struct scenario_options how = {.catalogue = NULL};
    struct error error = {""};
    struct scenario *s = scenario_read("t", text, strlen(text), &how, &error);
    assert_non_null(s);
    return s;
}

static const struct made_choice *choice_of(const struct scenario *s, const char *path)
{
    for (unsigned i = 0; i < s->choices.count; i++)
        if (strcmp(choice_path(&s->choices.rows[i]), path) == 0)
            return &s->choices.rows[i];
    return NULL;
}

/* Through the door: what a scenario says itself goes before every fact, and the release that was
 * taken or said is told. */
static void scenarios_take_a_release(void **state)
{
    static const struct {
        const char *software;
        bool fusion, told;
        const char *month; /* of the release; NULL: the newest of nemo; "": none */
        bool modules;      /* it can compute them again */
        bool whole;        /* it shards no parameters yet */
    } cases[] = {{"nemo", true, true, NULL, true, false},
                 {"{profile: nemo, release: 2025-08}", false, true, "2025-08", false, true},
                 {"{profile: nemo, release: 25.09}", true, true, "2025-09", true, false},
                 {"{profile: nemo, release: 2025-08, router_fusion: true}", true, true, "2025-08",
                  false, true},
                 {"{profile: nemo, router_fusion: false}", false, true, NULL, true, false},
                 {"{profile: megatron, release: 2025-04}", false, true, "2025-04", false, true},
                 {"{profile: megatron, release: 2025-05}", false, true, "2025-05", false, false},
                 {"{profile: megatron, release: 2025-06}", false, true, "2025-06", false, false},
                 {"{profile: megatron, release: 2025-07}", false, true, "2025-07", true, false},
                 {"{profile: megatron, release: 2026-02}", false, true, "2026-02", true, false},
                 {"{profile: nanotron, release: 2025-01}", false, true, "2025-01", false, false},
                 {"{profile: torchtitan, release: 2024-12}", false, true, "2024-12", false, false},
                 {"megatron", false, false, "", true, false},
                 {"nanotron", false, false, "", false, false}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct scenario *s =
            read_run("qwen3-30b-a3b", "h100-80gb-sxm", "bf16", "", cases[i].software);
        assert_int_equal(s->configuration.software.experts.router_fusion, cases[i].fusion);
        const unsigned month = s->configuration.software.version.month;
        if (cases[i].month == NULL)
            assert_true(is_newest_of_nemo(month));
        else
            assert_int_equal(month, release_month(cases[i].month));
        assert_int_equal(choice_of(s, "software.release") != NULL, cases[i].told);
        assert_int_equal(s->configuration.software.offers.module_recompute, cases[i].modules);
        assert_int_equal(s->configuration.software.offers.whole_parameters, cases[i].whole);
        scenario_destroy(s);
    }
}

/* Transformer Engine's loss, in 16 bits: logits alone are held, their gradient in place; of passes
 * the maximum and sum read, the gradient reads and writes, and so does its product. */
static void the_loss_is_in_place_since_bridge(void **state)
{
    static const char *const months[] = {"2025-08", "2025-09"};
    for (unsigned i = 0; i < COUNT(months); i++) {
        char software[64];
        snprintf(software, sizeof software, "{profile: nemo, release: %s}", months[i]);
        struct scenario *s = read_run("llama3-8b", "h100-80gb-sxm", "bf16", "", software);
        const struct software_head *head = &s->configuration.software.head;
        const bool in_place = i == 1;
        const double logit = 2.0, passes = 1.0 + 2.0 + 2.0;
        assert_true((head->memory_bytes == logit) == in_place);
        assert_true((head->traffic_bytes == logit * passes) == in_place);
        assert_true((head->gradient_bytes == 0.0) == in_place);
        assert_true(in_place || head->memory_bytes > 3.0 * logit);
        scenario_destroy(s);
    }
}

/* The stranger's run of 2026-06 gets what its recipe set; a key that is said stays, and what does
 * not go with it is left out, no more. */
static void recipes_set_what_is_not_said(void **state)
{
    static const struct {
        const char *release, *gpu, *training, *layout, *software;
        const char *graphs, *dispatch;
        double room;
        bool stash, fused, attention;
    } cases[] = {
        {"2026-06", "gb200-186gb", "fp8", "", "", "full", "hybridep", 1.5, true, true, true},
        {"2026-04", "gb200-186gb", "fp8", "", "", "moe_router+moe_preprocess", "hybridep", 0, false,
         false, false},
        {"2026-06", "gb200-186gb", "bf16", "", "", "attn+moe_router+moe_preprocess", "hybridep", 0,
         false, false, false},
        {"2026-06", "b300-288gb-sxm", "fp8", "", "", "moe_router+moe_preprocess", "hybridep", 0,
         false, false, false},
        {"26.06.01", "b300-288gb-sxm", "fp8", "", "", "full", "hybridep", 1.5, true, true, true},
        {"2025-11", "h100-80gb-sxm", "fp8", "", "", "none", "alltoall", 0, false, false, false},
        {"2025-11", "h100-80gb-sxm", "bf16", "", "", "moe_router+moe_preprocess", "alltoall", 0,
         false, false, false},
        {"2025-10", "gb200-186gb", "fp8", "", "", "none", "alltoall", 0, false, false, false},
        /* said: a dispatch without room, graphs, an attention kernel of 16 bits, dropped rows */
        {"2026-06", "gb200-186gb", "fp8", ", dispatch: alltoall", "", "moe_router+moe_preprocess",
         "alltoall", 0, false, false, false},
        {"2026-06", "gb200-186gb", "fp8", "", ", cuda_graphs: none", "none", "hybridep", 1.5, true,
         true, true},
        {"2026-06", "gb200-186gb", "fp8, attention: flash2", "", "", "full", "hybridep", 1.5, true,
         true, false},
        {"2026-06", "gb200-186gb", "fp8", ", expert_capacity: 1", "", "moe_router+moe_preprocess",
         "alltoall", 0, false, false, false},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        char software[128];
        snprintf(software, sizeof software, "{profile: nemo, release: %s%s}", cases[i].release,
                 cases[i].software);
        struct scenario *s =
            read_run("qwen3-30b-a3b", cases[i].gpu, cases[i].training, cases[i].layout, software);
        const struct configuration *c = &s->configuration;
        if (s->diagnostics.error_count > 0)
            fail_msg("case %u: %s", i, s->diagnostics.problems[0].text);
        const char *graphs = c->software.graphs.modules;
        if (strcmp(graphs ? graphs : "none", cases[i].graphs) != 0)
            fail_msg("case %u: graphs %s", i, graphs);
        assert_string_equal(configuration_dispatch(c)->head.name, cases[i].dispatch);
        assert_true(configuration_expert_room(c) == cases[i].room);
        assert_int_equal(c->software.experts.paged_stash, cases[i].stash);
        assert_int_equal(c->software.experts.fused_mlp, cases[i].fused);
        assert_int_equal(c->software.fp8.attention, cases[i].attention);
        assert_int_equal(choice_of(s, "layout.rank_capacity") != NULL, cases[i].room > 0);
        scenario_destroy(s);
    }
}

/* The report's words: each key with its month, what an earlier recipe had, what is not taken. */
static void a_release_tells_what_it_set(void **state)
{
    struct scenario *s = read_run("qwen3-30b-a3b", "gb200-186gb", "fp8, attention: flash2", "",
                                  "{profile: nemo, release: 2026-06}");
    const struct made_choice *graphs = choice_of(s, "software.cuda_graphs"),
                             *release = choice_of(s, "software.release");
    assert_non_null(graphs);
    assert_string_equal(graphs->value, "full");
    assert_non_null(strstr(graphs->why, "release 2026-06: "));
    assert_non_null(release);
    assert_string_equal(release->value, "2026-06");
    static const char *const said[] = {
        "as the scenario says; 2026-05 would set",
        "2026-04 would set",
        "cuda_graphs: moe_router+moe_preprocess, and not ",
        "not rank_capacity, moe_paged_stash",
        "known, not taken: ",
        "moe_a2a_overlap",
        "left out beside what the scenario says: fp8_attention: true"};
    assert_null(strstr(release->why, said[0]));
    for (unsigned i = 1; i < COUNT(said); i++)
        if (strstr(release->why, said[i]) == NULL)
            fail_msg("'%s' lacks '%s'", release->why, said[i]);
    assert_null(strstr(release->why, "tokens dropped"));
    scenario_destroy(s);
    s = read_run("qwen3-30b-a3b", "h100-80gb-sxm", "bf16", "", "{profile: fsdp, release: 2025-01}");
    assert_string_equal(choice_of(s, "software.release")->why,
                        "no dated facts of this software: the release changes nothing");
    scenario_destroy(s);
}

/* A release before its card or before what is said beside it, and one of a later day. */
static void dates_must_go_together(void **state)
{
    static const struct {
        const char *gpu, *training, *software, *says; /* says NULL: nothing */
        bool error;
    } cases[] = {
        {"gb200-186gb", "bf16", "{profile: nemo, release: 23.04}", "the year of gb200-186gb", true},
        {"gb200-186gb", "bf16", "{profile: nemo, release: 24.04}", "the year of gb200-186gb",
         false},
        {"gb200-186gb", "bf16", "{profile: nemo, release: 25.04}", NULL, false},
        {"gb200-186gb", "bf16", "{profile: nemo, release: 2031}", "more than a year after", false},
        {"gb200-186gb", "bf16", "{profile: nemo, release: 2027-08}", NULL, false},
        {"gb200-186gb", "bf16", "{profile: nemo, release: 2027-09}", "more than a year", false},
        {"h100-80gb-sxm", "bf16", "{profile: nemo, release: 2023-04, cuda_graphs: full}",
         "software.cuda_graphs: full came to this software with 2025-04", false},
        {"h100-80gb-sxm", "bf16", "{profile: nemo, release: 2025-04, cuda_graphs: attn}",
         "with 2025-11", false},
        {"h100-80gb-sxm", "bf16", "{profile: nemo, release: 2025-11, cuda_graphs: attn}", NULL,
         false},
        {"h100-80gb-sxm", "bf16", "{profile: nemo, release: 2023-04, cuda_graphs: none}", NULL,
         false},
        {"h100-80gb-sxm", "fp8", "{profile: nemo, release: 2023-04, fp8_attention: true}",
         "with 2025-09", false},
        {"h100-80gb-sxm", "fp8", "{profile: nemo, release: 2023-04, fp8_attention: false}", NULL,
         false},
        {"h100-80gb-sxm", "fp8", "{profile: nemo, release: 2023-04, fp8_recipe: current}",
         "software.fp8_recipe: current came", false},
        {"h100-80gb-sxm", "fp8", "{profile: nemo, fp8_recipe: current}", NULL, false},
        {"h100-80gb-sxm", "bf16", "{profile: megatron, release: 2025-09, router_fusion: true}",
         "with 2025-10", false},
        {"a100-80gb-sxm", "bf16", "{profile: megatron, release: 2023-12}",
         "2023-12 is before 2024, the first year of profile megatron", false},
        {"a100-80gb-sxm", "bf16", "{profile: megatron, release: 2024-01}", NULL, false},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct scenario *s = read_run("qwen3-30b-a3b", cases[i].gpu, cases[i].training,
                                      ", expert_capacity: 1", cases[i].software);
        const char *found = NULL;
        for (unsigned k = 0; k < s->diagnostics.problem_count && found == NULL; k++)
            if (cases[i].says != NULL)
                found = strstr(s->diagnostics.problems[k].text, cases[i].says);
            else if (strstr(s->diagnostics.problems[k].text, "software.release") != NULL)
                found = s->diagnostics.problems[k].text;
        if ((found != NULL) != (cases[i].says != NULL))
            fail_msg("case %u: %s", i, found ? found : "nothing is said");
        assert_int_equal(s->diagnostics.error_count > 0, cases[i].error);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_months),
        cmocka_unit_test(facts_hold_from_their_month_on),
        cmocka_unit_test(a_fact_asks_for_its_runs),
        cmocka_unit_test(facts_bring_values),
        cmocka_unit_test(no_history_is_none),
        cmocka_unit_test(what_is_no_fact_is_reported),
        cmocka_unit_test(scenarios_take_a_release),
        cmocka_unit_test(the_loss_is_in_place_since_bridge),
        cmocka_unit_test(recipes_set_what_is_not_said),
        cmocka_unit_test(a_release_tells_what_it_set),
        cmocka_unit_test(dates_must_go_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
