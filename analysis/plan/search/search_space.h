/* search_space.h - the layouts that come into question for a model on a machine.
 *
 * tp x pp x cp x dp is the number of GPUs. tp divides the heads and stays inside the NVLink domain;
 * cp is a power of two that leaves each rank a sequence of its own; ep, of a mixture of experts,
 * divides the experts and the ranks of a stage (tp x cp x dp): experts that are shared are
 * whole (etp 1) unless the scenario says etp; chunks are all that divide the
 * layers; kinds of sharding and order are those that the software offers, under a pipeline such as
 * shard the optimizer alone. Of recomputation a layout
 * has none at first: a search goes up from there until it fits, as more of it is never faster.
 * Microbatches are the powers of two to 64 and what divides a replica's share: that some break a
 * rule is said by the rules (configuration_check), not known here. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_SPACE_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_SPACE_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

/* What a layout is, apart from what stays as the scenario has it. */
struct search_layout {
    uint32_t tp, pp, cp, dp, vpp, microbatch;
    uint32_t ep, etp; /* of a mixture of experts (configuration.h; etp 0: as tp); else 1, 0 */
    uint32_t recompute_layers;
    int recompute;
    bool sequence_parallel, ends_count;
    uint32_t first_stage_layers, last_stage_layers; /* by search_settle_ends; 0: not given */
    const struct schedule_kind *schedule;
    const struct sharding_kind *sharding;
};
/* Keys that a search varies: a bit each. */
enum search_key {
    SEARCH_TP,
    SEARCH_PP,
    SEARCH_CP,
    SEARCH_EP, /* 1 of a dense model, whatever is held */
    SEARCH_MICROBATCH,
    SEARCH_SCHEDULE, /* and the chunks */
    SEARCH_VPP,
    SEARCH_RECOMPUTE,
    SEARCH_SHARDING,
    SEARCH_SEQUENCE_PARALLEL,
    SEARCH_KEY_COUNT
};
extern const char *const search_key_names[SEARCH_KEY_COUNT]; /* as in the section `layout` */

struct search_layout search_layout_of(const struct configuration *c);
bool search_layout_same(const struct search_layout *a, const struct search_layout *b);
/* "layout.tp=8", ...: every key of it as --set takes them, for a scenario with the layout of
 * `base`. Returns how many, SEARCH_SETS_MAX at most; they live in `arena`. */
enum {
    SEARCH_SETS_MAX = 16
};
unsigned search_layout_sets(struct arena *arena, const struct configuration *base,
                            const struct search_layout *layout, const char *out[SEARCH_SETS_MAX]);
/* What makes its stages even where nothing is said and the software wants it
 * (configuration_stage_ends). */
void search_settle_ends(const struct configuration *base, struct search_layout *layout);
/* The configuration `base` with this layout. */
void search_apply(const struct configuration *base, const struct search_layout *layout,
                  struct configuration *out);
/* The next level of recomputation that the software offers, or one layer more of a block. False:
 * there is none, or recomputation is held. */
bool search_recompute_more(const struct configuration *base, unsigned held,
                           struct search_layout *layout);
/* Of a layout that recomputes a block: the most layers of it that are not all. */
void search_recompute_last(const struct configuration *base, struct search_layout *layout);
/* All of them (a key that is held may have any value, which the rules judge), those of one (tp, cp)
 * beside each other; `held` is the set of keys that stay as in `base`. Rows live in `arena`. */
uint32_t search_space(struct arena *arena, const struct configuration *base, unsigned held,
                      struct search_layout **out);

#endif
