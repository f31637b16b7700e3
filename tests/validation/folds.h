/* folds.h - rows of steps.csv predicted by constants that were fitted without them.
 *
 * What is left out together: a source, a framework, a release of one, a card, a generation of
 * cards, a precision, the larger half of the models, jobs of more than 64 GPUs. Only constants that
 * the catalogue calls fitted are fitted anew, on the rows that stay, from what is known without any
 * row (fit_parameters); one that nothing else shows falls back to that. */
#ifndef ORRERY_TESTS_FOLDS_H
#define ORRERY_TESTS_FOLDS_H

#include "fit_solve.h"

enum crossing {
    CROSS_SOURCE,
    CROSS_FRAMEWORK,
    CROSS_RELEASE, /* of a framework, by month; those without one are one */
    CROSS_CARD,
    CROSS_GENERATION, /* of cards, whose maker's name for it is said */
    CROSS_PRECISION,
    CROSS_LARGE, /* one fold */
    CROSS_WIDE,  /* one fold */
    CROSS_COUNT
};
extern const char *const crossing_names[CROSS_COUNT];
/* What a row is left out together with; NULL: it never is. `large`: parameters of a large model. */
const char *folds_key(struct arena *arena, const struct fit_row *row, enum crossing crossing,
                      double large);

struct folds {
    const struct fit_rows *rows;
    double *shipped;           /* log(predicted / measured) with the catalogue */
    double *slopes;            /* around it, as of fit_rows_jacobian */
    double *left[CROSS_COUNT]; /* the same when the row is left out; NAN: it never is */
};
/* Simulates every row, its slopes, and once more for each crossing. Takes what the catalogue does
 * not call fitted as fixed. */
void folds_play(struct fit_rows *rows, struct folds *out);
/* The constants (logarithms of factors) fitted on the chosen rows around the catalogue. */
void folds_fit(const struct folds *folds, const bool *chosen, struct fit_solution *out);

/* Of |predicted / measured - 1| of the rows that `left` knows and that are of `source` (NULL: any);
 * bias: of predicted / measured - 1. NAN of none. */
struct fold_errors {
    size_t count;
    double median, p90, bias;
};
struct fold_errors folds_errors(const struct fit_rows *rows, const double *left,
                                const char *source);
/* Mean over the sources that have rows. */
struct fold_errors folds_mean(const struct fit_rows *rows, const double *left);

#endif
