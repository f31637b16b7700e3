/* fleet_pool.h - units that age: each has a life, and only the one that failed gets a new one.
 *
 * The units of the job's first nodes are not drawn one by one. The j-th of n of them to fail does
 * so at the quantile of the j-th order statistic of n uniforms, which follows from the one before
 * (Renyi, Acta Mathematica Hungarica 4, 1953: the gaps of n exponentials are independent, with mean
 * 1 / (n - j)), and which unit it is, is drawn among those that have not failed. So a replication
 * costs its failures, not its units. Units of spares are drawn when their node first joins.
 *
 * A carrier is what holds units and ages: a node, or a domain of nodes for units that are domains.
 * Its clock stands still while no node of it is in the job. */
#ifndef ORRERY_MODELS_FLEET_FLEET_POOL_H
#define ORRERY_MODELS_FLEET_FLEET_POOL_H

#include "models/fleet/fleet_stream.h"
#include "sim/list.h"

struct fleet_life {
    double due_s; /* on the cause's clock, with the time that its carrier is known to stand still */
    double own_s; /* on the clock of its carrier */
    uint32_t unit, generation;
};
static inline bool fleet_life_before(const struct fleet_life *a, const struct fleet_life *b)
{
    return a->due_s < b->due_s || (a->due_s == b->due_s && a->unit < b->unit);
}
/* The lives of a cause's units, the first to end on top. A few hundred at most in a run of weeks,
 * for units that have not failed yet are not in it. */
HEAP_DEFINE(fleet_heap, struct fleet_life, fleet_life_before, 2)

struct fleet_carriers {
    uint32_t nodes_each, first_count, count; /* first: those with nodes in the job at first */
    struct fleet_clock clock;
    uint32_t *inside; /* nodes of it in the job */
    double *left_s;   /* when the last node left, on `clock` */
    double *still_s;  /* how long it has stood still, on `clock` */
    uint32_t *parked; /* lives of its units that wait for it: 1 + index; 0: none */
    bool *known;      /* spares: their units have been drawn */
};
struct fleet_pool {
    const struct failure_cause *cause;
    struct duration life; /* of a unit, by the cause's law */
    uint32_t carriers;    /* index */
    uint32_t units_each;
    uint64_t life_key, order_key, pick_key;
    uint32_t unit_count, failed_count; /* of the job's first nodes: all, and drawn */
    uint64_t pick_count;
    double exponent; /* -log(1 - u) of the next order statistic */
    double first_s;  /* its life */
    uint64_t *failed;
    struct fleet_heap heap;
};
struct fleet_parked {
    struct fleet_life life;
    uint32_t pool, next;
};
struct fleet_pools {
    struct arena *arena;
    struct fleet_carriers *carriers;
    struct fleet_pool *pools;
    struct fleet_parked *parked;
    uint32_t carriers_count, pool_count, parked_count, parked_capacity, parked_free;
};

/* Room for a pool of each cause. */
void fleet_pool_create(struct arena *arena, uint32_t cause_count, struct fleet_pools *out);
void fleet_pool_add(struct fleet_pools *pools, const struct fleet_spec *spec,
                    const struct failure_cause *cause, const struct members *members, uint64_t key);
/* The next failure of pool `index` before `limit_s`. */
bool fleet_pool_next(struct fleet_pools *pools, uint32_t index, double limit_s,
                     struct candidate *out);
void fleet_pool_take(struct fleet_pools *pools, uint32_t index);
void fleet_pool_leave(struct fleet_pools *pools, uint32_t node, double exposed_s);
void fleet_pool_join(struct fleet_pools *pools, uint32_t node, double exposed_s);

#endif
