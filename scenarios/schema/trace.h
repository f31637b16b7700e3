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

#include "models/job/parts/job_spec.h"
#include "scenarios/language/file.h"
#include "scenarios/language/problems.h"

enum {
    TRACE_BYTES_MAX = 1 << 25,
    TRACE_ROWS_MAX = 1 << 20,
    TRACE_CAUSE_MAX = 80
};
#define TRACE_TIME_MAX_S JOB_WALL_MAX_S
struct trace_row {
    double at_s, repair_s; /* repair < 0: by the laws */
    int unit_kind;         /* enum failure_unit */
    uint64_t unit;
    const char *cause;
    struct mark unit_mark;
};
struct trace {
    const struct trace_row *rows;
    size_t count;
};
struct trace_file {
    const char *path, *key; /* the key that names it */
    struct mark where;      /* of that key: problems of the file as a whole stand there */
};
/* The rows of a file. False with problems. */
bool trace_read(struct arena *arena, const struct trace_file *file, struct problems *problems,
                struct trace *out);
/* The same of a text, which is called file->path in messages. */
bool trace_parse(struct arena *arena, const struct trace_file *file, struct file_text text,
                 struct problems *problems, struct trace *out);

#endif
