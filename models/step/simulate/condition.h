/* condition.h - how long a step takes in one condition of the cluster, simulated once for each
 * that really occurs and remembered.
 *
 * A condition is what can change a step while a job runs: replicas that are missing, a slow GPU or
 * NIC, background writes that take bandwidth. Shared by all replications of a study, on any number
 * of threads (the value is a pure function of the condition, so the order of asking is without
 * effect). */
#ifndef ORRERY_MODELS_STEP_SIMULATE_CONDITION_H
#define ORRERY_MODELS_STEP_SIMULATE_CONDITION_H

#include "models/layout/configuration.h"
#include "sim/error.h"

enum {
    CONDITION_SLOW_MAX = 4
};
struct condition {
    uint32_t replicas_missing;
    uint32_t slow_count;
    struct condition_slow {
        uint32_t stage;         /* pipeline stage of the unit: replicas and peers are alike */
        bool link;              /* the NIC, not the GPU */
        double ratio;           /* speed that is left */
    } slow[CONDITION_SLOW_MAX]; /* the worst ones, sorted */
    double nic_share_ratio;     /* of every NIC, left to training by background writes; 1: all */
};
struct condition_table;
/* `c` is borrowed. Simulates the ideal condition at once; NULL with a sentence when that fails (the
 * cluster cannot be built, the job does not fit in memory). */
struct condition_table *condition_create(const struct configuration *c, struct error *error);
void condition_destroy(struct condition_table *table);
/* Seconds of a step in this condition. Thread-safe. With replicas missing each of the others keeps
 * its microbatches, so a step has fewer tokens (fewer than `dp` may miss). A slow unit stands at
 * the first tensor rank of its stage, several of a stage in different replicas. nic_share_ratio
 * narrows every NIC. NAN: a step in this condition cannot be simulated (ranks too unlike, or a step
 * too long: see step_run); the ideal one can. */
double condition_step_s(struct condition_table *table, const struct condition *condition);
/* Mean power at the wall of the ideal step, W (step_power.h); NAN: not known. */
double condition_ideal_w(const struct condition_table *table);
unsigned condition_count(const struct condition_table *table); /* conditions simulated so far */
/* For tests and closed forms: every step takes step_s / (smallest slow ratio x nic_share_ratio). */
struct condition_table *condition_fixed(double step_s);
extern const struct condition condition_ideal;

#endif
