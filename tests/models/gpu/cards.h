/* cards.h - two GPUs and a few software profiles for the tests of kernels and layers.
 *
 * Data-sheet figures (NVIDIA A100 and H100 SXM data sheets and white papers); attention curves from
 * the FlashAttention figures of tests/validation/kernels.csv. The catalogue has the full rows. */
#ifndef ORRERY_TESTS_CARDS_H
#define ORRERY_TESTS_CARDS_H

#include "models/gpu/gpu.h"
#include "models/workload/software.h"
#include "sim/units.h"

static inline struct gpu_spec card_a100(void)
{
    struct gpu_spec gpu = {
        .name = "a100-80gb-sxm",
        .peak_flops_per_s = {[PEAK_FP32] = 19.5 * TERA,
                             [PEAK_TF32] = 156 * TERA,
                             [PEAK_BF16] = 312 * TERA,
                             [PEAK_FP16] = 312 * TERA},
        .hbm.bytes = 80 * GIB,
        .hbm.usable_bytes = 79 * GIB,
        .hbm.bytes_per_s = 2039 * GIGA,
        .hbm.efficiency_ratio = 0.83,
        .l2_bytes = 40 * MIB,
        .sm_count = 108,
        .clock_hz = 1.41 * GIGA,
        .power.cap_w = 400,
        .gemm.efficiency_ratio = 0.83,
        .gemm.operand_passes = 3,
        .gemm.k_half = 200,
        .kernel_start_s = 4 * MICROSECOND,
        .attention.rows = 128,
        .attention.small_head_ratio = {[ATTENTION_FLASH2] = 1.13},
        .attention.large_head_ratio = {[ATTENTION_FLASH2] = 1.08},
    };
    gpu.attention.forward[ATTENTION_FLASH2][1] = (struct attention_curve){193 * TERA, 479};
    gpu.attention.backward[ATTENTION_FLASH2][1] = (struct attention_curve){193 * TERA, 479};
    gpu.attention.forward[ATTENTION_FLASH2][0] = (struct attention_curve){203 * TERA, 178};
    gpu.attention.backward[ATTENTION_FLASH2][0] = (struct attention_curve){203 * TERA, 178};
    return gpu;
}

static inline struct gpu_spec card_h100(void)
{
    struct gpu_spec gpu = {
        .name = "h100-80gb-sxm",
        .peak_flops_per_s = {[PEAK_FP32] = 66.9 * TERA,
                             [PEAK_TF32] = 494.7 * TERA,
                             [PEAK_BF16] = 989.4 * TERA,
                             [PEAK_FP16] = 989.4 * TERA,
                             [PEAK_FP8] = 1978.9 * TERA},
        .hbm.bytes = 80 * GIB,
        .hbm.usable_bytes = 79 * GIB,
        .hbm.bytes_per_s = 3352 * GIGA,
        .hbm.efficiency_ratio = 0.88,
        .l2_bytes = 50 * MIB,
        .sm_count = 132,
        .clock_hz = 1.755 * GIGA,
        .power.cap_w = 700,
        .gemm.efficiency_ratio = 0.70,
        .gemm.operand_passes = 3,
        .gemm.k_half = 200,
        .kernel_start_s = 4 * MICROSECOND,
        .attention.rows = 128,
        .attention.small_head_ratio = {[ATTENTION_FLASH2] = 1.13, [ATTENTION_FLASH3] = 1.34},
        .attention.large_head_ratio = {[ATTENTION_FLASH2] = 1.08, [ATTENTION_FLASH3] = 0.85},
    };
    gpu.attention.forward[ATTENTION_FLASH2][1] = (struct attention_curve){372 * TERA, 475};
    gpu.attention.backward[ATTENTION_FLASH2][1] = (struct attention_curve){323 * TERA, 566};
    gpu.attention.forward[ATTENTION_FLASH2][0] = (struct attention_curve){385 * TERA, 115};
    gpu.attention.backward[ATTENTION_FLASH2][0] = (struct attention_curve){344 * TERA, 260};
    gpu.attention.forward[ATTENTION_FLASH3][1] = (struct attention_curve){655 * TERA, 602};
    gpu.attention.forward[ATTENTION_FLASH3][0] = (struct attention_curve){673 * TERA, 200};
    return gpu;
}

/* Fused kernels, gradients added inside the products, padding to 128: what Megatron-LM of 2022 does
 * (arXiv:2205.05198). */
static inline struct software_profile profile_fused(void)
{
    return (struct software_profile){
        .name = "fused",
        .block.norm_forward_bytes = 4,
        .block.norm_backward_bytes = 8,
        .block.residual_forward_bytes = 7,
        .block.residual_backward_bytes = 8,
        .block.activation_forward_bytes = 4,
        .block.activation_backward_bytes = 6,
        .block.rope_forward_bytes = 4,
        .block.rope_backward_bytes = 4,
        .head.traffic_bytes = 40,
        .head.memory_bytes = 14,
        .head.gradient_bytes = 4,
        .context.gradient_bytes = 2,
        .attention.math_forward_bytes = 13,
        .attention.math_backward_bytes = 19,
        .block.norm_launches = 1,
        .block.activation_launches = 1,
        .block.residual_launches = 1,
        .block.rope_launches = 1,
        .layer.save_norm_input = true,
        .experts.bias_fusion = true,
        .layer.activation_saved_factor = 1,
        .head.vocabulary_multiple = 128,
        .layer.gradient_fusion = true,
        .tensor.backward_overlap = true,
        .tensor.backward_regather = true,
        .data.gradient_kept_bytes = 4,
    };
}

#endif
