/* paced.h - the part of the straggler seconds that is no waiting.
 *
 * A card that shares a group with a slower one computes at the pace of that one: its ops are
 * longer, and the GPU computes all the while. These seconds are `straggler` in the breakdown, as
 * waits for slower cards are, and are told apart from them wherever idle time is meant. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_PACED_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_PACED_H

#include "analysis/record/database/query.h"

/* Seconds of the mean rank's step; 0 where no card is slower, or no step was timed. */
bool paced_read(struct query *query, double *seconds, struct error *error);

#endif
