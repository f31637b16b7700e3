/* lower.h - schedule + layout + model + software -> programs.
 *
 * lower() writes one program for each set of ranks that do the same (a pipeline stage; all its tp,
 * cp and dp peers share it) with its HBM ledger. Cost: linear in ops; nothing here knows time
 * beyond the kernel model. lower_passes() writes synthetic programs from given pass times: what the
 * laws of schedules and the profiled pipeline measurements use, through the same code. */
#ifndef ORRERY_MODELS_PROGRAM_LOWER_H
#define ORRERY_MODELS_PROGRAM_LOWER_H

#include "models/layout/configuration.h"
#include "models/layout/layout.h"
#include "models/program/program.h"
#include "models/schedule/schedule_kind.h"

struct lowering; /* lower_plan.h */
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
/* The configuration has passed configuration_check and its model is dense. Everything lives in
 * `arena`. */
void lower(struct arena *arena, const struct configuration *c, struct lowered *out);

/* The same without ledgers, for who asks of time alone. */
void lower_timed(struct arena *arena, const struct configuration *c, struct lowered *out);

/* Programs of stages in which whole blocks, and whole passes where nothing else is issued in them,
 * are one op each (OP_RUN), without ledgers: for a player that knows how long a run takes
 * (models/step). All else is written as lower() writes it; no rank is named, and no FLOP counted.
 * `from`, a plan of a configuration that differs in dp, pp, vpp, batch, schedule and sharding
 * alone, lends its blocks; it outlives what is written. */
void lower_runs(struct arena *arena, const struct configuration *c, const struct lowering *from,
                struct lowered *out);

/* Bytes that a rank of this stage has allocated at its fullest, at least: its state, and what its
 * passes keep at once. The ledger adds temporaries, buffers and what the allocator splits off.
 * `from` as in lower_runs. */
double lower_least_bytes(struct arena *scratch, const struct configuration *c,
                         const struct lowering *from, uint32_t stage);

/* The program of one stage alone, as lower() writes it: for questions about its memory. */
struct program *lower_stage(struct arena *arena, const struct configuration *c, uint32_t stage);

/* Times of the passes of each part of the model, in seconds. */
struct pass_times {
    const double *forward_s, *backward_s; /* of one microbatch; [part] */
    double send_bytes;                    /* of a message between stages; 0: free and instant */
    bool blocking; /* a stage waits until its send has finished; never where backwards are split */
    /* Of schedules that split the backward, else NULL: its two passes; and what an order by times
     * goes by beside them (struct pass_costs). */
    const double *input_s, *weights_s;
    const double *kept_bytes, *late_bytes;
    double transfer_s;
};
/* One program and one rank for each stage; a layout of pp = stages, vpp = chunks fits it. */
void lower_passes(struct arena *arena, const struct schedule_kind *kind,
                  const struct schedule_shape *shape, const struct pass_times *times,
                  struct lowered *out);

#endif
