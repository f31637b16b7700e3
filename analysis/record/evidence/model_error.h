/* model_error.h - the model's own error: what no figure of the catalogue explains.
 *
 * It comes from clean rows of steps.csv predicted by constants that were fitted without the source
 * they are from, so it says how far off a step is that nobody has measured. How wide it is depends
 * on what has been measured: such a run, this software on this card with such a layout, or less;
 * PyTorch's own stack and mixtures of experts have an error in addition. The numbers and the list
 * of what was measured are generated (residues_list.inc); nothing here knows a name. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_MODEL_ERROR_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_MODEL_ERROR_H

#include <stddef.h>

#include "models/layout/configuration.h"

/* Below so many standard deviations lie 90 % of a normal. */
#define MODEL_ERROR_P90 1.2815515655446004

/* What was measured that is like a step, the nearest first. */
enum nearness {
    /* this software within half a year of the release, this card, every kind of layout, GPUs within
     * a factor of four and hidden size within two */
    NEAR_RUN,
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

/* What a step is like, by which others are near. */
struct model_error_step {
    const char *software, *card;
    unsigned kinds; /* of layout */
    unsigned month; /* of the software's release, since year 0; 0: not known */
    uint64_t gpus, hidden;
    bool native; /* PyTorch's own stack, or no software is named (software_offers) */
};
struct model_error_step model_error_step(const struct configuration *c);

/* A clean row of steps.csv. */
struct measured_row {
    const char *id, *source;
    struct model_error_step step;
    double log_error; /* of measured over predicted, by constants fitted without its source */
};
/* Would predictions have chosen the right layout? Mean over the sources of steps.csv of what the
 * layout predicted fastest took longer than the best of its group (validate_choice.h). */
struct regret {
    unsigned groups;
    double median_ratio, p90_ratio;
};
struct residues {
    struct regret regret;
    const struct measured_row *measured;
    size_t count;
    /* Standard deviations of log(measured / predicted), beside what the catalogue's figures say. */
    double log_spread[NEARNESS_COUNT]; /* never narrower than the nearer ones */
    double within_log_spread;          /* of the rows of a source around their median: part of it */
    double pair_log_spread; /* of the difference of two layouts of one model and machine */
    /* In addition, independent of it: of PyTorch's own stack, of mixtures of experts. */
    double native_log_spread, experts_log_spread;
    double experts_pair_log_spread; /* of experts' pairs, at least */
    const char *from;               /* what they were measured on, in a sentence */
};
extern const struct residues residues_shipped;

/* The model's own error of a step. */
struct model_error {
    double log_spread;      /* standard deviation of log(measured / predicted) */
    double pair_log_spread; /* of the difference to another layout of the model and machine */
    double
        announced_ratio; /* part of log_spread: of announced hardware (models/layout/announced.h) */
    enum nearness nearness;
    unsigned kinds_unseen; /* with NEAR_CARD: kinds of layout without a row */
    unsigned rows;         /* that make it so near; 0 with NEAR_NOTHING */
    const struct measured_row
        *nearest; /* of these: the nearest in size, date and kinds of layout */
    const struct measured_row
        *largest; /* of these: on the most GPUs; NULL both with NEAR_NOTHING */
};
/* Of a step; `but`: as if this source had never measured (NULL: all count). */
struct model_error model_error_of(const struct residues *residues, const struct configuration *c,
                                  const char *but);
struct model_error model_error_near(const struct residues *residues,
                                    const struct model_error_step *step, const char *but);
/* Share of the variance of their errors that two layouts of one model on one machine have in
 * common.
 */
double model_error_shared(const struct model_error *a, const struct model_error *b);
enum {
    MODEL_ERROR_SENTENCE_MAX = 448
};
/* "no measurement of this software on this card; the nearest, ..." into `out`: returned. */
const char *model_error_sentence(const struct model_error *error, char *out, size_t size);

#endif
