/* format_csv.c - `--format csv`: one table or view. */
#include "analysis/command/exchange/format_write.h"
#include "analysis/command/line/command.h"
#include "analysis/exchange/export/export.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/names.h"

static bool known_table(struct query *query, const char *table, FILE *notes)
{
    if (query_knows(query, table))
        return true;
    const char *nearest = names_nearest(table, query_objects(query));
    fprintf(notes, "orrery export: no table or view '%s'", format_shown(table).s);
    if (nearest != NULL) {
        fprintf(notes, "; did you mean '%s'?\n", nearest);
        return false;
    }
    fputs("; there are:", notes);
    for (unsigned i = 0; i < query_objects(query).count; i++)
        fprintf(notes, " %s", query_objects(query).names[i]);
    fputc('\n', notes);
    return false;
}

static int write(const struct exporting *e, FILE *out)
{
    const char *table = e->arguments->table != NULL ? e->arguments->table : "slice";
    struct error error = {""};
    if (!known_table(e->query, table, e->session->notes))
        return EXIT_USAGE;
    return format_done(e, export_csv(e->query, table, out, &error), &error);
}

static const char *const takes[] = {"--output", "--table", NULL};

const struct format_kind format_csv = {
    .name = "csv",
    .takes = takes,
    .written = OUTPUT_CSV,
    .write = write,
};
