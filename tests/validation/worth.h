/* worth.h - what a fitted constant is worth: the errors of the rows that show it with it, with what
 * is known without the rows in its place, and with it fitted without the rows that are judged.
 *
 * One constant is varied at a time; the others stay as in the catalogue. A row shows a constant
 * when a tenth more of it moves the step by more than a thousandth. Every source counts the same.
 */
#ifndef ORRERY_TESTS_WORTH_H
#define ORRERY_TESTS_WORTH_H

#include "folds.h"

enum worth_verdict {
    WORTH_NOT_SHOWN,    /* no row shows it */
    WORTH_NOT_RESOLVED, /* with and without differ by less than a third of a point */
    WORTH_OUTSIDE,      /* gains on sources that it was not fitted on, a quarter of what it can */
    WORTH_INSIDE,       /* one source shows it; the same on models that it was not fitted on */
    WORTH_NOTHING       /* neither: it remembers */
};
extern const char *const worth_verdicts[]; /* NULL-ended */

struct worth {
    const struct fit_parameter *constant;
    double value, error; /* as shipped; relative error that the rows leave it */
    size_t rows, sources;
    /* Mean over sources of the median error. */
    double with, without, source_out, model_out;
    enum worth_verdict verdict;
};
/* Of constant `k`, which the catalogue calls fitted. Restores rows->fixed. */
void worth_judge(struct fit_rows *rows, const struct folds *folds, size_t k, struct worth *out);

#endif
