/* validate_row.h - one row of a file of measurements: what was measured, what is predicted. */
#ifndef ORRERY_ANALYSIS_VALIDATE_VALIDATE_ROW_H
#define ORRERY_ANALYSIS_VALIDATE_VALIDATE_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum {
    VALIDATE_METRIC_MAX = 3,
    VALIDATE_NOTE_SIZE = 240
};
enum quality {
    QUALITY_CLEAN,
    QUALITY_NOISY,
    QUALITY_DEGRADED /* listed, not counted */
};
extern const char *const quality_names[]; /* NULL-ended */
enum verdict {
    VERDICT_NONE, /* not measured, or not asked */
    VERDICT_FITS,
    VERDICT_OOM
};
struct validate_value {
    bool has_predicted, has_measured;
    double predicted, measured; /* SI */
};
struct validate_row {
    size_t record; /* of the file */
    const char *id, *source;
    enum quality quality;
    struct validate_value values[VALIDATE_METRIC_MAX]; /* by metric of the kind */
    enum verdict measured, predicted;
    bool refused;
    const char *group; /* rows whose first metric is compared with one another; NULL: none */
    char note[VALIDATE_NOTE_SIZE];
};

/* (predicted - measured) / measured; -1 for a refused row: it predicts nothing. False when there is
 * nothing to compare. */
bool validate_row_error(const struct validate_row *row, unsigned metric, double *error);
/* Marks the row with the reason. */
__attribute__((format(printf, 2, 3))) void validate_row_refuse(struct validate_row *row,
                                                               const char *format, ...);

#endif
