#include "analysis/terminal/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUTPUT_ROOM = 16, /* for what is added to a name */
    ANY_WRITER = 0222 /* root may write where nobody was meant to */
};

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

static bool try_partial(const char *path, struct error *error)
{
    char partial[OUTPUT_PATH_MAX];
    struct stat status;
    snprintf(partial, sizeof partial, "%.*s.partial", OUTPUT_PATH_MAX - OUTPUT_ROOM, path);
    bool there = lstat(partial, &status) == 0; /* of a writer that was stopped */
    int fd = open(partial, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(error, "cannot write %s: %s", partial, strerror(errno));
    close(fd);
    if (!there)
        unlink(partial);
    return true;
}

bool output_ready(const char *path, bool try, struct error *error)
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
    return !try || try_partial(path, error);
}

bool output_begin(struct output *output, struct session *session, const char *path,
                  struct error *error)
{
    output->path = path;
    output->direct = stands_for_itself(path);
    int length = snprintf(output->partial, sizeof output->partial, "%s%s", path,
                          output->direct ? "" : ".partial");
    bool fits = length < (int)sizeof output->partial;
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
