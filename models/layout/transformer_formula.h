/* transformer_formula.h - the FLOPs that MFU counts for a token as a formula: terms of letters, the
 * number and the meaning of each letter. What reports print beside an MFU and the number that they
 * divide by come from the same terms.
 *
 * Of a dense model 6N + 12Lhs (PaLM, arXiv:2204.02311 appendix B). The terms of every other kind,
 * with sources: docs/models/transformer.md. */
#ifndef ORRERY_MODELS_LAYOUT_TRANSFORMER_FORMULA_H
#define ORRERY_MODELS_LAYOUT_TRANSFORMER_FORMULA_H

#include "models/workload/transformer.h"

enum {
    FORMULA_TERM_MAX = 10,
    FORMULA_LETTER_MAX = 'z' - 'A' + 1,
    FORMULA_TEXT_MAX = 160
};
struct formula_letter {
    const char *what; /* behind its number: "layers"; a literal; NULL: no such letter */
    double value;
};
struct formula_term {
    double factor;
    char letters[8]; /* which are multiplied */
};
struct formula {
    unsigned term_count;
    struct formula_term terms[FORMULA_TERM_MAX];
    struct formula_letter letters[FORMULA_LETTER_MAX]; /* from 'A' on */
};

/* FLOPs of a token of training. `causal`: a query meets only the keys before it. `adapters`:
 * parameters that are trained beside frozen weights; 0: all weights are trained. */
void transformer_formula(const struct model_shape *m, uint64_t sequence, bool causal,
                         double adapters, struct formula *out);
double transformer_formula_flops(const struct formula *f);
/* "6N + 12Lhs" */
void transformer_formula_text(const struct formula *f, char text[FORMULA_TEXT_MAX]);
struct formula_letter transformer_formula_letter(const struct formula *f, char letter);
/* FLOPs of a token of training of all weights. `causal`: a query meets only the keys before it.
 * Layers with a window have the keys of transformer_keys_met, recurrent ones what their recurrence
 * asks for (state_flops), sparse ones the chosen keys in the latent, as Megatron-LM counts them,
 * and what scores and learns to score keys. Modules that predict further tokens count, the head
 * once more for each. */
double transformer_flops_per_token(const struct model_shape *m, uint64_t sequence, bool causal);

#endif
