/* validate_row.h - one row of a file of measurements: what was measured, what is predicted. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_ROW_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "models/layout/announced.h"

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
/* Why a row cannot be simulated, in a word. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_CELLS,    /* a cell that is not what its column wants */
    REFUSAL_HARDWARE, /* a GPU, node or fabric that the catalogue lacks, or nodes that are not whole
                       */
    REFUSAL_SOFTWARE,
    REFUSAL_OPERATION, /* a collective or kernel that there is no model of */
    REFUSAL_SCHEDULE,
    REFUSAL_EXPERTS,
    REFUSAL_LAYOUT, /* a rule between model, batch and parallel sizes */
    REFUSAL_COUNT
};
extern const char *const refusal_names[]; /* as reports print them; NULL-ended */
struct validate_value {
    bool has_predicted, has_measured;
    double predicted, measured; /* SI */
};
struct published_mfu; /* analysis/record/evidence/published_mfu.h */
struct validate_row {
    size_t record; /* of the file */
    const char *id, *source;
    enum quality quality;
    struct validate_value values[VALIDATE_METRIC_MAX]; /* by metric of the kind */
    enum verdict measured, predicted;
    enum refusal refused; /* not NONE: nothing is predicted, and nothing counts but this */
    const struct published_mfu *reached; /* the highest that was published of such a card, precision
                                          * and kind of model, where the prediction is above it */
    double mfu_ratio;                    /* predicted; 0: no time */
    const char *group; /* rows whose first metric is compared with one another; NULL: none */
    const char
        *layout; /* rows of a group with the same are runs of one layout; NULL: it is alone */
    char note[VALIDATE_NOTE_SIZE];
    char announced[ANNOUNCED_WORDS_MAX]; /* announced_words of its hardware; "": it is sold */
};

/* (predicted - measured) / measured. False when there is nothing to compare, as of a refused row.
 */
bool validate_row_error(const struct validate_row *row, unsigned metric, double *error);
/* Marks the row with the reason: a word to count by, and a sentence. */
__attribute__((format(printf, 3, 4))) void
validate_row_refuse(struct validate_row *row, enum refusal why, const char *format, ...);
/* Adds a sentence to the row's note. */
__attribute__((format(printf, 2, 3))) void validate_row_note(struct validate_row *row,
                                                             const char *format, ...);

#endif
