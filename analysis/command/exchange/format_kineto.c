/* format_kineto.c - `--format kineto`: a trace a rank, as PyTorch's profiler writes them. */
#include <string.h>

#include "analysis/command/exchange/format_ranks.h"
#include "analysis/exchange/traces/kineto.h"

/* NAME.json becomes NAME-rank3.json. */
static void name_file(const char *path, uint32_t rank, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool ends = dot != NULL && dot > path && (slash == NULL || dot > slash + 1);
    const size_t stem = ends ? (size_t)(dot - path) : strlen(path);
    snprintf(out, size, "%.*s-rank%u%s", (int)stem, path, rank, ends ? dot : "");
}

static int write_all(const struct exporting *e)
{
    static const struct format_ranks how = {.format = &format_kineto,
                                            .output = "trace.json",
                                            .write = kineto_write,
                                            .name_file = name_file};
    return format_ranks_write(e, &how);
}

const struct format_kind format_kineto = {
    .name = "kineto",
    .takes = format_ranks_takes,
    .written = OUTPUT_KINETO,
    .write_all = write_all,
};
