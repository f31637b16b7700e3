/* The one table of families: every kind of every family has a head that lists, checks and
 * references can go by, and the keys of scenarios reach all of them. */
#include <stdbool.h>
#include <string.h>

#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"
#include "tests/test.h"

/* NULL, or what is wrong with an option. */
static const char *option_fault(const struct param *option)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (option->type == PARAM_TEXT || option->type == PARAM_CHOICE)
        return "an option is a number or a flag";
    if (option->offset >= KIND_OPTION_MAX)
        return "no place among the options";
    if (strlen(option->doc) < 10 || option->doc[strlen(option->doc) - 1] != '.')
        return "no sentence";
    if (option->fallback == NULL) /* must be given */
        return NULL;
    if (!quantity_read(option->type, option->fallback, "", &quantity, why))
        return "its default does not read";
    bool inside = quantity.number >= option->minimum && quantity.number <= option->maximum;
    return option->type == PARAM_FLAG || inside ? NULL : "its default is outside of its range";
}

static const char *kind_fault(const struct kind *kind)
{
    const char *fault = NULL;
    if (strlen(kind->name) == 0 || strpbrk(kind->name, " .:,'\"") != NULL)
        return "no name that a scenario could spell";
    if (strlen(kind->doc) < 10)
        return "no sentence";
    if (kind->options.count > KIND_OPTION_MAX)
        return "more options than there is room for";
    for (unsigned i = 0; i < kind->options.count && fault == NULL; i++) {
        const struct param *a = &kind->options.rows[i];
        fault = option_fault(a);
        for (unsigned j = 0; j < i && fault == NULL; j++) {
            const struct param *b = &kind->options.rows[j];
            if (strcmp(a->name, b->name) == 0 || a->offset == b->offset)
                fault = "two options of one name or in one place";
        }
    }
    return fault;
}

static void test_every_kind_of_every_family(void **state)
{
    for (enum family f = FAMILY_CATALOGUE_COUNT; f < FAMILY_COUNT; f++) {
        unsigned count = 0;
        const struct kind *kind;
        for (; (kind = family_at(f, count)) != NULL; count++) {
            const char *fault = kind_fault(kind);
            if (fault != NULL)
                fail_msg("%s %s: %s", family_member_name(f), kind->name, fault);
            assert_ptr_equal(family_find(f, kind->name), kind); /* so no two have one name */
        }
        assert_true(count >= 2);
        assert_null(family_at(f, count + 1));
        assert_null(family_find(f, ""));
        assert_null(family_find(f, "no-such-kind"));
    }
}

static void test_planted_faults_are_seen(void **state)
{
    const struct param right = {"a", PARAM_RATIO, 0, 0, 1, "50%", NULL, "Half of something."};
    struct param rows[2] = {right, right};
    struct kind kind = {"name", "a sentence of its own", {rows, 1}};
    assert_null(kind_fault(&kind));
    kind.options.count = 2;
    assert_non_null(kind_fault(&kind)); /* one name, one place */
    rows[1].name = "b";
    assert_non_null(kind_fault(&kind)); /* one place */
    rows[1].offset = 1;
    assert_null(kind_fault(&kind));
    rows[1].fallback = "1.5";
    assert_non_null(kind_fault(&kind));
    rows[1].fallback = "50s";
    assert_non_null(kind_fault(&kind));
    rows[1] = right;
    rows[1].name = "b";
    rows[1].offset = KIND_OPTION_MAX;
    assert_non_null(kind_fault(&kind));
    rows[1].offset = 1;
    rows[1].type = PARAM_TEXT;
    assert_non_null(kind_fault(&kind));
    kind.options.count = 1;
    kind.name = "two words";
    assert_non_null(kind_fault(&kind));
}

/* Only the tuner chooses collectives, and kinds of layers are words of a pattern; every other
 * family has a key, and with kinds its options stand in the section of the key. */
static void test_keys_reach_every_family(void **state)
{
    for (enum family f = FAMILY_CATALOGUE_COUNT; f < FAMILY_COUNT; f++) {
        unsigned keys = 0;
        const bool chosen = f != FAMILY_COLLECTIVES && f != FAMILY_LAYERS;
        assert_int_equal(schema_chooses(f), chosen);
        for (enum section s = 0; s < SECTION_COUNT; s++) {
            const struct schema_choice *choice;
            for (unsigned i = 0; (choice = schema_choice(schema_section(s), i)) != NULL; i++)
                keys += choice->family == f;
        }
        assert_int_equal(keys, chosen);
    }
    assert_int_equal(schema_family("layout.schedule"), FAMILY_SCHEDULES);
    assert_int_equal(schema_family("layout.sharding"), FAMILY_SHARDINGS);
    assert_int_equal(schema_family("cluster.node.name"), FAMILY_NODES);
    assert_int_equal(schema_family("cluster.node.kind"), FAMILY_NODE_KINDS);
    assert_int_equal(schema_family("failures.law"), FAMILY_FAILURES);
    assert_int_equal(schema_family("layout.tp"), FAMILY_NONE);
    assert_int_equal(schema_family("schedule"), FAMILY_NONE);
    assert_null(schema_choice(schema_section(SECTION_GPU), 0)); /* of the catalogue */
}

/* An option of one kind must not be a key of its section, nor an option of another family there:
 * who reads `law: weibull` and `shape` must not read two things by one word. */
static void test_options_have_words_of_their_own(void **state)
{
    struct arena *arena = arena_create();
    unsigned options = 0;
    for (enum section s = 0; s < SECTION_COUNT; s++) {
        const struct schema_section *section = schema_section(s);
        const struct params extra = schema_options(arena, section);
        const struct name_list names = schema_names(arena, section, extra);
        for (unsigned i = 0; i < names.count; i++)
            for (unsigned j = 0; j < i; j++)
                assert_string_not_equal(names.names[i], names.names[j]);
        options += extra.count;
    }
    assert_true(options >= 15); /* those of fabrics, laws and policies */
    arena_destroy(arena);
}

static void test_rows_of_both(void **state)
{
    struct arena *arena = arena_create();
    const struct param rows[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    const struct params none = {NULL, 0}, one = {rows, 1}, two = {rows + 1, 2};
    assert_int_equal(schema_join(arena, none, none).count, 0);
    assert_ptr_equal(schema_join(arena, one, none).rows, rows);
    assert_ptr_equal(schema_join(arena, none, two).rows, rows + 1);
    const struct params all = schema_join(arena, one, two);
    assert_int_equal(all.count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(all.rows[i].name, rows[i].name);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_every_family),
        cmocka_unit_test(test_planted_faults_are_seen),
        cmocka_unit_test(test_keys_reach_every_family),
        cmocka_unit_test(test_options_have_words_of_their_own),
        cmocka_unit_test(test_rows_of_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
