/* search_order.h - which of those that fit leads, and what keeps the terms. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_ORDER_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_ORDER_H

#include "analysis/plan/search/search_found.h"

/* The term that a row misses with a step of so long: FATE_DEADLINE, FATE_BUDGET, else FATE_OPEN. */
enum search_fate search_order_missed(const struct search *search, const struct search_row *row,
                                     double step_s);
/* Of those that were found to fit, whose steps are known: the best that keep the terms, as many as
 * are wanted, priced; their rows learn that they lead, or what they miss. */
void search_order_leaders(struct search *search);
/* What is known of another that fits, beside the first of them: its weeks, price, and how sure. */
void search_order_beside(struct search *search, struct search_leader *leader);

/* Makes it a leader where it keeps the terms and is better than the last of them, or they are fewer
 * than was asked: what is said of the others is then beside the new first. `leader` has been put
 * beside the first (search_order_beside) and is copied; its row is borrowed. Returns its rank, from
 * 1; 0: it is none. */
uint32_t search_order_take(struct search *search, const struct search_leader *leader);

#endif
