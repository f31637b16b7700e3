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
    } words[] = {{"2025-11", 2025, 11}, {"2025.01", 2025, 1},  {"2024", 2024, 12},
                 {"25.11", 2025, 11},   {"26.04.01", 2026, 4}, {"ngc24.09", 2024, 9},
                 {"2000-01", 2000, 1},  {"00.01", 2000, 1},    {"", 0, 0},
                 {"25", 0, 0},          {"25.13", 0, 0},       {"25.00", 0, 0},
                 {"25.1", 0, 0},        {"25-11", 0, 0},       {"2025-11-3", 0, 0},
                 {"2025-11.3", 0, 0},   {"1999-01", 0, 0},     {"20255-11", 0, 0},
                 {"025.11", 0, 0},      {"25.11.", 0, 0},      {"25.11x", 0, 0},
                 {"ngc", 0, 0},         {"NGC25.11", 0, 0},    {"-25.11", 0, 0},
                 {"2025-1", 0, 0},      {"25.111", 0, 0},      {"2999-12", 2999, 12},
                 {"3000-01", 0, 0}};
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

/* Rows in no order, two facts of one month, a key of the entry that facts set and one that none
 * does, a key that facts alone have. A fact holds from its own month on. */
static void facts_hold_from_their_month_on(void **state)
{
    struct read r =
        read_entry("launch: 1us\nnorm: 4\n"
                   "history:\n"
                   "- {since: 2025-09, what: b, source: s, sets: {norm: 6, fusion: on}}\n"
                   "- {since: 2024-05, what: a, source: s, sets: {norm: 5}}\n"
                   "- {since: 2025-09, what: c, source: s, sets: {fusion: all}}\n"
                   "- {since: 2026-01, what: d, source: s, size: 3 %}\n");
    static const struct {
        const char *month, *norm, *fusion;
    } wanted[] = {{"2024-04", "4", ""},    {"2024-05", "5", ""},    {"2025-08", "5", ""},
                  {"2025-09", "6", "all"}, {"2026-12", "6", "all"}, {NULL, "6", "all"}};
    const struct release_history history = release_history(r.arena, r.problems, r.entry);
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        const unsigned month =
            wanted[i].month ? release_month(wanted[i].month) : (unsigned)RELEASE_NEWEST;
        const struct value *entry = release_entry(r.arena, r.entry, history, month);
        assert_string_equal(word(entry, "norm"), wanted[i].norm);
        assert_string_equal(word(entry, "fusion"), wanted[i].fusion);
        assert_string_equal(word(entry, "launch"), "1us");
        assert_int_equal(entry->count, *wanted[i].fusion ? 4 : 3); /* each key once */
    }
    assert_int_equal(history.count, 4);
    assert_string_equal(history.facts[3].size, "3 %");
    assert_true(history.facts[3].sets == NULL && *history.facts[0].size == '\0');
    assert_int_equal(r.problems->error_count, 0);
    arena_destroy(r.arena);
}

/* A message about the entry of a month points to where the catalogue has the entry. */
static void an_entry_keeps_its_place(void **state)
{
    struct read r = read_entry("a: 1\nown:\n  norm: 4\n  history:\n"
                               "  - {since: 2025-09, what: b, source: s, sets: {norm: 6}}\n");
    const struct value *own = value_find(r.entry, "own");
    const struct value *entry =
        release_entry(r.arena, own, release_history(r.arena, r.problems, own), RELEASE_NEWEST);
    assert_string_equal(word(entry, "norm"), "6");
    assert_string_equal(entry->key, "own");
    assert_int_equal(entry->key_mark.line, 2);
    assert_int_equal(entry->mark.line, 3);
    arena_destroy(r.arena);
}

static void no_history_is_the_entry(void **state)
{
    struct read r = read_entry("launch: 1us\n");
    assert_ptr_equal(release_entry(r.arena, r.entry, release_history(r.arena, r.problems, r.entry),
                                   RELEASE_NEWEST),
                     r.entry);
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
                                      "history: [{since: 2025-01, what: a, source: s, sets: 3}]\n"};
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

/* Through the door: of each shipped profile with a history, what a scenario says itself goes before
 * every fact, and the release that was taken is told. */
static void scenarios_take_a_release(void **state)
{
    static const struct {
        const char *software;
        bool fusion, told;
        const char *month; /* of the release; NULL: the newest of nemo; "": none */
    } cases[] = {{"nemo", true, true, NULL},
                 {"{profile: nemo, release: 2025-08}", false, false, "2025-08"},
                 {"{profile: nemo, release: 25.09}", true, false, "2025-09"},
                 {"{profile: nemo, release: 2025-08, router_fusion: true}", true, false, "2025-08"},
                 {"{profile: nemo, router_fusion: false}", false, true, NULL},
                 {"{profile: nanotron, release: 2025-01}", false, false, "2025-01"},
                 {"nanotron", false, false, ""}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "cluster: {gpu: h100-80gb-sxm, gpus: 8}\nmodel: mixtral-8x7b\n"
                 "training: {sequence: 4096, global_batch: 64}\nlayout: {sharding: zero-1}\n"
                 "software: %s\n",
                 cases[i].software);
        const struct scenario_options how = {.catalogue = NULL};
        struct error error = {""};
        struct scenario *s = scenario_read("t", text, strlen(text), &how, &error);
        assert_non_null(s);
        assert_int_equal(s->configuration.software.experts.router_fusion, cases[i].fusion);
        const unsigned month = s->configuration.software.version.month;
        if (cases[i].month == NULL)
            assert_true(is_newest_of_nemo(month));
        else
            assert_int_equal(month, release_month(cases[i].month));
        bool told = false;
        for (unsigned k = 0; k < s->choices.count; k++)
            if (s->choices.rows[k].key == CHOICE_RELEASE) {
                told = true;
                assert_true(is_newest_of_nemo(release_month(s->choices.rows[k].value)));
            }
        assert_int_equal(told, cases[i].told);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_months),
        cmocka_unit_test(facts_hold_from_their_month_on),
        cmocka_unit_test(an_entry_keeps_its_place),
        cmocka_unit_test(no_history_is_the_entry),
        cmocka_unit_test(what_is_no_fact_is_reported),
        cmocka_unit_test(scenarios_take_a_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
