/* search_spaces.h - small spaces of layouts, and every layout of one played. */
#ifndef ORRERY_TESTS_ANALYSIS_SEARCH_SEARCH_SPACES_H
#define ORRERY_TESTS_ANALYSIS_SEARCH_SEARCH_SPACES_H

#include "analysis/plan/search/search.h"
#include "scenarios/assemble/scenario.h"

/* Memory ample and scarce, one node and several, pipelines and shards; the last
 * two are mixtures of experts, of the latter the makers' schedule and recomputation are known. */
enum {
    SPACE_COUNT = 7
};
extern const char *const space_texts[SPACE_COUNT];
/* Its layout left open; fails the test where it has errors. To be destroyed. */
struct scenario *space_read(const char *text);
/* The same with 10^9 tokens to train, at SPACE_GPU_HOUR_USD. */
#define SPACE_GPU_HOUR_USD 2.0
struct scenario *space_read_priced(unsigned space);

/* A layout that keeps the rules and fits a card with so much memory, at one level of recomputation,
 * op by op. */
struct space_played {
    struct search_row row;
    struct search_leader leader; /* its own `row` is the one above */
};
/* All of them, without any bound; returns how many. */
size_t space_play(struct arena *arena, const struct configuration *base, unsigned held,
                  double usable_bytes, struct space_played **out);

#endif
