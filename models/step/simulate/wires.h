/* wires.h - how much of what they can carry the wires of a step that has been played carried.
 *
 * Wires are classes (symmetry.links); of two that carry the same share the lower one is named. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_WIRES_H
#define ORRERY_MODELS_STEP_SIMULATE_WIRES_H

#include "models/step/simulate/step.h"

#define WIRE_NONE UINT32_MAX
enum {
    WIRE_KINDS = LINK_FABRIC + 1
};
/* Of its lowest wire: a class may have others. */
enum link_kind wires_kind(const struct step *step, uint32_t link_class);
/* Of its capacity, in the mean of the step: 0 to 1. */
double wires_use_ratio(const struct step *step, uint32_t link_class);
/* The class of a kind that carries the greatest share; WIRE_NONE: none carries anything. */
uint32_t wires_busiest(const struct step *step, enum link_kind kind);
/* The same among the wires of each node, those from its ports to switches included. */
struct node_wires {
    uint32_t link[WIRE_KINDS];
};
struct node_wires *wires_of_nodes(struct arena *arena, const struct step *step); /* [node] */

#endif
