/* The scenario files that ship: each reads without an error, and the main one, cut off anywhere or
 * with any byte changed, never crashes the reader. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "tests/sanitized.h"
#include "tests/test.h"

static void check_sound(const char *path)
{
    struct error error = {{0}};
    struct scenario *scenario = scenario_read(path, NULL, 0, NULL, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    if (scenario->diagnostics.error_count > 0)
        fail_msg("%s:%u: %s", path, scenario->diagnostics.problems[0].line,
                 scenario->diagnostics.problems[0].text);
    for (unsigned i = 0; i < scenario->diagnostics.problem_count;
         i++) /* an example wastes nothing */
        if (strncmp(scenario->diagnostics.problems[i].text, "layout.", strlen("layout.")) == 0)
            fail_msg("%s:%u: %s", path, scenario->diagnostics.problems[i].line,
                     scenario->diagnostics.problems[i].text);
    assert_true(*scenario->name != '\0');
    scenario_destroy(scenario);
}

/* Of one folder; returns how many files it has. */
static unsigned check_folder(const char *path)
{
    DIR *folder = opendir(path);
    unsigned count = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        char file[1024];
        if (dot == NULL || strcmp(dot, ".yaml") != 0)
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        check_sound(file);
        count++;
    }
    closedir(folder);
    return count;
}

static void test_every_file_is_sound(void **state)
{
    static const char *const folders[] = {
        ORRERY_SCENARIOS "/step",    ORRERY_SCENARIOS "/memory",  ORRERY_SCENARIOS "/weeks",
        ORRERY_SCENARIOS "/studies", ORRERY_SCENARIOS "/lessons",
    };
    assert_int_equal(check_folder(ORRERY_SCENARIOS), 3); /* the first that anybody runs */
    for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++)
        assert_true(check_folder(folders[i]) >= 3);
}

static struct scenario *read_main(const char *catalogue)
{
    struct scenario_options options = {.catalogue = catalogue};
    struct error error = {{0}};
    struct scenario *scenario =
        scenario_read(ORRERY_SCENARIOS "/llama3-70b-64xh100.yaml", NULL, 0, &options, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

/* `--catalogue` of the folder that was built in changes nothing. */
static void test_catalogue_folder(void **state)
{
    struct scenario *within = read_main(NULL), *folder = read_main(ORRERY_SCENARIOS "/catalogue");
    const struct configuration *a = &within->configuration, *b = &folder->configuration;
    assert_int_equal(folder->diagnostics.error_count, 0);
    assert_int_equal(within->stated.default_count, folder->stated.default_count);
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        assert_true(a->gpu.peak_flops_per_s[i] == b->gpu.peak_flops_per_s[i]);
    assert_true(a->gpu.hbm.usable_bytes == b->gpu.hbm.usable_bytes);
    assert_true(a->cluster.node.nic.latency_s == b->cluster.node.nic.latency_s);
    assert_true(a->software.host.launch_s == b->software.host.launch_s);
    assert_int_equal(a->model.layers, b->model.layers);
    scenario_destroy(within);
    scenario_destroy(folder);
}

static void read_any(const char *text, size_t size)
{
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("t.yaml", text, size, NULL, &error);
    assert_non_null(scenario);
    scenario_destroy(scenario);
}

static void test_main_file_garbled(void **state)
{
    char text[8192];
    FILE *file = fopen(ORRERY_SCENARIOS "/llama3-70b-64xh100.yaml", "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size > 200 && size < sizeof text);
    for (size_t at = 0; at < size; at += SANITIZED_EVERY(7)) {
        char kept = text[at];
        if (at % 3 == 0) /* test_hostile cuts a shorter file everywhere */
            read_any(text, at);
        text[at] = (char)(kept ^ (1 << (at % 8)));
        read_any(text, size);
        text[at] = kept;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file_is_sound),
        cmocka_unit_test(test_catalogue_folder),
        cmocka_unit_test(test_main_file_garbled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
