/* fp8_recipe.c - the table of recipes.
 *
 * Copies, scales and passes: NVIDIA/TransformerEngine docs/features/low_precision_training (delayed
 * and current scaling, MXFP8, blockwise) and common/recipe. MXFP8: one byte for each 32 elements,
 * and a kernel that puts scales into the order that products want. Blockwise, DeepSeek-V3's
 * (arXiv:2412.19437 section 3.3): four bytes for each 128, in order at once; Hopper promotes each
 * 128 of k to fp32 in all three products; Blackwell has TransformerEngine play it as MXFP8
 * (pytorch/csrc/extensions/gemm.cpp). Which norms write eight bits: pytorch/csrc/extensions/
 * normalization.cpp, where all but delayed scaling, and MXFP8 through cuDNN, are cast after it. */
#include "models/workload/fp8_recipe.h"

#include <stddef.h>

#include "sim/check.h"

const char *const fp8_recipe_names[] = {"auto", "delayed", "current", "mxfp8", "blockwise", NULL};

static const struct fp8_facts facts[FP8_RECIPE_COUNT] = {
    [FP8_DELAYED] = {.reads = 1.0, .launches = 1.0, .norm_writes = true},
    [FP8_CURRENT] = {.reads = 2.0, .launches = 2.0}, /* largest value, cast */
    [FP8_MX] = {.reads = 1.0,
                .scale_bytes = 1.0 / 32.0,
                .launches = 2.0, /* cast, order of scales */
                .by_direction = true,
                .norm_writes = true,
                .block_scales = true},
    [FP8_BLOCKWISE] = {.reads = 1.0,
                       .scale_bytes = 4.0 / 128.0,
                       .launches = 1.0,
                       .by_direction = true,
                       .block_scales = true,
                       .exact_sums = true},
};

const struct fp8_facts *fp8_recipe_facts(enum fp8_recipe recipe)
{
    CHECK(recipe > FP8_AUTO && recipe < FP8_RECIPE_COUNT);
    return &facts[recipe];
}

enum fp8_recipe fp8_recipe_on(enum fp8_recipe wanted, bool card_scales_blocks)
{
    if (card_scales_blocks && (wanted == FP8_AUTO || wanted == FP8_BLOCKWISE))
        return FP8_MX;
    return wanted == FP8_AUTO ? FP8_DELAYED : wanted;
}
