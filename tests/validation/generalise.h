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
    struct measured_rows *measured; /* what the rows measure, by software, card, kinds, source */
    size_t measured_count;
    struct spread_row *spread_rows; /* one for each row */
    struct spread spread;
    double experts_spread, experts_pair_spread; /* rows of mixtures of experts, as shipped */
    size_t experts_count;
    double pair_spread, coverage, coverage_by_source, coverage_elsewhere;
    const char *
        *unknown; /* figures that the catalogue calls fitted and no constant of the fit has */
    size_t unknown_count;
};

void tell_errors(const struct generalise *g, FILE *out);
void tell_constants(const struct generalise *g, FILE *out);
void tell_intervals(const struct generalise *g, FILE *out);
/* crossing,source,rows,shipped_median,median,p90,bias */
void write_errors(const struct generalise *g, FILE *out);
/* name,value,known,known_error,error,rows,sources,with,without,source_out,model_out,verdict */
void write_constants(const struct generalise *g, FILE *out);
/* analysis/record/evidence/residues_list.h */
void write_residues(const struct generalise *g, FILE *out);

#endif
