#include "analysis/output/terminal/streams.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "sim/memory.h"
#include "sim/units.h"

static const double first_s = 2.0, terminal_s = 1.0, file_s = 30.0;
static const char clear[] = "\r\033[K";

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * NANOSECOND;
}

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

/* Something else is said now. */
static void make_way(struct streams *streams)
{
    atomic_store(&streams->said_s, clock_s());
    if (atomic_exchange(&streams->shown, false))
        write_all(STDERR_FILENO, clear, sizeof clear - 1);
}

static ssize_t write_out(void *cookie, const char *bytes, size_t count)
{
    struct streams *streams = cookie;
    if (streams->terminal)
        make_way(streams);
    if (streams->out_error == 0)
        streams->out_error = write_all(STDOUT_FILENO, bytes, count);
    return streams->out_error == 0 ? (ssize_t)count : 0;
}

static ssize_t write_notes(void *cookie, const char *bytes, size_t count)
{
    struct streams *streams = cookie;
    fflush(streams->out);
    make_way(streams);
    return write_all(STDERR_FILENO, bytes, count) == 0 ? (ssize_t)count : 0;
}

void streams_open(struct streams *streams)
{
    streams->out_error = 0;
    streams->terminal = isatty(STDERR_FILENO) != 0;
    streams->begin_s = clock_s();
    atomic_init(&streams->said_s, streams->begin_s);
    atomic_init(&streams->shown, false);
    atomic_init(&streams->again, false);
    streams->out = fopencookie(streams, "w", (cookie_io_functions_t){.write = write_out});
    streams->notes = fopencookie(streams, "w", (cookie_io_functions_t){.write = write_notes});
    if (streams->out == NULL || streams->notes == NULL)
        memory_refused(sizeof *streams);
    setvbuf(streams->out, streams->buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
            sizeof streams->buffer);
    setvbuf(streams->notes, NULL, _IONBF, 0);
}

/* Written past the stream, which would have to flush what waits in `out`, perhaps half a line. */
void streams_watch(struct streams *streams, const char *name)
{
    char line[128];
    const double now = clock_s(), silent_s = now - atomic_load(&streams->said_s);
    const bool again = atomic_load(&streams->again);
    const double wait_s = !again ? first_s : streams->terminal ? terminal_s : file_s;
    const bool renews = streams->terminal && atomic_load(&streams->shown);
    if (!renews && silent_s < wait_s)
        return;
    int length =
        snprintf(line, sizeof line, "%s%.60s: at work for %.0f s%s", streams->terminal ? clear : "",
                 name, now - streams->begin_s, streams->terminal ? "" : "\n");
    flockfile(streams->notes);
    write_all(STDERR_FILENO, line, (size_t)length);
    atomic_store(&streams->shown, streams->terminal);
    atomic_store(&streams->again, true);
    atomic_store(&streams->said_s, now);
    funlockfile(streams->notes);
}

void streams_close(struct streams *streams)
{
    make_way(streams);
    fclose(streams->notes);
    fclose(streams->out);
}
