/* precision.c - the table of precisions.
 *
 * Mixed precision keeps 16-bit weights, activations and gradients beside fp32 master weights in the
 * optimizer: Micikevicius et al., arXiv:1710.03740 section 3.1; 2 + 2 + 4 bytes with Adam's 4 + 4
 * is the 16 bytes for each parameter of Rajbhandari et al., arXiv:1910.02054 section 3.1.
 * fp8: weights and the inputs of linear layers in one byte, attention and gradients in bf16
 * (DeepSeek-V3, arXiv:2412.19437 section 3.3; Micikevicius et al., arXiv:2209.05433 for the
 * formats). With fp8 moments that makes 1 + 2 + 4 + 2 = 9 bytes for each parameter.
 * fp32: everything in four bytes; matrix products run in TF32 on tensor cores, which is what
 * frameworks do when asked for speed (NVIDIA A100 white paper, "TF32 Tensor Cores"). */
#include "models/gpu/precision.h"

#include <stddef.h>

const struct precision precisions[] = {
    {{.name = "bf16", .doc = "bf16 compute, fp32 master weights"},
     PEAK_BF16,
     PEAK_BF16,
     2.0,
     2.0,
     2.0,
     true},
    {{.name = "fp16", .doc = "fp16 compute with loss scaling, fp32 master weights"},
     PEAK_FP16,
     PEAK_FP16,
     2.0,
     2.0,
     2.0,
     true},
    {{.name = "fp8",
      .doc = "fp8 linear layers and weights, bf16 attention and gradients, fp32 master weights"},
     PEAK_FP8,
     PEAK_BF16,
     1.0,
     1.0,
     2.0,
     true},
    {{.name = "fp32", .doc = "fp32 storage, TF32 matrix products, no master copy"},
     PEAK_TF32,
     PEAK_TF32,
     4.0,
     4.0,
     4.0,
     false},
};
const unsigned precision_count = sizeof precisions / sizeof precisions[0];

const struct kind *precision_at(unsigned index)
{
    return index < precision_count ? &precisions[index].head : NULL;
}

const struct precision *precision_find(const char *name)
{
    return (const struct precision *)kind_find(precision_at, name);
}
