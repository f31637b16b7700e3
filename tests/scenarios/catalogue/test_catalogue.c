/* Every entry of the built-in catalogue reads without a problem, has a sentence and names its
 * sources; the quick way to one entry finds what a parse of the whole file finds. */
#include <stdio.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/catalogue.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"
#include "sim/units.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

struct opened {
    struct arena *arena;
    struct problems *problems;
    struct catalogue quick, whole;
};

static struct opened open_catalogue(void)
{
    struct opened o = {.arena = arena_create()};
    o.problems = ARENA_NEW(o.arena, struct problems);
    o.problems->arena = o.arena;
    catalogue_open(&o.quick, o.arena, NULL, o.problems);
    catalogue_open(&o.whole, o.arena, CATALOGUE, o.problems);
    return o;
}

static void assert_same(const struct value *a, const struct value *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->mark.line, b->mark.line);
    assert_int_equal(a->mark.column, b->mark.column);
    assert_int_equal(a->count, b->count);
    if (a->kind == VALUE_WORD)
        assert_string_equal(a->text, b->text);
    const struct value *y = b->first;
    for (const struct value *x = a->first; x; x = x->next, y = y->next) {
        if (x->key)
            assert_string_equal(x->key, y->key);
        assert_same(x, y);
    }
}

static void test_one_entry_is_found_as_in_the_whole(void **state)
{
    struct opened o = open_catalogue();
    for (enum family f = 0; f < FAMILY_CATALOGUE_COUNT; f++) {
        struct name_list names = catalogue_names(&o.whole, f);
        struct name_list quick_names = catalogue_names(&o.quick, f);
        assert_true(names.count > 0);
        assert_int_equal(quick_names.count, names.count);
        for (unsigned i = 0; i < names.count; i++) {
            const struct value *quick = catalogue_find(&o.quick, f, names.names[i]);
            assert_string_equal(quick_names.names[i], names.names[i]);
            if (quick == NULL)
                fail_msg("%s: not found", names.names[i]);
            assert_same(quick, catalogue_find(&o.whole, f, names.names[i]));
            assert_string_equal(catalogue_doc_of(&o.quick, f, names.names[i]),
                                catalogue_doc(catalogue_find(&o.whole, f, names.names[i])));
            assert_string_equal(catalogue_doc_of(&o.whole, f, names.names[i]),
                                catalogue_doc(catalogue_find(&o.whole, f, names.names[i])));
        }
        assert_string_equal(catalogue_doc_of(&o.quick, f, "no-such-entry"), "");
        assert_null(catalogue_find(&o.quick, f, "no-such-entry"));
        assert_null(catalogue_find(&o.quick, f, ""));
        assert_null(catalogue_find(&o.quick, f, " doc"));
    }
    assert_int_equal(o.problems->error_count, 0);
    arena_destroy(o.arena);
}

/* Rows of the table that the entry leaves to their defaults are fine; keys outside it are not. */
static void check_keys(const struct value *entry, const char *name,
                       const struct schema_section *section, struct params options)
{
    struct params table = schema_table(section);
    for (const struct value *key = entry->first; key; key = key->next) {
        const char *spelt = schema_spelling(section, key->key);
        bool known = catalogue_describes(spelt) || strcmp(spelt, "kind") == 0;
        for (unsigned i = 0; i < table.count; i++)
            known |= strcmp(spelt, table.rows[i].name) == 0;
        for (unsigned i = 0; i < options.count; i++)
            known |= strcmp(spelt, options.rows[i].name) == 0;
        if (!known)
            fail_msg("%s: unknown key %s", name, key->key);
    }
}

/* A source may stand for all keys that begin alike (attention_flash2). */
static void check_description(const struct value *entry, const char *name,
                              const struct schema_section *section)
{
    const struct value *sources = value_find(entry, "sources");
    const struct value *errors = value_find(entry, "errors");
    struct params table = schema_table(section);
    if (*catalogue_doc(entry) == '\0' || sources == NULL || sources->count == 0)
        fail_msg("%s: no doc or no sources", name);
    const struct value *lists[] = {sources, errors};
    for (unsigned l = 0; l < 2; l++) {
        for (const struct value *s = lists[l] ? lists[l]->first : NULL; s; s = s->next) {
            bool known = strcmp(s->key, "default") == 0 || value_find(entry, s->key) != NULL;
            for (unsigned i = 0; i < table.count; i++)
                known |= strncmp(s->key, table.rows[i].name, strlen(s->key)) == 0;
            if (!known)
                fail_msg("%s: a source or error of %s, which is no key", name, s->key);
        }
    }
}

static const enum section sections[FAMILY_CATALOGUE_COUNT] = {
    [FAMILY_GPUS] = SECTION_GPU,          [FAMILY_NODES] = SECTION_NODE,
    [FAMILY_FABRICS] = SECTION_FABRIC,    [FAMILY_MODELS] = SECTION_MODEL,
    [FAMILY_SOFTWARE] = SECTION_SOFTWARE, [FAMILY_STORAGE] = SECTION_STORAGE,
};

static struct params kind_options_of(const struct value *entry, enum family family)
{
    const struct value *word = value_find(entry, "kind");
    enum topology_role role = family == FAMILY_NODES ? TOPOLOGY_NODE : TOPOLOGY_FABRIC;
    const struct topology_kind *kind = word ? topology_find(role, word->text) : NULL;
    return kind ? kind->head.options : (struct params){NULL, 0};
}

static void test_every_entry_reads(void **state)
{
    struct opened o = open_catalogue();
    static char object[1 << 14];
    for (enum family f = 0; f < FAMILY_CATALOGUE_COUNT; f++) {
        if (f == FAMILY_FLEETS)
            continue;
        const struct schema_section *section = schema_section(sections[f]);
        struct name_list names = catalogue_names(&o.whole, f);
        for (unsigned i = 0; i < names.count; i++) {
            const struct value *entry = catalogue_find(&o.whole, f, names.names[i]);
            struct reader reader = {.arena = o.arena, .problems = o.problems};
            struct params options = kind_options_of(entry, f);
            struct kind_options values;
            bool wired = f == FAMILY_NODES || f == FAMILY_FABRICS;
            assert_true(!wired || value_find(entry, "kind") != NULL);
            check_keys(entry, names.names[i], section, options);
            check_description(entry, names.names[i], section);
            struct value *spelt = value_new(o.arena, VALUE_MAPPING, entry->mark);
            for (const struct value *m = entry->first; m; m = m->next) {
                struct value *copy = value_share(o.arena, m);
                copy->key = schema_spelling(section, m->key);
                value_append(spelt, copy);
            }
            bool good = reader_fill(&reader, spelt, names.names[i], schema_table(section), object);
            good &= reader_fill_options(&reader, spelt, names.names[i], options, &values);
            if (!good)
                fail_msg("%s", o.problems->kept[0].text);
        }
    }
    arena_destroy(o.arena);
}

/* A fleet says where its causes come from, and reads as the failures of a scenario. */
static void check_fleet(const struct value *entry, const char *name)
{
    char text[1024];
    struct error error = {{0}};
    const struct value *sources = value_find(entry, "sources"),
                       *causes = value_find(entry, "causes");
    if (*catalogue_doc(entry) == '\0' || sources == NULL || sources->count == 0)
        fail_msg("%s: no doc or no sources", name);
    for (const struct value *key = entry->first; key; key = key->next)
        if (!catalogue_describes(key->key) && strcmp(key->key, "causes") != 0)
            fail_msg("%s: unknown key %s", name, key->key);
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: 256}\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: 32, fabric: ib-ndr-8x400}\n"
             "run: {duration: 1d}\nfailures: [{preset: %s}]\n",
             name);
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    if (scenario->diagnostics.error_count > 0)
        fail_msg("%s: %s", name, scenario->diagnostics.problems[0].text);
    assert_non_null(causes);
    assert_int_equal(scenario->job.cause_count, causes->count);
    scenario_destroy(scenario);
}

static void test_every_fleet_reads(void **state)
{
    struct opened o = open_catalogue();
    struct name_list names = catalogue_names(&o.whole, FAMILY_FLEETS);
    for (unsigned i = 0; i < names.count; i++)
        check_fleet(catalogue_find(&o.whole, FAMILY_FLEETS, names.names[i]), names.names[i]);
    assert_true(names.count > 0);
    arena_destroy(o.arena);
}

static void test_list(void **state)
{
    struct arena *arena = arena_create();
    const struct catalogue_entry *entries = NULL;
    struct error error = {{0}};
    unsigned count = describe_entries("gpus", NULL, arena, &entries, &error);
    assert_true(count > 5);
    assert_string_equal(error.text, "");
    assert_true(*entries[0].doc != '\0');
    assert_int_equal(describe_entries("trees", NULL, arena, &entries, &error), 0);
    assert_string_equal(error.text, "the catalogue has no family 'trees'");
    arena_destroy(arena);
}

static double bytes_of(const struct value *entry, const char *key)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    const struct value *value = value_find(entry, key);
    assert_non_null(value);
    if (!quantity_read(PARAM_BYTES, value->text, "", &quantity, why))
        fail_msg("%s: %s", key, why);
    return quantity.number;
}

/* The GB that a card is sold with stand in its name ("b300-288gb-sxm"). Memory is made in powers of
 * two, so that 80 GB hold up to 80 GiB: the GiB of which a driver and a process speak are never
 * more than the GB. */
static void test_memory_of_cards(void **state)
{
    struct opened o = open_catalogue();
    const struct name_list names = catalogue_names(&o.whole, FAMILY_GPUS);
    for (unsigned i = 0; i < names.count; i++) {
        const struct value *entry = catalogue_find(&o.whole, FAMILY_GPUS, names.names[i]);
        unsigned gb = 0;
        const char *word = strchr(names.names[i], '-');
        if (word == NULL || sscanf(word, "-%ugb", &gb) != 1)
            fail_msg("%s: no GB in its name", names.names[i]);
        const double usable_gib = bytes_of(entry, "usable_hbm") / GIB,
                     hbm_gib = bytes_of(entry, "hbm") / GIB;
        if (bytes_of(entry, "nominal_hbm") != gb * GIGA)
            fail_msg("%s: not %u GB", names.names[i], gb);
        if (!(usable_gib > 0.9 * gb && usable_gib <= hbm_gib && hbm_gib <= gb))
            fail_msg("%s: %g of %g GiB of %u GB", names.names[i], usable_gib, hbm_gib, gb);
    }
    arena_destroy(o.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_entry_is_found_as_in_the_whole),
        cmocka_unit_test(test_every_entry_reads),
        cmocka_unit_test(test_every_fleet_reads),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_memory_of_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
