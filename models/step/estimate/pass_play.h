/* pass_play.h - the player of programs of runs: stages, each one rank of it, without a calendar.
 *
 * Every op begins as late as worker.c would have it and takes what it takes alone: nothing shares a
 * wire with anything else. So an op's time follows from those before it, and the programs are swept
 * in their order, going from stage to stage where one waits for another. Compute that runs beside
 * interfering traffic is slowed for as long, as there. */
#ifndef ORRERY_MODELS_STEP_ESTIMATE_PASS_PLAY_H
#define ORRERY_MODELS_STEP_ESTIMATE_PASS_PLAY_H

#include "models/step/estimate/pass_blocks.h"

struct pass_played {
    double step_s;
    /* Of the last stage: from the forward of the last microbatch but one turn of the stages to that
     * of the last. */
    double turn_s;
    /* More microbatches would repeat what was: forward and backward passes take turns, the last two
     * turns took as long, no stream falls behind compute, and no host that has run since the step
     * began held up compute after the first turn. */
    bool steady;
    /* Transfers of weights waited so long for each other's wires: the step `apart` is shorter by no
     * more, unless they did so in microbatches that others repeat. */
    double queued_s;
    bool queued_again;
    bool loose; /* as a bound (pass_wires.h) */
    uint64_t op_count;
};
struct pass_question {
    const struct lowered *lowered; /* as lower_runs wrote it, with the plan of these prices */
    struct pass_prices *prices;
    struct pass_wires *wires;
    double slowness; /* of compute */
    uint64_t microbatches;
    uint64_t directions; /* from each of so many they come in turn: the first half, the second */
    uint64_t turn;       /* of those of a direction: after so many the order of passes repeats */
    /* What is sent between passes takes what it takes alone, whatever else is on its wires. */
    bool apart;
};
void pass_play(struct arena *scratch, const struct pass_question *q, struct pass_played *out);

#endif
