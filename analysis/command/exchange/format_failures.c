/* format_failures.c - `--format failures`: what failed in weeks, as `law: trace` reads it. */
#include "analysis/command/exchange/format_write.h"
#include "analysis/exchange/export/export.h"

static int write(const struct exporting *e, FILE *out)
{
    struct error error = {""};
    const bool good = export_trace(e->query, out, &error) &&
                      export_trace_beside(e->query, e->session->notes, &error);
    return format_done(e, good, &error);
}

static const char *const takes[] = {"--output", NULL};

const struct format_kind format_failures = {
    .name = "failures",
    .takes = takes,
    .written = OUTPUT_CSV,
    .write = write,
};
