/* study_join.h - shards of a study become one: its database, and what it prints. */
#ifndef ORRERY_ANALYSIS_COMMAND_STUDY_STUDY_JOIN_H
#define ORRERY_ANALYSIS_COMMAND_STUDY_STUDY_JOIN_H

#include "analysis/command/shared/study_tell.h"
#include "analysis/output/terminal/progress.h"
#include "sim/arena.h"

/* Joins the databases of shards into what `to` says. An exit code; what went wrong is told.
 * `clock`: since when it took time. */
int study_join(const struct arguments *line, const struct study_output *to, struct session *session,
               const char *const *paths, unsigned count, const struct progress *clock);

#endif
