/* lowered.h - the programs of a job, and who runs which: what the lowering writes and the players
 * take. Plain data, in the arena of whoever wrote it. */
#ifndef ORRERY_MODELS_PROGRAM_LOWERED_H
#define ORRERY_MODELS_PROGRAM_LOWERED_H

#include "models/program/program.h"

struct lowered {
    struct program **programs;
    uint32_t program_count;
    uint32_t *program_of_rank;
    uint32_t rank_count;
    uint32_t streams; /* bit set of communication streams in use: layout_build's `wanted` */
    uint32_t *layers_of_stage; /* transformer layers of each stage, by lower() */
    double model_flops;        /* of a step of the whole job, MFU's convention */
    double causal_flops;       /* the same with the scores that a causal mask leaves */
    double hardware_flops;     /* done by the kernels: recomputation in, skipped scores out */
};

#endif
