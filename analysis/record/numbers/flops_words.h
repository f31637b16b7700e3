/* flops_words.h - the formula of the FLOPs behind an MFU, its letters with their numbers. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_FLOPS_WORDS_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_FLOPS_WORDS_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

struct flops_words {
    const char *formula, *causal_formula; /* of mfu, of causal_mfu: "6N + 12Lhs" */
    const char *letters;                  /* of both: "N = 7 parameters, L = 2 layers" */
};
/* In the arena. */
struct flops_words flops_words_of(struct arena *arena, const struct configuration *c);

#endif
