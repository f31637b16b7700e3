/* fit_rows.h - clean rows of steps.csv as functions of the constants to be fitted.
 *
 * A parameter is the logarithm of a factor on one or several figures of the catalogue, the same
 * for all. Its prior is what is known of the figure without these rows. A row is simulated with
 * the factors; a derivative is the difference of two simulations, asked only of parameters that the
 * row's scenario has. Rows run on several threads. */
#ifndef ORRERY_TESTS_FIT_ROWS_H
#define ORRERY_TESTS_FIT_ROWS_H

#include "analysis/validate/rows/validate.h"
#include "scenarios/assemble/scenario.h"

enum {
    FIT_PARAMETER_MAX = 32,
    FIT_MEMBER_MAX = 12
};
struct fit_parameter {
    const char *name;
    const char *members[FIT_MEMBER_MAX + 1]; /* constants; '*' at the end: all that begin so */
    double prior;       /* value of the first member that is known without these rows */
    double prior_error; /* relative */
};
extern const struct fit_parameter fit_parameters[];
extern const size_t fit_parameter_count;

struct fit_row {
    const char *id, *source, *model, *group; /* group: differ in their layout alone */
    struct scenario *scenario;
    double measured_s, weight;
    bool uses[FIT_PARAMETER_MAX];
};
struct fit_rows {
    struct arena *arena;
    struct fit_row *rows;
    size_t count;
    unsigned threads;
    size_t source_count;
    double catalogue[FIT_PARAMETER_MAX]; /* value of the first member; 0: no row has it */
    unsigned row_count[FIT_PARAMETER_MAX];
    bool fitted[FIT_PARAMETER_MAX]; /* says the catalogue's source of the first member */
    bool fixed[FIT_PARAMETER_MAX];  /* not to be fitted now; all false after reading */
    struct fit_kept *kept;          /* what was simulated last */
};

/* Takes the clean rows with a time of a source (NULL: all), at most `most` of each source (0: all),
 * evenly over the file: those of dense models, or those of mixtures of experts. Rows are weighted
 * so that each source counts the same. False with a sentence on stderr. */
bool fit_rows_read(struct fit_rows *out, const char *path, const char *source, size_t most,
                   unsigned threads, bool experts);
void fit_rows_free(struct fit_rows *rows);
/* log(predicted / measured) of the chosen rows (NULL: all), into out[row]. */
void fit_rows_residuals(const struct fit_rows *rows, const double *x, const bool *chosen,
                        double *out);
/* After a measured time has been changed. */
void fit_rows_forget(struct fit_rows *rows);
/* Is this figure a member of a parameter? */
bool fit_rows_knows(const char *figure);
bool fit_rows_first_of_source(const struct fit_rows *rows, size_t row);
/* d residual / d x at x or near it, [row * FIT_PARAMETER_MAX + parameter]; 0 of fixed ones. */
void fit_rows_jacobian(const struct fit_rows *rows, const double *x, double *out);

#endif
