/* lower.h - schedule + layout + model + software -> programs.
 *
 * lower() writes one program for each set of ranks that do the same (a pipeline stage; all its tp,
 * cp and dp peers share it) with its HBM ledger. Cost: linear in ops; nothing here knows time
 * beyond the kernel model. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_H

#include "models/layout/configuration.h"
#include "models/layout/layout.h"
#include "models/program/lowered.h"

struct lowering; /* lower_plan.h */
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

/* The program of one stage alone, as lower() writes it: for questions about its memory. */
struct program *lower_stage(struct arena *arena, const struct configuration *c, uint32_t stage);

#endif
