/* precision.c - the table of precisions.
 *
 * Mixed precision keeps 16-bit weights, activations and gradients beside fp32 master weights in the
 * optimizer: Micikevicius et al., arXiv:1710.03740 section 3.1; 2 + 2 + 4 bytes with Adam's 4 + 4
 * is the 16 bytes for each parameter of Rajbhandari et al., arXiv:1910.02054 section 3.1.
 * fp8: weights and the inputs of linear layers in one byte, attention and gradients in bf16
 * (DeepSeek-V3, arXiv:2412.19437 section 3.3; Micikevicius et al., arXiv:2209.05433 for the
 * formats). With fp8 moments that makes 1 + 2 + 4 + 2 = 9 bytes for each parameter.
 * nvfp4: products of linear layers of 4-bit elements (E2M1) with a scale of one byte (E4M3) for
 * every 16 and one in fp32 for the tensor (NVIDIA, arXiv:2509.25149 section 3). Weights stay in
 * bf16, with a copy for each direction of use beside them: 2 (0.5 + 1/16) bytes
 * (NVIDIA/TransformerEngine transformer_engine/pytorch/tensor/nvfp4_tensor.py; NVIDIA/Megatron-LM
 * without fp4-param-gather). fp32: everything in four bytes; matrix products run in TF32 on tensor
 * cores, which is what frameworks do when asked for speed (NVIDIA A100 white paper, "TF32 Tensor
 * Cores"). */
#include "models/gpu/precision.h"

#include <stddef.h>

const char *const peak_names[PEAK_COUNT] = {"fp32", "tf32", "bf16", "fp16", "fp8", "fp4"};

const struct precision precisions[] = {
    {{.name = "bf16", .doc = "bf16 compute, fp32 master weights"},
     PEAK_BF16,
     PEAK_BF16,
     2.0,
     2.0,
     2.0,
     true,
     0.0},
    {{.name = "fp16", .doc = "fp16 compute with loss scaling, fp32 master weights"},
     PEAK_FP16,
     PEAK_FP16,
     2.0,
     2.0,
     2.0,
     true,
     0.0},
    {{.name = "fp8",
      .doc = "fp8 linear layers and weights, bf16 attention and gradients, fp32 master weights"},
     PEAK_FP8,
     PEAK_BF16,
     1.0,
     1.0,
     2.0,
     true,
     0.0},
    {{.name = "nvfp4",
      .doc = "4-bit linear layers with bf16 weights in addition to their copies, bf16 attention "
             "and gradients, fp32 master weights"},
     PEAK_FP4,
     PEAK_BF16,
     2.0,
     0.5,
     2.0,
     true,
     2.0 * (0.5 + 1.0 / 16.0)},
    {{.name = "fp32", .doc = "fp32 storage, TF32 matrix products, no master copy"},
     PEAK_TF32,
     PEAK_TF32,
     4.0,
     4.0,
     4.0,
     false,
     0.0},
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

bool precision_narrow(const struct precision *p)
{
    return p->gemm_peak != p->attention_peak;
}

const struct precision *precision_wide(const struct precision *p)
{
    for (unsigned i = 0; i < precision_count; i++)
        if (precisions[i].gemm_peak == p->attention_peak)
            return &precisions[i];
    return p;
}
