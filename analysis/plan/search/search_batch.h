/* search_batch.h - another batch near the one that was asked for, which divides better.
 *
 * A batch that shares few factors with the number of GPUs leaves few ways to deal it out: of 100
 * sequences on 512 GPUs at most four replicas get equal shares. Batches that share more are counted
 * by the rules alone, and the one with most layouts is searched. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BATCH_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_BATCH_H

#include "analysis/plan/search/search.h"

struct search_batch {
    bool known; /* one that allows more layouts, and is worth telling: */
    uint64_t batch;
    uint32_t layouts, own_layouts; /* that keep the rules: of it, of the one that was asked for */
    struct search_leader leader;   /* its first */
    double faster_ratio;           /* tokens a second to those of the first; INFINITY: none fits */
};
/* Of a search that is over. What is found lives in `arena`. Costs nothing where the batch shares as
 * many factors with the GPUs as any near it (by 30 %), else a search. */
void search_batch_near(struct arena *arena, const struct search *search, struct search_batch *out);

#endif
