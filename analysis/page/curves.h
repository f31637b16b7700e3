/* curves.h - memory over time of the first class of each stage, as at most so many points, as JSON.
 *
 * {"resolution","columns":["track","ts","high","last"],"rows":[...]}: from ts on the track holds
 * `last` bytes; within the moment (a bin of `resolution` ns that begins at or after ts) it reached
 * `high`. Peaks are those of the database, whatever was merged. */
#ifndef ORRERY_ANALYSIS_PAGE_CURVES_H
#define ORRERY_ANALYSIS_PAGE_CURVES_H

#include <stdio.h>

#include "analysis/record/database/query.h"

bool curves_write(struct query *query, FILE *out, struct error *error);

#endif
