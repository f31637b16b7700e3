#include "analysis/terminal/streams.h"

#include <errno.h>
#include <unistd.h>

#include "sim/memory.h"

/* 0, or the errno of the write that failed. */
static int write_all(int descriptor, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

static ssize_t write_out(void *cookie, const char *bytes, size_t count)
{
    struct streams *streams = cookie;
    if (streams->out_error == 0)
        streams->out_error = write_all(STDOUT_FILENO, bytes, count);
    return streams->out_error == 0 ? (ssize_t)count : 0;
}

static ssize_t write_notes(void *cookie, const char *bytes, size_t count)
{
    struct streams *streams = cookie;
    fflush(streams->out);
    return write_all(STDERR_FILENO, bytes, count) == 0 ? (ssize_t)count : 0;
}

void streams_open(struct streams *streams)
{
    streams->out_error = 0;
    streams->out = fopencookie(streams, "w", (cookie_io_functions_t){.write = write_out});
    streams->notes = fopencookie(streams, "w", (cookie_io_functions_t){.write = write_notes});
    if (streams->out == NULL || streams->notes == NULL)
        memory_refused(sizeof *streams);
    setvbuf(streams->out, streams->buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
            sizeof streams->buffer);
    setvbuf(streams->notes, NULL, _IONBF, 0);
}

void streams_close(struct streams *streams)
{
    fclose(streams->notes);
    fclose(streams->out);
}
