/* The progress line: on a terminal, in a file, and through a stream that has no descriptor. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/output/terminal/progress.h"
#include "tests/analysis/output/terminal/terminal.h"
#include "tests/test.h"

/* As if it had begun `gone_s` ago, and told something `told_s` ago. */
static void age(struct progress *progress, double gone_s, double told_s)
{
    double now = progress->begin_s + progress_seconds(progress);
    progress->begin_s = now - gone_s;
    progress->told_s = now - told_s;
}

static void assert_told(FILE *stream, long from, const char *expected)
{
    char told[256] = "";
    fseek(stream, from, SEEK_SET);
    size_t got = fread(told, 1, sizeof told - 1, stream);
    told[got] = '\0';
    assert_string_equal(told, expected);
}

/* In a file: a line every 30 s, of the time that is left at the pace so far. */
static void test_progress_in_a_file(void **state)
{
    FILE *notes = tmpfile();
    struct progress progress;
    progress_begin(&progress, notes);
    assert_false(progress.terminal);
    progress_tell(&progress, 0.5, "study"); /* at once */
    age(&progress, 29.5, 29.5);
    progress_tell(&progress, 0.5, "study");
    age(&progress, 60.0, 60.0);
    progress_tell(&progress, 0.0, "study"); /* nothing is done: no pace */
    assert_true(ftell(notes) == 0 && !progress.shown);
    age(&progress, 60.01, 30.01);
    progress_tell(&progress, 0.6, "study");
    assert_true(progress.shown);
    assert_told(notes, 0, "study: 60.0 % done, 40.0 s left\n");
    long end = ftell(notes);
    progress_tell(&progress, 0.7, "study"); /* told a moment ago */
    age(&progress, 200.0, 29.5);
    progress_tell(&progress, 0.7, "study");
    assert_true(ftell(notes) == end);
    age(&progress, 300.1, 30.1);
    progress_tell(&progress, 0.25, "weeks");
    assert_told(notes, end, "weeks: 25.0 % done, 15.0 min left\n");
    end = ftell(notes);
    progress_end(&progress);
    assert_true(ftell(notes) == end && !progress.shown);
    assert_true(progress_seconds(&progress) >= 300.1 && progress_seconds(&progress) < 400.0);
    fclose(notes);
}

static void assert_shown(int outer, const char *expected)
{
    char shown[512] = "";
    ssize_t got = read(outer, shown, sizeof shown - 1);
    shown[got > 0 ? got : 0] = '\0';
    assert_string_equal(shown, expected);
}

/* On a terminal: one line that renews itself five times a second, after the first one, and goes. */
static void test_progress_on_a_terminal(void **state)
{
    if (!terminal_possible())
        skip();
    int inner, outer = terminal_open(&inner);
    FILE *notes = fdopen(inner, "w");
    struct progress progress;
    progress_begin(&progress, notes);
    assert_true(progress.terminal);
    age(&progress, 0.9, 0.9);
    progress_tell(&progress, 0.5, "study");
    assert_shown(outer, "");
    progress_end(&progress); /* nothing was shown: nothing to clear */
    fflush(notes);
    assert_shown(outer, "");
    age(&progress, 1.01, 0.21);
    progress_tell(&progress, 0.5, "study");
    assert_shown(outer, "\r\033[Kstudy: 50.0 % done, 1.01 s left");
    age(&progress, 5.0, 0.1);
    progress_tell(&progress, 0.5, "study");
    assert_shown(outer, "");
    age(&progress, 20.0, 0.21);
    progress_tell(&progress, 1.0, "study");
    assert_shown(outer, "\r\033[Kstudy: 100.0 % done, 0 s left");
    progress_end(&progress);
    fflush(notes);
    assert_shown(outer, "\r\033[K");
    progress_end(&progress);
    fflush(notes);
    assert_shown(outer, "");
    fclose(notes);
    close(outer);
}

/* Notes pass through a stream of ours that has no descriptor: standard error tells. */
static void test_progress_of_a_stream_without_descriptor(void **state)
{
    if (!terminal_possible())
        skip();
    char *text = NULL;
    size_t size;
    FILE *notes = open_memstream(&text, &size);
    int inner, outer = terminal_open(&inner), kept = dup(STDERR_FILENO);
    struct progress progress;
    dup2(inner, STDERR_FILENO);
    progress_begin(&progress, notes);
    dup2(kept, STDERR_FILENO);
    assert_true(progress.terminal);
    int file = open("/dev/null", O_WRONLY);
    dup2(file, STDERR_FILENO);
    progress_begin(&progress, notes);
    dup2(kept, STDERR_FILENO);
    assert_false(progress.terminal);
    close(file);
    close(kept);
    close(inner);
    close(outer);
    fclose(notes);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_in_a_file),
        cmocka_unit_test(test_progress_on_a_terminal),
        cmocka_unit_test(test_progress_of_a_stream_without_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
