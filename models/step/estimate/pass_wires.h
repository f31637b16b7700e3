/* pass_wires.h - how long the transfers of a step take alone on their wires, remembered for all
 * layouts that place ranks alike.
 *
 * Of each stage and stream it keeps the shapes of the groups and what their wires let through, both
 * as models/symmetry finds them; a transfer is tuned as there, and takes its latency and its bytes
 * at the lower of the two ceilings. Where the groups of a stage differ, the slowest counts. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_WIRES_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_WIRES_H

#include "models/program/lowered.h"
#include "sim/arena.h"

struct configuration;
struct lowering;
struct topology;
struct pass_wires;
struct pass_transfer { /* alone: the sum of both */
    double wire_s;     /* its bytes are on the wire */
    double latency_s;
    double busy_s;  /* of wire_s, were the wire used up: below it where the protocol is slower */
    double alone_s; /* wire_s, were none on its wires but groups that are alike */
};

/* `c` gives placement, software and axes; it is copied, the topology borrowed. */
struct pass_wires *pass_wires_create(struct arena *arena, const struct configuration *c,
                                     const struct topology *topology);
/* Makes known what these programs send, and what the blocks of `plan` do inside them. `scratch` is
 * to be rewound. Says whether bounds made of these times are loose: groups of a stage that are not
 * alike share a wire for what blocks send, which op by op they may use one after the other, and the
 * slowest stands for all (of the rest pass_play.h takes the times alone). */
bool pass_wires_learn(struct pass_wires *wires, struct arena *scratch,
                      const struct lowered *lowered, const struct lowering *plan);
/* It has been learnt. Messages are asked for by their sender. */
struct pass_transfer pass_wires_time(struct pass_wires *wires, uint32_t stage, enum stream stream,
                                     struct transfer transfer);
/* The sum, in seconds, of the stage in which it takes longest. */
double pass_wires_slowest_s(struct pass_wires *wires, enum stream stream, struct transfer transfer);

#endif
