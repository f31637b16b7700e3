/* precision.h - bytes of each element, and which peak the GEMMs run at.
 *
 * A row of the precision table says what one parameter costs in each role. Rows: bf16, fp16, fp8,
 * nvfp4, fp32. Sources stand beside the rows in precision.c. */
#ifndef ORRERY_MODELS_GPU_PRECISION_H
#define ORRERY_MODELS_GPU_PRECISION_H

#include <stdbool.h>

#include "sim/kind.h"

enum peak_kind {
    PEAK_FP32,
    PEAK_TF32,
    PEAK_BF16,
    PEAK_FP16,
    PEAK_FP8,
    PEAK_FP4,
    PEAK_COUNT
};
extern const char *const peak_names[PEAK_COUNT]; /* of the number formats */

struct precision {
    struct kind head;
    enum peak_kind gemm_peak;      /* of linear layers */
    enum peak_kind attention_peak; /* of the attention core */
    double weight_bytes;           /* of a parameter as the forward pass reads it */
    double activation_bytes;       /* of a saved activation element, without scales */
    double gradient_bytes;         /* of a gradient as the backward pass writes it */
    bool master_weights;           /* the optimizer keeps an fp32 copy */
    double copy_bytes; /* of the narrow copies kept beside a weight of a linear layer; 0: it is
                          narrow itself, or there is none */
};
extern const struct precision precisions[];
extern const unsigned precision_count;
kind_at_fn precision_at;
const struct precision *precision_find(const char *name); /* or NULL */
/* Linear layers compute in fewer bits than all else. */
bool precision_narrow(const struct precision *p);
/* The row of a layer that is kept in the wide format of such a precision (itself, if it is wide).
 */
const struct precision *precision_wide(const struct precision *p);

#endif
