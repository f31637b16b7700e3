/* saves.h - durable checkpoints of a window as at most so many groups, as JSON.
 *
 * {"resolution","total","columns":["level","ts","last_ts","count","step","last_step"],"rows":[]}:
 * `count` checkpoints of a level became durable from `ts` to `last_ts` (ns); `step` is the one that
 * the first of them holds, `last_step` that of the last. Up to SAVES_ROOM checkpoints each is a
 * group of its own (resolution 1); of more, those of a level that lie in one bin of `resolution`
 * ns. No group reaches across an interruption: what was saved before it may be lost after it.
 * `total`: checkpoints in the window. Rows stand by level and time, levels among each other as they
 * come. */
#ifndef ORRERY_ANALYSIS_PAGE_SAVES_H
#define ORRERY_ANALYSIS_PAGE_SAVES_H

#include <stdio.h>

#include "analysis/record/database/query.h"

enum {
    SAVES_ROOM = 2000
};
/* Those that became durable at from_ns or later, before to_ns. */
bool saves_write(struct query *query, int64_t from_ns, int64_t to_ns, FILE *out,
                 struct error *error);

#endif
