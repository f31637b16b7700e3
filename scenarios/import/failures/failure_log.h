/* failure_log.h - what failed when, of a log that another program wrote.
 *
 * Lines that tell of a failure become records: moment, kind of unit, number of the unit, cause.
 * Nodes are numbered in the natural order of their names (n2 before n10), GPUs in that of their PCI
 * addresses or numbers on their node: which one bears which number means nothing to a run. Repeats
 * of one cause on one unit (of a job: on its nodes), as drivers log them by the dozen, count once.
 * What a log does not call a failure is passed over and counted. Formats: failure_format_kind.h.
 */
#ifndef ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_LOG_H
#define ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_LOG_H

#include <stdint.h>

#include "models/failure/failure_cause.h"
#include "scenarios/import/failures/failure_format_kind.h"
#include "scenarios/import/reader/import_text.h"

enum {
    FAILURE_ROWS_MAX = 1 << 16
};
struct failure_rules {
    double start_s, end_s;        /* the watch, since 1970 in UTC; NAN: not said */
    uint64_t gpus, gpus_per_node; /* of the cluster that was watched */
    double merge_s;               /* within it repeats are one failure */
    const char *host;             /* of a log that names none (dmesg -T); NULL: not said */
};
struct failure_record {
    double at_s;   /* since the start of the watch */
    int unit_kind; /* enum failure_unit */
    uint64_t unit;
    const char *cause;
    double repair_s; /* < 0: not told */
};
/* Lines without a year that step back in time on their node, and the first of them. */
struct failure_years {
    uint32_t back, back_line;     /* in the one year that has room for them */
    uint32_t turned, turned_line; /* taken as of a later year */
};
struct failure_log {
    struct failure_record *rows; /* by time */
    uint32_t count;
    uint32_t merged, outside, passed; /* repeats; not in the watch; no failures */
    uint32_t followed;                /* that another of their unit came before: its consequences */
    uint32_t stood, quiet; /* samples: an Xid before the first of a GPU; without a new one */
    uint32_t among;        /* of one node of several, which the log does not tell */
    uint32_t endless;      /* failures whose moment the log does not know */
    uint32_t hosts;        /* that are named */
    struct failure_years years;
    double watched_s;
    bool end_told; /* else the watch ends with the last line */
};
/* How many units of a kind the watched cluster has: one NIC for each GPU; 0: it does not say. */
uint64_t failure_log_units(const struct failure_rules *rules, enum failure_unit kind);
/* False with a sentence. */
bool failure_log_read(struct arena *arena, struct import_file file,
                      const struct failure_format_kind *format, const struct failure_rules *rules,
                      struct failure_log *out, struct error *error);

#endif
