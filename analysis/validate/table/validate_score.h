/* validate_score.h - statistics of predicted against measured. Pure arithmetic over rows.
 *
 * error = (predicted - measured) / measured; APE its absolute value; P90 by linear interpolation;
 * bias the mean error; within_10 the share of rows with an APE of at most 10 %. Degraded rows are
 * not counted, and refused rows only as refused. Sums run in file order. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SCORE_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SCORE_H

#include "analysis/validate/table/validate_choice.h"

/* Figures of no rows are NAN, with a count of 0. */
struct score {
    double count, median_ape, mean_ape, p90_ape, bias, within_10;
};
struct score validate_score_errors(double *errors, size_t count); /* overwrites `errors` */
/* Out of memory or not, over clean rows that were predicted; positive: out of memory. */
struct confusion {
    unsigned true_positive, false_positive, true_negative, false_negative;
    double accuracy, precision, recall; /* NAN: of no rows */
};
struct source_score {
    const char *name;                             /* of a source; NULL: all rows */
    struct score metrics[VALIDATE_METRIC_MAX][2]; /* [metric][clean, noisy] */
    unsigned refused, rows;                       /* of any quality */
    unsigned refusals[REFUSAL_COUNT];             /* how many of them why; sum: refused */
    struct confusion oom;
    struct choice choice;
};
struct scores {
    struct source_score *sources; /* in the order in which they appear */
    unsigned source_count;
    struct source_score all;  /* choice: the mean over sources */
    struct score macro_clean; /* of the main metric: mean over the sources of each figure; count:
                                 how many sources */
};
void validate_score_rows(struct arena *arena, const struct validation *v, struct scores *out);

#endif
