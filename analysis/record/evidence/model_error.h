/* model_error.h - the model's own error: what no figure of the catalogue explains.
 *
 * It comes from clean rows of steps.csv predicted by constants that were fitted without the source
 * they are from, so it says how far off a step is that nobody has measured. How wide it is depends
 * on what has been measured: such a run, this software on this card with such a layout, or less.
 * Classes of steps have an error in addition, each independent: PyTorch's own stack, mixtures of
 * experts, and what no row shows at all (a framework, a maker or generation of cards, a precision,
 * a kind of layer), so that what is further from all that was measured is never narrower. The
 * numbers and the list of what was measured are generated (residues_list.inc); nothing here knows a
 * name. */
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
    /* this software on this card, every kind of layout and of layer, and the precision */
    NEAR_LAYOUT,
    NEAR_CARD,     /* this software on this card, not with all of these */
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
    LAYOUT_EXPERTS = 32, /* of a mixture of experts */
    LAYOUT_KIND_COUNT = 6
};
/* How layers read a sequence: a set of bits; behind these one of each kind of recurrent layer, in
 * the order of layer_list.h. */
enum layers_kind {
    LAYERS_FULL = 1,   /* attention to all positions */
    LAYERS_WINDOW = 2, /* ... to those of a window below the sequence */
    LAYERS_LATENT = 4, /* ... by latents */
    LAYERS_SPARSE = 8, /* ... to the keys that an indexer chose */
    LAYERS_RECURRENT = 16,
    LAYERS_ATTENTION_COUNT = 4
};
/* Steps that have an error in addition. The first five are learned from rows that were left out
 * with all of their kind; of a maker and of a kind of layer too few are measured to leave one out,
 * so they have the widest of the others. */
enum error_class {
    CLASS_NATIVE,     /* PyTorch's own stack, as measured */
    CLASS_EXPERTS,    /* a mixture of experts */
    CLASS_FRAMEWORK,  /* no step of this framework was measured; not narrower than PyTorch's own */
    CLASS_GENERATION, /* ... on this generation of cards, though of its maker */
    CLASS_PRECISION,  /* ... in this precision */
    CLASS_LEARNED,
    CLASS_MAKER = CLASS_LEARNED, /* ... on cards of this maker */
    CLASS_LAYERS,                /* ... with layers of this kind */
    CLASS_COUNT
};
extern const char *const error_class_names[CLASS_COUNT];

/* What a step is like, by which others are near. Names that nobody has said are "". */
struct model_error_step {
    const char *software, *framework, *card, *generation, *maker, *precision;
    unsigned kinds;  /* of layout */
    unsigned layers; /* kinds of them: enum layers_kind */
    unsigned month;  /* of the software's release, since year 0; 0: not known */
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
    double class_log_spread[CLASS_LEARNED]; /* in addition, independent of it */
    double experts_pair_log_spread;         /* of experts' pairs, at least */
    const char *from;                       /* what they were measured on, in a sentence */
};
extern const struct residues residues_shipped;
/* What these steps have in addition; the widest that was learned for those that were not. */
double model_error_of_class(const double learned[CLASS_LEARNED], enum error_class of);

/* The model's own error of a step. */
struct model_error {
    double log_spread;      /* standard deviation of log(measured / predicted) */
    double pair_log_spread; /* of the difference to another layout of the model and machine */
    double
        announced_ratio; /* part of log_spread: of announced hardware (models/layout/announced.h) */
    enum nearness nearness;
    bool is[CLASS_COUNT]; /* of these classes */
    struct model_error_step step;
    /* With NEAR_CARD: kinds of layout and of layers, and whether the precision, without a row. */
    unsigned kinds_unseen, layers_unseen;
    bool precision_unseen;
    unsigned layers_unmeasured; /* kinds of layers that no row has, of whatever software and card */
    unsigned rows;              /* that make it so near; 0 with NEAR_NOTHING */
    unsigned alike;             /* of these: dense or with experts like it, with the same layers */
    const struct measured_row *nearest; /* of these: the most alike in these two, then the nearest
                                           in size, date, precision and all else */
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
    MODEL_ERROR_SENTENCE_MAX = 1024
};
/* "no measured step has layers of this kind (mamba2); ...; the nearest, ..." into `out`, which is
 * returned. */
const char *model_error_sentence(const struct model_error *error, char *out, size_t size);

#endif
