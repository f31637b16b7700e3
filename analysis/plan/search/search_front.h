/* search_front.h - the front of time and free memory: the fastest layout, the fastest of those that
 * leave more memory free, and so on.
 *
 * Each is the first one of a search of its own in which FRONT_STEP_RATIO of the card more must stay
 * free than the one before leaves. So whatever is not in it is no faster than one that leaves as
 * much free, less that. On one machine cost is time by a factor; where the objective is energy, the
 * front is still that of time. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FRONT_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FRONT_H

#include "analysis/plan/search/search.h"

enum {
    FRONT_STEP_PERCENT = 2
};
#define FRONT_STEP_RATIO ((double)FRONT_STEP_PERCENT / 100.0)
/* Of a search that is over, whose question it asks again and again. Lives in `arena`. */
void search_front_find(struct arena *arena, const struct search *search, struct search_front *out);
/* Share of the card that a layout leaves free. */
double search_front_free_ratio(const struct configuration *c, const struct search_leader *leader);

#endif
