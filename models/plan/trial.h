/* trial.h - a layout tried: does it fit, and how fast is it? For comparing layouts of one scenario.
 *
 * A trial is a step of the cluster as it should be: no slow card, no weak link, no noise; whoever
 * decides on a layout does not know which card will be slow. With very many ranks a part of the
 * replicas stands for all, which do the same beside each other. */
#ifndef ORRERY_MODELS_PLAN_TRIAL_H
#define ORRERY_MODELS_PLAN_TRIAL_H

#include "models/layout/configuration.h"
#include "models/memory/ledger.h"

/* What trials may take: memory of a card, and layer passes of all of them (a million take about
 * four seconds). Headroom is a smaller `usable_bytes`: a trial never changes the card. */
struct trial_budget {
    double usable_bytes;
    uint64_t passes, passes_max;
};
/* Of this configuration's card, less the share that is to stay free. */
double trial_usable_bytes(const struct configuration *c, double headroom_ratio);
/* Spends passes; false: they are more than there are. */
bool trial_spend(struct trial_budget *budget, uint64_t passes);
/* Would a timed trial play another step than this configuration itself? */
bool trial_differs(const struct configuration *c);
/* What a trial costs: layer passes of one replica. */
uint64_t trial_passes(const struct configuration *c);
/* A step of the first few microbatches, which hold what all of them do, unless the schedule holds
 * all. */
void trial_shorten(struct configuration *c);
/* Bytes of state for each parameter, by precision and optimizer. */
void trial_state_bytes(const struct configuration *c, double *weight, double *gradient,
                       double *optimizer);
/* Model state of a rank of the mean stage by the closed form: weights, gradients and optimizer of
 * what is no routed expert over tp, of those over etp x ep, each by its own shards. */
double trial_mean_state_bytes(const struct configuration *c);
/* A bound before lowering: that alone. */
bool trial_state_may_fit(const struct configuration *c, double usable_bytes);
/* The ledger of the first stage, where most microbatches are in flight: what it does not hold, the
 * pipeline does not, and one stage costs a p-th of all to ask. */
struct ledger_result trial_first_stage(const struct configuration *c, double usable_bytes);
/* On the ledger, with all ranks. */
bool trial_fits(const struct configuration *c, double usable_bytes);
/* The same in memory that is lent (NULL: its own): fresh pages cost more than the ledger. */
bool trial_fits_in(struct arena *scratch, const struct configuration *c, double usable_bytes);
/* The same of the first few microbatches, soon known: false is a no. */
bool trial_may_fit(const struct configuration *c, double usable_bytes);
/* That, asked of the state and of the first stage before; false also where the budget ends. */
bool trial_holds(const struct configuration *c, struct trial_budget *budget);
/* Recomputation of the first layers of each chunk, the fewest with which `trial_may_fit`: sets both
 * keys. False: not even of all but one layer of the largest chunk, or chunks have one; then `c` is
 * as it was. Tries about as many as the number of a chunk's layers has bits. */
bool trial_least_block(struct configuration *c, double usable_bytes);
/* GPU time of a token, in seconds, op by op where that is soon played, else at pass detail
 * (pass.h); INFINITY for what breaks a rule. What does not fit has no time, unless a part of the
 * replicas stands for all: that holds more. */
double trial_gpu_s_per_token(const struct configuration *c, double usable_bytes);
/* The same of a step of many microbatches from two of a few: what a pass of all stages more takes,
 * times the passes that are left. In a steady state that is the step's time; INFINITY where one of
 * the two has none. A step that is hardly longer is played whole. */
double trial_gpu_s_by_slope(const struct configuration *c, double usable_bytes);
uint64_t trial_slope_passes(const struct configuration *c); /* what that costs */

#endif
