/* validate_scale.h - do errors grow with the machine? Errors of the main metric by number of GPUs.
 *
 * Clean rows that tell their GPUs (column `gpus`) and were measured, pooled and by source. A bin
 * holds what lies above the bin before and at most at its own limit; the last has none. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SCALE_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SCALE_H

#include "analysis/validate/table/validate_score.h"

enum {
    SCALE_BIN_COUNT = 5
};
extern const double scale_bin_limits[SCALE_BIN_COUNT]; /* 8, 64, 256, 1024 and INFINITY GPUs */

struct scale {
    const char *name; /* of the source; NULL: all */
    struct score bins[SCALE_BIN_COUNT];
    size_t count;
    double spearman;     /* of absolute error against GPUs; NAN: all on one number of GPUs */
    double small, large; /* median absolute error of the smaller and the larger third of rows */
};
struct scales {
    struct scale *sources; /* those with rows, in the order in which they appear */
    unsigned source_count;
    struct scale all; /* count 0: the file tells no GPUs */
    double within;    /* mean rank correlation of the sources, by their rows: small machines of one
                         source are not set against large ones of another; NAN of none */
};
void validate_scale_rows(struct arena *arena, const struct validation *v,
                         const struct scores *scores, struct scales *out);
/* GPUs of a clean row with a known error of the main metric; false for any other. */
bool validate_scale_row(const struct validation *v, const struct validate_row *row, double *gpus,
                        double *error);

#endif
