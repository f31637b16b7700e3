/* trace.h - failure traces: a CSV file of what failed when, from a real log or from a run.
 *
 *   at,unit_kind,unit,cause,repair
 *   3.2h,gpu,117,HBM,2h
 *
 * `at` and `repair` carry units; `at` never goes back; `unit` counts from 0; an empty repair is
 * drawn by the laws, 0s means that a restart mends it. The file is hostile until checked: its size,
 * its lines, its bytes, every cell. Problems stand at their place in it. */
#ifndef ORRERY_SCENARIOS_SCHEMA_TRACE_H
#define ORRERY_SCENARIOS_SCHEMA_TRACE_H

#include "scenarios/language/problems.h"

enum {
    TRACE_BYTES_MAX = 1 << 25,
    TRACE_ROWS_MAX = 1 << 20,
    TRACE_CAUSE_MAX = 80
};
struct trace_row {
    double at_s, repair_s; /* repair < 0: by the laws */
    int unit_kind;         /* enum failure_unit */
    uint64_t unit;
    const char *cause;
    struct mark unit_mark;
};
/* Rows of the file at `path`; problems of the file as a whole stand at `where`, the key that names
 * it. False with problems. */
bool trace_read(struct arena *arena, const char *path, struct mark where, const char *key,
                struct problems *problems, const struct trace_row **rows, size_t *count);
/* The same of a text, with a NUL behind it, which is called `path` in messages. */
bool trace_parse(struct arena *arena, const char *path, char *text, size_t bytes, struct mark where,
                 const char *key, struct problems *problems, const struct trace_row **rows,
                 size_t *count);

#endif
