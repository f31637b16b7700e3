/* ladder.h - the ladder of recomputation that every search of planning climbs: none, selective, by
 * operator, every other layer, the first layers of each chunk (one more after the other), all.
 *
 * A rung stands where the software offers it and it frees something of what is kept. Recomputation
 * of modules and uniform recomputation are no rungs: from them there is no way up. */
#ifndef ORRERY_MODELS_PLAN_LADDER_H
#define ORRERY_MODELS_PLAN_LADDER_H

#include "models/plan/plan_layout.h"

/* Does this level (enum recompute) free anything of what the configuration keeps? */
bool ladder_frees(const struct configuration *c, int level);
/* To the next level; of a block the first layer. False: there is none, and `c` stays. */
bool ladder_level(struct configuration *c);
/* Of a block: as many of its layers as are not all; else nothing. */
void ladder_last(struct configuration *c);
/* The top of the ladder, unless recomputation is held. */
void ladder_most(unsigned held, struct plan_layout *layout);
/* The next rung for a layout of `base`: a layer more of a block, or the next level. False: there is
 * none, or recomputation is held (a bit of enum plan_axis). */
bool ladder_more(const struct configuration *base, unsigned held, struct plan_layout *layout);
/* The least number of layers above `fails`, at most `fits`, that fits; fewer are taken to keep
 * more. `fits` itself is not asked. */
struct ladder_block {
    bool (*fits)(void *context, uint64_t layers);
    void *context;
};
uint64_t ladder_least_layers(const struct ladder_block *block, uint64_t fails, uint64_t fits);

#endif
