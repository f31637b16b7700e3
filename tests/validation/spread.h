/* spread.h - how wide the model's own error is, by what was measured: from residues of rows that
 * were left out by source.
 *
 * A residue is the scatter of a row around its source (the same everywhere) and a shift that all
 * rows of a source at one nearness share; shifts scatter the more, the less is known. Deviations of
 * shifts come from the mean size of robust medians, drawn towards that of all (few sources show
 * each), and no nearness is narrower than a nearer one. One factor on all then makes intervals hold
 * their share of the rows, for tails are heavier than a normal's; a source of n rows counts as the
 * root of n there. */
#ifndef ORRERY_TESTS_SPREAD_H
#define ORRERY_TESTS_SPREAD_H

#include "analysis/record/evidence/model_error.h"
#include "sim/arena.h"

struct spread_row {
    const char *source;
    enum nearness nearness;
    double log_error;     /* of measured over predicted, left out by its source */
    double figure_spread; /* of log predicted, by the catalogue's figures */
};
struct spread {
    double within;                  /* standard deviation of rows around their source */
    double between[NEARNESS_COUNT]; /* of the shifts of sources */
    double own[NEARNESS_COUNT];     /* what intervals take: both, times the factor */
    double factor;
    unsigned sources[NEARNESS_COUNT];
};
/* Of all rows but those of `but` (NULL: all). False when there are none. */
bool spread_estimate(struct arena *arena, const struct spread_row *rows, size_t count,
                     const char *but, struct spread *out);
/* Share of the rows of a source (NULL: of all rows) inside their 80 % intervals; NAN of none. */
double spread_coverage(const struct spread *spread, const struct spread_row *rows, size_t count,
                       const char *source);
/* Mean over sources of what the others' spread covers of each. */
double spread_coverage_elsewhere(struct arena *arena, const struct spread_row *rows, size_t count);

/* Two layouts of one model on one machine: the standard deviation of the difference of their
 * errors with which intervals hold 80 % of the pairs, each group the same; NAN without pairs. */
struct spread_member {
    const char *group;
    double log_error;
};
double spread_of_pairs(const struct spread_member *members, size_t count);
/* The standard deviation with which intervals hold 80 % of the errors, each group the same; 0 of
 * none. */
double spread_of_errors(const struct spread_member *members, size_t count);

#endif
