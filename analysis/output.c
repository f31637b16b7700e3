#include "analysis/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device or a pipe has no name to be renamed to: it is written as it stands. */
static bool stands_for_itself(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
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
    output->out = fits ? fopen(output->partial, "wb") : NULL;
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
