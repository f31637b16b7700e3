/* cost.h - what a run costs. Of a step: what is rented for its ranks (models/layout/rental.h) is
 * paid for as long as the step lasts, at the scenario's price of a GPU-hour (or the catalogue's).
 * Of weeks, with their spares and storage, the player `job` reckons (docs/models/jobs.md). */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_COST_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_COST_H

#include "models/job/parts/job_result.h"
#include "models/layout/configuration.h"

struct cost {
    double gpu_hour_usd; /* the price; NAN: not known, and so is all that follows from it */
    double gpus;         /* that are paid */
    double step_usd;
    double usd_per_1e9_tokens; /* of weeks: tokens that were kept */
    double budget_usd;         /* of training.tokens in such steps; NAN: not said */
    double storage_usd;        /* of weeks: the share of their price; NAN: a single step */
};
/* `step_s` NAN where nothing was timed: then all is but the price. */
void cost_of_step(const struct configuration *c, double step_s, struct cost *out);
/* Where weeks of such steps were played: what those change. */
void cost_of_weeks(const struct job_spec *job, const struct job_result *weeks, struct cost *inout);

#endif
