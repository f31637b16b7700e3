/* search_weeks.h - weeks of a layout, with failures and checkpoints: what it keeps of its tokens.
 *
 * They are the weeks that `run` plays of the scenario with this layout, on a cluster as it should
 * be: saves at the scenario's interval (the optimal one where it says none), failures, restarts,
 * until the run ends; once for each of several seeds. Every layout meets the same failures (common
 * random numbers), so that two can be told apart by the mean of their differences. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_WEEKS_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_WEEKS_H

#include "analysis/plan/search/search_found.h"

/* False with a sentence when the layout cannot be played so: a checkpoint has no room, say. What is
 * found lives in `arena`, which no other thread uses meanwhile. */
bool search_weeks_play(struct arena *arena, const struct search_weeks_wish *wish,
                       const struct plan_layout *layout, struct search_weeks *out,
                       struct error *error);
/* A copy of a leader with its row and weeks, in an arena of the caller's. */
struct search_leader search_weeks_keep(struct arena *arena, const struct search_leader *leader);
/* Plays those of the leaders that were played op by op; the others, and what cannot be played, keep
 * NULL, the latter with the sentence of the first. `stop` as a search asks it. */
struct search_weeks_round {
    const struct search_weeks_wish *wish;
    struct search_leader **leaders;
    uint32_t count;
    unsigned threads;
    bool (*stop)(void *context);
    void *context;
};
void search_weeks_round(struct arena *arena, const struct search_weeks_round *round,
                        struct error *first);
/* Tokens a second, those that are kept where failures were played. */
double search_weeks_tokens_per_s(const struct search_leader *leader);
/* Mean and standard error of log(rate of a / rate of b) over the seeds that both met. */
double search_weeks_log_ratio(const struct search_weeks *a, const struct search_weeks *b,
                              double *standard_error);

#endif
