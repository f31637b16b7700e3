#include "analysis/output/terminal/progress.h"

#include <time.h>
#include <unistd.h>

#include "analysis/output/text/format.h"
#include "sim/units.h"

static const double first_s = 1.0, terminal_s = 0.2, file_s = 30.0;

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * NANOSECOND;
}

void progress_begin(struct progress *progress, FILE *notes)
{
    int fd = fileno(notes); /* a stream without a descriptor stands for standard error */
    *progress =
        (struct progress){.notes = notes, .terminal = isatty(fd >= 0 ? fd : STDERR_FILENO) != 0};
    progress->begin_s = clock_s();
    progress->told_s = progress->begin_s;
}

void progress_tell(struct progress *progress, double ratio, const char *what)
{
    double now = clock_s(), gone = now - progress->begin_s;
    double wait = progress->terminal ? terminal_s : file_s;
    if (gone < first_s || now - progress->told_s < wait || ratio <= 0.0)
        return;
    progress->told_s = now;
    progress->shown = true;
    fprintf(progress->notes, "%s%s: %s done, %s left%s", progress->terminal ? "\r\033[K" : "", what,
            format_percent(ratio).s, format_time(gone * (1.0 - ratio) / ratio).s,
            progress->terminal ? "" : "\n");
    fflush(progress->notes);
}

void progress_end(struct progress *progress)
{
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", progress->notes);
    progress->shown = false;
}

double progress_seconds(const struct progress *progress)
{
    return clock_s() - progress->begin_s;
}
