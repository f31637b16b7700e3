#include "analysis/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool output_begin(struct output *output, struct session *session, const char *path,
                  struct error *error)
{
    output->path = path;
    int length = snprintf(output->partial, sizeof output->partial, "%s.partial", path);
    bool fits = length < (int)sizeof output->partial;
    session_hold(session);
    output->out = fits ? fopen(output->partial, "wb") : NULL;
    int why = fits ? errno : ENAMETOOLONG;
    session_guard(session, output->out != NULL ? output->partial : NULL);
    return output->out != NULL || error_set(error, "cannot write %s: %s", path, strerror(why));
}

bool output_end(struct output *output, struct session *session, bool keep, struct error *error)
{
    bool written =
        fflush(output->out) == 0 && !ferror(output->out) && fsync(fileno(output->out)) == 0;
    written = fclose(output->out) == 0 && written;
    bool kept = keep && written && rename(output->partial, output->path) == 0;
    if (keep && !kept)
        error_set(error, "cannot write %s: %s", output->path, strerror(errno));
    if (!kept)
        unlink(output->partial);
    session_guard(session, NULL);
    return kept || !keep;
}
