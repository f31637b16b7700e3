/* optimizer.h - what an optimizer keeps for each parameter, and what its update moves.
 *
 * Rows: adam, adamw, adam8bit, sgd, momentum, adafactor. `moments` lists the state tensors in the
 * order in which they are allocated, by the names the frameworks give them (exp_avg, exp_avg_sq).
 */
#ifndef ORRERY_MODELS_WORKLOAD_OPTIMIZER_H
#define ORRERY_MODELS_WORKLOAD_OPTIMIZER_H

#include "sim/kind.h"

enum {
    MOMENT_MAX = 2
};
struct moment {
    const char *name; /* "exp_avg" */
    double bytes;     /* for each parameter */
};
struct optimizer {
    struct kind head;
    unsigned moment_count;
    struct moment moments[MOMENT_MAX];
    double master_bytes; /* of the master copy, when the precision keeps one */
    /* HBM bytes read and written for each parameter of the local shard by a fused update: moments
     * and master copy (without one the weight stands in its place), beside the gradient that is
     * read and the 16-bit weight that is written. */
    double update_traffic_bytes;
    double update_flops; /* for each parameter */
};
extern const struct optimizer optimizers[];
extern const unsigned optimizer_count;
kind_at_fn optimizer_at;
const struct optimizer *optimizer_find(const char *name); /* or NULL */

#endif
