/* search_leaders.h - what of a search is played op by op. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEADERS_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEADERS_H

#include "analysis/plan/search/searching.h"

/* Plays the leaders op by op, and what may be as fast as the last of them. */
void search_leaders_play(struct searching *g);
/* Those that fit and were not played stand by their time at pass detail. */
void search_leaders_complete(struct searching *g);
/* The fastest of a kind of layout that was measured with this software on this card, where no
 * leader is one; after search_order_leaders. */
void search_leaders_safe(struct searching *g);

#endif
