/* power_swing.h - how the power of a whole job moves in the course of a step.
 *
 * At each moment the wall draws power_job_w of the mean of the ranks' cards (power_curve.h): within
 * a phase a card draws the mean of that phase, so what is faster than a phase is not seen. Steps
 * follow each other, so that the curve repeats. Ranks that wait for each other rise and fall
 * together; a site's supply and its grid bear so much change and no more. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_POWER_SWING_H
#define ORRERY_MODELS_STEP_SIMULATE_POWER_SWING_H

#include "models/step/simulate/step.h"

/* A supply's capacitors carry it over milliseconds; grids ask for changes over less than a second.
 */
#define POWER_SWING_WINDOW_S 0.1

struct power_swing {
    double peak_w, low_w; /* the most and the least that the wall draws at any moment */
    double change_w;      /* the most by which the means of two windows differ, one behind the other
                             (POWER_SWING_WINDOW_S each), whichever is higher */
};
/* Of a step that was timed. All are NAN where the node's conversion is not stated, where no worker
 * is left to ask (step_options.outcome_only), and where the curves of all rank classes have more
 * than POWER_SWING_POINTS_MAX points (about a second of work). */
#define POWER_SWING_POINTS_MAX (1u << 21)
void power_swing_of(const struct configuration *c, const struct step *step,
                    struct power_swing *out);

#endif
