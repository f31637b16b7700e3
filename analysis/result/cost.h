/* cost.h - what a run costs. Of a step: every GPU of the nodes on which ranks stand is paid for as
 * long as the step lasts, at the scenario's price of a GPU-hour (or the catalogue's). Of weeks,
 * with their spares and storage, the player reckons (models/job/job_account.c). */
#ifndef ORRERY_ANALYSIS_RESULT_COST_H
#define ORRERY_ANALYSIS_RESULT_COST_H

#include "analysis/result/result.h"

struct cost {
    double gpu_hour_usd; /* the price; NAN: not known, and so is all that follows from it */
    double gpus;         /* that are paid */
    double step_usd;
    double usd_per_1e9_tokens; /* of weeks: tokens that were kept */
    double budget_usd;         /* of training.tokens in such steps; NAN: not said */
    double storage_usd;        /* of weeks: the share of their price; NAN: a single step */
};
void cost_of_step(const struct configuration *c, double step_s, struct cost *out);
/* All NAN but the price where nothing was timed. */
void cost_of_run(const struct result *result, struct cost *out);

#endif
