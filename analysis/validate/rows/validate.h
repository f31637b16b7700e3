/* validate.h - predicted against measured: a file of published measurements, row by row.
 *
 * The kind of file is known by its columns. Each row is predicted from its own columns and the
 * catalogue alone, by the same models as any scenario; a row that cannot be simulated is refused
 * with its reason, counted as refused, and part of no other figure. Rows run on several threads;
 * the result does not depend on how many. Statistics: validate_score.h; reports: validate_report.h.
 */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_H

#include "analysis/validate/table/validate_kind.h"

struct validate_options {
    const char *catalogue, *source; /* NULL: built in; all sources */
    const char *where;              /* "schedule=1f1b,interleaved"; NULL: all rows */
    unsigned threads;
    enum validate_detail detail;
    const char *profile; /* file of measured kernels, for rows of its card; NULL: none */
    bool intervals; /* they will be asked for (validate_intervals): rows of whole steps alone */
};
/* The rows of a file, not predicted yet. Everything lives in `arena`. False with a sentence when
 * the file is none of the kinds, or of one that has not this detail or no
 * intervals. */
bool validate_open(struct arena *arena, const struct csv *csv, const struct validate_options *how,
                   struct validation *out, struct error *error);
/* The same, predicted. Everything lives in `arena`. False with a sentence when the file is none of
 * the kinds. */
bool validate_file(struct arena *arena, const struct csv *csv, const struct validate_options *how,
                   struct validation *out, struct error *error);

#endif
