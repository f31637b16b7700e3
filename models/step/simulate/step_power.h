/* step_power.h - what the cards of a step draw, and in which phase.
 *
 * Kernels draw what their FLOPs and bytes cost at the boost clock, at most what the cap leaves in
 * their time (gpu_work.h); a card that waits or communicates draws static power: its clocks run.
 * The sum over phases is the whole; each is of the mean rank (docs/models/power.md). */
#ifndef ORRERY_MODELS_STEP_SIMULATE_STEP_POWER_H
#define ORRERY_MODELS_STEP_SIMULATE_STEP_POWER_H

#include "models/layout/configuration.h"
#include "models/program/program.h"
#include "models/step/simulate/breakdown.h"

enum power_phase {
    POWER_COMPUTE,       /* forward, backward, recomputation */
    POWER_OPTIMIZER,     /* the update */
    POWER_COMMUNICATION, /* exposed transfers */
    POWER_WAITING,       /* bubble, host, stragglers */
    POWER_PHASE_COUNT
};
struct step_power {
    double card_w;                     /* mean of the step */
    double time_s[POWER_PHASE_COUNT];  /* of the mean rank: they tile the step */
    double card_j[POWER_PHASE_COUNT];  /* of its card */
    double step_j;                     /* at the wall, of all paid GPUs (rental.h) */
    double phase_j[POWER_PHASE_COUNT]; /* of it; those idle beside the ranks are in waiting */
};
/* A card of one rank. */
struct step_cards {
    double time_s[POWER_PHASE_COUNT]; /* they tile the step */
    double card_w[POWER_PHASE_COUNT]; /* mean of the phase; one that takes no time: static */
};
enum power_phase step_power_phase(enum breakdown_part part);
/* Of a rank of `program`, whose step `parts_s` divides. */
void step_power_cards(const struct configuration *c, const struct program *program,
                      const double parts_s[PART_COUNT], struct step_cards *out);
/* Adds a rank of `program`, whose step `parts_s` divides, as `share` of the mean rank. */
void step_power_add(const struct configuration *c, const struct program *program,
                    const double parts_s[PART_COUNT], double share, struct step_power *out);
/* Completes it: a step of step_s. All is NAN where the node's conversion is 0, not stated. */
void step_power_end(const struct configuration *c, double step_s, struct step_power *out);

#endif
