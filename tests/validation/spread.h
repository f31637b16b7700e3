/* spread.h - how wide the model's own error is, by what was measured: from residues of rows that
 * were left out with all of their source, framework, release, card, generation or precision.
 *
 * A residue is the scatter of a row around its source (the same everywhere) and a shift that all
 * rows of a source at one nearness share; shifts scatter the more, the less is known. Deviations of
 * shifts come from the mean size of robust medians, drawn towards that of all (few sources show
 * each), and no nearness is narrower than a nearer one. One factor on all then makes intervals hold
 * their share of the rows of one more source, for tails are heavier than a normal's and sources are
 * few; each counts the same there, in each way of leaving out. All of it is of rows of no class
 * (enum error_class): dense models, by a framework that is measured and not PyTorch's own, on cards
 * of a measured generation. What rows of one class alone need in addition is found by the share
 * that is let in, of sources and of rows, the wider of both; a framework that is not measured may
 * be PyTorch's own, so its class is not narrower. */
#ifndef ORRERY_TESTS_SPREAD_H
#define ORRERY_TESTS_SPREAD_H

#include "analysis/record/evidence/model_error.h"
#include "sim/arena.h"

enum {
    SPREAD_SOURCE, /* the first, that of groups */
    SPREAD_WAYS = 6
};
/* A row left out in one way: what it was left out with has its number there. */
struct spread_row {
    unsigned key[SPREAD_WAYS], way;
    enum nearness nearness; /* by the rows that stay */
    bool is[CLASS_COUNT];   /* likewise */
    double log_error;       /* of measured over predicted */
    double figure_spread;   /* of log predicted, by the catalogue's figures */
};
struct spread {
    double within;                  /* standard deviation of rows around their source */
    double between[NEARNESS_COUNT]; /* of the shifts of sources */
    double own[NEARNESS_COUNT];     /* what intervals take: both, times the factor */
    double factor;
    double classes[CLASS_LEARNED]; /* in addition */
    unsigned sources[NEARNESS_COUNT];
};
/* Of all rows but those that are left out with `but` in its way (NULL: all). False when no row is
 * left that is of neither class. */
bool spread_estimate(struct arena *arena, const struct spread_row *rows, size_t count,
                     const struct spread_row *but, struct spread *out);
/* Standard deviation of a row's logarithm, figures included. */
double spread_width(const struct spread *spread, const struct spread_row *row);
bool spread_covers(const struct spread *spread, const struct spread_row *row);

/* Of each row by what the rows say that were not left out with it; NAN where none do. */
struct spread_judged {
    double width;
    bool inside; /* of its 80 % interval */
};
void spread_judge(struct arena *arena, const struct spread_row *rows, size_t count,
                  struct spread_judged *out);

/* Two layouts of one model on one machine: the standard deviation of the difference of their
 * errors with which intervals hold 80 % of the pairs, each group the same; NAN without pairs. */
struct spread_member {
    const char *group;
    double log_error;
};
double spread_of_pairs(const struct spread_member *members, size_t count);

#endif
