/* validate.h - predicted against measured: a file of published measurements, row by row.
 *
 * The kind of file is known by its columns. Each row is predicted from its own columns and the
 * catalogue alone, by the same models as any scenario; a row that cannot be simulated is refused
 * with its reason and counts as an error of 100 %. Rows run on several threads; the result does not
 * depend on how many. Statistics: validate_score.h; reports: validate_report.h. */
#ifndef ORRERY_ANALYSIS_VALIDATE_H
#define ORRERY_ANALYSIS_VALIDATE_H

#include "analysis/csv.h"
#include "analysis/validate_row.h"

struct validate_kind;
struct validation {
    struct arena *arena;
    const struct csv *csv;
    const struct validate_kind *kind;
    const char *catalogue; /* folder, or NULL */
    const struct validate_versions *versions;
    struct validate_row *rows;
    size_t row_count;
};

/* Adding a kind of file: a file, a row in validate_list.h, a line in CMakeLists.txt. */
struct validate_kind {
    const char *name, *doc;
    const char *const *columns; /* needed; NULL-ended */
    const char *const *metrics; /* NULL-ended; the first is the main one */
    const char *const *group;   /* columns that name a group of layouts; NULL: no groups */
    /* Fills values, verdicts, refused and note of one row; called on any thread. */
    void (*predict)(const struct validation *v, struct validate_row *row);
    /* What needs more than one row, once all are predicted; NULL: nothing. */
    void (*compare)(const struct validation *v);
};
#define X(name) extern const struct validate_kind validate_##name;
#include "analysis/validate_list.h"
#undef X
extern const struct validate_kind *const validate_kinds[];
extern const unsigned validate_kind_count;

/* How many metrics a kind has. */
unsigned validate_metric_count(const struct validate_kind *kind);

struct validate_options {
    const char *catalogue, *source; /* NULL: built in; all sources */
    unsigned threads;
};
/* Everything lives in `arena`. False with a sentence when the file is none of the kinds. */
bool validate_file(struct arena *arena, const struct csv *csv, const struct validate_options *how,
                   struct validation *out, struct error *error);

#endif
