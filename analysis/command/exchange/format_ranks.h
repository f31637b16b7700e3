/* format_ranks.h - formats of `orrery export` that write a trace a rank: which ranks, into which
 * files.
 *
 * `--rank N` writes that rank's trace to `--output FILE` or stdout; without it each rank gets a
 * file, named after --output, at most FORMAT_RANKS_MAX of them; refused where the file of a rank
 * that the job does not have is there. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_RANKS_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_FORMAT_RANKS_H

#include "analysis/command/exchange/format_kind.h"
#include "analysis/exchange/traces/rank_timeline.h"

enum {
    FORMAT_RANKS_MAX = 1024
};
struct format_ranks {
    const struct format_kind *format;
    const char *output; /* an example of --output, for messages */
    /* The trace of the rank that was read last. */
    void (*write)(const struct rank_timeline *t, FILE *out);
    /* The file of a rank, of --output PATH. */
    void (*name_file)(const char *path, uint32_t rank, char *out, size_t size);
    /* What stands beside the traces of all ranks, told on the session's notes; NULL: nothing. An
     * exit code. */
    int (*write_beside)(const struct exporting *e, const struct rank_timeline *t);
};
/* An exit code; its sentences are told. */
int format_ranks_write(const struct exporting *e, const struct format_ranks *how);
extern const char *const format_ranks_takes[]; /* options of such a format; ended by NULL */

#endif
