/* search.h - the planner: of all layouts of a model on a machine, the fastest that fit, and why
 * each other one lost.
 *
 * What rejects a layout gets dearer from one to the next: the rules (configuration_check); a bound
 * of memory, its state and kept activations (pass_least_bytes), at the least recomputation that
 * meets it; a bound of time, its kernels (pass_least_s); a step at pass detail; the ledger of its
 * first microbatches; a step at op detail with its whole ledger. Bounds are sound, and those few
 * are played op by op that pass detail may have put in the wrong order, so the first one is that of
 * an exhaustive search (tests/analysis/plan). The result does not depend on the number of
 * threads.
 *
 * With a diary nothing is found out that is known already, and what is found out is kept: a search
 * goes on where it was stopped, and one of all layouts stands on those of their parts. Its result
 * is the same, as findings depend on the layout alone. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_H

#include "analysis/plan/search/search_found.h"
#include "sim/error.h"

/* Everything lives in the search, freed whole by search_destroy. False with a sentence when the
 * cluster cannot be built, or the diary cannot be read. */
bool search_run(const struct search_question *question, struct search **out, struct error *error);
void search_destroy(struct search *search);

#endif
