/* fp8_recipe.h - how tensors get the scales of their 8-bit copies, or 4-bit ones, and what that
 * costs.
 *
 * Adding one: a name here and a row in fp8_recipe.c. Those that precision fp8 offers have a name
 * that scenarios spell (software.fp8_recipe); FP8_NVFP4 is the one of precision nvfp4, and no
 * choice. Sources of the facts beside the rows; docs/models/fp8.md. */
#ifndef ORRERY_MODELS_WORKLOAD_FP8_RECIPE_H
#define ORRERY_MODELS_WORKLOAD_FP8_RECIPE_H

#include "models/gpu/precision.h"

enum fp8_recipe {
    FP8_AUTO, /* mxfp8 where the card scales by block, else delayed */
    FP8_DELAYED,
    FP8_CURRENT,
    FP8_MX,
    FP8_BLOCKWISE,
    FP8_NVFP4, /* 4-bit elements */
    FP8_RECIPE_COUNT
};
struct fp8_facts {
    double element_bytes;   /* of a copy, without scales */
    double reads;           /* of the wide tensor, by a cast */
    double scale_bytes;     /* of scales, for each element of a copy */
    double launches;        /* of a cast: of each expert's rows by itself unless `fused_experts` */
    double order_launches;  /* ... of scales put in order: of all experts in one */
    double column_reads;    /* ... more of each where a copy along columns of x or g, which is */
    double column_launches; /* rotated first, is written beside one along rows; weights are not */
    double row_multiple;    /* to which the rows of an expert are filled up */
    bool by_direction;      /* scales by block along the direction of use: two copies, both sent */
    bool fused_experts;     /* one kernel casts the rows of all experts of a rank */
    bool norm_writes;       /* a norm can write the copy itself */
    bool block_scales;      /* 8-bit products apply a scale to each block (gemm_block_cost) */
    bool exact_sums;        /* every product adds its partial sums to fp32, the forward one too */
    double weight_scale_bytes; /* of scales, for each weight of a copy */
    bool weights_come_wide; /* updated weights travel in 16 bits; each rank casts what it holds */
};
extern const char *const fp8_recipe_names[]; /* NULL-ended, as the enum */
/* Of a resolved recipe (CHECKed: not FP8_AUTO). */
const struct fp8_facts *fp8_recipe_facts(enum fp8_recipe recipe);
/* What an element of a copy takes with its scales. */
double fp8_recipe_bytes(enum fp8_recipe recipe);
/* The recipe that is asked for on a card, of a precision whose products have `peak`: that of four
 * bits is one; of eight, auto is resolved, and a card that scales by block plays blockwise as
 * mxfp8. */
enum fp8_recipe fp8_recipe_on(enum fp8_recipe wanted, enum peak_kind peak, bool card_scales_blocks);

#endif
