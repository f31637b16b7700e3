/* study_join.h - shards of a study become one: its database, and what it prints. */
#ifndef ORRERY_ANALYSIS_COMMAND_STUDY_JOIN_H
#define ORRERY_ANALYSIS_COMMAND_STUDY_JOIN_H

#include "analysis/line/command.h"
#include "analysis/terminal/progress.h"
#include "sim/arena.h"

/* Joins the databases of shards as `a` says (--db, --no-db, --csv, --json, --svg, --max-db). An
 * exit code; what went wrong is told. `clock`: since when it took time. */
int study_join(const struct arguments *a, struct session *session, const char *const *paths,
               unsigned count, const struct progress *clock);

#endif
