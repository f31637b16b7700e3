/* flavor.h - the shapes that torchtitan v0.2.2 has by name, and what one must be given that it has
 * not: every part of a model that an option of it does not say. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_FLAVOR_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_FLAVOR_H

#include "models/workload/transformer.h"
#include "sim/arena.h"

struct flavor {
    const char *model, *name;
    uint64_t layers, hidden, heads, kv_heads, ffn, vocabulary;
};
/* The one with this shape, to the last norm and bias; NULL: none. */
const struct flavor *flavor_of(const struct model_shape *model, uint64_t sequence);
/* "dim 4096, n_layers 32, ...": sizes, and each part that the plain decoder of a flavor has not. */
const char *flavor_words(struct arena *arena, const struct model_shape *model, uint64_t sequence);

#endif
