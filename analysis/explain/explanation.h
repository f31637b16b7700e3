/* explanation.h - all that `explain` tells of a database: waterfall, idle time, critical path,
 * elasticities, and what each number stands on. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_EXPLANATION_H
#define ORRERY_ANALYSIS_EXPLAIN_EXPLANATION_H

#include "analysis/explain/critical_path.h"
#include "analysis/explain/elasticity.h"
#include "analysis/explain/stands_on.h"
#include "analysis/explain/waterfall.h"

struct explanation {
    struct record record;
    struct waterfall waterfall;
    struct kept_constants constants;
    struct critical_path path;
    struct elasticities elasticities;
    bool unfit; /* in memory: times, if any, are of larger cards; told even where the rest fails */
    bool has_elasticities;
    struct error no_elasticities; /* why not */
};
/* `path`: of the database, for messages. Everything lives in the arena. `threads` share the
 * simulations. False with a sentence where the file holds no step that was timed, or a damaged one;
 * elasticities that cannot be had are no failure. */
bool explanation_of(struct query *query, const char *path, struct arena *arena, unsigned threads,
                    struct explanation *out, struct error *error);

#endif
