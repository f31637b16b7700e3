/* search_power.h - what more power would buy. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_POWER_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_POWER_H

#include "analysis/plan/search/search_found.h"

/* The limit is raised by this share of itself. */
#define SEARCH_MORE_RATIO 0.1

/* Asks the same question, its other terms included, once more under the raised limit, and copies
 * what leads into `arena`. Nothing is asked where there is no limit, where the search was stopped,
 * and where no layout was refused for its power: then more buys nothing on this machine. */
void search_power_more(struct arena *arena, const struct search *search, struct search_more *out);
/* Tokens a day that each megawatt of the raise buys beyond those of `first`, a leader under the
 * limit: (tokens a day of `more` - of `first`) / (raised limit - limit); kept tokens where weeks
 * were played. */
double search_more_tokens_per_day_mw(const struct search_more *more,
                                     const struct search_leader *first);

#endif
