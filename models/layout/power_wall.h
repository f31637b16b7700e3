/* power_wall.h - from the power of a card to that at the wall.
 *
 * At the wall stands, for each GPU: (card + what stands beside it in the node at rest + what that
 * draws more in proportion to the card's load) x (1 + fans) / conversion + its ports of leaf
 * switches, all x PUE. Figures: node_params, fabric_params; sources: docs/models/power.md. */
#ifndef ORRERY_MODELS_LAYOUT_POWER_WALL_H
#define ORRERY_MODELS_LAYOUT_POWER_WALL_H

#include "models/layout/configuration.h"

/* W at the wall for a GPU whose card draws card_w; of a job of one node no switch. Linear. */
double power_wall_w(const struct configuration *c, double card_w);
/* W at the inlet of a node, without switches and PUE, in the mean over the nodes of the job: its
 * ranks' cards at card_w, the GPUs paid beside them (rental.h) idle, trays of others left out. */
double power_node_w(const struct configuration *c, double card_w);

/* W at the wall of a job whose ranks' cards draw card_w, the GPUs that are paid beside them idle.
 * Linear, too. */
double power_job_w(const struct configuration *c, double card_w);

/* What a job draws at the wall, W, by what its ranks do; the GPUs that are paid beside them
 * (rental.h) idle. NAN: the node's conversion is 0, not stated. */
struct power_job {
    double step_w;     /* mean of a step: whoever plays one fills it */
    double most_w;     /* cards of ranks at their cap, which holds in a step */
    double standing_w; /* processes are up and wait: contexts are open, cards at static power */
    double idle_w;     /* no process */
    double spare_w;    /* of one spare that stands by under power */
};
void power_job_of(const struct configuration *c, double step_w, struct power_job *out);

#endif
