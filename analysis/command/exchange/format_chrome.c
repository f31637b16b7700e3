/* format_chrome.c - `--format chrome`: trace events for ui.perfetto.dev. */
#include "analysis/command/exchange/format_write.h"
#include "analysis/exchange/export/export.h"

static int write(const struct exporting *e, FILE *out)
{
    const struct export_arguments *a = e->arguments;
    struct error error = {""};
    return format_done(e, export_chrome(e->query, a->has_rank ? (int64_t)a->rank : -1, out, &error),
                       &error);
}

static const char *const takes[] = {"--output", "--rank", NULL};

const struct format_kind format_chrome = {
    .name = "chrome",
    .takes = takes,
    .written = OUTPUT_CHROME,
    .write = write,
};
