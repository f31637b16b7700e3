/* plan_join.h - a plan told from databases: of its shards, or of the whole.
 *
 * The search runs again over what they hold, and finds out only what is in none of them (bounds
 * that one shard found do not travel to the others, so little may be left to do): so the result is
 * that of one process. The files are hostile. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_JOIN_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_JOIN_H

#include "analysis/command/plan/plan_diary.h"

/* Does this database hold a plan, or a part of one? */
bool plan_join_holds(const char *path);
/* Joins shards as a line of `merge` says, into `to`. The exit code; what went wrong is told. */
int plan_join(const struct arguments *line, const struct plan_output *to, struct session *session);
/* What `plan` printed, from the database of the whole, for a line of `report`. */
int plan_join_report(const struct arguments *line, const char *path, bool json,
                     struct session *session);
/* The same as JSON, and `sight` sees each search of it: for a line of `replay`. EXIT_OK also where
 * nothing fits; else EXIT_TROUBLE, and what went wrong is told. */
int plan_join_look(const struct arguments *line, const char *path, const struct plan_sight *sight,
                   struct session *session);

#endif
