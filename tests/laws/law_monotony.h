/* law_monotony.h - does a better machine give a shorter step? One scenario, one change.
 *
 * Where no two transfers share a wire and compute is not disturbed, a step is a graph of maxima and
 * sums: when every cost and every transfer alone takes no longer, every op of every rank finishes
 * no later, to the bit. That is the exact law. What alone takes longer after an improvement must
 * have been tuned anew: the tuner compares what it predicts, and knows no cables beyond the NICs.
 *
 * With shared wires max-min fairness is no longer monotone: docs/models/players.md says why and by
 * how much. */
#ifndef ORRERY_TESTS_LAW_MONOTONY_H
#define ORRERY_TESTS_LAW_MONOTONY_H

#include "tests/laws/law_change.h"
#include "tests/laws/law_play.h"

struct law_monotony {
    double anomaly_ratio;     /* of the step as it is: above 0, the change goes the wrong way */
    double apart_ratio;       /* the same where no wire is shared and nothing disturbs compute */
    uint32_t late_ops;        /* then: ops that finish on the wrong side of where they did */
    uint32_t retuned_count;   /* transfers that alone go the wrong way: tuned to something else */
    uint32_t misplaced_count; /* the same, of an algorithm that stayed: a fault */
};
/* A configuration played once as it is, and once apart and rank by rank. */
struct law_pair {
    struct law_play shared, apart;
};
void law_pair_begin(struct law_pair *pair, const struct configuration *c);
void law_pair_end(struct law_pair *pair);
/* `better` is the play with the faster machine. Their programs have the same ops if `same_ops`. */
void law_monotony(const struct law_pair *better, const struct law_pair *worse, bool same_ops,
                  struct law_monotony *out);
/* Is what was found no fault of the models? */
bool law_monotony_holds(const struct law_monotony *m);
/* Compares c with its change; false where the change does not apply. */
bool law_monotony_of(const struct law_pair *pair, const struct configuration *c,
                     enum law_change change, struct law_monotony *out);

#endif
