/* The generated documents cover the tables: every key stands in the reference, the schema is JSON
 * and has a property for every key of every section, and every table's defaults are in range. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/layout/configuration.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/keys.h"
#include "scenarios/schema/schema.h"
#include "tests/test.h"

static char *printed(void (*print)(FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    print(out);
    fclose(out);
    return text;
}

static void test_reference_has_every_key(void **state)
{
    char *text = printed(describe_reference), row[128];
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        struct params tables[] = {section->keys, schema_table(section)};
        for (unsigned t = 0; t < 2; t++) {
            for (unsigned i = 0; i < tables[t].count; i++) {
                snprintf(row, sizeof row, "\n| `%s` | ", tables[t].rows[i].name);
                if (strstr(text, row) == NULL)
                    fail_msg("%s.%s", section->path, tables[t].rows[i].name);
            }
        }
    }
    free(text);
}

/* The object of a section inside the schema: behind `items` or the second alternative. */
static const json_t *object_of(const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *either = json_object_get(schema, "anyOf");
    if (items)
        return items;
    return either ? json_array_get(either, 1) : schema;
}

static const json_t *find_section(const json_t *root, const char *path)
{
    const json_t *at = root;
    char copy[64];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok(copy, "."); key; key = strtok(NULL, "."))
        at = json_object_get(json_object_get(object_of(at), "properties"), key);
    return object_of(at);
}

static void test_schema_has_every_key(void **state)
{
    char *text = printed(describe_schema);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s at %d:%d", error.text, error.line, error.column);
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        const json_t *properties = json_object_get(find_section(root, section->path), "properties");
        struct params tables[] = {section->keys, schema_table(section)};
        assert_non_null(properties);
        /* A key that is none is refused, but where the section has no keys of its own. */
        const json_t *others =
            json_object_get(find_section(root, section->path), "additionalProperties");
        assert_true(strcmp(section->path, "expect") == 0 ? json_is_object(others)
                                                         : json_is_false(others));
        for (unsigned t = 0; t < 2; t++)
            for (unsigned i = 0; i < tables[t].count; i++)
                assert_non_null(json_object_get(properties, tables[t].rows[i].name));
    }
    json_decref(root);
    free(text);
}

static bool fallback_reads(const struct param *param)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (param->type == PARAM_TEXT || param->fallback == NULL || reader_takes_word(param))
        return true;
    if (param->type == PARAM_CHOICE) {
        unsigned i = 0;
        while (param->choices[i] && strcmp(param->choices[i], param->fallback) != 0)
            i++;
        return param->choices[i] != NULL;
    }
    if (!quantity_read(param->type, param->fallback, "", &quantity, why))
        return false;
    return param->type == PARAM_FLAG ||
           (quantity.number >= param->minimum && quantity.number <= param->maximum);
}

static void test_every_default_reads(void **state)
{
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        struct params tables[] = {section->keys, schema_table(section)};
        for (unsigned t = 0; t < 2; t++) {
            for (unsigned i = 0; i < tables[t].count; i++)
                if (!fallback_reads(&tables[t].rows[i]))
                    fail_msg("%s.%s", section->path, tables[t].rows[i].name);
        }
    }
}

static void test_a_bad_default_is_seen(void **state)
{
    const struct param low = {"x", PARAM_COUNT, 0, 1, 9, "0", NULL, ""};
    const struct param bare = {"x", PARAM_TIME, 0, 0, 9, "5", NULL, ""};
    assert_false(fallback_reads(&low));
    assert_false(fallback_reads(&bare));
}

/* No problem calls the key unknown: at worst it goes with another kind than the one that is there.
 */
static void assert_known(const char *key)
{
    static const char base[] = "cluster: {nodes: 2}\n";
    char set[128];
    const char *sets[] = {set};
    struct scenario_options options = {.sets = sets, .set_count = 1};
    struct error error = {{0}};
    snprintf(set, sizeof set, "%s=x", key);
    struct scenario *scenario = scenario_read("t.yaml", base, strlen(base), &options, &error);
    assert_non_null(scenario);
    for (unsigned p = 0; p < scenario->diagnostics.problem_count; p++) {
        const char *said = scenario->diagnostics.problems[p].text;
        if (strstr(said, "unknown key") && !strstr(said, "it goes with"))
            fail_msg("%s: %s", key, said);
    }
    scenario_destroy(scenario);
}

static void test_every_key_that_is_offered_is_one(void **state)
{
    struct arena *arena = arena_create();
    struct name_list keys = keys_all(arena);
    unsigned rows = 0;
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        rows += section->keys.count + schema_table(section).count + (section->shorthand ? 1 : 0) +
                schema_options(arena, section).count;
    }
    assert_int_equal(keys.count, rows);
    assert_true(rows > 250);
    for (unsigned i = 0; i < keys.count; i++) {
        assert_known(keys.names[i]);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(keys.names[i], keys.names[j]);
    }
    arena_destroy(arena);
}

static bool refused_as_too_large(const struct configuration *c)
{
    struct rule_break breaks[64];
    const unsigned found = configuration_check(c, breaks, 64);
    for (unsigned i = 0; i < found && i < 64; i++)
        if (strstr(breaks[i].text, "it must be from 1 to") != NULL)
            return true;
    return false;
}

/* The largest count that the tables tell is none that the rules refuse. */
static void test_every_largest_count_is_taken(void **state)
{
    static const char text[] = "model: llama3-8b\ncluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
                               "training: {sequence: 4096, global_batch: 8}\nlayout: {tp: 8}\n";
    static const enum section sections[] = {SECTION_MODEL, SECTION_TRAINING, SECTION_LAYOUT};
    struct error error;
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    struct configuration c = s->configuration;
    c.layout.pipeline.vpp = 65; /* this is how one that is refused is seen */
    assert_true(refused_as_too_large(&c));
    for (unsigned i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const struct schema_section *section = schema_section(sections[i]);
        const struct params table =
            sections[i] == SECTION_MODEL ? schema_table(section) : section->keys;
        for (unsigned row = 0; row < table.count; row++) {
            const struct param *param = &table.rows[row];
            c = s->configuration;
            struct training_keys training = {.spec = c.training};
            struct layout_keys layout = {.spec = c.layout};
            void *objects[] = {&c.model, &training, &layout};
            if (param->type != PARAM_COUNT)
                continue;
            *(uint64_t *)(void *)((char *)objects[i] + param->offset) = (uint64_t)param->maximum;
            c.training = training.spec;
            c.layout = layout.spec;
            if (refused_as_too_large(&c))
                fail_msg("%s.%s: %g is refused", section->path, param->name, param->maximum);
        }
    }
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_has_every_key),
        cmocka_unit_test(test_schema_has_every_key),
        cmocka_unit_test(test_every_default_reads),
        cmocka_unit_test(test_a_bad_default_is_seen),
        cmocka_unit_test(test_every_key_that_is_offered_is_one),
        cmocka_unit_test(test_every_largest_count_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
