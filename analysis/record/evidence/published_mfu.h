/* published_mfu.h - the highest MFU that anybody has published on a card, to tell a prediction that
 * nobody has reached.
 *
 * Of each card, number format of the linear layers and kind of model (dense, or a mixture of
 * experts) the clean row of tests/validation/steps.csv with the highest MFU, as Orrery counts it
 * (mfu_formula a token against the dense peak), of sequences below PUBLISHED_MFU_SEQUENCE: in
 * longer ones most of that is scores that a causal mask skips. The list is generated from the rows
 * (tests/validation/published --write) and held to them by a test; nothing here knows a name. A
 * prediction above it is no error: the scenario is better than all that was measured. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_PUBLISHED_MFU_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_PUBLISHED_MFU_H

#include <stddef.h>

#include "models/layout/configuration.h"
#include "sim/arena.h"

enum {
    PUBLISHED_MFU_SEQUENCE = 16384
};
struct published_mfu {
    const char *card;
    enum peak_kind peak; /* fp16 counts as bf16: cards have one rate for both */
    bool experts;
    double mfu_ratio;
    const char *row, *model; /* of steps.csv */
    unsigned gpus;
};
extern const struct published_mfu published_mfus[];
extern const size_t published_mfu_count;

/* What of that list a configuration is of: the peak of its linear layers, bf16 for fp16. */
enum peak_kind published_mfu_peak(const struct configuration *c);
/* The highest of this card, precision and kind of model; NULL: none was published, or the sequence
 * is too long to compare. */
const struct published_mfu *published_mfu_of(const struct configuration *c);
/* A sentence, in `arena`, when `mfu_ratio` is above it; else NULL. */
const char *published_mfu_words(struct arena *arena, const struct configuration *c,
                                double mfu_ratio);

#endif
