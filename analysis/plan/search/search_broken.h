/* search_broken.h - where every layout of a search breaks a rule: the one that most of them break.
 *
 * Rules are told apart by their keys, and all that a layout breaks count, not the first alone: of
 * a sequence that is too long for the model every layout breaks the rule of the sequence, whatever
 * else is wrong with some. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BROKEN_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BROKEN_H

#include "analysis/plan/search/search_found.h"

struct search_broken {
    bool known;                   /* every layout breaks a rule: */
    const char *key;              /* the one that most break; of equals the first in their order */
    uint32_t count;               /* layouts that break it */
    bool same;                    /* all do, in the same words: the layout has no part in it */
    const struct search_row *row; /* of these the one that breaks fewest beside it */
    char sentence[sizeof((struct rule_break *)0)->text]; /* as `row` breaks it */
};
/* Of a search that is over. */
void search_broken_find(const struct search *search, struct search_broken *out);

#endif
