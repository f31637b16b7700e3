/* trial.h - a layout tried: does it fit, and how fast is it? For comparing layouts of one scenario.
 *
 * A trial is a step of the cluster as it should be: no slow card, no weak link, no noise; whoever
 * decides on a layout does not know which card will be slow. With very many ranks a part of the
 * replicas stands for all, which do the same beside each other. */
#ifndef ORRERY_MODELS_FIT_TRIAL_H
#define ORRERY_MODELS_FIT_TRIAL_H

#include "models/layout/configuration.h"

/* Would a timed trial play another step than this configuration itself? */
bool trial_differs(const struct configuration *c);
/* What a trial costs: layer passes of one replica. A million take about four seconds. */
uint64_t trial_passes(const struct configuration *c);
/* On the ledger, with all ranks. */
bool trial_fits(const struct configuration *c);
/* The same of the first few microbatches, soon known: false is a no. */
bool trial_may_fit(const struct configuration *c);
/* GPU time of a token, in seconds; INFINITY for what breaks a rule or is not soon played. Memory is
 * looked at again: what does not fit has no time. */
double trial_gpu_s_per_token(const struct configuration *c);

#endif
