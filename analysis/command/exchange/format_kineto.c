/* format_kineto.c - `--format kineto`: a trace a rank, as PyTorch's profiler writes them. */
#include <string.h>

#include "analysis/command/exchange/format_write.h"
#include "analysis/command/line/command.h"
#include "analysis/exchange/traces/kineto.h"
#include "analysis/output/text/format.h"

enum {
    FILES_MAX = 1024
};

/* One rank of several; NAME.json becomes NAME-rank3.json. */
struct ranks {
    struct exporting e; /* first: what the writer of a file is given */
    struct rank_timeline timeline;
};

static int write_rank(const struct exporting *e, FILE *out)
{
    const struct ranks *r = (const struct ranks *)(const void *)e;
    kineto_write(&r->timeline, out);
    return EXIT_OK;
}

static void name_file(const char *path, uint32_t rank, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool ends = dot != NULL && dot > path && (slash == NULL || dot > slash + 1);
    const size_t stem = ends ? (size_t)(dot - path) : strlen(path);
    snprintf(out, size, "%.*s-rank%u%s", (int)stem, path, rank, ends ? dot : "");
}

static int write_one(struct ranks *r, uint32_t rank, const char *path)
{
    struct error error = {""};
    if (!rank_timeline_read(&r->timeline, rank, &error))
        return format_done(&r->e, false, &error);
    return format_write(&r->e, OUTPUT_KINETO, path, write_rank);
}

/* Those of a class behind each other, so that its times are read once. */
static int write_ranks(struct ranks *r)
{
    const char *path = r->e.arguments->output;
    char name[OUTPUT_PATH_MAX];
    for (uint32_t i = 0; i < r->timeline.rank_count; i++) {
        const uint32_t rank = r->timeline.by_class[i];
        name_file(path, rank, name, sizeof name);
        const int code = write_one(r, rank, name);
        if (code != EXIT_OK)
            return code;
    }
    name_file(path, 0, name, sizeof name);
    if (r->timeline.rank_count == 1)
        fprintf(r->e.session->notes, "wrote one trace: %s\n", format_shown(name).s);
    else
        fprintf(r->e.session->notes, "wrote %u traces, of ranks 0 to %u: %s and so on\n",
                r->timeline.rank_count, r->timeline.rank_count - 1, format_shown(name).s);
    return EXIT_OK;
}

static int write_wanted(struct ranks *r)
{
    const struct export_arguments *a = r->e.arguments;
    FILE *notes = r->e.session->notes;
    const uint32_t count = r->timeline.rank_count;
    if (a->has_rank && a->rank >= count) {
        fprintf(notes, "orrery export: the database has ranks 0 to %u, no rank %llu\n", count - 1,
                (unsigned long long)a->rank);
        return EXIT_TROUBLE;
    }
    if (a->has_rank)
        return write_one(r, (uint32_t)a->rank, a->output);
    if (a->output == NULL) {
        fputs("orrery export: --format kineto writes a file a rank: name them with --output "
              "trace.json, or ask for one with --rank 0\n",
              notes);
        return EXIT_USAGE;
    }
    if (count > FILES_MAX) {
        fprintf(notes,
                "orrery export: --format kineto would write %u files, one a rank; at most %d at "
                "once: ask for one with --rank N; ranks of a class (select * from rank_class) do "
                "the same\n",
                count, FILES_MAX);
        return EXIT_USAGE;
    }
    return write_ranks(r);
}

static int write_all(const struct exporting *e)
{
    struct ranks r = {.e = *e};
    struct error error = {""};
    const char *path = e->arguments->line.positional[0];
    const int code =
        rank_timeline_open(e->query, path, e->arguments->scenario.catalogue, &r.timeline, &error)
            ? write_wanted(&r)
            : format_done(e, false, &error);
    rank_timeline_close(&r.timeline);
    return code;
}

static const char *const takes[] = {"--output", "--rank", "--catalogue", NULL};

const struct format_kind format_kineto = {
    .name = "kineto",
    .takes = takes,
    .written = OUTPUT_KINETO,
    .write_all = write_all,
};
