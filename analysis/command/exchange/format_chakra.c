/* format_chakra.c - `--format chakra`: a Chakra execution trace a rank, PREFIX.0.et and so on, and
 * PREFIX.groups.json, the ranks of each group. */
#include "analysis/command/exchange/format_ranks.h"
#include "analysis/command/exchange/format_write.h"
#include "analysis/command/line/command.h"
#include "analysis/exchange/traces/chakra_export.h"
#include "analysis/output/text/format.h"
#include "sim/plural.h"

struct beside {
    struct exporting e; /* first: what the writer of a file is given */
    const struct layout *layout;
};

static void name_file(const char *path, uint32_t rank, char *out, size_t size)
{
    snprintf(out, size, "%s.%u.et", path, rank);
}

static int write_groups(const struct exporting *e, FILE *out)
{
    chakra_export_groups(((const struct beside *)(const void *)e)->layout, out);
    return EXIT_OK;
}

static int write_beside(const struct exporting *e, const struct rank_timeline *t)
{
    const struct beside b = {*e, &t->layout};
    char name[OUTPUT_PATH_MAX];
    const uint32_t count = chakra_export_group_count(&t->layout);
    snprintf(name, sizeof name, "%s.groups.json", e->arguments->output);
    const int code = format_write(&b.e, OUTPUT_GROUPS, name, write_groups);
    if (code == EXIT_OK)
        fprintf(e->session->notes, "wrote the ranks of %u group%s: %s\n", count, plural_s(count),
                format_shown(name).s);
    return code;
}

static int write_all(const struct exporting *e)
{
    static const struct format_ranks how = {.format = &format_chakra,
                                            .output = "PREFIX",
                                            .write = chakra_export_write,
                                            .name_file = name_file,
                                            .write_beside = write_beside};
    return format_ranks_write(e, &how);
}

const struct format_kind format_chakra = {
    .name = "chakra",
    .takes = format_ranks_takes,
    .written = OUTPUT_CHAKRA,
    .write_all = write_all,
};
