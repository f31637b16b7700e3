/* search_lead.h - what is asked of the few that lead: their ledger, their step op by op, what
 * follows from it; which of those that fit leads, and what keeps the terms. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEAD_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEAD_H

#include "analysis/plan/search/search_found.h"

/* Does it fit, by the ledger of its first microbatches? */
bool search_lead_fits(struct arena *scratch, const struct configuration *base,
                      const struct plan_layout *layout, double usable_bytes);
/* Its step, op by op, with the memory of all of it. False: it does not fit after all. */
bool search_lead_play(const struct configuration *base, const struct search_row *row,
                      double usable_bytes, struct arena *scratch, struct search_leader *out);
/* The same from what is known without. */
void search_lead_guess(const struct configuration *base, const struct search_row *row,
                       struct search_leader *out);
/* What its step, which was played, draws: it is played once more, as a step for its outcome alone
 * has no power. */
void search_lead_draw(const struct configuration *base, unsigned threads,
                      struct search_leader *leader);
/* What follows from the step, or the weeks: cost, length, and how sure it is; `first` is the best
 * of all. `weeks`: by its tokens that are kept, where both were played. */
void search_lead_price(const struct configuration *base, const struct search_leader *first,
                       bool weeks, struct search_leader *leader);

/* The term that a row misses with a step of so long: FATE_DEADLINE, FATE_BUDGET, else FATE_OPEN. */
enum search_fate search_lead_missed(const struct search *search, const struct search_row *row,
                                    double step_s);
/* Of those that were found to fit, whose steps are known: the best that keep the terms, as many as
 * are wanted, priced; their rows learn that they lead, or what they miss. */
void search_lead_order(struct search *search);
/* What is known of another that fits, beside the first of them: its weeks, price, and how sure. */
void search_lead_beside(struct search *search, struct search_leader *leader);
/* What is said beside the first of the leaders is said again: another one leads, or they stand in
 * another order. */
void search_lead_follow(struct search *search);

/* Makes it a leader where it keeps the terms and is better than the last of them, or they are fewer
 * than was asked: what is said of the others is then beside the new first. `leader` has been put
 * beside the first (search_lead_beside) and is copied; its row is borrowed. Returns its rank, from
 * 1; 0: it is none. */
uint32_t search_lead_take(struct search *search, const struct search_leader *leader);

#endif
