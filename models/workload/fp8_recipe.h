/* fp8_recipe.h - how tensors get the scales of their 8-bit copies, and what that costs.
 *
 * Adding one: a name here and a row in fp8_recipe.c. Sources of the facts beside the rows;
 * docs/models/fp8.md. */
#ifndef ORRERY_MODELS_WORKLOAD_FP8_RECIPE_H
#define ORRERY_MODELS_WORKLOAD_FP8_RECIPE_H

#include <stdbool.h>

enum fp8_recipe {
    FP8_AUTO, /* mxfp8 where the card scales by block, else delayed */
    FP8_DELAYED,
    FP8_CURRENT,
    FP8_MX,
    FP8_BLOCKWISE,
    FP8_RECIPE_COUNT
};
struct fp8_facts {
    double reads;       /* of the wide tensor, by a cast */
    double scale_bytes; /* of scales, for each element of a copy */
    double launches;    /* of a cast */
    bool by_direction;  /* scales by block along the direction of use: two copies, both sent */
    bool norm_writes;   /* a norm can write eight bits itself */
    bool block_scales;  /* the products apply a scale to each block */
    bool exact_sums;    /* every product adds its partial sums to fp32, the forward one too */
};
extern const char *const fp8_recipe_names[]; /* NULL-ended, as the enum */
/* Of a resolved recipe (CHECKed: not FP8_AUTO). */
const struct fp8_facts *fp8_recipe_facts(enum fp8_recipe recipe);
/* The recipe that is asked for on a card: auto is resolved, and a card that scales by block plays
 * blockwise as mxfp8. */
enum fp8_recipe fp8_recipe_on(enum fp8_recipe wanted, bool card_scales_blocks);

#endif
