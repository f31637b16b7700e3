/* A session, and what it writes beside its report: files of the user's naming, names of databases,
 * colours, ends. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/command/line/command.h"
#include "analysis/output/terminal/identity.h"
#include "analysis/output/terminal/output.h"
#include "tests/analysis/output/terminal/terminal.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

struct place {
    char folder[256], path[300], partial[320];
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    sample_folder(p->folder, sizeof p->folder);
    snprintf(p->path, sizeof p->path, "%s/x.txt", p->folder);
    snprintf(p->partial, sizeof p->partial, "%s.partial", p->path);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    sample_remove(p->folder);
    free(p);
    return 0;
}

/* What a file holds; "-": there is none. */
static void assert_holds(const char *path, const char *expected)
{
    char text[64] = "-";
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    assert_string_equal(text, expected);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_output_takes_its_name_when_whole(void **state)
{
    struct place *p = *state;
    struct session session;
    struct output output;
    struct error error = {""};
    session_begin(&session);
    write_file(p->path, "# Kernels of old");
    write_file(p->partial, "# Ker");
    assert_true(output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error));
    assert_false(output.direct || session.held);
    fputs("# Kernels of new", output.out);
    fflush(output.out);
    assert_holds(p->path, "# Kernels of old");
    assert_holds(p->partial, "# Kernels of new");
    assert_true(output_end(&output, &session, true, &error));
    assert_holds(p->path, "# Kernels of new");
    assert_holds(p->partial, "-");
    /* not to be kept: gone, and no complaint */
    assert_true(output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error));
    fputs("half", output.out);
    assert_true(output_end(&output, &session, false, &error));
    assert_holds(p->path, "# Kernels of new");
    assert_holds(p->partial, "-");
    assert_string_equal(error.text, "");
    session_end(&session, 0);
}

static void test_output_that_cannot_be_written(void **state)
{
    struct place *p = *state;
    struct session session;
    struct output output;
    struct error error = {""};
    char expected[1000], nowhere[400];
    session_begin(&session);
    /* its name was taken by a folder meanwhile */
    assert_true(output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error));
    assert_int_equal(mkdir(p->path, 0777), 0);
    assert_false(output_end(&output, &session, true, &error));
    snprintf(expected, sizeof expected, "cannot write %s: Is a directory", p->path);
    assert_string_equal(error.text, expected);
    assert_holds(p->partial, "-");
    /* no folder to stand in */
    snprintf(nowhere, sizeof nowhere, "%s/no/x", p->folder);
    assert_false(output_begin(&output, &session, nowhere, OUTPUT_SHAPES, &error));
    snprintf(expected, sizeof expected, "cannot write %s: No such file or directory", nowhere);
    assert_string_equal(error.text, expected);
    assert_false(session.held); /* an interrupt is answered again */
    /* a link beside it is not followed */
    assert_int_equal(rmdir(p->path), 0);
    assert_int_equal(symlink("thesis", p->partial), 0);
    assert_false(output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error));
    assert_non_null(strstr(error.text, "Too many levels of symbolic links"));
    session_end(&session, 0);
}

/* As long as a name may be with ".partial": 4,087 characters; of one more it would be cut. */
static void test_longest_output(void **state)
{
    struct place *p = *state;
    struct session session;
    struct output output;
    struct error error = {""};
    char path[OUTPUT_PATH_MAX];
    session_begin(&session);
    sample_long_path(p->folder, path, 4087);
    assert_true(output_begin(&output, &session, path, OUTPUT_SHAPES, &error));
    assert_true(output_end(&output, &session, true, &error));
    sample_long_path(p->folder, path, 4088);
    assert_false(output_begin(&output, &session, path, OUTPUT_SHAPES, &error));
    session_end(&session, 0);
}

/* A device, a pipe, a descriptor of others: as they stand, at the end of what is there. */
static void test_direct_outputs(void **state)
{
    struct place *p = *state;
    struct session session;
    struct output output;
    struct error error = {""};
    char name[32], expected[400];
    session_begin(&session);
    write_file(p->path, "one");
    int fd = open(p->path, O_WRONLY | O_APPEND);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_true(output_ready(name, OUTPUT_LATER, true, &error));
    assert_true(output_begin(&output, &session, name, OUTPUT_SHAPES, &error));
    assert_true(output.direct && !session.held);
    fputs(" two", output.out);
    assert_true(output_end(&output, &session, true, &error));
    assert_holds(p->path, "one two");
    assert_true(output_begin(&output, &session, name, OUTPUT_SHAPES, &error));
    assert_true(output_end(&output, &session, false, &error));
    assert_holds(p->path, "one two"); /* nobody's to remove */
    close(fd);
    /* a device, by a link: were it removed, it would not be the device */
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(symlink("/dev/full", p->path), 0);
    assert_true(output_ready(p->path, OUTPUT_LATER, true, &error));
    assert_true(output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error));
    assert_true(output.direct);
    fputs("much", output.out);
    assert_false(output_end(&output, &session, true, &error));
    snprintf(expected, sizeof expected, "cannot write %s: No space left on device", p->path);
    assert_string_equal(error.text, expected);
    assert_int_equal(access(p->path, F_OK), 0);
    session_end(&session, 0);
}

/* A file size limit stands for the full disk; in a child, since it cannot be taken back. */
static void test_output_on_a_full_disk(void **state)
{
    struct place *p = *state;
    write_file(p->path, "# Kernels of old");
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1000, 1000};
        struct session session;
        struct output output;
        struct error error = {""};
        session_begin(&session);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (!output_begin(&output, &session, p->path, OUTPUT_SHAPES, &error))
            _exit(1);
        for (unsigned i = 0; i < 10000; i++)
            fputs("much", output.out);
        bool kept = output_end(&output, &session, true, &error);
        _exit(kept || strstr(error.text, "File too large") == NULL ? 2 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_holds(p->path, "# Kernels of old");
    assert_holds(p->partial, "-");
}

/* What a session reads is never written over, whoever named it: itself, by a link, on its way. */
static void test_inputs_are_no_outputs(void **state)
{
    struct place *p = *state;
    struct session session;
    struct output output;
    struct error error = {""};
    char expected[1000], link_path[400], other[300];
    session_begin(&session);
    write_file(p->path, "# Kernels of old");
    struct identity read = identity_of_path(p->path);
    identity_list_add(session.inputs, &read, "the input");
    snprintf(other, sizeof other, "%s/other", p->folder);
    snprintf(link_path, sizeof link_path, "%s.partial", other);
    assert_int_equal(link(p->path, link_path), 0);
    const char *const names[] = {p->path, link_path, other};
    for (unsigned i = 0; i < 3; i++) {
        assert_false(output_begin(&output, &session, names[i], OUTPUT_SHAPES, &error));
        snprintf(expected, sizeof expected,
                 "%s would be written over the input, which is read; name another file", names[i]);
        assert_string_equal(error.text, expected);
        assert_false(session.held);
    }
    assert_holds(p->path, "# Kernels of old");
    /* what is not there cannot be lost */
    assert_int_equal(unlink(link_path), 0);
    read = identity_of_path(other);
    identity_list_add(session.inputs, &read, "nothing");
    assert_true(output_begin(&output, &session, other, OUTPUT_SHAPES, &error));
    assert_true(output_end(&output, &session, true, &error));
    session_end(&session, 0);
}

/* Its own kind, as far as a stopped writer came with it, or nothing. */
static void test_kinds_that_are_replaced(void **state)
{
    struct place *p = *state;
    static const struct {
        enum output_kind kind;
        const char *text;
        bool good;
    } rows[] = {
        {OUTPUT_PICTURE, "<svg xmlns=", true},
        {OUTPUT_PICTURE, "<sv", true},
        {OUTPUT_PICTURE, "", true},
        {OUTPUT_PICTURE, "<!doctype html>", false},
        {OUTPUT_PICTURE, "<system version=\"1\">", false},
        {OUTPUT_PAGE, "<!doctype html>", true},
        {OUTPUT_PAGE, "<svg xmlns=", false},
        {OUTPUT_CHROME, "{\"displayTimeUnit\":\"ms\"", true},
        {OUTPUT_CHROME, "{\"model\": \"gpt2\"}", false},
        {OUTPUT_DOCUMENT, "{\n  \"schema\": \"orrery.launch/1\"", true},
        {OUTPUT_DOCUMENT, "{\n  \"schema\": \"mine\"", false},
        {OUTPUT_CSV, "id,reserved_GiB\r\n1,2\r\n", true},
        {OUTPUT_CSV, "id,rank", true},
        {OUTPUT_CSV, "thesis\n", false},
        {OUTPUT_CSV, "name: a,b\n", false},
        {OUTPUT_SHAPES, "# Kernels of 'x'", true},
        {OUTPUT_SHAPES, "# my scenario\nmodel: x\n", false},
        {OUTPUT_SCRIPT, "#!/bin/bash\n", true},
        {OUTPUT_SCRIPT, "#!/usr/bin/env python3\n", false},
        {OUTPUT_LATER, "anything", true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error error = {""};
        write_file(p->path, rows[i].text);
        assert_int_equal(output_ready(p->path, rows[i].kind, false, &error), rows[i].good);
        assert_int_equal(output_ready(p->path, rows[i].kind, true, &error), rows[i].good);
        assert_int_equal(rename(p->path, p->partial), 0);
        assert_int_equal(output_ready(p->path, rows[i].kind, true, &error), rows[i].good);
        assert_int_equal(strstr(error.text, "not replaced") != NULL, !rows[i].good);
        assert_int_equal(unlink(p->partial), 0);
    }
}

static void test_targets_are_told_before(void **state)
{
    struct place *p = *state;
    struct error error = {""};
    char expected[1000], nowhere[400];
    /* a good one leaves no trace; without `try` the place is not looked at */
    assert_true(output_ready(p->path, OUTPUT_LATER, true, &error));
    assert_holds(p->path, "-");
    assert_holds(p->partial, "-");
    snprintf(nowhere, sizeof nowhere, "%s/no/x", p->folder);
    assert_true(output_ready(nowhere, OUTPUT_LATER, false, &error));
    assert_false(output_ready(nowhere, OUTPUT_LATER, true, &error));
    snprintf(expected, sizeof expected, "cannot write %s.partial: No such file or directory",
             nowhere);
    assert_string_equal(error.text, expected);
    write_file(p->partial, "# Ker");
    assert_true(output_ready(p->path, OUTPUT_LATER, true, &error));
    assert_holds(p->partial, "# Ker");
    write_file(p->path, "# Kernels of old");
    assert_true(output_ready(p->path, OUTPUT_LATER, true, &error));
    assert_int_equal(chmod(p->path, 0444), 0);
    assert_false(output_ready(p->path, OUTPUT_LATER, true, &error));
    snprintf(expected, sizeof expected, "%s is read-only: not replaced", p->path);
    assert_string_equal(error.text, expected);
    assert_holds(p->path, "# Kernels of old");
    assert_false(output_ready(p->folder, OUTPUT_LATER, true, &error));
    snprintf(expected, sizeof expected, "%s is a folder; name a file", p->folder);
    assert_string_equal(error.text, expected);
    char *path = calloc(1, OUTPUT_PATH_MAX + 1);
    memset(path, 'x', OUTPUT_PATH_MAX - 16);
    assert_true(output_ready(path, OUTPUT_LATER, false, &error)); /* 16 characters are left */
    path[OUTPUT_PATH_MAX - 16] = 'x';
    assert_false(output_ready(path, OUTPUT_LATER, false, &error));
    assert_string_equal(error.text, "the path is too long");
    free(path);
}

/* Runs in a child with its own streams, since a session takes those of its process. */
static int session_says(int out, int notes, int code, char *said, size_t size)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct session session;
        dup2(out, STDOUT_FILENO);
        dup2(notes >= 0 ? notes : pipes[1], STDERR_FILENO);
        session_begin(&session);
        fputs("a report", session.out);
        _exit(session_end(&session, code));
    }
    close(pipes[1]);
    ssize_t got = read(pipes[0], said, size - 1);
    said[got > 0 ? got : 0] = '\0';
    close(pipes[0]);
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

/* What could not be told is trouble, unless the command has another; a reader that left knows. */
static void test_ends(void **state)
{
    char said[256];
    int null = open("/dev/null", O_WRONLY), full = open("/dev/full", O_WRONLY), pipes[2];
    const char *const sentence = "orrery: cannot write to standard output: No space left on "
                                 "device\n";
    assert_int_equal(session_says(null, -1, 0, said, sizeof said), 0);
    assert_string_equal(said, "");
    assert_int_equal(session_says(null, -1, 4, said, sizeof said), 4);
    assert_int_equal(session_says(full, -1, 0, said, sizeof said), 1);
    assert_string_equal(said, sentence);
    assert_int_equal(session_says(full, -1, 4, said, sizeof said), 4);
    assert_string_equal(said, sentence);
    assert_int_equal(pipe(pipes), 0);
    close(pipes[0]);
    assert_int_equal(session_says(pipes[1], -1, 0, said, sizeof said), 0);
    assert_int_equal(session_says(pipes[1], -1, 4, said, sizeof said), 4);
    assert_string_equal(said, "");
    close(pipes[1]);
    close(null);
    close(full);
}

/* Many sessions in one process take no more than one. */
static void test_a_session_gives_back_what_it_took(void **state)
{
    size_t taken = 0;
    for (unsigned i = 0; i < 24; i++) {
        struct session session;
        session_begin(&session);
        assert_int_equal(session_end(&session, 0), 0);
        size_t now = mallinfo2().uordblks;
        if (i > 12) /* the first ones fill the caches of threads, seven pieces of a size */
            assert_int_equal(now, taken);
        taken = now;
    }
}

struct look {
    bool colour, notes_colour, utf8;
};

static struct look look_of(int out, int notes, const char *terminal, const char *no_color,
                           const char *locale)
{
    pid_t child = fork();
    if (child == 0) {
        struct session session;
        dup2(out, STDOUT_FILENO);
        dup2(notes, STDERR_FILENO);
        terminal != NULL ? setenv("TERM", terminal, 1) : unsetenv("TERM");
        no_color != NULL ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR");
        setenv("LC_ALL", locale, 1);
        session_begin(&session);
        bool marks = strcmp(session_bold(&session), session.colour ? "\033[1m" : "") == 0 &&
                     strcmp(session_red(&session), session.colour ? "\033[31m" : "") == 0 &&
                     strcmp(session_dim(&session), session.colour ? "\033[2m" : "") == 0 &&
                     strcmp(session_plain(&session), session.colour ? "\033[0m" : "") == 0;
        _exit(session.colour + 2 * session.notes_colour + 4 * session.utf8 + 8 * marks);
    }
    int status;
    waitpid(child, &status, 0);
    int said = WEXITSTATUS(status);
    assert_true(said & 8);
    return (struct look){said & 1, said & 2, said & 4};
}

/* Colour for terminals that want it, each stream for itself; files get UTF-8 whatever the locale.
 */
static void test_looks(void **state)
{
    if (!terminal_possible())
        skip();
    int inner, outer = terminal_open(&inner), file = open("/dev/null", O_WRONLY);
    static const struct {
        const char *terminal, *no_color;
        bool colour;
    } rows[] = {{"xterm", NULL, true}, {"xterm", "", true}, {"xterm", "1", false},
                {"dumb", NULL, false}, {NULL, NULL, false}, {NULL, "", false}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *terminal = rows[i].terminal, *none = rows[i].no_color;
        struct look look = look_of(inner, inner, terminal, none, "C.UTF-8");
        assert_true(look.colour == rows[i].colour && look.notes_colour == rows[i].colour);
        look = look_of(file, inner, terminal, none, "C.UTF-8");
        assert_true(!look.colour && look.notes_colour == rows[i].colour);
        look = look_of(inner, file, terminal, none, "C.UTF-8");
        assert_true(look.colour == rows[i].colour && !look.notes_colour);
    }
    assert_true(look_of(inner, inner, "xterm", NULL, "C.UTF-8").utf8);
    assert_false(look_of(inner, inner, "xterm", NULL, "C").utf8);
    assert_false(look_of(inner, inner, "xterm", NULL, "no_such.locale").utf8);
    assert_true(look_of(file, inner, "xterm", NULL, "C").utf8);
    close(inner);
    close(outer);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_output_takes_its_name_when_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_output_that_cannot_be_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_longest_output, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_direct_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_output_on_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inputs_are_no_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kinds_that_are_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_targets_are_told_before, set_up, tear_down),

        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_a_session_gives_back_what_it_took),
        cmocka_unit_test(test_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
