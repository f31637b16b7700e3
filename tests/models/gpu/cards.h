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
        .hbm_bytes = 80 * GIB,
        .usable_hbm_bytes = 79 * GIB,
        .hbm_bytes_per_s = 2039 * GIGA,
        .hbm_efficiency_ratio = 0.83,
        .l2_bytes = 40 * MIB,
        .sm_count = 108,
        .clock_hz = 1.41 * GIGA,
        .power_w = 400,
        .gemm_efficiency_ratio = 0.83,
        .gemm_operand_passes = 3,
        .gemm_k_half = 200,
        .kernel_start_s = 4 * MICROSECOND,
        .attention_rows = 128,
        .attention_small_head_ratio = {[ATTENTION_FLASH2] = 1.13},
        .attention_large_head_ratio = {[ATTENTION_FLASH2] = 1.08},
    };
    gpu.attention_forward[ATTENTION_FLASH2][1] = (struct attention_curve){193 * TERA, 479};
    gpu.attention_backward[ATTENTION_FLASH2][1] = (struct attention_curve){193 * TERA, 479};
    gpu.attention_forward[ATTENTION_FLASH2][0] = (struct attention_curve){203 * TERA, 178};
    gpu.attention_backward[ATTENTION_FLASH2][0] = (struct attention_curve){203 * TERA, 178};
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
        .hbm_bytes = 80 * GIB,
        .usable_hbm_bytes = 79 * GIB,
        .hbm_bytes_per_s = 3352 * GIGA,
        .hbm_efficiency_ratio = 0.88,
        .l2_bytes = 50 * MIB,
        .sm_count = 132,
        .clock_hz = 1.755 * GIGA,
        .power_w = 700,
        .gemm_efficiency_ratio = 0.70,
        .gemm_operand_passes = 3,
        .gemm_k_half = 200,
        .kernel_start_s = 4 * MICROSECOND,
        .attention_rows = 128,
        .attention_small_head_ratio = {[ATTENTION_FLASH2] = 1.13, [ATTENTION_FLASH3] = 1.34},
        .attention_large_head_ratio = {[ATTENTION_FLASH2] = 1.08, [ATTENTION_FLASH3] = 0.85},
    };
    gpu.attention_forward[ATTENTION_FLASH2][1] = (struct attention_curve){372 * TERA, 475};
    gpu.attention_backward[ATTENTION_FLASH2][1] = (struct attention_curve){323 * TERA, 566};
    gpu.attention_forward[ATTENTION_FLASH2][0] = (struct attention_curve){385 * TERA, 115};
    gpu.attention_backward[ATTENTION_FLASH2][0] = (struct attention_curve){344 * TERA, 260};
    gpu.attention_forward[ATTENTION_FLASH3][1] = (struct attention_curve){655 * TERA, 602};
    gpu.attention_forward[ATTENTION_FLASH3][0] = (struct attention_curve){673 * TERA, 200};
    return gpu;
}

/* Fused kernels, gradients added inside the products, padding to 128: what Megatron-LM of 2022 does
 * (arXiv:2205.05198). */
static inline struct software_profile profile_fused(void)
{
    return (struct software_profile){
        .name = "fused",
        .norm_forward_bytes = 4,
        .norm_backward_bytes = 8,
        .residual_forward_bytes = 7,
        .residual_backward_bytes = 8,
        .activation_forward_bytes = 4,
        .activation_backward_bytes = 6,
        .rope_forward_bytes = 4,
        .rope_backward_bytes = 4,
        .loss_traffic_bytes = 40,
        .loss_memory_bytes = 14,
        .loss_gradient_bytes = 4,
        .cp_gradient_bytes = 2,
        .math_forward_bytes = 13,
        .math_backward_bytes = 19,
        .norm_launches = 1,
        .activation_launches = 1,
        .residual_launches = 1,
        .rope_launches = 1,
        .save_norm_input = true,
        .activation_saved_factor = 1,
        .vocabulary_multiple = 128,
        .gradient_fusion = true,
        .backward_tp_overlap = true,
        .backward_regather = true,
        .gradient_kept_bytes = 4,
    };
}

#endif
