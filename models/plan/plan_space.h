/* plan_space.h - the layouts that come into question for a model on a machine: the one enumerator
 * of planning, and its axes for those who walk a few of them in an order of their own.
 *
 * tp x pp x cp x dp is the number of GPUs. tp divides the heads and stays inside the NVLink domain;
 * cp is a power of two that leaves each rank a sequence of its own; ep, of a mixture of experts,
 * divides the experts and the ranks of a stage (tp x cp x dp): experts that are shared are
 * whole (etp 1) unless the scenario says etp; chunks are all that divide the
 * layers; kinds of sharding and order are those that the software offers, under a pipeline such as
 * shard the optimizer alone. Of recomputation a layout
 * has none at first: a search goes up from there (ladder.h) until it fits, as more of it is never
 * faster; recomputation of modules stands beside it for a mixture, where the software has it. Where
 * no framework is named the schedule and the recomputation of the model's makers stand beside these
 * (software.makers_recipe). Microbatches are the powers of two to 64 and what
 * divides a replica's share: that some break a rule is said by the rules (configuration_check), not
 * known here. */
#ifndef ORRERY_MODELS_PLAN_PLAN_SPACE_H
#define ORRERY_MODELS_PLAN_PLAN_SPACE_H

#include "models/plan/plan_layout.h"

/* All of them in a fixed order, none twice: those of one (tp, cp) beside each other, each axis
 * upwards. `held` is the set of keys (a bit each of enum plan_axis) that stay as in `base`; one of
 * these may have any value, which the rules judge. Rows live in `arena`; returns how many. */
uint32_t plan_space(struct arena *arena, const struct configuration *base, unsigned held,
                    struct plan_layout **out);

/* tp x pp x cp x dp of so many GPUs, one after the other: tp upwards, for each cp, for each pp. */
struct plan_splits {
    uint64_t gpus;
    uint64_t heads; /* that tp divides; 0: whatever tp is */
    uint64_t size;  /* tp x pp; 0: any */
    struct plan_range {
        uint64_t first, last;
    } tp, cp, pp;    /* cp by doubling */
    uint64_t looked; /* at so many, those that divide nothing too */
    uint64_t at_tp, at_cp, at_pp, at_dp;
};
/* To the next one (the first, after the members above were set and the others are 0). False: there
 * is none. */
bool plan_splits_next(struct plan_splits *splits);
/* The next larger number of ranks that may share the experts of a layer, from 0 up: it divides
 * them. 0: there is none. */
uint64_t plan_share_after(const struct configuration *c, uint64_t ep);
/* Over how many ranks each is cut where so many share them: layout.etp. Whole ones where nothing is
 * said, as in Megatron-LM's groups. */
uint64_t plan_share_etp(const struct configuration *c, uint64_t ep);

#endif
