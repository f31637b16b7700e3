/* search_prefer.h - in which order leaders are told.
 *
 * A search ranks by its objective, and leaders often differ by less than the model's own error, as
 * P(1) says. Among those that the error does not tell from the best (P(1) of 30 % and more, a tie
 * as `run --against` calls it) the sureness of fitting decides first: whoever starts a run on
 * thousands of cards leaves room, as one that ends out of memory costs a new plan, and a step that
 * is longer by less than the error costs nothing that is known. What fits in SEARCH_SURE_RATIO of
 * the draws is sure enough. Of those that are as sure, with steps that print alike, one whose kind
 * of layout was measured stands first; else the objective decides as before. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_PREFER_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_PREFER_H

#include "analysis/plan/search/search_found.h"
#include "models/plan/fit_draws.h"

#define SEARCH_SURE_RATIO FIT_DRAWS_SURE_RATIO

/* Once it is known in how many draws each leader fits, and all else was found: puts them in that
 * order, and says of each what is said beside the first anew. Leaders beyond the error keep their
 * places. Energy has other errors than time: by it the order stays. True: it has changed. */
bool search_prefer(struct search *search);
/* The best leader by the objective alone. There is one. */
uint32_t search_prefer_fastest(const struct search *search);

#endif
