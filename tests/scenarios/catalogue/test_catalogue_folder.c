/* A catalogue of the user's: a folder in place of the one in the binary, with one file of its own.
 * What is wrong in it is told at its place there, behind what is wrong in the scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/describe/describe.h"
#include "tests/scenarios/assemble/weeks.h"
#include "tests/test.h"

static char folder[] = "/tmp/orrery-catalogue-......";
static const char *const families[] = {"gpus",     "nodes",  "fabrics", "models",
                                       "software", "fleets", "storage"};
enum {
    FAMILIES = sizeof families / sizeof families[0]
};

static void place(const char *family, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.yaml", folder, family);
}

static int make(void **state)
{
    memset(strrchr(folder, '-') + 1, 'X', 6); /* six X, as mkdtemp wants them */
    return mkdtemp(folder) == NULL;
}

static void empty(void)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        char path[256];
        place(families[i], path, sizeof path);
        unlink(path);
    }
}

static int clear(void **state)
{
    empty();
    return rmdir(folder);
}

/* Links to the files of the tree; that of `family` holds `text` (NULL: it lacks). */
static void fill(const char *family, const char *text)
{
    empty();
    for (unsigned i = 0; i < FAMILIES; i++) {
        char path[256], target[1024];
        place(families[i], path, sizeof path);
        snprintf(target, sizeof target, "%s/%s.yaml", CATALOGUE, families[i]);
        if (strcmp(families[i], family) != 0) {
            assert_int_equal(symlink(target, path), 0);
        } else if (text) {
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            fputs(text, file);
            fclose(file);
        }
    }
}

static struct scenario *read_with(const char *failures, struct error *error)
{
    char text[1024];
    struct scenario_options options = {.catalogue = folder};
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: 64}\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: 4, fabric: ib-ndr-8x400}\n"
             "run: {duration: 54d}\nfailures: [%s]\n",
             failures);
    return scenario_read("t.yaml", text, strlen(text), &options, error);
}

/* `%` stands for the folder. */
static void expect(const struct scenario *scenario, const char *pattern)
{
    char wanted[2048];
    size_t at = 0;
    for (; *pattern; pattern++)
        if (*pattern == '%')
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s", folder);
        else
            wanted[at++] = *pattern;
    wanted[at] = '\0';
    weeks_problems_are(scenario, wanted);
}

static void test_fleets_of_ones_own(void **state)
{
#define FLEET "mine:\n  doc: \"x\"\n"
    static const struct {
        const char *file, *failures, *problems;
    } rows[] = {
        {FLEET "  causes:\n    - {cause: a, mtbf: 5y}\n    - {cause: b, mtbf: 6y}\n",
         "{preset: mine}", ""},
        {FLEET "  causes:\n    - {cause: a, mtbf: 5y}\n    - {cause: b}\n", "{preset: mine}",
         "%/fleets.yaml:5:7: mine.causes[1].mtbf must be given: the mean time between failures of "
         "one unit, as in 5.8y\n"},
        {FLEET "  causes:\n    - {cause: a, mtbf: 5y}\n    - 7\n", "{preset: mine}",
         "%/fleets.yaml:5:7: mine.causes[1] takes keys with values, not a word\n"},
        {FLEET "  causes:\n    - {preset: mine}\n    - {cause: a, mtbf: 5y}\n", "{preset: mine}",
         "%/fleets.yaml:4:7: a fleet lists causes, not presets\n"},
        {FLEET, "{preset: mine}", "%/fleets.yaml:1:1: mine needs 'causes', a list\n"},
        {FLEET "  causes: all\n", "{preset: mine}",
         "%/fleets.yaml:1:1: mine needs 'causes', a list\n"},
        {FLEET "  causes: {cause: a}\n", "{preset: mine}",
         "%/fleets.yaml:1:1: mine needs 'causes', a list\n"},
        {FLEET "  causes: []\n", "{preset: mine}", ""},
        /* entries beside it are checked too; those that are none are left out */
        {"other: 5\n" FLEET "  causes: []\n", "{preset: mine}",
         "%/fleets.yaml:1:8: other takes keys with values, not a word\n"},
        {"- mine\n", "{preset: mine}",
         "5:21: failures.preset: unknown fleet 'mine'\n"
         "%/fleets.yaml:1:1: a catalogue file takes entries, not a list\n"},
        /* the scenario's problems stand first, whichever was found first */
        {FLEET "  causes: all\n", "{preset: mine}, {cause: b}",
         "5:28: failures[1].mtbf must be given: the mean time between failures of one unit, as in "
         "5.8y\n%/fleets.yaml:1:1: mine needs 'causes', a list\n"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error error = {""};
        fill("fleets", rows[i].file);
        struct scenario *scenario = read_with(rows[i].failures, &error);
        if (scenario == NULL)
            fail_msg("%s", error.text);
        expect(scenario, rows[i].problems);
        scenario_destroy(scenario);
    }
}

static void test_causes_of_a_fleet_arrive(void **state)
{
    struct error error = {""};
    fill("fleets", FLEET "  causes:\n    - {cause: a, mtbf: 5y}\n    - {cause: b, mtbf: 6y}\n");
    struct scenario *scenario = read_with("{preset: mine}, {cause: c, mtbf: 7y}", &error);
    assert_non_null(scenario);
    weeks_problems_are(scenario, "");
    assert_int_equal(scenario->job.cause_count, 3);
    assert_string_equal(scenario->job.causes[0].name, "a");
    assert_string_equal(scenario->job.causes[1].name, "b");
    assert_string_equal(scenario->job.causes[2].name, "c");
    scenario_destroy(scenario);
}

/* The first file that cannot be read is told, and nothing else: the scenario may be sound. */
static void test_a_file_that_lacks(void **state)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        struct error error = {""};
        char wanted[256];
        fill(families[i], NULL);
        struct scenario *scenario = read_with("{preset: rsc-1}", &error);
        assert_null(scenario);
        snprintf(wanted, sizeof wanted, "%s/%s.yaml: No such file or directory", folder,
                 families[i]);
        assert_string_equal(error.text, wanted);
    }
    empty();
    struct error error = {""};
    char wanted[256];
    assert_null(read_with("{preset: rsc-1}", &error));
    snprintf(wanted, sizeof wanted, "%s/models.yaml: No such file or directory", folder);
    assert_string_equal(error.text, wanted);
}

static void test_lists_of_a_folder(void **state)
{
    struct arena *arena = arena_create();
    const struct catalogue_entry *entries = NULL;
    struct error error = {""};
    fill("gpus", "b-card: {doc: \"The second.\", hbm: 8GB}\na-card: {hbm: 9GB}\n");
    assert_int_equal(describe_entries("gpus", folder, arena, &entries, &error), 2);
    assert_string_equal(entries[0].name, "b-card");
    assert_string_equal(entries[0].doc, "The second.");
    assert_string_equal(entries[1].name, "a-card");
    assert_string_equal(entries[1].doc, "");
    fill("gpus", "card: {doc: [1]}\n");
    assert_int_equal(describe_entries("gpus", folder, arena, &entries, &error), 1);
    assert_string_equal(entries[0].doc, "");
    assert_string_equal(error.text, "");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fleets_of_ones_own),
        cmocka_unit_test(test_causes_of_a_fleet_arrive),
        cmocka_unit_test(test_a_file_that_lacks),
        cmocka_unit_test(test_lists_of_a_folder),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
