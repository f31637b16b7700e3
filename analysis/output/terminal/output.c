#include "analysis/output/terminal/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/output/terminal/identity.h"
#include "sim/check.h"

enum {
    HEAD_BYTES = 4096,
    OUTPUT_ROOM = 16, /* for what is added to a name */
    ANY_WRITER = 0222 /* root may write where nobody was meant to */
};

static const char csv_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_,";
static const struct {
    const char *begins; /* "": a line of names with commas between */
    const char *what;
} kinds[] = {
    [OUTPUT_PICTURE] = {"<svg ", "an SVG picture"},
    [OUTPUT_PAGE] = {"<!doctype html", "an HTML page"},
    [OUTPUT_CHROME] = {"{\"displayTimeUnit\":", "a trace of Chrome's kind"},
    [OUTPUT_KINETO] = {"{\"generator\":\"orrery\",\"schemaVersion\":", "a trace that Orrery wrote"},
    [OUTPUT_CHAKRA] = {"\x1d\n\x05"
                       "0.0.4\x12\x14\n\tgenerator\xea\x01\x06orrery",
                       "an execution trace that Orrery wrote"},
    [OUTPUT_GROUPS] = {"{\n \"1\": [", "groups of ranks that Orrery wrote"},
    [OUTPUT_CSV] = {"", "a CSV table"},
    [OUTPUT_SHAPES] = {"# Kernels of ", "a list of kernels"},
    [OUTPUT_SCENARIO] = {"# Scenario of a launch", "a scenario of a launch"},
    [OUTPUT_SCRIPT] = {"#!/bin/bash\n", "a script for bash"},
    [OUTPUT_DOCUMENT] = {"{\n  \"schema\": \"orrery.", "a JSON document of Orrery"},
};

/* Column names, as each table begins. */
static bool begins_csv(const char *head, size_t bytes)
{
    const size_t names = strspn(head, csv_letters);
    const bool ends = names == bytes || head[names] == '\n' || head[names] == '\r';
    return ends && memchr(head, ',', names) != NULL;
}

/* A writer that was killed may have left a part of the beginning. */
static bool begins(const char *head, size_t bytes, enum output_kind kind)
{
    const char *mark = kinds[kind].begins;
    const size_t length = strlen(mark);
    if (*mark == '\0')
        return begins_csv(head, bytes);
    return memcmp(head, mark, bytes < length ? bytes : length) == 0;
}

/* May the file at `path`, if there is one, be replaced by an output of the kind? A sentence when
 * not. Devices and pipes are written as they stand; a file that cannot be read is not replaced. */
static bool may_replace(const char *path, enum output_kind kind, struct error *error)
{
    struct stat status;
    char head[HEAD_BYTES + 1] = {0};
    if (kind == OUTPUT_LATER || stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size == 0)
        return true;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(error, "%s is there and cannot be read: %s; not replaced", path,
                         strerror(errno));
    const size_t bytes = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    if (begins(head, bytes, kind))
        return true;
    const bool database = bytes >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
    return error_set(error, "%s holds %s, not %s: not replaced; name another file, or remove it",
                     path, database ? "a database" : "something else", kinds[kind].what);
}

/* A device or a pipe has no name to be renamed to: it is written as it stands. So is a file that
 * was opened by somebody else and is met by its descriptor (/dev/stdout, /dev/fd/3). */
static bool stands_for_itself(const char *path)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISREG(status.st_mode))
        return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    return there && !S_ISDIR(status.st_mode);
}

/* Never through a link: what stands at the other end is nobody's to write. */
static FILE *open_partial(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd >= 0 ? fdopen(fd, "wb") : NULL;
}

static bool try_partial(const char *path, enum output_kind kind, struct error *error)
{
    char partial[OUTPUT_PATH_MAX];
    struct stat status;
    snprintf(partial, sizeof partial, "%.*s.partial", OUTPUT_PATH_MAX - OUTPUT_ROOM, path);
    bool there = lstat(partial, &status) == 0; /* of a writer that was stopped */
    if (!may_replace(partial, kind, error))
        return false;
    int fd = open(partial, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(error, "cannot write %s: %s", partial, strerror(errno));
    close(fd);
    if (!there)
        unlink(partial);
    return true;
}

bool output_ready(const char *path, enum output_kind kind, bool try, struct error *error)
{
    struct stat status;
    if (strlen(path) + OUTPUT_ROOM > OUTPUT_PATH_MAX)
        return error_set(error, "the path is too long");
    if (stands_for_itself(path))
        return true;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return error_set(error, "%s is a folder; name a file", path);
    if (there && ((status.st_mode & ANY_WRITER) == 0 || access(path, W_OK) != 0))
        return error_set(error, "%s is read-only: not replaced", path);
    return may_replace(path, kind, error) && (!try || try_partial(path, kind, error));
}

/* Neither the file nor what stands on its way is an input, or of another kind. */
static bool may_take(const struct session *session, const char *path, const char *partial,
                     enum output_kind kind, struct error *error)
{
    const char *const names[] = {path, partial};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct identity identity = identity_of_path(names[i]);
        const char *input = identity_list_find(session->inputs, &identity);
        if (input != NULL)
            return error_set(error, "%s would be written over %s, which is read; name another file",
                             path, input);
        if (!may_replace(names[i], kind, error))
            return false;
    }
    return true;
}

bool output_begin(struct output *output, struct session *session, const char *path,
                  enum output_kind kind, struct error *error)
{
    CHECK(kind != OUTPUT_LATER);
    output->path = path;
    output->direct = stands_for_itself(path);
    int length = snprintf(output->partial, sizeof output->partial, "%s%s", path,
                          output->direct ? "" : ".partial");
    bool fits = length < (int)sizeof output->partial;
    if (fits && !output->direct && !may_take(session, path, output->partial, kind, error))
        return false;
    if (!output->direct)
        session_hold(session); /* a pipe may wait for its reader as long as it likes */
    output->out = !fits            ? NULL
                  : output->direct ? fopen(output->partial, "ab")
                                   : open_partial(output->partial);
    int why = fits ? errno : ENAMETOOLONG;
    if (!output->direct)
        session_guard(session, output->out != NULL ? output->partial : NULL);
    return output->out != NULL || error_set(error, "cannot write %s: %s", path, strerror(why));
}

bool output_end(struct output *output, struct session *session, bool keep, struct error *error)
{
    bool written = fflush(output->out) == 0 && !ferror(output->out) &&
                   (output->direct || fsync(fileno(output->out)) == 0);
    written = fclose(output->out) == 0 && written;
    bool kept = keep && written && (output->direct || rename(output->partial, output->path) == 0);
    if (keep && !kept)
        error_set(error, "cannot write %s: %s", output->path, strerror(errno));
    if (!kept && !output->direct)
        unlink(output->partial);
    session_guard(session, NULL);
    return kept || !keep;
}
