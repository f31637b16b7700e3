/* model_error.h - the model's own error: what no figure of the catalogue explains.
 *
 * It comes from clean rows of steps.csv predicted by constants that were fitted without the source
 * they are from, so it says how far off a step is that nobody has measured. How wide it is depends
 * on what has been measured: this software on this card with such a layout, or less. The numbers
 * and the list of what was measured are generated (residues_list.h); nothing here knows a name. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_MODEL_ERROR_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_MODEL_ERROR_H

#include <stddef.h>

#include "models/layout/configuration.h"

/* Below so many standard deviations lie 90 % of a normal. */
#define MODEL_ERROR_P90 1.2815515655446004

/* What was measured that is like a step, the nearest first. */
enum nearness {
    NEAR_LAYOUT,   /* this software on this card, every kind of layout that the step uses */
    NEAR_CARD,     /* this software on this card, not every kind of layout */
    NEAR_SOFTWARE, /* this software on other cards alone */
    NEAR_MACHINE,  /* other software on this card */
    NEAR_NOTHING,  /* neither */
    NEARNESS_COUNT
};
extern const char *const nearness_names[]; /* NULL-ended; as reports print them */

/* Kinds of layout that cost what others do not: a set of bits. */
enum layout_kind {
    LAYOUT_TENSOR = 1,
    LAYOUT_TENSOR_ACROSS = 2, /* a tensor-parallel group is wider than a node */
    LAYOUT_PIPELINE = 4,
    LAYOUT_CONTEXT = 8,
    LAYOUT_SHARDED = 16, /* weights are sharded: fsdp, zero-3 */
    LAYOUT_FP8 = 32,     /* products in 8 bits */
    LAYOUT_EXPERTS = 64, /* of a mixture of experts */
    LAYOUT_KIND_COUNT = 7
};
extern const char *const layout_kind_names[LAYOUT_KIND_COUNT]; /* by bit */
unsigned model_error_kinds(const struct configuration *c);

/* Rows of one source with one software profile, card and set of kinds. */
struct measured_rows {
    const char *software, *card;
    unsigned kinds;
    const char *source;
    unsigned rows;
};
struct residues {
    const struct measured_rows *measured;
    size_t count;
    /* Standard deviations of log(measured / predicted), beside what the catalogue's figures say. */
    double log_spread[NEARNESS_COUNT]; /* never narrower than the nearer ones */
    double within_log_spread;          /* of the rows of a source around their median: part of it */
    double pair_log_spread; /* of the difference of two layouts of one model and machine */
    /* The same two of mixtures of experts, at least: rows of dense models say nothing of them. */
    double experts_log_spread, experts_pair_log_spread;
    const char *from; /* what they were measured on, in a sentence */
};
extern const struct residues residues_shipped;

/* The model's own error of a step. */
struct model_error {
    double log_spread;      /* standard deviation of log(measured / predicted) */
    double pair_log_spread; /* of the difference to another layout of the model and machine */
    enum nearness nearness;
    unsigned kinds_unseen; /* with NEAR_CARD: kinds of layout without a row */
    unsigned rows;         /* that make it so near; 0 with NEAR_NOTHING */
};
/* Of a step by its software profile, card and layout; `but`: as if this source had never measured
 * (NULL: all count). */
struct model_error model_error_of(const struct residues *residues, const struct configuration *c,
                                  const char *but);
/* The same by names. */
struct model_error model_error_near(const struct residues *residues, const char *software,
                                    const char *card, unsigned kinds, const char *but);
/* Share of the variance of their errors that two layouts of one model on one machine have in
 * common.
 */
double model_error_shared(const struct model_error *a, const struct model_error *b);
/* "no measurement of this software on this card; ..." into `out`, which is returned. */
const char *model_error_sentence(const struct model_error *error, char *out, size_t size);

#endif
