/* plan_layout.h - a layout of a model on a machine: the values of the keys that planning varies,
 * apart from what stays as the scenario has it; one table says how each is named and spelt. */
#ifndef ORRERY_MODELS_PLAN_PLAN_LAYOUT_H
#define ORRERY_MODELS_PLAN_PLAN_LAYOUT_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

struct plan_layout {
    uint32_t tp, pp, cp, dp, vpp, microbatch;
    uint32_t ep, etp; /* of a mixture of experts (configuration.h; etp 0: as tp); else 1, 0 */
    uint32_t recompute_layers;
    int recompute;
    bool sequence_parallel, ends_count;
    uint32_t first_stage_layers, last_stage_layers; /* 0: not given */
    const struct schedule_kind *schedule;
    const struct sharding_kind *sharding;
};
/* Its keys; the axes first, which an enumeration varies or holds. */
enum plan_axis {
    PLAN_TP,
    PLAN_PP,
    PLAN_CP,
    PLAN_EP, /* 1 of a dense model, whatever is held */
    PLAN_MICROBATCH,
    PLAN_SCHEDULE, /* and the chunks */
    PLAN_VPP,
    PLAN_RECOMPUTE,
    PLAN_SHARDING,
    PLAN_SEQUENCE_PARALLEL,
    PLAN_AXIS_COUNT,
    PLAN_DP = PLAN_AXIS_COUNT, /* what follows from the axes, or goes with one */
    PLAN_ETP,
    PLAN_RECOMPUTE_LAYERS,
    PLAN_ENDS_COUNT,
    PLAN_FIRST_STAGE_LAYERS,
    PLAN_LAST_STAGE_LAYERS,
    PLAN_KEY_COUNT
};
extern const char *const plan_axis_names[PLAN_KEY_COUNT]; /* as in the section `layout` */

struct plan_layout plan_layout_of(const struct configuration *c);
/* The configuration `base` with this layout. */
void plan_layout_apply(const struct configuration *base, const struct plan_layout *layout,
                       struct configuration *out);
/* Are they equal but for these keys (a bit each of enum plan_axis)? */
bool plan_layout_same(const struct plan_layout *a, const struct plan_layout *b, unsigned but);
void plan_layout_copy(struct plan_layout *to, const struct plan_layout *from, enum plan_axis key);
/* The value of a key as --set takes it: "8", "true", "zero-1", "auto". */
const char *plan_layout_text(struct arena *arena, const struct plan_layout *layout,
                             enum plan_axis key);
/* The other way; counts are whole numbers above 0. False: the key has no such value. */
bool plan_layout_read(struct plan_layout *layout, enum plan_axis key, const char *text);
/* "layout.tp=8", ...: every key of it as --set takes them, for a scenario with the layout of
 * `base`. Returns how many; they live in `arena`. */
unsigned plan_layout_sets(struct arena *arena, const struct configuration *base,
                          const struct plan_layout *layout, const char *out[PLAN_KEY_COUNT]);
/* What makes its stages even where nothing is said and the software wants it
 * (configuration_stage_ends). */
void plan_layout_settle_ends(const struct configuration *base, struct plan_layout *layout);

#endif
