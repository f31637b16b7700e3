/* launch_saves.h - when a job saves: as its weeks were simulated, in the steps that frameworks
 * count. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_SAVES_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_SAVES_H

#include "analysis/exchange/launch/launch_job.h"

/* Is anything saved? */
bool launch_saves_any(const struct launch_job *job);
/* Does training go on while it is written? Where no weeks were simulated, yes. */
bool launch_saves_behind(const struct launch_job *job);
/* CHECKPOINTS and SAVE_EVERY, unless nothing is saved. */
void launch_saves_variables(const struct launch_job *job, struct launch_text *text);
/* What SAVE_EVERY is, and what of the policy is not written. `behind`: this framework can write
 * saves in the background. */
void launch_saves_note(const struct launch_job *job, bool behind, struct launch_text *text);

#endif
