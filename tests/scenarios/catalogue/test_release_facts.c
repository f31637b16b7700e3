/* Facts of a month that stand in each other's way, or in that of what the scenario says: which are
 * taken, which are left out, and what is told. By software with facts that are written here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-release-......";
static const char *const families[] = {"gpus", "nodes", "fabrics", "models", "fleets", "storage"};
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void path_of(const char *family, char path[256])
{
    snprintf(path, 256, "%s/%s.yaml", folder, family);
}

/* The catalogue of the tree, but for its software. */
static int make(void **state)
{
    char path[256], target[1024];
    memset(strrchr(folder, '-') + 1, 'X', 6); /* six X, as mkdtemp wants them */
    if (mkdtemp(folder) == NULL)
        return 1;
    for (unsigned i = 0; i < COUNT(families); i++) {
        path_of(families[i], path);
        snprintf(target, sizeof target, "%s/%s.yaml", CATALOGUE, families[i]);
        if (symlink(target, path) != 0)
            return 1;
    }
    return 0;
}

static int clear(void **state)
{
    char path[256];
    for (unsigned i = 0; i < COUNT(families); i++) {
        path_of(families[i], path);
        unlink(path);
    }
    path_of("software", path);
    unlink(path);
    return rmdir(folder);
}

/* A run of a mixture of experts with software of these facts. */
static struct scenario *run(const char *facts, const char *gpu, const char *precision,
                            const char *layout, const char *software)
{
    char path[256], text[1024];
    struct error error = {""};
    path_of("software", path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "mine:\n  doc: \"of a test\"\n  launch: 1us\n  interleaves: true\n  history:\n%s",
            facts);
    fclose(file);
    snprintf(text, sizeof text,
             "cluster: {gpu: %s, gpus: 8}\nmodel: {preset: qwen3-30b-a3b, shared_experts: 1}\n"
             "training: {sequence: 4096, global_batch: 64, precision: %s}\n"
             "layout: {sharding: zero-1, recompute: full, microbatch: 1, ep: 8%s}\n"
             "software: {profile: mine%s}\n",
             gpu, precision, layout, software);
    const struct scenario_options how = {.catalogue = folder};
    struct scenario *s = scenario_read("t", text, strlen(text), &how, &error);
    if (s == NULL)
        fail_msg("%s", error.text);
    return s;
}

static const char *why_of(const struct scenario *s)
{
    for (unsigned i = 0; i < s->choices.count; i++)
        if (strcmp(choice_path(&s->choices.rows[i]), "software.release") == 0)
            return s->choices.rows[i].why;
    return "";
}

static void says(const struct scenario *s, const char *words)
{
    if (strstr(why_of(s), words) == NULL)
        fail_msg("'%s' is not in '%s'", words, why_of(s));
}

#define FACT(since, sets) "  - {since: " since ", what: w, source: s, sets: {" sets "}}\n"
#define FACT_WHEN(since, when, sets)                                                               \
    "  - {since: " since ", what: w, source: s, when: {" when "}, sets: {" sets "}}\n"

/* Two facts that break a rule each by itself, one of them older than a good one: the newest goes,
 * then the other is the one without which the rest is sound, and the good one stays. */
static void bad_facts_go_and_the_good_stay(void **state)
{
    static const char facts[] = FACT("2024-01", "router_fusion: true")
        FACT("2025-01", "fp8_recipe: mxfp8") FACT("2025-02", "cuda_graphs: moe_preprocess");
    struct scenario *s = run(facts, "h100-80gb-sxm", "fp8", "", "");
    assert_int_equal(s->diagnostics.error_count, 0);
    assert_true(s->configuration.software.experts.router_fusion);
    says(s, "left out beside what the scenario says: fp8_recipe: mxfp8, cuda_graphs: "
            "moe_preprocess");
    scenario_destroy(s);
}

/* Shared experts beside the exchange go with alltoall alone (a rule): of a fact that wants them and
 * one that sets another dispatch that is left out which sets less, wherever it stands. */
static void the_fact_that_sets_less_is_left_out(void **state)
{
    static const char *const facts[] = {
        FACT("2025-01", "shared_expert_overlap: true, router_fusion: true")
            FACT("2025-01", "dispatch: deepep"),
        FACT("2025-01", "dispatch: deepep")
            FACT("2025-01", "shared_expert_overlap: true, router_fusion: true"),
    };
    for (unsigned i = 0; i < COUNT(facts); i++) {
        struct scenario *s = run(facts[i], "h100-80gb-sxm", "bf16", "", "");
        assert_int_equal(s->diagnostics.error_count, 0);
        assert_true(s->configuration.software.experts.shared_overlap);
        assert_true(s->configuration.software.experts.router_fusion);
        says(s, "left out beside what the scenario says: dispatch: deepep");
        scenario_destroy(s);
    }
}

/* A fact that sets what nothing can take is an error at its place, whoever wrote the catalogue. */
static void what_cannot_be_set_is_an_error(void **state)
{
    static const char *const sets[] = {"nothing: 1", "tp: 4", "dispatch: carrier-pigeon",
                                       "sharding: deepep"};
    for (unsigned i = 0; i < COUNT(sets); i++) {
        char facts[256], words[256];
        snprintf(facts, sizeof facts, FACT("2025-01", "%s"), sets[i]);
        snprintf(words, sizeof words,
                 "history: a fact sets keys of software, a dispatch or an "
                 "option of one, not %s",
                 sets[i]);
        struct scenario *s = run(facts, "h100-80gb-sxm", "bf16", "", "");
        assert_int_equal(s->diagnostics.error_count, 1);
        assert_int_equal(s->diagnostics.problems[0].line, 6);
        assert_string_equal(s->diagnostics.problems[0].text, words);
        scenario_destroy(s);
    }
}

/* A scenario with an error of its own does not lose the facts that do not add to it, and a warning
 * is no error. */
static void errors_of_others_and_warnings_leave_facts(void **state)
{
    struct scenario *s =
        run(FACT("2025-01", "router_fusion: true"), "h100-80gb-sxm", "bf16", ", tp: 3", "");
    assert_true(s->diagnostics.error_count > 0);
    assert_true(s->configuration.software.experts.router_fusion);
    scenario_destroy(s);
    s = run(FACT("2025-01", "interleaves: false, router_fusion: true"), "h100-80gb-sxm", "bf16",
            ", pp: 2, vpp: 2, tp: 1, schedule: interleaved", "");
    assert_true(s->configuration.software.experts.router_fusion);
    scenario_destroy(s);
}

/* What one fact sets, another asks for: the scaling of eight bits and the dispatch. */
static void facts_ask_for_what_facts_set(void **state)
{
    static const char facts[] = FACT_WHEN("2025-01", "precision: blockwise", "router_fusion: true")
        FACT("2025-02", "fp8_recipe: blockwise")
            FACT_WHEN("2025-01", "dispatch: deepep", "moe_paged_stash: true")
                FACT("2025-02", "dispatch: deepep");
    struct scenario *s = run(facts, "h100-80gb-sxm", "fp8", "", "");
    assert_true(s->configuration.software.experts.router_fusion);
    assert_true(s->configuration.software.experts.paged_stash);
    scenario_destroy(s);
    /* in 16 bits no recipe counts as the scaling; what the scenario says goes before both */
    s = run(facts, "h100-80gb-sxm", "bf16", ", dispatch: alltoall", "");
    assert_false(s->configuration.software.experts.router_fusion);
    assert_false(s->configuration.software.experts.paged_stash);
    scenario_destroy(s);
}

/* An image whose owner brings scripts of his own is no release with its recipes. A fact that ended
 * is not of later months. */
static void an_image_is_no_release_with_recipes(void **state)
{
    static const char facts[] =
        "  - {since: 2025-01, until: 2025-03, what: w, source: s, when: {image: false}, sets: "
        "{router_fusion: true}}\n";
    static const struct {
        const char *release;
        bool holds;
    } cases[] = {{"25.02", true},     {"2025-02", true}, {"ngc25.02", false},
                 {"ngc25.03", false}, {"25.03", true},   {"25.04", false}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        char software[64];
        snprintf(software, sizeof software, ", release: %s", cases[i].release);
        struct scenario *s = run(facts, "h100-80gb-sxm", "bf16", "", software);
        assert_int_equal(s->diagnostics.error_count, 0);
        if (s->configuration.software.experts.router_fusion != cases[i].holds)
            fail_msg("%s", cases[i].release);
        scenario_destroy(s);
    }
}

/* What is known and not taken is told where it holds, of its month and of such a run. */
static void what_is_not_taken_is_of_such_runs(void **state)
{
    static const char facts[] =
        "  - {since: 2025-01, what: w, source: s, when: {precision: fp8}, untaken: narrow sums}\n"
        "  - {since: 2025-03, what: w, source: s, untaken: later tricks}\n" FACT(
            "2025-02", "router_fusion: true");
    for (unsigned i = 0; i < 4; i++) {
        const bool eight = i % 2 == 1, later = i / 2 == 1;
        struct scenario *s = run(facts, "h100-80gb-sxm", eight ? "fp8" : "bf16", "",
                                 later ? ", release: 2025-03" : ", release: 2025-02");
        assert_int_equal(strstr(why_of(s), "2025-01 narrow sums") != NULL, eight);
        assert_int_equal(strstr(why_of(s), "2025-03 later tricks") != NULL, later);
        scenario_destroy(s);
    }
}

static bool told(const struct scenario *s, const char *words)
{
    bool found = false;
    for (unsigned i = 0; i < s->diagnostics.problem_count; i++)
        found = found || strstr(s->diagnostics.problems[i].text, words) != NULL;
    return found;
}

/* A value of several words is as new as the newest of them, in either order. */
static void the_newest_word_dates_a_value(void **state)
{
    static const char facts[] =
        "  - {since: 2025-03, what: w, source: s, brings: {cuda_graphs: attn}}\n"
        "  - {since: 2025-09, what: w, source: s, brings: {cuda_graphs: moe_router}}\n";
    static const struct {
        const char *software, *says;
    } cases[] = {
        {", release: 2025-01, cuda_graphs: attn+moe_router", "with 2025-09"},
        {", release: 2025-01, cuda_graphs: moe_router+attn", "with 2025-09"},
        {", release: 2025-05, cuda_graphs: attn+moe_router", "with 2025-09"},
        {", release: 2025-01, cuda_graphs: attn", "with 2025-03"},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct scenario *s = run(facts, "h100-80gb-sxm", "bf16", "", cases[i].software);
        if (!told(s, cases[i].says))
            fail_msg("case %u", i);
        scenario_destroy(s);
    }
}

/* Each of the values that one fact brings is dated, of a key that an older fact brings too. */
static void a_fact_dates_each_of_its_values(void **state)
{
    static const char facts[] =
        "  - {since: 2025-03, what: w, source: s, brings: {cuda_graphs: layer+on}}\n"
        "  - {since: 2025-05, what: w, source: s, brings: {cuda_graphs: attn+moe_router}}\n";
    static const struct {
        const char *software, *says;
    } cases[] = {
        {", release: 2025-01, cuda_graphs: layer", "layer came to this software with 2025-03"},
        {", release: 2025-04, cuda_graphs: layer", NULL},
        {", release: 2025-04, cuda_graphs: attn", "attn came to this software with 2025-05"},
        {", release: 2025-05, cuda_graphs: moe_router+attn", NULL}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct scenario *s = run(facts, "h100-80gb-sxm", "bf16", "", cases[i].software);
        unsigned said = 0;
        for (unsigned k = 0; k < s->diagnostics.problem_count; k++)
            said += strstr(s->diagnostics.problems[k].text, "came to this software") != NULL;
        if (said != (cases[i].says != NULL) || (said > 0 && !told(s, cases[i].says)))
            fail_msg("case %u: said %u times", i, said);
        scenario_destroy(s);
    }
}

/* A release that nobody said is not held against the card, however old its facts are. */
static void an_unsaid_release_is_no_error(void **state)
{
    static const char facts[] = FACT("2023-01", "router_fusion: true");
    struct scenario *s = run(facts, "gb200-186gb", "bf16", "", "");
    assert_false(told(s, "software.release"));
    assert_true(s->configuration.software.experts.router_fusion);
    scenario_destroy(s);
    s = run(facts, "gb200-186gb", "bf16", "", ", release: 2023-01");
    assert_true(told(s, "the year of gb200-186gb"));
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_facts_go_and_the_good_stay),
        cmocka_unit_test(the_fact_that_sets_less_is_left_out),
        cmocka_unit_test(what_cannot_be_set_is_an_error),
        cmocka_unit_test(errors_of_others_and_warnings_leave_facts),
        cmocka_unit_test(facts_ask_for_what_facts_set),
        cmocka_unit_test(an_image_is_no_release_with_recipes),
        cmocka_unit_test(what_is_not_taken_is_of_such_runs),
        cmocka_unit_test(the_newest_word_dates_a_value),
        cmocka_unit_test(a_fact_dates_each_of_its_values),
        cmocka_unit_test(an_unsaid_release_is_no_error),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
