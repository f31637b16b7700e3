/* search_own.h - the layout that the scenario itself has, ranked among those that a search found.
 *
 * It is played as a leader is, and may be better than all that was searched: where a key of it has
 * a value that no layout of the search has, or where it leaves less of the card free than was
 * asked. Then it leads, and what is said of the others (price, probability) is beside it. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_OWN_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_OWN_H

#include "analysis/plan/search/search_found.h"

struct search_own {
    bool stated;    /* by the scenario; else nothing below is known */
    bool completed; /* what the scenario left open of it was chosen as `run` chooses it */
    bool fits;      /* it breaks no rule and fits the card */
    bool tight;     /* it leaves less of the card free than the search was to */
    struct search_row row;
    struct search_leader leader;
    uint32_t rank;       /* among the leaders of the search, from 1; 0: not one of them */
    bool found;          /* the search has it among its leaders by itself */
    bool leads;          /* it does not, and this beats every one of them */
    unsigned unsearched; /* of enum plan_axis: its values that no layout of the search has */
};
/* Plays the layout of `c`, the search's question with a layout, and ranks it among the leaders: it
 * becomes one where it keeps the terms and is better than the last of them, or they are fewer than
 * was asked. `out` is as long-lived as the search. */
void search_own_rank(struct search *search, const struct configuration *c, struct search_own *out);
/* The value of a key as a sentence names it: "schedule dualpipe". */
const char *search_own_value(struct arena *arena, const struct plan_layout *l, enum plan_axis key);
/* Of several keys, a bit each: "schedule dualpipe, ep 8"; NULL: of none. */
const char *search_own_values(struct arena *arena, const struct plan_layout *l, unsigned keys);

/* Keys (a bit each of enum plan_axis) whose value no layout of the search has with the others. */
unsigned search_unsearched(const struct search *search, const struct plan_layout *layout);
/* Does it leave less memory free than was asked for? */
bool search_tight(const struct search *search, const struct search_leader *leader);

#endif
