/* searching.h - a search under way: its rows, timed as far as asked for. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCHING_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCHING_H

#include "analysis/plan/search/search_found.h"
#include "analysis/plan/search/search_unit.h"

struct searching {
    struct search *s;
    struct search_ground ground;
    struct search_unit **units;
    uint32_t unit_count;
    uint32_t wanted;           /* leaders, and some behind them */
    double most_s;             /* rows with a bound up to here are timed */
    struct search_row **order; /* timed rows that may fit, fastest first */
    uint32_t order_count;
    struct arena *scratch; /* of the thread that hands out work */
    uint32_t played_count; /* leaders that were played, before some are left out */
    uint64_t effort;
};
/* The question's stop says so, or has said so before. */
bool searching_stopped(struct searching *g);
/* Tells the diary, where there is one; on the one thread that hands out work, when nobody writes
 * into the book. */
void searching_keep(const struct searching *g);
/* The least bound of what is not timed yet; INFINITY: all is. */
double searching_least_open_s(const struct searching *g);
/* Times rows with bounds up to `most_s`, and settles the memory of those that lead. */
void searching_time(struct searching *g, double most_s);

/* May this timed row be as fast as that op by op (docs/models/pass.md)? */
bool searching_may_take(const struct searching *g, struct search_row *row, double most_s);
/* Plays the leaders op by op, and what may be as fast as the last of them. True: some of them were
 * found to draw too much, so that others may lead. */
bool searching_leaders_play(struct searching *g);
/* Nothing that was timed keeps the limit of power: finds out what draws least of the rows that it
 * refused. True: one of them keeps it with the recomputation that it takes to fit. */
bool searching_leanest(struct searching *g);
/* Those that fit and were not played stand by their time at pass detail; none under a limit of
 * power, which op detail alone tells to be kept. */
void searching_leaders_complete(struct searching *g);
/* The fastest of a kind of layout that was measured with this software on this card, where no
 * leader is one; after search_lead_order. */
void searching_leaders_safe(struct searching *g);

#endif
