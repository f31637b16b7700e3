#include "analysis/command/exchange/format_ranks.h"

#include <unistd.h>

#include "analysis/command/exchange/format_write.h"
#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"

struct ranks {
    struct exporting e; /* first: what the writer of a file is given */
    const struct format_ranks *how;
    struct rank_timeline timeline;
};

static int write_rank(const struct exporting *e, FILE *out)
{
    const struct ranks *r = (const struct ranks *)(const void *)e;
    r->how->write(&r->timeline, out);
    return EXIT_OK;
}

static int write_one(struct ranks *r, uint32_t rank, const char *path)
{
    struct error error = {""};
    if (!rank_timeline_read(&r->timeline, rank, &error))
        return format_done(&r->e, false, &error);
    return format_write(&r->e, r->how->format->written, path, write_rank);
}

static void tell_files(const struct ranks *r)
{
    const uint32_t count = r->timeline.rank_count;
    char name[OUTPUT_PATH_MAX];
    r->how->name_file(r->e.arguments->output, 0, name, sizeof name);
    if (count == 1)
        fprintf(r->e.session->notes, "wrote one trace: %s\n", format_shown(name).s);
    else
        fprintf(r->e.session->notes, "wrote %u traces, of ranks 0 to %u: %s and so on\n", count,
                count - 1, format_shown(name).s);
}

/* Traces of ranks that this export does not write would be taken for its own by who reads them. */
static bool left_over(const struct ranks *r)
{
    char name[OUTPUT_PATH_MAX];
    for (uint32_t rank = r->timeline.rank_count; rank < FORMAT_RANKS_MAX; rank++) {
        r->how->name_file(r->e.arguments->output, rank, name, sizeof name);
        if (access(name, F_OK) != 0)
            continue;
        fprintf(r->e.session->notes,
                "orrery export: %s is there, of a rank that this job does not have (0 to %u): it "
                "would be read as one of its traces; remove it, or name another --output\n",
                format_shown(name).s, r->timeline.rank_count - 1);
        return true;
    }
    return false;
}

/* Those of a class behind each other, so that its times are read once. */
static int write_ranks(struct ranks *r)
{
    char name[OUTPUT_PATH_MAX];
    if (left_over(r))
        return EXIT_TROUBLE;
    for (uint32_t i = 0; i < r->timeline.rank_count; i++) {
        const uint32_t rank = r->timeline.by_class[i];
        r->how->name_file(r->e.arguments->output, rank, name, sizeof name);
        const int code = write_one(r, rank, name);
        if (code != EXIT_OK)
            return code;
    }
    tell_files(r);
    return r->how->write_beside != NULL ? r->how->write_beside(&r->e, &r->timeline) : EXIT_OK;
}

static int write_wanted(struct ranks *r)
{
    const struct export_arguments *a = r->e.arguments;
    FILE *notes = r->e.session->notes;
    const uint32_t count = r->timeline.rank_count;
    const char *format = r->how->format->name;
    if (a->has_rank && a->rank >= count) {
        fprintf(notes, "orrery export: the database has ranks 0 to %u, no rank %llu\n", count - 1,
                (unsigned long long)a->rank);
        return EXIT_TROUBLE;
    }
    if (a->has_rank)
        return write_one(r, (uint32_t)a->rank, a->output);
    if (a->output == NULL) {
        fprintf(notes,
                "orrery export: --format %s writes a file a rank: name them with --output %s, or "
                "ask for one with --rank 0\n",
                format, r->how->output);
        return EXIT_USAGE;
    }
    if (count > FORMAT_RANKS_MAX) {
        fprintf(notes,
                "orrery export: --format %s would write %u files, one a rank; at most %d at once: "
                "ask for one with --rank N; ranks of a class (select * from rank_class) do the "
                "same\n",
                format, count, FORMAT_RANKS_MAX);
        return EXIT_USAGE;
    }
    return write_ranks(r);
}

int format_ranks_write(const struct exporting *e, const struct format_ranks *how)
{
    struct ranks r = {.e = *e, .how = how};
    struct error error = {""};
    const char *path = e->arguments->line.positional[0];
    const int code =
        rank_timeline_open(e->query, path, e->arguments->scenario.catalogue, &r.timeline, &error)
            ? write_wanted(&r)
            : format_done(e, false, &error);
    rank_timeline_close(&r.timeline);
    return code;
}

const char *const format_ranks_takes[] = {"--output", "--rank", "--catalogue", NULL};
