/* format_kind.h - the formats of `orrery export DB --format`: one file and one row of format_list.h
 * each.
 *
 * The command opens the database, refuses options that say nothing to the format, and has it run;
 * the format writes and returns an exit code, its sentences told on the session's notes. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_KIND_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_KIND_H

#include "analysis/command/exchange/export_arguments.h"
#include "analysis/output/terminal/output.h"
#include "analysis/record/database/query.h"

struct exporting {
    const struct export_arguments *arguments;
    struct session *session;
    struct query *query;
};
struct format_kind {
    const char *name;
    const char *const *takes; /* options beside --format; ended by NULL */
    enum output_kind written;
    /* One text, to `out`. */
    int (*write)(const struct exporting *e, FILE *out);
    /* Several files, which it opens itself; NULL: `write` is all. */
    int (*write_all)(const struct exporting *e);
};
#define X(name, doc) extern const struct format_kind format_##name;
#include "analysis/command/exchange/format_list.h"
#undef X
extern const struct format_kind *const format_kinds[]; /* by enum export_format */
extern const char *const format_names[];               /* ended by NULL */

#endif
