/* search_lack.h - what a search that found nothing lacked, beyond the memory of its cards.
 *
 * A layout may fit and be refused for its number of microbatches alone: of a batch that is too
 * large to simulate, or that dp does not divide. Or its cards have enough, and the CPUs of a node
 * keep more (offload) than they have. Both are asked of layouts until one answers. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LACK_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_LACK_H

#include "analysis/plan/search/search_found.h"

struct search_lack {
    const struct search_row *batch; /* would fit, and breaks a rule of the batch; NULL: none */
    struct plan_layout layout;      /* of `batch` or `host`, as it would fit or as it lacks least */
    const char *key;                /* the rule of `batch` */
    char sentence[sizeof((struct rule_break *)0)->text];
    const struct search_row *host; /* its cards have enough; NULL: none, or `batch` */
    double host_bytes, host_room_bytes;
};
/* Of a search that is over and has no leader, and in which not every layout breaks a rule. */
void search_lack_find(const struct search *search, struct search_lack *out);

#endif
