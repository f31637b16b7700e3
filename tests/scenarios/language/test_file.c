/* A file that is not there: the message names those of its name in the folders next to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/language/file.h"
#include "tests/test.h"

static char folder[64]; /* of this process alone */

static void make_folder(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* `path` is read from within the folder, by its name there and by its whole path, with `hint` after
 * the reason; each $ of the hint is the folder of the path as it was given. */
static void refused(const char *path, const char *hint)
{
    const char *const before[] = {"", "./", folder};
    for (unsigned i = 0; i < sizeof before / sizeof before[0]; i++) {
        char within[100] = "", given[200], wanted[1200];
        struct error error = {""};
        struct file_text file;
        struct arena *arena = arena_create();
        snprintf(within, sizeof within, "%s%s", before[i], before[i] == folder ? "/" : "");
        snprintf(given, sizeof given, "%s%s", within, path);
        int length = snprintf(wanted, sizeof wanted, "%s: No such file or directory", given);
        for (const char *at = hint; *at != '\0'; at++)
            length += *at == '$'
                          ? snprintf(wanted + length, sizeof wanted - (size_t)length, "%s", within)
                          : snprintf(wanted + length, sizeof wanted - (size_t)length, "%c", *at);
        assert_false(file_read(arena, given, 100, false, &file, &error));
        assert_string_equal(error.text, wanted);
        arena_destroy(arena);
    }
}

static uint64_t contents_of(const char *bytes, size_t size)
{
    FILE *file = fopen("contents", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    const uint64_t contents = file_contents("contents");
    remove("contents");
    assert_true(contents != 0);
    return contents;
}

static void test_a_missing_file_is_looked_for_beside(void **state)
{
    make_folder("weeks");
    make_folder("step");
    make_folder("step/deep");
    make_folder("lessons");
    make_folder(".hidden");
    make_folder("lessons/a.yaml");
    make_file("lessons.yaml");
    make_file("weeks/a.yaml");
    make_file("step/deep/d.yaml");
    make_file(".hidden/a.yaml");
    refused("a.yaml", "; $weeks/a.yaml has that name");
    refused("weeks/b.yaml", "");
    refused("b.yaml", "");
    refused("d.yaml", ""); /* two folders down is not next to it */
    refused("step/d.yaml", "; $step/deep/d.yaml has that name");
    refused("nowhere/a.yaml", "");
    make_file("step/a.yaml");
    refused("a.yaml", "; $step/a.yaml and $weeks/a.yaml have that name");
    make_folder("memory");
    make_file("memory/a.yaml");
    refused("a.yaml", "; $memory/a.yaml, $step/a.yaml and 1 more have that name");
    make_folder("studies");
    make_file("studies/a.yaml");
    refused("a.yaml", "; $memory/a.yaml, $step/a.yaml and 2 more have that name");
}

static void test_control_characters_stay_off_the_terminal(void **state)
{
    struct error error = {""};
    struct file_text file;
    struct arena *arena = arena_create();
    make_folder("\033[2J");
    make_file("\033[2J/c.yaml");
    assert_false(file_read(arena, "c.yaml", 100, false, &file, &error));
    assert_non_null(strstr(error.text, "/c.yaml has that name"));
    assert_null(strchr(error.text, '\033'));
    arena_destroy(arena);
}

/* Every byte counts, wherever it stands, and so does the length. */
static void test_contents_tell_files_apart(void **state)
{
    static const size_t sizes[] = {1, 7, 8, 9, 8191, 8192, 8193, 20000};
    static char bytes[20001];
    (void)state;
    assert_int_equal(file_contents("contents"), 0); /* none there */
    assert_int_equal(file_contents("/"), 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = sizes[i];
        memset(bytes, 0, sizeof bytes);
        const uint64_t zeros = contents_of(bytes, size);
        assert_int_equal(contents_of(bytes, size), zeros);
        assert_true(contents_of(bytes, size + 1) != zeros);
        assert_true(contents_of(bytes, size - 1) != zeros);
        const size_t places[] = {0, size / 2, size - 1};
        for (unsigned p = 0; p < 3; p++) {
            bytes[places[p]] = 1;
            assert_true(contents_of(bytes, size) != zeros);
            bytes[places[p]] = 0;
        }
    }
}

static int enter(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/orrery_file_%ld", (long)getpid());
    return mkdir(folder, 0700) == 0 && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    static const char *const made[] = {
        "weeks/a.yaml",     "step/a.yaml",    "memory/a.yaml", "studies/a.yaml", ".hidden/a.yaml",
        "step/deep/d.yaml", "lessons/a.yaml", "lessons.yaml",  "\033[2J/c.yaml", "weeks",
        "step/deep",        "step",           "memory",        "studies",        ".hidden",
        "lessons",          "\033[2J"};
    for (unsigned i = 0; i < sizeof made / sizeof made[0]; i++)
        remove(made[i]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_missing_file_is_looked_for_beside),
        cmocka_unit_test(test_control_characters_stay_off_the_terminal),
        cmocka_unit_test(test_contents_tell_files_apart),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
