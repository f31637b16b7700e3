/* fp8_recipe.c - the table of recipes: copies, scales and passes of a cast (docs/models/fp8.md).
 *
 * Sources in NVIDIA/TransformerEngine: docs/features/low_precision_training and common/recipe
 * (delayed, current, MXFP8, blockwise); pytorch/csrc/extensions/normalization.cpp (which norms
 * write eight bits), gemm.cpp (Blackwell plays blockwise as MXFP8) and cast.cpp (rows of several
 * experts); pytorch/csrc/quantizer.cpp (current scaling, NVFP4). Blockwise: DeepSeek-V3,
 * arXiv:2412.19437 section 3.3. Rows of an expert: NVIDIA/Megatron-LM megatron/core/fp8_utils.py
 * get_fp8_align_size, fp4_utils.py get_fp4_align_size. */
#include "models/workload/fp8_recipe.h"

#include <stddef.h>

#include "sim/check.h"

const char *const fp8_recipe_names[] = {"auto", "delayed", "current", "mxfp8", "blockwise", NULL};

static const struct fp8_facts facts[FP8_RECIPE_COUNT] = {
    [FP8_DELAYED] = {.element_bytes = 1.0,
                     .reads = 1.0,
                     .launches = 1.0,
                     .row_multiple = 16.0,
                     .fused_experts = true,
                     .norm_writes = true},
    [FP8_CURRENT] = {.element_bytes = 1.0,
                     .reads = 2.0,
                     .launches = 3.0, /* largest value, scale, cast */
                     .row_multiple = 16.0},
    [FP8_MX] = {.element_bytes = 1.0,
                .reads = 1.0,
                .scale_bytes = 1.0 / 32.0,
                .launches = 1.0,
                .order_launches = 1.0,
                .row_multiple = 32.0,
                .by_direction = true,
                .norm_writes = true,
                .block_scales = true,
                .weight_scale_bytes = 1.0 / 32.0,
                .weights_come_wide = true},
    [FP8_BLOCKWISE] = {.element_bytes = 1.0,
                       .reads = 1.0,
                       .scale_bytes = 4.0 / 128.0,
                       .launches = 1.0,
                       .row_multiple = 16.0,
                       .by_direction = true,
                       .block_scales = true,
                       .exact_sums = true,
                       .weight_scale_bytes = 4.0 / (128.0 * 128.0)},
    [FP8_NVFP4] = {.element_bytes = 0.5,
                   .reads = 2.0,
                   .scale_bytes = 1.0 / 16.0,
                   .launches = 2.0, /* largest value, cast */
                   .order_launches = 1.0,
                   .column_reads = 1.0,
                   .column_launches = 1.0,
                   .row_multiple = 128.0,
                   .fused_experts = true,
                   .by_direction = true,
                   .weight_scale_bytes = 1.0 / 16.0,
                   .weights_come_wide = true},
};

const struct fp8_facts *fp8_recipe_facts(enum fp8_recipe recipe)
{
    CHECK(recipe > FP8_AUTO && recipe < FP8_RECIPE_COUNT);
    return &facts[recipe];
}

double fp8_recipe_bytes(enum fp8_recipe recipe)
{
    const struct fp8_facts *f = fp8_recipe_facts(recipe);
    return f->element_bytes + f->scale_bytes;
}

enum fp8_recipe fp8_recipe_on(enum fp8_recipe wanted, enum peak_kind peak, bool card_scales_blocks)
{
    if (peak == PEAK_FP4)
        return FP8_NVFP4;
    if (card_scales_blocks && (wanted == FP8_AUTO || wanted == FP8_BLOCKWISE))
        return FP8_MX;
    return wanted == FP8_AUTO ? FP8_DELAYED : wanted;
}
