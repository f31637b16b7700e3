/* generalise.h - what `generalise` finds out, and how it is told. */
#ifndef ORRERY_TESTS_GENERALISE_H
#define ORRERY_TESTS_GENERALISE_H

#include <stdio.h>

#include "folds.h"
#include "spread.h"
#include "worth.h"

struct generalise {
    struct fit_rows *rows;
    struct folds folds;
    struct worth worth[FIT_PARAMETER_MAX];
    size_t worth_count;
    const struct fit_rows
        *experts; /* rows of mixtures of experts, which no constant was fitted to */
    struct measured_row *measured;  /* the rows, those of experts behind the others */
    size_t count;                   /* of both */
    struct spread_row *spread_rows; /* [way * count + row] */
    struct spread_judged *judged;   /* likewise: by the rows that were not left out with it */
    struct spread spread;
    double pair_spread, experts_pair_spread;
    const char *
        *unknown; /* figures that the catalogue calls fitted and no constant of the fit has */
    size_t unknown_count;
};

/* Rows of dense models, then those of experts. */
const struct fit_row *row_of(const struct generalise *g, size_t row);
/* How many of the rows left out in one way lie in their 80 % intervals, which were found without
 * what was left out; `source`: of it alone (NULL: all). */
struct coverage {
    size_t rows;
    double of_rows, of_sources; /* the latter: mean over sources */
    double width;               /* median over rows: standard deviation, figures included */
};
struct coverage coverage_of(const struct generalise *g, unsigned way, const char *source);

void tell_errors(const struct generalise *g, FILE *out);
void tell_constants(const struct generalise *g, FILE *out);
void tell_intervals(const struct generalise *g, FILE *out);
/* crossing,source,rows,shipped_median,median,p90,bias */
void write_errors(const struct generalise *g, FILE *out);
/* name,value,known,known_error,error,rows,sources,with,without,source_out,model_out,verdict */
void write_constants(const struct generalise *g, FILE *out);
/* analysis/record/evidence/residues_list.inc */
void write_residues(const struct generalise *g, FILE *out);

#endif
