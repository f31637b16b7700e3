#include "analysis/page/what_if.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/exchange/export/export.h"
#include "sim/check.h"
#include "sim/memory.h"
#include "sim/units.h"

enum {
    SETS_MAX = 64,
    ARGUMENTS_MAX = 2 * SETS_MAX + 16,
    PATH_BYTES = 512,
    CPU_SECONDS = 60,
    WALL_SECONDS = 90,
    WAIT_NS = 5000000,
    FILE_BYTES = 1 << 29,
    TEXT_BYTES = 1 << 22,
    LATEST_S = 1 << 30, /* 34 years */
    TEMPLATE_BYTES = 6, /* as mkdtemp wants them */
    CODE_OK = 0,
    CODE_NOTHING_FITS = 4
};
#define MOST_OF_DATABASE "256MiB"
#define STRUCK "struck on the page"
static const char *const files[] = {"s.yaml", "x.db", "x.db.partial", "out", "err", "trace.csv"};

extern char **environ;

/* What one question needs on disk. */
struct workshop {
    char folder[PATH_BYTES], paths[sizeof files / sizeof files[0]][PATH_BYTES + 16];
};
enum {
    SCENARIO,
    DATABASE,
    PARTIAL,
    OUT,
    ERR,
    TRACE
};

static bool say(struct what_if *out, const char *text)
{
    free(out->text);
    out->size = strlen(text);
    out->text = memcpy(memory_take(out->size + 1), text, out->size + 1);
    return false;
}

static bool open_workshop(struct workshop *w, struct what_if *out)
{
    const char *base = getenv("TMPDIR");
    const int length =
        snprintf(w->folder, sizeof w->folder, "%s/orrery-what-if-", base != NULL ? base : "/tmp");
    bool fits = length > 0 && length + TEMPLATE_BYTES < (int)sizeof w->folder;
    if (fits) {
        memset(w->folder + length, 'X', TEMPLATE_BYTES);
        w->folder[length + TEMPLATE_BYTES] = '\0';
        fits = mkdtemp(w->folder) != NULL;
    }
    if (!fits)
        return say(out, "there is no place for temporary files\n");
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
        snprintf(w->paths[i], sizeof w->paths[i], "%s/%s", w->folder, files[i]);
    return true;
}

static void close_workshop(const struct workshop *w)
{
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(w->paths[i]);
    rmdir(w->folder);
}

static bool write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && fwrite(text, 1, size, file) == size;
    return (file == NULL || fclose(file) == 0) && good;
}

/* Text of a file, cut at TEXT_BYTES; NULL when it cannot be read. */
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = memory_take(TEXT_BYTES + 1);
    *size = fread(text, 1, TEXT_BYTES, file);
    fclose(file);
    return text;
}

static void limit(pid_t child)
{
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS}, bytes = {FILE_BYTES, FILE_BYTES};
    prlimit(child, RLIMIT_CPU, &cpu, NULL);
    prlimit(child, RLIMIT_FSIZE, &bytes, NULL);
}

/* Its exit code; -1 when it did not end by itself. */
static int wait_for(pid_t child)
{
    const struct timespec pause = {0, WAIT_NS};
    int status = 0;
    for (long waited_ns = 0; waited_ns < WALL_SECONDS * (long)GIGA; waited_ns += WAIT_NS) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (ended < 0 && errno != EINTR)
            return -1;
        nanosleep(&pause, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

/* This program with other arguments; its words go to two files. */
static int run_child(const struct workshop *w, const char *const *arguments, const char *to)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    char *words[ARGUMENTS_MAX] = {NULL};
    for (unsigned i = 0; arguments[i] != NULL; i++)
        words[i] = strdup(arguments[i]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, to, O_WRONLY | O_CREAT | O_TRUNC,
                                     S_IRUSR | S_IWUSR);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, w->paths[ERR],
                                     O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    const bool started = posix_spawn(&child, "/proc/self/exe", &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (started)
        limit(child);
    const int code = started ? wait_for(child) : -1;
    for (unsigned i = 0; words[i] != NULL; i++)
        free(words[i]);
    return code;
}

static bool tell_error(const struct workshop *w, struct what_if *out)
{
    size_t size = 0;
    char *text = read_file(w->paths[ERR], &size);
    if (text == NULL || size == 0) {
        free(text);
        return say(out, "the simulation took longer than a page should wait, or could not begin\n");
    }
    free(out->text);
    out->text = text;
    out->size = size;
    return false;
}

static bool tell_output(const struct workshop *w, struct what_if *out)
{
    free(out->text);
    out->text = read_file(w->paths[OUT], &out->size);
    return out->text != NULL || say(out, "the answer was lost\n");
}

/* Copies a trace, whose rows begin with their seconds, and puts one more row where it belongs. */
static bool insert_row(const char *text, double at_s, long long node, FILE *out)
{
    bool written = false;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1, bytes = strlen(line);
        char *end = NULL;
        const double row_s = strtod(line, &end);
        if (!written && end != line && row_s > at_s) {
            fprintf(out, "%.17gs,node,%lld," STRUCK ",1d\r\n", at_s, node);
            written = true;
        }
        fwrite(line, 1, length < bytes ? length : bytes, out);
        line += length < bytes ? length : bytes;
    }
    if (!written)
        fprintf(out, "%.17gs,node,%lld," STRUCK ",1d\r\n", at_s, node);
    return !ferror(out);
}

/* The failures of the run, and one more, as a trace beside the scenario. */
static bool write_trace(const struct workshop *w, const struct what_if_ask *ask,
                        const json_t *strike, struct what_if *out)
{
    const double at_s = json_number_value(json_object_get(strike, "at_s"));
    const json_int_t node = json_integer_value(json_object_get(strike, "node"));
    const char *const export[] = {"orrery", "export", ask->path, "--format", "failures", NULL};
    size_t size = 0;
    if (!isfinite(at_s) || at_s < 0.0 || at_s > LATEST_S || node < 0 || node > INT32_MAX ||
        ask->path == NULL)
        return say(out, "a strike has a moment and a node, and changes a run that has a file\n");
    if (run_child(w, export, w->paths[OUT]) != CODE_OK)
        return tell_error(w, out);
    char *text = read_file(w->paths[OUT], &size);
    FILE *file = fopen(w->paths[TRACE], "wb");
    bool good = text != NULL && file != NULL && insert_row(text, at_s, (long long)node, file);
    good = (file == NULL || fclose(file) == 0) && good;
    free(text);
    return good || say(out, "the trace cannot be written\n");
}

/* `failures=` of that trace: an item for each cause, with the keys that rows do not hold, and one
 * for what was struck, unless an earlier strike is among them. To be freed; NULL: the database
 * cannot be read, which `out` says. */
static char *replaying(const struct what_if_ask *ask, struct what_if *out)
{
    struct error error = {""};
    struct query *query = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL);
    fputs("failures=[", stream);
    const bool good = query_open(ask->path, &query, &error) &&
                      export_trace_items(query, "trace.csv", stream, &error);
    fflush(stream);
    if (strstr(text, "rows: \"" STRUCK "\"") == NULL)
        fputs("{cause: " STRUCK ", law: trace, trace: trace.csv, rows: " STRUCK "}", stream);
    fputs("]", stream);
    fclose(stream);
    query_close(query);
    if (good)
        return text;
    free(text);
    say(out, error.text);
    return NULL;
}

struct command_words {
    const char *words[ARGUMENTS_MAX];
    unsigned count;
};

static void add(struct command_words *c, const char *word)
{
    c->words[c->count++] = word;
}

static bool add_sets(struct command_words *c, const json_t *sets, struct what_if *out)
{
    if (json_array_size(sets) > SETS_MAX)
        return say(out, "more changes than a page can ask for\n");
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const char *set = json_string_value(json_array_get(sets, i));
        if (set == NULL || strchr(set, '=') == NULL)
            return say(out, "a change reads KEY=VALUE\n");
        add(c, "--set");
        add(c, set);
    }
    return true;
}

static bool check(const struct workshop *w, struct command_words *c, struct what_if *out)
{
    add(c, "--json");
    const int code = run_child(w, c->words, w->paths[OUT]);
    return code >= 0 && tell_output(w, out) && out->size > 0 ? true : tell_error(w, out);
}

static bool simulate(const struct workshop *w, struct command_words *c, struct what_if *out)
{
    struct error error = {""};
    add(c, "--max-db");
    add(c, MOST_OF_DATABASE);
    add(c, "--db");
    add(c, w->paths[DATABASE]);
    const int code = run_child(w, c->words, w->paths[OUT]);
    if (code != CODE_OK && code != CODE_NOTHING_FITS)
        return tell_error(w, out);
    return query_open(w->paths[DATABASE], &out->run, &error) || say(out, error.text);
}

static bool ask_child(const struct workshop *w, const struct what_if_ask *ask, const json_t *body,
                      struct what_if *out)
{
    struct command_words c = {.count = 0};
    const json_t *text = json_object_get(body, "text"), *strike = json_object_get(body, "strike");
    if (json_string_value(text) == NULL ||
        !write_file(w->paths[SCENARIO], json_string_value(text), json_string_length(text)))
        return say(out, "there is no scenario, or no place to write it\n");
    add(&c, "orrery");
    add(&c, ask->kind == WHAT_IF_RUN ? "run" : "check");
    add(&c, w->paths[SCENARIO]);
    add(&c, "--alone");
    if (!add_sets(&c, json_object_get(body, "sets"), out))
        return false;
    char *failures = NULL;
    if (json_is_object(strike)) {
        if (!write_trace(w, ask, strike, out) || (failures = replaying(ask, out)) == NULL)
            return false;
        add(&c, "--set");
        add(&c, failures);
    }
    const bool good = ask->kind == WHAT_IF_RUN ? simulate(w, &c, out) : check(w, &c, out);
    free(failures);
    return good;
}

static bool ask_schema(const struct workshop *w, struct what_if *out)
{
    static const char *const words[] = {"orrery", "schema", NULL};
    return run_child(w, words, w->paths[OUT]) == CODE_OK ? tell_output(w, out) : tell_error(w, out);
}

bool what_if(const struct what_if_ask *ask, struct what_if *out)
{
    struct workshop w;
    bool good = false;
    *out = (struct what_if){.text = NULL};
    if (!open_workshop(&w, out))
        return false;
    if (ask->kind == WHAT_IF_SCHEMA) {
        good = ask_schema(&w, out);
    } else {
        json_t *body = json_loadb(ask->body, ask->size, 0, NULL);
        good = body != NULL ? ask_child(&w, ask, body, out) : say(out, "that is no JSON\n");
        json_decref(body);
    }
    close_workshop(&w);
    return good;
}
