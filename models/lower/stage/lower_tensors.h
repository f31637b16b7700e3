/* lower_tensors.h - a part of a stage that is lowered: tensors, their numbers, and their entries in
 * the ledger.
 *
 * Numbers stay few: those of a unit's saved tensors are used again when its backward is over, and
 * what is there once at most has a number of its own. Entries hang on the op written last and bear
 * its labels; one of no bytes is none. Knows no op, and not what tensors are for. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_TENSORS_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_TENSORS_H

#include "models/lower/plan/lower_units.h"
#include "models/lower/stage/lower_labels.h"

/* Numbers of tensors that are there once at most; others count up from TENSOR_FIRST. */
enum fixed_tensor {
    TENSOR_SCRATCH,
    TENSOR_APART,
    TENSOR_WORKSPACE = TENSOR_APART + SEGMENT_APART_MAX,
    TENSOR_RECEIVE,
    TENSOR_FIRST
};
struct tensor {
    enum tenant tenant;
    uint32_t number;
    double bytes;
    const char *name;
    unsigned flags; /* enum ledger_flag */
};
struct tensors {
    struct program_writer *w;
    const struct labels *labels;
    const struct units *units;
    uint32_t next; /* number */
    uint32_t microbatches;
    uint32_t *saved;              /* [unit x microbatch] first number, TENSOR_NONE: none */
    uint32_t *spare[BLOCK_COUNT]; /* first numbers that are free */
    uint32_t spare_count[BLOCK_COUNT];
    bool unrecorded;        /* numbers are given out, but nothing is written */
    double workspace_bytes; /* still to be taken, 0: none */
    unsigned strand;        /* of two passes that take turns, the one under way; else 0 */
    double
        receive_bytes[2]; /* by strand: of the message of its pass, until the first op; 0: none */
};

/* Borrows all of it; without units (NULL) nothing is saved. */
void lower_tensors_begin(struct tensors *t, const struct lowering *l, struct program_writer *w,
                         const struct labels *labels, const struct units *units);
uint32_t lower_tensors_number(struct tensors *t);        /* a new one */
uint32_t lower_tensors_scratch(const struct tensors *t); /* that of the strand's temporaries */
void lower_tensors_entry(struct tensors *t, enum ledger_action action, struct tensor tensor,
                         const char *call_site);
/* An allocation before the first step. The tensor gets a number here. */
void lower_tensors_setup(struct tensors *t, struct tensor tensor, const char *call_site,
                         uint16_t layer);

/* Numbers of what a unit saves of the microbatch under way: taken by its first forward op, given
 * back by its last backward op. The first is its input's, then segment by segment. */
void lower_tensors_take(struct tensors *t, const struct lowered_unit *unit);
void lower_tensors_give(struct tensors *t, const struct lowered_unit *unit);
uint32_t lower_tensors_input(const struct tensors *t, const struct lowered_unit *unit);
uint32_t lower_tensors_segment(const struct tensors *t, const struct lowered_unit *unit,
                               unsigned segment);
/* ... and, behind all of them, that of the gradients that its weights' pass reads. */
uint32_t lower_tensors_gradient(const struct tensors *t, const struct lowered_unit *unit,
                                unsigned segment);

/* The first compute op has been written. */
void lower_tensors_workspace(struct tensors *t);
/* The received tensor becomes the input that the first segment saves: from the handing over on it
 * counts there. */
void lower_tensors_received(struct tensors *t, double bytes);
void lower_tensors_handed_over(struct tensors *t);
void lower_tensors_strand(struct tensors *t, unsigned strand); /* ... from here on */

#endif
