/* search_lead.h - what is asked of the few that lead: their ledger, and their step op by op. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEAD_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LEAD_H

#include "analysis/plan/search/search_row.h"

/* Does it fit, by the ledger of its first microbatches? */
bool search_lead_fits(const struct configuration *base, const struct plan_layout *layout,
                      double usable_bytes);
/* Its step, op by op, with the memory of all of it. False: it does not fit after all. */
bool search_lead_play(const struct configuration *base, const struct search_row *row,
                      double usable_bytes, struct arena *scratch, struct search_leader *out);
/* The same from what is known without. */
void search_lead_guess(const struct configuration *base, const struct search_row *row,
                       struct search_leader *out);
/* What follows from the step, or the weeks: cost, length, and how sure it is; `first` is the best
 * of all. `weeks`: by its tokens that are kept, where both were played. */
void search_lead_price(const struct configuration *base, const struct search_leader *first,
                       bool weeks, struct search_leader *leader);

#endif
