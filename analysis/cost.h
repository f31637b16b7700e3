/* cost.h - what a training step costs: every GPU of the nodes on which ranks stand is paid for as
 * long as the step lasts, at the scenario's price of a GPU-hour (or the catalogue's). Weeks, with
 * their spares and storage, are reckoned by the player (models/job_account.c). */
#ifndef ORRERY_ANALYSIS_COST_H
#define ORRERY_ANALYSIS_COST_H

#include "models/configuration.h"

struct cost {
    double gpu_hour_usd; /* the price; NAN: not known, and so is all that follows from it */
    double gpus;         /* that are paid */
    double step_usd, usd_per_1e9_tokens;
    double budget_usd; /* of training.tokens; NAN: not said */
};
void cost_of_step(const struct configuration *c, double step_s, struct cost *out);

#endif
