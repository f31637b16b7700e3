/* search_terms.h - what a search is for (its objective), and what a layout must keep to.
 *
 * On one machine and one batch the shortest step, the most tokens a second, the cheapest token and
 * the soonest end are one layout: each is the step's time by a factor. They tell machines and
 * batches apart. Failures make a difference between layouts, too (search_weeks.h). */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_TERMS_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_TERMS_H

#include "analysis/plan/search/search_found.h"

/* False with a sentence: a term of which this scenario cannot tell whether it is kept, as it says
 * no tokens, or no price is known. */
bool search_terms_check(const struct search_terms *terms, const struct configuration *c,
                        struct error *error);
/* What makes the terms broken by a step of so long, without failures: FATE_DEADLINE, FATE_BUDGET,
 * or FATE_OPEN. `c` has a layout that uses its cluster. */
enum search_fate search_terms_missed(const struct search_terms *terms,
                                     const struct configuration *c, double step_s);
/* The same of a leader, with failures where they were played; FATE_POWER: it draws too much. */
enum search_fate search_terms_broken(const struct search_terms *terms,
                                     const struct search_leader *leader);
/* Do they ask what a step draws at the wall? And is that limited? */
bool search_terms_draws(const struct search_terms *terms);
bool search_terms_limited(const struct search_terms *terms);
/* Does the objective know failures, where they are played? */
bool search_terms_weeks(const struct search_terms *terms);
/* By which the best is the least, in the unit of the objective (tokens a second are negative);
 * INFINITY where it is not known. */
double search_terms_value(const struct search_terms *terms, const struct search_leader *leader);

#endif
