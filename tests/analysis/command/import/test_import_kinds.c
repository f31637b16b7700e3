/* The importers: what each row promises of itself, and the options that it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/import/import_kind.h"
#include "analysis/command/line/command.h"
#include "scenarios/import/failures/failure_format_kind.h"
#include "tests/test.h"

/* Every row has a name of its own and a sentence, and does something. */
static void test_names(void **state)
{
    struct import_name name, other;
    unsigned count = 0;
    for (; import_name_at(count, &name); count++) {
        assert_true(name.head->name[0] != '\0' && name.head->doc[0] != '\0');
        assert_non_null(name.kind->run);
        assert_true((name.form != NULL) == (name.kind->forms != NULL));
        for (unsigned i = 0; i < count && import_name_at(i, &other); i++)
            assert_string_not_equal(name.head->name, other.head->name);
    }
    unsigned expected = failure_format_kind_count; /* in place of `failures`, which has them */
    for (unsigned i = 0; i < import_kind_count; i++)
        expected += import_kinds[i]->forms == NULL;
    assert_int_equal(count, expected);
}

static bool is_option(const char *name)
{
    return option_find(command_import.options, name, strlen(name)) != NULL;
}

/* What a kind takes is an option of the command, and each option is one that some kind takes. */
static void test_options(void **state)
{
    struct import_name name;
    for (unsigned i = 0; i < import_kind_count; i++)
        for (const char *const *takes = import_kinds[i]->takes; *takes != NULL; takes++)
            assert_true(is_option(*takes));
    for (const struct option *o = command_import.options; o->name != NULL; o++) {
        bool taken = strcmp(o->name, "--help") == 0;
        for (unsigned i = 0; !taken && import_name_at(i, &name); i++)
            taken = import_name_takes(&name, o->name);
        if (!taken)
            fail_msg("no kind takes %s", o->name);
    }
}

/* Only a log that may name no host takes one. */
static void test_forms(void **state)
{
    struct import_name name;
    for (unsigned i = 0; import_name_at(i, &name); i++)
        assert_true(import_name_takes(&name, "--host") == (strcmp(name.head->name, "xid") == 0));
}

/* --help names each of them once, at the head of a line. */
static void test_help(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    struct import_name name;
    assert_non_null(stream);
    fputc('\n', stream);
    import_print_names(stream);
    fclose(stream);
    for (unsigned i = 0; import_name_at(i, &name); i++) {
        char line[80];
        snprintf(line, sizeof line, "\n%s %s ", name.head->name, name.kind->file);
        const char *at = strstr(text, line);
        assert_non_null(at);
        assert_null(strstr(at + 1, line));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_options),
                                       cmocka_unit_test(test_forms), cmocka_unit_test(test_help)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
